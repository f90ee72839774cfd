//! Compares the CPU time of a cell (the programs' and the kernel threads') with the time that the kernel charged, for
//! several kinds of writes.
//!
//! ```text
//!   cargo bench --package overhead --bench charged_cpu_time
//! ```
//!
//! The kernel's own sum is the CPU time of all tasks of the machine (control groups of version 1, cpuacct, the root's
//! `cpuacct.usage`, nanoseconds). Two times are subtracted from it: the time of every other task that is neither a
//! kernel thread nor ours, and the time that this process used outside the measured program, to read counters. The rest
//! was charged to the program and to kernel threads, including those that have ended meanwhile. It is compared with the
//! program's CPU time plus the workers' time in the counters. A window in which another program's task began or ended
//! cannot be accounted for, and is repeated. Needs root.
//!
//! Prints a line of JSON for each kind of write: reported over charged time, each summed over all valid windows.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kernel::{Image, ImageSpec, Posix, PrivateMounts, Station, Workspace};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use units::{Bytes, Nanos};
use workload::{Body, Directory, Handle, Mode, Name, Op, Stream, Tally, World};

/// Valid windows for each kind of write. The tick updates the CPU time of a running task, so each end of a window is
/// off by up to 4 ms per processor, in either direction.
const WINDOWS: usize = 15;

/// The time limit for the windows of each kind of write.
const PATIENCE: Duration = Duration::from_secs(150);

/// A window starts after no task was created for `LULL`. The benchmark waits for that at most `LULL_WITHIN`.
const LULL: Duration = Duration::from_millis(50);
const LULL_WITHIN: Duration = Duration::from_secs(2);

/// Bytes written per window.
const BYTES: u64 = 128 << 20;

const FILE: Handle = Handle::new(0);

/// The CPU time of all tasks of the machine, in nanoseconds.
const CHARGED: &str = "/sys/fs/cgroup/cpuacct/cpuacct.usage";

fn main() {
    if let Err(error) = fs::read_to_string(CHARGED) {
        let reason =
            format!("control groups of version 1 count the charged time, and {CHARGED} cannot be read: {error}");
        println!("{}", json!({"not_measured": reason}));
        return;
    }
    let mounts = PrivateMounts::enter().expect("needs root");
    let folder = std::env::temp_dir();
    let image = |file_system: &str| {
        let spec = ImageSpec {
            file_system: file_system.to_owned(),
            bytes: Bytes(4 * BYTES),
            directory: folder.clone(),
            block: None,
            mount_options: Vec::new(),
            mkfs_options: Vec::new(),
        };
        Image::make(&spec, &mounts, |_| ControlFlow::Continue(())).expect("an image")
    };
    compare("buffered", &folder, 8 << 10, Mode::default());
    compare("direct", &folder, 128 << 10, Mode { direct: true, ..Mode::default() });
    let ext4 = image("ext4");
    compare("ext4 on a loop device", ext4.path(), 8 << 10, Mode::default());
    drop(ext4);
    let btrfs = image("btrfs");
    compare("btrfs on a loop device", btrfs.path(), 8 << 10, Mode::default());
}

/// Measures this kind of write until there are enough windows, and prints the reported and the charged time.
fn compare(way: &str, parent: &Path, call: u32, mode: Mode) {
    let workspace = Some(Workspace::inside(parent).expect("a folder"));
    let station = Station { workspace, given: Vec::new() };
    let mut world = Posix::new(vec![station], call, 1, Arc::default()).expect("a world");
    let began = Instant::now();
    let mut windows: Vec<(f64, f64)> = Vec::new();
    while windows.len() < WINDOWS && began.elapsed() < PATIENCE {
        windows.extend(window(&mut world, call, mode));
    }
    let count = windows.len();
    let (told, charged) = windows.into_iter().fold((0.0, 0.0), |sum, window| (sum.0 + window.0, sum.1 + window.1));
    let ratio = told / charged;
    println!("{}", json!({"writes": way, "told_s": told, "charged_s": charged, "ratio": ratio, "windows": count}));
}

/// Waits, for a limited time, until no tasks are created.
fn wait_for_lull() {
    let began = Instant::now();
    let mut before = Charges::tasks_begun();
    while began.elapsed() < LULL_WITHIN {
        thread::sleep(LULL);
        let now = Charges::tasks_begun();
        if now == before {
            return;
        }
        before = now;
    }
}

/// Writes and syncs one file. Returns the reported and the charged CPU time in seconds. `None` if the charged time is
/// unknown.
fn window(world: &mut Posix, call: u32, mode: Mode) -> Option<(f64, f64)> {
    world.clear().expect("an empty folder");
    world.quiesce().expect("rest");
    wait_for_lull();
    let before = Charges::read();
    world.watch().expect("counters");
    let body = Body::Calls { call: Op::Write { handle: FILE, length: call }, left: BYTES / u64::from(call) };
    let write = Stream::open(vec![Op::Create { name: Name::root(0), handle: FILE, mode }], body);
    let settle = vec![Op::Fsync { handle: FILE }, Op::FsyncDirectory { directory: Directory::ROOT }, Op::Syncfs];
    let program = run(world, write) + run(world, Stream::from_ops(settle));
    let counters = world.counters().expect("counters");
    let charged = Charges::read().since(&before, program)?;
    let told = program + counters.workers?;
    Some((told.as_secs_f64(), charged.as_secs_f64()))
}

/// Runs a stream. Returns the CPU time of the program.
fn run(world: &mut Posix, stream: Stream) -> Nanos {
    let mut tally = Tally::default();
    let spans = world.run(&mut [stream], std::slice::from_mut(&mut tally)).expect("a run");
    assert_eq!(tally.failure, None);
    spans[0].cpu.total
}

fn own_cpu() -> Nanos {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The CPU time that the kernel has charged so far.
struct Charges {
    /// CPU time of all tasks since boot, in nanoseconds, and of this process. Both are read at one moment, after the
    /// rest.
    all: u64,
    own: Nanos,
    /// CPU time of each existing task that is neither a kernel thread nor ours, in nanoseconds.
    others: BTreeMap<u64, u64>,
    /// The number of kernel threads, and the number of tasks created since boot.
    workers: usize,
    begun: u64,
}

impl Charges {
    fn read() -> Charges {
        let mut others = BTreeMap::new();
        let mut workers = 0;
        for process in numbers("/proc") {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            // The fields after the name, which may contain any character: state, parent, group, session, terminal,
            // foreground group, flags.
            let flags = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(6)?.parse::<u64>().ok());
            if flags.is_some_and(|flags| flags & KERNEL_THREAD != 0) {
                workers += 1;
            } else if process != u64::from(std::process::id()) {
                for task in numbers(&format!("/proc/{process}/task")) {
                    let text = fs::read_to_string(format!("/proc/{process}/task/{task}/schedstat")).unwrap_or_default();
                    let charged = text.split_whitespace().next().and_then(|word| word.parse().ok());
                    others.insert(task, charged.unwrap_or_default());
                }
            }
        }
        let usage = fs::read_to_string(CHARGED).expect("cpuacct of version 1");
        Charges {
            all: usage.trim().parse().expect("nanoseconds"),
            own: own_cpu(),
            others,
            workers,
            begun: Charges::tasks_begun(),
        }
    }

    fn tasks_begun() -> u64 {
        let stat = fs::read_to_string("/proc/stat").expect("/proc/stat");
        let begun = stat.lines().find_map(|line| line.strip_prefix("processes ")?.parse().ok());
        begun.expect("the number of tasks so far")
    }

    /// The time charged to the program and to kernel threads since `before`: the whole, minus other tasks, and minus
    /// what this process used outside the program. `None` if another program's task began or ended.
    fn since(&self, before: &Charges, program: Nanos) -> Option<Nanos> {
        let same = self.others.keys().eq(before.others.keys());
        let new_workers = self.workers.saturating_sub(before.workers) as u64;
        let sum = |charges: &Charges| charges.others.values().sum::<u64>();
        let others = sum(self).saturating_sub(sum(before));
        let beside = (self.own - before.own).saturating_sub(program);
        let charged = (self.all - before.all).saturating_sub(others + beside.0);
        (same && self.begun - before.begun <= new_workers).then_some(Nanos(charged))
    }
}

/// PF_KTHREAD of linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// The numeric names among the entries of a folder.
fn numbers(folder: &str) -> Vec<u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
