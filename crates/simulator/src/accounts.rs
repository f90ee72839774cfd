//! Where time went: every nanosecond of every part has one owner, and so has every nanosecond of every program.

use alloc::vec::Vec;

use units::Nanos;

use crate::bus::BusTime;
use crate::cpu::{Cause, CpuSpent};
use crate::drive::Activity;

/// What the parts of a computer spent their time on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// How long that was.
    pub elapsed: Nanos,
    /// The processor.
    pub cpu: CpuSpent,
    /// The bus.
    pub bus: BusTime,
    /// The drives, each by activity in the order of [`Activity::ALL`].
    pub drives: Vec<[Nanos; Activity::COUNT]>,
    /// The controller: of what its drives do, what it is about.
    pub controller: [Nanos; Activity::COUNT],
    /// What the drives had to read, and how long each had nothing to do around that.
    pub around_reads: Vec<AroundReads>,
}

/// Requests to read, and what became of a drive around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AroundReads {
    /// How many.
    pub reads: u64,
    /// Nothing was asked of the drive until one came, or since one was done.
    pub idle: Nanos,
}

impl Accounts {
    /// Panics where the time of any part is not the time that has passed.
    pub(crate) fn assert_closed(&self) {
        let cpu = self.cpu.busy.into_iter().sum::<Nanos>() + self.cpu.idle;
        assert_eq!(cpu, self.elapsed, "the processor's time");
        assert_eq!(self.bus.busy + self.bus.idle, self.elapsed, "the bus's time");
        for drive in &self.drives {
            assert_eq!(drive.iter().copied().sum::<Nanos>(), self.elapsed, "a drive's time");
        }
        assert_eq!(self.controller.iter().copied().sum::<Nanos>(), self.elapsed, "the controller's time");
    }

    /// What was spent since an earlier reading.
    pub fn since(&self, earlier: &Accounts) -> Accounts {
        let drives = self.drives.iter().zip(&earlier.drives).map(|(now, before)| less(now, before)).collect();
        let around_reads = self
            .around_reads
            .iter()
            .zip(&earlier.around_reads)
            .map(|(now, before)| AroundReads { reads: now.reads - before.reads, idle: now.idle - before.idle });
        Accounts {
            elapsed: self.elapsed - earlier.elapsed,
            cpu: CpuSpent { busy: less(&self.cpu.busy, &earlier.cpu.busy), idle: self.cpu.idle - earlier.cpu.idle },
            bus: BusTime { busy: self.bus.busy - earlier.bus.busy, idle: self.bus.idle - earlier.bus.idle },
            drives,
            controller: less(&self.controller, &earlier.controller),
            around_reads: around_reads.collect(),
        }
    }
}

/// What one program spent its time on, from its first step until its last call returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramTime {
    /// How long that was.
    pub elapsed: Nanos,
    /// It was on the processor, by cause in the order of [`Cause::ALL`].
    pub running: [Nanos; Cause::COUNT],
    /// It was on the processor, which served an interrupt.
    pub interrupted: Nanos,
    /// It could have run, and the processor was with another.
    pub ready: Nanos,
    /// It slept, by what its drive did meanwhile, in the order of [`Activity::ALL`].
    pub waiting: [Nanos; Activity::COUNT],
    /// It paused of its own will.
    pub pauses: Nanos,
}

impl ProgramTime {
    /// CPU time as 4.2BSD charges it: interrupts belong to whom they interrupt.
    pub fn cpu(&self) -> Nanos {
        self.running.into_iter().sum::<Nanos>() + self.interrupted
    }

    /// Adds what another program, or another execution, spent.
    pub fn add(&mut self, other: &ProgramTime) {
        self.elapsed += other.elapsed;
        self.interrupted += other.interrupted;
        self.ready += other.ready;
        self.pauses += other.pauses;
        for (sum, part) in self.running.iter_mut().zip(other.running) {
            *sum += part;
        }
        for (sum, part) in self.waiting.iter_mut().zip(other.waiting) {
            *sum += part;
        }
    }

    /// Panics where the sum is not the time that has passed.
    pub(crate) fn assert_closed(&self) {
        let sum = self.cpu() + self.ready + self.waiting.into_iter().sum::<Nanos>() + self.pauses;
        assert_eq!(sum, self.elapsed, "a program's time");
    }
}

fn less<const COUNT: usize>(now: &[Nanos; COUNT], before: &[Nanos; COUNT]) -> [Nanos; COUNT] {
    core::array::from_fn(|index| now[index] - before[index])
}
