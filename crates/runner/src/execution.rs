//! Runs one program once in a world, in all of its folders at the same time: the preparation, then every phase with its
//! clocks, with counters read before and after. Knows no preset and prints nothing.

use std::thread;
use std::time::Duration;

use stats::Times;
use stats::judge::marks::durability;
use units::Nanos;
use workload::{Cache, CacheState, Phase, Program, Span, Stream, Tally, TreeCounts, World};

use crate::ceiling::{self, Ran};
use crate::group;
use crate::live::Live;
use crate::peers::{Agreed, Alone, Peers, host_start, left, told_to_end};
use crate::recorder::Timed;
pub use crate::results::{
    ExecutionResult, Milestone, OperationTimes, PhaseResult, ProgramFailure, ProgramResult, Recorded, RecordedTrace,
    WorldFailure, last_phase,
};
use crate::results::{after_warmup, operations, seen_again, stopped};
use crate::streams::{Split, run_stream, run_with, split};

/// The clock that the figures of a phase claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimedClock {
    /// The time until the last call returned, as in 1983.
    Returned,
    /// The time until everything is durable, if anything was changed.
    Durable,
}

/// The options of measuring a program.
#[derive(Clone, Copy, Debug)]
pub struct MeasureOptions {
    /// The clock of its figures.
    pub claim: ClaimedClock,
    /// True if single operations are timed, with two readings of a clock for each.
    pub timed: bool,
    /// True if the ceiling of each program is measured after it.
    pub ceiling: bool,
    /// The figures that another thread reads meanwhile, and that can end a phase.
    pub live: Option<&'static Live>,
}

/// Runs the program in every folder of the world at the same time. The folders are empty before and after.
pub fn perform<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    perform_all(world, program, options, &mut |_| (), &mut Alone)
}

/// Does the same as [`perform`], together with other hosts.
pub fn perform_with_peers<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
    peers: &mut dyn Peers,
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    perform_all(world, program, options, &mut |_| (), peers)
}

/// Does the same as [`perform`], and calls `tell` at each milestone, outside of every clock.
pub fn perform_telling<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
    tell: &mut dyn FnMut(Milestone),
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    perform_all(world, program, options, tell, &mut Alone)
}

fn perform_all<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
    tell: &mut dyn FnMut(Milestone),
    peers: &mut dyn Peers,
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    let mut result = ExecutionResult::default();
    // Discard any earlier suspension.
    world.was_suspended();
    result.settings[0] = world.settings();
    world.clear()?;
    let (spans, tallies) = match program.is_group() {
        true => group::prepare(world, program)?,
        false => run_stream(world, &program.prepare)?,
    };
    result.prepared_in = spans.iter().map(Span::elapsed).max().unwrap_or_default();
    result.stopped = stopped(&tallies, None);
    let reads_others = peers.reads_others();
    if reads_others && result.stopped.is_none() {
        go_to_next_host(world, program, &mut result, peers)?;
    }
    if result.stopped.is_none() {
        tell(Milestone::Prepared);
    }
    match program.is_group() {
        true => group::perform(world, program, &mut result, tell)?,
        false => perform_phases(world, program, options, &mut result, tell, peers)?,
    }
    let is_whole = result.stopped.is_none() && !result.was_suspended;
    if reads_others && is_whole {
        // Wait here, because another host may still read the files of this one.
        peers.meet();
    }
    if reads_others && !is_whole {
        // Other hosts may still read its files. The next execution removes them.
        result.settings[1] = world.settings();
        return Ok(result);
    }
    let cleared = world.clear();
    // If the clearing fails after another failure, it is often a consequence. The next program reports it.
    if result.stopped.is_none() {
        cleared.map_err(|fault| WorldFailure { phase: last_phase(program), fault })?;
    }
    result.settings[1] = world.settings();
    Ok(result)
}

/// Runs the program in folders that contain the files for its phases, and leaves its own files there.
pub fn perform_prepared<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    let mut result = ExecutionResult::default();
    perform_phases(world, program, options, &mut result, &mut |_| (), &mut Alone)?;
    Ok(result)
}

/// Makes the programs work on the files that the next host wrote. Before that, this host's own files get the cache
/// state of the first phase. If the phase starts cold, none of their pages are then dirty or cached.
fn go_to_next_host<W: World>(
    world: &mut W,
    program: &Program,
    result: &mut ExecutionResult,
    peers: &mut dyn Peers,
) -> Result<(), WorldFailure<W::Fault>> {
    let cache = program.phases.first().map_or(Cache::AsIs, |phase| phase.cache);
    world.set_cache_state(cache)?;
    match peers.next_folders(world.folders_for_others()) {
        Some(folders) => world.read_others(&folders)?,
        None => result.stopped = stopped(&left(), None),
    }
    Ok(())
}

fn perform_phases<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
    result: &mut ExecutionResult,
    tell: &mut dyn FnMut(Milestone),
    peers: &mut dyn Peers,
) -> Result<(), WorldFailure<W::Fault>> {
    let mut cuts: Vec<u32> = program.prepare.cuts().into_iter().collect();
    for (index, phase) in program.phases.iter().enumerate() {
        // The phase was told to end before it began.
        if options.live.is_some_and(Live::has_enough) {
            let failure = told_to_end();
            result.stopped.get_or_insert(ProgramFailure { program: 0, phase: Some(index), failure });
        }
        if result.stopped.is_some() {
            break;
        }
        let broken = |fault| WorldFailure { phase: Some(index), fault };
        let ended = perform_phase(world, phase, options, peers).map_err(broken)?;
        result.was_suspended = world.was_suspended();
        cuts.extend(phase.steps.cuts());
        match ended {
            Ok(_) if result.was_suspended => break,
            Ok(mut run) => {
                result.stopped = verify_contents(world, index, &cuts).map_err(broken)?;
                if result.stopped.is_some() {
                    break;
                }
                // Only for a single phase: the ceiling may write to the files, and a later phase would find them
                // changed.
                if options.ceiling && program.phases.len() == 1 {
                    let ran = Ran {
                        tallies: &run.parts.iter().map(|part| part.tally.clone()).collect::<Vec<Tally>>(),
                        elapsed: result.prepared_in + run.durable().unwrap_or(run.returned()),
                        counters: &run.counters,
                    };
                    run.ceiling = Some(ceiling::measure(world, phase, &ran));
                }
                tell(Milestone::PhaseDone(phase, &run));
                result.phases.push(run);
            }
            Err(tallies) => result.stopped = stopped(&tallies, Some(index)),
        }
    }
    Ok(())
}

/// The first program whose files do not contain the data written to them after this phase: as bad as a failed call.
fn verify_contents<W: World>(world: &mut W, phase: usize, cuts: &[u32]) -> Result<Option<ProgramFailure>, W::Fault> {
    for program in 0..world.programs() {
        if let Some(failure) = world.verify_contents(program, cuts)? {
            return Ok(Some(ProgramFailure { program, phase: Some(phase), failure }));
        }
    }
    Ok(None)
}

/// Clock floor: the median elapsed time of an empty stream. Each stream begins after a short sleep, as a phase begins
/// after the wait for idle devices: with other data in the processor's caches.
pub fn clock_floor<W: World>(world: &mut W) -> Result<Nanos, W::Fault> {
    let mut times = Vec::with_capacity(EMPTY_STREAMS);
    for _ in 0..EMPTY_STREAMS {
        thread::sleep(Duration::from_millis(1));
        let (spans, _) = run_stream(world, &Stream::empty())?;
        times.extend(spans.iter().map(Span::elapsed).max());
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}

/// The CPU time of the world's programs for these steps of a phase, and the number of operations. Excludes the sync
/// calls.
pub fn cpu_of<W: World>(world: &mut W, steps: &Stream, phase: &Phase, timed: bool) -> Result<(Nanos, u64), W::Fault> {
    let (spans, tallies) = if timed || phase.within.is_some() {
        let (spans, recorders) = run_with(world, steps, || Timed::new(phase.unit).within(phase.ended_after()))?;
        let tallies = split(recorders, &spans).tallies;
        (spans, tallies)
    } else {
        run_stream(world, steps)?
    };
    let operations = tallies.iter().flat_map(|tally| tally.ops).sum();
    Ok((spans.iter().map(|span| span.cpu.total).sum(), operations))
}

/// The number of empty streams. Odd, so that the median is one of them.
const EMPTY_STREAMS: usize = 21;

fn failed(tallies: &[Tally]) -> bool {
    tallies.iter().any(|tally| tally.failure.is_some())
}

/// Runs one phase, starting from its cache state. If a program fails, returns the tallies of all programs instead of
/// the results. The counters are read outside of every clock: a durable time is the sum of the spans in which the
/// program worked.
///
/// Several hosts meet before they wait for idle devices, before the observation begins, and at the end: a host that is
/// ready earlier would disturb the others. Between the last two meetings, no host communicates.
fn perform_phase<W: World>(
    world: &mut W,
    phase: &Phase,
    MeasureOptions { claim, timed, live, .. }: MeasureOptions,
    peers: &mut dyn Peers,
) -> Result<Result<PhaseResult, Vec<Tally>>, W::Fault> {
    let cache = world.set_cache_state(phase.cache)?;
    if !peers.meet() {
        return Ok(Err(left()));
    }
    let quiescence = world.quiesce()?;
    let cache = match phase.warmup {
        None => cache,
        Some(time) => {
            if let Err(tallies) = warm_up(world, phase, time)? {
                return Ok(Err(tallies));
            }
            after_warmup(cache)
        }
    };
    let agreed = peers.agree_on_start();
    if agreed == Agreed::Left {
        return Ok(Err(left()));
    }
    world.watch()?;
    let written_before = world.device_bytes();
    if let Agreed::At(start) = agreed {
        peers.wait_for(start);
    }
    let (spans, tallies, times, intervals, heat_map) = if timed || phase.within.is_some() {
        let recorder = || Timed::new(phase.unit).within(phase.ended_after()).telling(live);
        let (spans, recorders) = run_with(world, &phase.steps, recorder)?;
        let Split { tallies, times, intervals, heat_map } = split(recorders, &spans);
        (spans, tallies, Some(times), intervals, Some(heat_map))
    } else {
        let (spans, tallies) = run_stream(world, &phase.steps)?;
        (spans, tallies, None, Vec::new(), None)
    };
    let written_at_return = world.device_bytes().zip(written_before).map(|(now, before)| now.since(&before).written);
    let dirtiness = world.dirtiness();
    if failed(&tallies) {
        return Ok(Err(tallies));
    }
    let start = host_start(agreed, &spans);
    let mut parts: Vec<ProgramResult> = spans
        .iter()
        .zip(tallies)
        .map(|(span, tally)| ProgramResult {
            returned: span.elapsed(),
            data_durable: None,
            durable: None,
            cpu: span.cpu,
            ready: span.ready,
            blocked_in_calls: span.blocked(),
            tally,
            tree_counts: TreeCounts::default(),
        })
        .collect();
    let at_return = if claim == ClaimedClock::Returned { Some(world.counters()?) } else { None };

    if !phase.data.is_empty() {
        let (spans, tallies) = run_stream(world, &phase.data)?;
        if failed(&tallies) {
            return Ok(Err(tallies));
        }
        for (part, span) in parts.iter_mut().zip(&spans) {
            part.data_durable = Some(part.returned + span.elapsed());
            part.charge(span, claim);
        }
    }
    if phase.changes() {
        let (spans, tallies) = run_stream(world, &phase.durable)?;
        if failed(&tallies) {
            return Ok(Err(tallies));
        }
        for (part, span) in parts.iter_mut().zip(&spans) {
            part.durable = Some(part.data_durable.unwrap_or(part.returned) + span.elapsed());
            part.charge(span, claim);
        }
    }
    let counters = match at_return {
        Some(counters) => counters,
        None => world.counters()?,
    };
    let unwritten = if phase.changes() { world.unwritten()? } else { None };
    let has_no_disk = counters.layers.is_empty() || counters.ends_in_a_file();
    let grown = if phase.changes() && has_no_disk { lingering(world, &parts) } else { None };
    // Query this after the phase, because the query brings the file's block map into memory.
    let has_read = parts.iter().any(|part| part.tally.bytes_read > 0);
    let allocation = if has_read { world.allocation()? } else { None };
    for (index, part) in parts.iter_mut().enumerate() {
        part.tree_counts = world.tree_counts(index)?;
    }
    if !peers.meet() {
        return Ok(Err(left()));
    }
    let latencies = times.as_ref().map(|times| Times::from(&times.units()));
    let operations = times.as_ref().map(operations).unwrap_or_default();
    let first_reads = if cache == CacheState::Cold { seen_again(phase, &parts, &counters) } else { None };
    Ok(Ok(PhaseResult {
        cache,
        quiescence,
        parts,
        counters,
        written_at_return,
        dirtiness,
        unwritten,
        grown,
        allocation,
        first_reads,
        latencies,
        operations,
        intervals,
        heat_map,
        ceiling: None,
        ran_with_others: false,
        start,
    }))
}

/// Runs the steps of a phase for this time, makes its data durable, and removes the files that the steps create. Their
/// results do not count. If a program fails, returns the tallies.
fn warm_up<W: World>(world: &mut W, phase: &Phase, time: Nanos) -> Result<Result<(), Vec<Tally>>, W::Fault> {
    let recorder = || Timed::new(phase.unit).within(Some(time));
    let (spans, recorders) = run_with(world, &phase.steps.warming(time), recorder)?;
    let Split { mut tallies, .. } = split(recorders, &spans);
    // Sync the data of the warm-up now, so that the measured syncs do not write them.
    let removal = phase.removal();
    for stream in [&phase.data, &phase.durable, &removal].into_iter().filter(|stream| !stream.is_empty()) {
        if !failed(&tallies) {
            tallies = run_stream(world, stream)?.1;
        }
    }
    Ok(if failed(&tallies) { Err(tallies) } else { Ok(()) })
}

/// Bytes per page of refaults and dirty memory in `workload::Counters` and `workload::Dirtiness`.
pub const PAGE: u64 = 4096;

/// The number of checks whether dirty pages remain, and the time between them: a second in all. In that time, data that
/// other programs write and sync reach their disk, which writes 100 MB in half a second to a second. Data that a sync
/// did not write stay dirty. The kernel writes them back after 5 s at the earliest
/// (Documentation/admin-guide/sysctl/vm.rst).
const LOOKS: (u32, Duration) = (20, Duration::from_millis(50));

/// The minimum number of dirty pages above the initial number, over several checks. The checks end when the number is
/// too small to be evidence. `None` if the programs wrote too little.
fn lingering<W: World>(world: &mut W, parts: &[ProgramResult]) -> Option<u64> {
    let written = parts.iter().map(|part| part.tally.bytes_written).sum();
    let too_few = durability::evident_growth(written)? / PAGE;
    let mut fewest = u64::MAX;
    for _ in 0..LOOKS.0 {
        let waiting = world.dirtiness()?;
        fewest = fewest.min(waiting.pages.saturating_sub(waiting.at_first));
        if fewest <= too_few {
            break;
        }
        thread::sleep(LOOKS.1);
    }
    Some(fewest)
}

impl ProgramResult {
    /// Adds the CPU time of a sync stream, if the durable clock is claimed.
    fn charge<C>(&mut self, span: &Span<C>, claim: ClaimedClock) {
        if claim == ClaimedClock::Durable {
            self.cpu.total += span.cpu.total;
            self.cpu.user += span.cpu.user;
            self.ready = self.ready.zip(span.ready).map(|(sum, part)| sum + part);
        }
    }
}
