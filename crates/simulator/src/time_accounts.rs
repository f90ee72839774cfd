//! Time accounts: every nanosecond of every part, and of every program, is charged to exactly one cause or activity.

use alloc::vec::Vec;

use units::Nanos;

use crate::bus::BusTime;
use crate::cpu::{Cause, CpuSpent};
use crate::drive::Activity;

/// Time spent by each part of a computer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// Time that these accounts cover.
    pub elapsed: Nanos,
    /// CPU time by cause, and idle time.
    pub cpu: CpuSpent,
    /// Busy and idle time of the bus.
    pub bus: BusTime,
    /// Time of each drive by activity, in the order of [`Activity::ALL`].
    pub drives: Vec<[Nanos; Activity::COUNT]>,
    /// Time of the controller, by the activity of the drive that it works for.
    pub controller: [Nanos; Activity::COUNT],
    /// Read requests of each drive, and the idle time around them.
    pub around_reads: Vec<AroundReads>,
}

/// Read requests of a drive, and how long the drive was idle around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AroundReads {
    /// Number of read requests.
    pub reads: u64,
    /// Time that the drive was idle directly before a read request or directly after a completed read.
    pub idle: Nanos,
}

impl Accounts {
    /// Panics if the times of a part do not add up to the elapsed time.
    pub(crate) fn assert_closed(&self) {
        let cpu = self.cpu.busy.into_iter().sum::<Nanos>() + self.cpu.idle;
        assert_eq!(cpu, self.elapsed, "the processor's time");
        assert_eq!(self.bus.busy + self.bus.idle, self.elapsed, "the bus's time");
        for drive in &self.drives {
            assert_eq!(drive.iter().copied().sum::<Nanos>(), self.elapsed, "a drive's time");
        }
        assert_eq!(self.controller.iter().copied().sum::<Nanos>(), self.elapsed, "the controller's time");
    }

    /// Returns the time spent since `earlier`, an earlier reading of the same computer.
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

/// Time of one program by owner, from its first step until its last call returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramTime {
    /// Wall-clock time of the program.
    pub elapsed: Nanos,
    /// Time on the processor, by cause in the order of [`Cause::ALL`].
    pub running: [Nanos; Cause::COUNT],
    /// Time on the processor while the processor served an interrupt.
    pub interrupted: Nanos,
    /// Time runnable while another process had the processor.
    pub ready: Nanos,
    /// Time asleep, by the activity of its drive meanwhile, in the order of [`Activity::ALL`].
    pub waiting: [Nanos; Activity::COUNT],
    /// Time of its own pauses (think time).
    pub pauses: Nanos,
}

impl ProgramTime {
    /// CPU time as 4.2BSD charges it: an interrupt is charged to the process that it interrupts.
    pub fn cpu(&self) -> Nanos {
        self.running.into_iter().sum::<Nanos>() + self.interrupted
    }

    /// Adds the times of another program, or of another execution.
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

    /// Panics if the times do not add up to the elapsed time.
    pub(crate) fn assert_closed(&self) {
        let sum = self.cpu() + self.ready + self.waiting.into_iter().sum::<Nanos>() + self.pauses;
        assert_eq!(sum, self.elapsed, "a program's time");
    }
}

fn less<const COUNT: usize>(now: &[Nanos; COUNT], before: &[Nanos; COUNT]) -> [Nanos; COUNT] {
    core::array::from_fn(|index| now[index] - before[index])
}
