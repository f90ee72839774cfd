//! Simulates machines, unchanged or with changes. All figures of the paper's tables, questions and claims come from
//! here.
//!
//! A figure is the mean over [`PHASES`] evenly spaced starting positions of the platters. The result of one
//! position depends on chance. The same setups give the same figures, on any number of processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use machines::{Machine, MachineFault};
use simulator::description::Invalid;
use simulator::{Activity, Cause, Chance, Description, Experiment, Outcome, ProgramTime};
use stats::compare::replication::Simulated;
use workload::programs::classic1983::Classic;
use workload::programs::lfs::{LargeFile, LargeOrder};
use workload::{Access, Handle, Mode, Name, Op, Stream};

use crate::published::{Case, FileSystem};

/// Number of starting positions of the platters.
pub const PHASES: u32 = 10;

/// Starting positions of the platters for each variation. Fewer than [`PHASES`], to save time.
pub const FEW_PHASES: u32 = 5;

/// CPU share in percent from which the processor is the limit. The lowest share that the paper itself calls saturated
/// is 96 % (section 5, for two programs).
pub const SATURATED: f64 = 96.0;

/// File size: eight megabytes, as in 1983 (Kridle & McKusick 1983, section 4).
pub const FILE_BYTES: u64 = 8 << 20;

/// The streams of an experiment.
pub(crate) struct Streams {
    /// Creates its files.
    pub(crate) files: Stream,
    /// Runs just before the clock starts.
    pub(crate) before: Stream,
    /// The measured steps.
    pub(crate) steps: Stream,
}

impl Streams {
    /// Returns the experiment with one program on one drive, and a file of the usual size.
    pub(crate) fn experiment<'a>(&'a self, description: &'a Description, file_system: FileSystem) -> Experiment<'a> {
        let Streams { files, before, steps } = self;
        let file_system = &description.file_systems[file_system as usize];
        Experiment { description, file_system, drives: 1, streams: 1, files, before, steps, bytes: FILE_BYTES }
    }
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// One of the four programs of the paper.
    Classic(Classic),
    /// Reads every block of 4096 bytes once, in random order.
    RandomReads,
    /// Writes every block of 4096 bytes once, in random order.
    RandomWrites,
}

impl Test {
    /// Returns the program of the paper; `None` for the other tests.
    pub fn classic(self) -> Option<Classic> {
        match self {
            Test::Classic(classic) => Some(classic),
            Test::RandomReads | Test::RandomWrites => None,
        }
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Test::Classic(classic) => classic.name(),
            Test::RandomReads => "random reads",
            Test::RandomWrites => "random writes",
        }
    }

    /// Returns the streams of the test.
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
        let large =
            LargeFile { bytes: FILE_BYTES, as_is: false, order: LargeOrder::Permutation, seed: 1983, flush: None };
        let mut phases = large.program().phases.into_iter().map(|phase| phase.steps);
        let written = phases.next().unwrap_or_else(Stream::empty);
        let steps = phases.nth(phase - 1).unwrap_or_else(Stream::empty);
        Streams { files: written, before: Stream::empty(), steps }
    }
}

/// Returns the end of the previous run, if it leaves dirty data.
///
/// Each test was run three times, and the first run did not count (Kridle & McKusick 1983, section 4). So
/// `rewrite_8192` directly follows another `rewrite_8192`. The tests that write a new file remove the old one first,
/// which takes longer than to write the remaining dirty data.
fn before(classic: Classic) -> Stream {
    if classic != Classic::Rewrite8192 {
        return Stream::empty();
    }
    let length = classic.call_bytes();
    let handle = Handle::new(1);
    let open = Op::Open { name: Name::root(0), handle, access: Access::ReadWrite, mode: Mode::default() };
    let write = |offset| Op::WriteAt { handle, length, offset };
    let offsets = (FILE_BYTES - TAIL_BYTES..FILE_BYTES).step_by(length as usize);
    Stream::from_ops([open].into_iter().chain(offsets.map(write)).collect())
}

/// More than any buffer cache of the time.
const TAIL_BYTES: u64 = 1 << 20;

/// A single measurement.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Name of the machine.
    pub machine: &'static str,
    /// Settings, as `--set` takes them.
    pub changes: Vec<String>,
    /// The file system.
    pub file_system: FileSystem,
    /// Number of drives.
    pub drives: usize,
    /// The test.
    pub test: Test,
}

impl Setup {
    /// Returns the setup with the machine unchanged.
    pub fn new(machine: &'static str, file_system: FileSystem, test: Classic, drives: usize) -> Setup {
        Setup { machine, changes: Vec::new(), file_system, drives, test: Test::Classic(test) }
    }

    /// Returns the setup of an experiment of the paper, with the machine unchanged.
    pub fn of_case(machine: &'static str, Case { file_system, test, drives }: Case) -> Setup {
        Setup::new(machine, file_system, test, drives)
    }

    /// Returns the setup with one more setting.
    pub fn with(&self, change: impl Into<String>) -> Setup {
        let mut changed = self.clone();
        changed.changes.push(change.into());
        changed
    }

    /// Returns the machine with the settings applied.
    pub fn load(&self) -> Result<Machine, MachineFault> {
        let mut machine = Machine::load(self.machine)?;
        self.changes.iter().try_for_each(|change| machine.set(change))?;
        Ok(machine)
    }

    /// Returns the description that is simulated.
    pub fn describe(&self) -> Result<Description, MachineFault> {
        self.load()?.describe(self.drives as u32, FILE_BYTES)
    }
}

/// Result of a setup, summed or averaged over the starting positions of the platters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Rate and CPU share, as the paper prints them.
    pub simulated: Simulated,
    /// Time of the programs by owner, summed.
    pub time: ProgramTime,
    /// Processor time by cause, in nanoseconds, in the order of [`Cause::ALL`], until the last program ended. Includes
    /// time that is not charged to any program.
    pub processor: [u64; Cause::COUNT],
    /// Elapsed time, in nanoseconds.
    pub elapsed: u64,
    /// Time of the drives by activity, in nanoseconds, in the order of [`Activity::ALL`], summed over the drives.
    pub drives: [u64; Activity::COUNT],
    /// Number of starting positions of the platters.
    pub phases: u32,
    /// Number of read requests of the drives, and the idle time directly before and after them, in nanoseconds.
    pub around_reads: (u64, u64),
}

impl Figure {
    /// Rate in Kbytes (1024 bytes) per second.
    pub fn rate(&self) -> f64 {
        self.simulated.kbytes_per_sec
    }

    /// CPU time of the programs per Kbyte, in seconds, as the paper's two figures give it.
    pub fn cpu_per_kbyte(&self) -> f64 {
        self.simulated.cpu_percent / 100.0 / self.rate()
    }

    /// Processor time per Kbyte of the files for this cause, in seconds.
    pub fn processor_per_kbyte(&self, cause: Cause) -> f64 {
        self.processor_in(cause) / self.rate()
    }

    /// Revolutions per block for which the programs waited, on the machine of that description. For a single program
    /// and the first file system.
    pub fn turns_per_block(&self, description: &Description) -> f64 {
        let waited = self.time.waiting[Activity::Rotation as usize].as_secs_f64();
        let blocks = FILE_BYTES as f64 / f64::from(description.file_systems[0].block_bytes());
        waited / description.drive.turn().as_secs_f64() / blocks / f64::from(self.phases)
    }

    /// Mean idle time of a drive directly before and after a read request, in milliseconds; `None` if there were no
    /// reads.
    pub fn idle_around_a_read(&self) -> Option<f64> {
        let (reads, idle) = self.around_reads;
        (reads > 0).then(|| idle as f64 / 1e6 / reads as f64)
    }

    /// Share of the elapsed time in which the processor was busy with this cause.
    pub fn processor_in(&self, cause: Cause) -> f64 {
        self.processor[cause as usize] as f64 / self.elapsed as f64
    }

    /// The bottleneck: `cpu` if the programs hardly wait for anything else, otherwise the activity that they wait for
    /// most.
    pub fn limit(&self) -> &'static str {
        limit(&self.time)
    }
}

/// The bottleneck of programs with these times.
pub(crate) fn limit(time: &ProgramTime) -> &'static str {
    let busy = (time.cpu() + time.ready).as_secs_f64() / time.elapsed.as_secs_f64();
    if 100.0 * busy >= SATURATED {
        return "cpu";
    }
    let waits = Activity::ALL.into_iter().map(|activity| (activity.name(), time.waiting[activity as usize].0));
    waits.fold(("n.m.", 0), |most, other| if other.1 > most.1 { other } else { most }).0
}

/// Measures all setups in parallel. The figures are in the order of the setups.
pub fn measure(setups: &[Setup]) -> Result<Vec<Figure>, MachineFault> {
    measure_from(setups, PHASES)
}

/// Measures all setups in parallel, from this number of starting positions of the platters.
pub fn measure_from(setups: &[Setup], phases: u32) -> Result<Vec<Figure>, MachineFault> {
    each(setups, |setup| figure(setup, phases)).into_iter().collect()
}

/// Applies `ask` to all elements, on all available processors. The answers are in the order of the elements.
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

/// Measures one setup.
fn figure(setup: &Setup, phases: u32) -> Result<Figure, MachineFault> {
    let machine = setup.load()?;
    let description = machine.describe(setup.drives as u32, FILE_BYTES)?;
    over_phases(&description, setup.file_system, setup.drives, setup.test, phases)
        .map_err(|invalid| machine.impossible(&invalid, None))
}

/// Returns the mean over `phases` starting positions of the platters.
pub fn over_phases(
    description: &Description,
    file_system: FileSystem,
    drives: usize,
    test: Test,
    phases: u32,
) -> Result<Figure, Invalid> {
    let streams = test.streams();
    let outcomes = outcomes(Experiment { drives, ..streams.experiment(description, file_system) }, phases)?;
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
    Ok(Figure { simulated, time, processor, elapsed, drives: spent, phases, around_reads })
}

/// Runs the experiment from each of `phases` starting positions of the platters.
pub(crate) fn outcomes(experiment: Experiment, phases: u32) -> Result<Vec<Outcome>, Invalid> {
    let prepared = experiment.prepare()?;
    (0..phases).map(|phase| prepared.run(Chance { phase, phases, ..Chance::default() })).collect()
}

/// Sums the times of several drives by activity.
fn transposed(drives: &[[units::Nanos; Activity::COUNT]]) -> [u64; Activity::COUNT] {
    std::array::from_fn(|activity| drives.iter().map(|drive| drive[activity].0).sum())
}
