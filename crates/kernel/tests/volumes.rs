//! File systems on devices that the user names, on the real kernel: made, mounted, recognised, and erased at the end.

use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use kernel::guard::{GuardFault, Permission, inspect};
use kernel::leftovers::scan::Owner;
use kernel::observe::mount::Place;
use kernel::{ImageFault, PrivateMounts, Volume, VolumeSpec, left_volumes};
use testkit::loop_disk::Disk;
use testkit::{Running, need_disk};
use units::Bytes;

const MIB: u64 = 1 << 20;

fn make(disk: &Disk, file_system: &str, mkfs_options: &[&str], leave: &Permission) -> Result<Volume, ImageFault> {
    let spec = VolumeSpec {
        file_system: file_system.to_owned(),
        block: None,
        mount_options: Vec::new(),
        mkfs_options: mkfs_options.iter().map(|&option| option.to_owned()).collect(),
    };
    Volume::make(&spec, &inspect(disk.node())?, leave, (&PrivateMounts::enter()?, None), &mut |_, _| {
        ControlFlow::Continue(())
    })
}

/// Returns the messages of all reasons not to overwrite the disk.
fn holds(disk: &Disk) -> Vec<String> {
    let inspected = inspect(disk.node()).expect("it can be looked at");
    inspected.reasons().iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_system_is_recreated_and_finally_erased() {
    for (file_system, bytes) in [("ext4", 16 * MIB), ("xfs", 320 * MIB), ("btrfs", 128 * MIB)] {
        need_disk!(&format!("mkfs.{file_system}"));
        let disk = Disk::new(bytes);
        let mut volume = make(&disk, file_system, &[], &Permission::None).expect(file_system);
        let place = Place::under(volume.path()).expect("a place");
        assert_eq!(place.file_system.as_deref(), Some(file_system));
        assert_eq!(place.device.as_ref(), Some(volume.device()));
        assert_eq!((volume.bytes(), volume.block().expect("a size")), (Bytes(bytes), Bytes(4096)));
        assert!(holds(&disk)[0].starts_with("it is mounted at /proc/driver/"), "{:?}", holds(&disk));

        fs::write(volume.path().join("old"), "old").expect("a file");
        volume.remount().expect("remounted");
        assert_eq!(fs::read(volume.path().join("old")).expect("still there"), b"old");
        volume.fresh().expect("made again");
        assert!(!volume.path().join("old").exists());

        volume.finish().expect("erased");
        assert_eq!(holds(&disk), [""; 0], "{file_system}");
        // Dropping the volume erases the file system too.
        drop(make(&disk, file_system, &[], &Permission::None).expect("the next run"));
        assert_eq!(holds(&disk), [""; 0], "{file_system}");
        make(&disk, file_system, &[], &Permission::None).expect("the next run").keep().expect("unmounted");
        assert_eq!(holds(&disk), [format!("it holds {file_system}")]);
        let noted = left_volumes(|node| node == disk.node()).expect("notes").pop();
        let noted = noted.expect("it is found again").expect("it can be looked at");
        assert!(noted.is_kept, "{noted:?}");
    }
}

#[test]
fn new_file_systems_are_noted_with_their_uuid() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let mut volume = make(&disk, "ext4", &[], &Permission::None).expect("a file system");
    for _ in 0..2 {
        let noted = left_volumes(|node| node == disk.node()).expect("notes").pop();
        let noted = noted.expect("it is found").expect("it can be looked at");
        assert!(!noted.is_kept && noted.owner == Owner::Process(std::process::id() as i32), "{noted:?}");
        volume.fresh().expect("made again");
    }
    volume.finish().expect("erased");
    assert!(left_volumes(|node| node == disk.node()).expect("notes").is_empty());
}

#[test]
fn old_data_of_a_confirmed_device_are_erased_completely() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let file = fs::OpenOptions::new().write(true).open(&disk.file).expect("its file");
    // GPT has a copy at the end, which mkfs does not overwrite.
    for (at, bytes) in [(510, &[0x55, 0xAA][..]), (512, b"EFI PART"), (16 * MIB - 512, b"EFI PART")] {
        file.write_all_at(bytes, at).expect("written");
    }
    assert_eq!(holds(&disk).len(), 2);
    let outcome = make(&disk, "ext4", &[], &Permission::None);
    assert!(matches!(&outcome, Err(ImageFault::Guard(GuardFault::Refused { .. }))), "{outcome:?}");
    let volume = make(&disk, "ext4", &[], &Permission::Destroy("16 MiB".to_owned())).expect("a file system");
    volume.finish().expect("erased");
    assert_eq!(holds(&disk), [""; 0]);
}

/// Another process may have a copy of our mount namespace, for example one that unshare(1) has just started.
#[test]
fn a_device_is_erased_after_the_last_copy_of_its_mount_is_gone() {
    need_disk!("mkfs.ext4", "unshare");
    let disk = Disk::new(16 * MIB);
    let volume = make(&disk, "ext4", &[], &Permission::None).expect("a file system");
    // The copy ends a moment after this thread has unmounted the file system.
    let script = "echo; while grep -q \" $1 \" /proc/$2/mounts; do sleep 0.01; done; sleep 0.3";
    let point = volume.path().to_str().expect("a plain path");
    let thread = rustix::thread::gettid().to_string();
    let copy = ["--mount", "--propagation", "private", "sh", "-c", script, "sh", point, &thread];
    let child = Command::new("unshare").args(copy).stdout(Stdio::piped()).spawn().expect("unshare can be started");
    let mut child = Running(child);
    let mut ready = [0];
    child.0.stdout.take().expect("its output").read_exact(&mut ready).expect("it has the copy");
    volume.finish().expect("erased");
    child.0.wait().expect("its end");
    assert_eq!(holds(&disk), [""; 0]);
}

#[test]
fn unfinished_file_systems_are_erased() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let outcome = make(&disk, "ext4", &["-O", "frobnicate"], &Permission::None);
    assert!(matches!(&outcome, Err(ImageFault::Mkfs { .. })), "{outcome:?}");
    let outcome = make(&disk, "ext4", &["-b", "65536"], &Permission::None);
    assert!(outcome.is_err(), "no kernel mounts it");
    assert_eq!(holds(&disk), [""; 0]);
}

#[test]
fn invalid_options_destroy_no_data() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    testkit::run_tool("mkfs.ext4", &["-q", "-F", "-L", "photos", disk.text()]);
    let leave = Permission::Destroy("16 MiB".to_owned());
    for options in [&["-O", "frobnicate"][..], &["-b", "65536"], &["-m", "200"]] {
        let outcome = make(&disk, "ext4", options, &leave);
        assert!(matches!(&outcome, Err(ImageFault::Mkfs { .. } | ImageFault::Mount { .. })), "{outcome:?}");
        assert_eq!(holds(&disk), ["it holds ext4 \"photos\""]);
    }
    make(&disk, "ext4", &["-m", "0"], &leave).and_then(Volume::finish).expect("a file system");
    assert_eq!(holds(&disk), [""; 0]);
}

/// The options are tried for the full size, although the file system is made in memory on a smaller file.
#[test]
fn options_invalid_for_the_size_of_the_device_destroy_no_data() {
    need_disk!("mkfs.ext4", "mkfs.xfs");
    let large = 5 << 40;
    if tempfile::tempfile().and_then(|file| file.set_len(large)).is_err() {
        return testkit::skip!("the folder for temporary files takes no file of 5 TiB");
    }
    let disk = Disk::holding(large, &[(510, &[0x55, 0xAA]), (512, b"EFI PART")]);
    let before = holds(&disk);
    assert!(!before.is_empty());
    let leave = Permission::Destroy(Bytes(large).to_string());
    // The dry run of mke2fs does not look for the file of -l.
    let invalid =
        [("ext4", &["-O", "^64bit", "-b", "1024"][..]), ("ext4", &["-l", "missing"]), ("xfs", &["-d", "agcount=2"])];
    for (file_system, options) in invalid {
        let outcome = make(&disk, file_system, options, &leave);
        assert!(matches!(&outcome, Err(ImageFault::Mkfs { .. })), "{outcome:?}");
        assert_eq!(holds(&disk), before, "{file_system}");
    }
    // These suit no file of 64 GiB. The small log keeps the test short.
    let options = ["-d", "agsize=100g", "-l", "size=64m"];
    make(&disk, "xfs", &options, &leave).and_then(Volume::finish).expect("a file system");
}

#[test]
fn a_file_system_made_by_another_program_is_left_alone() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let mut volume = make(&disk, "ext4", &[], &Permission::None).expect("a file system");
    let (node, folder) = (disk.node().to_owned(), volume.path().to_owned());
    let [node, folder] = [&node, &folder].map(|path| path.to_str().expect("a plain path"));
    // In the mount namespace of this thread, which sees our mount.
    for (tool, arguments) in [("umount", &[folder][..]), ("mkfs.ext4", &["-q", "-F", node]), ("mount", &[node, folder])]
    {
        testkit::run_tool(tool, arguments);
    }
    let outcome = volume.remount();
    assert!(matches!(&outcome, Err(ImageFault::Guard(GuardFault::Changed(..)))), "{outcome:?}");
    drop(volume);
    assert_eq!(holds(&disk), ["it holds ext4"], "it is not ours to erase");
}

#[test]
fn options_naming_another_device_are_refused_before_writing() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    for option in ["-Jdevice=loop0", "/dev/loop0", "UUID=1"] {
        let outcome = make(&disk, "ext4", &[option], &Permission::None);
        assert!(matches!(&outcome, Err(ImageFault::Elsewhere(_))), "{outcome:?}");
    }
    let outcome = make(&disk, "xfs", &[], &Permission::None);
    assert!(matches!(&outcome, Err(ImageFault::TooSmall { .. } | ImageFault::NoTool { .. })), "{outcome:?}");
    assert_eq!(holds(&disk), [""; 0]);
}
