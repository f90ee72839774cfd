//! What a world sees around its programs while they run: the devices, the machine, and what kept the
//! programs waiting. Whatever a world cannot see, or does not have, is nothing, never zero.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::breakdown::Breakdown;

/// What happened around the programs, for everybody where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// How long was looked.
    pub elapsed: Nanos,
    /// CPU time of the programs and of whoever runs them: of the whole process on a real kernel.
    pub process: Option<Nanos>,
    /// CPU time of kernel threads (write-back, journal, loop devices...), of the whole machine.
    pub workers: Option<Nanos>,
    /// CPU time in which no processor was idle nor waiting for I/O, summed over processors.
    pub machine: Option<Nanos>,
    /// Time that another virtual machine had a processor of this one, summed over processors.
    pub steal: Option<Nanos>,
    /// What the devices directly under the programs moved.
    pub device: Option<DeviceBytes>,
    /// Every device under the programs, those directly under them first. None where none can be seen.
    pub layers: Vec<Layer>,
    /// What was charged to the programs.
    pub accounts: Option<Accounts>,
    /// What held the programs back on purpose.
    pub quota: Quota,
    /// For how long some task, anybody's, was kept waiting.
    pub pressure: Pressure,
    /// What happened to the page cache.
    pub memory: MemoryEvents,
    /// Where all of the time went, where a world knows it.
    #[serde(default)]
    pub breakdown: Option<Breakdown>,
    /// Whether a program was seen to be several processes.
    #[serde(default)]
    pub several: bool,
}

impl Witness {
    /// The devices at one depth.
    pub fn at(&self, depth: u32) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(move |layer| layer.depth == depth)
    }

    /// Whether the lowest devices that can be seen are files, so that nothing is known of a disk below.
    pub fn ends_in_a_file(&self) -> bool {
        let lowest = self.layers.iter().map(|layer| layer.depth).max();
        lowest.is_some_and(|depth| self.at(depth).any(|layer| layer.is_file))
    }

    /// The lowest devices that did anything: where time was spent, and not only passed on.
    pub fn lowest(&self) -> impl Iterator<Item = &Layer> {
        let at_work = || self.layers.iter().filter(|layer| layer.used.did_anything());
        let depth = at_work().map(|layer| layer.depth).max();
        at_work().filter(move |layer| Some(layer.depth) == depth)
    }
}

/// A device under the programs, and what it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// `vda`, `loop0`.
    pub name: String,
    /// How many devices lie above it.
    pub depth: u32,
    /// What it did.
    pub used: DeviceUse,
    /// Whether it keeps what was written in a memory of its own for a while.
    pub write_cache: Option<WriteCache>,
    /// Whether it is made of a file, so that what lies below it is a file system.
    pub is_file: bool,
}

/// Where data are that a device said it has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteCache {
    /// In place.
    Through,
    /// Perhaps in a memory of its own, until it is asked to flush that.
    Back,
    /// The same, but the kernel was told otherwise and never asks.
    Overridden,
}

/// What a block device did. The times of requests are summed over requests, each from the moment it was
/// handed to the device's queue until it was complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Bytes and flushes.
    pub moved: DeviceBytes,
    /// Reads completed.
    pub reads: u64,
    /// Writes completed.
    pub writes: u64,
    /// Time of the reads.
    pub reading: Nanos,
    /// Time of the writes.
    pub writing: Nanos,
    /// Time of the flushes; nothing where they are not timed.
    pub flushing: Option<Nanos>,
    /// Time in which there was at least one request. A real kernel looks at the tick of its clock only: over
    /// few ticks this is a rough figure.
    pub busy: Nanos,
}

impl DeviceUse {
    /// Whether any request was complete.
    pub fn did_anything(&self) -> bool {
        self.reads + self.writes + self.moved.flushes > 0
    }

    /// What it did since an earlier reading.
    pub fn since(&self, earlier: &DeviceUse) -> DeviceUse {
        DeviceUse {
            moved: self.moved.since(&earlier.moved),
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            reading: self.reading.saturating_sub(earlier.reading),
            writing: self.writing.saturating_sub(earlier.writing),
            flushing: self.flushing.zip(earlier.flushing).map(|(now, before)| now.saturating_sub(before)),
            busy: self.busy.saturating_sub(earlier.busy),
        }
    }
}

/// What a block device moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceBytes {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Requests to make written data durable.
    pub flushes: u64,
}

impl DeviceBytes {
    /// What it moved since an earlier reading.
    pub fn since(&self, earlier: &DeviceBytes) -> DeviceBytes {
        DeviceBytes {
            read: self.read.saturating_sub(earlier.read),
            written: self.written.saturating_sub(earlier.written),
            flushes: self.flushes.saturating_sub(earlier.flushes),
        }
    }
}

/// What a world charged to its programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// Bytes that calls brought to them.
    pub called_read: u64,
    /// Bytes that calls took from them.
    pub called_written: u64,
    /// Bytes that had to be fetched for them from the layer below the cache.
    pub fetched: u64,
    /// Bytes that they made dirty. That says nothing of whether they ever reached a device.
    pub dirtied: u64,
    /// Of those, bytes that were given up before they were written.
    pub cancelled: u64,
}

impl Accounts {
    /// What was charged since an earlier reading.
    pub fn since(&self, earlier: &Accounts) -> Accounts {
        Accounts {
            called_read: self.called_read.saturating_sub(earlier.called_read),
            called_written: self.called_written.saturating_sub(earlier.called_written),
            fetched: self.fetched.saturating_sub(earlier.fetched),
            dirtied: self.dirtied.saturating_sub(earlier.dirtied),
            cancelled: self.cancelled.saturating_sub(earlier.cancelled),
        }
    }
}

/// What held the programs back on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Time in which their control group had used up its share of the CPU, summed over processors.
    pub cpu: Option<Nanos>,
    /// What their control group may do on the devices under them.
    pub io: IoLimits,
}

/// The most that may be done in a second. Nothing is no limit that can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimits {
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub written_bytes: Option<u64>,
    /// Reads.
    pub reads: Option<u64>,
    /// Writes.
    pub writes: Option<u64>,
}

impl IoLimits {
    /// The tighter one of each.
    pub fn tighter(self, other: IoLimits) -> IoLimits {
        let tighter = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        IoLimits {
            read_bytes: tighter(self.read_bytes, other.read_bytes),
            written_bytes: tighter(self.written_bytes, other.written_bytes),
            reads: tighter(self.reads, other.reads),
            writes: tighter(self.writes, other.writes),
        }
    }
}

/// For how long some task of the machine waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// For a processor.
    pub cpu: Option<Nanos>,
    /// For a device.
    pub io: Option<Nanos>,
    /// For memory.
    pub memory: Option<Nanos>,
}

/// What happened to the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEvents {
    /// Pages of the programs' files that were wanted again soon after they had to go for want of room;
    /// nothing where their control group keeps no account of its own.
    pub refaults: Option<u64>,
    /// The same of the whole machine.
    pub machine_refaults: Option<u64>,
    /// How often somebody dropped the caches of the machine.
    pub drops: Option<u64>,
}

/// How much of the machine's memory waits to be written, when looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dirtiness {
    /// Pages that are dirty or being written.
    pub pages: u64,
    /// Up to so many pages, nobody who writes is held back.
    pub free_run: u64,
    /// How many pages it was when the world was made.
    pub at_first: u64,
}
