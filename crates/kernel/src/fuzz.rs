//! Fuzzes the readers of /proc and /sys: a recorded machine in which one file at a time has content that no kernel
//! wrote.

use testkit::fuzz::{Subject, fuzz};

use crate::guard::fuzzed_reasons;
use crate::observe::block_device::Device;
use crate::observe::block_stack;
use crate::observe::counters::{Snapshot, Source, groups_seen};
use crate::observe::mount;
use crate::observe::sysfs_attribute::chosen;
use crate::recorded_machine::Recorded;

/// The recorded files, as kernels wrote them.
const FILES: [(&str, &str); 43] = [
    (
        "proc/thread-self/mountinfo",
        "28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
         30 28 8:1 / /srv/my\\040data rw master:2 propagate_from:3 - xfs /dev/sda1 rw,logdev=/dev/sda2\n\
         32 28 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
         35 28 0:32 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
         38 28 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
         41 28 0:38 / /sys/fs/cgroup/unified rw unbindable - cgroup2 cgroup2 rw,nsdelegate\n\
         44 28 0:44 / /mnt/x rw - fuse.sshfs me@there:/home rw,user_id=0\n",
    ),
    ("proc/9/task/9/mountinfo", "2 1 8:0 / /mnt rw - ext4 /dev/sda rw\n"),
    ("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1048572 0 -2\n/swapfile file 4 0 -3\n"),
    (
        "proc/stat",
        "cpu  10132153 290696 3084719 46828483 16683 0 25195 175628 0 0\ncpu0 1393280 32966 572056 13343292 6130\n",
    ),
    (
        "proc/pressure/cpu",
        "some avg10=0.32 avg60=2.60 avg300=3.52 total=36449\nfull avg10=0.00 avg60=0 avg300=0 total=7\n",
    ),
    ("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1264\n"),
    ("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
    (
        "proc/vmstat",
        "nr_dirty 21352\nnr_writeback 8\nnr_dirty_threshold 1195955\nnr_dirty_background_threshold 597247\n\
         workingset_refault_file 9\ndrop_pagecache 7\ndrop_slab 2\n",
    ),
    (
        "proc/self/io",
        "rchar: 3980\nwchar: 0\nsyscr: 9\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n",
    ),
    ("proc/thread-self/io", "rchar: 3980\nwchar: 0\nsyscr: 9\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\n"),
    ("proc/thread-self/cgroup", "7:blkio:/job\n4:memory:/box/job/small\n2:cpu,cpuacct:/job/slow\n0::/user/job\n"),
    ("proc/fs/jbd2/sda2-8/info", "1 transactions\n"),
    (
        "proc/fs/jbd2/vda-8/info",
        "412 transactions (409 requested), each up to 1024 blocks\naverage: \n  2100us average transaction commit \
         time\n  3 blocks per transaction\n",
    ),
    ("proc/sys/vm/dirty_ratio", "20\n"),
    ("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 12000\n"),
    ("sys/fs/cgroup/cpu/job/slow/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 30000\n"),
    ("sys/fs/cgroup/blkio/job/blkio.throttle.read_bps_device", "8:0 1048576\n254:0 2097152\n"),
    ("sys/fs/cgroup/blkio/job/blkio.throttle.write_iops_device", "254:0 120\n"),
    ("sys/fs/cgroup/blkio/job/blkio.throttle.io_service_bytes", "254:0 Read 4096\n254:0 Write 8192\nTotal 12288\n"),
    ("sys/fs/cgroup/memory/job/small/memory.stat", "cache 1\ntotal_workingset_refault_file 3\n"),
    ("sys/fs/cgroup/memory/job/small/memory.limit_in_bytes", "67108864\n"),
    ("sys/fs/cgroup/unified/user/job/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=120\n254:0 rbps=1\n"),
    ("sys/fs/cgroup/unified/user/job/io.stat", "8:0 rbytes=4096 wbytes=1 rios=1 wios=7 dbytes=0 dios=0\n"),
    ("sys/fs/cgroup/unified/user/job/cpu.stat", "usage_usec 5\nthrottled_usec 30\n"),
    ("sys/fs/cgroup/unified/user/cpu.stat", "usage_usec 9\nthrottled_usec 12\n"),
    ("sys/devices/system/cpu/online", "0-3,8\n"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"),
    ("devices/pci/vda/stat", "11 2 800 34 21 3 1600 44 0 50 60 1 2 3 4 5 6\n"),
    ("devices/pci/vda/size", "209715200\n"),
    ("devices/pci/vda/uevent", "MAJOR=254\nMINOR=0\nDEVNAME=vda\nDEVTYPE=disk\nDISKSEQ=9\n"),
    ("devices/pci/vda/dev", "254:0\n"),
    ("devices/pci/vda/queue/scheduler", "none [mq-deadline] kyber\n"),
    ("devices/pci/vda/queue/write_cache", "write back\n"),
    ("devices/pci/vda/cache_type", "write through\n"),
    ("devices/pci/sda/device/model", "WDC WD40EFRX-68N\n"),
    ("devices/pci/sda/device/wwid", "naa.50014ee2b5e7c5c5\n"),
    ("devices/pci/sda/device/vpd_pg80", "\0\u{1}\0\u{5}WX12 "),
    ("devices/pci/sda/sda1/start", "2048\n"),
    ("devices/pci/sda/sda1/size", "1000000\n"),
    ("devices/pci/sda/sda1/stat", "1 0 8 3 2 0 16 4 0 5 6 0 0 0 0 0 0\n"),
    ("devices/virtual/loop3/loop/backing_file", "/images/a (deleted)\n"),
    ("bus/xen-backend/devices/vbd-1-51712/physical_device", "8:0\n"),
    ("kernel/config/target/core/iblock_0/disk/udev_path", "/dev/sda\n"),
];

/// Words that the fuzzer inserts: they occur in such files.
const WORDS: &[&str] = &[
    "8:0",
    "254:0",
    "0:0",
    " - ",
    "max",
    "total=",
    "some ",
    "cpu ",
    "\\040",
    "\\134",
    "/dev/sda",
    "/dev/vda",
    "ext4",
    "btrfs",
    "18446744073709551615",
    "9223372036854775808",
    "[",
    "]",
    "DEVNAME=",
    "logdev=",
    "shared:",
    "(deleted)",
    "\n",
    "\t",
    " ",
];

/// A machine with these files.
fn machine() -> Recorded {
    let recorded = Recorded::new();
    for (place, number) in
        [("pci/vda", "254:0"), ("pci/sda", "8:0"), ("virtual/loop3", "7:3"), ("virtual/dm-0", "253:0")]
    {
        recorded.add(place, number, &[]);
    }
    for (place, number) in [("pci/sda/sda1", "8:1"), ("pci/sda/sda2", "8:2")] {
        recorded.add(place, number, &[("partition", "1\n")]);
    }
    recorded.stack("virtual/dm-0", "pci/sda/sda2");
    recorded.link("pci/sda/sda1", "fs/btrfs/0b1c/devices/sda1");
    recorded.mounts("thread-self", "mnt:[1]", &[]);
    recorded.mounts("9/task/9", "mnt:[2]", &[]);
    FILES.iter().for_each(|(file, text)| recorded.write(file, text));
    recorded
}

/// Reads everything that depends on this file, and returns a summary of the findings.
fn read(recorded: &Recorded, file: &str, before: &Snapshot, devices: &[(Device, u32)]) -> String {
    let places = ["devices/", "proc/swaps", "proc/fs", "bus/", "kernel/"];
    let is_of_devices = places.iter().any(|place| file.starts_with(place));
    let mut said = if is_of_devices || file.ends_with("mountinfo") { fuzzed_reasons(recorded) } else { String::new() };
    let source = Source::below(recorded.sys());
    let counters = Snapshot::brief(&source, devices).briefly_since(before);
    let settings = source.settings(devices, &[]);
    let seen = groups_seen(&source);
    let mut known = 0;
    for (major, minor) in [(254, 0), (8, 0), (8, 1), (7, 3), (253, 0)] {
        let Some(device) = Device::in_sys(recorded.sys(), major, minor) else { continue };
        let printed = [device.model(), device.serial(), device.identity()].map(Option::unwrap_or_default);
        assert!(!printed.iter().any(|text| text.contains(char::is_control)), "{printed:?}");
        known += usize::from(device.bytes().is_some()) + usize::from(device.used().is_some());
        let _ = (device.sectors(), device.keeps_writes(), device.write_cache(), block_stack::backing_file(&device));
    }
    let scheduler = recorded.sys().join("devices/pci/vda/queue/scheduler");
    let value = chosen(&crate::sys::read_limited::of_the_kernel(scheduler).unwrap_or_default());
    let lines = mount::mount_lines(&recorded.proc().join("thread-self")).unwrap_or_default();
    let mounts = mount::mounts_in(&lines).map_or(0, |mounts| mounts.len());
    said += &format!(
        "{known} {mounts} {value} {} {:?} {:?} {} {}",
        settings.len(),
        seen,
        source.dirtiness().is_some(),
        counters.machine.is_some(),
        counters.quota.cpu.is_some(),
    );
    said.replace(|c: char| c.is_ascii_digit(), "x")
}

#[test]
fn fuzz_kernel_files() {
    let recorded = machine();
    let number = |(major, minor)| Device::in_sys(recorded.sys(), major, minor).expect("the device");
    let devices = [((254, 0), 0), ((8, 1), 1)].map(|(device, depth)| (number(device), depth));
    let before = Snapshot::brief(&Source::below(recorded.sys()), &devices);
    // The first byte of the input selects the file.
    let examples = FILES.iter().enumerate().map(|(index, (_, text))| [&[index as u8], text.as_bytes()].concat());
    let examples: Vec<Vec<u8>> = examples.collect();
    let subject = Subject::new("what the kernel says", examples, move |input| {
        let Some((index, text)) = input.split_first() else { return String::new() };
        let (file, usual) = FILES[usize::from(*index) % FILES.len()];
        let path = recorded.sys().join(file);
        std::fs::write(&path, text).expect("a file");
        let said = read(&recorded, file, &before, &devices);
        std::fs::write(&path, usual).expect("a file");
        said
    });
    fuzz(&subject.with_words(WORDS));
}

/// Fuzzes the text form of a process in notes and in the results database.
#[test]
fn fuzz_processes() {
    let examples = ["4711 81234 0c2a-boot pid:[4026531836]", "-1 0  pid:[1]"];
    let read = |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        let Ok(process) = text.parse::<crate::ProcessIdentity>() else { return "none".to_owned() };
        assert_eq!(process.to_string().parse::<crate::ProcessIdentity>().ok(), Some(process.clone()));
        format!("{} {}", process.is_of_this_boot(), process.can_be_seen() && process.lives())
    };
    fuzz(&Subject::new("processes", examples, read).fast());
}
