//! Block devices as /sys shows them: found by number, with their properties and counters.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use units::Nanos;
use workload::{DeviceBytes, DeviceUse, WriteCache};

use crate::observe::sysfs_attribute::chosen;
use crate::sys::read_limited;

/// The kernel's unit of sizes and counters in bytes, for all logical block sizes.
const SECTOR: u64 = 512;

/// The switch in a disk's queue folder for the kernel's I/O counters: 1 or 0 (Documentation/block/queue-sysfs.rst).
const IOSTATS: &str = "iostats";

/// The file with the serial number of a SCSI disk: page 0x80 of the vital product data, after a header of four bytes
/// (SPC-4, 7.8.15).
const VITAL_PRODUCT_DATA: &str = "device/vpd_pg80";

/// The number of a device: major, minor.
pub(crate) type Number = (u32, u32);

/// Reads the number from a device's folder in /sys.
pub(crate) fn number_in(folder: &Path) -> Option<Number> {
    let text = read_limited::of_the_kernel(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// `vda`, `loop0`, `nvme0n1p2`.
    pub name: String,
    /// Its folder under /sys.
    pub(crate) sys: PathBuf,
}

impl Device {
    /// The device with this number. Returns `None` if there is none.
    pub fn numbered(major: u32, minor: u32) -> Option<Device> {
        Device::in_sys(Path::new("/sys"), major, minor)
    }

    pub(crate) fn in_sys(root: &Path, major: u32, minor: u32) -> Option<Device> {
        let sys = root.join(format!("dev/block/{major}:{minor}"));
        let uevent = read_limited::of_the_kernel(sys.join("uevent")).ok()?;
        let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME="))?.to_owned();
        Some(Device { name, sys })
    }

    /// Its node under /dev.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Its number, as in `254:0`.
    pub(crate) fn number(&self) -> Option<&str> {
        self.sys.file_name()?.to_str()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> Option<u64> {
        let sectors: u64 = read_limited::of_the_kernel(self.sys.join("size")).ok()?.trim().parse().ok()?;
        Some(sectors.saturating_mul(SECTOR))
    }

    /// True if the kernel knows partitions of it.
    pub(crate) fn has_partitions(&self) -> bool {
        !self.partitions().is_empty()
    }

    /// The partitions that the kernel knows, sorted by name.
    pub(crate) fn partitions(&self) -> Vec<Device> {
        let below = fs::read_dir(&self.sys).into_iter().flatten().flatten();
        // A folder in sysfs has `!` where the name under /dev has `/`.
        let name = |entry: &fs::DirEntry| Some(entry.file_name().into_string().ok()?.replace('!', "/"));
        let device = |entry: fs::DirEntry| Some(Device { name: name(&entry)?, sys: entry.path() });
        let mut partitions: Vec<Device> = below.filter_map(device).filter(Device::is_partition).collect();
        partitions.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        partitions
    }

    /// The disk of a partition. Returns `None` for other devices.
    pub(crate) fn disk(&self) -> Option<Device> {
        let (major, minor) = self.is_partition().then(|| number_in(&self.sys.join("..")))??;
        // `sys` ends in dev, block and the number below the root.
        Device::in_sys(self.sys.ancestors().nth(3)?, major, minor)
    }

    /// The sectors of its disk that it occupies, in the kernel's unit. Returns `None` if it is not a partition.
    pub(crate) fn sectors(&self) -> Option<Range<u64>> {
        let number = |file: &str| read_limited::of_the_kernel(self.sys.join(file)).ok()?.trim().parse::<u64>().ok();
        let start = number("start")?;
        Some(start..start.saturating_add(number("size")?))
    }

    /// True if it is a partition of a disk.
    pub(crate) fn is_partition(&self) -> bool {
        self.sys.join("partition").exists()
    }

    /// The model name; for a partition, its disk's.
    pub fn model(&self) -> Option<String> {
        self.printed(&["device/model", "device/name"])
    }

    /// The serial number; for a partition, its disk's.
    pub(crate) fn serial(&self) -> Option<String> {
        self.printed(&["serial", "device/serial", VITAL_PRODUCT_DATA])
    }

    /// An identity that is the same on all paths to the disk. It is the worldwide unique name (WWID), otherwise the
    /// model and serial number if both are known. Returns `None` for a partition.
    pub(crate) fn identity(&self) -> Option<String> {
        if self.is_partition() {
            return None;
        }
        self.printed(&["device/wwid", "wwid"]).or_else(|| Some(format!("{} {}", self.model()?, self.serial()?)))
    }

    /// The first nonempty text of these files, read from the device or its disk.
    fn printed(&self, files: &[&str]) -> Option<String> {
        let places = files.iter().flat_map(|file| [self.sys.join(file), self.sys.join("..").join(file)]);
        let printed = |path: PathBuf| {
            let bytes = read_limited::bytes(read_limited::open(&path).ok()?, read_limited::OF_THE_KERNEL).ok()??;
            let header = if path.ends_with(VITAL_PRODUCT_DATA) { 4 } else { 0 };
            let text = String::from_utf8_lossy(bytes.get(header..)?);
            let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
        };
        places.into_iter().find_map(printed)
    }

    /// The kernel's setting, `write back` or `write through`; for a partition, its disk's.
    pub fn write_cache(&self) -> Option<String> {
        let text = read_limited::of_the_kernel(self.queue()?.join("write_cache")).ok()?;
        Some(text.trim().to_owned())
    }

    /// Bytes of a logical block, which direct I/O on it takes multiples of; for a partition, its disk's.
    pub fn logical_block_bytes(&self) -> Option<u32> {
        let text = read_limited::of_the_kernel(self.queue()?.join("logical_block_size")).ok()?;
        text.trim().parse().ok()
    }

    /// The I/O size in bytes that the device prefers, such as a stripe; for a partition, its disk's. Returns `None` if
    /// it has no preference.
    pub(crate) fn optimal_io_bytes(&self) -> Option<u64> {
        let text = read_limited::of_the_kernel(self.queue()?.join("optimal_io_size")).ok()?;
        text.trim().parse::<u64>().ok().filter(|bytes| *bytes > 0)
    }

    /// The I/O scheduler; for a partition, its disk's.
    pub fn scheduler(&self) -> Option<String> {
        let text = read_limited::of_the_kernel(self.queue()?.join("scheduler")).ok()?;
        Some(chosen(&text)).filter(|scheduler| !scheduler.is_empty())
    }

    /// The write cache: where data are after the device has completed a write. Returns `None` if the driver has no
    /// request queues: the kernel does not count the flushes of such devices either.
    ///
    /// The kernel can be told that there is no such cache (Documentation/ABI/stable/sysfs-block). Then virtio and
    /// SCSI disks still show their own setting, and NVMe disks still show forced unit access (`fua`): no driver sets
    /// that without a cache. The exception is ublk before Linux 6.11, which shows it if its server asks for it. A loop
    /// device always has a cache, the page cache.
    pub(crate) fn keeps_writes(&self) -> Option<WriteCache> {
        let disk = self.queue()?.parent()?.to_owned();
        if !disk.join("mq").is_dir() {
            return None;
        }
        let says_back =
            |path: PathBuf| read_limited::of_the_kernel(path).is_ok_and(|text| text.trim().starts_with("write back"));
        if says_back(disk.join("queue/write_cache")) {
            return Some(WriteCache::Back);
        }
        let drives = fs::read_dir(disk.join("device/scsi_disk")).into_iter().flatten().flatten();
        let has_fua = || read_limited::of_the_kernel(disk.join("queue/fua")).is_ok_and(|text| text.trim() == "1");
        let is_back = self.is_file()
            || !self.name.starts_with("ublk") && has_fua()
            || says_back(disk.join("cache_type"))
            || drives.map(|drive| drive.path().join("cache_type")).any(says_back);
        Some(if is_back { WriteCache::Overridden } else { WriteCache::Through })
    }

    /// True if it supports discard, which tells the device that its contents are not needed any more.
    pub(crate) fn takes_discard(&self) -> bool {
        let most = self.queue().and_then(|queue| read_limited::of_the_kernel(queue.join("discard_max_bytes")).ok());
        most.and_then(|text| text.trim().parse::<u64>().ok()).is_some_and(|most| most > 0)
    }

    /// True if it is a loop device with a file.
    pub(crate) fn is_file(&self) -> bool {
        self.sys.join("loop/backing_file").exists()
    }

    /// True if it is a loop device whose file is read and written through the page cache.
    pub(crate) fn is_buffered(&self) -> bool {
        self.is_file() && read_limited::of_the_kernel(self.sys.join("loop/dio")).is_ok_and(|text| text.trim() == "0")
    }

    /// The folder of its queue attributes; for a partition, its disk's.
    pub(crate) fn queue(&self) -> Option<PathBuf> {
        ["queue", "../queue"].into_iter().map(|place| self.sys.join(place)).find(|folder| folder.is_dir())
    }

    /// Bytes and flushes since the device appeared, of all programs.
    pub fn counters(&self) -> Option<DeviceBytes> {
        self.used().map(|used| used.moved)
    }

    /// Bytes that all programs have written to it. Returns `None` if the kernel does not count them.
    pub(crate) fn counted_writes(&self) -> Option<u64> {
        self.is_counted()?.then(|| self.counters())?.map(|counters| counters.written)
    }

    /// As [`Device::counted_writes`], and also for a device without a queue of its own, such as a mapped one: some
    /// kernels (6.1) count its writes whatever the switch says. The caller must check that a read of its own is
    /// counted.
    pub(crate) fn writes_if_reads_count(&self) -> Option<u64> {
        self.counted_writes().or_else(|| Some(self.counters().filter(|_| !self.has_requests())?.written))
    }

    /// True if the device has a queue of requests. A mapped device passes requests on to others.
    fn has_requests(&self) -> bool {
        self.queue().is_some_and(|queue| queue.with_file_name("mq").exists())
    }

    /// The file that switches on the kernel's I/O counters. Returns `None` if they are on or there is no such switch.
    pub(crate) fn switch_of_counting(&self) -> Option<PathBuf> {
        let queue = self.queue()?.canonicalize().ok()?;
        let disk = queue.parent()?.file_name()?;
        (!self.is_counted()?).then(|| Path::new("/sys/block").join(disk).join("queue").join(IOSTATS))
    }

    /// Returns whether the kernel's I/O counters are on. `None` if there is no such switch.
    fn is_counted(&self) -> Option<bool> {
        let text = read_limited::of_the_kernel(self.queue()?.join(IOSTATS)).ok()?;
        Some(text.trim() == "1")
    }

    /// Reads all counters since the device appeared, of all programs. For a partition, the flushes are its disk's: the
    /// kernel counts them only there. Returns `None` if the counters are switched off, because they would show that no
    /// byte reached the device. A device without requests of its own may count although its switch is off: on Linux
    /// 6.1, a mapped one does, and an NVMe disk with several paths does not. Counts above zero show that such a device
    /// counts. Limit: they may be from the time before its switch was turned off.
    pub fn used(&self) -> Option<DeviceUse> {
        let stat = |path: &str| parse_stat(&read_limited::of_the_kernel(self.sys.join(path)).ok()?);
        let mut used = stat("stat")?;
        let has_counted = used.reads > 0 || used.writes > 0;
        if self.is_counted() == Some(false) && (self.has_requests() || !has_counted) {
            return None;
        }
        if self.is_partition() {
            let disk = stat("../stat")?;
            used.moved.flushes = disk.moved.flushes;
            used.flushing = disk.flushing;
        }
        Some(used)
    }
}

/// Parses `stat` (Documentation/block/stat.rst). Its fields, counted from one: reads 1, their sectors 3, their
/// milliseconds 4; the same for writes 5, 7, 8; milliseconds busy 10; discards 12 and their milliseconds 15, since
/// Linux 4.18; flushes 16 and their milliseconds 17, since Linux 5.5.
fn parse_stat(text: &str) -> Option<DeviceUse> {
    let fields: Vec<u64> = text.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let field = |number: usize| fields.get(number - 1).copied();
    Some(DeviceUse {
        moved: DeviceBytes {
            read: field(3)?.saturating_mul(SECTOR),
            written: field(7)?.saturating_mul(SECTOR),
            flushes: field(16).unwrap_or(0),
        },
        reads: field(1)?,
        writes: field(5)?,
        reading: Nanos::from_millis(field(4)?),
        writing: Nanos::from_millis(field(8)?),
        flushing: field(17).map(Nanos::from_millis),
        discards: field(12).unwrap_or(0),
        discarding: Nanos::from_millis(field(15).unwrap_or(0)),
        busy: Nanos::from_millis(field(10)?),
    })
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;

    #[test]
    fn stat_is_read_field_by_field() {
        let stat = "   10  0  80  3   20  0  160  4  0  5  6  9  0  1  11  7  8\n";
        let used = DeviceUse {
            moved: DeviceBytes { read: 40_960, written: 81_920, flushes: 7 },
            reads: 10,
            writes: 20,
            reading: Nanos::from_millis(3),
            writing: Nanos::from_millis(4),
            flushing: Some(Nanos::from_millis(8)),
            discards: 9,
            discarding: Nanos::from_millis(11),
            busy: Nanos::from_millis(5),
        };
        assert_eq!(parse_stat(stat), Some(used));
        let before_5_5 = DeviceUse { moved: DeviceBytes { flushes: 0, ..used.moved }, flushing: None, ..used };
        assert_eq!(parse_stat("10 0 80 3 20 0 160 4 0 5 6 9 0 1 11"), Some(before_5_5));
        let before_4_18 = DeviceUse { discards: 0, discarding: Nanos::ZERO, ..before_5_5 };
        assert_eq!(parse_stat("10 0 80 3 20 0 160 4 0 5 6"), Some(before_4_18));
        assert_eq!(parse_stat("1 2 3"), None);
    }

    /// A device with these files, in a temporary folder that is removed when the first value is dropped.
    fn recorded(files: &[(&str, &str)]) -> (impl AsRef<Path> + use<>, Device) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let disk = folder.path().join("disk");
        for (path, text) in files {
            let path = disk.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        (folder, Device { name: "disk".to_owned(), sys: disk })
    }

    /// An array of the driver cciss is /dev/cciss/c0d0, and its folder in sysfs is cciss!c0d0.
    #[test]
    fn a_partition_has_the_name_of_its_node() {
        let (_folder, disk) = recorded(&[("cciss!c0d0p1/partition", "1\n"), ("queue/scheduler", "none\n")]);
        let nodes: Vec<PathBuf> = disk.partitions().iter().map(Device::node).collect();
        assert_eq!(nodes, [Path::new("/dev/cciss/c0d0p1")]);
    }

    #[test]
    fn the_drive_overrides_the_queue_on_its_write_cache() {
        let back = ("queue/write_cache", "write back\n");
        let through = ("queue/write_cache", "write through\n");
        let requests = ("mq/0/nr_tags", "1\n");
        for (files, keeps) in [
            (&[back][..], None),
            (&[back, requests], Some(WriteCache::Back)),
            (&[through, requests], Some(WriteCache::Through)),
            (&[through, requests, ("cache_type", "write through\n")], Some(WriteCache::Through)),
            (&[through, requests, ("cache_type", "write back\n")], Some(WriteCache::Overridden)),
            (
                &[through, requests, ("device/scsi_disk/0:0:0:0/cache_type", "write back\n")],
                Some(WriteCache::Overridden),
            ),
            (&[through, requests, ("loop/backing_file", "/a\n")], Some(WriteCache::Overridden)),
            (&[through, requests, ("queue/fua", "1\n")], Some(WriteCache::Overridden)),
            (&[through, requests, ("queue/fua", "0\n")], Some(WriteCache::Through)),
        ] {
            let (_folder, device) = recorded(files);
            assert_eq!(device.keeps_writes(), keeps, "{files:?}");
        }
        let (_folder, disk) = recorded(&[through, requests, ("queue/fua", "1\n")]);
        let ublk = Device { name: "ublkb0".to_owned(), ..disk };
        assert_eq!(ublk.keeps_writes(), Some(WriteCache::Through));
    }

    #[test]
    fn written_bytes_are_known_only_if_the_kernel_counts_them() {
        let stat = "10 0 80 3 20 0 160 4 0 5 6\n";
        for (iostats, stat, written) in
            [(Some("1\n"), stat, Some(81_920)), (Some("0\n"), stat, None), (None, stat, None), (Some("1\n"), "", None)]
        {
            let mut files =
                vec![("stat", stat), ("disk1/stat", stat), ("disk1/partition", "1\n"), ("queue/depth", "1\n")];
            files.extend(iostats.map(|text| ("queue/iostats", text)));
            let (_folder, disk) = recorded(&files);
            let partition = Device { name: "disk1".to_owned(), sys: disk.sys.join("disk1") };
            for device in [disk, partition] {
                assert_eq!(device.counted_writes(), written, "{iostats:?} {stat:?}");
                let is_off = iostats == Some("0\n");
                let switch = is_off.then(|| PathBuf::from("/sys/block/disk/queue/iostats"));
                assert_eq!(device.switch_of_counting(), switch);
            }
        }
    }

    /// As on Linux 6.1: mapped devices have no queue of requests, and their switch is off and has no effect.
    #[test]
    fn writes_of_devices_without_requests_may_count_although_the_switch_is_off() {
        let files = [("stat", "10 0 80 3 20 0 160 4 0 5 6\n"), ("queue/iostats", "0\n")];
        let (_folder, mapped) = recorded(&files);
        assert_eq!((mapped.counted_writes(), mapped.writes_if_reads_count()), (None, Some(81_920)));
        let (_folder, disk) = recorded(&[&files[..], &[("mq/0/nr_tags", "1\n")]].concat());
        assert_eq!(disk.writes_if_reads_count(), None);
    }

    #[test]
    fn counters_that_stand_still_are_not_read() {
        let (zero, some) = ("0 0 0 0 0 0 0 0 0 0 0\n", "10 0 80 3 20 0 160 4 0 5 6\n");
        let requests = ("mq/0/nr_tags", "1\n");
        for (stat, iostats, more, is_read) in [
            (zero, "1\n", Some(requests), true),
            (some, "0\n", Some(requests), false),
            (some, "0\n", None, true),
            (zero, "0\n", None, false),
        ] {
            let mut files = vec![("stat", stat), ("queue/iostats", iostats)];
            files.extend(more);
            let (_folder, device) = recorded(&files);
            assert_eq!(device.used().is_some(), is_read, "{files:?}");
        }
    }

    #[test]
    fn a_partition_has_the_flush_count_of_its_disk() {
        let (_folder, disk) = recorded(&[
            ("stat", "10 0 80 3 20 0 160 4 0 5 6 0 0 0 0 7 8\n"),
            ("disk1/partition", "1\n"),
            ("disk1/stat", "1 0 8 3 2 0 16 4 0 5 6 0 0 0 0 0 0\n"),
        ]);
        let used = Device { name: "disk1".to_owned(), sys: disk.sys.join("disk1") }.used().expect("seen");
        assert_eq!(used.moved, DeviceBytes { read: 4096, written: 8192, flushes: 7 });
        assert_eq!(used.flushing, Some(Nanos::from_millis(8)));
    }

    #[test]
    fn model_and_serial_number_are_those_printed_on_the_disk() {
        for (files, model, serial) in [
            (
                &[("device/model", "WDC WD40EFRX  \n"), ("device/vpd_pg80", "\0\u{1}\0\u{5}WX12 ")][..],
                "WDC WD40EFRX",
                "WX12",
            ),
            (&[("device/model", "Samsung SSD\n"), ("device/serial", " S6Z1\n")], "Samsung SSD", "S6Z1"),
        ] {
            let (_folder, disk) = recorded(&[files, &[("disk1/partition", "1\n")]].concat());
            let partition = Device { name: "disk1".to_owned(), sys: disk.sys.join("disk1") };
            assert!(disk.has_partitions() && !partition.has_partitions());
            for device in [disk, partition] {
                assert_eq!((device.model().as_deref(), device.serial().as_deref()), (Some(model), Some(serial)));
            }
        }
        let (_folder, disk) = recorded(&[("serial", "\n")]);
        assert_eq!((disk.model(), disk.serial()), (None, None));
        let (_folder, disk) = recorded(&[("queue/scheduler", "none [mq-deadline] kyber\n")]);
        assert_eq!(disk.scheduler().as_deref(), Some("mq-deadline"));
    }

    #[test]
    fn an_optimal_size_of_zero_is_no_preference() {
        for (size, optimal) in [("0\n", None), ("4194304\n", Some(4 << 20))] {
            let (_folder, disk) = recorded(&[("queue/optimal_io_size", size)]);
            assert_eq!(disk.optimal_io_bytes(), optimal);
        }
    }

    #[test]
    fn a_device_is_found_by_its_number() {
        let sys = tempfile::tempdir().expect("a scratch folder");
        let device = sys.path().join("dev/block/254:1");
        fs::create_dir_all(&device).expect("folders");
        fs::write(device.join("uevent"), "MAJOR=254\nMINOR=1\nDEVNAME=vda1\nDEVTYPE=partition\n").expect("a file");
        fs::write(device.join("size"), "2048\n").expect("a file");
        let found = Device::in_sys(sys.path(), 254, 1).expect("the device");
        assert_eq!((found.name.as_str(), found.bytes()), ("vda1", Some(1 << 20)));
        assert_eq!(found.node(), Path::new("/dev/vda1"));
        assert_eq!(Device::in_sys(sys.path(), 254, 2), None);
    }

    #[test]
    fn fuzz_statistics() {
        let examples = [
            "11 2 800 34 21 3 1600 44 0 50 60 1 2 3 4 5 6\n",
            "1 0 8 3 2 0 16 4 0 5 6\n",
            "1 0 8 3 2 0 68446744073709551",
        ];
        let read = |input: &[u8]| format!("{}", parse_stat(&String::from_utf8_lossy(input)).is_some());
        fuzz(&Subject::new("statistics of devices", examples, read).fast().with_words(&["18446744073709551615 ", " "]));
    }
}
