//! What a found ability means for a measurement, and how to get what is missing: a pure function of what was found.

use kernel::Lack;
use kernel::abilities::{ClockFound, DeviceFound, Eyes, FileSystem, Found, GroupsSeen, Reach};
use stats::{Ability, Check};
use units::Nanos;

use crate::kernels::{OLDEST, Release};

/// File systems whose files have no device of their own that could be seen.
const WITHOUT_DEVICE: [&str; 8] = ["overlay", "fuse", "fuseblk", "nfs", "nfs4", "cifs", "9p", "virtiofs"];

/// A clock that steps by more cannot time single calls: a call takes about half of it.
const FINE: Nanos = Nanos::from_micros(1);

/// Below so many open files `diskperf` would fail: it holds a few dozen at once, descriptors of its own included.
const OPEN_FILES: u64 = 64;

/// The least size of a file that the presets can do with: that of 1983.
const FILE_BYTES: u64 = 8 << 20;

/// All checks, in the order in which a person asks.
pub fn checks(found: &Found) -> Vec<Check> {
    let mut checks = vec![rights(found), kernel(found), folder(found), file_system(found), direct(found)];
    checks.extend([ring(found), page_cache(found)]);
    checks.push(drop_caches(found));
    checks.extend(device(found));
    checks.extend([private_mounts(found), loop_device(found)]);
    checks.extend(found.file_systems.iter().map(mkfs));
    checks.push(tuning(found));
    checks.push(memory_limit(found));
    checks.extend(limits(&found.groups, found.container));
    checks.extend([pressure(found.pressure), run_delay(found), task_io(found), kernel_threads(found)]);
    checks.extend([clock(&found.clock), virtualised(found), open_files(found)]);
    checks
}

fn check(name: &str, state: Ability, why: impl Into<String>, how: Option<&str>) -> Check {
    Check { check: name.to_owned(), state, why: why.into(), how: how.map(str::to_owned) }
}

fn rights(found: &Found) -> Check {
    let name = "rights";
    match (found.is_root, found.may_administer) {
        (true, true) => check(name, Ability::Yes, "root, with CAP_SYS_ADMIN", None),
        (false, true) => check(name, Ability::Yes, "CAP_SYS_ADMIN, without being root", None),
        (true, false) => {
            let why = "root by name, without CAP_SYS_ADMIN: no images, no mounts";
            check(name, Ability::Partly, why, Some("in a container: start it with --privileged"))
        }
        (false, false) => {
            let why = "an ordinary user: directories and own files, no images, no tuning, no raw device";
            check(name, Ability::Partly, why, Some("sudo diskperf ..."))
        }
    }
}

fn kernel(found: &Found) -> Check {
    let name = "kernel";
    let Some(release) = Release::of(&found.kernel) else {
        return check(name, Ability::Partly, format!("{}: its age cannot be told", found.kernel), None);
    };
    let lacks: Vec<String> = release.lacks().map(|(since, what)| format!("{what} (from {since})")).collect();
    if release < OLDEST {
        let why = format!("{release}, and the oldest that works is {OLDEST}");
        check(name, Ability::No, why, Some("a newer kernel"))
    } else if lacks.is_empty() {
        check(name, Ability::Yes, format!("{release}: a newer one would not give more"), None)
    } else {
        check(name, Ability::Partly, format!("{release}, without {}", lacks.join(", ")), Some("a newer kernel"))
    }
}

fn folder(found: &Found) -> Check {
    match &found.folder {
        Ok(()) => check("private folder", Ability::Yes, "programs can run in this directory", None),
        Err(why) => check("private folder", Ability::No, why, Some("name a directory that you may write to")),
    }
}

fn file_system(found: &Found) -> Check {
    let name = "file system";
    let fill = format!("{:.0} % full", found.place.fill_percent());
    match found.place.file_system.as_deref() {
        None => check(name, Ability::Partly, "the mount table does not show which one", None),
        Some(memory @ ("tmpfs" | "ramfs")) => {
            let why = format!("{memory}: everything lies in memory, so nothing is cold, durable or on a device");
            check(name, Ability::Partly, why, Some("name a directory on a disk"))
        }
        Some(known) if WITHOUT_DEVICE.contains(&known) || known.starts_with("fuse.") => {
            let why = format!("{known}, {fill}: lies on another file system or machine that cannot be seen from here");
            let how = match known {
                "overlay" => "name a directory that is no layer of a container: a volume",
                _ => "measure where the storage itself is, too",
            };
            check(name, Ability::Partly, why, Some(how))
        }
        Some(known) => check(name, Ability::Yes, format!("{known}, {fill}"), None),
    }
}

fn direct(found: &Found) -> Check {
    let name = "O_DIRECT";
    match found.direct {
        // Newer kernels open them so all the same.
        Some(_) if found.eyes == Some(Eyes::MemoryOnly) => {
            check(name, Ability::No, "files here lie in memory only: randread is n.m.", Some("name a disk"))
        }
        None => check(name, Ability::No, "no file can be made here to try it on", Some(WRITABLE)),
        Some(true) => check(name, Ability::Yes, "files open past the page cache: randread can be measured", None),
        Some(false) => {
            let why = "this file system has no direct I/O: randread is n.m.";
            check(name, Ability::No, why, Some("another file system, as ext4, xfs or btrfs"))
        }
    }
}

fn ring(found: &Found) -> Check {
    let name = "io_uring";
    match &found.ring {
        Err(why) => {
            let why = format!("{why}: one operation is under way at a time");
            check(name, Ability::No, why, Some("sysctl kernel.io_uring_disabled=0; in a sandbox, allow io_uring_setup"))
        }
        Ok(lacks) => match lacks.first() {
            None => {
                check(name, Ability::Yes, "several operations can be under way at once, with registered buffers", None)
            }
            Some(lack) => {
                let how = if *lack == Lack::LockedMemory { "ulimit -l unlimited" } else { "a newer kernel" };
                check(name, Ability::Partly, lack.to_string(), Some(how))
            }
        },
    }
}

/// What to do where no file can be made.
const WRITABLE: &str = "name a directory that you may write to";

fn page_cache(found: &Found) -> Check {
    let name = "page cache seen";
    match found.eyes {
        None => check(name, Ability::No, "no file can be made here to try it on", Some(WRITABLE)),
        Some(Eyes::Cachestat) => {
            check(name, Ability::Yes, "cachestat told the truth about a file: cold, warm and dirty can be proven", None)
        }
        Some(Eyes::Mincore) => {
            let why = "mincore told the truth, cachestat did not: cold and warm can be proven, dirty cannot";
            check(name, Ability::Partly, why, Some("Linux 6.5 or later, and no overlay or FUSE"))
        }
        Some(Eyes::MemoryOnly) => {
            check(name, Ability::Partly, "all files are always in memory: warm, never cold", Some("name a disk"))
        }
        Some(Eyes::Blind) => {
            let why = "no probe told the truth about a file: the state of the cache is unknown";
            check(name, Ability::No, why, Some("another file system; in a sandbox, allow cachestat and mincore"))
        }
    }
}

fn drop_caches(found: &Found) -> Check {
    let name = "drop caches";
    match &found.drop_caches {
        Ok(()) => check(name, Ability::Yes, "--drop-caches can have names and directories cold, too", None),
        Err(why) => {
            let why = format!("/proc/sys/vm/drop_caches: {why}; files can be cold without it, names cannot");
            check(name, Ability::No, why, Some(rise(found)))
        }
    }
}

/// How to get what needs rights.
fn rise(found: &Found) -> &'static str {
    match (found.is_root, found.container) {
        (true, _) => "start the container with --privileged",
        (false, true) => "be root in the container, and start that with --privileged",
        (false, false) => "run as root: sudo diskperf ...",
    }
}

fn device(found: &Found) -> Vec<Check> {
    let name = "device counters";
    let Some(device) = &found.device else {
        let why = "no device can be seen under this directory: bytes, flushes and what limited are n.m.";
        return vec![check(
            name,
            Ability::No,
            why,
            Some("measure where the storage is attached, or on a volume of it"),
        )];
    };
    let DeviceFound { name: device_name, below, .. } = device;
    let stack = if below.is_empty() { device_name.clone() } else { format!("{device_name} on {}", below.join(", ")) };
    let counters = match (device.counts, device.counts_flushes) {
        (true, true) => check(name, Ability::Yes, format!("{stack}: bytes, requests and flushes"), None),
        (true, false) => {
            let why = format!("{stack}: bytes and requests, no flushes");
            check(name, Ability::Partly, why, Some("Linux 5.5 or later"))
        }
        (false, _) => check(name, Ability::No, format!("{stack} has no counters in /sys"), Some("mount /sys there")),
    };
    let cache = "write cache";
    let write_cache = match device.write_cache.as_deref() {
        Some("write through") => {
            let why = "write through: the kernel sends no flush. Where that was written by hand, durable is not true";
            check(cache, Ability::Partly, why, Some("compare with what the drive itself says, as hdparm -W does"))
        }
        Some(known) => check(cache, Ability::Yes, format!("{known}: a flush must be seen for durable"), None),
        None => check(cache, Ability::No, "the kernel does not say what it believes", None),
    };
    let raw = if device.readable {
        check(
            "raw device",
            Ability::Yes,
            format!("{device_name} can be read: diskperf bw, and the raw rows of lfs"),
            None,
        )
    } else {
        let why = format!("{device_name} cannot be read: no diskperf bw on it, no raw rows of lfs");
        check("raw device", Ability::No, why, Some("as root, or in the group that owns it; in a container: --device"))
    };
    vec![counters, write_cache, raw]
}

fn private_mounts(found: &Found) -> Check {
    match &found.private_mounts {
        Ok(()) => check("private mounts", Ability::Yes, "images can be mounted where nobody else sees them", None),
        Err(why) => check("private mounts", Ability::No, why, Some(rise(found))),
    }
}

fn loop_device(found: &Found) -> Check {
    let name = "loop devices";
    match &found.loop_device {
        Ok(true) => check(name, Ability::Yes, "attached one here, with direct I/O, and let it go", None),
        Ok(false) => {
            let why = "attached one here, without direct I/O: the cache of this file system lies between";
            check(name, Ability::Partly, why, Some("dir= on a file system with direct I/O"))
        }
        Err(why) if found.may_administer => {
            check(name, Ability::No, why, Some("modprobe loop; in a container: --privileged; or dir= elsewhere"))
        }
        Err(why) => check(name, Ability::No, why, Some(rise(found))),
    }
}

fn mkfs(file_system: &FileSystem) -> Check {
    let name = format!("mkfs.{}", file_system.name);
    let mountable = match file_system.mountable {
        Some(true) => "this kernel has it",
        Some(false) => "this kernel has it not",
        None => "whether this kernel has it can be asked as root only",
    };
    match (file_system.tool, file_system.mountable) {
        (Err(package), _) => {
            let how =
                package.map(|package| format!("apt-get install {package} (elsewhere it may be called otherwise)"));
            Check { how, ..check(&name, Ability::No, format!("not installed; {mountable}"), None) }
        }
        (Ok(()), Some(false)) => {
            check(&name, Ability::No, format!("installed; {mountable}"), Some("another kernel, or its module"))
        }
        (Ok(()), Some(true)) => check(&name, Ability::Yes, format!("installed; {mountable}"), None),
        (Ok(()), None) => check(&name, Ability::Partly, format!("installed; {mountable}"), None),
    }
}

fn tuning(found: &Found) -> Check {
    let name = "tune=";
    match &found.device {
        None => check(name, Ability::No, "no device can be seen under this directory", None),
        Some(device) if device.tunable => {
            check(name, Ability::Yes, format!("the queue of {} can be written", device.name), None)
        }
        Some(device) => {
            let why = format!("the queue of {} cannot be written", device.name);
            check(name, Ability::No, why, Some(rise(found)))
        }
    }
}

fn memory_limit(found: &Found) -> Check {
    let name = "memory limit";
    match &found.memory_limit {
        Ok(()) => check(name, Ability::Yes, "--cache can limit memory, and classic1983 has its 64 MiB", None),
        Err(why) => {
            let why = format!("{why}; --cache has no effect, and classic1983 has all the memory");
            let how = if found.may_administer {
                "a control group that may have groups of its own, with the controller memory"
            } else {
                "run as root, or in systemd-run --user --scope -p Delegate=yes"
            };
            check(name, Ability::No, why, Some(how))
        }
    }
}

/// The limits that somebody else may have set.
fn limits(groups: &GroupsSeen, container: bool) -> [Check; 3] {
    let one = |name: &str, reach: Option<Reach>, what: &str| match reach {
        Some(Reach::Own) => check(name, Ability::Yes, format!("{what} of the own control group can be seen"), None),
        Some(Reach::Root) if container => {
            let why = format!("only the root of the container's groups can be seen: {what} set outside would not show");
            check(name, Ability::Partly, why, Some("run it in a group of its own, or outside of the container"))
        }
        Some(Reach::Root) => check(name, Ability::Yes, format!("in the root group, which has no {what}"), None),
        None => {
            let why = format!("no such control group is mounted: {what} would not show");
            check(name, Ability::No, why, Some("mount /sys/fs/cgroup there"))
        }
    };
    [
        one("CPU quota seen", groups.cpu, "a quota"),
        one("I/O limits seen", groups.io, "limits"),
        one("memory seen", groups.memory, "a limit"),
    ]
}

fn pressure(seen: [bool; 3]) -> Check {
    let name = "pressure";
    let missing: Vec<&str> =
        ["cpu", "io", "memory"].into_iter().zip(seen).filter(|(_, seen)| !seen).map(|(what, _)| what).collect();
    let how = Some("boot with psi=1 (CONFIG_PSI)");
    match missing.len() {
        0 => check(name, Ability::Yes, "stalls of processors, I/O and memory can be seen", None),
        3 => check(name, Ability::No, "no /proc/pressure: fewer signs of noise and of short memory", how),
        _ => check(name, Ability::Partly, format!("not of {}", missing.join(" and ")), how),
    }
}

fn yes_or_no(name: &str, is_seen: bool, yes: &str, no: &str, how: &str) -> Check {
    if is_seen { check(name, Ability::Yes, yes, None) } else { check(name, Ability::No, no, Some(how)) }
}

fn run_delay(found: &Found) -> Check {
    yes_or_no(
        "run delay",
        found.run_delay,
        "waiting for a processor can be seen",
        "no schedstat: waiting for a processor is part of the rest",
        "a kernel with CONFIG_SCHED_INFO",
    )
}

fn task_io(found: &Found) -> Check {
    yes_or_no(
        "task I/O",
        found.task_io,
        "the bytes charged to the program can be seen",
        "no /proc/self/io: which of the device's bytes are ours cannot be told",
        "a kernel with CONFIG_TASK_IO_ACCOUNTING",
    )
}

fn kernel_threads(found: &Found) -> Check {
    yes_or_no(
        "kernel threads",
        found.kernel_threads,
        "their CPU time can be seen",
        "no kernel thread can be seen: the column kernel is empty",
        "share the host's processes with the container (--pid=host); mount /proc without hidepid",
    )
}

fn clock(found: &ClockFound) -> Check {
    let source = found.source.as_deref().unwrap_or("unknown");
    let why = format!("source {source}, smallest step seen {}", found.quantum);
    if found.quantum <= FINE {
        check("clock", Ability::Yes, why, None)
    } else {
        let how = "another clock source (/sys/devices/system/clocksource), as tsc or kvm-clock";
        check("clock", Ability::Partly, why + ": single calls are shorter", Some(how))
    }
}

fn virtualised(found: &Found) -> Check {
    let name = "bare machine";
    let container = if found.container { ", in a container" } else { "" };
    match found.virtualised {
        Some(true) => {
            let why =
                format!("a virtual machine{container}: a cache of the host, and its other guests, cannot be seen");
            check(name, Ability::Partly, why, Some("measure on the host, too"))
        }
        Some(false) => check(name, Ability::Yes, format!("no sign of a hypervisor{container}"), None),
        None => check(name, Ability::Partly, format!("cannot be told here{container}"), None),
    }
}

fn open_files(found: &Found) -> Check {
    let name = "file limits";
    let amount = |limit: Option<u64>| limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    let why = format!("open files: {}; bytes of a file: {}", amount(found.open_files), amount(found.file_bytes));
    if found.open_files.is_some_and(|limit| limit < OPEN_FILES) {
        check(name, Ability::No, why, Some("ulimit -n 1024"))
    } else if found.file_bytes.is_some_and(|limit| limit < FILE_BYTES) {
        check(name, Ability::No, why, Some("ulimit -f unlimited"))
    } else {
        check(name, Ability::Yes, why, None)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kernel::place::Place;

    use super::*;

    /// Where everything can be had.
    fn everything() -> Found {
        Found {
            is_root: true,
            may_administer: true,
            kernel: "Linux 6.18.44".to_owned(),
            place: Place {
                file_system: Some("ext4".to_owned()),
                mount_options: Vec::new(),
                free_bytes: 1 << 30,
                free_files: None,
                total_bytes: 1 << 31,
                used_bytes: 1 << 30,
                in_memory: None,
                nested_in: None,
                device: None,
            },
            folder: Ok(()),
            direct: Some(true),
            eyes: Some(Eyes::Cachestat),
            private_mounts: Ok(()),
            loop_device: Ok(true),
            file_systems: vec![FileSystem { name: "ext4", tool: Ok(()), mountable: Some(true) }],
            drop_caches: Ok(()),
            memory_limit: Ok(()),
            ring: Ok(Vec::new()),
            groups: GroupsSeen { cpu: Some(Reach::Own), io: Some(Reach::Root), memory: Some(Reach::Own) },
            pressure: [true; 3],
            run_delay: true,
            task_io: true,
            kernel_threads: true,
            device: Some(DeviceFound {
                name: "sda1".to_owned(),
                counts: true,
                counts_flushes: true,
                write_cache: Some("write back".to_owned()),
                below: vec!["sda".to_owned()],
                tunable: true,
                readable: true,
            }),
            clock: ClockFound { source: Some("tsc".to_owned()), quantum: Nanos(40) },
            virtualised: Some(false),
            container: false,
            open_files: Some(1024),
            file_bytes: None,
        }
    }

    /// Where nothing can be had.
    fn nothing() -> Found {
        let no = || Err("permission denied".to_owned());
        Found {
            is_root: false,
            may_administer: false,
            kernel: "Linux 4.3.0".to_owned(),
            place: Place { file_system: Some("tmpfs".to_owned()), ..everything().place },
            folder: no(),
            direct: None,
            eyes: None,
            private_mounts: no(),
            loop_device: Err("permission denied".to_owned()),
            file_systems: vec![FileSystem { name: "xfs", tool: Err(Some("xfsprogs")), mountable: None }],
            drop_caches: no(),
            memory_limit: no(),
            ring: Err("permission denied".to_owned()),
            groups: GroupsSeen::default(),
            pressure: [false; 3],
            run_delay: false,
            task_io: false,
            kernel_threads: false,
            device: None,
            clock: ClockFound { source: None, quantum: Nanos::from_millis(4) },
            virtualised: Some(true),
            container: true,
            open_files: Some(16),
            file_bytes: Some(1),
        }
    }

    fn state(found: &Found, name: &str) -> Ability {
        checks(found).iter().find(|check| check.check == name).expect("such a check").state
    }

    #[test]
    fn where_everything_can_be_had_nothing_is_to_be_done() {
        let checks = checks(&everything());
        assert!(checks.iter().all(|check| check.state == Ability::Yes && check.how.is_none()), "{checks:?}");
        let names: BTreeSet<&str> = checks.iter().map(|check| check.check.as_str()).collect();
        assert_eq!(names.len(), checks.len());
    }

    #[test]
    fn what_is_missing_has_a_way_to_it() {
        let checks = checks(&nothing());
        assert!(checks.iter().all(|check| check.state != Ability::Yes), "{checks:?}");
        // Without a device there is no queue either: the way to it stands beside the device.
        let without: Vec<&str> =
            checks.iter().filter(|check| check.how.is_none()).map(|check| check.check.as_str()).collect();
        assert_eq!(without, ["tune="]);
    }

    #[test]
    fn a_reservation_is_no_refusal() {
        let device = |change: fn(&mut DeviceFound)| {
            let mut found = everything();
            found.device.iter_mut().for_each(change);
            found
        };
        for (found, name, expected) in [
            (Found { may_administer: false, ..everything() }, "rights", Ability::Partly),
            (Found { is_root: false, ..everything() }, "rights", Ability::Yes),
            (Found { kernel: "Linux 5.10.1".to_owned(), ..everything() }, "kernel", Ability::Partly),
            (Found { kernel: "Linux next".to_owned(), ..everything() }, "kernel", Ability::Partly),
            (Found { eyes: Some(Eyes::Mincore), ..everything() }, "page cache seen", Ability::Partly),
            (Found { eyes: Some(Eyes::Blind), ..everything() }, "page cache seen", Ability::No),
            (Found { eyes: Some(Eyes::MemoryOnly), ..everything() }, "O_DIRECT", Ability::No),
            (Found { loop_device: Ok(false), ..everything() }, "loop devices", Ability::Partly),
            (Found { ring: Ok(vec![Lack::LockedMemory]), ..everything() }, "io_uring", Ability::Partly),
            (Found { container: true, ..everything() }, "I/O limits seen", Ability::Partly),
            (Found { container: true, ..everything() }, "CPU quota seen", Ability::Yes),
            (Found { pressure: [true, false, true], ..everything() }, "pressure", Ability::Partly),
            (Found { virtualised: None, ..everything() }, "bare machine", Ability::Partly),
            (Found { file_bytes: Some(1 << 20), ..everything() }, "file limits", Ability::No),
            (device(|device| device.counts_flushes = false), "device counters", Ability::Partly),
            (device(|device| device.counts = false), "device counters", Ability::No),
            (device(|device| device.write_cache = Some("write through".to_owned())), "write cache", Ability::Partly),
            (device(|device| device.write_cache = None), "write cache", Ability::No),
            (device(|device| device.readable = false), "raw device", Ability::No),
            (device(|device| device.tunable = false), "tune=", Ability::No),
        ] {
            assert_eq!(state(&found, name), expected, "{name}");
        }
        for file_system in ["overlay", "fuse.sshfs", "nfs4", "tmpfs"] {
            let place = Place { file_system: Some(file_system.to_owned()), ..everything().place };
            assert_eq!(state(&Found { place, ..everything() }, "file system"), Ability::Partly, "{file_system}");
        }
    }
}
