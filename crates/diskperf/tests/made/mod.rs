//! Bottlenecks, made on purpose on this machine, each with the cell that the built program measures in it. All need
//! root; each cleans up after itself, also after a failure.

mod bottleneck;
mod ground;
mod owners;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use bottleneck::{Bottleneck, Said};
use bottleneck::{measured, neighbour};
use ground::Ground;
pub use owners::OWNERS;
use serde_json::Value;
use testkit::control_group::Group;
use testkit::fuse::{Fsync, Knobs, Queue};

/// The first ten.
pub const ALL: [Bottleneck; 10] = [
    Bottleneck { name: "CPU quota", right: &["quota"], cell: cpu_quota },
    Bottleneck { name: "read throttle", right: &["quota"], cell: read_throttle },
    Bottleneck { name: "operations throttle", right: &["quota"], cell: operations_throttle },
    Bottleneck { name: "dirty limit", right: &["dirty throttle"], cell: dirty_limit },
    Bottleneck { name: "slow flush", right: &["flush"], cell: slow_flush },
    Bottleneck { name: "memory group", right: &["memory"], cell: memory_group },
    Bottleneck { name: "tiny read-ahead", right: &["latency"], cell: tiny_read_ahead },
    Bottleneck { name: "journal on the same disk", right: &["flush", "device"], cell: journal_on_the_same_disk },
    Bottleneck { name: "two targets on one device", right: &["device"], cell: two_targets_on_one_device },
    Bottleneck { name: "noisy neighbour", right: &["device"], cell: noisy_neighbour },
];

/// Time of a slow disk for a request: as much as a good disk on a network. Other programs' use of the processors is
/// small against it.
const SLOW: Duration = Duration::from_micros(500);

/// A disk without faults, at full speed.
fn fast() -> Result<Ground, String> {
    Ground::new(Knobs::default())
}

/// A disk with this time for each request, one after the other.
fn slow(service: Duration) -> Result<Ground, String> {
    Ground::new(Knobs { service, queue: Queue::OneArm, ..Knobs::default() })
}

/// A tenth of one processor, for a program that writes to memory and needs only the processor. On a busy machine, the
/// program would get more than that without the limit.
fn cpu_quota(program: &Path) -> Result<Value, String> {
    let group = Group::limited("cpu", "cpu.cfs_period_us", "20000")?;
    group.set("cpu.cfs_quota_us", "2000")?;
    let folder = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
    let arguments = ["smoke", "--size", "128MiB"];
    measured(program, &[&group], folder.path(), &arguments, ("rewrite_8192", "rewrite", "."))
}

/// A limit of 20 MiB read per second.
fn read_throttle(program: &Path) -> Result<Value, String> {
    let ground = fast()?;
    let limit = format!("{} {}", ground.disk().number(), 20 << 20);
    let group = Group::limited("blkio", "blkio.throttle.read_bps_device", &limit)?;
    let arguments = ["smoke", "--size", "24MiB"];
    measured(program, &[&group], ground.point(), &arguments, ("read_8192", "read", "."))
}

/// A limit of 400 reads per second.
fn operations_throttle(program: &Path) -> Result<Value, String> {
    let ground = fast()?;
    let limit = format!("{} 400", ground.disk().number());
    let group = Group::limited("blkio", "blkio.throttle.read_iops_device", &limit)?;
    let arguments = ["quick", "--size", "32MiB", "--rounds", "1"];
    measured(program, &[&group], ground.point(), &arguments, ("randread", "randread", "."))
}

/// A limit of 8 MiB of dirty pages, on a disk that takes 5 ms for 128 KiB.
fn dirty_limit(program: &Path) -> Result<Value, String> {
    let ground = slow(Duration::from_millis(5))?;
    let _limit = DirtyLimit::new(8 << 20)?;
    let arguments = ["smoke", "--size", "48MiB", "--rounds", "1"];
    measured(program, &[], ground.point(), &arguments, ("write_8192", "write", "."))
}

/// A disk that takes 10 ms for each flush.
fn slow_flush(program: &Path) -> Result<Value, String> {
    let ground = Ground::new(Knobs { fsync: Fsync::Sleep(Duration::from_millis(10)), ..Knobs::default() })?;
    let arguments = ["quick", "--size", "32MiB", "--rounds", "1"];
    measured(program, &[], ground.point(), &arguments, ("commit", "commit", "."))
}

/// Random reads of a file that has been read before and is three times as large as the memory.
fn memory_group(program: &Path) -> Result<Value, String> {
    let ground = slow(SLOW)?;
    let group = Group::limited("memory", "memory.limit_in_bytes", &(24 << 20).to_string())?;
    let arguments = ["smoke", "--size", "64MiB", "--rounds", "1", "--warm"];
    measured(program, &[&group], ground.point(), &arguments, ("largefb", "read random", "."))
}

/// Sequential reads with a read-ahead of one page, from a disk that could do four at once.
fn tiny_read_ahead(program: &Path) -> Result<Value, String> {
    let ground = Ground::new(Knobs { service: SLOW, ..Knobs::default() })?;
    let arguments = ["smoke", "a=.,tune=read_ahead_kb:4", "--size", "32MiB"];
    measured(program, &[], ground.point(), &arguments, ("read_8192", "read", "a"))
}

/// Commits to a file system with its journal on the same disk as the data.
fn journal_on_the_same_disk(program: &Path) -> Result<Value, String> {
    let ground = slow(SLOW)?;
    measured(program, &[], ground.point(), &["quick", "--size", "32MiB"], ("commit", "commit", "."))
}

/// Two programs that write to one disk at once.
fn two_targets_on_one_device(program: &Path) -> Result<Value, String> {
    let ground = slow(SLOW)?;
    for name in ["a", "b"] {
        fs::create_dir(ground.point().join(name)).map_err(|error| error.to_string())?;
    }
    let arguments = ["smoke", "a", "b", "--together", "--size", "96MiB", "--rounds", "3"];
    measured(program, &[], ground.point(), &arguments, ("write_8192", "write", "a+b"))
}

/// Random reads of single blocks, while another program reads the same disk in large pieces.
fn noisy_neighbour(program: &Path) -> Result<Value, String> {
    let ground = slow(SLOW)?;
    let _neighbour = neighbour(ground.disk())?;
    let arguments = ["quick", "--size", "32MiB", "--rounds", "1"];
    measured(program, &[], ground.point(), &arguments, ("randread", "randread", "."))
}

/// A limit on the dirty pages of the whole machine, for a few seconds.
struct DirtyLimit(Vec<(PathBuf, String)>);

impl DirtyLimit {
    fn new(bytes: u64) -> Result<DirtyLimit, String> {
        let path = |name: &str| Path::new("/proc/sys/vm").join(name);
        let names = ["dirty_bytes", "dirty_background_bytes", "dirty_ratio", "dirty_background_ratio"];
        let before = names.map(|name| (path(name), fs::read_to_string(path(name)).unwrap_or_default()));
        // Each limit is either a ratio or a number of bytes. The other of the two is zero, and setting one clears the
        // other. So only the values that are in force are kept, to be restored.
        let limit = DirtyLimit(before.into_iter().filter(|(_, value)| value.trim() != "0").collect());
        for (name, bytes) in [("dirty_bytes", bytes), ("dirty_background_bytes", bytes / 2)] {
            fs::write(path(name), bytes.to_string()).map_err(|error| format!("no limit on dirty pages: {error}"))?;
        }
        Ok(limit)
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        let restored = self.0.iter().try_for_each(|(path, value)| fs::write(path, value.trim()));
        assert!(std::thread::panicking() || restored.is_ok(), "{restored:?}");
    }
}
