//! Results of groups: the bytes and operations of all workloads that ran at the same time, and the CPU time and the
//! device work, which no single workload has.
//!
//! Policy:
//!   1. a rate is the work of all workloads, divided by the time from the start of the first to the end of the last;
//!   2. it counts bytes if a workload does, and else operations. Each round has both;
//!   3. latencies and a bottleneck belong to a workload. A sum has none;
//!   4. if a workload has no result, there is no sum;
//!   5. a round that does not count for a workload does not count for the sum, a warning for which a workload decides
//!      nothing is one of the sum, and a sum with an unverified workload is unverified.

use std::collections::BTreeMap;

use runner::execution::{ExecutionResult, PhaseResult, ProgramResult};
use stats::digits::significant;
use stats::figures::rate::{Average, rate};
use stats::figures::summary;
use stats::{
    Bottleneck, Cell, ClockKind, CpuSeconds, Environment, Io, LimitedBy, Mark, MarkCode, ParameterValue, Provenance,
    RateBase, Round, State,
};
use units::{Nanos, whole};
use workload::{Phase, Program};

use crate::executions::{Execution, Executions};
use crate::plan::{Alternative, Plan};
use crate::results::{clock, moved};

/// The sums of all groups. `cells` are those of the plan's alternatives, in order.
pub fn sums(plan: &Plan, executions: &[Executions], cells: &[Cell]) -> Vec<Cell> {
    let all = plan.alternatives.iter().zip(executions).enumerate();
    let groups = all.filter(|(_, (alternative, _))| alternative.row.program.is_group());
    let sum = |(index, (alternative, executions)): (usize, (&Alternative, &Executions))| {
        let program = &alternative.row.program;
        let loads = &cells[plan.first_cell(index)..][..program.phases.len()];
        sum(plan, (alternative, executions), loads)
    };
    groups.map(sum).collect()
}

/// The sum of a group with these loads.
fn sum(plan: &Plan, (alternative, executions): (&Alternative, &Executions), loads: &[Cell]) -> Cell {
    let (program, unit) = (&alternative.row.program, alternative.row.unit);
    let base = if unit.size > 1.0 { RateBase::Bytes } else { RateBase::Ops };
    let is_durable = program.phases.iter().any(|phase| clock(plan, phase) == ClockKind::Durable);
    let clock = if is_durable { ClockKind::Durable } else { ClockKind::Returned };
    let together = loads[0].together;
    let mut rounds: Vec<Round> = executions
        .runs
        .iter()
        .filter(|run| run.result.phases.len() == program.phases.len())
        .map(|run| Round {
            round: run.round,
            position: run.position,
            discarded: run.discarded,
            ..round(plan, program, &run.result, clock)
        })
        .collect();
    for round in &mut rounds {
        round.discarded |= is_left_out(loads, round);
        round.per_second = summary::round_rate(round, together, base, clock);
    }
    // 4
    let missing = loads.iter().find(|load| !load.measured);
    let measured = missing.is_none() && rounds.iter().any(|round| !round.discarded);
    let kept = || rounds.iter().filter(|round| !round.discarded);
    let reason = missing.map(|load| load.reason.clone().unwrap_or_else(|| format!("{} has no result", load.program)));
    // 3
    let limited_by = LimitedBy { what: Bottleneck::NotMeasured, evidence: "each workload has its own".to_owned() };
    let shared = ["drives", "file_system", "tune", "data"];
    let parameters = loads[0].parameters.iter().filter(|(key, _)| shared.contains(&key.as_str()));
    let mut parameters: BTreeMap<String, ParameterValue> =
        parameters.map(|(key, value)| (key.clone(), value.clone())).collect();
    parameters.extend(program.parameters.iter().map(|one| (one.name.to_owned(), one.value.clone())));
    Cell {
        parameters,
        together,
        targets: loads[0].targets,
        measured,
        reason: reason.filter(|_| !measured),
        rate: measured.then(|| rate(kept(), together, (base, clock), unit, Average::Mean)).flatten(),
        cpu_percent: measured.then(|| summary::cpu_percent(kept(), together, clock)).flatten(),
        io: measured.then(|| io(counted(executions, &rounds))).flatten(),
        limited_by: measured.then_some(limited_by),
        state: state(loads, clock),
        marks: undeciding_marks(loads),
        below_floor: loads.iter().find_map(|load| load.below_floor),
        rounds,
        ..Cell::named(Provenance::Measured, plan.preset, program.name, program.name, &loads[0].target)
    }
}

/// True if the round does not count for one of the loads (5).
fn is_left_out(loads: &[Cell], round: &Round) -> bool {
    let mut all = loads.iter().flat_map(|load| &load.rounds);
    all.any(|one| one.discarded && (one.round, one.position) == (round.round, round.position))
}

/// The warnings for which a load decides nothing, each once (5).
fn undeciding_marks(loads: &[Cell]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for load in loads {
        let codes: Vec<MarkCode> = load.undeciding().collect();
        for mark in load.marks.iter().filter(|mark| codes.contains(&mark.code)) {
            if marks.iter().all(|known| known.code != mark.code) {
                marks.push(mark.clone());
            }
        }
    }
    marks
}

/// The state of a sum: unverified if one of its loads is (5).
fn state(loads: &[Cell], clock: ClockKind) -> State {
    let unverified = loads.iter().find_map(|load| load.state.unverified.clone());
    State { environment: worst_environment(loads), unverified, ..State::unknown(clock) }
}

/// The environment of all loads: noisy if it was for one of them, and quiet only if it was for all.
fn worst_environment(loads: &[Cell]) -> Environment {
    let has = |environment| loads.iter().any(|load| load.state.environment == environment);
    let worse = [Environment::Noisy, Environment::NotMeasured].into_iter().find(|worse| has(*worse));
    worse.unwrap_or(Environment::Quiet)
}

/// The work of all loads in one execution.
fn round(plan: &Plan, program: &Program, result: &ExecutionResult, clock: ClockKind) -> Round {
    let loads = || program.phases.iter().zip(&program.group).zip(&result.phases);
    let parts = || loads().flat_map(|((phase, _), run)| run.parts.iter().map(move |part| (phase, part)));
    let first = program.group.iter().map(|member| member.start).min().unwrap_or_default();
    // 1
    let last = |time: &dyn Fn(&Phase, &PhaseResult) -> Nanos| {
        let ends = loads().map(|((phase, member), run)| member.start + time(phase, run));
        ends.max().unwrap_or_default().saturating_sub(first)
    };
    let claimed = |phase: &Phase, run: &PhaseResult| match self::clock(plan, phase) {
        ClockKind::Durable => run.durable().unwrap_or(run.returned()),
        ClockKind::DataDurable | ClockKind::Returned => run.returned(),
    };
    let seconds = |time: Option<Nanos>| time.map(Nanos::as_secs_f64);
    let cpu = |time: fn(&ProgramResult) -> Nanos| parts().map(|(_, part)| time(part)).sum::<Nanos>().as_secs_f64();
    let group_counters = result.group_counters.as_ref();
    Round {
        bytes: parts().map(|(phase, part)| moved(&part.tally, phase)).sum(),
        ops: parts().map(|(phase, part)| phase.unit.done(&part.tally)).sum(),
        returned_s: last(&|_, run| run.returned()).as_secs_f64(),
        durable_s: (clock == ClockKind::Durable).then(|| last(&claimed).as_secs_f64()),
        cpu_s: CpuSeconds {
            process: cpu(|part| part.cpu.total),
            user: cpu(|part| part.cpu.user),
            kernel_workers: seconds(group_counters.and_then(|counters| counters.workers)),
            machine: seconds(group_counters.and_then(|counters| counters.machine)),
        },
        ..Round::default()
    }
}

/// The results of the executions that count in these rounds of a sum (5).
fn counted<'a>(executions: &'a Executions, rounds: &[Round]) -> impl Iterator<Item = &'a ExecutionResult> {
    let counts = move |run: &&Execution| {
        let mut kept = rounds.iter().filter(|round| !round.discarded);
        kept.any(|round| (round.round, round.position) == (run.round, run.position))
    };
    executions.runs.iter().filter(counts).map(|run| &run.result)
}

/// Bytes moved by all loads and by the device.
fn io<'a>(results: impl Iterator<Item = &'a ExecutionResult>) -> Option<Io> {
    let mut sum =
        Io { program_bytes: Some(0), device_read: 0, device_written: 0, device_written_at_return: 0, flushes: 0 };
    let mut bytes = 0;
    for result in results {
        let device = result.group_counters.as_ref()?.device?;
        bytes +=
            result.phases.iter().map(PhaseResult::tally).map(|all| all.bytes_read + all.bytes_written).sum::<u64>();
        sum.device_read += device.read;
        sum.device_written += device.written;
        sum.device_written_at_return += result.phases.first()?.written_at_return?;
        sum.flushes += device.flushes;
    }
    Some(Io { program_bytes: Some(bytes), ..sum })
}

/// Both sums in words.
pub fn sentence(sum: &Cell) -> Option<String> {
    let rounds: Vec<&Round> = sum.kept().collect();
    let seconds: f64 = rounds.iter().map(|round| round.elapsed_s(sum.state.clock)).sum();
    if !sum.measured || seconds <= 0.0 {
        return None;
    }
    let bytes: u64 = rounds.iter().map(|round| round.bytes).sum();
    let ops: u64 = rounds.iter().map(|round| round.ops).sum();
    let per_second = |amount: f64| {
        let rate = amount / seconds;
        if rate >= 1e3 { whole(rate.round() as u64) } else { significant(rate, 3) }
    };
    let loads = match sum.parameters.get("sum_of") {
        Some(ParameterValue::Word(loads)) => loads.replace('+', " and "),
        _ => return None,
    };
    Some(format!(
        "{} on {}: {loads}: {} MiB and {} operations per second; CPU time of kernel threads is only known for \
         all of them",
        sum.program,
        sum.target,
        per_second(bytes as f64 / f64::from(1 << 20)),
        per_second(ops as f64),
    ))
}

#[cfg(test)]
mod tests {
    use workload::{CacheState, Counters, CpuTime, DeviceBytes, Quiescence, Tally, TreeCounts, Unproven};

    use super::*;
    use crate::rounds::Turn;

    /// An execution of one load that wrote these bytes, all of them to the device.
    fn execution(written: u64) -> ExecutionResult {
        let counters =
            Counters { device: Some(DeviceBytes { written, ..DeviceBytes::default() }), ..Counters::default() };
        let part = ProgramResult {
            returned: Nanos(1),
            data_durable: None,
            durable: None,
            cpu: CpuTime::default(),
            ready: None,
            blocked_in_calls: None,
            tally: Tally { bytes_written: written, ..Tally::default() },
            tree_counts: TreeCounts::default(),
        };
        let phase = PhaseResult {
            cache: CacheState::Unknown(Unproven::NotAsked),
            quiescence: Quiescence::default(),
            parts: vec![part],
            counters: counters.clone(),
            written_at_return: Some(written),
            dirtiness: None,
            unwritten: None,
            grown: None,
            allocation: None,
            first_reads: None,
            latencies: None,
            operations: Vec::new(),
            intervals: Vec::new(),
            heat_map: None,
            ceiling: None,
            ran_with_others: true,
            start: None,
        };
        ExecutionResult { phases: vec![phase], group_counters: Some(counters), ..ExecutionResult::default() }
    }

    #[test]
    fn bytes_count_the_same_rounds_as_the_rate() {
        let mut executions = Executions::default();
        for (round, written) in [(1, 1), (2, 20), (3, 300)] {
            executions.add(Turn { alternative: 0, round, position: 1 }, round == 1, execution(written));
        }
        // The second round does not count for one of the loads.
        let round = |(round, discarded)| Round { round, position: 1, discarded, ..Round::default() };
        let rounds = [(1, true), (2, true), (3, false)].map(round);
        let sum = io(counted(&executions, &rounds)).expect("the bytes");
        assert_eq!((sum.program_bytes, sum.device_written, sum.device_written_at_return), (Some(300), 300, 300));
    }

    #[test]
    fn a_sum_has_the_worst_of_its_loads() {
        let rounds =
            [true, false].map(|discarded| Round { discarded, round: 1 + u32::from(!discarded), ..Round::default() });
        let load = |environment, marks: Vec<Mark>, rounds: &[Round]| {
            let cell = Cell::named(Provenance::Measured, "job", "db", "db", "here");
            let state = State { environment, ..State::unknown(ClockKind::Durable) };
            Cell { state, marks, rounds: rounds.to_vec(), ..cell }
        };
        let mark = |code| Mark { code, value: None, text: String::new() };
        let quiet = load(Environment::Quiet, Vec::new(), &[]);
        assert_eq!(worst_environment(&[quiet.clone(), quiet.clone()]), Environment::Quiet);
        let undeciding = mark(MarkCode::Cache);
        let noisy = load(Environment::Noisy, vec![undeciding.clone(), mark(MarkCode::Few)], &rounds);
        let loads = [quiet, noisy.clone(), noisy];
        assert_eq!(worst_environment(&loads), Environment::Noisy);
        assert_eq!(undeciding_marks(&loads), [undeciding]);
        assert!(is_left_out(&loads, &rounds[0]) && !is_left_out(&loads, &rounds[1]));
        assert_eq!(state(&loads, ClockKind::Durable).unverified, None);
        let mut served = loads;
        served[1].state.unverified = Some("no device is visible".to_owned());
        let sum = state(&served, ClockKind::Durable);
        assert_eq!((sum.unverified.as_deref(), sum.environment), (Some("no device is visible"), Environment::Noisy));
    }

    #[test]
    fn a_sum_has_bytes_and_operations_per_second() {
        let round = Round { bytes: 6 << 20, ops: 3_000, returned_s: 2.0, ..Round::default() };
        let parameters = [("sum_of".to_owned(), ParameterValue::Word("wal+data".to_owned()))].into();
        let cell = Cell {
            measured: true,
            rounds: vec![Round { discarded: true, ..round.clone() }, round],
            parameters,
            ..Cell::named(Provenance::Measured, "job", "db", "db", "here")
        };
        let said = sentence(&cell).expect("a sentence");
        assert!(said.starts_with("db on here: wal and data: 3.00 MiB and 1,500 operations per second"), "{said}");
        assert_eq!(sentence(&Cell { measured: false, ..cell }), None);
    }
}
