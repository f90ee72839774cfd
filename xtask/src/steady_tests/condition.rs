//! The conditions under which tests run, and their creation. Each ends with this process, even if it is killed.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clap::ValueEnum;
use testkit::control_group::Group;
use testkit::loop_disk::LoopDisk;

/// Conditions of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Condition {
    /// The machine as it is
    Quiet,
    /// Another computation on each processor
    Busy,
    /// One processor only
    OneProcessor,
    /// Temporary files on a disk of 20 MiB with 500 operations per second
    SlowDisk,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("none is hidden").get_name())
    }
}

impl Condition {
    /// The reason why it cannot be created here; `None` if it can.
    pub fn impossible(self) -> Option<String> {
        match self {
            Condition::SlowDisk => testkit::loop_disk::missing_requirement(&["mkfs.ext4", "mount", "unshare"])
                .or_else(|| no_limits(Path::new(BLKIO)))
                .map(|reason| format!("there can be no slow disk: {reason}")),
            _ => None,
        }
    }
}

/// The folder of the controller that limits disks, in control groups of version 1.
const BLKIO: &str = "/sys/fs/cgroup/blkio";

/// The reason why the controller cannot limit a disk; `None` if it can. Distributions mount version 2 since about 2020.
fn no_limits(controller: &Path) -> Option<String> {
    let file = controller.join("blkio.throttle.read_bps_device");
    let reason = || {
        format!(
            "control groups of version 1 limit it, and there is no {}; boot with systemd.unified_cgroup_hierarchy=0 on \
             the kernel's command line",
            file.display()
        )
    };
    (!file.exists()).then(reason)
}

/// Limits of the slow disk: bytes per second, and operations per second. Those of a cheap virtual disk. A choice.
const SLOW: [(&str, u64); 2] = [("bps", 20 << 20), ("iops", 500)];

/// Bytes of the slow disk: a sparse file, larger than all tests' data at any time.
const DISK: u64 = 16 << 30;

/// Enters the control group `$1`, mounts the device `$2` on `$3` in its own mount namespace, then runs the remaining
/// arguments. The kernel detaches the device when the last process in the namespace has ended, for whatever reason.
const ENTER: &str = "echo $$ > \"$1\" && mount \"$2\" \"$3\"; mounted=$?; losetup --detach \"$2\"; \
                     [ $mounted = 0 ] && chmod 1777 \"$3\" && shift 3 && exec \"$@\"";

/// A condition that was created; it ends when this is dropped.
pub struct Surroundings {
    /// The words before the program that runs in it.
    prefix: Vec<OsString>,
    temporary: Option<PathBuf>,
    _spinners: Option<Spinners>,
    group: Option<Group>,
    disk: Option<PathBuf>,
}

impl Surroundings {
    /// Creates a condition, with its files in `folder`.
    pub fn make(condition: Condition, folder: &Path) -> Result<Surroundings, String> {
        let mut made = Surroundings { prefix: Vec::new(), temporary: None, _spinners: None, group: None, disk: None };
        match condition {
            Condition::Quiet => {}
            Condition::Busy => made._spinners = Some(Spinners::start()),
            Condition::OneProcessor => made.prefix = words(&["taskset", "--cpu-list", &first_processor()?]),
            Condition::SlowDisk => made.slow_disk(folder)?,
        }
        Ok(made)
    }

    /// Creates a file system on its own loop device, whose speed the control group limits. In version 1, the limit
    /// applies to reads, direct writes and the writes of a sync, but not to writeback by kernel threads. Version 2 is
    /// not supported.
    fn slow_disk(&mut self, folder: &Path) -> Result<(), String> {
        let failed = |error| format!("there can be no slow disk: {error}");
        let (image, point) = (folder.join("steady-tests.disk"), folder.join("steady-tests.mount"));
        fs::create_dir_all(&point).map_err(failed)?;
        // The tests of an earlier call may still run after a kill of the program that started them.
        if let Some(device) = loop_device_on(&image) {
            return Err(format!(
                "there can be no slow disk: {device} still shows {}; it is free when the tests of an earlier call have \
                 ended",
                image.display()
            ));
        }
        self.disk = Some(image.clone());
        File::create(&image).and_then(|file| file.set_len(DISK)).map_err(failed)?;
        let device = LoopDisk::attach(&image)?;
        testkit::run_tool("mkfs.ext4", &["-q", &device.node().to_string_lossy()]);
        let group = Group::new("blkio")?;
        for way in ["read", "write"] {
            for (unit, limit) in SLOW {
                let file = format!("blkio.throttle.{way}_{unit}_device");
                group.set(&file, &format!("{} {limit}", device.number()))?;
            }
        }
        self.prefix = words(&["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh"]);
        self.prefix.extend([
            group.folder().join("cgroup.procs").into(),
            device.give_away().into(),
            point.clone().into(),
        ]);
        self.temporary = Some(point);
        self.group = Some(group);
        Ok(())
    }

    /// The command that runs the program in this condition.
    pub fn command(&self, program: &Path) -> Command {
        let mut words = self.prefix.iter().cloned().chain([program.into()]);
        let mut command = Command::new(words.next().expect("the program at least"));
        command.args(words);
        if let Some(folder) = &self.temporary {
            command.env("TMPDIR", folder);
        }
        command
    }
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        // Tests may still run after a kill of the program that started them.
        let is_empty = |group: &Group| group.get("cgroup.procs").is_ok_and(|list| list.is_empty());
        if let Some(group) = self.group.take()
            && !testkit::becomes_true(|| is_empty(&group))
        {
            eprintln!("tests still run in the control group {}", group.folder().display());
            // The removal would fail, and panic.
            std::mem::forget(group);
        }
        // Frees the disk space. The next call uses the file again.
        if let Some(image) = &self.disk
            && let Err(error) = File::create(image)
        {
            eprintln!("{} keeps its space: {error}", image.display());
        }
    }
}

/// The loop device backed by a file, if there is one (/sys/block/loopN/loop/backing_file).
fn loop_device_on(file: &Path) -> Option<String> {
    let file = file.canonicalize().ok()?;
    let shows = |device: &Path| {
        let backing = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
        Path::new(backing.trim_end()) == file
    };
    let devices = fs::read_dir("/sys/block").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let device = devices.into_iter().find(|device| shows(device))?;
    Some(format!("/dev/{}", device.file_name()?.to_string_lossy()))
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(Into::into).collect()
}

/// The number of the first processor on which this process may run.
fn first_processor() -> Result<String, String> {
    let failed = |error| format!("cannot ask for the processors: {error}");
    let allowed = rustix::thread::sched_getaffinity(None).map_err(failed)?;
    let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|number| allowed.is_set(*number));
    first.map(|number| number.to_string()).ok_or_else(|| "there is no processor".to_owned())
}

/// Busy threads, one per processor.
struct Spinners {
    are_over: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Spinners {
    fn start() -> Spinners {
        let are_over = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let are_over = Arc::clone(&are_over);
            thread::spawn(move || while !are_over.load(Ordering::Relaxed) {})
        };
        let threads = (0..thread::available_parallelism().map_or(1, usize::from)).map(spin).collect();
        Spinners { are_over, threads }
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        self.are_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The thread cannot fail.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_disk_needs_cgroups_version_1() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let reason = no_limits(folder.path()).expect("a reason");
        assert!(reason.contains("version 1") && reason.contains("blkio.throttle.read_bps_device"), "{reason}");
        fs::write(folder.path().join("blkio.throttle.read_bps_device"), "").expect("a file");
        assert_eq!(no_limits(folder.path()), None);
        for condition in [Condition::Quiet, Condition::Busy, Condition::OneProcessor] {
            assert_eq!(condition.impossible(), None);
        }
    }
}
