//! Runs one program once on a world, in each of its folders at once: prepare, then every phase with its clocks, with
//! counters on both sides. Knows no preset and prints nothing.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stats::{Interval, Latencies, Times};
use units::{Moment, Nanos};
use workload::{
    Apart, CacheState, Calm, Census, CpuTime, Dirtiness, Failure, Laid, OpKind, Phase, Program, Reason, Recorder,
    Residency, Span, Stream, Surroundings, Tally, Witness, World,
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Performance {
    /// How long it took to make ready what the phases need.
    pub prepared_in: Nanos,
    /// The phases that ran to their end, in order.
    pub phases: Vec<PhaseRun>,
    /// What ended the program early. Not stored: what failed is not finished.
    #[serde(skip)]
    pub stopped: Option<Stopped>,
    /// What a command said that ended it so.
    #[serde(skip)]
    pub said: Option<String>,
    /// Whether it was held still meanwhile, so that its times are not its own.
    #[serde(skip)]
    pub was_held: bool,
    /// How long all of it took, with what is not measured.
    #[serde(skip)]
    pub lasted: Nanos,
    /// What must not change from one execution to the next, as it was before and afterwards.
    pub surroundings: [Surroundings; 2],
}

impl Performance {
    /// The same of a program that was told to stop: the signal that told it may break off a call, too.
    pub fn broken_off(mut self) -> Performance {
        if let Some(Stopped { failure, .. }) = &mut self.stopped
            && failure.reason == Reason::Signal
        {
            failure.reason = Reason::Interrupted;
        }
        self
    }
}

/// What ended a program early.
#[derive(Clone, Copy, Debug)]
pub struct Stopped {
    /// Which of the world's programs.
    pub program: usize,
    /// In which of its phases; none while it was prepared.
    pub phase: Option<usize>,
    /// At which op, and why.
    pub failure: Failure,
}

/// The world itself failed while a program ran.
#[derive(Debug)]
pub struct Broken<F> {
    /// In which of its phases; none while it was prepared.
    pub phase: Option<usize>,
    /// What happened.
    pub fault: F,
}

/// Before the first phase.
impl<F> From<F> for Broken<F> {
    fn from(fault: F) -> Broken<F> {
        Broken { phase: None, fault }
    }
}

/// What happened when a phase ran once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseRun {
    /// What was proven of its files in memory before it began.
    pub cache: CacheState,
    /// Whether everything was at rest then.
    pub calm: Calm,
    /// What each of the world's programs did, in their order.
    pub parts: Vec<Part>,
    /// What happened around them, over the claimed clock.
    pub witness: Witness,
    /// Bytes that the devices had written when the last call returned.
    pub written_at_return: Option<u64>,
    /// How close the machine was to holding back who writes when the last call returned.
    pub dirtiness: Option<Dirtiness>,
    /// What of the files was in memory only when they were said to be durable.
    pub unwritten: Option<Residency>,
    /// How many pages more than at first the whole machine had to write by then, and went on to have; only where
    /// nothing is known of a disk below.
    pub grown: Option<u64>,
    /// What lies behind the bytes of the files, where something was read.
    pub laid: Option<Laid>,
    /// Of what was read, the bytes that had to come from the device, where the rest was touched before; nothing where
    /// all had to, or where it was not asked.
    #[serde(default)]
    pub first_reads: Option<u64>,
    /// How long all units of work took, where they were timed.
    pub latencies: Option<Times>,
    /// What returned in each whole quarter of a second, where they were.
    pub intervals: Vec<Interval>,
}

/// What one program did in a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Until the last call returned.
    pub returned: Nanos,
    /// Until the data were durable, where one call makes them so.
    pub data_durable: Option<Nanos>,
    /// Until data and names were durable, where anything was changed.
    pub durable: Option<Nanos>,
    /// CPU time of the program over the claimed clock.
    pub cpu: CpuTime,
    /// Time over the claimed clock in which the program could have run and no processor was free for it.
    pub ready: Option<Nanos>,
    /// Time until the last call returned in which the program neither ran nor could have run.
    pub blocked_in_calls: Option<Nanos>,
    /// What the program did.
    pub tally: Tally,
    /// What it left behind.
    pub census: Census,
}

impl PhaseRun {
    /// Until the last call of the last program returned.
    pub fn returned(&self) -> Nanos {
        self.parts.iter().map(|part| part.returned).max().unwrap_or_default()
    }

    /// Until everything of the last program was durable, where anything was changed.
    pub fn durable(&self) -> Option<Nanos> {
        self.parts.iter().filter_map(|part| part.durable).max()
    }

    /// What all programs did.
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.parts.iter().for_each(|part| all.add(&part.tally));
        all
    }

    /// What all of them left behind.
    pub fn census(&self) -> Census {
        let mut all = Census::default();
        self.parts.iter().for_each(|part| all.add(part.census));
        all
    }
}

/// How far a program has come.
#[derive(Clone, Copy, Debug)]
pub enum Milestone<'a> {
    /// What the phases need is ready.
    Prepared,
    /// A phase ran to its end: which, and what happened.
    PhaseDone(&'a Phase, &'a PhaseRun),
}

/// Runs the program from empty folders, in every folder of the world at once, and leaves empty folders.
pub fn perform<W: World>(world: &mut W, program: &Program, how: How) -> Result<Performance, Broken<W::Fault>> {
    perform_telling(world, program, how, &mut |_| ())
}

/// The same, and tells how far it has come, outside every clock.
pub fn perform_telling<W: World>(
    world: &mut W,
    program: &Program,
    how: How,
    tell: &mut dyn FnMut(Milestone),
) -> Result<Performance, Broken<W::Fault>> {
    let mut performance = Performance::default();
    // What was before it is of no matter.
    world.was_held();
    performance.surroundings[0] = world.surroundings();
    world.clear()?;
    let (spans, tallies) = run_stream(world, &program.prepare)?;
    performance.prepared_in = spans.iter().map(Span::elapsed).max().unwrap_or_default();
    performance.stopped = stopped(&tallies, None);
    if performance.stopped.is_none() {
        tell(Milestone::Prepared);
    }
    perform_phases(world, program, how, &mut performance, tell)?;
    let cleared = world.clear();
    // What cannot be cleared after a failure often follows from it; it is the next program's to tell.
    if performance.stopped.is_none() {
        cleared.map_err(|fault| Broken { phase: last_phase(program), fault })?;
    }
    performance.surroundings[1] = world.surroundings();
    Ok(performance)
}

/// The phase after which a program has ended: what fails from there on is told of it.
pub fn last_phase(program: &Program) -> Option<usize> {
    program.phases.len().checked_sub(1)
}

/// Runs the program in folders that hold what its phases need, and leaves there what it made.
pub fn perform_prepared<W: World>(world: &mut W, program: &Program, how: How) -> Result<Performance, Broken<W::Fault>> {
    let mut performance = Performance::default();
    perform_phases(world, program, how, &mut performance, &mut |_| ())?;
    Ok(performance)
}

fn perform_phases<W: World>(
    world: &mut W,
    program: &Program,
    how: How,
    performance: &mut Performance,
    tell: &mut dyn FnMut(Milestone),
) -> Result<(), Broken<W::Fault>> {
    let mut cuts: Vec<u32> = program.prepare.cuts().into_iter().collect();
    for (index, phase) in program.phases.iter().enumerate() {
        if performance.stopped.is_some() {
            break;
        }
        let broken = |fault| Broken { phase: Some(index), fault };
        let ended = perform_phase(world, phase, how).map_err(broken)?;
        performance.was_held = world.was_held();
        cuts.extend(phase.steps.cuts());
        match ended {
            Ok(_) if performance.was_held => break,
            Ok(run) => {
                performance.stopped = altered(world, index, &cuts).map_err(broken)?;
                if performance.stopped.is_some() {
                    break;
                }
                tell(Milestone::PhaseDone(phase, &run));
                performance.phases.push(run);
            }
            Err(tallies) => performance.stopped = stopped(&tallies, Some(index)),
        }
    }
    Ok(())
}

/// The first program whose files do not hold what was written to them after this phase: as bad as a call that
/// failed.
fn altered<W: World>(world: &mut W, phase: usize, cuts: &[u32]) -> Result<Option<Stopped>, W::Fault> {
    for program in 0..world.programs() {
        if let Some(failure) = world.altered(program, cuts)? {
            return Ok(Some(Stopped { program, phase: Some(phase), failure }));
        }
    }
    Ok(None)
}

/// What the clock shows where nothing is done: the middle of many times. Each begins after a short sleep, as a
/// phase begins after the wait for calm: with the processor's caches full of something else.
pub fn nothing<W: World>(world: &mut W) -> Result<Nanos, W::Fault> {
    let mut times = Vec::with_capacity(NOTHINGS);
    for _ in 0..NOTHINGS {
        thread::sleep(Duration::from_millis(1));
        let (spans, _) = run_stream(world, &Stream::empty())?;
        times.extend(spans.iter().map(Span::elapsed).max());
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}

/// The CPU time that these steps of a phase took of the world's programs, and how many ops were done; not that of what
/// makes anything durable.
pub fn cpu_of<W: World>(world: &mut W, steps: &Stream, phase: &Phase, timed: bool) -> Result<(Nanos, u64), W::Fault> {
    let (spans, tallies) = if timed || phase.within.is_some() {
        let (spans, recorders) = run_with(world, steps, || Timed::new(phase.unit).within(phase.within))?;
        let (tallies, ..) = split(recorders, &spans);
        (spans, tallies)
    } else {
        run_stream(world, steps)?
    };
    let operations = tallies.iter().flat_map(|tally| tally.ops).sum();
    Ok((spans.iter().map(|span| span.cpu.total).sum(), operations))
}

/// Odd, so that there is a middle one.
const NOTHINGS: usize = 21;

/// The first program that failed.
fn stopped(tallies: &[Tally], phase: Option<usize>) -> Option<Stopped> {
    tallies.iter().enumerate().find_map(|(program, tally)| {
        let failure = tally.failure?;
        Some(Stopped { program, phase, failure })
    })
}

fn failed(tallies: &[Tally]) -> bool {
    tallies.iter().any(|tally| tally.failure.is_some())
}

/// Runs one phase from the state of the cache that it wants; the tallies of programs of which one failed
/// otherwise. The counters are read outside every clock: a durable time is the sum of the spans in which
/// its program was at work.
fn perform_phase<W: World>(
    world: &mut W,
    phase: &Phase,
    How { claim, timed }: How,
) -> Result<Result<PhaseRun, Vec<Tally>>, W::Fault> {
    let cache = world.reach(phase.cache)?;
    let calm = world.quiesce()?;
    world.watch()?;
    let written_before = world.device_bytes();
    let (spans, tallies, latencies, intervals) = if timed || phase.within.is_some() {
        let (spans, recorders) = run_with(world, &phase.steps, || Timed::new(phase.unit).within(phase.within))?;
        let (tallies, latencies, intervals) = split(recorders, &spans);
        (spans, tallies, Some(latencies), intervals)
    } else {
        let (spans, tallies) = run_stream(world, &phase.steps)?;
        (spans, tallies, None, Vec::new())
    };
    let written_at_return = world.device_bytes().zip(written_before).map(|(now, before)| now.since(&before).written);
    let dirtiness = world.dirtiness();
    if failed(&tallies) {
        return Ok(Err(tallies));
    }
    let mut parts: Vec<Part> = spans
        .iter()
        .zip(tallies)
        .map(|(span, tally)| Part {
            returned: span.elapsed(),
            data_durable: None,
            durable: None,
            cpu: span.cpu,
            ready: span.ready,
            blocked_in_calls: span.blocked(),
            tally,
            census: Census::default(),
        })
        .collect();
    let at_return = if claim == Claim::Returned { Some(world.watched()?) } else { None };

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
    let witness = match at_return {
        Some(witness) => witness,
        None => world.watched()?,
    };
    let unwritten = if phase.changes() { world.unwritten()? } else { None };
    let grown = if phase.changes() && witness.ends_in_a_file() { lingering(world) } else { None };
    // Not beforehand: the map of a file would be in memory then.
    let has_read = parts.iter().any(|part| part.tally.bytes_read > 0);
    let laid = if has_read { world.laid()? } else { None };
    for (index, part) in parts.iter_mut().enumerate() {
        part.census = world.census(index)?;
    }
    let latencies = latencies.as_ref().map(Times::from);
    let first_reads = if cache == CacheState::Cold { seen_again(phase, &parts, &witness) } else { None };
    Ok(Ok(PhaseRun {
        cache,
        calm,
        parts,
        witness,
        written_at_return,
        dirtiness,
        unwritten,
        grown,
        laid,
        first_reads,
        latencies,
        intervals,
    }))
}

/// How much of what was read had to be fetched, where less was: blocks that were touched before may explain it.
fn seen_again(phase: &Phase, parts: &[Part], witness: &Witness) -> Option<u64> {
    let read: u64 = parts.iter().map(|part| part.tally.bytes_read).sum();
    let is_less = witness.accounts.is_some_and(|accounts| accounts.fetched < read);
    let done = |part: &Part| part.tally.count(OpKind::ReadAt) + part.tally.count(OpKind::WriteAt);
    if is_less { workload::first_reads(&phase.steps, parts.iter().map(done)) } else { None }
}

/// How often, and how long after each other, it is looked whether what waits to be written goes on waiting. What
/// others wrote and sync is gone meanwhile: a disk writes 100 MB in half a second to a second. What a sync has left
/// waits for the kernel's own writing, which begins after 5 s at the earliest
/// (Documentation/admin-guide/sysctl/vm.rst).
const LOOKS: (u32, Duration) = (20, Duration::from_millis(50));

/// The fewest pages that the machine had to write more than at first, in some looks.
fn lingering<W: World>(world: &mut W) -> Option<u64> {
    let mut fewest = u64::MAX;
    for _ in 0..LOOKS.0 {
        let waiting = world.dirtiness()?;
        fewest = fewest.min(waiting.pages.saturating_sub(waiting.at_first));
        if fewest == 0 {
            break;
        }
        thread::sleep(LOOKS.1);
    }
    Some(fewest)
}

impl Part {
    /// Adds what a stream that makes things durable took of the CPU, where that clock is claimed.
    fn charge<C>(&mut self, span: &Span<C>, claim: Claim) {
        if claim == Claim::Durable {
            self.cpu.total += span.cpu.total;
            self.cpu.user += span.cpu.user;
            self.ready = self.ready.zip(span.ready).map(|(sum, part)| sum + part);
        }
    }
}

/// What was done, how long all units of work took, and what returned when.
fn split<C>(recorders: Vec<Timed<C>>, spans: &[Span<C>]) -> (Vec<Tally>, Latencies, Vec<Interval>) {
    let mut all = Latencies::default();
    let (mut tallies, mut intervals) = (Vec::new(), Vec::new());
    let ended = spans.iter().map(|span| span.ended).max().unwrap_or(Moment::ZERO);
    for heard in recorders.into_iter().map(|recorder| recorder.heard(ended)) {
        all.add(&heard.latencies);
        tallies.push(heard.tally);
        intervals.push(heard.intervals);
    }
    (tallies, all, Interval::of_all(intervals))
}

/// The spans of a world's programs and what their recorders heard.
type Ran<W, R> = Result<(Vec<Span<<W as World>::Clock>>, Vec<R>), <W as World>::Fault>;

fn run_stream<W: World>(world: &mut W, stream: &Stream) -> Ran<W, Tally> {
    run_with(world, stream, Tally::default)
}

/// Runs the stream in every program of the world at once; what is drawn at random each draws for itself.
fn run_with<W, R>(world: &mut W, stream: &Stream, recorder: impl Fn() -> R) -> Ran<W, R>
where
    W: World,
    R: Recorder<W::Clock> + Send,
{
    let programs = 0..world.programs() as u32;
    let mut streams: Vec<Apart<Stream>> = programs.map(|program| Apart(stream.of_program(program))).collect();
    let mut recorders: Vec<Apart<R>> = streams.iter().map(|_| Apart(recorder())).collect();
    let spans = world.run(&mut streams, &mut recorders)?;
    Ok((spans, recorders.into_iter().map(|recorder| recorder.0).collect()))
}
