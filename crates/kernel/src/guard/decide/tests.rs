//! Decisions about recorded machines: their /sys and /proc in a temporary folder.

mod exports;

use std::cell::Cell;
use std::path::Path;

use super::super::device_uses::Sources;
use super::super::open_files::{Program, View};
use super::super::writers::{Writer, Writers};
use super::*;
use crate::observe::block_device::Device;
use crate::provision::loop_device::{Shown, Window};
use crate::recorded_machine::Recorded;

/// The root mount of every recorded machine.
const ROOT: &str = "1 0 254:0 / / rw - ext4 /dev/vda rw";

/// A machine with its root on vda, and a disk sda with two partitions.
fn machine() -> Recorded {
    let recorded = Recorded::new();
    recorded.add("pci/vda", "254:0", &[]);
    recorded.add("pci/sda", "8:0", &[("device/model", "WDC WD40\n"), ("device/serial", "WX12\n")]);
    recorded.add("pci/sda/sda1", "8:1", &[("partition", "1\n")]);
    recorded.add("pci/sda/sda2", "8:2", &[("partition", "2\n")]);
    recorded.mounts("thread-self", "mnt:[1]", &[ROOT]);
    recorded.write("proc/swaps", "Filename Type Size Used Priority\n");
    recorded
}

/// Returns the device number of a known node under /dev.
fn number_of(path: &Path) -> Option<Number> {
    let numbers = [("vda", (254, 0)), ("sda", (8, 0)), ("sda1", (8, 1)), ("sda2", (8, 2)), ("sdb", (8, 16))];
    let name = path.strip_prefix("/dev").ok()?.to_str()?;
    numbers.into_iter().find(|(known, _)| *known == name).map(|(_, number)| number)
}

fn backing(device: &Device) -> Option<Shown> {
    let file = |device, inode| Some(Backing::File { device, inode });
    let backing = match device.name.as_str() {
        // On the root file system, on an overlay, in a btrfs subvolume.
        "loop1" | "loop2" => file(rustix::fs::makedev(254, 0), 2),
        "loop4" | "loop5" => file(rustix::fs::makedev(0, 44), 2),
        "loop6" => file(rustix::fs::makedev(0, 77), 2),
        "loop3" => Some(Backing::Device((8, 0))),
        _ => None,
    };
    let limit = (device.name == "loop5").then_some(1 << 20);
    Some(Shown { backing: backing?, window: Window { offset: 0, limit }, is_encrypted: false })
}

/// Device number of the files in a btrfs subvolume, which contains only one file.
fn device_of(path: &Path) -> Option<u64> {
    (path == Path::new("/pool/images/a")).then_some(rustix::fs::makedev(0, 77))
}

/// A recorded machine with these writing processes.
fn machine_with(
    recorded: &Recorded,
    backing: &dyn Fn(&Device) -> Option<Shown>,
    writers: &dyn Fn() -> Writers,
) -> Machine {
    Machine::from_sources(&Sources {
        sys: recorded.sys(),
        proc: &recorded.proc(),
        number_of: &number_of,
        backing,
        maps: &|_| Some(Vec::new()),
        device_of: &device_of,
        file_bytes: &|path, _| (path == Path::new("/merged/grown")).then_some(1002 * 512),
        of_memory: None,
        is_own: &|_| false,
        writers: &|_| writers(),
    })
}

fn all(recorded: &Recorded, seen: &DeviceFacts) -> Vec<Reason> {
    reasons(seen, &machine_with(recorded, &backing, &Writers::default))
}

/// Returns the messages of all reasons not to overwrite the device of that number.
fn refusals(recorded: &Recorded, number: Number) -> Vec<String> {
    all(recorded, &DeviceFacts { number, ..DeviceFacts::default() }).iter().map(Reason::to_string).collect()
}

/// Returns the messages of all reasons not to overwrite any device of the machine. Checks that each has a hint.
pub(crate) fn fuzzed_reasons(recorded: &Recorded) -> String {
    let machine = machine_with(recorded, &backing, &Writers::default);
    let mut said = Vec::new();
    for block in &machine.blocks {
        for reason in reasons(&DeviceFacts { number: block.number, ..DeviceFacts::default() }, &machine) {
            assert!(!reason.hint().is_empty());
            said.push(reason.to_string());
        }
    }
    said.join(";")
}

#[test]
fn unused_disks_are_free_and_partitioned_ones_need_consent() {
    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    assert_eq!(refusals(&recorded, (8, 16)), [""; 0]);
    assert_eq!(refusals(&recorded, (8, 1)), [""; 0]);
    let seen = DeviceFacts { number: (8, 0), ..DeviceFacts::default() };
    let found = all(&recorded, &seen);
    assert_eq!(found, [Reason::Partitions(vec!["sda1".to_owned(), "sda2".to_owned()])]);
    assert!(found[0].can_be_lifted());
}

#[test]
fn the_disk_of_a_mounted_partition_is_refused() {
    let recorded = machine();
    recorded.mounts("7/task/7", "mnt:[1]", &[]);
    recorded.mounts("9/task/9", "mnt:[2]", &[ROOT, "2 1 8:1 / /srv/my\\040data rw - xfs /dev/sda1 rw"]);
    let found = refusals(&recorded, (8, 0));
    assert_eq!(found[0], "its partition sda1 is mounted at /srv/my data in another mount namespace (xfs)");
    assert_eq!(refusals(&recorded, (8, 2)), [""; 0], "its neighbour is free");
    assert_eq!(refusals(&recorded, (254, 0)), ["it is mounted at / (ext4)"]);
}

#[test]
fn a_partition_of_a_mounted_disk_is_refused() {
    let recorded = machine();
    recorded.mounts("9/task/11", "mnt:[3]", &["2 1 8:0 / /mnt rw - ext4 /dev/sda rw"]);
    let said = "sda, which is below it, is mounted at /mnt in another mount namespace (ext4)";
    assert_eq!(refusals(&recorded, (8, 1)), [said]);
}

#[test]
fn partitions_overlapping_a_refused_one_are_refused() {
    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[("size", "1000\n")]);
    // The third partition of a Sun disk label contains the whole disk.
    for (number, start, size) in [(1, 0, 400), (2, 400, 600), (3, 0, 1000)] {
        let (start, size) = (format!("{start}\n"), format!("{size}\n"));
        let files = [("partition", "1\n"), ("start", &*start), ("size", &*size)];
        recorded.add(&format!("pci/sdb/sdb{number}"), &format!("8:{}", 16 + number), &files);
    }
    assert_eq!(refusals(&recorded, (8, 19)), [""; 0]);
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 8:17 / /srv rw - xfs /dev/sdb1 rw"]);
    let mounted = "is mounted at /srv in another mount namespace (xfs)";
    assert_eq!(refusals(&recorded, (8, 17)), [format!("it {mounted}")]);
    assert_eq!(refusals(&recorded, (8, 19)), [format!("sdb1, which shares sectors with it, {mounted}")]);
    assert_eq!(refusals(&recorded, (8, 18)), [""; 0], "it shares no sectors with what is mounted");

    // A volume on sdb2 is a reason not to overwrite sdb3, which overlaps sdb2. A mount of sdb3 is a reason not to
    // overwrite the volume.
    recorded.add("virtual/dm-0", "253:0", &[("dm/name", "vg-home\n")]);
    recorded.stack("virtual/dm-0", "pci/sdb/sdb2");
    let held = "sdb2, which shares sectors with it, is part of dm-0 (vg-home)".to_owned();
    assert!(refusals(&recorded, (8, 19)).contains(&held), "{:?}", refusals(&recorded, (8, 19)));
    assert_eq!(refusals(&recorded, (253, 0)), [""; 0]);
    recorded.mounts("11/task/11", "mnt:[4]", &["2 1 8:19 / /all rw - ufs /dev/sdb3 rw"]);
    let found = refusals(&recorded, (253, 0));
    assert_eq!(found, ["sdb3, which shares sectors with it, is mounted at /all in another mount namespace (ufs)"]);
}

#[test]
fn a_mounted_lvm_volume_protects_its_disks_only() {
    let recorded = machine();
    for (name, number, called) in [("dm-0", "253:0", "vg-home\n"), ("dm-1", "253:1", "vg-scratch\n")] {
        recorded.add(&format!("virtual/{name}"), number, &[("dm/name", called)]);
        recorded.stack(&format!("virtual/{name}"), "pci/sda/sda2");
    }
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 253:0 / /home rw - ext4 /dev/mapper/vg-home rw"]);
    let found = refusals(&recorded, (8, 2));
    assert!(found.contains(&"it is part of dm-0 (vg-home)".to_owned()), "{found:?}");
    assert!(found.contains(&"it is part of dm-1 (vg-scratch)".to_owned()), "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("dm-0, which is on top of it, is mounted at /home")), "{found:?}");
    let disk = refusals(&recorded, (8, 0));
    assert!(disk.contains(&"its partition sda2 is part of dm-0 (vg-home)".to_owned()), "{disk:?}");
    assert_eq!(refusals(&recorded, (253, 1)), [""; 0], "another volume of the group shares no bytes");
    assert_eq!(refusals(&recorded, (253, 0)).len(), 1);
}

#[test]
fn raid_members_are_refused_and_the_raid_is_not() {
    let recorded = machine();
    recorded.add("virtual/md0", "9:0", &[("md/level", "raid1\n")]);
    recorded.add("pci/sdb", "8:16", &[]);
    recorded.stack("virtual/md0", "pci/sdb");
    recorded.stack("virtual/md0", "pci/sda/sda1");
    assert_eq!(refusals(&recorded, (8, 16)), ["it is part of md0"]);
    assert_eq!(refusals(&recorded, (8, 1)), ["it is part of md0"]);
    assert_eq!(refusals(&recorded, (9, 0)), [""; 0]);
    recorded.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
    assert_eq!(refusals(&recorded, (9, 0)), ["sdb, which is below it, is used as swap"]);
}

#[test]
fn both_disks_of_a_bcache_are_refused() {
    let recorded = machine();
    recorded.add("virtual/bcache0", "252:0", &[]);
    recorded.add("pci/sdb", "8:16", &[]);
    recorded.stack("virtual/bcache0", "pci/sdb");
    // The caching device is a holder link only, not a slave.
    recorded.link("virtual/bcache0", "devices/pci/sda/sda1/holders/bcache0");
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 252:0 / /data rw - xfs /dev/bcache0 rw"]);
    for number in [(8, 16), (8, 1)] {
        let found = refusals(&recorded, number);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "it is part of bcache0");
        assert!(found[1].starts_with("bcache0, which is on top of it, is mounted at /data"), "{found:?}");
    }
}

#[test]
fn an_encrypted_partition_in_use_is_refused() {
    let recorded = machine();
    recorded.add("virtual/dm-0", "253:0", &[("dm/name", "luks-3f\n"), ("dm/uuid", "CRYPT-LUKS2-3f\n")]);
    recorded.stack("virtual/dm-0", "pci/sda/sda1");
    assert_eq!(refusals(&recorded, (8, 1)), ["it is part of dm-0 (luks-3f)"]);
}

#[test]
fn a_partition_under_several_paths_is_refused() {
    let recorded = machine();
    recorded.add("virtual/dm-0", "253:0", &[("dm/name", "mpatha\n")]);
    recorded.stack("virtual/dm-0", "pci/sda");
    assert_eq!(refusals(&recorded, (8, 1)), ["sda, which is below it, is part of dm-0 (mpatha)"]);
}

#[test]
fn a_loop_device_shares_the_bytes_of_its_disk() {
    let recorded = machine();
    recorded.add("virtual/loop3", "7:3", &[("loop/backing_file", "/dev/sda\n")]);
    assert_eq!(refusals(&recorded, (8, 0))[0], "it is the backing device of loop3");
    assert_eq!(refusals(&recorded, (8, 1)), ["sda, which is below it, is the backing device of loop3"]);
    assert_eq!(refusals(&recorded, (7, 3)), [""; 0]);
    recorded.add("pci/sda/sda3", "8:3", &[("partition", "3\n"), ("start", "8\n"), ("size", "8\n")]);
    recorded.mounts("8/task/8", "mnt:[3]", &["2 1 8:3 / /srv rw - xfs /dev/sda3 rw"]);
    let found = refusals(&recorded, (7, 3));
    assert_eq!(found, ["sda3, which shares sectors with it, is mounted at /srv in another mount namespace (xfs)"]);
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 8:0 / /mnt rw - ext4 /dev/sda rw"]);
    assert!(refusals(&recorded, (7, 3))[0].starts_with("sda, which is below it, is mounted"));
}

#[test]
fn loop_devices_on_one_file_are_found_by_its_inode() {
    let recorded = machine();
    recorded.add("virtual/loop1", "7:1", &[("loop/backing_file", "/images/a\n")]);
    assert_eq!(refusals(&recorded, (7, 1)), [""; 0]);
    recorded.add("virtual/loop2", "7:2", &[("loop/backing_file", "/other/link (deleted)\n")]);
    assert_eq!(refusals(&recorded, (7, 1)), ["loop2 has the same backing file"]);
}

#[test]
fn a_loop_device_with_a_hidden_file_may_be_on_any_disk() {
    let recorded = machine();
    recorded.add("virtual/loop8", "7:8", &[]);
    assert_eq!(refusals(&recorded, (8, 1)), [""; 0], "it is attached to nothing");
    recorded.add("virtual/loop9", "7:9", &[("loop/backing_file", "/of/another/namespace\n")]);
    let shown = "loop9 has the same size and may have the same bytes: \
                 its backing file is on a file system that diskperf cannot see";
    assert_eq!(refusals(&recorded, (8, 1)), [shown, "diskperf cannot see which programs use it"]);
    let seen = DeviceFacts { number: (8, 1), ..DeviceFacts::default() };
    assert!(!all(&recorded, &seen)[0].can_be_lifted());

    // A loop device that is detached during the inspection has no backing.
    let file = recorded.sys().join("devices/virtual/loop9/loop/backing_file");
    let detached = |device: &Device| {
        let _ = std::fs::rename(&file, file.with_extension("gone"));
        backing(device)
    };
    assert_eq!(reasons(&seen, &machine_with(&recorded, &detached, &Writers::default)), []);
}

#[test]
fn file_systems_in_use_without_visible_mount_are_refused() {
    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    recorded.write("fs/ext4/sdb/session_write_kbytes", "1\n");
    let alive = "it has a file system in use (ext4) without a visible mount";
    assert_eq!(refusals(&recorded, (8, 16)), [alive]);

    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    recorded.link("pci/sdb", "fs/btrfs/0b1c/devices/sdb");
    recorded.link("pci/sda/sda1", "fs/btrfs/0b1c/devices/sda1");
    assert_eq!(refusals(&recorded, (8, 16)), ["it is a member of a btrfs in use (0b1c)"]);
    assert_eq!(refusals(&recorded, (8, 1)), ["it is a member of a btrfs in use (0b1c)"]);

    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    recorded.write("proc/fs/jbd2/sdb/info", "\n");
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 253:0 / /x rw - xfs /dev/none rw,logdev=/dev/sda2"]);
    assert_eq!(refusals(&recorded, (8, 16)), ["it is the journal of a file system in use"]);
    assert_eq!(refusals(&recorded, (8, 2)), ["it is the journal of a file system in use"]);
}

#[test]
fn an_exclusive_holder_is_named_if_it_is_known() {
    let recorded = machine();
    let seen = DeviceFacts { number: (8, 1), is_claimed: Some(true), ..DeviceFacts::default() };
    assert_eq!(all(&recorded, &seen), [Reason::Claimed]);
    recorded.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda1 partition 1 0 -2\n");
    let found = all(&recorded, &seen);
    assert!(matches!(&found[..], [Reason::Used { by: Use::Swap, .. }]), "{found:?}");
}

#[test]
fn devices_are_refused_if_their_use_cannot_be_seen() {
    let recorded = Recorded::new();
    recorded.add("pci/sdb", "8:16", &[]);
    assert_eq!(refusals(&recorded, (8, 16)), ["diskperf cannot see which programs use it"]);
    assert_eq!(refusals(&machine(), (8, 99)), ["diskperf cannot see which programs use it"]);
}

#[test]
fn only_data_may_be_destroyed_and_every_reason_has_a_hint() {
    let what = Relative { kind: Kinship::Itself, name: "sda".to_owned() };
    let signature = Signature { format: "ext4", label: None, is_table: false, uuid: None, at: 0, length: 2 };
    let mounted = |is_elsewhere| Use::Mounted { at: "/\u{1b}[2J".into(), file_system: "ext4".to_owned(), is_elsewhere };
    let by = [
        mounted(true),
        mounted(false),
        Use::Alive("xfs".to_owned()),
        Use::Swap,
        Use::Btrfs("0b1c".to_owned()),
        Use::Journal,
        Use::Held("dm-0".to_owned()),
        Use::Loop("loop1".to_owned()),
        Use::Open(Program { pid: 1, name: "\u{1b}[2J".to_owned() }),
        Use::FileOpen(Program { pid: 1, name: "a".to_owned() }),
    ];
    let never = by.into_iter().map(|by| Reason::Used { what: what.clone(), by });
    let never: Vec<Reason> = never
        .chain([Reason::SameFile("loop1".to_owned()), Reason::ReadOnly, Reason::Claimed, Reason::Unseen])
        .chain([
            Reason::UnseenFile { what: what.clone(), file_system: "fuse.\u{1b}".to_owned() },
            Reason::MayShow { device: "loop1".to_owned(), is_part: true, file_system: "fuse.\u{1b}".to_owned() },
            Reason::HiddenProcesses(1),
            Reason::LeftOutProcesses,
        ])
        .collect();
    let asked = [
        Reason::Holds(signature),
        Reason::Partitions(vec!["sda1".to_owned()]),
        Reason::Uncounted(None),
        Reason::Uncounted(Some("/sys/block/a\n/queue/iostats".into())),
        Reason::UnseenWrites("its disk a\n".to_owned()),
    ];
    assert!(never.iter().all(|reason| !reason.can_be_lifted()) && asked.iter().all(Reason::can_be_lifted));
    for reason in never.iter().chain(&asked) {
        assert!(!reason.hint().is_empty());
        assert!(!reason.to_string().contains(char::is_control) && !reason.hint().contains(char::is_control));
    }
}

#[test]
fn sizes_are_recognized_in_any_unambiguous_unit() {
    for typed in ["64MiB", "64 MiB", "67108864"] {
        assert!(is_size(typed, 64 << 20), "{typed}");
    }
    for typed in ["", "64", "64 MB", "65MiB"] {
        assert!(!is_size(typed, 64 << 20), "{typed}");
    }
    assert!(is_size(&Bytes(1_000_204_886_016).to_string(), 1_000_204_886_016));
}

#[test]
fn two_paths_to_one_disk_are_one_disk() {
    let named = |wwid: &'static str, size: &'static str| [("device/wwid", wwid), ("size", size)];
    let partition = |start: &'static str| [("partition", "1\n"), ("start", start), ("size", "100\n")];
    let two_ways = |wwid: &'static str, size: &'static str| {
        let recorded = machine();
        recorded.add("pci/1/sdc", "8:32", &named("naa.600508b1\n", "1000\n"));
        recorded.add("pci/1/sdc/sdc1", "8:33", &partition("0\n"));
        recorded.add("pci/2/sdd", "8:48", &named(wwid, size));
        recorded.add("pci/2/sdd/sdd1", "8:49", &partition("0\n"));
        recorded.add("pci/2/sdd/sdd2", "8:50", &partition("100\n"));
        recorded.mounts("9/task/9", "mnt:[2]", &["2 1 8:49 / /srv rw - xfs /dev/sdd1 rw"]);
        recorded
    };
    let recorded = two_ways("naa.600508b1\n", "1000\n");
    let mounted = "is mounted at /srv in another mount namespace (xfs)";
    assert_eq!(refusals(&recorded, (8, 32))[0], format!("sdd1, which is on top of it, {mounted}"));
    assert_eq!(refusals(&recorded, (8, 33)), [format!("sdd1, which shares sectors with it, {mounted}")]);
    assert_eq!(refusals(&recorded, (8, 50)), [""; 0], "it has other sectors");
    for (wwid, size) in [("naa.600508b2\n", "1000\n"), ("naa.600508b1\n", "2000\n"), ("\n", "1000\n")] {
        let recorded = two_ways(wwid, size);
        assert_eq!(refusals(&recorded, (8, 32)), ["it has partitions (sdc1)"], "{wwid} {size}");
        assert_eq!(refusals(&recorded, (8, 33)), [""; 0], "{wwid} {size}");
    }

    // Both paths are held by the multipath device, which does not block itself.
    let recorded = two_ways("naa.600508b1\n", "1000\n");
    recorded.add("virtual/dm-0", "253:0", &[("dm/name", "mpatha\n"), ("size", "1000\n")]);
    recorded.stack("virtual/dm-0", "pci/1/sdc");
    recorded.stack("virtual/dm-0", "pci/2/sdd");
    assert!(refusals(&recorded, (8, 32)).contains(&"it is part of dm-0 (mpatha)".to_owned()));

    // Two paths are recognised by model and serial number. The boot areas of one card are two devices.
    let recorded = machine();
    let printed = [("device/model", "EVO\n"), ("device/serial", "S3Z9\n"), ("size", "8192\n")];
    recorded.add("pci/1/sde", "8:64", &printed);
    recorded.add("pci/2/sdf", "8:80", &printed);
    recorded.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
    assert_eq!(refusals(&recorded, (8, 64)), [""; 0]);
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 8:80 / /srv rw - xfs /dev/sdf rw"]);
    assert_eq!(refusals(&recorded, (8, 64)), [format!("sdf, which is another path to the same disk, {mounted}")]);

    let recorded = machine();
    recorded.write("devices/card/name", "DG4016\n");
    recorded.write("devices/card/serial", "0x1\n");
    for (name, number) in [("boot0", "179:8"), ("boot1", "179:16")] {
        recorded.add(&format!("card/{name}"), number, &[("size", "8192\n")]);
        recorded.link("card", &format!("devices/card/{name}/device"));
    }
    recorded.mounts("9/task/9", "mnt:[2]", &["2 1 179:16 / /srv rw - xfs /dev/boot1 rw"]);
    assert_eq!(refusals(&recorded, (179, 8)), [""; 0]);
}

#[test]
fn a_device_name_may_contain_a_slash() {
    let recorded = machine();
    let device = recorded.add("pci/cciss!c0d0", "104:0", &[]);
    recorded.write("devices/pci/cciss!c0d0/uevent", "DEVNAME=cciss/c0d0\n");
    let device = Device::in_sys(recorded.sys(), 104, 0).unwrap_or(device);
    assert_eq!(device.node(), Path::new("/dev/cciss/c0d0"));
    assert_eq!(refusals(&recorded, (104, 0)), [""; 0]);
    recorded.write("fs/xfs/cciss!c0d0/log/log_head_lsn", "1\n");
    let alive = "it has a file system in use (xfs) without a visible mount";
    assert_eq!(refusals(&recorded, (104, 0)), [alive]);
    recorded.add("pci/cciss!c0d1", "104:16", &[]);
    recorded.write("devices/pci/cciss!c0d1/uevent", "DEVNAME=cciss/c0d1\n");
    recorded.link("pci/cciss!c0d0", "devices/pci/sda/sda1/holders/cciss!c0d0");
    recorded.write("proc/fs/jbd2/cciss!c0d1-8/info", "\n");
    recorded.write("proc/fs/jbd2/cciss!c0d1/info", "\n");
    assert_eq!(refusals(&recorded, (104, 16)), ["it is the journal of a file system in use"]);
    assert_eq!(refusals(&recorded, (8, 1))[0], "it is part of cciss/c0d0");
}

#[test]
fn an_unreadable_mount_may_be_of_any_device() {
    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    assert_eq!(refusals(&recorded, (8, 16)), [""; 0]);
    // A mount point that is not UTF-8.
    recorded.mounts("9/task/9", "mnt:[2]", &[]);
    let lines = b"2 1 0:44 / /mnt/\xFF rw - fuse x rw\n3 1 8:16 / /srv rw - xfs /dev/sdb rw\n";
    std::fs::write(recorded.proc().join("9/task/9/mountinfo"), lines).expect("lines");
    assert!(refusals(&recorded, (8, 16))[0].starts_with("it is mounted at /srv"));
    recorded.mounts("11/task/11", "mnt:[3]", &["a line of a kernel to come"]);
    assert_eq!(refusals(&recorded, (8, 16)), ["diskperf cannot see which programs use it"]);
}

/// Mounts of an overlay and of a btrfs pool.
const OVERLAY: &str = "5 1 0:44 / /merged rw - overlay overlay rw";
const POOL: &str = "6 1 0:50 / /pool rw - btrfs /dev/sdb rw";

/// If only root may ask a loop device, the list of mounts shows the file system of its file.
#[test]
fn an_unreadable_loop_device_may_show_any_device_of_its_size() {
    let recorded = machine();
    recorded.write("proc/thread-self/mountinfo", &format!("{ROOT}\n{OVERLAY}\n"));
    recorded.add("virtual/loop8", "7:8", &[("size", "1000\n")]);
    recorded.add("pci/sdb", "8:16", &[("size", "1000\n")]);
    let unseen = "diskperf cannot see which programs use it";
    for (file, file_system) in
        [("/merged/img\n", "overlay"), ("/gone (deleted)\n", "a file system that diskperf cannot see")]
    {
        recorded.write("devices/virtual/loop8/loop/backing_file", file);
        let same = "loop8 has the same size and may have the same bytes: its backing file is on";
        assert_eq!(refusals(&recorded, (8, 16)), [format!("{same} {file_system}").as_str(), unseen], "{file}");
    }
}

#[test]
fn loop_devices_on_overlays_may_be_any_device_of_their_size() {
    let file = ("loop/backing_file", "/merged/img\n");
    let recorded = machine();
    recorded.mounts("9/task/9", "mnt:[2]", &[ROOT, OVERLAY]);
    recorded.add("virtual/loop4", "7:4", &[file, ("size", "1000\n")]);
    let unseen = "it has a backing file on overlay, which may be in use under another name";
    assert_eq!(refusals(&recorded, (7, 4)), [unseen]);
    let shown = "loop4 has the same size and may have the same bytes: its backing file is on overlay";
    recorded.add("virtual/loop1", "7:1", &[("loop/backing_file", "/upper/img\n"), ("size", "1000\n")]);
    assert_eq!(refusals(&recorded, (7, 1)), [shown], "it is the same size");
    assert_eq!(refusals(&recorded, (7, 4)), [unseen], "that of an ordinary file does not hide behind another");
    recorded.add("pci/sdb", "8:16", &[("size", "1000\n")]);
    recorded.add("pci/sdb/sdb1", "8:17", &[("partition", "1\n"), ("size", "900\n")]);
    assert_eq!(refusals(&recorded, (8, 17)), [shown], "its file may be the disk");
    recorded.add("pci/sdc", "8:32", &[("size", "1001\n")]);
    assert_eq!(refusals(&recorded, (8, 32)), [""; 0], "it has another size");
    recorded.write("devices/virtual/loop4/loop/backing_file", "/merged/grown\n");
    recorded.add("pci/sdd", "8:48", &[("size", "1002\n")]);
    assert_eq!(refusals(&recorded, (8, 48)), [shown], "the file has grown since");
    recorded.write("devices/virtual/loop4/loop/backing_file", file.1);
    recorded.write("devices/pci/sdd/size", "7\n");

    // Writes to a device on top of it reach the file.
    recorded.add("virtual/dm-0", "253:0", &[("size", "500\n")]);
    recorded.stack("virtual/dm-0", "virtual/loop4");
    let below = "loop4, which is below it, has a backing file on overlay, which may be in use under another name";
    assert_eq!(refusals(&recorded, (253, 0)), [below]);

    // If a device shows a part of its file, the size of the file is unknown.
    let part = "loop5 may share bytes with it: loop5 is a part of a file on overlay";
    let recorded = machine();
    recorded.mounts("9/task/9", "mnt:[2]", &[ROOT, OVERLAY]);
    recorded.add("virtual/loop5", "7:5", &[file, ("size", "1000\n")]);
    for (name, number, size, may) in
        [("sdb", (8, 16), "1000\n", true), ("sdc", (8, 32), "5000\n", true), ("sdd", (8, 48), "900\n", false)]
    {
        recorded.add(&format!("pci/{name}"), &format!("{}:{}", number.0, number.1), &[("size", size)]);
        assert_eq!(refusals(&recorded, number), Vec::from_iter(may.then_some(part)), "{name}");
    }
}

#[test]
fn loop_device_files_are_found_in_all_mount_namespaces() {
    let file = ("loop/backing_file", "/pool/images/a\n");
    let told = |lines: &[&str]| {
        let recorded = machine();
        recorded.mounts("9/task/9", "mnt:[2]", lines);
        recorded.add("virtual/loop6", "7:6", &[file, ("size", "1000\n")]);
        recorded
    };
    let unknown = "it has a backing file on a file system that diskperf cannot see, \
                   which may be in use under another name";
    assert_eq!(refusals(&told(&[ROOT]), (7, 6)), [unknown]);
    // A btrfs subvolume has its own device number. It is found by the file's name, and only on btrfs.
    let on_pool = told(&[ROOT]);
    on_pool.write("proc/thread-self/mountinfo", &[ROOT, POOL, ""].join("\n"));
    assert_eq!(refusals(&on_pool, (7, 6)), [""; 0]);
    let hidden = told(&[ROOT]);
    hidden.write(
        "proc/thread-self/mountinfo",
        &[ROOT, POOL, "7 6 0:60 / /pool/images rw - nfs4 there:/ rw", ""].join("\n"),
    );
    assert_eq!(refusals(&hidden, (7, 6)), [unknown]);

    // A file system that is in use but mounted nowhere any more.
    let recorded = Recorded::new();
    recorded.add("pci/vda", "254:0", &[]);
    recorded.add("virtual/loop1", "7:1", &[("loop/backing_file", "/images/a\n"), ("size", "1000\n")]);
    recorded.mounts("thread-self", "mnt:[1]", &["1 0 8:0 / / rw - ext4 /dev/sda rw"]);
    assert_eq!(refusals(&recorded, (7, 1)), [unknown]);
    recorded.write("fs/ext4/vda/session_write_kbytes", "1\n");
    assert_eq!(refusals(&recorded, (7, 1)), [""; 0]);
}

#[test]
fn devices_sharing_bytes_with_one_open_for_writing_are_in_use() {
    let recorded = machine();
    recorded.add("virtual/loop1", "7:1", &[("loop/backing_file", "/images/a\n")]);
    let file = Backing::File { device: rustix::fs::makedev(254, 0), inode: 2 };
    let refusals = |what: &Backing, hidden: usize, number: Number| {
        let program = Program { pid: 12, name: "q\u{1b}mu".to_owned() };
        let open = vec![Writer { program: program.clone(), what: what.clone() }];
        let view = View { lacks_rights: hidden != 3, ..View::default() };
        let hidden = vec![program; hidden];
        let who = Cell::new(Some(Writers { open, hidden, view }));
        let machine = machine_with(&recorded, &backing, &|| who.take().expect("asked once"));
        let seen = DeviceFacts { number, ..DeviceFacts::default() };
        let said: Vec<String> =
            reasons(&seen, &machine).iter().filter(|one| !one.can_be_lifted()).map(Reason::to_string).collect();
        said
    };
    let disk = Backing::Device((8, 0));
    assert_eq!(refusals(&disk, 0, (8, 0)), ["it is open for writing in process 12 (q?mu)"]);
    assert_eq!(refusals(&disk, 0, (8, 1)), ["sda, which is below it, is open for writing in process 12 (q?mu)"]);
    assert_eq!(
        refusals(&Backing::Device((8, 2)), 0, (8, 0)),
        ["its partition sda2 is open for writing in process 12 (q?mu)"]
    );
    assert_eq!(refusals(&Backing::Device((8, 2)), 0, (8, 1)), [""; 0]);
    assert_eq!(refusals(&file, 0, (7, 1)), ["it has a backing file that is open for writing in process 12 (q?mu)"]);
    assert_eq!(refusals(&file, 0, (8, 0)), [""; 0]);
    assert_eq!(refusals(&file, 1, (8, 0)), ["1 process does not show whether it has the device open for writing"]);
    assert_eq!(refusals(&file, 3, (8, 0)), [""; 0], "they hide from the administrator too");
    assert_eq!(refusals(&file, 7, (8, 0)), ["7 processes do not show whether they have the device open for writing"]);
}

/// With hidepid, /proc shows no process of another user, so none is counted as hidden.
#[test]
fn nothing_is_overwritten_if_proc_hides_processes() {
    let recorded = machine();
    recorded.add("pci/sdb", "8:16", &[]);
    let left_out = "/proc hides other users' processes (hidepid), which may have the device open for writing";
    for (lacks_rights, leaves_out, is_of_namespace, said) in [
        (false, false, false, None),
        (true, false, false, None),
        (false, true, false, None),
        (true, true, false, Some(left_out)),
        (true, true, true, Some(left_out)),
        // In a container, the user is only warned of programs outside: O_EXCL refuses devices that they have mounted.
        (false, false, true, None),
    ] {
        let view = View { lacks_rights, leaves_out, is_of_namespace };
        let machine = machine_with(&recorded, &backing, &|| Writers { view, ..Writers::default() });
        let found = reasons(&DeviceFacts { number: (8, 16), ..DeviceFacts::default() }, &machine);
        assert_eq!(found.iter().map(Reason::to_string).collect::<Vec<_>>(), Vec::from_iter(said), "{view:?}");
    }
}
