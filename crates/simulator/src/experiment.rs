//! One figure of a simulated computer: the same program on each of its drives, all at once.
//!
//! What the programs find was made long ago and is not in memory; how the platters stand at the beginning, and all
//! that jitters, is [`Chance`].

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;
use workload::{Stream, Tally, World};

use crate::accounts::{Accounts, ProgramTime};
use crate::computer::{Chance, Computer};
use crate::description::{Description, FileSystem, Invalid};

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    /// On which computer.
    pub description: &'a Description,
    /// In which of its file systems.
    pub file_system: &'a FileSystem,
    /// On how many drives.
    pub drives: usize,
    /// How many programs on each.
    pub streams: usize,
    /// What makes the program's files, before any clock runs.
    pub files: &'a Stream,
    /// What ran just before, and has returned: what it left in memory is still on its way to the drives when the
    /// clocks start.
    pub before: &'a Stream,
    /// The program.
    pub steps: &'a Stream,
    /// How much it reads or writes.
    pub bytes: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    bytes: u64,
    /// Each program's time, until its last call returned.
    pub programs: Vec<ProgramTime>,
    /// What the parts spent their time on, until the last program ended.
    pub parts: Accounts,
    /// The hash of all events.
    pub hash: u64,
    /// How many events there were.
    pub events: u64,
}

/// An experiment whose files are made: they are the same whatever chance brings.
#[derive(Debug)]
pub struct Prepared<'a> {
    experiment: Experiment<'a>,
    /// A computer that has them, and that nothing has run on.
    computer: Computer,
}

impl<'a> Experiment<'a> {
    /// Makes the files that the programs find.
    pub fn prepare(self) -> Result<Prepared<'a>, Invalid> {
        // All programs on a drive have their files in one file system.
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
    /// Runs it once. Says so where that would not end.
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
    /// The same steps in every program, but for what is drawn at random.
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
    /// The sum of the programs' rates, in thousandths of 1024 bytes a second.
    pub fn milli_kbytes_per_second(&self) -> u64 {
        let rate = |time: &ProgramTime| u128::from(self.bytes) * 1_000_000_000_000 / 1024 / nanos(time.elapsed);
        self.programs.iter().map(rate).sum::<u128>() as u64
    }

    /// The sum of the programs' shares of the processor, in thousandths, as 4.2BSD charges it.
    pub fn cpu_permille(&self) -> u64 {
        let share = |time: &ProgramTime| u128::from(time.cpu().0) * 1000 / nanos(time.elapsed);
        self.programs.iter().map(share).sum::<u128>() as u64
    }
}

fn nanos(span: Nanos) -> u128 {
    u128::from(span.0.max(1))
}

/// What tests run.
#[cfg(test)]
pub(crate) mod samples {
    use workload::programs::mckusick::Classic;
    use workload::{Name, Stream};

    use super::{Experiment, Outcome};
    use crate::computer::Chance;
    use crate::description::Description;

    /// A program of 1983 on files of so many bytes, in the file system of that place.
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
