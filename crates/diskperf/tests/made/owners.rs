//! More bottlenecks, whose owner is not the device: docs/design/bottlenecks.md lists them, with the wrong answers.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::control_group::Group;
use testkit::fuse::{Knobs, Queue};
use testkit::lying_folder::{KernelCache, Lies, LyingFolder, MountAppearance};

use super::bottleneck::{Bottleneck, neighbour, only_cell};
use super::ground::{EXT4, Format, Ground};

/// All of them.
pub const OWNERS: [Bottleneck; 11] = [
    Bottleneck { name: "computing FUSE server", right: &["server"], cell: computing_fuse_server },
    Bottleneck { name: "loop worker that copies", right: &["server"], cell: loop_worker },
    Bottleneck { name: "compression", right: &["server"], cell: compression },
    Bottleneck { name: "small journal", right: &["journal"], cell: small_journal },
    // A commit writes to the journal on the disk, and flushes the disk.
    Bottleneck {
        name: "waiting for commits",
        right: &["journal", "flush", "device and flush"],
        cell: waiting_for_commits,
    },
    Bottleneck { name: "quota on a command", right: &["quota"], cell: quota_on_a_command },
    // Everything but the quota, which other programs use up.
    Bottleneck { name: "quota beside other I/O", right: &["device", "latency", "cpu"], cell: quota_beside_other_io },
    Bottleneck { name: "open loop", right: &["pacing"], cell: open_loop },
    Bottleneck { name: "computing command", right: &["cpu"], cell: computing_command },
    Bottleneck { name: "copying command", right: &["cpu"], cell: copying_command },
    Bottleneck { name: "pipeline", right: &["cpu"], cell: pipeline },
];

/// The smallest journal that ext4 can have with blocks of 4 KiB: 1024 blocks.
const SMALL_JOURNAL: Format = Format {
    tool: "mkfs.ext4",
    options: &["-q", "-b", "4096", "-J", "size=4", "-N", "40000", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    ..EXT4
};

/// A btrfs that compresses all data, at the slowest level of zstd.
const COMPRESSED: Format = Format { tool: "mkfs.btrfs", options: &["-q"], mount: "compress-force=zstd:15", ..EXT4 };

/// Time of a disk for a request, as of a good disk on a network.
const SERVICE: Duration = Duration::from_micros(500);

/// A run of a command of the user.
fn command(program: &Path, groups: &[&Group], folder: &Path, rounds: &str, words: &[&str]) -> Value {
    only_cell(program, groups, folder, &[&["run", ".", "--rounds", rounds, "--json", "--"], words].concat())
}

/// Reads from a folder whose server computes for each request, one thread at a time.
fn computing_fuse_server(program: &Path) -> Result<Value, String> {
    if !testkit::is_root() || !Path::new("/dev/fuse").exists() {
        return Err("needs root and /dev/fuse".to_owned());
    }
    kernel::PrivateMounts::enter().map_err(|fault| fault.to_string())?;
    let folder = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
    let [below, point] = ["below", "point"].map(|name| folder.path().join(name));
    for path in [&below, &point] {
        fs::create_dir(path).map_err(|error| error.to_string())?;
    }
    let served = LyingFolder::mount(&point, &below, MountAppearance::Fuse, Lies::default())
        .map_err(|error| error.to_string())?;
    served.turn(Lies { burn: Duration::from_millis(1), cache: KernelCache::Bypassed, ..Lies::default() });
    let words = ["io", "randread", ".", "--bs", "64KiB", "--size", "8MiB", "--rounds", "2", "--json"];
    Ok(only_cell(program, &[], &point, &words))
}

/// Direct reads from a loop device on a file in memory: its worker copies the bytes.
fn loop_worker(program: &Path) -> Result<Value, String> {
    let ground = Ground::formatted(None, &EXT4)?;
    // The worker copies a few gigabytes per second. diskperf judges no phase that is shorter than a tenth of a second.
    let words = ["io", "read", ".", "--direct", "--bs", "4MiB", "--size", "192MiB", "--rounds", "5", "--json"];
    Ok(only_cell(program, &[], ground.point(), &words))
}

/// Writes that btrfs compresses slowly.
fn compression(program: &Path) -> Result<Value, String> {
    let ground = Ground::formatted(Some(Knobs::default()), &COMPRESSED)?;
    let words = ["io", "write", ".", "--size", "48MiB", "--rounds", "2", "--json"];
    Ok(only_cell(program, &[], ground.point(), &words))
}

/// New folders, with a block and an inode each, on a file system with the smallest journal, on a disk that takes half a
/// millisecond per request.
fn small_journal(program: &Path) -> Result<Value, String> {
    let ground = Ground::formatted(Some(Knobs { service: SERVICE, ..Knobs::default() }), &SMALL_JOURNAL)?;
    Ok(command(program, &[], ground.point(), "2", &["bash", "-c", "exec mkdir {1..12000}"]))
}

/// A command that waits for a commit after each block, on a fast disk.
fn waiting_for_commits(program: &Path) -> Result<Value, String> {
    let ground = Ground::new(Knobs::default())?;
    let words = ["dd", "if=/dev/zero", "of=data", "bs=4k", "count=4000", "oflag=dsync"];
    Ok(command(program, &[], ground.point(), "3", &words))
}

/// A command that reads past the page cache, in a group with a limit on reads.
fn quota_on_a_command(program: &Path) -> Result<Value, String> {
    let ground = Ground::new(Knobs::default())?;
    fs::write(ground.point().join("data"), vec![7; 8 << 20]).map_err(|error| error.to_string())?;
    let group = Group::limited("blkio", "blkio.throttle.read_iops_device", &format!("{} 400", ground.disk().number()))?;
    let words = ["dd", "if=../data", "of=/dev/null", "bs=4k", "count=400", "iflag=direct"];
    Ok(command(program, &[&group], ground.point(), "3", &words))
}

/// Random reads far below a limit, while another program reads the same disk outside the group.
fn quota_beside_other_io(program: &Path) -> Result<Value, String> {
    let ground = Ground::new(Knobs { service: SERVICE, queue: Queue::OneArm, ..Knobs::default() })?;
    // The disk serves 2,000 requests per second, most of them for the neighbour.
    let group =
        Group::limited("blkio", "blkio.throttle.read_iops_device", &format!("{} 1600", ground.disk().number()))?;
    let _neighbour = neighbour(ground.disk())?;
    let words = ["io", "randread", ".", "--size", "32MiB", "--rounds", "1", "--json"];
    Ok(only_cell(program, &[&group], ground.point(), &words))
}

/// A schedule that the disk can keep easily.
fn open_loop(program: &Path) -> Result<Value, String> {
    let ground = Ground::new(Knobs { service: SERVICE, ..Knobs::default() })?;
    let words = ["io", "randread", ".", "--direct", "--rate", "100", "--size", "32MiB", "--rounds", "2", "--json"];
    Ok(only_cell(program, &[], ground.point(), &words))
}

/// A command that counts.
fn computing_command(program: &Path) -> Result<Value, String> {
    let folder = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
    let count = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; : > done";
    Ok(command(program, &[], folder.path(), "3", &["sh", "-c", count]))
}

/// A command that copies memory.
fn copying_command(program: &Path) -> Result<Value, String> {
    let folder = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
    let words = ["dd", "if=/dev/zero", "of=data", "bs=1M", "count=64", "conv=notrunc"];
    Ok(command(program, &[], folder.path(), "6", &words))
}

/// Two processes: one computes, the other waits for it.
fn pipeline(program: &Path) -> Result<Value, String> {
    let folder = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
    let words = "head -c 100000000 /dev/zero | sha512sum > sum";
    Ok(command(program, &[], folder.path(), "2", &["sh", "-c", words]))
}
