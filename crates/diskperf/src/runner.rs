//! Runs one program once on a world, whichever it is: prepare, then every phase with its clocks, with
//! counters on both sides. Knows no preset and prints nothing.

use stats::Latencies;
use units::Nanos;
use workload::{
    CacheState, Calm, Census, CpuTime, Failure, Program, Recorder, Residency, Span, Stream, Tally, Witness, World,
};

use crate::recorder::Timed;

/// Which clock the figures of a phase are claimed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Until the last call returned, as in 1983.
    Returned,
    /// Until everything is durable, where anything was changed.
    Durable,
}

/// How a program is measured.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// The clock of its figures.
    pub claim: Claim,
    /// Whether single operations are timed: two readings of a clock for each.
    pub timed: bool,
}

/// What happened when a program ran once.
#[derive(Clone, Debug, Default)]
pub struct Performance {
    /// How long it took to make ready what the phases need.
    pub prepared_in: Nanos,
    /// The phases that ran to their end, in order.
    pub phases: Vec<PhaseRun>,
    /// What ended the program early.
    pub stopped: Option<Stopped>,
}

/// What ended a program early.
#[derive(Clone, Copy, Debug)]
pub struct Stopped {
    /// In which of its phases; none while it was prepared.
    pub phase: Option<usize>,
    /// At which op, and why.
    pub failure: Failure,
}

/// What happened when a phase ran once.
#[derive(Clone, Debug)]
pub struct PhaseRun {
    /// What was proven of its files in memory before it began.
    pub cache: CacheState,
    /// Whether everything was at rest then.
    pub calm: Calm,
    /// Until the last call returned.
    pub returned: Nanos,
    /// Until the data were durable, where one call makes them so.
    pub data_durable: Option<Nanos>,
    /// Until data and names were durable, where anything was changed.
    pub durable: Option<Nanos>,
    /// CPU time of the program over the claimed clock.
    pub cpu: CpuTime,
    /// What happened around it, over the claimed clock.
    pub witness: Witness,
    /// Bytes that the device had written when the last call returned.
    pub written_at_return: Option<u64>,
    /// What of its files was in memory only when they were said to be durable.
    pub unwritten: Option<Residency>,
    /// What the program did.
    pub tally: Tally,
    /// How long its units of work took, where they were timed.
    pub latencies: Option<Latencies>,
    /// What it left behind.
    pub census: Census,
}

/// Runs the program from an empty folder, and leaves an empty folder.
pub fn perform<W: World>(world: &mut W, program: &Program, how: How) -> Result<Performance, W::Fault> {
    let mut performance = Performance::default();
    world.clear()?;
    let (span, tally) = run_stream(world, &program.prepare)?;
    performance.prepared_in = span.elapsed();
    performance.stopped = tally.failure.map(|failure| Stopped { phase: None, failure });
    for (index, phase) in program.phases.iter().enumerate() {
        if performance.stopped.is_some() {
            break;
        }
        match perform_phase(world, phase, how)? {
            Ok(run) => performance.phases.push(run),
            Err(failure) => performance.stopped = Some(Stopped { phase: Some(index), failure }),
        }
    }
    world.clear()?;
    Ok(performance)
}

/// Runs one phase from the state of the cache that it wants. The counters are read outside every clock: the
/// durable time is the sum of the spans in which the program was at work.
fn perform_phase<W: World>(
    world: &mut W,
    phase: &workload::Phase,
    How { claim, timed }: How,
) -> Result<Result<PhaseRun, Failure>, W::Fault> {
    let cache = world.reach(phase.cache)?;
    let calm = world.quiesce()?;
    world.watch()?;
    let written_before = world.device_bytes();
    let (steps, tally, latencies) = if timed {
        let mut timed = Timed::new(phase.unit);
        let span = run_with(world, &phase.steps, &mut timed)?;
        (span, timed.tally, Some(timed.latencies))
    } else {
        let (span, tally) = run_stream(world, &phase.steps)?;
        (span, tally, None)
    };
    let written_at_return = world.device_bytes().zip(written_before).map(|(now, before)| now.since(&before).written);
    if let Some(failure) = tally.failure {
        return Ok(Err(failure));
    }
    let returned = steps.elapsed();
    let mut cpu = steps.cpu;
    let at_return = if claim == Claim::Returned { Some(world.watched()?) } else { None };

    let mut durable = returned;
    let mut data_durable = None;
    for (stream, is_data) in [(&phase.data, true), (&phase.durable, false)] {
        let (span, tally) = run_stream(world, stream)?;
        if let Some(failure) = tally.failure {
            return Ok(Err(failure));
        }
        durable += span.elapsed();
        if is_data && !stream.is_empty() {
            data_durable = Some(durable);
        }
        if claim == Claim::Durable {
            cpu.total += span.cpu.total;
            cpu.user += span.cpu.user;
        }
    }
    let witness = match at_return {
        Some(witness) => witness,
        None => world.watched()?,
    };
    let unwritten = if phase.changes() { world.unwritten()? } else { None };
    Ok(Ok(PhaseRun {
        cache,
        calm,
        returned,
        data_durable,
        durable: phase.changes().then_some(durable),
        cpu,
        witness,
        written_at_return,
        unwritten,
        tally,
        latencies,
        census: world.census(0)?,
    }))
}

fn run_stream<W: World>(world: &mut W, stream: &Stream) -> Result<(Span<W::Clock>, Tally), W::Fault> {
    let mut tally = Tally::default();
    Ok((run_with(world, stream, &mut tally)?, tally))
}

fn run_with<W, R>(world: &mut W, stream: &Stream, recorder: &mut R) -> Result<Span<W::Clock>, W::Fault>
where
    W: World,
    R: Recorder<W::Clock> + Send,
{
    let mut spans = world.run(&mut [stream.clone()], std::slice::from_mut(recorder))?;
    Ok(spans.swap_remove(0))
}
