//! The guard on the real kernel. A device that is in use, or that holds data, is refused for the right reason and keeps
//! every byte. If the user's permission can override the reason, the same device is then accepted.

#[allow(dead_code, reason = "what other tests share")]
mod common;

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{FileExt, OpenOptionsExt, symlink};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{in_mounts_of_its_own, tool};
use kernel::Cleared;
use kernel::guard::{GuardFault, Inspected, Permission, inspect, shown_by};
use rustix::fs::{OFlags, SeekFrom};
use testkit::loop_disk::{Disk, LoopDisk};
use testkit::{need_disk, skip, wait_until};

const MIB: u64 = 1 << 20;

/// Hash of all bytes of a disk.
fn hash_of(disk: &Disk) -> u64 {
    rustix::fs::sync();
    hash(&disk.file)
}

fn look_at(disk: &Disk) -> Inspected {
    inspect(disk.node()).expect("it can be looked at")
}

fn reasons(inspected: &Inspected) -> Vec<String> {
    inspected.reasons().iter().map(ToString::to_string).collect()
}

/// Checks that the disk is refused for this reason with any permission, and keeps every byte.
fn is_never_overwritten(disk: &Disk, reason: &str) {
    let before = hash_of(disk);
    is_refused(disk, reason);
    assert_eq!(hash_of(disk), before, "{reason}: something was written");
}

/// Checks that the disk is refused for this reason with any permission.
fn is_refused(disk: &Disk, reason: &str) {
    let inspected = look_at(disk);
    let said = reasons(&inspected);
    assert!(said.iter().any(|one| one.contains(reason)), "{reason:?} is not said: {said:?}");
    assert!(!inspected.needs_permission(), "{said:?}");
    for leave in [Permission::None, Permission::Destroy(inspected.identity())] {
        let outcome = Cleared::acquire(&inspected, &leave);
        assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{reason}: {outcome:?}");
    }
}

/// Checks that the disk is refused for this reason until the user names it, and keeps every byte throughout.
fn is_overwritten_only_where_asked(disk: &Disk, format: &str) {
    let before = hash_of(disk);
    let inspected = look_at(disk);
    let said = reasons(&inspected);
    assert!(said.iter().any(|one| one.starts_with(&format!("it holds {format}"))), "{format}: {said:?}");
    assert!(inspected.needs_permission(), "{said:?}");
    let outcome = Cleared::acquire(&inspected, &Permission::None);
    assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{format}: {outcome:?}");
    for typed in ["", "yes", "1 MiB", "/dev/loop0"] {
        let outcome = Cleared::acquire(&inspected, &Permission::Destroy(typed.to_owned()));
        assert!(matches!(&outcome, Err(GuardFault::NotConfirmed { .. })), "{format}: {outcome:?}");
    }
    let cleared = Cleared::acquire(&inspected, &Permission::Destroy(inspected.identity())).expect(format);
    assert_eq!(cleared.device().node(), disk.node());
    drop(cleared);
    assert_eq!(hash_of(disk), before, "{format}: something was written");
}

/// Hash of a file's bytes and their offsets. Blocks of zeros and holes are equal.
fn hash(path: &Path) -> u64 {
    let file = File::open(path).expect("the file");
    let end = file.metadata().expect("its size").len();
    let mut hasher = DefaultHasher::new();
    let mut block = [0; 4096];
    let mut at = 0;
    while let Ok(data) = rustix::fs::seek(&file, SeekFrom::Data(at)) {
        let hole = rustix::fs::seek(&file, SeekFrom::Hole(data)).unwrap_or(end);
        at = data / 4096 * 4096;
        while at < hole {
            let length = file.read_at(&mut block, at).expect("its bytes");
            if block[..length] != [0; 4096][..length] {
                (at, &block[..length]).hash(&mut hasher);
            }
            at += 4096;
        }
    }
    hasher.finish()
}

/// Runs a tool. It is repeated, because a child that another test has just started may hold the device for a moment.
fn run(name: &str, arguments: &[&str]) {
    testkit::wait_until(&format!("{name} {arguments:?}"), || tool(name, arguments));
}

/// Makes an ext4 that has nothing left to initialise once it is mounted.
fn ext4(node: &str) {
    run("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", node]);
}

/// Ends the use as swap on drop, also if the test fails.
struct Swapping<'a>(&'a str);

impl Drop for Swapping<'_> {
    fn drop(&mut self) {
        let is_off = tool("swapoff", &[self.0]);
        assert!(is_off || thread::panicking());
    }
}

#[test]
fn an_unused_blank_disk_is_accepted_and_held() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let before = hash_of(&disk);
    let inspected = look_at(&disk);
    assert_eq!(inspected.reasons(), []);
    assert_eq!((inspected.identity(), inspected.identity_kind()), ("8 MiB".to_owned(), "size"));
    let cleared = Cleared::acquire(&inspected, &Permission::None).expect("leave");
    is_never_overwritten(&disk, "another program has it, or a device behind it, open exclusively");
    drop(cleared);
    testkit::wait_until("the device is free again", || Cleared::acquire(&inspected, &Permission::None).is_ok());
    assert_eq!(hash_of(&disk), before);
}

#[test]
fn mounted_devices_are_refused() {
    need_disk!("mkfs.ext4", "mount");
    let disk = Disk::new(8 * MIB);
    ext4(disk.text());
    let folder = disk.folder("mount");
    for options in ["rw", "ro"] {
        in_mounts_of_its_own(|| {
            run("mount", &["-o", options, disk.text(), &folder]);
            is_never_overwritten(&disk, &format!("it is mounted at {folder} (ext4)"));
        })
        .expect("mounts of our own");
    }
}

#[test]
fn devices_mounted_in_another_namespace_are_refused() {
    need_disk!("mkfs.ext4", "mount");
    let disk = Disk::new(8 * MIB);
    ext4(disk.text());
    let folder = disk.folder("mount");
    let (mounted, is_mounted) = mpsc::channel();
    let (looked, is_looked) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (disk, folder) = (&disk, &folder);
        scope.spawn(move || {
            in_mounts_of_its_own(move || {
                run("mount", &[disk.text(), folder]);
                mounted.send(()).expect("somebody waits");
                // Wait until the other thread has inspected the disk, or failed.
                let _ = is_looked.recv();
            })
            .expect("mounts of our own");
        });
        is_mounted.recv().expect("it is mounted");
        let looked = looked;
        is_never_overwritten(disk, &format!("it is mounted at {folder} in another mount namespace (ext4)"));
        drop(looked);
    });
}

#[test]
fn lazily_unmounted_devices_in_use_are_refused() {
    need_disk!("mkfs.ext4", "mkfs.xfs", "mount", "umount");
    for (file_system, bytes) in [("ext4", 8 * MIB), ("xfs", 320 * MIB)] {
        let disk = Disk::new(bytes);
        if file_system == "ext4" {
            ext4(disk.text());
        } else {
            run("mkfs.xfs", &["-q", "-K", disk.text()]);
        }
        let folder = disk.folder("mount");
        in_mounts_of_its_own(|| {
            run("mount", &[disk.text(), &folder]);
            // The root folder, because xfs writes back a new file at any time in the next 30 s.
            let open = File::open(&folder).expect("the root folder");
            run("umount", &["--lazy", &folder]);
            is_never_overwritten(
                &disk,
                &format!("it has a file system in use ({file_system}) without a visible mount"),
            );
            drop(open);
        })
        .expect("mounts of our own");
    }
}

#[test]
fn swap_devices_are_refused() {
    need_disk!("mkswap", "swapon", "swapoff");
    let disk = Disk::new(4 * MIB);
    run("mkswap", &[disk.text()]);
    is_overwritten_only_where_asked(&disk, "swap");
    run("swapon", &[disk.text()]);
    let swapping = Swapping(disk.text());
    // The kernel may swap to the disk meanwhile. It never writes the first page, which is the header.
    let header = || {
        rustix::fs::sync();
        let mut header = [0; 4096];
        File::open(&disk.file).and_then(|file| file.read_exact_at(&mut header, 0)).expect("the header");
        header
    };
    let before = header();
    is_refused(&disk, "it is used as swap");
    assert!(header() == before, "something was written");
    drop(swapping);
}

/// A zram device (compressed RAM disk) of this test.
struct Zram(u32);

impl Zram {
    fn new(bytes: u64) -> Option<Zram> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add").ok()?.trim().parse().ok()?;
        let zram = Zram(number);
        fs::write(format!("/sys/block/zram{number}/disksize"), bytes.to_string()).ok()?;
        Some(zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let reset = || fs::write(format!("/sys/block/zram{}/reset", self.0), "1");
        let removed = || fs::write("/sys/class/zram-control/hot_remove", self.0.to_string());
        if thread::panicking() {
            let _ = reset().and(removed());
        } else {
            // udev may look at the device for a moment.
            wait_until("the RAM disk is removed", || reset().is_ok() && removed().is_ok());
        }
    }
}

#[test]
fn swap_devices_in_compressed_memory_are_refused() {
    need_disk!("mkswap", "swapon", "swapoff");
    let Some(zram) = Zram::new(4 * MIB) else { return skip!("no RAM disk can be made here") };
    let node = format!("/dev/zram{}", zram.0);
    run("mkswap", &[&node]);
    run("swapon", &[&node]);
    let swapping = Swapping(&node);
    let inspected = inspect(Path::new(&node)).expect("it can be looked at");
    let said = reasons(&inspected);
    assert_eq!(said, ["it is used as swap", "it holds swap"]);
    let outcome = Cleared::acquire(&inspected, &Permission::Destroy(inspected.identity()));
    assert!(matches!(outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");
    drop(swapping);
}

#[test]
fn the_second_member_of_a_btrfs_is_refused() {
    need_disk!("mkfs.btrfs", "mount");
    let (first, second) = (Disk::new(128 * MIB), Disk::new(128 * MIB));
    run("mkfs.btrfs", &["-q", "-K", "-d", "single", "-m", "raid1", first.text(), second.text()]);
    is_overwritten_only_where_asked(&second, "btrfs");
    let folder = first.folder("mount");
    in_mounts_of_its_own(|| {
        // Read-only, because a writable btrfs writes by itself some time after the mount.
        run("mount", &["-o", &format!("ro,device={}", second.text()), first.text(), &folder]);
        is_never_overwritten(&second, "it is a member of a btrfs in use");
        is_never_overwritten(&first, "it is mounted at");
    })
    .expect("mounts of our own");
}

#[test]
fn the_journal_of_a_mounted_ext4_is_refused() {
    need_disk!("mkfs.ext4", "mount");
    let (disk, journal) = (Disk::new(16 * MIB), Disk::new(16 * MIB));
    run("mkfs.ext4", &["-q", "-F", "-b", "4096", "-O", "journal_dev", journal.text()]);
    is_overwritten_only_where_asked(&journal, "ext4 journal");
    let option = format!("device={}", journal.text());
    run("mkfs.ext4", &["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0", "-J", &option, disk.text()]);
    let folder = disk.folder("mount");
    in_mounts_of_its_own(|| {
        run("mount", &[disk.text(), &folder]);
        is_never_overwritten(&journal, "it is the journal of a file system in use");
    })
    .expect("mounts of our own");
}

#[test]
fn the_log_of_a_mounted_xfs_is_refused() {
    need_disk!("mkfs.xfs", "mount");
    let (disk, log) = (Disk::new(320 * MIB), Disk::new(80 * MIB));
    run("mkfs.xfs", &["-q", "-K", "-l", &format!("logdev={},size=64m", log.text()), disk.text()]);
    is_overwritten_only_where_asked(&log, "xfs log");
    let folder = disk.folder("mount");
    in_mounts_of_its_own(|| {
        run("mount", &["-o", &format!("logdev={}", log.text()), disk.text(), &folder]);
        is_never_overwritten(&log, "it is the journal of a file system in use");
    })
    .expect("mounts of our own");
}

#[test]
fn the_device_below_a_loop_device_is_refused() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let above = LoopDisk::attach(disk.node()).expect("a loop device on a loop device");
    let name = above.node().file_name().expect("a name").to_string_lossy().into_owned();
    is_never_overwritten(&disk, &format!("it is the backing device of {name}"));
    // The user can name the loop device on top instead: it is accepted.
    assert_eq!(inspect(above.node()).expect("it can be looked at").reasons(), []);
}

#[test]
fn the_device_below_a_mounted_loop_device_is_refused() {
    need_disk!("mkfs.ext4", "mount");
    let disk = Disk::new(8 * MIB);
    ext4(disk.text());
    let above = LoopDisk::attach(disk.node()).expect("a loop device on a loop device");
    let name = above.node().file_name().expect("a name").to_string_lossy().into_owned();
    let folder = disk.folder("mount");
    in_mounts_of_its_own(|| {
        run("mount", &[above.node().to_str().expect("a plain path"), &folder]);
        is_never_overwritten(&disk, &format!("{name}, which is on top of it, is mounted at {folder}"));
        run("umount", &[&folder]);
        run("mount", &["-o", "ro", disk.text(), &folder]);
        let said = inspect(above.node()).expect("it can be looked at");
        let said = reasons(&said);
        assert!(said[0].starts_with(&format!("{}, which is below it, is mounted", disk.name())), "{said:?}");
    })
    .expect("mounts of our own");
}

#[test]
fn two_loop_devices_on_one_file_are_refused() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let (hard, soft) = (disk.folder.path().join("hard"), disk.folder.path().join("soft"));
    fs::hard_link(&disk.file, &hard).and_then(|()| symlink(&disk.file, &soft)).expect("links");
    for other in [&disk.file, &hard, &soft] {
        let second = LoopDisk::attach(other).expect("a second loop device");
        let name = second.node().file_name().expect("a name").to_string_lossy().into_owned();
        is_never_overwritten(&disk, &format!("{name} has the same backing file"));
    }
    // A test that has just inspected all devices may hold the last one for a moment.
    wait_until("nothing shows it", || look_at(&disk).reasons().is_empty());
    // The first name of the file is gone. Its names now are `moved` and `hard`.
    let second = LoopDisk::attach(&hard).expect("a second loop device");
    let moved = disk.folder.path().join("moved");
    fs::rename(&hard, &moved).and_then(|()| fs::rename(&disk.file, &hard)).expect("renamed");
    let name = second.node().file_name().expect("a name").to_string_lossy().into_owned();
    let says_so = || assert_eq!(reasons(&look_at(&disk)), [format!("{name} has the same backing file")]);
    says_so();
    // Another file replaces each remaining name, so the file is deleted.
    for path in [&moved, &hard] {
        let other = disk.folder.path().join("other");
        fs::write(&other, "other").and_then(|()| fs::rename(&other, path)).expect("replaced");
    }
    assert!(
        fs::read_dir(disk.folder.path()).expect("names").flatten().all(|file| file.metadata().expect("it").len() < MIB)
    );
    says_so();
}

#[test]
fn a_file_is_not_a_device_and_its_loop_device_is_known() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let outcome = inspect(&disk.file);
    assert!(matches!(&outcome, Err(GuardFault::NotADevice(path)) if *path == disk.file), "{outcome:?}");
    let link = disk.folder.path().join("link");
    symlink(&disk.file, &link).expect("a link");
    for path in [&disk.file, &link] {
        assert_eq!(shown_by(path), [disk.name()]);
    }
    let other = disk.folder.path().join("other");
    fs::write(&other, "other").expect("a file");
    assert_eq!(shown_by(&other), [""; 0]);
    for path in [disk.folder.path(), Path::new("/dev/null")] {
        assert!(matches!(inspect(path), Err(GuardFault::NotADevice(_))));
    }
}

#[test]
fn read_only_devices_are_refused() {
    need_disk!();
    let disk = Disk::attached(8 * MIB, &[], LoopDisk::attach_read_only);
    is_never_overwritten(&disk, "it is read-only");
}

#[test]
fn a_missing_name_is_never_created() {
    for name in ["/dev/diskperf-no-such-device", "/dev/no-such-folder/sda"] {
        let path = Path::new(name);
        assert!(matches!(inspect(path), Err(GuardFault::Missing(_))));
        assert!(!path.exists() && fs::symlink_metadata(path).is_err());
    }
}

/// A disk that was pulled out may leave its node behind.
#[test]
fn the_node_of_a_device_that_is_gone_is_no_device() {
    need_disk!();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("gone");
    // The last number of the major that disks get when theirs are used up: no kernel counts that far.
    let number = rustix::fs::makedev(259, (1 << 20) - 1);
    let kind = rustix::fs::FileType::BlockDevice;
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rustix::fs::Mode::RUSR, number).expect("a node");
    let outcome = inspect(&path);
    assert!(matches!(&outcome, Err(GuardFault::Missing(name)) if *name == path), "{outcome:?}");
}

#[test]
fn file_systems_made_by_mkfs_need_consent() {
    need_disk!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkswap");
    for (make, arguments, format, bytes) in [
        ("mkfs.ext4", &["-q", "-F"][..], "ext4", 8 * MIB),
        ("mkfs.ext4", &["-q", "-F", "-t", "ext2"], "ext2", 8 * MIB),
        ("mkfs.ext4", &["-q", "-F", "-t", "ext3", "-L", "home"], "ext3 \"home\"", 8 * MIB),
        ("mkfs.xfs", &["-q", "-K", "-L", "data"], "xfs \"data\"", 320 * MIB),
        ("mkfs.btrfs", &["-q", "-K", "-L", "pool"], "btrfs \"pool\"", 128 * MIB),
        ("mkswap", &["-L", "s"], "swap \"s\"", 4 * MIB),
    ] {
        let disk = Disk::new(bytes);
        run(make, &[arguments, &[disk.text()]].concat());
        is_overwritten_only_where_asked(&disk, format);
    }
}

/// The offset of some bytes, from the end if negative, and the bytes.
type Piece<'a> = (i64, &'a [u8]);

/// No tool makes these formats here. The test writes only their magic numbers.
#[test]
fn formats_known_by_magic_numbers_need_consent() {
    need_disk!();
    let boot: &[u8] = &[0x55, 0xAA];
    let images: [(&str, &[Piece]); 13] = [
        ("vfat", &[(0x36, b"FAT16   "), (510, boot)]),
        ("vfat", &[(0x52, b"FAT32   "), (510, boot)]),
        ("ntfs", &[(3, b"NTFS    "), (510, boot)]),
        ("data of no known format", &[(100_000, b"precious")]),
        ("GPT", &[(510, boot), (512, b"EFI PART"), (-512, b"EFI PART")]),
        ("GPT", &[(-512, b"EFI PART")]),
        ("MBR", &[(0x1BE, &[0x80, 0, 2, 0, 0x83]), (510, boot)]),
        ("LUKS", &[(0, b"LUKS\xba\xbe\x00\x02")]),
        ("LVM", &[(512, b"LABELONE"), (536, b"LVM2 001")]),
        ("md RAID", &[(4096, &[0xFC, 0x4E, 0x2B, 0xA9])]),
        ("md RAID", &[(-8192, &[0xFC, 0x4E, 0x2B, 0xA9])]),
        ("zfs", &[(0x2_1000, &[0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0])]),
        ("bcache", &[(4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81")]),
    ];
    let bytes = 2 * MIB;
    for (format, pieces) in images {
        let place = |at: i64| if at < 0 { bytes.wrapping_add_signed(at) } else { at.unsigned_abs() };
        let pieces: Vec<(u64, &[u8])> = pieces.iter().map(|(at, piece)| (place(*at), *piece)).collect();
        is_overwritten_only_where_asked(&Disk::holding(bytes, &pieces), format);
    }
}

#[test]
fn exclusively_held_devices_are_refused() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let exclusively = OFlags::EXCL.bits() as i32;
    let hold = || OpenOptions::new().read(true).custom_flags(exclusively).open(disk.node()).expect("held");
    let held = hold();
    is_never_overwritten(&disk, "another program has it, or a device behind it, open exclusively");
    drop(held);
    // A child that another test has just started may still have a copy of the descriptor.
    wait_until("the device is free again", || look_at(&disk).reasons().is_empty());
    // A loop device does not hold the device behind it.
    let above = LoopDisk::attach(disk.node()).expect("a loop device on a loop device");
    let _held = hold();
    let inspected = inspect(above.node()).expect("it can be looked at");
    assert_eq!(reasons(&inspected), ["another program has it, or a device behind it, open exclusively"]);
}

/// udev and other diskperf processes hold a device only to look at it.
#[test]
fn devices_held_for_a_moment_are_free() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let exclusively = OFlags::EXCL.bits() as i32;
    // On a busy machine, the thread may release the device too late.
    let is_free = (0..10).any(|_| {
        let held = OpenOptions::new().read(true).custom_flags(exclusively).open(disk.node()).expect("held");
        let holder = thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            drop(held);
        });
        let inspected = look_at(&disk);
        holder.join().expect("released");
        inspected.reasons().is_empty()
    });
    assert!(is_free, "{:?}", reasons(&look_at(&disk)));
}

#[test]
fn devices_replaced_after_the_check_are_refused() {
    need_disk!("mkfs.ext4", "mount");
    // The name now leads to another device.
    let (disk, other) = (Disk::new(8 * MIB), Disk::new(8 * MIB));
    let link = disk.folder.path().join("link");
    symlink(disk.node(), &link).expect("a link");
    let inspected = inspect(&link).expect("it can be looked at");
    fs::rename(&link, disk.folder.path().join("old")).and_then(|()| symlink(other.node(), &link)).expect("replaced");
    let outcome = Cleared::acquire(&inspected, &Permission::None);
    assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");

    // The device got a file system after the inspection.
    let inspected = look_at(&disk);
    ext4(disk.text());
    let outcome = Cleared::acquire(&inspected, &Permission::None);
    assert!(matches!(outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");

    // The device got another file system after the user named it.
    let inspected = look_at(&disk);
    run("mkfs.ext4", &["-q", "-F", "-L", "photos", disk.text()]);
    let before = hash_of(&disk);
    let outcome = Cleared::acquire(&inspected, &Permission::Destroy(inspected.identity()));
    assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");
    assert_eq!(hash_of(&disk), before);

    // The file system that the user named was mounted after the inspection.
    let inspected = look_at(&disk);
    let folder = disk.folder("mount");
    in_mounts_of_its_own(|| {
        run("mount", &["-o", "ro", disk.text(), &folder]);
        let outcome = Cleared::acquire(&inspected, &Permission::Destroy(inspected.identity()));
        assert!(matches!(outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");
    })
    .expect("mounts of our own");
    assert_eq!(hash_of(&disk), before);
}

#[test]
fn another_disk_with_the_same_number_is_noticed() {
    need_disk!("losetup");
    // Between detaching and attaching again, another test may take the loop device.
    for _ in 0..20 {
        let mut first = Disk::new(8 * MIB);
        let inspected = look_at(&first);
        let second = first.folder.path().join("second");
        File::create(&second).and_then(|file| file.set_len(8 * MIB)).expect("a file");
        let before = hash(&second);
        first.device.leave();
        let node = inspected.node();
        let node = node.to_str().expect("a plain path");
        if tool("losetup", &[node, second.to_str().expect("a plain path")]) {
            let outcome = Cleared::acquire(&inspected, &Permission::None);
            let is_seen = matches!(outcome, Err(GuardFault::Changed(..)));
            run("losetup", &["--detach", node]);
            assert!(is_seen, "{outcome:?}");
            assert_eq!(hash(&second), before);
            return;
        }
    }
    panic!("the loop device was always taken by others");
}

#[test]
fn a_node_mounted_over_after_the_check_is_noticed() {
    need_disk!("mount");
    let (disk, other) = (Disk::new(8 * MIB), Disk::new(8 * MIB));
    in_mounts_of_its_own(|| {
        let inspected = look_at(&disk);
        run("mount", &["--bind", other.text(), disk.text()]);
        let outcome = Cleared::acquire(&inspected, &Permission::None);
        assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");
    })
    .expect("mounts of our own");
}
