//! A device is blank only if every byte was read as zero, or if a loop device's file has no data there. The guard
//! overwrites any other device only with the user's permission.

use std::fs::{self, File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use kernel::guard::{GuardFault, Permission, Reason, inspect};
use kernel::{Cleared, RawDevice};
use rustix::fs::FallocateFlags;
use testkit::loop_disk::{Disk, LoopDisk};
use testkit::{need_disk, run_tool, skip, wait_until};

const MIB: u64 = 1 << 20;

/// An offset between the sampled places, and past all places that are read for signatures.
const HIDDEN: u64 = MIB + 5 * 4096;

const UNKNOWN: &str = "it holds data of no known format";

/// Asks the guard for permission with [`Permission::None`]. Returns the outcome, and the number of bytes to be read, if
/// any.
fn ask_guard(disk: &Disk) -> (Result<Cleared, GuardFault>, Option<u64>) {
    let inspected = inspect(disk.node()).expect("it can be looked at");
    let mut read = None;
    let outcome = Cleared::acquire_watched(&inspected, &Permission::None, &mut |_, of| {
        read = Some(of);
        ControlFlow::Continue(())
    });
    (outcome, read)
}

/// Checks that the device is refused because it holds unknown data, and that no byte changes.
fn is_refused(disk: &Disk, why: &str) {
    let before = fs::read(&disk.file).expect("its bytes");
    let (outcome, _) = ask_guard(disk);
    let Err(GuardFault::Refused { reasons, identity, .. }) = outcome else { panic!("{why}: {outcome:?}") };
    assert_eq!(reasons.iter().map(Reason::to_string).collect::<Vec<_>>(), [UNKNOWN], "{why}");
    assert!(!identity.is_empty() && reasons.iter().all(Reason::can_be_lifted));
    assert!(fs::read(&disk.file).expect("its bytes") == before, "{why}: something was written");
}

/// A disk whose file was deleted, so that its holes cannot be queried: all of it is read.
fn nameless(bytes: u64, pieces: &[(u64, &[u8])]) -> (Disk, File) {
    let disk = Disk::holding(bytes, pieces);
    let file = without_name(&disk);
    (disk, file)
}

/// Gives the name of a disk's file to another file. Returns the disk's file.
fn without_name(disk: &Disk) -> File {
    let file = OpenOptions::new().read(true).open(&disk.file).expect("its file");
    let other = disk.folder.path().join("other");
    fs::write(&other, "other").and_then(|()| fs::rename(&other, &disk.file)).expect("it has no name any more");
    file
}

#[test]
fn a_file_system_after_zeros_is_not_overwritten() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let file = disk.file.to_str().expect("a plain path");
    run_tool("mkfs.ext4", &["-q", "-F", "-E", "offset=1048576", file, "8m"]);
    let before = fs::read(&disk.file).expect("its bytes");
    assert!(
        before[..MIB as usize].iter().all(|byte| *byte == 0) && before[MIB as usize + 0x438..][..2] == [0x53, 0xEF]
    );
    is_refused(&disk, "an ext4 at 1 MiB");
    let raw = RawDevice::claim(&inspect(disk.node()).expect("a device"), &Permission::None);
    assert!(matches!(&raw, Err(GuardFault::Refused { .. })), "{raw:?}");
    assert!(fs::read(&disk.file).expect("its bytes") == before);
    // With the user's permission, nothing is read.
    let inspected = inspect(disk.node()).expect("a device");
    let leave = Permission::Destroy(inspected.identity());
    let cleared = Cleared::acquire_watched(&inspected, &leave, &mut |_, _| panic!("it is read"));
    cleared.expect("leave");
}

#[test]
fn one_byte_between_the_samples_is_found() {
    need_disk!();
    for at in [HIDDEN, HIDDEN + 4095, 3 * MIB - 1] {
        let disk = Disk::holding(4 * MIB, &[(at, &[1])]);
        assert_eq!(inspect(disk.node()).expect("a device").reasons(), [], "the samples miss it");
        is_refused(&disk, &format!("a byte at {at}"));
        let (disk, file) = nameless(4 * MIB, &[(at, &[1])]);
        let (outcome, read) = ask_guard(&disk);
        assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");
        assert_eq!(read, Some(4 * MIB), "all of it is to be read");
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("its byte");
        assert_eq!(byte, [1]);
    }
    // With the user's permission the device is not read, but the typed words must still name it.
    let disk = Disk::holding(4 * MIB, &[(HIDDEN, &[1])]);
    let outcome = Cleared::acquire(&inspect(disk.node()).expect("a device"), &Permission::Destroy("8 MiB".to_owned()));
    assert!(matches!(outcome, Err(GuardFault::NotConfirmed { .. })), "{outcome:?}");
}

#[test]
fn holes_are_not_read_and_written_zeros_are() {
    need_disk!();
    let disk = Disk::new(64 * MIB);
    let (outcome, read) = ask_guard(&disk);
    outcome.expect("it is blank");
    assert_eq!(read, None, "a hole proves it");
    // Reserved and never written.
    let disk = Disk::new(8 * MIB);
    let file = OpenOptions::new().write(true).open(&disk.file).expect("its file");
    if rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 8 * MIB).is_err() {
        return skip!("the file system of temporary files reserves no blocks");
    }
    drop(file);
    let (outcome, read) = ask_guard(&disk);
    outcome.expect("it is blank");
    assert_eq!(read, None, "reserved blocks have no data");
    // Zeros that were written: only those are read.
    let zeros = vec![0; MIB as usize];
    let disk = Disk::holding(8 * MIB, &[(2 * MIB, &zeros)]);
    let (outcome, read) = ask_guard(&disk);
    outcome.expect("it is blank");
    assert_eq!(read, Some(MIB));
    let (disk, _file) = nameless(8 * MIB, &[(2 * MIB, &zeros)]);
    let (outcome, read) = ask_guard(&disk);
    outcome.expect("it is blank");
    assert_eq!(read, Some(8 * MIB), "a file without a name cannot be asked for its holes");
}

/// Data that are only in memory: in the page cache of the device, or of its file.
#[test]
fn data_in_the_page_cache_are_found() {
    need_disk!();
    for attach in [LoopDisk::attach, LoopDisk::attach_through_cache] {
        let disk = Disk::attached(4 * MIB, &[], attach);
        let device = OpenOptions::new().write(true).open(disk.node()).expect("the device");
        device.write_all_at(&[7; 4096], HIDDEN).expect("written to its page cache");
        let (outcome, _) = ask_guard(&disk);
        assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");
        drop(device);
        let disk = Disk::attached(4 * MIB, &[], attach);
        let file = OpenOptions::new().write(true).open(&disk.file).expect("its file");
        file.write_all_at(&[7; 4096], HIDDEN).expect("written to its page cache");
        drop(file);
        let (outcome, _) = ask_guard(&disk);
        assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");
    }
}

/// A loop device shows a part of its file: only the data there count.
#[test]
fn data_outside_of_the_window_of_a_loop_device_do_not_count() {
    need_disk!("losetup");
    for (at, holds) in
        [(HIDDEN, false), (2 * MIB - 512, false), (2 * MIB + HIDDEN, true), (4 * MIB - 1, true), (4 * MIB, false)]
    {
        let disk = Disk::attached(8 * MIB, &[(at, &[1])], |file| {
            let file = file.to_str().expect("a plain path");
            let window = ["--offset", "2097152", "--sizelimit", "2097152"];
            let ended = testkit::run(
                &testkit::tool("losetup").expect("it is installed"),
                "/".as_ref(),
                &[&["--find", "--show"], &window[..], &[file]].concat(),
            );
            assert_eq!(ended.status, Some(0), "{}", ended.err);
            Ok(LoopDisk::adopt(ended.out.trim().into()))
        });
        let inspected = inspect(disk.node()).expect("a device");
        assert_eq!(inspected.bytes(), 2 * MIB);
        let (outcome, _) = ask_guard(&disk);
        assert_eq!(matches!(outcome, Err(GuardFault::Refused { .. })), holds, "{at}: {outcome:?}");
        assert!(holds || outcome.is_ok(), "{at}");
    }
}

#[test]
fn reading_can_be_stopped_and_changes_nothing() {
    need_disk!();
    let (disk, file) = nameless(8 * MIB, &[]);
    let inspected = inspect(disk.node()).expect("a device");
    let mut heard = Vec::new();
    let outcome = Cleared::acquire_watched(&inspected, &Permission::None, &mut |bytes, of| {
        heard.push((bytes, of));
        if bytes >= 3 * MIB { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(&outcome, Err(GuardFault::Stopped(node)) if node == disk.node()), "{outcome:?}");
    assert_eq!(heard, [0, 1, 2, 3].map(|mib| (mib * MIB, 8 * MIB)));
    assert_eq!(file.metadata().expect("it").blocks(), 0, "something was written");
    heard.clear();
    let outcome = Cleared::acquire_watched(&inspected, &Permission::None, &mut |bytes, of| {
        heard.push((bytes, of));
        ControlFlow::Continue(())
    });
    outcome.expect("it is blank");
    assert_eq!(heard.last(), Some(&(8 * MIB, 8 * MIB)), "the end is told");
}

/// Switches the kernel's I/O counting of a device. On drop, also in a failed test, it is on again.
struct Counting(String);

impl Counting {
    fn new(disk: &Disk) -> Counting {
        Counting(format!("/sys/block/{}/queue/iostats", disk.name()))
    }

    fn switch(&self, is_on: bool) {
        fs::write(&self.0, if is_on { "1" } else { "0" }).expect("the count is switched");
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let is_on = fs::write(&self.0, "1");
        assert!(std::thread::panicking() || is_on.is_ok());
    }
}

/// Without the kernel's count, a write during the reading would not be noticed.
#[test]
fn devices_without_a_write_count_are_not_proved_blank() {
    need_disk!();
    let (disk, _file) = nameless(8 * MIB, &[]);
    let counting = Counting::new(&disk);
    let is_refused = |outcome: Result<Cleared, GuardFault>| {
        let Err(GuardFault::Refused { reasons, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(reasons, [Reason::Uncounted(Some((&counting.0).into()))]);
        assert_eq!(reasons[0].hint(), format!("turn on I/O counting: echo 1 > {}", counting.0));
    };
    counting.switch(false);
    let (outcome, read) = ask_guard(&disk);
    is_refused(outcome);
    assert_eq!(read, None, "nothing is read");
    let inspected = inspect(disk.node()).expect("a device");
    // The user named the device, so nothing is read.
    Cleared::acquire(&inspected, &Permission::Destroy(inspected.identity())).expect("leave");
    counting.switch(true);
    // Counting is switched off while the device is read.
    is_refused(Cleared::acquire_watched(&inspected, &Permission::None, &mut |done, _| {
        if done == 4 * MIB {
            counting.switch(false);
        }
        ControlFlow::Continue(())
    }));
    counting.switch(true);
    ask_guard(&disk).0.expect("it is blank");
}

/// A program that writes during the reading, and ends before diskperf looks for writers again.
#[test]
fn writes_during_the_reading_are_noticed() {
    need_disk!();
    for bytes in [&[1; 4096][..], &[0; 4096]] {
        let (disk, file) = nameless(8 * MIB, &[]);
        let node = disk.node().to_owned();
        let inspected = inspect(&node).expect("a device");
        let outcome = Cleared::acquire_watched(&inspected, &Permission::None, &mut |done, _| {
            if done == 4 * MIB {
                let device = OpenOptions::new().write(true).open(&node).expect("the device");
                device.write_all_at(bytes, MIB).expect("written");
            }
            ControlFlow::Continue(())
        });
        assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");
        let mut read = vec![9; bytes.len()];
        file.read_exact_at(&mut read, MIB).expect("its bytes");
        assert_eq!(read, bytes);
    }
}

/// Asks the guard for permission with [`Permission::None`]. `write` is called after 2 MiB were read.
fn ask_while(node: &Path, write: &dyn Fn()) -> Result<Cleared, GuardFault> {
    let inspected = inspect(node).expect("it can be looked at");
    let mut count = 0;
    let outcome = Cleared::acquire_watched(&inspected, &Permission::None, &mut |done, _| {
        if done == 2 * MIB {
            write();
            count += 1;
        }
        ControlFlow::Continue(())
    });
    assert_eq!(count, 1, "nothing was written");
    outcome
}

/// Writes one block of 4 KiB to a device or file, and closes it.
fn write_block(path: &Path, byte: u8, at: u64) {
    let file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all_at(&[byte; 4096], at).expect("written");
}

/// Only the file behind the device is written to. Writing zeros is a write too.
#[test]
fn writes_to_the_file_of_a_loop_device_are_noticed() {
    need_disk!();
    let zeros = vec![0; 4 * MIB as usize];
    for attach in [LoopDisk::attach, LoopDisk::attach_through_cache] {
        for byte in [1, 0] {
            let disk = Disk::attached(4 * MIB, &[(0, &zeros)], attach);
            let outcome = ask_while(disk.node(), &|| write_block(&disk.file, byte, MIB));
            assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{byte}: {outcome:?}");
        }
        let disk = Disk::attached(4 * MIB, &[(0, &zeros)], attach);
        ask_while(disk.node(), &|| drop(fs::read(&disk.file).expect("its bytes"))).expect("it was only read");
    }
}

/// A partition shares its bytes with its disk, and none with its neighbours.
#[test]
fn writes_through_the_disk_of_a_partition_are_noticed() {
    need_disk!("losetup", "addpart");
    let disk = Disk::attached(8 * MIB, &[], |file| {
        let arguments = ["--find", "--show", "--partscan", file.to_str().expect("a plain path")];
        let ended = testkit::run(&testkit::tool("losetup").expect("it is installed"), "/".as_ref(), &arguments);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        Ok(LoopDisk::adopt(ended.out.trim().into()))
    });
    // The file has no name, so only the kernel's counts can show a write.
    let _file = without_name(&disk);
    for (number, sectors) in [("1", ["2048", "8192"]), ("2", ["10240", "4096"])] {
        run_tool("addpart", &[&[disk.text(), number], &sectors[..]].concat());
    }
    let partition = |number| PathBuf::from(format!("{}p{number}", disk.text()));
    wait_until("the partitions have nodes", || [1, 2].into_iter().all(|number| partition(number).exists()));
    ask_while(&partition(1), &|| write_block(&partition(2), 1, MIB)).expect("its neighbour was written to");
    // Within the first partition, which begins at 1 MiB.
    let outcome = ask_while(&partition(1), &|| write_block(disk.node(), 0, 2 * MIB));
    assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");
    let outcome = ask_while(&partition(1), &|| write_block(&partition(1), 0, MIB));
    assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");
    ask_while(&partition(1), &|| ()).expect("it is blank");
}

/// The device below a loop device has the same bytes.
#[test]
fn writes_to_the_device_below_a_loop_device_are_noticed() {
    need_disk!();
    let (below, _file) = nameless(8 * MIB, &[]);
    let disk = LoopDisk::attach(below.node()).expect("a loop device");
    let outcome = ask_while(disk.node(), &|| write_block(below.node(), 0, MIB));
    assert!(matches!(outcome, Err(GuardFault::Changed(..))), "{outcome:?}");
    ask_while(disk.node(), &|| ()).expect("it is blank");
}
