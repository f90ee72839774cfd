//! An experiment on a simulated computer: the same program on each of its drives, all at the same time.
//!
//! The programs' files exist before and are not in memory. [`Chance`] sets the starting positions of the platters and
//! the jitter.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;
use workload::{Stream, Tally, World};

use crate::computer::{Chance, Computer};
use crate::description::{Description, FileSystem, Invalid};
use crate::time_accounts::{Accounts, ProgramTime};

/// Parameters of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    /// The computer.
    pub description: &'a Description,
    /// One of its file systems.
    pub file_system: &'a FileSystem,
    /// Number of drives.
    pub drives: usize,
    /// Number of programs per drive.
    pub streams: usize,
    /// Creates the programs' files, before any clock runs.
    pub files: &'a Stream,
    /// Runs just before the program, and has returned when the clocks start. Its dirty data are still on their way to
    /// the drives then.
    pub before: &'a Stream,
    /// The program.
    pub steps: &'a Stream,
    /// Bytes that the program reads or writes.
    pub bytes: u64,
}

/// Result of an experiment.
#[derive(Clone, Debug)]
pub struct Outcome {
    bytes: u64,
    /// Time of each program, until its last call returned.
    pub programs: Vec<ProgramTime>,
    /// Time account of each part, until the last program ended.
    pub parts: Accounts,
    /// Hash of all events.
    pub hash: u64,
    /// Number of events.
    pub events: u64,
}

/// An experiment with prepared files. The files do not depend on [`Chance`].
#[derive(Debug)]
pub struct Prepared<'a> {
    experiment: Experiment<'a>,
    /// A computer with the files, on which no program has run.
    computer: Computer,
}

impl<'a> Experiment<'a> {
    /// Creates the programs' files. Returns an error if the computer cannot be built or the files do not fit.
    pub fn prepare(self) -> Result<Prepared<'a>, Invalid> {
        // All programs of a drive share its file system.
        self.description.check(self.drives as u32, self.bytes * self.streams as u64)?;
        let mut computer = self.computer(Chance::default())?;
        for index in 0..self.drives * self.streams {
            computer.prepare(index, self.files.clone()).expect("a file that fits can be made");
        }
        Ok(Prepared { experiment: self, computer })
    }

    fn computer(&self, chance: Chance) -> Result<Computer, Invalid> {
        Computer::shared(self.description, self.file_system, (self.drives, self.streams), chance)
    }
}

impl Prepared<'_> {
    /// Runs the experiment once. Returns an error if the simulation would not end.
    pub fn run(&self, chance: Chance) -> Result<Outcome, Invalid> {
        let experiment = &self.experiment;
        let mut computer = experiment.computer(chance)?;
        computer.copy_files(&self.computer);
        if !experiment.before.is_empty() {
            experiment.perform(&mut computer, experiment.before)?;
        }
        let before = computer.accounts();
        experiment.perform(&mut computer, experiment.steps)?;
        Ok(Outcome {
            bytes: experiment.bytes,
            programs: computer.programs().to_vec(),
            parts: computer.accounts().since(&before),
            hash: computer.event_hash(),
            events: computer.events(),
        })
    }
}

impl Experiment<'_> {
    /// Runs the same steps in every program; only random offsets differ.
    fn perform(&self, computer: &mut Computer, steps: &Stream) -> Result<(), Invalid> {
        let programs = (self.drives * self.streams) as u32;
        let mut streams: Vec<Stream> = (0..programs).map(|program| steps.of_program(program)).collect();
        let mut tallies = vec![Tally::default(); streams.len()];
        let Ok(_) = computer.run(&mut streams, &mut tallies);
        if computer.is_stuck() {
            return Err(Invalid::new("simulation", "it does not end: some call never returns", "report this machine"));
        }
        assert!(tallies.iter().all(|tally| tally.failure.is_none()), "{tallies:?}");
        Ok(())
    }
}

impl Outcome {
    /// Sum of the programs' rates, in thousandths of 1024 bytes per second.
    pub fn milli_kbytes_per_second(&self) -> u64 {
        let rate = |time: &ProgramTime| u128::from(self.bytes) * 1_000_000_000_000 / 1024 / nanos(time.elapsed);
        self.programs.iter().map(rate).sum::<u128>() as u64
    }

    /// Sum of the programs' CPU shares, in thousandths, as 4.2BSD charges CPU time.
    pub fn cpu_permille(&self) -> u64 {
        let share = |time: &ProgramTime| u128::from(time.cpu().0) * 1000 / nanos(time.elapsed);
        self.programs.iter().map(share).sum::<u128>() as u64
    }
}

fn nanos(span: Nanos) -> u128 {
    u128::from(span.0.max(1))
}

/// Experiments for tests.
#[cfg(test)]
pub(crate) mod samples {
    use workload::programs::classic1983::Classic;
    use workload::{Name, Stream};

    use super::{Experiment, Outcome};
    use crate::computer::Chance;
    use crate::description::Description;

    /// Runs a program of 1983 on files of `bytes` bytes, in the file system with index `file_system`.
    pub(crate) fn run(
        description: &Description,
        file_system: usize,
        drives: usize,
        (program, bytes): (Classic, u64),
        chance: Chance,
    ) -> Outcome {
        let (prepare, steps) = (program.program(bytes).prepare, program.steps(Name::root(0), bytes));
        let experiment = Experiment {
            description,
            file_system: &description.file_systems[file_system],
            drives,
            streams: 1,
            files: &prepare,
            before: &Stream::empty(),
            steps: &steps,
            bytes,
        };
        experiment.prepare().and_then(|prepared| prepared.run(chance)).expect("a computer")
    }
}
