//! What this user can do here and what this kernel shows, tried out: each probe does what a measurement would, on
//! things of its own, and leaves nothing behind. Says what it found and judges nothing.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::thread;

use procfs::Current;
use rustix::fs::Access;
use rustix::process::{Resource, getrlimit};
use units::Nanos;

use crate::errors::said;
use crate::guard::Cleared;
use crate::observe::block_device::Device;
use crate::observe::block_stack;
pub use crate::observe::counters::{GroupsSeen, Reach};
use crate::observe::counters::{Source, groups_seen, ready_time};
use crate::observe::host::Host;
use crate::observe::kernel_threads::WorkerTimes;
use crate::observe::mount::{Place, takes_direct};
use crate::page_cache::{DROP_CACHES, Probe, Sight};
use crate::provision::image_fault::ImageFault;
use crate::provision::image_file::UnnamedFile;
use crate::provision::memory_limit::{LimitError, MemoryLimit};
use crate::provision::mkfs::tool;
use crate::provision::mounts::{PrivateMounts, knows};
use crate::provision::workspace::Workspace;
use crate::sys::clocks::now;
use crate::sys::read_limited;
use crate::sys::rights::may_administer;
use crate::world::uring::{self, Lack};

/// What was found at one place.
#[derive(Debug)]
pub struct Found {
    /// Whether the user is root, by name.
    pub is_root: bool,
    /// Whether the process may administer the system (`CAP_SYS_ADMIN`).
    pub may_administer: bool,
    /// The kernel's name and release.
    pub kernel: String,
    /// What lies under the directory.
    pub place: Place,
    /// Whether a private folder can be made in it.
    pub folder: Result<(), String>,
    /// Whether files in it open past the page cache; nothing where no file can be made.
    pub direct: Option<bool>,
    /// How the page cache can be seen there; nothing where no file can be made.
    pub eyes: Option<Eyes>,
    /// Whether this process can have mounts that nobody else sees.
    pub private_mounts: Result<(), String>,
    /// Whether a file there can be a loop device, and that with direct I/O.
    pub loop_device: Result<bool, String>,
    /// File systems that images can have.
    pub file_systems: Vec<FileSystem>,
    /// Whether the caches of the machine can be dropped.
    pub drop_caches: Result<(), String>,
    /// Whether a control group can limit this process's memory.
    pub memory_limit: Result<(), String>,
    /// What of the groups' limits can be seen.
    pub groups: GroupsSeen,
    /// What io_uring has to do without for a queue as of databases, or why there is none.
    pub ring: Result<Vec<Lack>, String>,
    /// Which pressures can be seen: of processors, of I/O, of memory.
    pub pressure: [bool; 3],
    /// Whether waiting for a processor can be seen.
    pub run_delay: bool,
    /// Whether the bytes charged to this process can be seen.
    pub task_io: bool,
    /// Whether the CPU time of kernel threads can be seen.
    pub kernel_threads: bool,
    /// The device under the directory.
    pub device: Option<DeviceFound>,
    /// The clock.
    pub clock: ClockFound,
    /// Whether this is a virtual machine; nothing where it cannot be told.
    pub virtualised: Option<bool>,
    /// Whether this is a container.
    pub container: bool,
    /// How many files may be open at once; nothing where there is no limit.
    pub open_files: Option<u64>,
    /// How many bytes a file may have; nothing where there is no limit.
    pub file_bytes: Option<u64>,
}

/// How the page cache can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eyes {
    /// By cachestat(2): also what is not yet written.
    Cachestat,
    /// By mincore(2) only.
    Mincore,
    /// There is nothing but memory.
    MemoryOnly,
    /// No probe tells the truth.
    Blind,
}

/// A file system that an image can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// `ext4`, `xfs`, ...
    pub name: &'static str,
    /// Whether its mkfs is there; else the package that brings it.
    pub tool: Result<(), Option<&'static str>>,
    /// Whether the kernel has it; nothing where that cannot be asked.
    pub mountable: Option<bool>,
}

/// A device as it is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFound {
    /// Its name.
    pub name: String,
    /// Whether its counters can be read.
    pub counts: bool,
    /// Whether it counts flushes and their time.
    pub counts_flushes: bool,
    /// Its write cache, as the kernel believes.
    pub write_cache: Option<String>,
    /// The devices below it.
    pub below: Vec<String>,
    /// Whether its queue can be tuned.
    pub tunable: bool,
    /// Whether it can be read as a device.
    pub readable: bool,
}

/// The clock as it is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockFound {
    /// What the kernel takes the time from: `tsc`, `kvm-clock`, ...
    pub source: Option<String>,
    /// The smallest step that was seen.
    pub quantum: Nanos,
}

/// The file systems that people ask for. Others work too where there is a mkfs.
const FILE_SYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// Bytes of the file under the loop device: no file system is put on it. A multiple of every sector.
const LOOP_BYTES: u64 = 1 << 20;

/// The limit that is tried: far more than this process has.
const MEMORY: u64 = 1 << 30;

/// How often the clock is read to see its step. Guess: a step shows at the second reading with most clocks; where
/// the clock steps by the tick, it is looked at for as long as it takes.
const READINGS: usize = 1000;

impl Found {
    /// Looks around in a directory, which must exist.
    pub fn at(directory: &Path) -> io::Result<Found> {
        let place = Place::under(directory)?;
        let workspace = Workspace::inside(directory).map_err(|fault| fault.to_string());
        let eyes = workspace.as_ref().ok().and_then(|workspace| workspace.scratch().ok()).map(|file| {
            match Sight::tested_on_scratch(file) {
                Sight::Through(Probe::Cachestat) => Eyes::Cachestat,
                Sight::Through(Probe::Mincore) => Eyes::Mincore,
                Sight::MemoryOnly => Eyes::MemoryOnly,
                Sight::Blind => Eyes::Blind,
            }
        });
        let source = Source::default();
        let reads = |path: &str| read_limited::of_the_kernel(path).is_ok_and(|text| !text.is_empty());
        Ok(Found {
            is_root: rustix::process::geteuid().is_root(),
            may_administer: may_administer(),
            kernel: Host::this().kernel,
            direct: workspace.is_ok().then(|| takes_direct(directory)),
            folder: workspace.map(drop),
            eyes,
            private_mounts: private_mounts(),
            loop_device: loop_device(directory).map_err(|fault| fault.to_string()),
            file_systems: FILE_SYSTEMS.map(file_system).to_vec(),
            drop_caches: OpenOptions::new()
                .write(true)
                .open(DROP_CACHES)
                .map(drop)
                .map_err(|error| said(&error).to_string()),
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

/// In a thread, whose mounts end with it.
fn private_mounts() -> Result<(), String> {
    let entered = thread::spawn(|| PrivateMounts::enter().map(drop).map_err(|fault| fault.to_string()));
    entered.join().unwrap_or_else(|_| Err("the attempt failed".to_owned()))
}

/// On a file without a name; both are gone with the answer.
fn loop_device(directory: &Path) -> Result<bool, ImageFault> {
    let file = UnnamedFile::make(directory, LOOP_BYTES)?;
    Ok(Cleared::on_own_file(&file)?.is_direct())
}

/// In a group of its own, which is gone with the answer.
fn memory_limit() -> Result<(), String> {
    MemoryLimit::new(MEMORY).map(drop).map_err(|error| match error {
        // The path has a number in it that says nothing.
        LimitError::Refused { source, .. } => format!("no group below the own one: {}", said(&source)),
        other => other.to_string(),
    })
}

fn file_system(name: &'static str) -> FileSystem {
    let listed = read_limited::of_the_kernel("/proc/filesystems")
        .is_ok_and(|text| text.lines().any(|line| line.split_whitespace().last() == Some(name)));
    // Asking loads the module, where there is one; only who may mount may ask.
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
        below: block_stack::under(device)
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

/// By the flag that processors of x86 show to guests, and by what guests of Xen have.
fn virtualised() -> Option<bool> {
    if Path::new("/sys/hypervisor/type").exists() {
        return Some(true);
    }
    let processors = procfs::CpuInfo::current().ok()?;
    let flags = processors.flags(0)?;
    Some(flags.contains(&"hypervisor"))
}
