//! Runs the loads of a group at the same time, and divides the observations among them.
//!
//! Policy:
//!   1. All loads begin at one moment, each after its own delay. A load that ends earlier does not end the others.
//!   2. A load's times, operations and CPU time are those of its own threads. A load that writes makes its own file
//!      durable as soon as its last call has returned.
//!   3. The counters of the machine and of the devices count the whole group. A load gets those that may explain its
//!      waits only if it ran for nearly the whole time. Otherwise they describe another time.
//!   4. The page cache has one state for all files: the first of warm, cold and dropped that a load wants.
//!   5. If a load has a warm-up, all loads first run for the longest warm-up without being measured. Then the files
//!      that they created are removed: the loads create them again.

use stats::Times;
use units::Nanos;
use workload::{
    Cache, CacheState, Counters, MemoryEvents, Pressure, Program, Quota, Span, Stream, Tally, Unproven, World,
};

use crate::ceiling::CeilingResult;
use crate::load_recorder::LoadRecorder;
use crate::recorder::Timed;
use crate::results::{
    ExecutionResult, Milestone, PhaseResult, ProgramFailure, ProgramResult, WorldFailure, after_warmup, last_phase,
    operations, seen_again, stopped,
};
use crate::streams::{Ran, Split, merged, run_each, split};

/// The minimum share of the observed time for which a load must have run to get all counters. Chosen: shares of the
/// time are then wrong by at most a tenth.
const NEARLY_ALL: f64 = 0.9;

/// The results of the loads.
struct GroupRan {
    /// The result of each load, as that of its phase.
    phases: Vec<PhaseResult>,
    /// The counters of the whole group.
    counters: Counters,
}

/// Creates the files of all loads.
pub(crate) fn prepare<W: World>(world: &mut W, program: &Program) -> Ran<W, Tally> {
    let streams = (0..world.programs()).map(|index| program.group[program.load_of(index).0].prepare.clone());
    let streams: Vec<Stream> = streams.collect();
    run_each(world, streams, |_| Tally::default())
}

/// Runs the loads, unless their preparation has failed. A failure belongs to the load of the program that failed.
pub(crate) fn perform<W: World>(
    world: &mut W,
    program: &Program,
    result: &mut ExecutionResult,
    tell: &mut dyn FnMut(Milestone),
) -> Result<(), WorldFailure<W::Fault>> {
    if result.stopped.is_some() {
        return Ok(());
    }
    let broken = |fault| WorldFailure { phase: last_phase(program), fault };
    let ended = run_loads(world, program).map_err(broken)?;
    result.was_suspended = world.was_suspended();
    match ended {
        Ok(_) if result.was_suspended => {}
        Ok(GroupRan { phases, counters }) => {
            result.stopped = verify_contents(world, program).map_err(broken)?;
            if result.stopped.is_none() {
                program.phases.iter().zip(&phases).for_each(|(phase, run)| tell(Milestone::PhaseDone(phase, run)));
                (result.phases, result.group_counters) = (phases, Some(counters));
            }
        }
        Err(tallies) => {
            let failed = stopped(&tallies, None);
            let load = |failed: &ProgramFailure| Some(program.load_of(failed.program).0);
            result.stopped = failed.map(|failed| ProgramFailure { phase: load(&failed), ..failed });
        }
    }
    Ok(())
}

/// The first program whose files do not contain the data written to them.
fn verify_contents<W: World>(world: &mut W, program: &Program) -> Result<Option<ProgramFailure>, W::Fault> {
    for index in 0..world.programs() {
        let load = program.load_of(index).0;
        let cuts = program.group[load].prepare.cuts().into_iter().chain(program.phases[load].steps.cuts());
        if let Some(failure) = world.verify_contents(index, &cuts.collect::<Vec<u32>>())? {
            return Ok(Some(ProgramFailure { program: index, phase: Some(load), failure }));
        }
    }
    Ok(None)
}

/// Runs all loads at the same time. If one fails, returns the tallies of all programs.
fn run_loads<W: World>(world: &mut W, program: &Program) -> Result<Result<GroupRan, Vec<Tally>>, W::Fault> {
    let loads: Vec<usize> = (0..world.programs()).map(|index| program.load_of(index).0).collect();
    // 4
    let cache = match wanted(program) {
        Cache::AsIs => CacheState::Unknown(Unproven::NotAsked),
        wanted => world.set_cache_state(wanted)?,
    };
    let quiescence = world.quiesce()?;
    // 5
    let warmup = program.phases.iter().filter_map(|phase| phase.warmup).max();
    if let Some(time) = warmup {
        let streams = (0..loads.len()).map(|index| program.warmup_of(index, time)).collect();
        let (spans, recorders) =
            run_each(world, streams, |index| Timed::new(program.phases[loads[index]].unit).within(Some(time)))?;
        let Split { mut tallies, .. } = split(recorders, &spans);
        let failed = |tallies: &[Tally]| tallies.iter().any(|tally| tally.failure.is_some());
        let removals: Vec<Stream> = (0..loads.len()).map(|index| program.removal_of(index)).collect();
        if !failed(&tallies) && !removals.iter().all(Stream::is_empty) {
            tallies = run_each(world, removals, |_| Tally::default())?.1;
        }
        if failed(&tallies) {
            return Ok(Err(tallies));
        }
    }
    let cache = if warmup.is_some() { after_warmup(cache) } else { cache };
    world.watch()?;
    let written_before = world.device_bytes();
    // 1
    let streams = (0..loads.len()).map(|index| program.steps_of(index)).collect();
    let (spans, recorders) = run_each(world, streams, |index| {
        let phase = &program.phases[loads[index]];
        LoadRecorder::new(Timed::new(phase.unit).within(phase.ended_after()), program.group[loads[index]].start)
    })?;
    let written_at_return = world.device_bytes().zip(written_before).map(|(now, before)| now.since(&before).written);
    let dirtiness = world.dirtiness();
    let clocks: Vec<_> = recorders.iter().zip(&spans).map(|(recorder, span)| recorder.clocks(span)).collect();
    let last = |load: usize| {
        let of_load = loads.iter().zip(recorders.iter().zip(&spans)).filter(|(other, _)| **other == load);
        of_load.map(|(_, (recorder, span))| recorder.returned(span)).max()
    };
    let last: Vec<_> = (0..program.group.len()).filter_map(last).collect();
    let mut records: Vec<_> =
        recorders.into_iter().zip(&loads).map(|(recorder, load)| Some(recorder.finish(last[*load]))).collect();
    if records.iter().flatten().any(|records| records.tally.failure.is_some()) {
        return Ok(Err(records.into_iter().flatten().map(|records| records.tally).collect()));
    }
    let counters = world.counters()?;
    let unwritten = world.unwritten()?;
    let allocation = world.allocation()?;
    let mut phases = Vec::with_capacity(program.phases.len());
    for (load, phase) in program.phases.iter().enumerate() {
        let own: Vec<usize> = (0..loads.len()).filter(|index| loads[*index] == load).collect();
        let of_load = own.iter().filter_map(|index| records[*index].take());
        let Split { tallies, times, intervals, heat_map } = merged(of_load);
        let mut parts = Vec::with_capacity(own.len());
        for (index, tally) in own.iter().zip(tallies) {
            let (span, clocks) = (&spans[*index], clocks[*index]);
            parts.push(ProgramResult {
                returned: clocks.returned,
                data_durable: clocks.data_durable,
                durable: clocks.durable,
                cpu: span.cpu,
                ready: span.ready,
                blocked_in_calls: blocked(span, clocks.returned),
                tally,
                tree_counts: world.tree_counts(*index)?,
            });
        }
        let is_changed = phase.changes();
        let has_read = parts.iter().any(|part| part.tally.bytes_read > 0);
        let cache = if phase.cache == Cache::AsIs { CacheState::Unknown(Unproven::NotAsked) } else { cache };
        let first_reads = if cache == CacheState::Cold { seen_again(phase, &parts, &counters) } else { None };
        phases.push(PhaseResult {
            cache,
            quiescence: quiescence.clone(),
            counters: seen_by(&counters, &parts),
            written_at_return,
            dirtiness,
            unwritten: unwritten.filter(|_| is_changed),
            grown: None,
            allocation: allocation.filter(|_| has_read),
            first_reads,
            latencies: Some(Times::from(&times.units())),
            operations: operations(&times),
            intervals,
            heat_map: Some(heat_map),
            ceiling: Some(CeilingResult::NotMeasured("other workloads ran at the same time".to_owned())),
            ran_with_others: true,
            start: None,
            parts,
        });
    }
    Ok(Ok(GroupRan { phases, counters }))
}

/// The state of the page cache that the loads want (4). A job file with a warm and a cold load is refused.
fn wanted(program: &Program) -> Cache {
    let wants = |state| program.phases.iter().any(|phase| phase.cache == state);
    [Cache::Warm, Cache::Cold, Cache::Dropped].into_iter().find(|state| wants(*state)).unwrap_or(Cache::AsIs)
}

/// The time until the last call returned in which a program neither ran nor was runnable.
fn blocked<C>(span: &Span<C>, returned: Nanos) -> Option<Nanos> {
    Some(returned.saturating_sub(span.cpu.total).saturating_sub(span.ready?))
}

/// 3. Returns the group's counters that are valid for one load.
fn seen_by(counters: &Counters, parts: &[ProgramResult]) -> Counters {
    let ran = |part: &ProgramResult| part.durable.or(part.data_durable).unwrap_or(part.returned);
    let shortest = parts.iter().map(ran).min().unwrap_or_default();
    if shortest.0 as f64 >= NEARLY_ALL * counters.elapsed.0 as f64 {
        return counters.clone();
    }
    // The CPU times of the process and of the machine stay: they are compared with each other, for the same time.
    Counters {
        layers: Vec::new(),
        quota: Quota::default(),
        pressure: Pressure::default(),
        memory: MemoryEvents::default(),
        io_limits: Vec::new(),
        servers: None,
        journal: None,
        ..counters.clone()
    }
}

#[cfg(test)]
mod tests {
    use workload::{CpuTime, TreeCounts};

    use super::*;

    fn part(returned: u64) -> ProgramResult {
        ProgramResult {
            returned: Nanos(returned),
            data_durable: None,
            durable: None,
            cpu: CpuTime::default(),
            ready: None,
            blocked_in_calls: None,
            tally: Tally::default(),
            tree_counts: TreeCounts::default(),
        }
    }

    #[test]
    fn counters_of_a_longer_time_do_not_describe_a_load() {
        let all = Counters { elapsed: Nanos(1000), servers: Some(Vec::new()), ..Counters::default() };
        assert_eq!(seen_by(&all, &[part(900), part(1000)]), all);
        assert_eq!(seen_by(&all, &[part(899), part(1000)]).servers, None);
    }
}
