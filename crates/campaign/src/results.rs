//! Makes cells from executions. Copies and sums figures, but changes none.

mod hosts;

use std::collections::BTreeMap;

use kernel::observe::host::processors;
use runner::execution::{ClaimedClock, PhaseResult, ProgramResult};
use stats::figures::rate::{Average, rate};
use stats::figures::summary::{self, RateUnit};
use stats::inference::steady_state;
use stats::judge::bottleneck;
use stats::judge::floor::{self, Kind};
use stats::judge::regimes::{Measure, TargetStep};
use stats::{
    Breakdown, CacheState, Cell, ClockKind, CpuSeconds, Environment, HostInfo, Io, Latencies, Latency, LowerCache,
    MarkCode, OperationFigures, OperationKind, ParameterValue, Problem, Provenance, RateBase, Round, RoundPart, State,
    Steadiness, TargetInfo,
};
use units::{Nanos, fnv1a};
use workload::{Issue, OpKind, Phase, Steps, Tally, TreeCounts, Unproven};

use crate::executions::{Execution, Executions, Failure};
use crate::judge::consumption::gather;
use crate::judge::regimes::{CellRegimes, leave_out_earlier, target_steps};
use crate::judge::{self, CellFacts, ceiling};
use crate::plan::{Alternative, Plan, Row};
use crate::presets::{MIB_PER_SECOND, OPS_PER_SEC};
use crate::targets::{Simulated, Site, Target};

/// The facts that all cells of a run share.
#[derive(Clone, Copy, Debug)]
pub struct RunContext<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// Its targets.
    pub targets: &'a [Target],
    /// The description of each target.
    pub infos: &'a [TargetInfo],
    /// The clock floor of the real kernel: the elapsed time of an empty stream.
    pub clock_floor: Option<Nanos>,
    /// The hosts that measure together; empty if there is one.
    pub hosts: &'a [HostInfo],
}

/// One cell for every phase of a program on its targets.
pub fn cells(context: RunContext, alternative: &Alternative, executions: &Executions) -> Vec<Cell> {
    cells_after(context, alternative, executions, None)
}

/// The cells of an alternative. `step` is the change that all cells of its target share.
fn cells_after(
    context: RunContext,
    alternative: &Alternative,
    executions: &Executions,
    step: Option<&TargetStep>,
) -> Vec<Cell> {
    let of_hosts = hosts::executions(context.hosts, executions);
    let of_phase = |(index, phase): (usize, &Phase)| {
        let cell = |executions: &Executions, cpus: Option<u32>| {
            cell(context, (alternative, executions), (index, phase), (step, cpus))
        };
        match &of_hosts[..] {
            [] => cell(executions, processors()),
            of_hosts => hosts::combined(of_hosts, index, (phase.base, unit(alternative, phase)), &cell),
        }
    };
    alternative.row.program.phases.iter().enumerate().map(of_phase).collect()
}

/// The cells of all alternatives, in order.
pub fn all_cells(context: RunContext, executions: &[Executions]) -> Vec<Cell> {
    let all = || context.plan.alternatives.iter().zip(executions);
    let apart: Vec<Cell> =
        all().flat_map(|(alternative, executions)| cells(context, alternative, executions)).collect();
    let steps = target_steps(context.plan, context.infos, &apart);
    if steps.is_empty() {
        return apart;
    }
    let step = |alternative: &Alternative| match alternative.busy()[..] {
        [target] => steps.get(&context.targets[target].name),
        _ => None,
    };
    let cells = |(alternative, executions)| cells_after(context, alternative, executions, step(alternative));
    all().flat_map(cells).collect()
}

/// True if all rates of the program are steady, or will not be measured.
pub fn is_settled(plan: &Plan, alternative: &Alternative, executions: &Executions) -> bool {
    let together = alternative.busy().len() > 1;
    let is_steady = |(index, phase): (usize, &Phase)| {
        let (_, rounds) = measured_rounds(executions, index, phase);
        matches!(
            steady_state::settling(&rates(&rounds, together, phase.base, clock(plan, phase))),
            steady_state::Settling::Since(..)
        )
    };
    alternative.row.omitted.is_some()
        || executions.failure().is_some()
        || alternative.row.program.phases.iter().enumerate().all(is_steady)
}

/// True if the program has run as often as the preset promises, and has the data that decide a comparison, or will not
/// be measured.
pub fn has_enough(plan: &Plan, alternative: &Alternative, executions: &Executions) -> bool {
    let is_enough = |(index, phase): (usize, &Phase)| {
        let (_, rounds) = measured_rounds(executions, index, phase);
        let kept: Vec<&Round> = rounds.iter().filter(|round| !round.discarded).collect();
        let kind = Kind::new(phase.base, phase.unit.first == OpKind::Run);
        let lack = floor::shortfall(kind, &kept, clock(plan, phase), None).filter(|_| plan.has_floor);
        kept.len() >= plan.schedule.promised() as usize && lack.is_none()
    };
    alternative.row.omitted.is_some()
        || executions.failure().is_some()
        || alternative.row.program.phases.iter().enumerate().all(is_enough)
}

/// The rates of these rounds. `together` is true for several targets at the same time.
fn rates(rounds: &[Round], together: bool, base: RateBase, clock: ClockKind) -> Vec<f64> {
    rounds.iter().filter_map(|round| summary::round_rate(round, together, base, clock)).collect()
}

/// The unit in which the rate of a load is printed.
fn unit_of(phase: &Phase) -> RateUnit {
    if phase.base == RateBase::Bytes { MIB_PER_SECOND } else { OPS_PER_SEC }
}

/// The unit in which the rate of a phase is printed.
fn unit(alternative: &Alternative, phase: &Phase) -> RateUnit {
    if alternative.row.program.is_group() { unit_of(phase) } else { alternative.row.unit }
}

/// The clock that a phase claims.
pub(crate) fn clock(plan: &Plan, phase: &Phase) -> ClockKind {
    match plan.options.claim {
        ClaimedClock::Durable if phase.changes() => ClockKind::Durable,
        // Each unit of the phase's work ends with fdatasync.
        _ if phase.unit.last == OpKind::Fdatasync => ClockKind::DataDurable,
        ClaimedClock::Durable | ClaimedClock::Returned => ClockKind::Returned,
    }
}

/// The number of files of a phase: of its own jobs, if the program is a group. A file of the user is read by all jobs.
fn files(row: &Row, phase: usize, targets: &[&Target]) -> u64 {
    if targets.iter().any(|target| matches!(target.site, Site::File { .. })) {
        return 1;
    }
    let jobs = if row.program.is_group() { row.program.group.get(phase).map(|load| load.jobs) } else { Some(row.jobs) };
    u64::from(jobs.unwrap_or(1).max(1))
}

/// The steadiness of a cell, and the reason if it was not measured.
fn steadiness(
    settling: Option<steady_state::Settling>,
    rounds: usize,
    simulated: bool,
) -> (Steadiness, Option<String>) {
    match settling {
        Some(steady_state::Settling::Since(..)) => (Steadiness::Steady, None),
        Some(steady_state::Settling::Not(_)) => (Steadiness::Transient, None),
        Some(steady_state::Settling::TooFew) => {
            (Steadiness::NotMeasured, stats::judge::marks::steadiness::too_few(rounds))
        }
        None if simulated => (Steadiness::NotMeasured, None),
        None => {
            (Steadiness::NotMeasured, Some("only the preset device repeats rounds until the rate is steady".to_owned()))
        }
    }
}

/// The problem to report if the program failed, once per program.
pub fn problem(targets: &[Target], alternative: &Alternative, executions: &Executions) -> Option<Problem> {
    let failure = executions.failure()?;
    let program = &alternative.row.program;
    let names = || joined(alternative.targets.iter().map(|&index| targets[index].name.as_str()));
    Some(Problem {
        target: Some(failure.program.map_or_else(names, |index| targets[alternative.targets[index]].name.clone())),
        program: Some(program.name.to_owned()),
        phase: failure.phase.map(|index| program.phases[index].name.to_owned()),
        message: match failure.phase {
            Some(_) => failure.message,
            None => while_prepared(&failure.message),
        },
        hint: failure.hint,
    })
}

fn while_prepared(message: &str) -> String {
    format!("during preparation: {message}")
}

fn cell(
    context: RunContext,
    (alternative, executions): (&Alternative, &Executions),
    (index, phase): (usize, &Phase),
    (step, cpus): (Option<&TargetStep>, Option<u32>),
) -> Cell {
    let plan = context.plan;
    let busy = alternative.busy();
    let targets: &[&Target] = &busy.iter().map(|&index| &context.targets[index]).collect::<Vec<_>>();
    let simulated = targets.iter().all(|target| target.is_simulated());
    let row = &alternative.row;
    let unit = unit(alternative, phase);
    let (clock, base) = (clock(plan, phase), phase.base);
    let (runs, mut rounds) = measured_rounds(executions, index, phase);
    if plan.schedule.is_until_steady() {
        // Rounds before the last window only led to the steady state.
        let before = rounds.len().saturating_sub(steady_state::WINDOW);
        rounds[..before].iter_mut().for_each(|round| round.discarded = true);
    }
    let settling = plan
        .schedule
        .is_until_steady()
        .then(|| steady_state::settling(&rates(&rounds, targets.len() > 1, base, clock)));
    if !simulated {
        judge::machine::mark_rounds(&mut rounds, &runs, phase, cpus);
    }
    let is_null = phase.steps.issue() == Issue::Null;
    let together = targets.len() > 1;
    let regimes = match simulated || is_null {
        true => CellRegimes::default(),
        false => leave_out_earlier(&mut rounds, (plan, phase), Measure { base, clock, together }, step),
    };
    for round in &mut rounds {
        round.per_second = summary::round_rate(round, together, base, clock);
    }
    let kept: Vec<&Round> = rounds.iter().filter(|round| !round.discarded).collect();
    let kept_runs: Vec<&PhaseResult> =
        runs.into_iter().zip(&rounds).filter(|(_, round)| !round.discarded).map(|(run, _)| run).collect();
    let reason = reason(row, executions, index, kept.len());
    let measured = reason.is_none();

    let direct = row.is_direct_in(index) && !is_null;
    let (cache, cache_reason) = cache(&kept_runs);
    let overlap = kept.iter().filter(|_| together).filter_map(|round| round.overlap(clock)).min_by(f64::total_cmp);
    let facts = CellFacts {
        plan,
        phase,
        files: files(row, index, targets),
        clock,
        base,
        unit,
        cold: cache == CacheState::Cold,
        direct,
        simulated: simulated || is_null,
        places: targets.iter().filter_map(|target| target.place()).collect(),
        failure: executions.failure().map(|_| reason.clone().unwrap_or_default()),
        measured,
        overlap,
        together,
        infos: &busy.iter().filter_map(|&index| context.infos.get(index)).collect::<Vec<_>>(),
        clock_floor: context.clock_floor.filter(|_| !simulated),
        settings: &executions
            .kept()
            .flat_map(|(round, result)| result.settings.iter().map(move |settings| (round, settings)))
            .collect::<Vec<_>>(),
        settling,
        regimes: &regimes.regimes,
        left_out: regimes.left_out,
        target_step: regimes.target_step,
        rounds: &kept,
        runs: &kept_runs,
    };
    let mut marks = judge::marks(&facts);
    let unverified = judge::blind::unverified(&facts);
    // The page cache of this kernel says nothing about a server's.
    let claimed = if unverified.is_some() && cache == CacheState::Cold { CacheState::Unverified } else { cache };
    let below_floor = judge::floor::shortfall(&facts);
    let kept = || kept.iter().copied();
    let file_systems: Vec<_> = targets.iter().map(|target| target.place()).collect();
    let used = gather(&kept_runs, phase, clock, &file_systems, simulated);
    let paired = kept().zip(kept_runs.iter().copied());
    let of_limit = ceiling::gather(paired, together, base, clock).filter(|_| measured);
    marks.extend(of_limit.as_ref().and_then(stats::judge::ceiling::above));
    let limited_by = bottleneck::limited_by(&used);
    // A direct program is its own ceiling, and random reads are those of their ceiling.
    let is_other_pattern = !direct && (base == RateBase::Bytes || phase.unit.last == OpKind::Fdatasync);
    let limited_by = match &of_limit {
        Some(of_limit) => stats::judge::ceiling::confirmed(limited_by, of_limit, is_other_pattern),
        None => limited_by.0,
    };
    let from_device = (cache == CacheState::Cold || direct) && measured && !simulated && reads(&kept_runs);
    let lower_cache = match marks.iter().any(|mark| mark.code == MarkCode::Lower) {
        true => LowerCache::Warm,
        false => LowerCache::NotMeasured,
    };
    let average = Average::of_marks(&marks);
    let (steadiness, steadiness_reason) = steadiness(settling.filter(|_| measured), kept().count(), simulated);
    Cell {
        provenance: if simulated { Provenance::Simulated } else { Provenance::Measured },
        preset: plan.preset.to_owned(),
        program: row.program.keys().nth(index).map_or(row.program.name, |(program, _)| program).to_owned(),
        phase: phase.name.to_owned(),
        target: joined(targets.iter().map(|target| target.name.as_str())),
        parameters: parameters(plan, alternative, index, targets),
        together,
        targets: targets.len() as u32,
        overlap,
        rate: measured.then(|| rate(kept(), together, (base, clock), unit, average)).flatten(),
        cpu_percent: measured.then(|| summary::cpu_percent(kept(), together, clock)).flatten(),
        latency_ns: measured.then(|| latency(&kept_runs, phase)).flatten(),
        operations: if measured {
            operations((&kept().collect::<Vec<_>>(), &kept_runs), phase, (clock, average))
        } else {
            Vec::new()
        },
        io: measured.then(|| io(&kept_runs, phase)).flatten(),
        time: (measured && used.several.is_none()).then(|| bottleneck::where_it_went(&used)),
        breakdown: measured.then(|| breakdown(&kept_runs)).flatten(),
        limited_by: measured.then_some(limited_by),
        of_limit,
        state: State {
            cache: claimed,
            cache_reason,
            lower_cache: from_device.then_some(lower_cache),
            unverified,
            clock,
            steadiness,
            steadiness_reason,
            // A simulated machine runs no other programs. For a real one, the environment is set when all cells exist.
            environment: if simulated { Environment::Quiet } else { Environment::NotMeasured },
        },
        marks,
        below_floor,
        // A phase ended by its time limit has no reproducible effect, so it gets no checksum.
        effect: kept_runs.last().filter(|run| is_whole(run, phase)).map(|run| effect(&run.tally(), &run.tree_counts())),
        measured,
        reason,
        rounds,
        regimes: regimes.regimes,
        hosts: Vec::new(),
        all_busy_per_second: None,
    }
}

/// True if the phase did all of its work, and was not ended by its time limit.
fn is_whole(run: &PhaseResult, phase: &Phase) -> bool {
    let done = |tally: &Tally| match phase.base {
        RateBase::Bytes => moved(tally, phase),
        RateBase::Files | RateBase::Ops => phase.unit.done(tally),
    };
    phase.within.is_none() || run.parts.iter().all(|part| done(&part.tally) == phase.amount)
}

/// The cache state that was proved before every kept round. If it was requested but not proved, also the reason.
fn cache(runs: &[&PhaseResult]) -> (CacheState, Option<String>) {
    let all = |state| !runs.is_empty() && runs.iter().all(|run| run.cache == state);
    if all(workload::CacheState::Cold) {
        return (CacheState::Cold, None);
    }
    if all(workload::CacheState::Warm) {
        return (CacheState::Warm, None);
    }
    let reason = runs.iter().find_map(|run| match run.cache {
        workload::CacheState::Unknown(Unproven::NotAsked) => None,
        workload::CacheState::Unknown(unproven) => Some(unproven.to_string()),
        workload::CacheState::Cold | workload::CacheState::Warm => None,
    });
    (CacheState::Unknown, reason)
}

/// True if the phase read anything.
fn reads(runs: &[&PhaseResult]) -> bool {
    runs.iter().any(|run| run.tally().bytes_read > 0)
}

/// The reason why the cell is n.m.; `None` if it is measured.
fn reason(row: &Row, executions: &Executions, index: usize, kept: usize) -> Option<String> {
    if let Some(omitted) = &row.omitted {
        return Some(omitted.clone());
    }
    let program = &row.program;
    if let Some(Failure { phase, message, .. }) = executions.failure() {
        return Some(match phase {
            Some(phase) if phase != index && program.is_group() => {
                format!("{}, which ran at the same time, failed: {message}", program.phases[phase].name)
            }
            Some(phase) if phase > index => format!("the test failed in a later phase: {message}"),
            Some(phase) if phase < index => format!("the test failed in an earlier phase: {message}"),
            Some(_) => message,
            None => while_prepared(&message),
        });
    }
    (kept == 0).then(|| "the run ended before this test".to_owned())
}

/// The executions of a phase that have a time, with their rounds.
fn measured_rounds<'a>(executions: &'a Executions, index: usize, phase: &Phase) -> (Vec<&'a PhaseResult>, Vec<Round>) {
    let measured = |run: &'a Execution| {
        let done = run.result.phases.get(index)?;
        Some((done, round(run, index, phase)?))
    };
    executions.runs.iter().filter_map(measured).unzip()
}

fn round(run: &Execution, index: usize, phase: &Phase) -> Option<Round> {
    let done = run.result.phases.get(index)?;
    let parts: Vec<RoundPart> = done.parts.iter().map(|part| round_part(part, phase)).collect();
    // The slowest part ends the round. A time that one part lacks is missing from all, because all run the same phase.
    let last = |time: fn(&RoundPart) -> Option<f64>| parts.iter().filter_map(time).max_by(f64::total_cmp);
    Some(Round {
        round: run.round,
        position: run.position,
        discarded: run.discarded,
        bytes: parts.iter().map(|part| part.bytes).sum(),
        ops: parts.iter().map(|part| part.ops).sum(),
        returned_s: last(|part| Some(part.returned_s))?,
        data_durable_s: last(|part| part.data_durable_s),
        durable_s: last(|part| part.durable_s),
        rested_s: run.result.rested.map(Nanos::as_secs_f64),
        per_second: None,
        cpu_s: CpuSeconds {
            process: parts.iter().map(|part| part.process_s).sum(),
            user: done.parts.iter().map(|part| part.cpu.user).sum::<Nanos>().as_secs_f64(),
            // Beside other loads, the CPU time of kernel threads and of the machine is not only that of this one.
            kernel_workers: done.counters.workers.filter(|_| !done.ran_with_others).map(Nanos::as_secs_f64),
            machine: done.counters.machine.filter(|_| !done.ran_with_others).map(Nanos::as_secs_f64),
        },
        parts: if parts.len() > 1 { parts } else { Vec::new() },
        intervals: done.intervals.clone(),
        operations: run.operations.get(index).cloned().unwrap_or_default(),
        heat_map: done.heat_map.clone(),
        marks: Vec::new(),
        start_spread: None,
    })
}

fn round_part(part: &ProgramResult, phase: &Phase) -> RoundPart {
    RoundPart {
        bytes: moved(&part.tally, phase),
        ops: phase.unit.done(&part.tally),
        returned_s: part.returned.as_secs_f64(),
        data_durable_s: part.data_durable.map(Nanos::as_secs_f64),
        durable_s: part.durable.map(Nanos::as_secs_f64),
        process_s: part.cpu.total.as_secs_f64(),
    }
}

/// Bytes moved between the program and files. Copied bytes are read and written, and count once.
pub(crate) fn moved(tally: &Tally, phase: &Phase) -> u64 {
    match phase.unit.also {
        Some(_) => tally.bytes_read + tally.bytes_written,
        None => tally.bytes_read.max(tally.bytes_written),
    }
}

/// The distinct words, in order, joined with `+`.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut different: Vec<&str> = Vec::new();
    words.for_each(|word| {
        if !different.contains(&word) {
            different.push(word);
        }
    });
    different.join("+")
}

fn parameters(
    plan: &Plan,
    alternative: &Alternative,
    index: usize,
    targets: &[&Target],
) -> BTreeMap<String, ParameterValue> {
    let program = &alternative.row.program;
    let parameters = program.parameters_of(index);
    let settings = parameters.iter().map(|parameter| (parameter.name.to_owned(), parameter.value.clone()));
    let first = if program.is_group() { index } else { 0 };
    let engine = match program.phases.get(first).map(|phase| phase.steps.issue()) {
        Some(Issue::Async(overlap)) if overlap.polled => "sqpoll",
        Some(Issue::Async(_)) => "uring",
        Some(Issue::Mapped) => "mmap",
        Some(Issue::Null) => "null",
        Some(Issue::Sync) | None => "posix",
    };
    let engines = targets.iter().map(|target| if target.is_simulated() { "simulated" } else { engine });
    // A program that reads the device under a target uses no file system.
    let file_systems =
        targets.iter().filter_map(|target| target.file_system().filter(|_| alternative.row.raw.is_none()));
    let file_systems: Vec<String> = file_systems.collect();
    let tunings: Vec<String> = targets.iter().map(|target| target.tuned()).filter(|tuned| !tuned.is_empty()).collect();
    let mut parameters: BTreeMap<String, ParameterValue> = settings.collect();
    parameters.extend(targets.iter().filter_map(|target| target.simulated()).flat_map(Simulated::parameters));
    parameters.insert("drives".to_owned(), ParameterValue::Number(targets.len() as u64));
    parameters.insert("engine".to_owned(), ParameterValue::Word(joined(engines)));
    let tunings = joined(tunings.iter().map(String::as_str));
    let data = if plan.zeros && alternative.row.writes() { "zeros" } else { "" };
    for (name, words) in
        [("data", data.to_owned()), ("file_system", joined(file_systems.iter().map(String::as_str))), ("tune", tunings)]
    {
        if !words.is_empty() {
            parameters.insert(name.to_owned(), ParameterValue::Word(words));
        }
    }
    parameters
}

/// Bytes moved by the program and by the device, over all kept rounds. `None` if the device was not visible in every
/// round, or worked for other loads too.
fn io(runs: &[&PhaseResult], phase: &Phase) -> Option<Io> {
    let mut program_bytes = 0;
    let mut io = Io { program_bytes: None, device_read: 0, device_written: 0, device_written_at_return: 0, flushes: 0 };
    for run in runs {
        let device = run.counters.device.filter(|_| !run.ran_with_others)?;
        let tally = run.tally();
        program_bytes += tally.bytes_read + tally.bytes_written;
        io.device_read += device.read;
        io.device_written += device.written;
        io.device_written_at_return += run.written_at_return?;
        io.flushes += device.flushes;
    }
    io.program_bytes = (phase.unit.first != OpKind::Run).then_some(program_bytes);
    (!runs.is_empty()).then_some(io)
}

/// The simulated machine's division of the time, over all kept rounds; `None` if a round lacks it.
fn breakdown(runs: &[&PhaseResult]) -> Option<Breakdown> {
    let mut all = Breakdown::default();
    for run in runs {
        all.add(run.counters.breakdown.as_ref()?);
    }
    (!runs.is_empty()).then_some(all)
}

/// Latencies of single units of work, over all kept rounds; `None` if they were not timed.
fn latency(runs: &[&PhaseResult], phase: &Phase) -> Option<Latency> {
    let mut all = Latencies::default();
    for run in runs {
        all.add_times(run.latencies.as_ref()?);
    }
    all.summary(OperationKind::Unit.latency_kind(phase.steps.is_paced()))
}

/// The rate and the latencies of each kind of operation, over all kept rounds.
fn operations(
    (kept, runs): (&[&Round], &[&PhaseResult]),
    phase: &Phase,
    (clock, average): (ClockKind, Average),
) -> Vec<OperationFigures> {
    let of_kind = |kind: OperationKind| {
        let of_round = |round: &&Round| round.operations.iter().find(|one| one.operation == kind).map(|one| one.count);
        let counts: Vec<u64> = kept.iter().map(|round| of_round(round).unwrap_or(0)).collect();
        let mut latencies = Latencies::default();
        runs.iter().filter_map(|run| run.times(kind)).for_each(|times| latencies.add_times(times));
        let rounds: Vec<Round> = kept.iter().zip(&counts).map(|(round, ops)| counting(round, *ops)).collect();
        let unit = RateUnit { name: "ops/sec", size: 1.0 };
        (counts.iter().sum::<u64>() > 0).then(|| OperationFigures {
            operation: kind,
            count: counts.iter().sum(),
            rate: rate(&rounds, false, (RateBase::Ops, clock), unit, average),
            latency_ns: latencies.summary(kind.latency_kind(phase.steps.is_paced())),
        })
    };
    OperationKind::ALL.into_iter().filter(|kind| *kind != OperationKind::Unit).filter_map(of_kind).collect()
}

/// A round of the same times that did this number of operations.
fn counting(round: &Round, ops: u64) -> Round {
    let Round { returned_s, data_durable_s, durable_s, .. } = *round;
    Round { round: round.round, ops, returned_s, data_durable_s, durable_s, ..Round::default() }
}

/// A checksum of the operations and of the remaining files: FNV-1a over the counts. A program has the same effect in
/// every world, so a fast wrong answer is noticed.
pub fn effect(tally: &Tally, tree_counts: &TreeCounts) -> String {
    // A command is one operation, which tells nothing. Only the remaining files count.
    let counts = tally.ops[..OpKind::Run as usize].iter().copied();
    let rest = [tally.bytes_read, tally.bytes_written, tree_counts.directories, tree_counts.files, tree_counts.bytes];
    format!("{:016x}", fnv1a(counts.chain(rest).flat_map(u64::to_le_bytes)))
}
