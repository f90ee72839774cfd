//! Observations that a world makes around its programs while they run: the devices, the machine, and the reasons for
//! which the programs waited. A value that a world cannot see or does not have is `None`, never zero.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::time_breakdown::TimeBreakdown;

/// Observations around the programs. Unless a field says otherwise, they count all processes of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The time that was observed.
    pub elapsed: Nanos,
    /// CPU time of the programs and of the process that runs them. On a real kernel: of the whole process.
    pub process: Option<Nanos>,
    /// CPU time of kernel threads (write-back, journal, loop devices...), of the whole machine.
    pub workers: Option<Nanos>,
    /// Busy CPU time (neither idle nor waiting for I/O), summed over processors.
    pub machine: Option<Nanos>,
    /// The part of that in which processors served interrupts, for any program.
    #[serde(default)]
    pub interrupts: Option<Nanos>,
    /// CPU steal: time that another virtual machine ran on a processor of this one, summed over processors.
    pub steal: Option<Nanos>,
    /// Bytes and flushes of the devices directly under the programs.
    pub device: Option<DeviceBytes>,
    /// Every device under the programs, those directly under them first. Empty if none is visible.
    pub layers: Vec<Layer>,
    /// The bytes that were charged to the programs.
    pub accounts: Option<Accounts>,
    /// Limits that throttled the programs.
    pub quota: Quota,
    /// The time in which some task of the machine waited, of any process.
    pub pressure: Pressure,
    /// Refaults of the page cache, and drops of all caches.
    pub memory: MemoryEvents,
    /// Bytes that all disks and networks of the machine moved, if no device is visible under the programs. `None` if a
    /// network may be hidden.
    #[serde(default)]
    pub traffic: Option<Traffic>,
    /// A breakdown of the whole elapsed time, if the world knows it.
    #[serde(default)]
    pub breakdown: Option<TimeBreakdown>,
    /// True if a program was seen to be several processes.
    #[serde(default)]
    pub several: bool,
    /// CPU time of the busiest thread of a program that is a command. `None` if none was seen.
    #[serde(default)]
    pub busiest_process: Option<Nanos>,
    /// The use of the I/O limits of the programs' control groups.
    #[serde(default)]
    pub io_limits: Vec<IoLimit>,
    /// The programs and kernel threads that serve the I/O of the programs. `None` if they are not visible.
    #[serde(default)]
    pub servers: Option<Vec<Server>>,
    /// The journal of the file system under the programs. `None` if there is none, or none is visible.
    #[serde(default)]
    pub journal: Option<Journal>,
}

impl Counters {
    /// The devices at one depth.
    pub fn layers_at(&self, depth: u32) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(move |layer| layer.depth == depth)
    }

    /// Returns whether a file holds the data of one of the lowest visible devices, so that the disk below is unknown.
    pub fn ends_in_a_file(&self) -> bool {
        let lowest = self.layers.iter().map(|layer| layer.depth).max();
        lowest.is_some_and(|depth| self.layers_at(depth).any(|layer| layer.is_file))
    }

    /// The lowest devices with any requests: those that spent the time, and did not only pass requests on. In an uneven
    /// stack, they are at several depths. Without the names of the devices below each, the deepest ones.
    pub fn lowest(&self) -> impl Iterator<Item = &Layer> {
        let is_linked = self.layers.iter().any(|layer| !layer.below.is_empty());
        let at_work = || self.layers.iter().filter(|layer| layer.used.did_anything());
        let depth = at_work().map(|layer| layer.depth).max();
        at_work().filter(move |layer| match is_linked {
            true => self.has_own_work(layer) && !self.leads_to_work(layer),
            false => Some(layer.depth) == depth,
        })
    }

    /// Returns whether a device has work that the programs may have caused. A disk whose partitions below the programs
    /// did nothing worked for other partitions.
    fn has_own_work(&self, layer: &Layer) -> bool {
        let mut above = self.layers.iter().filter(|other| other.below.contains(&layer.name)).peekable();
        let is_reached = above.peek().is_none()
            || above.any(|other| other.used.did_anything() || !is_partition(&other.name, &layer.name));
        layer.used.did_anything() && is_reached
    }

    /// Returns whether a device below this one has such work.
    fn leads_to_work(&self, layer: &Layer) -> bool {
        let mut below = self.layers.iter().filter(|other| layer.below.contains(&other.name));
        below.any(|other| self.has_own_work(other) || self.leads_to_work(other))
    }
}

/// True for the kernel's names of a partition and its disk: `sda3` and `sda`, `nvme0n1p2` and `nvme0n1`.
fn is_partition(name: &str, disk: &str) -> bool {
    let number = name.strip_prefix(disk).map(|rest| rest.strip_prefix('p').unwrap_or(rest));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A device under the programs, and its activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// `vda`, `loop0`.
    pub name: String,
    /// The number of devices above it.
    pub depth: u32,
    /// The names of the devices directly below it.
    #[serde(default)]
    pub below: Vec<String>,
    /// The requests that it completed.
    pub used: DeviceUse,
    /// The state of its volatile write cache, if known.
    pub write_cache: Option<WriteCache>,
    /// True if its storage is a file, so that a file system is below it.
    pub is_file: bool,
    /// True if the data of that file go through the page cache of this machine.
    #[serde(default)]
    pub is_buffered: bool,
}

/// The place of data whose write the device has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteCache {
    /// Stable storage: write through.
    Through,
    /// Possibly a volatile cache, until a flush request: write back.
    Back,
    /// As `Back`, but the kernel was told that the cache is write-through, so that it never sends a flush.
    Overridden,
}

/// The activity of a block device. Request times are summed over requests, each from the moment it was queued at the
/// device until it completed.
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
    /// Time of the flushes; `None` if they are not timed.
    pub flushing: Option<Nanos>,
    /// Discards completed. They tell the device that it may forget blocks, and move no bytes.
    #[serde(default)]
    pub discards: u64,
    /// Time of the discards.
    #[serde(default)]
    pub discarding: Nanos,
    /// Time with at least one request in flight. A real kernel samples this only at its clock tick, so the figure is
    /// rough over few ticks.
    pub busy: Nanos,
}

impl DeviceUse {
    /// Returns whether any request completed.
    pub fn did_anything(&self) -> bool {
        self.reads + self.writes + self.moved.flushes + self.discards > 0
    }

    /// The activity since an earlier reading.
    pub fn since(&self, earlier: &DeviceUse) -> DeviceUse {
        DeviceUse {
            moved: self.moved.since(&earlier.moved),
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            reading: self.reading.saturating_sub(earlier.reading),
            writing: self.writing.saturating_sub(earlier.writing),
            flushing: self.flushing.zip(earlier.flushing).map(|(now, before)| now.saturating_sub(before)),
            discards: self.discards.saturating_sub(earlier.discards),
            discarding: self.discarding.saturating_sub(earlier.discarding),
            busy: self.busy.saturating_sub(earlier.busy),
        }
    }
}

/// The bytes and flushes of a block device.
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
    /// The bytes and flushes since an earlier reading.
    pub fn since(&self, earlier: &DeviceBytes) -> DeviceBytes {
        DeviceBytes {
            read: self.read.saturating_sub(earlier.read),
            written: self.written.saturating_sub(earlier.written),
            flushes: self.flushes.saturating_sub(earlier.flushes),
        }
    }
}

/// The bytes that a world charged to its programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// Bytes that read calls returned to the programs.
    pub called_read: u64,
    /// Bytes that the programs passed to write calls.
    pub called_written: u64,
    /// Bytes that had to be fetched for the programs from the layer below the cache.
    pub fetched: u64,
    /// Bytes that the programs made dirty. They did not necessarily reach a device.
    pub dirtied: u64,
    /// Dirtied bytes that were discarded before they were written.
    pub cancelled: u64,
}

impl Accounts {
    /// The charges since an earlier reading.
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

/// A program that serves the I/O of the programs, or the kernel threads that do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// `FUSE server sshfs`, `kernel threads of loop3`.
    pub name: String,
    /// CPU time of all its threads. For kernel threads it is a lower bound, because their names show only their last
    /// work.
    pub cpu: Nanos,
    /// CPU time of its busiest thread.
    pub busiest: Nanos,
    /// Time in which its threads waited for a processor, summed. For kernel threads it is an upper bound: it includes
    /// the waits of all kernel workers.
    #[serde(default)]
    pub waited: Nanos,
    /// Devices at this depth or deeper are below the server.
    pub below: u32,
    /// True if it consists of kernel threads.
    pub is_kernel: bool,
}

/// The activity of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Number of commits.
    pub commits: u64,
    /// Mean time of the last commits: a moving average, in which each commit has a weight of a quarter.
    pub commit_time: Nanos,
    /// Blocks of all these commits. A lower bound, because the kernel rounds the mean per commit down.
    pub blocks: u64,
    /// The most blocks of one commit.
    pub most_blocks: u64,
}

/// A limit on the I/O of a control group of the programs, and its use by that group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// The limited quantity.
    pub kind: IoKind,
    /// The name of the device.
    pub device: String,
    /// The number of control groups between this one and that of the programs.
    pub level: u32,
    /// Allowed amount per second.
    pub allowed: u64,
    /// The amount that the group and the groups below it used.
    pub done: u64,
}

impl IoLimit {
    /// Returns whether both are the same limit, perhaps with another use.
    pub fn is_same(&self, other: &IoLimit) -> bool {
        (self.kind, &self.device, self.level, self.allowed) == (other.kind, &other.device, other.level, other.allowed)
    }
}

/// A quantity that a control group can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoKind {
    /// Bytes read.
    ReadBytes,
    /// Bytes written.
    WrittenBytes,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

impl IoKind {
    /// The name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            IoKind::ReadBytes => "bytes read",
            IoKind::WrittenBytes => "bytes written",
            IoKind::Reads => "reads",
            IoKind::Writes => "writes",
        }
    }

    /// The amount that a device did.
    pub const fn done_by(self, used: &DeviceUse) -> u64 {
        match self {
            IoKind::ReadBytes => used.moved.read,
            IoKind::WrittenBytes => used.moved.written,
            IoKind::Reads => used.reads,
            IoKind::Writes => used.writes,
        }
    }
}

/// Limits that throttle the programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// Time for which the programs' control group was throttled because it had used up its CPU quota, summed over
    /// processors.
    pub cpu: Option<Nanos>,
}

/// The time for which some task of the machine waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// For a processor.
    pub cpu: Option<Nanos>,
    /// For a device.
    pub io: Option<Nanos>,
    /// For memory.
    pub memory: Option<Nanos>,
}

/// Refaults of the page cache, and drops of all caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEvents {
    /// Refaults: pages of 4 KiB of the programs' files that were read again soon after they had been evicted. `None` if
    /// the programs' control group has no count of its own.
    pub refaults: Option<u64>,
    /// Refaults of the whole machine, in pages of 4 KiB.
    pub machine_refaults: Option<u64>,
    /// The number of times that some process dropped the caches of the machine.
    pub drops: Option<u64>,
}

/// Bytes that all disks and networks of the machine moved, for all processes. Too few bytes disprove a claim about a
/// disk; enough of them prove nothing, because they may be those of other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes that came into memory.
    pub arrived: u64,
    /// Bytes that left memory.
    pub left: u64,
}

impl Traffic {
    /// The traffic since an earlier reading.
    pub fn since(&self, earlier: &Traffic) -> Traffic {
        Traffic { arrived: self.arrived.saturating_sub(earlier.arrived), left: self.left.saturating_sub(earlier.left) }
    }
}

/// The amount of dirty memory on the machine, at one moment, in pages of 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dirtiness {
    /// Pages that are dirty or being written.
    pub pages: u64,
    /// The number of dirty pages up to which the kernel throttles no writer.
    pub free_run: u64,
    /// The value of `pages` when the world was created.
    pub at_first: u64,
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::vec;

    use super::*;

    /// Counters of a stack: each device with its depth, the devices below it, and its reads.
    fn stack(devices: &[(&str, u32, &[&str], u64)]) -> Counters {
        let layer = |(name, depth, below, reads): &(&str, u32, &[&str], u64)| Layer {
            name: (*name).to_owned(),
            depth: *depth,
            below: below.iter().map(|name| (*name).to_owned()).collect(),
            used: DeviceUse { reads: *reads, ..DeviceUse::default() },
            write_cache: None,
            is_file: false,
            is_buffered: false,
        };
        Counters { layers: devices.iter().map(layer).collect(), ..Counters::default() }
    }

    fn lowest(counters: &Counters) -> Vec<&str> {
        counters.lowest().map(|layer| layer.name.as_str()).collect()
    }

    /// A volume on a partition and on a whole disk.
    #[test]
    fn the_lowest_devices_may_be_at_several_depths() {
        let volume = |on_sda3, on_sda| {
            stack(&[
                ("dm-1", 0, &["sda3", "sdb"], 9),
                ("sda3", 1, &["sda"], on_sda3),
                ("sdb", 1, &[], 9),
                ("sda", 2, &[], on_sda),
            ])
        };
        assert_eq!(lowest(&volume(5, 5)), ["sdb", "sda"]);
        // Another program used another partition of sda.
        assert_eq!(lowest(&volume(0, 5)), ["sdb"]);
    }

    #[test]
    fn a_device_that_passes_requests_on_is_not_the_lowest() {
        let disk = |reads| {
            stack(&[("loop0", 0, &["nvme0n1p2"], 9), ("nvme0n1p2", 1, &["nvme0n1"], reads), ("nvme0n1", 2, &[], 9)])
        };
        assert_eq!((lowest(&disk(9)), lowest(&disk(0))), (vec!["nvme0n1"], vec!["loop0"]));
        // md may not count its requests.
        assert_eq!(lowest(&stack(&[("md0", 0, &["sda", "sdb"], 0), ("sda", 1, &[], 1), ("sdb", 1, &[], 0)])), ["sda"]);
        // Counters that were stored by an older version.
        assert_eq!(lowest(&stack(&[("loop0", 0, &[], 9), ("vda", 1, &[], 9)])), ["vda"]);
    }

    #[test]
    fn partitions_have_the_name_of_their_disk_and_a_number() {
        let found = [("sda3", "sda"), ("nvme0n1p2", "nvme0n1"), ("sda", "sda"), ("sdab", "sda"), ("dm-1", "sda")];
        assert_eq!(found.map(|(name, disk)| is_partition(name, disk)), [true, true, false, false, false]);
    }
}
