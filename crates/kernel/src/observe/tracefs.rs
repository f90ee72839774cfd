//! Tracefs, the folder of the kernel's tracer, and private instances in it.
//!
//! Policy:
//!   1. a mounted tracefs is used. If there is none, diskperf mounts one that no other process sees: it is not attached
//!      to any mount tree, and ends when its descriptor is closed;
//!   2. an instance has its own events, filters and buffers. Its name contains [`PREFIX`] and the identity of this
//!      process. If this process is killed (`kill -9`), the next recording recognizes the instance by its name and
//!      removes it;
//!   3. dropping an instance removes it with its buffers.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use crate::sys::process_identity::ProcessIdentity;
use crate::sys::read_limited;

/// The prefix of the names of our instances.
pub(crate) const PREFIX: &str = "diskperf-";

/// The usual places of tracefs (Documentation/trace/ftrace.rst).
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The number of instances that this process has made, for their names.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A tracefs that can be used.
#[derive(Debug)]
pub(crate) struct Tracefs {
    folder: PathBuf,
    /// The mount, if it is ours.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds a tracefs, or mounts one.
    pub(crate) fn open() -> io::Result<Tracefs> {
        // 1.
        let mounted = PLACES.iter().map(Path::new).find(|place| place.join("instances").is_dir());
        if let Some(place) = mounted {
            return Ok(Tracefs { folder: place.to_owned(), _mount: None });
        }
        let context = rustix::mount::fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        rustix::mount::fsconfig_create(context.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let mount = rustix::mount::fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        let folder = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { folder, _mount: Some(mount) })
    }

    /// Makes an instance. First removes the instances of processes that have ended.
    pub(crate) fn instance(self) -> io::Result<Instance> {
        self.remove_left();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join("instances").join(format!("{}-{number}", name_of_this_process()));
        fs::create_dir(&folder)?;
        Ok(Instance { folder, _tracefs: self })
    }

    /// Removes the instances of processes that ended. Errors are ignored: another process may do the same.
    fn remove_left(&self) {
        let entries = fs::read_dir(self.folder.join("instances")).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_left)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Removes the instances of processes that ended. Does nothing if no tracefs is visible.
pub fn remove_left_instances() {
    if let Some(folder) = PLACES.iter().map(PathBuf::from).find(|place| place.join("instances").is_dir()) {
        Tracefs { folder, _mount: None }.remove_left();
    }
}

/// The beginning of the names of this process's instances. It contains the words of its identity, except for the boot
/// ID.
fn name_of_this_process() -> String {
    let identity = ProcessIdentity::this().to_string();
    let words: Vec<&str> = identity.split(' ').collect();
    let [pid, started, _, namespace] = words[..] else { return format!("{PREFIX}{}-0-", std::process::id()) };
    format!("{PREFIX}{pid}-{started}-{namespace}")
}

/// True if the instance of this name is ours and its process has ended.
fn is_left(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let mut words = rest.splitn(3, '-');
    let (Some(pid), Some(started), Some(rest)) = (words.next(), words.next(), words.next()) else { return false };
    let Some((namespace, _)) = rest.rsplit_once('-') else { return false };
    // The boot ID is empty, because instances do not outlive a boot.
    format!("{pid} {started}  {namespace}").parse::<ProcessIdentity>().is_ok_and(|owner| !owner.lives())
}

/// An instance of the tracer. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    folder: PathBuf,
    _tracefs: Tracefs,
}

impl Instance {
    /// Writes a value to a file of the instance, as in `tracing_on`.
    pub(crate) fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.folder.join(file), value)
    }

    /// Opens a file of the instance for reading. It must be closed before the instance is dropped.
    pub(crate) fn open(&self, file: &str) -> io::Result<File> {
        File::open(self.folder.join(file))
    }

    /// Events that the buffers of all processors have lost since they were emptied.
    pub(crate) fn lost(&self) -> io::Result<u64> {
        let mut lost = 0;
        for processor in fs::read_dir(self.folder.join("per_cpu"))? {
            lost += lost_in(&read_limited::of_the_kernel(processor?.path().join("stats"))?);
        }
        Ok(lost)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join("tracing_on"), "0");
        // If a file in it is still open, the next process removes it.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Lost events in the statistics of one processor's buffer (kernel/trace/trace.c, `tracing_stats_read`).
fn lost_in(stats: &str) -> u64 {
    let of = |name: &str| {
        let value = stats.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        value.unwrap_or(0)
    };
    of("overrun:") + of("commit overrun:") + of("dropped events:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_instances_of_ended_processes_are_left() {
        let this = format!("{}-0", name_of_this_process());
        assert!(!is_left(&this), "{this}");
        let mut words = this.splitn(4, '-');
        let (pid, started, namespace) = (words.nth(1), words.next(), words.next());
        let (pid, started) = (pid.expect("a pid"), started.expect("a time").parse::<u64>().expect("a number"));
        let namespace = namespace.expect("a namespace");
        assert!(is_left(&format!("diskperf-{pid}-{}-{namespace}", started + 1)), "the number was used again");
        assert!(!is_left("diskperf-1-2") && !is_left("other-1-2-x-0") && !is_left("diskperf-x-2-pid:[1]-0"));
        assert!(!is_left(&format!("diskperf-{pid}-{}-pid:[1]-0", started + 1)), "it cannot be seen from here");
    }

    #[test]
    fn lost_events_are_of_all_kinds() {
        let stats = "entries: 5\noverrun: 1\ncommit overrun: 2\nbytes: 9\ndropped events: 4\nread events: 0\n";
        assert_eq!((lost_in(stats), lost_in("entries: 5\n")), (7, 0));
    }
}
