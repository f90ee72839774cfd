//! The laboratory: what a simulated machine does as it stands, or with something about it changed. Every figure of
//! the paper's tables, of its questions and of its claims comes from here.
//!
//! A figure is the mean over [`PHASES`] ways in which the platters can stand at the beginning, spread evenly: one way
//! alone would be chance. The same setups give the same figures, however many processors work on them.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use machines::{Machine, MachineFault};
use simulator::description::Invalid;
use simulator::{Activity, Cause, Chance, Description, Experiment, Outcome, ProgramTime};
use stats::compare::replication::Simulated;
use workload::programs::lab::LargeFile;
use workload::programs::mckusick::Classic;
use workload::{Access, Handle, Mode, Name, Op, Placing, Stream};

/// How many ways the platters stand.
pub const PHASES: u32 = 10;

/// From this share on the processor limits, in percent: the least that the paper itself calls so is 96 % (section 5, of
/// two programs).
pub const SATURATED: f64 = 96.0;

/// Eight megabytes, as in 1983 (Kridle & McKusick 1983, section 4).
pub const FILE_BYTES: u64 = 8 << 20;

/// What an experiment is made of.
pub(crate) struct Streams {
    /// What makes its file ready.
    pub(crate) files: Stream,
    /// What ran just before.
    pub(crate) before: Stream,
    /// What is measured.
    pub(crate) steps: Stream,
}

/// What can be run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// One of the four programs of the paper.
    Classic(Classic),
    /// Every block of 4096 bytes once, in random order.
    RandomReads,
    /// The same, written.
    RandomWrites,
}

impl Test {
    /// The program of the paper, where it is one.
    pub fn classic(self) -> Option<Classic> {
        match self {
            Test::Classic(classic) => Some(classic),
            Test::RandomReads | Test::RandomWrites => None,
        }
    }

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Test::Classic(classic) => classic.name(),
            Test::RandomReads => "random reads",
            Test::RandomWrites => "random writes",
        }
    }

    /// What it is made of.
    pub(crate) fn streams(self) -> Streams {
        let phase = match self {
            Test::Classic(classic) => {
                let program = classic.program(FILE_BYTES);
                let steps = classic.steps(Name::root(0), FILE_BYTES);
                return Streams { files: program.prepare, before: before(classic), steps };
            }
            Test::RandomWrites => 2,
            Test::RandomReads => 3,
        };
        let large = LargeFile { bytes: FILE_BYTES, placing: Placing::Permutation, seed: 1983, flush: None };
        let mut phases = large.program().phases.into_iter().map(|phase| phase.steps);
        let written = phases.next().unwrap_or_else(Stream::empty);
        let steps = phases.nth(phase - 1).unwrap_or_else(Stream::empty);
        Streams { files: written, before: Stream::empty(), steps }
    }
}

/// The end of the run before, where it left anything on its way to the drives. Every test was run three times and the
/// first did not count (Kridle & McKusick 1983, section 4): `rewrite_8192` follows itself, without a pause, while a
/// file that is written anew is removed before, which takes longer than to write what is left.
fn before(classic: Classic) -> Stream {
    if classic != Classic::Rewrite8192 {
        return Stream::empty();
    }
    let length = classic.call_bytes();
    let handle = Handle::new(1);
    let open = Op::Open { name: Name::root(0), handle, access: Access::ReadWrite, mode: Mode::default() };
    let write = |offset| Op::WriteAt { handle, length, offset };
    let offsets = (FILE_BYTES - TAIL_BYTES..FILE_BYTES).step_by(length as usize);
    Stream::of([open].into_iter().chain(offsets.map(write)).collect())
}

/// More than any buffer cache of the time held.
const TAIL_BYTES: u64 = 1 << 20;

/// One thing to be measured.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which machine.
    pub machine: &'static str,
    /// What is set differently, as `--set` takes it.
    pub changes: Vec<String>,
    /// Which of its file systems: 0 with blocks of eight Kbytes, 1 with four.
    pub half: usize,
    /// On how many drives.
    pub drives: usize,
    /// Which test.
    pub test: Test,
}

impl Setup {
    /// The machine as it stands.
    pub fn of(machine: &'static str, half: usize, test: Classic, drives: usize) -> Setup {
        Setup { machine, changes: Vec::new(), half, drives, test: Test::Classic(test) }
    }

    /// The same with something set differently.
    pub fn with(&self, change: impl Into<String>) -> Setup {
        let mut changed = self.clone();
        changed.changes.push(change.into());
        changed
    }

    /// The machine, as changed.
    pub fn load(&self) -> Result<Machine, MachineFault> {
        let mut machine = Machine::load(self.machine)?;
        self.changes.iter().try_for_each(|change| machine.set(change))?;
        Ok(machine)
    }

    /// What is simulated.
    pub fn describe(&self) -> Result<Description, MachineFault> {
        self.load()?.describe(self.drives as u32, FILE_BYTES)
    }
}

/// What came of it, summed or averaged over the ways in which the platters can stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// As the paper prints it.
    pub simulated: Simulated,
    /// Where the programs' time went, summed.
    pub time: ProgramTime,
    /// What the processor was busy with, in the order of [`Cause::ALL`], until the last program ended, in nanoseconds:
    /// also while no program was charged for it.
    pub processor: [u64; Cause::COUNT],
    /// How long that was.
    pub elapsed: u64,
    /// Where the drives' time went, in the order of [`Activity::ALL`], summed over drives, in nanoseconds.
    pub drives: [u64; Activity::COUNT],
    /// How many requests the drives had to read, and how long they had nothing to do just before or just after one,
    /// in nanoseconds.
    pub around_reads: (u64, u64),
}

impl Figure {
    /// Kbytes (1024) a second.
    pub fn rate(&self) -> f64 {
        self.simulated.kbytes_per_sec
    }

    /// How long a drive had nothing to do just before and just after a request to read, in milliseconds; nothing where
    /// none came.
    pub fn idle_around_a_read(&self) -> Option<f64> {
        let (reads, idle) = self.around_reads;
        (reads > 0).then(|| idle as f64 / 1e6 / reads as f64)
    }

    /// The part of all time in which the processor did something.
    pub fn processor_in(&self, cause: Cause) -> f64 {
        self.processor[cause as usize] as f64 / self.elapsed as f64
    }

    /// The part of the programs' time in which the processor did something of theirs.
    pub fn cpu_in(&self, cause: Cause) -> f64 {
        self.time.running[cause as usize].as_secs_f64() / self.time.elapsed.as_secs_f64()
    }

    /// What limits it, in a word: the processor where it leaves the programs next to no time to wait, and else what
    /// they wait for most.
    pub fn limit(&self) -> &'static str {
        limit(&self.time)
    }
}

/// What limits programs whose time went so.
pub(crate) fn limit(time: &ProgramTime) -> &'static str {
    let busy = (time.cpu() + time.ready).as_secs_f64() / time.elapsed.as_secs_f64();
    if 100.0 * busy >= SATURATED {
        return "cpu";
    }
    let waits = Activity::ALL.into_iter().map(|activity| (activity.name(), time.waiting[activity as usize].0));
    waits.fold(("n.m.", 0), |most, other| if other.1 > most.1 { other } else { most }).0
}

/// Measures all of them; the figures come in the order of the setups.
pub fn measure(setups: &[Setup]) -> Result<Vec<Figure>, MachineFault> {
    each(setups, figure).into_iter().collect()
}

/// Asks the same of all of these, on as many processors as there are; the answers come in their order.
pub fn each<T: Sync, A: Send>(all: &[T], ask: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(all.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else { return done };
            done.push((index, ask(one)));
        }
    };
    let mut answers: Vec<(usize, A)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no experiment panics")).collect()
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Measures one.
fn figure(setup: &Setup) -> Result<Figure, MachineFault> {
    let machine = setup.load()?;
    let description = machine.describe(setup.drives as u32, FILE_BYTES)?;
    over_phases(&description, setup.half, setup.drives, setup.test, PHASES)
        .map_err(|invalid| machine.impossible(&invalid, None))
}

/// The mean over so many ways in which the platters stand.
pub fn over_phases(
    description: &Description,
    half: usize,
    drives: usize,
    test: Test,
    phases: u32,
) -> Result<Figure, Invalid> {
    let outcomes = outcomes((description, half), (drives, 1), &test.streams(), FILE_BYTES, phases)?;
    let (mut rate, mut cpu) = (0, 0);
    let mut time = ProgramTime::default();
    let mut spent = [0; Activity::COUNT];
    let mut processor = [0; Cause::COUNT];
    let mut elapsed = 0;
    let mut around_reads = (0, 0);
    for outcome in &outcomes {
        rate += outcome.milli_kbytes_per_second();
        cpu += outcome.cpu_permille();
        outcome.programs.iter().for_each(|program| time.add(program));
        elapsed += outcome.parts.elapsed.0;
        for around in &outcome.parts.around_reads {
            around_reads.0 += around.reads;
            around_reads.1 += around.idle.0;
        }
        for (sum, part) in processor.iter_mut().zip(outcome.parts.cpu.busy) {
            *sum += part.0;
        }
        for (sum, part) in spent.iter_mut().zip(transposed(&outcome.parts.drives)) {
            *sum += part;
        }
    }
    let mean = |sum: u64, unit: f64| sum as f64 / unit / f64::from(phases);
    let simulated = Simulated { kbytes_per_sec: mean(rate, 1000.0), cpu_percent: mean(cpu, 10.0) };
    Ok(Figure { simulated, time, processor, elapsed, drives: spent, around_reads })
}

/// What comes of it in each of so many ways in which the platters stand: on so many drives, by so many programs on
/// each.
pub(crate) fn outcomes(
    (description, half): (&Description, usize),
    (drives, streams): (usize, usize),
    Streams { files, before, steps }: &Streams,
    bytes: u64,
    phases: u32,
) -> Result<Vec<Outcome>, Invalid> {
    let file_system = &description.file_systems[half];
    let experiment = Experiment { description, file_system, drives, streams, files, before, steps, bytes };
    let prepared = experiment.prepare()?;
    (0..phases).map(|phase| prepared.run(Chance { phase, phases, ..Chance::default() })).collect()
}

/// Of several drives' times, the sums by activity.
fn transposed(drives: &[[units::Nanos; Activity::COUNT]]) -> [u64; Activity::COUNT] {
    std::array::from_fn(|activity| drives.iter().map(|drive| drive[activity].0).sum())
}
