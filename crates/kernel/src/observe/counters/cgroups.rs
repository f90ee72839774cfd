//! Limits and counters of the control groups of this thread. Both versions are supported: version 1 has one tree per
//! controller, version 2 one tree for all, and a system may have both.

use std::path::{Path, PathBuf};

use units::Nanos;
use workload::{IoKind, IoLimit};

use super::{Source, number_after};
use crate::observe::block_device::Device;
use crate::sys::name::original;
use crate::sys::read_limited;

/// The control groups of the calling thread.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Version 1, one tree per controller.
    cpu: Option<Lineage>,
    blkio: Option<Lineage>,
    memory: Option<Lineage>,
    /// Version 2.
    unified: Option<Lineage>,
}

/// Visibility of the control group limits, by resource. `None` if no tree with the controller is mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupsSeen {
    /// CPU limits.
    pub cpu: Option<Reach>,
    /// I/O limits.
    pub io: Option<Reach>,
    /// Memory limits.
    pub memory: Option<Reach>,
}

/// The visible group of the thread's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The thread's own group, with its limits.
    Own,
    /// The root of the whole tree, which has no limits.
    Root,
}

/// The folders of a group and its visible ancestors, the group first. The root of the whole tree is excluded: it has no
/// limits and no counters. The root of a container is included: it is the container's own group.
#[derive(Debug)]
struct Lineage(Vec<PathBuf>);

impl Groups {
    pub(super) fn read(source: &Source) -> Groups {
        let (Some(groups), Some(mounts)) =
            (source.text("proc/thread-self/cgroup"), source.text("proc/thread-self/mountinfo"))
        else {
            return Groups::default();
        };
        let lineage = |controller: &str| {
            let group = path_of(&groups, controller)?;
            let (root, point) = mount_of(&mounts, controller)?;
            Lineage::new(source, &group, &root, &point)
        };
        Groups { cpu: lineage("cpu"), blkio: lineage("blkio"), memory: lineage("memory"), unified: lineage("") }
    }

    /// Tells for each resource which group is visible.
    pub(super) fn seen(&self) -> GroupsSeen {
        let reach = |own: &Option<Lineage>, file: &str| {
            let trees = [own, &self.unified].into_iter().flatten();
            let reaches = trees.filter_map(|tree| match tree.0.first() {
                Some(group) => group.join(file).exists().then_some(Reach::Own),
                None => Some(Reach::Root),
            });
            reaches.min_by_key(|reach| *reach == Reach::Root)
        };
        GroupsSeen {
            cpu: reach(&self.cpu, "cpu.stat"),
            io: reach(&self.blkio, if self.blkio.is_some() { "blkio.throttle.read_bps_device" } else { "io.max" }),
            memory: reach(&self.memory, "memory.stat"),
        }
    }

    /// Time in which these groups were throttled because their CPU quota was used up, summed over processors and
    /// groups. Returns `None` if no group has a quota.
    pub(super) fn cpu_throttled(&self) -> Option<Nanos> {
        let counted = |lineage: &Option<Lineage>, word: &str, unit: u64| {
            let texts = lineage.iter().flat_map(|lineage| lineage.texts("cpu.stat"));
            texts
                .filter_map(|text| number_after(&text, word))
                .map(|count| count.saturating_mul(unit))
                .reduce(u64::saturating_add)
        };
        let sums = [counted(&self.cpu, "throttled_time", 1), counted(&self.unified, "throttled_usec", 1_000)];
        sums.into_iter().flatten().reduce(u64::saturating_add).map(Nanos)
    }

    /// The I/O limits on these devices, each with its use by the group that it is set on. In version 1, only the own
    /// group is read: its ancestors limit it only on some systems, and no file shows on which. There, a limit counts
    /// the I/O of its group, without the groups below.
    pub(super) fn io_limits(&self, devices: &[(Device, u32)]) -> Vec<IoLimit> {
        let mut limits = Vec::new();
        for (device, _) in devices {
            let Some(number) = device.number() else { continue };
            let mut add = |(kind, level, allowed, done): (IoKind, u32, u64, u64)| {
                limits.push(IoLimit { kind, device: device.name.clone(), level, allowed, done });
            };
            if let Some(own) = self.blkio.as_ref().and_then(|lineage| lineage.0.first()) {
                let text = |file: &str| read_limited::of_the_kernel(own.join(format!("blkio.throttle.{file}"))).ok();
                for (kind, file, counter, way) in VERSION_1 {
                    let allowed = text(&format!("{file}_device")).and_then(|text| number_after(&text, number));
                    let done = text(counter).and_then(|text| serviced(&text, number, way));
                    allowed.zip(done).into_iter().for_each(|(allowed, done)| add((kind, 0, allowed, done)));
                }
            }
            let folders = self.unified.iter().flat_map(|lineage| &lineage.0);
            for (level, folder) in (0..).zip(folders) {
                let text = |file: &str| read_limited::of_the_kernel(folder.join(file)).unwrap_or_default();
                let (max, stat) = (text("io.max"), text("io.stat"));
                for (kind, limit, counter) in VERSION_2 {
                    // `max` means no limit; it does not parse as a number. A group without I/O has no counters.
                    let allowed = keyed(&max, number, limit);
                    let done = keyed(&stat, number, counter).unwrap_or(0);
                    allowed.into_iter().for_each(|allowed| add((kind, level, allowed, done)));
                }
            }
        }
        limits
    }

    /// The memory limits and CPU quotas of these groups and their ancestors as text, the own group's first.
    pub(super) fn limits(&self) -> [(&'static str, String); 2] {
        let all = |lineages: [(&Option<Lineage>, &str); 2]| {
            let texts = lineages.into_iter().filter_map(|(lineage, file)| Some(lineage.as_ref()?.texts(file)));
            texts.flatten().map(|text| text.trim().to_owned()).collect::<Vec<String>>().join(", ")
        };
        [
            ("memory limit", all([(&self.memory, "memory.limit_in_bytes"), (&self.unified, "memory.max")])),
            ("CPU quota", all([(&self.cpu, "cpu.cfs_quota_us"), (&self.unified, "cpu.max")])),
        ]
    }

    /// The lowest memory limit of these groups and their ancestors, in bytes. Without a limit, version 1 has a number
    /// larger than any machine's memory, and version 2 a word.
    pub(super) fn memory_allowed(&self) -> Option<u64> {
        let texts = |lineage: &Option<Lineage>, file: &'static str| {
            lineage.iter().flat_map(|lineage| lineage.texts(file)).collect::<Vec<String>>()
        };
        let all = [texts(&self.memory, "memory.limit_in_bytes"), texts(&self.unified, "memory.max")];
        all.iter().flatten().filter_map(|text| text.trim().parse().ok()).min()
    }

    /// The fewest bytes that one of these groups and their ancestors has left below its memory limit. Returns `None` if
    /// there is no limit. Cached pages of files do not count as used, nor do cached inodes and names
    /// (`slab_reclaimable`, which version 1 does not report), because the kernel can evict them. Pages of tmpfs count:
    /// they are on the lists of anonymous pages.
    pub(super) fn memory_left(&self) -> Option<u64> {
        let left = |lineage: &Option<Lineage>, [limit, used]: [&str; 2], cached: &[&str]| {
            let folders = lineage.iter().flat_map(|lineage| &lineage.0);
            let left = folders.filter_map(|folder| {
                let text = |file: &str| read_limited::of_the_kernel(folder.join(file)).ok();
                let number = |file: &str| text(file)?.trim().parse::<u64>().ok();
                let (limit, used, stat) = (number(limit)?, number(used)?, text("memory.stat").unwrap_or_default());
                let cached: u64 = cached.iter().filter_map(|word| number_after(&stat, word)).sum();
                Some(limit.saturating_sub(used.saturating_sub(cached)))
            });
            left.min()
        };
        let version_1 = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
        let version_2 = ["memory.max", "memory.current"];
        let all = [
            left(&self.memory, version_1, &["total_inactive_file", "total_active_file"]),
            left(&self.unified, version_2, &["inactive_file", "active_file", "slab_reclaimable"]),
        ];
        all.into_iter().flatten().min()
    }

    /// File pages of the own group that were read again soon after eviction. Returns `None` if the group is the root,
    /// which has no counters.
    pub(super) fn refaults(&self) -> Option<u64> {
        let own = [&self.memory, &self.unified].into_iter().flatten().find_map(|lineage| lineage.0.first())?;
        let text = read_limited::of_the_kernel(own.join("memory.stat")).ok()?;
        // Version 1 has one line for the group alone, and a `total_` line that includes the groups below it.
        number_after(&text, "total_workingset_refault_file").or_else(|| number_after(&text, "workingset_refault_file"))
    }
}

impl Lineage {
    /// Returns the folders of `group` if the subtree `root` of the hierarchy is mounted at `point`. `None` if the group
    /// is not in that subtree.
    fn new(source: &Source, group: &Path, root: &Path, point: &Path) -> Option<Lineage> {
        let below = group.strip_prefix(root).ok()?;
        let point = source.inside(point);
        let (own, top) = (below.ancestors().filter(|path| !path.as_os_str().is_empty()), is_limited(&point));
        Some(Lineage(own.map(|path| point.join(path)).chain(top.then(|| point.clone())).collect()))
    }

    fn texts(&self, file: &str) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(move |folder| read_limited::of_the_kernel(folder.join(file)).ok())
    }
}

/// True if the group that is mounted here is not the root of the whole tree, as in a container. The kernel creates
/// `release_agent` only in the root of a tree of version 1, and `cgroup.events` in all groups of version 2 but the root
/// (Documentation/admin-guide/cgroup-v1/cgroups.rst, cgroup-v2.rst).
fn is_limited(point: &Path) -> bool {
    // Both versions have `cgroup.procs` in every group. Only version 1 has `tasks`.
    let is_version_1 = point.join("tasks").exists();
    if is_version_1 { !point.join("release_agent").exists() } else { point.join("cgroup.events").exists() }
}

/// The path of the thread's group for a controller; "" selects version 2. Lines are `number:controllers:path`.
pub(super) fn path_of(groups: &str, controller: &str) -> Option<PathBuf> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        controllers.split(',').any(|name| name == controller).then(|| PathBuf::from(original(path)))
    })
}

/// Returns the mounted subtree of a controller's hierarchy, and its mount point.
pub(super) fn mount_of(mounts: &str, controller: &str) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (place, system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let mut system = system.split(' ');
        let (kind, options) = (system.next()?, system.nth(1)?);
        let fits = match controller {
            "" => kind == "cgroup2",
            _ => kind == "cgroup" && options.split(',').any(|option| option == controller),
        };
        fits.then(|| (PathBuf::from(original(root)), PathBuf::from(original(point))))
    })
}

/// The files of version 1 after `blkio.throttle.`: the limited quantity, its limit, its counter, and the word in the
/// counter's lines (Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
const VERSION_1: [(IoKind, &str, &str, &str); 4] = [
    (IoKind::ReadBytes, "read_bps", "io_service_bytes", "Read"),
    (IoKind::WrittenBytes, "write_bps", "io_service_bytes", "Write"),
    (IoKind::Reads, "read_iops", "io_serviced", "Read"),
    (IoKind::Writes, "write_iops", "io_serviced", "Write"),
];

/// The keys of version 2: the limited quantity, its limit in `io.max`, its counter in `io.stat`
/// (Documentation/admin-guide/cgroup-v2.rst).
const VERSION_2: [(IoKind, &str, &str); 4] = [
    (IoKind::ReadBytes, "rbps", "rbytes"),
    (IoKind::WrittenBytes, "wbps", "wbytes"),
    (IoKind::Reads, "riops", "rios"),
    (IoKind::Writes, "wiops", "wios"),
];

/// Finds a counter of version 1. Lines are `7:3 Read 1048576`. A group without I/O has no lines, and has done nothing.
pub(super) fn serviced(text: &str, number: &str, way: &str) -> Option<u64> {
    let lines = text.lines().map(|line| line.split_whitespace());
    let mut fitting = lines.filter_map(|mut fields| {
        let is_it = fields.next() == Some(number) && fields.next() == Some(way);
        is_it.then(|| fields.next()?.parse().ok()).flatten()
    });
    fitting.next().or(Some(0))
}

/// Finds a number of version 2. Lines are `8:0 rbps=1048576 wbps=max riops=max wiops=120`.
pub(super) fn keyed(text: &str, number: &str, key: &str) -> Option<u64> {
    let fields = text.lines().map(str::split_whitespace).find_map(|mut fields| {
        let is_it = fields.next() == Some(number);
        is_it.then_some(fields)
    });
    fields?.filter_map(|field| field.split_once('=')).find(|(name, _)| *name == key)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::memory_left;
    use super::super::tests::recorded;
    use super::*;

    /// Version 1 with version 2 beside it, as on machines that are in transition.
    const BOTH: [(&str, &str); 2] = [
        ("proc/thread-self/cgroup", "7:blkio:/job\n4:memory:/job/small\n2:cpu,cpuacct:/job/slow\n0::/\n"),
        (
            "proc/thread-self/mountinfo",
            "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
             38 31 0:35 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        ),
    ];

    #[test]
    fn version_1_has_a_tree_per_controller() {
        let recorded = recorded(&BOTH);
        for (path, text) in [
            ("cpu/job/slow/cpu.stat", "nr_periods 9\nnr_throttled 5\nthrottled_time 1039036057\n"),
            ("cpu/job/cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_time 43\n"),
            ("cpu/tasks", ""),
            ("cpu/release_agent", ""),
            ("cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 77\n"),
            (
                "memory/job/small/memory.stat",
                "workingset_refault_file 4\ninactive_file 50\ntotal_workingset_refault_file 6\ntotal_inactive_file 4\n",
            ),
            ("memory/job/small/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/job/small/memory.usage_in_bytes", "900\n"),
            ("memory/job/memory.limit_in_bytes", "1000\n"),
            ("memory/job/memory.usage_in_bytes", "900\n"),
            ("memory/job/memory.stat", "total_inactive_file 40\ntotal_active_file 2\n"),
            ("blkio/job/blkio.throttle.read_bps_device", "8:0 10485760\n7:3 2097152\n"),
            ("blkio/job/blkio.throttle.write_iops_device", "8:16 5\n"),
            ("blkio/job/blkio.throttle.io_service_bytes", "7:3 Read 4096\n7:3 Write 8192\nTotal 12288\n"),
            ("unified/cpu.stat", "usage_usec 7\n"),
        ] {
            recorded.write(&format!("sys/fs/cgroup/{path}"), text);
        }
        for (number, name) in [("7:3", "loop3"), ("8:0", "sda")] {
            recorded.write(&format!("sys/dev/block/{number}/uevent"), &format!("DEVNAME={name}\n"));
        }
        let groups = Groups::read(&recorded.source);
        // The root's counters are ignored: the root has no quota.
        assert_eq!(groups.cpu_throttled(), Some(Nanos(1_039_036_100)));
        assert_eq!((groups.refaults(), groups.memory_left()), (Some(6), Some(142)));
        let devices = [(recorded.device(7, 3), 0), (recorded.device(8, 0), 1)];
        let limit = |device: &str, allowed, done| IoLimit {
            kind: IoKind::ReadBytes,
            device: device.to_owned(),
            level: 0,
            allowed,
            done,
        };
        assert_eq!(groups.io_limits(&devices), [limit("loop3", 2_097_152, 4096), limit("sda", 10_485_760, 0)]);
    }

    #[test]
    fn version_2_has_one_tree_with_limits_at_every_level() {
        let recorded = recorded(&[
            ("proc/thread-self/cgroup", "0::/user/job\n"),
            ("proc/thread-self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"),
            ("sys/fs/cgroup/user/job/cpu.stat", "usage_usec 5\nthrottled_usec 30\n"),
            ("sys/fs/cgroup/user/cpu.stat", "usage_usec 9\nthrottled_usec 12\n"),
            ("sys/fs/cgroup/user/job/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=120\n"),
            ("sys/fs/cgroup/user/io.max", "8:0 rbps=max wbps=2097152 riops=max wiops=100\n8:16 riops=1\n"),
            ("sys/fs/cgroup/user/job/io.stat", "8:0 rbytes=4096 wbytes=1 rios=1 wios=7 dbytes=0 dios=0\n"),
            ("sys/fs/cgroup/user/io.stat", "8:0 rbytes=8192 wbytes=2 rios=2 wios=9 dbytes=0 dios=0\n"),
            ("sys/fs/cgroup/user/job/memory.stat", "anon 1\nworkingset_refault_file 3\n"),
            ("sys/dev/block/8:0/uevent", "DEVNAME=sda\n"),
        ]);
        let groups = Groups::read(&recorded.source);
        assert_eq!(groups.cpu_throttled(), Some(Nanos::from_micros(42)));
        assert_eq!(groups.refaults(), Some(3));
        let limits = groups.io_limits(&[(recorded.device(8, 0), 0)]);
        let figures = limits.iter().map(|limit| (limit.kind, limit.level, limit.allowed, limit.done));
        let expected = [
            (IoKind::ReadBytes, 0, 1 << 20, 4096),
            (IoKind::Writes, 0, 120, 7),
            (IoKind::WrittenBytes, 1, 2 << 20, 2),
            (IoKind::Writes, 1, 100, 9),
        ];
        assert!(figures.eq(expected), "{limits:?}");
    }

    #[test]
    fn the_root_group_has_no_quota_and_no_counters() {
        let recorded = recorded(&[
            ("proc/thread-self/cgroup", "0::/\n"),
            ("proc/thread-self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 5\nthrottled_usec 30\n"),
        ]);
        let groups = Groups::read(&recorded.source);
        assert_eq!((groups.cpu_throttled(), groups.refaults(), groups.memory_left()), (None, None, None));
        assert_eq!(groups.io_limits(&[]), []);
    }

    /// In a container, the root of the mount is the container's own group.
    #[test]
    fn the_root_of_a_container_is_its_own_group() {
        let version_2 = recorded(&[
            ("proc/thread-self/cgroup", "0::/\n"),
            ("proc/thread-self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n"),
            ("sys/fs/cgroup/cgroup.events", "populated 1\nfrozen 0\n"),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 9\nthrottled_usec 12\n"),
            ("sys/fs/cgroup/memory.max", "1048576\n"),
            ("sys/fs/cgroup/memory.current", "1000000\n"),
            (
                "sys/fs/cgroup/memory.stat",
                "file 9\nshmem 9\ninactive_file 300000\nactive_file 70000\nslab_reclaimable 30000\n\
                 workingset_refault_file 3\n",
            ),
            ("proc/meminfo", "MemTotal:  900 kB\nMemFree:  2 kB\nMemAvailable:     800 kB\n"),
            ("sys/fs/cgroup/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=max\n"),
            ("sys/fs/cgroup/io.stat", "8:0 rbytes=4096 wbytes=1 rios=1 wios=7 dbytes=0 dios=0\n"),
            ("sys/dev/block/8:0/uevent", "DEVNAME=sda\n"),
        ]);
        let groups = Groups::read(&version_2.source);
        assert_eq!(groups.cpu_throttled(), Some(Nanos::from_micros(12)));
        assert_eq!((groups.refaults(), groups.memory_allowed()), (Some(3), Some(1 << 20)));
        // The group and the machine: the lower figure counts.
        assert_eq!((groups.memory_left(), memory_left(&version_2.source)), (Some(448_576), Some(448_576)));
        version_2.write("proc/meminfo", "MemAvailable: 7 kB\n");
        assert_eq!(memory_left(&version_2.source), Some(7 << 10));
        assert_eq!(groups.io_limits(&[(version_2.device(8, 0), 0)]).len(), 1);
        let own = Some(Reach::Own);
        assert_eq!(groups.seen(), GroupsSeen { cpu: own, io: own, memory: own });

        let version_1 = recorded(&[
            ("proc/thread-self/cgroup", "2:cpu:/docker/1234\n"),
            ("proc/thread-self/mountinfo", "32 31 0:29 /docker/1234 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"),
            ("sys/fs/cgroup/cpu/tasks", ""),
            ("sys/fs/cgroup/cpu/cpu.stat", "throttled_time 5\n"),
        ]);
        assert_eq!(Groups::read(&version_1.source).cpu_throttled(), Some(Nanos(5)));
    }

    /// A process outside the mounted part of the tree.
    #[test]
    fn a_group_outside_the_mounted_tree_is_not_visible() {
        let recorded = recorded(&[
            ("proc/thread-self/cgroup", "2:cpu:/other\n"),
            ("proc/thread-self/mountinfo", "32 31 0:29 /box /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
            ("sys/fs/cgroup/cpu/tasks", ""),
            ("sys/fs/cgroup/cpu/cpu.stat", "throttled_time 5\n"),
        ]);
        let groups = Groups::read(&recorded.source);
        assert_eq!((groups.cpu_throttled(), groups.seen().cpu), (None, None));
    }

    /// In a container with its own cgroup namespace, the mount shows only the part below its root.
    #[test]
    fn a_mount_may_show_part_of_the_group_tree() {
        let recorded = recorded(&[
            ("proc/thread-self/cgroup", "2:cpu:/box/job\n"),
            ("proc/thread-self/mountinfo", "32 31 0:29 /box /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
            ("sys/fs/cgroup/cpu/job/cpu.stat", "throttled_time 5\n"),
        ]);
        assert_eq!(Groups::read(&recorded.source).cpu_throttled(), Some(Nanos(5)));
    }
}
