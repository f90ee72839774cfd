//! The checks of `doctor`: a pure function of the abilities that were found.

use kernel::Degradation;
use kernel::doctor::{CacheProbe, ClockFound, DeviceFound, FileSystem, Found, GroupsSeen, Probe, Reach};
use kernel::observe::mount;
use stats::{Ability, Check};
use units::Nanos;

use crate::doctor::kernel_versions::{OLDEST_CALLS, Release, TRIED};

/// File systems whose files have no visible device of their own, besides FUSE.
const WITHOUT_DEVICE: [&str; 6] = ["overlay", "nfs", "nfs4", "cifs", "9p", "virtiofs"];

/// The largest clock step with which single calls can be timed: a call takes about half of it.
const FINE: Nanos = Nanos::from_micros(1);

/// The fewest open files with which diskperf works: it has a few dozen open at once, its own descriptors included.
const OPEN_FILES: u64 = 64;

/// The least file-size limit that suffices for the presets: the size of the files of 1983.
const FILE_BYTES: u64 = 8 << 20;

/// All checks, in the order in which a user asks.
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
            let why = "root without CAP_SYS_ADMIN: no images, no mounts";
            check(name, Ability::Partly, why, Some("start the container with --privileged"))
        }
        (false, false) => {
            let why = "ordinary user: own directories and files; no images, tuning or raw devices";
            check(name, Ability::Partly, why, Some("sudo diskperf ..."))
        }
    }
}

fn kernel(found: &Found) -> Check {
    let name = "kernel";
    let Some(release) = Release::parse(&found.kernel) else {
        return check(name, Ability::Partly, format!("{}: unknown version", found.kernel), None);
    };
    let lacks: Vec<String> = release.lacks().map(|(since, what)| format!("{what} (from {since})")).collect();
    if release < OLDEST_CALLS {
        let why = format!("{release}; at least {OLDEST_CALLS} is needed");
        check(name, Ability::No, why, Some("use a newer kernel"))
    } else if release < TRIED[0] {
        let why = format!("{release}: not tried, {} is the oldest that was; without {}", TRIED[0], lacks.join(", "));
        check(name, Ability::Partly, why, Some("use a newer kernel"))
    } else if lacks.is_empty() {
        check(name, Ability::Yes, format!("{release}: has everything that diskperf uses"), None)
    } else {
        check(name, Ability::Partly, format!("{release}, without {}", lacks.join(", ")), Some("use a newer kernel"))
    }
}

fn folder(found: &Found) -> Check {
    match &found.folder {
        Ok(()) => check("private folder", Ability::Yes, "tests can run in this directory", None),
        Err(why) => check("private folder", Ability::No, why, Some("name a directory that you may write to")),
    }
}

fn file_system(found: &Found) -> Check {
    let name = "file system";
    let fill = format!("{:.0} % full", found.place.fill_percent());
    match found.place.file_system.as_deref() {
        None => check(name, Ability::Partly, "the mount table does not show which one", None),
        Some(memory @ ("tmpfs" | "ramfs")) => {
            let why = format!("{memory}: all data are in memory; nothing is cold, durable or on a device");
            check(name, Ability::Partly, why, Some("name a directory on a disk"))
        }
        Some(known) if found.place.device.is_none() && (WITHOUT_DEVICE.contains(&known) || mount::is_served(known)) => {
            let why = format!("{known}, {fill}: the storage below it is not visible");
            let how = match known {
                "overlay" => "name a directory on a volume, not on a container layer",
                _ => "also measure on the machine that has the storage",
            };
            check(name, Ability::Partly, why, Some(how))
        }
        Some(known) => check(name, Ability::Yes, format!("{known}, {fill}"), None),
    }
}

fn direct(found: &Found) -> Check {
    let name = "O_DIRECT";
    match found.direct {
        // Newer kernels accept O_DIRECT for such files too.
        Some(_) if found.cache_probe == Some(CacheProbe::MemoryOnly) => check(
            name,
            Ability::No,
            "files here are only in memory: randread is n.m.",
            Some("name a directory on a disk"),
        ),
        None => check(name, Ability::No, "cannot create a test file here", Some(WRITABLE)),
        Some(true) => check(name, Ability::Yes, "works: randread can be measured", None),
        Some(false) => {
            let why = "this file system has no direct I/O: randread is n.m.";
            check(name, Ability::No, why, Some("use another file system, such as ext4, xfs or btrfs"))
        }
    }
}

fn ring(found: &Found) -> Check {
    let name = "io_uring";
    match &found.ring {
        Err(why) => {
            let why = format!("{why}: queue depth 1 only");
            check(name, Ability::No, why, Some("sysctl kernel.io_uring_disabled=0; in a sandbox, allow io_uring_setup"))
        }
        Ok(degradations) => match degradations.first() {
            None => check(name, Ability::Yes, "works, with registered buffers: queue depths above 1", None),
            Some(degradation) => {
                let how = if *degradation == Degradation::LockedMemory {
                    "ulimit -l unlimited"
                } else {
                    "use a newer kernel"
                };
                check(name, Ability::Partly, degradation.to_string(), Some(how))
            }
        },
    }
}

/// The hint if no file can be created.
const WRITABLE: &str = "name a directory that you may write to";

fn page_cache(found: &Found) -> Check {
    let name = "page cache seen";
    match found.cache_probe {
        None => check(name, Ability::No, "cannot create a test file here", Some(WRITABLE)),
        Some(CacheProbe::Through(Probe::Cachestat)) => {
            check(name, Ability::Yes, "cachestat is reliable: cold, warm and dirty can be proven", None)
        }
        Some(CacheProbe::Through(Probe::Mincore)) => {
            let why = "mincore is reliable, cachestat is not: cold and warm can be proven, dirty cannot";
            check(name, Ability::Partly, why, Some("use Linux 6.5 or later, and no overlay or FUSE"))
        }
        Some(CacheProbe::MemoryOnly) => check(
            name,
            Ability::Partly,
            "all files are always in the page cache: warm, never cold",
            Some("name a directory on a disk"),
        ),
        Some(CacheProbe::Blind) => {
            let why = "no probe is reliable: the cache state is unknown";
            check(name, Ability::No, why, Some("use another file system; in a sandbox, allow cachestat and mincore"))
        }
    }
}

fn drop_caches(found: &Found) -> Check {
    let name = "drop caches";
    match &found.drop_caches {
        Ok(()) => check(name, Ability::Yes, "--drop-caches works: metadata can be cold too", None),
        Err(why) => {
            let why = format!("/proc/sys/vm/drop_caches: {why}; file data can be cold without it, metadata cannot");
            check(name, Ability::No, why, Some(rise(found)))
        }
    }
}

/// The hint for abilities that need rights.
fn rise(found: &Found) -> &'static str {
    match (found.is_root, found.container) {
        (true, _) => "start the container with --privileged",
        (false, true) => "be root in the container, and start it with --privileged",
        (false, false) => "run as root: sudo diskperf ...",
    }
}

fn device(found: &Found) -> Vec<Check> {
    let name = "device counters";
    let Some(device) = &found.device else {
        let why = "no device is visible under this directory: bytes, flushes and bottlenecks are n.m., and results \
                   that claim a device are unverified";
        return vec![check(
            name,
            Ability::No,
            why,
            Some("measure on the machine that has the storage, or on a volume"),
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
        (false, _) => {
            check(name, Ability::No, format!("{stack} has no counters in /sys"), Some("mount /sys in the container"))
        }
    };
    let cache = "write cache";
    let write_cache = match device.write_cache.as_deref() {
        Some("write through") => {
            let why = "write through: the kernel sends no flushes. If that was set by hand, durable is wrong";
            check(cache, Ability::Partly, why, Some("compare with the drive's own setting: hdparm -W"))
        }
        Some(known) => check(cache, Ability::Yes, format!("{}: durable needs a flush", known.replace(' ', "-")), None),
        None => check(cache, Ability::No, "the kernel does not report it", None),
    };
    let raw = if device.readable {
        check(
            "raw device",
            Ability::Yes,
            format!("{device_name} can be read: diskperf bw, and the raw tests of lfs"),
            None,
        )
    } else {
        let why = format!("{device_name} cannot be read: no diskperf bw, no raw tests of lfs");
        check(
            "raw device",
            Ability::No,
            why,
            Some("run as root, or in the group that owns it; in a container: --device"),
        )
    };
    vec![counters, write_cache, raw]
}

fn private_mounts(found: &Found) -> Check {
    match &found.private_mounts {
        Ok(()) => check("private mounts", Ability::Yes, "images can be mounted privately", None),
        Err(why) => check("private mounts", Ability::No, why, Some(rise(found))),
    }
}

fn loop_device(found: &Found) -> Check {
    let name = "loop devices";
    match &found.loop_device {
        Ok(true) => check(name, Ability::Yes, "work here, with direct I/O", None),
        Ok(false) => {
            let why = "work here, but without direct I/O: the page cache of this file system is in between";
            check(name, Ability::Partly, why, Some("use dir= on a file system with direct I/O"))
        }
        Err(why) if found.may_administer => {
            check(name, Ability::No, why, Some("modprobe loop; in a container: --privileged"))
        }
        Err(why) => check(name, Ability::No, why, Some(rise(found))),
    }
}

fn mkfs(file_system: &FileSystem) -> Check {
    let name = format!("mkfs.{}", file_system.name);
    let mountable = match file_system.mountable {
        Some(true) => "this kernel has it",
        Some(false) => "this kernel does not have it",
        None => "only root can check whether this kernel has it",
    };
    match (file_system.tool, file_system.mountable) {
        (Err(package), _) => {
            let how = package
                .map(|package| format!("apt-get install {package} (the package may have another name elsewhere)"));
            Check { how, ..check(&name, Ability::No, format!("not installed; {mountable}"), None) }
        }
        (Ok(()), Some(false)) => {
            check(&name, Ability::No, format!("installed; {mountable}"), Some("use another kernel, or load the module"))
        }
        (Ok(()), Some(true)) => check(&name, Ability::Yes, format!("installed; {mountable}"), None),
        (Ok(()), None) => check(&name, Ability::Partly, format!("installed; {mountable}"), None),
    }
}

fn tuning(found: &Found) -> Check {
    let name = "tune=";
    match &found.device {
        None => check(name, Ability::No, "no device is visible under this directory", None),
        Some(device) if device.tunable => {
            check(name, Ability::Yes, format!("/sys/block/{}/queue can be written", device.name), None)
        }
        Some(device) => {
            let why = format!("/sys/block/{}/queue cannot be written", device.name);
            check(name, Ability::No, why, Some(rise(found)))
        }
    }
}

fn memory_limit(found: &Found) -> Check {
    let name = "memory limit";
    match &found.memory_limit {
        Ok(()) => check(name, Ability::Yes, "--cache works, and classic1983 runs in 64 MiB", None),
        Err(why) => {
            let why = format!("{why}; --cache has no effect, and classic1983 runs in all memory");
            let how = if found.may_administer {
                "run in a delegated control group with the memory controller"
            } else {
                "run as root, or in systemd-run --user --scope -p Delegate=yes"
            };
            check(name, Ability::No, why, Some(how))
        }
    }
}

/// The checks of the limits of control groups: CPU, I/O and memory.
fn limits(groups: &GroupsSeen, container: bool) -> [Check; 3] {
    let one = |name: &str, reach: Option<Reach>, what: &str| match reach {
        Some(Reach::Own) if container => {
            let why = format!("{what} of this control group is visible; one of a group above the container may not be");
            check(name, Ability::Yes, why, None)
        }
        Some(Reach::Own) => check(name, Ability::Yes, format!("{what} of this control group is visible"), None),
        Some(Reach::Root) => check(name, Ability::Yes, "in the root group, which has none", None),
        None => {
            let why = format!("no such control group is mounted: {what} is not visible");
            check(name, Ability::No, why, Some("mount /sys/fs/cgroup"))
        }
    };
    [
        one("CPU quota seen", groups.cpu, "a quota"),
        one("I/O limits seen", groups.io, "an I/O limit"),
        one("memory seen", groups.memory, "a memory limit"),
    ]
}

fn pressure(seen: [bool; 3]) -> Check {
    let name = "pressure";
    let missing: Vec<&str> =
        ["cpu", "io", "memory"].into_iter().zip(seen).filter(|(_, seen)| !seen).map(|(what, _)| what).collect();
    let how = Some("boot with psi=1 (CONFIG_PSI)");
    match missing.len() {
        0 => check(name, Ability::Yes, "CPU, I/O and memory pressure are visible", None),
        3 => check(name, Ability::No, "no /proc/pressure: noise and memory shortage are harder to detect", how),
        _ => check(name, Ability::Partly, format!("missing for {}", missing.join(" and ")), how),
    }
}

fn yes_or_no(name: &str, is_seen: bool, yes: &str, no: &str, how: &str) -> Check {
    if is_seen { check(name, Ability::Yes, yes, None) } else { check(name, Ability::No, no, Some(how)) }
}

fn run_delay(found: &Found) -> Check {
    yes_or_no(
        "run delay",
        found.run_delay,
        "time runnable is visible",
        "no schedstat: time runnable is part of unattributed",
        "use a kernel with CONFIG_SCHED_INFO",
    )
}

fn task_io(found: &Found) -> Check {
    yes_or_no(
        "task I/O",
        found.task_io,
        "the bytes of each test are visible",
        "no /proc/self/io: diskperf cannot separate the bytes of a test from others",
        "use a kernel with CONFIG_TASK_IO_ACCOUNTING",
    )
}

fn kernel_threads(found: &Found) -> Check {
    yes_or_no(
        "kernel threads",
        found.kernel_threads,
        "their CPU time is visible",
        "no kernel thread is visible: their CPU time is missing",
        "run the container with --pid=host; mount /proc without hidepid",
    )
}

fn clock(found: &ClockFound) -> Check {
    let source = found.source.as_deref().unwrap_or("unknown");
    let why = format!("source {source}, smallest step {}", found.quantum);
    if found.quantum <= FINE {
        check("clock", Ability::Yes, why, None)
    } else {
        let how = "use another clock source (/sys/devices/system/clocksource), such as tsc or kvm-clock";
        check("clock", Ability::Partly, why + ": too coarse for single calls", Some(how))
    }
}

fn virtualised(found: &Found) -> Check {
    let name = "bare machine";
    let container = if found.container { ", in a container" } else { "" };
    match found.virtualised {
        Some(true) => {
            let why = format!("a virtual machine{container}: the host's cache and its other guests are not visible");
            check(name, Ability::Partly, why, Some("also measure on the host"))
        }
        Some(false) => check(name, Ability::Yes, format!("no sign of a hypervisor{container}"), None),
        None => check(name, Ability::Partly, format!("unknown here{container}"), None),
    }
}

fn open_files(found: &Found) -> Check {
    let name = "file limits";
    let amount = |limit: Option<u64>| limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    let why = format!("open files: {}; bytes per file: {}", amount(found.open_files), amount(found.file_bytes));
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

    use kernel::observe::mount::Place;

    use super::*;

    /// A machine on which everything works.
    fn everything() -> Found {
        Found {
            is_root: true,
            may_administer: true,
            kernel: "Linux 6.18.44".to_owned(),
            place: Place {
                file_system: Some("ext4".to_owned()),
                mount_options: Vec::new(),
                free_bytes: Some(1 << 30),
                block_bytes: 4096,
                free_files: None,
                total_bytes: 1 << 31,
                used_bytes: 1 << 30,
                in_memory: None,
                upper: None,
                nested_in: None,
                device: None,
            },
            folder: Ok(()),
            direct: Some(true),
            cache_probe: Some(CacheProbe::Through(Probe::Cachestat)),
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

    /// A machine on which nothing works.
    fn powerless_machine() -> Found {
        let no = || Err("permission denied".to_owned());
        Found {
            is_root: false,
            may_administer: false,
            kernel: "Linux 4.3.0".to_owned(),
            place: Place { file_system: Some("tmpfs".to_owned()), ..everything().place },
            folder: no(),
            direct: None,
            cache_probe: None,
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
        named(found, name).state
    }

    fn named(found: &Found, name: &str) -> Check {
        checks(found).into_iter().find(|check| check.check == name).expect("such a check")
    }

    #[test]
    fn kernels_that_were_not_tried_are_named() {
        let text = |kernel: &str| named(&Found { kernel: kernel.to_owned(), ..everything() }, "kernel").why;
        let older = text("Linux 5.19.1");
        assert!(older.starts_with("Linux 5.19: not tried, Linux 6.1 is the oldest that was; without "), "{older}");
        assert_eq!(text("Linux 6.1.0"), "Linux 6.1, without proof of dirty pages (from Linux 6.5)");
        assert_eq!(text("Linux 4.3.0"), "Linux 4.3; at least Linux 4.4 is needed");
    }

    #[test]
    fn a_fully_capable_machine_needs_no_advice() {
        let checks = checks(&everything());
        assert!(checks.iter().all(|check| check.state == Ability::Yes && check.how.is_none()), "{checks:?}");
        let names: BTreeSet<&str> = checks.iter().map(|check| check.check.as_str()).collect();
        assert_eq!(names.len(), checks.len());
    }

    #[test]
    fn missing_abilities_have_a_hint() {
        let checks = checks(&powerless_machine());
        assert!(checks.iter().all(|check| check.state != Ability::Yes), "{checks:?}");
        // Without a device there is no queue either: the hint is at the check of the device.
        let without: Vec<&str> =
            checks.iter().filter(|check| check.how.is_none()).map(|check| check.check.as_str()).collect();
        assert_eq!(without, ["tune="]);
    }

    #[test]
    fn partial_abilities_are_not_refusals() {
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
            (
                Found { cache_probe: Some(CacheProbe::Through(Probe::Mincore)), ..everything() },
                "page cache seen",
                Ability::Partly,
            ),
            (Found { cache_probe: Some(CacheProbe::Blind), ..everything() }, "page cache seen", Ability::No),
            (Found { cache_probe: Some(CacheProbe::MemoryOnly), ..everything() }, "O_DIRECT", Ability::No),
            (Found { loop_device: Ok(false), ..everything() }, "loop devices", Ability::Partly),
            (Found { ring: Ok(vec![Degradation::LockedMemory]), ..everything() }, "io_uring", Ability::Partly),
            (Found { container: true, ..everything() }, "I/O limits seen", Ability::Yes),
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
        for file_system in ["overlay", "fuse.sshfs", "fuseblk", "nfs4", "tmpfs"] {
            let place = Place { file_system: Some(file_system.to_owned()), ..everything().place };
            assert_eq!(state(&Found { place, ..everything() }, "file system"), Ability::Partly, "{file_system}");
        }
    }
}
