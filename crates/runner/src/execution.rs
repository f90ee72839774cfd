//! Runs one program once in a world, in all of its folders at the same time: the preparation, then every phase with its
//! clocks, with counters read before and after. Knows no preset and prints nothing.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stats::judge::marks::durability;
use stats::{HeatMap, Latencies, OperationKind, RateInterval, RoundOperation, Times};
use units::Nanos;
use workload::{
    Allocation, CacheState, Counters, CpuTime, Dirtiness, Failure, MachineSettings, OpKind, Phase, Program, Quiescence,
    Reason, Residency, Span, Stream, Tally, TreeCounts, World,
};

use crate::ceiling::{self, CeilingResult, Ran};
use crate::recorder::{Durations, Timed};
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
}

/// The results of one execution of a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// The time of the preparation.
    pub prepared_in: Nanos,
    /// The phases that ran to their end, in order.
    pub phases: Vec<PhaseResult>,
    /// The time for which the target rested before its phases, if it was loaded before each execution to keep burst
    /// credits used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested: Option<Nanos>,
    /// The failure that ended the program early. Not stored, because a failed execution is not finished.
    #[serde(skip)]
    pub stopped: Option<ProgramFailure>,
    /// The output of the command whose failure ended the program.
    #[serde(skip)]
    pub output: Option<String>,
    /// True if a signal suspended the program meanwhile, so that its times are wrong.
    #[serde(skip)]
    pub was_suspended: bool,
    /// The time of the whole execution, including the parts that are not measured.
    #[serde(skip)]
    pub lasted: Nanos,
    /// The requests of the device during the measured phase, if they were recorded. They are stored apart.
    #[serde(skip)]
    pub recorded: Option<Arc<Recorded>>,
    /// The settings of the machine that must not change between executions: before and after this one.
    #[serde(rename = "surroundings")]
    pub settings: [MachineSettings; 2],
}

/// The recorded requests of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The trace, or the reason why there is none.
    pub trace: Result<RecordedTrace, String>,
    /// Time in which the program was ready to run, but waited for a processor.
    pub ready: Option<Nanos>,
}

/// A block trace in its stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTrace {
    /// The name of the device.
    pub device: String,
    /// Number of requests.
    pub requests: u64,
    /// Bytes that they read and wrote.
    pub bytes: u64,
    /// Time from the start of the program until it and its writes had ended.
    pub elapsed: Nanos,
    /// Discards and other commands, which no replay performs.
    pub others: u64,
    /// The stored form.
    pub stored: Vec<u8>,
}

impl ExecutionResult {
    /// The time of its phases, each until the data of its last program were durable.
    pub fn measured(&self) -> Nanos {
        let time = |part: &ProgramResult| part.durable.unwrap_or(part.returned);
        self.phases.iter().filter_map(|phase| phase.parts.iter().map(time).max()).sum()
    }

    /// Changes the failure of a program that a signal stopped into an interruption: the signal may break off a call,
    /// too.
    pub fn broken_off(mut self) -> ExecutionResult {
        if let Some(ProgramFailure { failure, .. }) = &mut self.stopped
            && failure.reason == Reason::Signal
        {
            failure.reason = Reason::Interrupted;
        }
        self
    }
}

/// The failure that ended a program early.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFailure {
    /// The index of the program in the world.
    pub program: usize,
    /// The index of the phase; `None` during the preparation.
    pub phase: Option<usize>,
    /// The operation that failed, and the reason.
    pub failure: Failure,
}

/// An error of the world itself while a program ran.
#[derive(Debug)]
pub struct WorldFailure<F> {
    /// The index of the phase; `None` during the preparation.
    pub phase: Option<usize>,
    /// The error.
    pub fault: F,
}

/// An error before the first phase.
impl<F> From<F> for WorldFailure<F> {
    fn from(fault: F) -> WorldFailure<F> {
        WorldFailure { phase: None, fault }
    }
}

/// The results of one execution of a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseResult {
    /// The cache state of its files that was proved before it began.
    pub cache: CacheState,
    /// The result of waiting for idle devices before it began.
    #[serde(rename = "calm")]
    pub quiescence: Quiescence,
    /// The results of each of the world's programs, in their order.
    pub parts: Vec<ProgramResult>,
    /// Counters of the process, the kernel and the devices, over the claimed clock.
    #[serde(rename = "witness")]
    pub counters: Counters,
    /// Bytes that the devices had written when the last call returned.
    pub written_at_return: Option<u64>,
    /// Dirty pages of the machine when the last call returned, with the number from which the kernel throttles writers.
    pub dirtiness: Option<Dirtiness>,
    /// Pages of the files that were still dirty when the files were claimed durable.
    pub unwritten: Option<Residency>,
    /// Dirty pages of the whole machine above the initial number, at that time and some time after it. Only if no disk
    /// below is visible.
    pub grown: Option<u64>,
    /// The allocation of the files (holes, compression), if anything was read.
    #[serde(rename = "laid")]
    pub allocation: Option<Allocation>,
    /// The bytes read that had to come from the device, if the rest had been touched before. `None` if all of them had
    /// to, or if this was not determined.
    #[serde(default)]
    pub first_reads: Option<u64>,
    /// The durations of all units of work, if they were timed.
    pub latencies: Option<Times>,
    /// The durations of each kind of operation, if they were timed.
    #[serde(default)]
    pub operations: Vec<OperationTimes>,
    /// The operations and bytes of each whole quarter of a second, if operations were timed.
    pub intervals: Vec<RateInterval>,
    /// The latencies of units of work over time, if they were timed.
    #[serde(default)]
    pub heat_map: Option<HeatMap>,
    /// The rate of the layer below for the same pattern, if it was to be measured.
    #[serde(default)]
    pub ceiling: Option<CeilingResult>,
}

/// The durations of the operations of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationTimes {
    /// The kind.
    pub kind: OperationKind,
    /// True if each operation is a unit of work.
    pub is_unit: bool,
    /// The durations. `None` if they are those of all units of work.
    pub times: Option<Times>,
}

/// The results of one program in a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramResult {
    /// The time until the last call returned.
    pub returned: Nanos,
    /// The time until the data were durable, if a call makes them durable.
    pub data_durable: Option<Nanos>,
    /// The time until data and metadata were durable, if anything was changed.
    pub durable: Option<Nanos>,
    /// CPU time of the program over the claimed clock.
    pub cpu: CpuTime,
    /// Time over the claimed clock in which the program was ready to run, but waited for a processor.
    pub ready: Option<Nanos>,
    /// Time until the last call returned in which the program was blocked: it neither ran nor was ready to run.
    pub blocked_in_calls: Option<Nanos>,
    /// The operations of the program.
    pub tally: Tally,
    /// The files that it left.
    #[serde(rename = "census")]
    pub tree_counts: TreeCounts,
}

impl PhaseResult {
    /// The time until the last call of the last program returned.
    pub fn returned(&self) -> Nanos {
        self.parts.iter().map(|part| part.returned).max().unwrap_or_default()
    }

    /// The time until everything of the last program was durable, if anything was changed.
    pub fn durable(&self) -> Option<Nanos> {
        self.parts.iter().filter_map(|part| part.durable).max()
    }

    /// The operations of all programs together.
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.parts.iter().for_each(|part| all.add(&part.tally));
        all
    }

    /// The durations of the operations of one kind, if they were timed.
    pub fn times(&self, kind: OperationKind) -> Option<&Times> {
        let of_kind = self.operations.iter().find(|one| one.kind == kind)?;
        of_kind.times.as_ref().or(self.latencies.as_ref())
    }

    /// The durations of each kind of operation, as the results have them.
    pub fn round_operations(&self) -> Vec<RoundOperation> {
        let one = |OperationTimes { kind, is_unit, times }: &OperationTimes| {
            let mut latencies = Latencies::default();
            latencies.add_times(times.as_ref().or(self.latencies.as_ref())?);
            Some(RoundOperation::new(*kind, *is_unit, &latencies))
        };
        self.operations.iter().filter_map(one).collect()
    }

    /// The files that all programs left.
    pub fn tree_counts(&self) -> TreeCounts {
        let mut all = TreeCounts::default();
        self.parts.iter().for_each(|part| all.add(part.tree_counts));
        all
    }
}

/// The progress of a program.
#[derive(Clone, Copy, Debug)]
pub enum Milestone<'a> {
    /// The preparation is done.
    Prepared,
    /// A phase ran to its end: the phase and its results.
    PhaseDone(&'a Phase, &'a PhaseResult),
}

/// Runs the program in every folder of the world at the same time. The folders are empty before and after.
pub fn perform<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    perform_telling(world, program, options, &mut |_| ())
}

/// Does the same as [`perform`], and calls `tell` at each milestone, outside of every clock.
pub fn perform_telling<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
    tell: &mut dyn FnMut(Milestone),
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    let mut result = ExecutionResult::default();
    // Discard any earlier suspension.
    world.was_suspended();
    result.settings[0] = world.settings();
    world.clear()?;
    let (spans, tallies) = run_stream(world, &program.prepare)?;
    result.prepared_in = spans.iter().map(Span::elapsed).max().unwrap_or_default();
    result.stopped = stopped(&tallies, None);
    if result.stopped.is_none() {
        tell(Milestone::Prepared);
    }
    perform_phases(world, program, options, &mut result, tell)?;
    let cleared = world.clear();
    // If the clearing fails after another failure, it is often a consequence. The next program reports it.
    if result.stopped.is_none() {
        cleared.map_err(|fault| WorldFailure { phase: last_phase(program), fault })?;
    }
    result.settings[1] = world.settings();
    Ok(result)
}

/// The last phase of a program. Later failures are reported as failures of it.
pub fn last_phase(program: &Program) -> Option<usize> {
    program.phases.len().checked_sub(1)
}

/// Runs the program in folders that contain the files for its phases, and leaves its own files there.
pub fn perform_prepared<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
) -> Result<ExecutionResult, WorldFailure<W::Fault>> {
    let mut result = ExecutionResult::default();
    perform_phases(world, program, options, &mut result, &mut |_| ())?;
    Ok(result)
}

fn perform_phases<W: World>(
    world: &mut W,
    program: &Program,
    options: MeasureOptions,
    result: &mut ExecutionResult,
    tell: &mut dyn FnMut(Milestone),
) -> Result<(), WorldFailure<W::Fault>> {
    let mut cuts: Vec<u32> = program.prepare.cuts().into_iter().collect();
    for (index, phase) in program.phases.iter().enumerate() {
        if result.stopped.is_some() {
            break;
        }
        let broken = |fault| WorldFailure { phase: Some(index), fault };
        let ended = perform_phase(world, phase, options).map_err(broken)?;
        result.was_suspended = world.was_suspended();
        cuts.extend(phase.steps.cuts());
        match ended {
            Ok(_) if result.was_suspended => break,
            Ok(mut run) => {
                result.stopped = verify_contents(world, index, &cuts).map_err(broken)?;
                if result.stopped.is_some() {
                    break;
                }
                // A phase that follows would find other files.
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
        let (spans, recorders) = run_with(world, steps, || Timed::new(phase.unit).within(phase.within))?;
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

/// The first program that failed, with its failure.
fn stopped(tallies: &[Tally], phase: Option<usize>) -> Option<ProgramFailure> {
    tallies.iter().enumerate().find_map(|(program, tally)| {
        let failure = tally.failure?;
        Some(ProgramFailure { program, phase, failure })
    })
}

fn failed(tallies: &[Tally]) -> bool {
    tallies.iter().any(|tally| tally.failure.is_some())
}

/// Runs one phase, starting from its cache state. If a program fails, returns the tallies of all programs instead of
/// the results. The counters are read outside of every clock: a durable time is the sum of the spans in which the
/// program worked.
fn perform_phase<W: World>(
    world: &mut W,
    phase: &Phase,
    MeasureOptions { claim, timed, .. }: MeasureOptions,
) -> Result<Result<PhaseResult, Vec<Tally>>, W::Fault> {
    let cache = world.set_cache_state(phase.cache)?;
    let quiescence = world.quiesce()?;
    world.watch()?;
    let written_before = world.device_bytes();
    let (spans, tallies, times, intervals, heat_map) = if timed || phase.within.is_some() {
        let (spans, recorders) = run_with(world, &phase.steps, || Timed::new(phase.unit).within(phase.within))?;
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
    // After the phase, because the query brings the file's block map into memory.
    let has_read = parts.iter().any(|part| part.tally.bytes_read > 0);
    let allocation = if has_read { world.allocation()? } else { None };
    for (index, part) in parts.iter_mut().enumerate() {
        part.tree_counts = world.tree_counts(index)?;
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
    }))
}

/// The durations of each kind in their stored form.
fn operations(times: &Durations) -> Vec<OperationTimes> {
    let units = times.kinds().filter(|(_, is_unit, _)| *is_unit).count();
    let all = times.kinds().map(|(kind, is_unit, latencies)| OperationTimes {
        kind,
        is_unit,
        times: (!is_unit || units > 1).then(|| Times::from(latencies)),
    });
    all.collect()
}

/// The bytes that had to be fetched, if fewer were fetched than read: some blocks may have been touched before.
fn seen_again(phase: &Phase, parts: &[ProgramResult], counters: &Counters) -> Option<u64> {
    let read: u64 = parts.iter().map(|part| part.tally.bytes_read).sum();
    let is_less = counters.accounts.is_some_and(|accounts| accounts.fetched < read);
    let done = |part: &ProgramResult| part.tally.count(OpKind::ReadAt) + part.tally.count(OpKind::WriteAt);
    if is_less { workload::first_reads(&phase.steps, parts.iter().map(done)) } else { None }
}

/// Bytes per page. The kernel counts refaults and dirty memory in pages.
pub const PAGE: u64 = 4096;

/// The number of checks whether dirty pages remain, and the time between them. Data that other programs write and sync
/// are gone by then: a disk writes 100 MB in half a second to a second. Data that a sync has left wait for writeback by
/// the kernel, which begins after 5 s at the earliest (Documentation/admin-guide/sysctl/vm.rst).
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
