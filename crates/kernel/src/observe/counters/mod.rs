//! Counters before and after a measurement: of the programs, of every device under them, of the machine.
//!
//! ```text
//!   Snapshot::before ... the measurement ... Snapshot::after ──> since ──> Counters
//!      ├── process.rs   bytes charged to this process, time waiting for a processor
//!      ├── machine.rs   processors, pressure, page cache
//!      ├── traffic.rs   bytes of all disks and networks
//!      ├── cgroups.rs   limits and counters of this thread's control groups
//!      ├── journal.rs, servers.rs   the file system, and the programs that serve the I/O
//!      └── block_device.rs, kernel_threads.rs
//!   settings.rs: settings that must not change from one measurement to the next
//! ```
//!
//! Everything is read outside the clocks, from text files below one root, so that tests can use recorded files. A
//! missing counter is `None`, never zero.

mod cgroups;
mod journal;
mod machine;
mod process;
mod servers;
mod settings;
mod traffic;
mod uncounted;

use std::path::{Path, PathBuf};

use units::{Host, Moment, Nanos};
use workload::{
    Accounts, Counters, DeviceBytes, DeviceUse, Dirtiness, IoLimit, Layer, MemoryEvents, Quota, Traffic, WriteCache,
};

use crate::observe::block_device::Device;
use crate::observe::kernel_threads::WorkerTimes;
use crate::observe::mount;
use crate::sys::clocks::{now, process_cpu};
use crate::sys::read_limited;
use cgroups::Groups;
pub use cgroups::{GroupsSeen, Reach};
use journal::JournalState;
use machine::{Machine, VirtualMemory};
pub(crate) use process::ready_time;
pub(crate) use servers::Served;
use servers::ServerTimes;

/// The root folder of the kernel's text files, `/` except in tests.
#[derive(Clone, Debug)]
pub(crate) struct Source(PathBuf);

impl Default for Source {
    fn default() -> Source {
        Source(PathBuf::from("/"))
    }
}

impl Source {
    /// The files of a recorded machine, below `root`.
    #[cfg(test)]
    pub(crate) fn below(root: &Path) -> Source {
        Source(root.to_owned())
    }

    /// Reads the file at `path`, which is relative to the root.
    fn text(&self, path: &str) -> Option<String> {
        read_limited::of_the_kernel(self.0.join(path)).ok()
    }

    /// The names in the folder at `path`, which is relative to the root. Empty if there is no such folder.
    fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(path)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Moves an absolute path of this system below the root.
    fn inside(&self, path: &Path) -> PathBuf {
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The bytes charged to this process since it started.
    pub(crate) fn accounts(&self) -> Option<Accounts> {
        process::accounts(self)
    }

    /// The number of dirty pages, and the threshold at which the kernel starts to throttle writers.
    pub(crate) fn dirtiness(&self) -> Option<Dirtiness> {
        let Dirtiness { pages, free_run, at_first } = VirtualMemory::read(self)?.dirtiness()?;
        Some(Dirtiness { pages: in_4_kib(pages), free_run: in_4_kib(free_run), at_first: in_4_kib(at_first) })
    }
}

/// The visibility of the limits of this thread's control groups.
pub(crate) fn groups_seen(source: &Source) -> GroupsSeen {
    Groups::read(source).seen()
}

/// Bytes of memory that this thread's control groups allow. Returns `None` if they set no limit.
pub(crate) fn memory_allowed(source: &Source) -> Option<u64> {
    Groups::read(source).memory_allowed()
}

/// Bytes of memory that this thread can still fill: those that the kernel calls available, and at most those that its
/// control groups have left. Returns `None` if neither is visible.
pub(crate) fn memory_left(source: &Source) -> Option<u64> {
    let text = source.text("proc/meminfo").unwrap_or_default();
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB"));
    let available = kilobytes.and_then(|kilobytes| kilobytes.trim().parse::<u64>().ok()).map(|count| count * 1024);
    [available, Groups::read(source).memory_left()].into_iter().flatten().min()
}

/// All counters at one moment.
pub(crate) struct Snapshot {
    workers: Option<WorkerTimes>,
    servers: ServerTimes,
    rest: Rest,
}

/// The counters that are quick to read.
struct Rest {
    at: Moment<Host>,
    process: Nanos,
    machine: Machine,
    layers: Vec<DeviceState>,
    accounts: Option<Accounts>,
    cpu_quota: Option<Nanos>,
    io_limits: Vec<IoLimit>,
    journal: Option<JournalState>,
    memory: MemoryEvents,
    traffic: Option<Traffic>,
}

/// The counters of a device below the programs at one moment. `depth` is the number of devices above it, and `below`
/// the names of those directly below it, which only `Snapshot::after` reads.
struct DeviceState {
    name: String,
    depth: u32,
    below: Vec<String>,
    used: Option<DeviceUse>,
    write_cache: Option<WriteCache>,
    is_file: bool,
    is_buffered: bool,
}

impl DeviceState {
    fn read((device, depth): &(Device, u32)) -> DeviceState {
        DeviceState {
            name: device.name.clone(),
            depth: *depth,
            below: Vec::new(),
            used: device.used(),
            write_cache: device.keeps_writes(),
            is_file: device.is_file(),
            is_buffered: device.is_buffered(),
        }
    }
}

impl Snapshot {
    /// Reads the counters before a measurement. The slow ones come first, so that the others do not include their
    /// cost.
    pub(crate) fn before(source: &Source, devices: &[(Device, u32)], served: &Served) -> Snapshot {
        let (workers, servers) = (WorkerTimes::read(), served.times());
        Snapshot { workers, servers, rest: Rest::read(source, devices) }
    }

    /// Reads the counters after a measurement. The slow ones come last.
    pub(crate) fn after(source: &Source, devices: &[(Device, u32)], served: &Served) -> Snapshot {
        let mut rest = Rest::read(source, devices);
        let (servers, workers) = (served.times(), WorkerTimes::read());
        for (state, (device, _)) in rest.layers.iter_mut().zip(devices) {
            state.below = mount::names_below(device);
        }
        Snapshot { servers, workers, rest }
    }

    /// Reads the counters without the slow ones.
    pub(crate) fn brief(source: &Source, devices: &[(Device, u32)]) -> Snapshot {
        Snapshot { workers: None, servers: ServerTimes::default(), rest: Rest::read(source, devices) }
    }

    /// The differences between two snapshots of the same stack.
    pub(crate) fn since(&self, before: &Snapshot, served: &Served) -> Counters {
        let workers = self.workers.as_ref().zip(before.workers.as_ref()).map(|(now, before)| now.since(before));
        Counters {
            servers: served.since((&self.servers, &before.servers), workers.as_deref()),
            workers: workers.map(|workers| workers.iter().map(|(_, times)| times.ran).sum()),
            ..self.rest.since(&before.rest)
        }
    }

    /// The differences between two snapshots without slow counters.
    pub(crate) fn briefly_since(&self, before: &Snapshot) -> Counters {
        self.rest.since(&before.rest)
    }
}

impl Rest {
    fn read(source: &Source, devices: &[(Device, u32)]) -> Rest {
        let (at, process) = (now(), process_cpu());
        let memory = VirtualMemory::read(source);
        let groups = Groups::read(source);
        Rest {
            at,
            process,
            machine: Machine::read(source),
            layers: devices.iter().map(DeviceState::read).collect(),
            accounts: process::accounts(source),
            cpu_quota: groups.cpu_throttled(),
            io_limits: groups.io_limits(devices),
            journal: journal(source, devices),
            memory: MemoryEvents {
                refaults: groups.refaults(),
                machine_refaults: memory.as_ref().and_then(VirtualMemory::refaults),
                drops: memory.as_ref().and_then(VirtualMemory::drops),
            },
            // The counters of a visible device are better evidence.
            traffic: memory.as_ref().filter(|_| devices.is_empty()).and_then(|memory| traffic::read(source, memory)),
        }
    }

    fn since(&self, before: &Rest) -> Counters {
        let difference = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        let layers: Vec<Layer> = self.layers.iter().filter_map(|layer| layer_since(layer, before)).collect();
        Counters {
            elapsed: self.at.since(before.at),
            process: Some(self.process.saturating_sub(before.process)),
            workers: None,
            device: (layers.len() == self.layers.len()).then(|| top(&layers)).flatten(),
            layers,
            accounts: self.accounts.zip(before.accounts).map(|(now, before)| now.since(&before)),
            quota: Quota { cpu: self.cpu_quota.zip(before.cpu_quota).map(|(now, before)| now.saturating_sub(before)) },
            io_limits: self.io_limits.iter().filter_map(|limit| limit_since(limit, before)).collect(),
            journal: self.journal.zip(before.journal).map(|(now, before)| now.since(&before)),
            memory: MemoryEvents {
                refaults: difference(self.memory.refaults, before.memory.refaults).map(in_4_kib),
                machine_refaults: difference(self.memory.machine_refaults, before.memory.machine_refaults)
                    .map(in_4_kib),
                drops: difference(self.memory.drops, before.memory.drops),
            },
            traffic: self.traffic.zip(before.traffic).map(|(now, before)| now.since(&before)),
            ..self.machine.since(&before.machine)
        }
    }
}

/// The activity of one device since `before`. Returns `None` if the device was not there before.
fn layer_since(now: &DeviceState, before: &Rest) -> Option<Layer> {
    let earlier = before.layers.iter().find(|earlier| earlier.name == now.name)?;
    Some(Layer {
        name: now.name.clone(),
        depth: now.depth,
        below: now.below.clone(),
        used: now.used?.since(&earlier.used?),
        write_cache: now.write_cache,
        is_file: now.is_file,
        is_buffered: now.is_buffered,
    })
}

/// A limit with its use since `before`. Returns `None` if it was not there before.
fn limit_since(now: &IoLimit, before: &Rest) -> Option<IoLimit> {
    let earlier = before.io_limits.iter().find(|earlier| earlier.is_same(now))?;
    Some(IoLimit { done: now.done.saturating_sub(earlier.done), ..now.clone() })
}

/// The journal on the device directly below the programs. Returns `None` if there are several such devices.
fn journal(source: &Source, devices: &[(Device, u32)]) -> Option<JournalState> {
    let mut tops = devices.iter().filter(|(_, depth)| *depth == 0);
    let (device, _) = tops.next().filter(|_| tops.next().is_none())?;
    JournalState::read(source, device)
}

/// Bytes and flushes of the devices directly below the programs, summed. Returns `None` if there is no such device.
fn top(layers: &[Layer]) -> Option<DeviceBytes> {
    let tops = layers.iter().filter(|layer| layer.depth == 0).map(|layer| layer.used.moved);
    tops.reduce(|sum, part| DeviceBytes {
        read: sum.read.saturating_add(part.read),
        written: sum.written.saturating_add(part.written),
        flushes: sum.flushes.saturating_add(part.flushes),
    })
}

/// Converts pages of this kernel into the pages of 4 KiB of [`Counters`].
fn in_4_kib(pages: u64) -> u64 {
    pages_of_4_kib(pages, rustix::param::page_size() as u64)
}

fn pages_of_4_kib(pages: u64, page_bytes: u64) -> u64 {
    pages.saturating_mul(page_bytes / 4096)
}

/// Finds the number that follows `word`. Each line of the text has one word and one number.
fn number_after(text: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once([' ', '\t'])?;
        if key.trim_end_matches(':') == word { value.trim().parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use testkit::fuzz::{Subject, fuzz};

    use super::*;
    use crate::sys::schedstat;

    /// A recorded tree in a temporary folder, which is removed on drop.
    pub(in crate::observe::counters) struct Recorded<F> {
        folder: F,
        pub(in crate::observe::counters) source: Source,
    }

    /// Writes a tree with these files.
    pub(in crate::observe::counters) fn recorded(files: &[(&str, &str)]) -> Recorded<impl AsRef<Path>> {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let recorded = Recorded { source: Source(folder.path().to_owned()), folder };
        files.iter().for_each(|(path, text)| recorded.write(path, text));
        recorded
    }

    impl<F: AsRef<Path>> Recorded<F> {
        pub(in crate::observe::counters) fn write(&self, path: &str, text: &str) {
            let path = self.folder.as_ref().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }

        /// The device with this number. Its files must have been written.
        pub(in crate::observe::counters) fn device(&self, major: u32, minor: u32) -> Device {
            Device::in_sys(&self.folder.as_ref().join("sys"), major, minor).expect("the device")
        }
    }

    #[test]
    fn a_number_is_found_after_its_key() {
        let text = "nr_dirty 7\nnr_dirty_threshold 9\nrchar: 12\n";
        assert_eq!(number_after(text, "nr_dirty"), Some(7));
        assert_eq!(number_after(text, "rchar"), Some(12));
        assert_eq!(number_after(text, "nr"), None);
    }

    #[test]
    fn large_pages_count_as_several_pages_of_4_kib() {
        assert_eq!([4096, 16_384, 65_536].map(|bytes| pages_of_4_kib(3, bytes)), [3, 12, 48]);
    }

    #[test]
    fn two_snapshots_give_counter_differences() {
        let recorded = recorded(&[
            ("proc/self/io", "rchar: 100\nwchar: 200\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"),
            ("proc/vmstat", "drop_pagecache 1\ndrop_slab 1\nworkingset_refault_file 10\n"),
            ("sys/dev/block/7:3/uevent", "DEVNAME=loop3\n"),
            ("sys/dev/block/7:3/stat", "1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"),
            ("sys/dev/block/8:0/uevent", "DEVNAME=sda\n"),
            ("sys/dev/block/8:0/stat", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"),
        ]);
        let devices = [(recorded.device(7, 3), 0), (recorded.device(8, 0), 1)];
        let before = Rest::read(&recorded.source, &devices);
        recorded.write("proc/self/io", "rchar: 150\nwchar: 290\nread_bytes: 4096\nwrite_bytes: 8192\n");
        recorded.write("proc/vmstat", "drop_pagecache 2\ndrop_slab 1\nworkingset_refault_file 15\n");
        recorded.write("sys/dev/block/7:3/stat", "3 0 24 5 1 0 16 2 0 6 9 0 0 0 0 2 3\n");
        let counters = Rest::read(&recorded.source, &devices).since(&before);

        let moved = DeviceBytes { read: 8192, written: 8192, flushes: 2 };
        assert_eq!(counters.device, Some(moved));
        assert_eq!(counters.layers.len(), 2);
        // The disk did nothing, because the file of the loop device was in the page cache.
        assert!(counters.lowest().map(|layer| layer.name.as_str()).eq(["loop3"]));
        assert_eq!(counters.layers[0].used.busy, Nanos::from_millis(5));
        assert_eq!(
            counters.memory,
            MemoryEvents { refaults: None, machine_refaults: Some(in_4_kib(5)), drops: Some(1) }
        );
        // The second text lacks a line.
        assert_eq!(counters.accounts, None);
        assert_eq!((counters.steal, counters.quota.cpu), (None, None));
    }

    #[test]
    fn unreadable_counters_are_unknown() {
        let recorded = recorded(&[]);
        let read = || Rest::read(&recorded.source, &[]);
        let before = read();
        let counters = read().since(&before);
        // Only the elapsed time and the CPU time are known.
        let Counters { elapsed, process, .. } = counters;
        assert_eq!(counters, Counters { elapsed, process, ..Counters::default() });
        assert_eq!(recorded.source.dirtiness(), None);
    }

    /// Fuzzes every parser with texts that may belong to another one.
    #[test]
    fn fuzz_counters() {
        let examples = [
            "cpu  10132153 290696 3084719 46828483 16683 0 25195 175628 0 0\ncpu0 1393280 32966 572056 13343292 6130\n",
            "cpu 3 64294967296 3 3 3 0 5 6",
            "some avg10=0.32 avg60=2.60 avg300=3.52 total=36449\nfull avg10=0.00 total=7\n",
            "961000000 39000000 35\n",
            "8:0 rbps=1048576 wbps=max riops=max wiops=120\n8:16 riops=1\n",
            "7:3 Read 1048576\n7:3 Write 5\nTotal 1048581\n",
            "412 transactions (409 requested), each up to 1024 blocks\n  2100us average transaction commit time\n",
            "7:blkio:/job\n4:memory:/job/small\n2:cpu,cpuacct:/job/slow\n0::/\n",
            "32 31 0:29 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n",
            "Inter-|   Receive\n face |bytes\n  lo: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n",
            "rchar: 3980\nread_bytes: 4096\nworkingset_refault_file\t9\n",
        ];
        let read = |input: &[u8]| {
            let text = String::from_utf8_lossy(input);
            let found = [
                machine::parse_stat(&text).is_some(),
                machine::parse_pressure(&text).is_some(),
                schedstat::parse(&text).is_some(),
                cgroups::keyed(&text, "8:0", "rbps").is_some(),
                cgroups::keyed(&text, "8:16", "riops").is_some(),
                cgroups::serviced(&text, "7:3", "Read").is_some_and(|done| done > 0),
                journal::parse_info(&text).is_some(),
                cgroups::path_of(&text, "memory").is_some(),
                cgroups::path_of(&text, "").is_some(),
                cgroups::mount_of(&text, "cpu").is_some(),
                cgroups::mount_of(&text, "").is_some(),
                traffic::parse_networks(&text).is_some(),
                number_after(&text, "read_bytes").is_some(),
            ];
            format!("{found:?}")
        };
        let words = &["cpu ", "some ", "total=", "8:0", " - ", "cgroup2", "max", "read_bytes", ":", " ", "\t", "\n"];
        fuzz(&Subject::new("counters", examples, read).fast().with_words(words));
    }
}
