//! Probes for `doctor`: what this user can do here, and what this kernel shows. Each probe does what a measurement
//! would do, on files and devices of its own, and removes them. It reports findings and judges nothing.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::thread;

use procfs::Current;
use rustix::fs::Access;
use rustix::process::{Resource, getrlimit};
use units::Nanos;

use crate::errors::message;
use crate::guard::Cleared;
use crate::observe::block_device::Device;
pub use crate::observe::counters::{GroupsSeen, Reach};
use crate::observe::counters::{Source, groups_seen, ready_time};
use crate::observe::host::Host;
use crate::observe::kernel_threads::WorkerTimes;
use crate::observe::mount::{Place, devices_under, takes_direct};
use crate::page_cache::DROP_CACHES;
pub use crate::page_cache::{CacheProbe, Probe};
use crate::provision::image_fault::ImageFault;
use crate::provision::image_file::UnnamedFile;
use crate::provision::memory_limit::{LimitError, MemoryLimit};
use crate::provision::mkfs::tool;
use crate::provision::mounts::{PrivateMounts, knows};
use crate::provision::workspace::Workspace;
use crate::sys::clocks::now;
use crate::sys::read_limited;
use crate::sys::rights::may_administer;
use crate::world::uring::{self, Degradation};

/// Findings about one directory and this machine.
#[derive(Debug)]
pub struct Found {
    /// True if the effective user is root.
    pub is_root: bool,
    /// True if the process has `CAP_SYS_ADMIN`.
    pub may_administer: bool,
    /// The kernel's name and release.
    pub kernel: String,
    /// The mount and device under the directory.
    pub place: Place,
    /// Success if a private folder can be created in the directory.
    pub folder: Result<(), String>,
    /// True if files in the directory open with O_DIRECT; `None` if no file can be created there.
    pub direct: Option<bool>,
    /// Method that shows the page cache of files in the directory; `None` if no file can be created there.
    pub cache_probe: Option<CacheProbe>,
    /// Success if this process can have a private mount namespace.
    pub private_mounts: Result<(), String>,
    /// Success if a file in the directory can be attached to a loop device; true if that device uses direct I/O.
    pub loop_device: Result<bool, String>,
    /// File systems that images can have.
    pub file_systems: Vec<FileSystem>,
    /// Success if the machine's page cache can be dropped.
    pub drop_caches: Result<(), String>,
    /// Success if a control group can limit this process's memory.
    pub memory_limit: Result<(), String>,
    /// The visible limits of control groups.
    pub groups: GroupsSeen,
    /// Features that io_uring lacks at queue depth 32 with 4 KiB blocks, as databases use it; or the reason why there
    /// is no io_uring.
    pub ring: Result<Vec<Degradation>, String>,
    /// True if pressure (PSI) is visible for the CPU, for I/O and for memory, in this order.
    pub pressure: [bool; 3],
    /// True if the time spent waiting for a CPU is visible.
    pub run_delay: bool,
    /// True if the bytes charged to this process are visible.
    pub task_io: bool,
    /// True if the CPU time of kernel threads is visible.
    pub kernel_threads: bool,
    /// The device under the directory, if there is one.
    pub device: Option<DeviceFound>,
    /// The host's clock.
    pub clock: ClockFound,
    /// True in a virtual machine; `None` if that cannot be detected.
    pub virtualised: Option<bool>,
    /// True in a container.
    pub container: bool,
    /// Maximum number of open files; `None` if unlimited.
    pub open_files: Option<u64>,
    /// Maximum size of a file, in bytes; `None` if unlimited.
    pub file_bytes: Option<u64>,
}

/// A file system that an image can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its name: `ext4`, `xfs`, ...
    pub name: &'static str,
    /// Success if its mkfs is installed; else the package that has it, if known.
    pub tool: Result<(), Option<&'static str>>,
    /// True if the kernel supports it; `None` if this user cannot ask.
    pub mountable: Option<bool>,
}

/// Findings about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFound {
    /// Its name, as under /dev.
    pub name: String,
    /// True if its counters can be read.
    pub counts: bool,
    /// True if it counts flushes and their time.
    pub counts_flushes: bool,
    /// Its write cache mode, as the kernel assumes it.
    pub write_cache: Option<String>,
    /// Names of the devices below it.
    pub below: Vec<String>,
    /// True if this user may change its queue settings.
    pub tunable: bool,
    /// True if this user may read the device itself.
    pub readable: bool,
}

/// Findings about the host's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockFound {
    /// The kernel's clock source: `tsc`, `kvm-clock`, ...
    pub source: Option<String>,
    /// The smallest step that was observed.
    pub quantum: Nanos,
}

/// The file systems that `doctor` reports, a choice. Others work too if their mkfs is installed.
const FILE_SYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Size of the file behind the loop device, in bytes. It gets no file system. A multiple of every sector size.
const LOOP_BYTES: u64 = 1 << 20;

/// The memory limit that is tried, in bytes: far more than this process uses.
const MEMORY: u64 = 1 << 30;

/// Number of steps of the clock that are observed. Guess: most clocks step between two readings. If the clock steps
/// with the timer tick, this takes as many ticks.
const READINGS: usize = 1000;

impl Found {
    /// Probes a directory, which must exist.
    pub fn probe(directory: &Path) -> io::Result<Found> {
        let workspace = Workspace::inside(directory).map_err(|fault| fault.to_string());
        // Only a new file shows the storage of an overlay.
        let place = workspace.as_ref().map_or_else(|_| Place::under(directory), Workspace::place)?;
        let cache_probe =
            workspace.as_ref().ok().and_then(|workspace| workspace.scratch().ok()).map(CacheProbe::tested_on_scratch);
        let source = Source::default();
        let reads = |path: &str| read_limited::of_the_kernel(path).is_ok_and(|text| !text.is_empty());
        Ok(Found {
            is_root: rustix::process::geteuid().is_root(),
            may_administer: may_administer(),
            kernel: Host::this().kernel,
            direct: workspace.is_ok().then(|| takes_direct(directory)),
            folder: workspace.map(drop),
            cache_probe,
            private_mounts: private_mounts(),
            loop_device: loop_device(directory).map_err(|fault| fault.to_string()),
            file_systems: FILE_SYSTEMS.map(file_system).to_vec(),
            drop_caches: OpenOptions::new()
                .write(true)
                .open(DROP_CACHES)
                .map(drop)
                .map_err(|error| message(&error).to_string()),
            memory_limit: memory_limit(),
            groups: groups_seen(&source),
            ring: uring::trial(),
            pressure: ["cpu", "io", "memory"].map(|what| reads(&format!("/proc/pressure/{what}"))),
            run_delay: ready_time().is_some(),
            task_io: source.accounts().is_some(),
            kernel_threads: WorkerTimes::read().is_some(),
            device: place.device.as_ref().map(device),
            place,
            clock: clock(),
            virtualised: virtualised(),
            container: ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"]
                .into_iter()
                .any(|path| Path::new(path).exists()),
            open_files: getrlimit(Resource::Nofile).current,
            file_bytes: getrlimit(Resource::Fsize).current,
        })
    }
}

/// In a thread of its own, because the mount namespace ends with the thread.
fn private_mounts() -> Result<(), String> {
    let entered = thread::spawn(|| PrivateMounts::enter().map(drop).map_err(|fault| fault.to_string()));
    entered.join().unwrap_or_else(|_| Err("the attempt failed".to_owned()))
}

/// On an unnamed file. File and loop device are removed before this returns.
fn loop_device(directory: &Path) -> Result<bool, ImageFault> {
    let file = UnnamedFile::make(directory, LOOP_BYTES)?;
    Ok(Cleared::on_own_file(&file)?.is_direct())
}

/// In a new control group, which is removed before this returns.
fn memory_limit() -> Result<(), String> {
    MemoryLimit::new(MEMORY).map(drop).map_err(|error| match error {
        // The message leaves out the path: it has a meaningless number in it.
        LimitError::Refused { source, .. } => format!("cannot create a control group: {}", message(&source)),
        other => other.to_string(),
    })
}

fn file_system(name: &'static str) -> FileSystem {
    let listed = read_limited::of_the_kernel("/proc/filesystems")
        .is_ok_and(|text| text.lines().any(|line| line.split_whitespace().last() == Some(name)));
    // This query loads the kernel module if there is one. It needs the right to mount.
    let mountable = if listed { Some(true) } else { may_administer().then(|| knows(name)) };
    FileSystem { name, tool: tool(name), mountable }
}

fn device(device: &Device) -> DeviceFound {
    let used = device.used();
    let may = |path: &Path, access: Access| rustix::fs::access(path, access).is_ok();
    DeviceFound {
        name: device.name.clone(),
        counts: used.is_some(),
        counts_flushes: used.is_some_and(|used| used.flushing.is_some()),
        write_cache: device.write_cache(),
        below: devices_under(device)
            .into_iter()
            .filter(|(_, depth)| *depth > 0)
            .map(|(device, _)| device.name)
            .collect(),
        tunable: device.queue().is_some_and(|queue| may(&queue.join("scheduler"), Access::WRITE_OK)),
        readable: may(&device.node(), Access::READ_OK),
    }
}

fn clock() -> ClockFound {
    let source = read_limited::of_the_kernel("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let mut quantum = Nanos(u64::MAX);
    let mut last = now();
    for _ in 0..READINGS {
        let mut this = now();
        while this == last {
            this = now();
        }
        quantum = quantum.min(this.since(last));
        last = this;
    }
    ClockFound { source: source.ok().map(|text| text.trim().to_owned()), quantum }
}

/// Checks the `hypervisor` flag that x86 processors show to guests, and /sys/hypervisor, which Xen guests have.
fn virtualised() -> Option<bool> {
    if Path::new("/sys/hypervisor/type").exists() {
        return Some(true);
    }
    let processors = procfs::CpuInfo::current().ok()?;
    let flags = processors.flags(0)?;
    Some(flags.contains(&"hypervisor"))
}
