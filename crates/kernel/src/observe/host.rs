//! The machine that a measurement ran on. A number means nothing without it.

use std::collections::BTreeMap;
use std::time::Duration;

use procfs::process::Process;
use procfs::{Current, Meminfo};

use crate::observe::counters::Source;
use crate::sys::read_limited;

/// The machine that runs this program.
#[derive(Clone, Debug)]
pub struct Host {
    /// The kernel's name and release: `Linux 6.18.44`.
    pub kernel: String,
    /// Number of processors that this program may use.
    pub cpus: usize,
    /// Bytes of memory. `None` if the kernel does not show it.
    pub memory_bytes: Option<u64>,
    /// The host name.
    pub name: String,
    /// Kernel settings that affect every device, as in `vm.dirty_ratio`.
    pub settings: BTreeMap<String, String>,
}

/// The random number of the last boot of this machine. `None` if it is not visible.
pub fn boot_id() -> Option<String> {
    Some(read_limited::of_the_kernel("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// Number of online processors of the machine, including those that this program may not use. `None` if not visible.
pub fn processors() -> Option<u32> {
    let text = read_limited::of_the_kernel("/proc/stat").ok()?;
    let is_one =
        |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    Some(text.lines().filter(is_one).count() as u32).filter(|count| *count > 0)
}

impl Host {
    /// Reads the properties of this machine.
    pub fn this() -> Host {
        let system = rustix::system::uname();
        let text = |part: &std::ffi::CStr| units::name::text(part.to_bytes()).into_owned();
        Host {
            kernel: format!("{} {}", text(system.sysname()), text(system.release())),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
            name: text(system.nodename()),
            settings: Source::default().kernel_settings(),
        }
    }
}

/// Bytes that this process wrote, or caused to be written, to devices. `None` if the kernel does not count them.
pub fn written_by_this_process() -> Option<u64> {
    Some(Process::myself().ok()?.io().ok()?.write_bytes)
}

/// Time since boot, including suspend; up to one second too short.
pub fn uptime() -> Duration {
    Duration::from_secs(u64::try_from(rustix::system::sysinfo().uptime).unwrap_or(0))
}
