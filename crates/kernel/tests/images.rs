//! File systems on images, on the real kernel: made, refused, and removed without a trace.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use kernel::observe::block_source::Storage;
use kernel::observe::mount::{Place, memory_below};
use kernel::{Image, ImageFault, ImageSpec, PrivateMounts};
use tempfile::TempDir;
use testkit::loop_disk::{LoopDisk, Mounted};
use testkit::{need_disk, skip, wait_until};
use units::Bytes;

const MIB: u64 = 1 << 20;

/// Each file system, and its smallest comfortable size in bytes.
const FILE_SYSTEMS: [(&str, u64); 3] = [("ext4", 32 * MIB), ("xfs", 320 * MIB), ("btrfs", 128 * MIB)];

fn spec(file_system: &str, bytes: u64, directory: &Path) -> ImageSpec {
    ImageSpec {
        file_system: file_system.to_owned(),
        bytes: Bytes(bytes),
        directory: directory.to_owned(),
        block: None,
        mount_options: Vec::new(),
        mkfs_options: Vec::new(),
    }
}

fn make(spec: &ImageSpec) -> Result<Image, ImageFault> {
    Image::make(spec, &PrivateMounts::enter()?, |_| ControlFlow::Continue(()))
}

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// Returns the loop devices on files in the directory.
fn loops_on(directory: &Path) -> Vec<PathBuf> {
    let blocks = fs::read_dir("/sys/block").expect("/sys/block").flatten().map(|entry| entry.path());
    let on_it = |path: &PathBuf| {
        let backing = fs::read_to_string(path.join("loop/backing_file"));
        backing.is_ok_and(|backing| Path::new(backing.trim()).starts_with(directory))
    };
    blocks.filter(on_it).collect()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).expect("a folder").next().is_none()
}

#[test]
fn a_file_system_is_created_and_recreated() {
    for (file_system, bytes) in FILE_SYSTEMS {
        need_disk!(&format!("mkfs.{file_system}"));
        let scratch = scratch();
        let mut image = make(&spec(file_system, bytes, scratch.path())).expect(file_system);
        let place = Place::under(image.path()).expect("a place");
        assert_eq!(place.file_system.as_deref(), Some(file_system));
        assert_eq!(place.device.as_ref(), Some(image.device()), "the loop device is seen under {file_system}");
        assert_eq!(image.device().bytes(), Some(bytes));
        assert_eq!(image.block().expect("a size"), Bytes(4096));
        assert!(is_empty(scratch.path()), "the image has a name");
        // The kernel detaches the device of the first attempt when no program has it open any more.
        wait_until("the image has one loop device", || loops_on(scratch.path()).len() == 1);

        fs::write(image.path().join("old"), "old").expect("a file");
        image.remount().expect("remounted");
        assert_eq!(fs::read(image.path().join("old")).expect("still there"), b"old");
        image.fresh().expect("made again");
        assert!(!image.path().join("old").exists());

        drop(image);
        wait_until("the loop device is gone", || loops_on(scratch.path()).is_empty());
    }
}

#[test]
fn other_processes_do_not_see_the_mount() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let image = make(&spec("ext4", 32 * MIB, scratch.path())).expect("an image");
    let path = image.path().to_owned();
    let ours = testkit::mounts("thread-self").expect("mounts");
    assert!(ours.contains(&path.display().to_string()));
    // Our thread has a mount namespace of its own; the first thread of this process does not.
    let others = testkit::mounts(&std::process::id().to_string()).expect("mounts");
    assert!(!others.contains(&path.display().to_string()));
    assert!(thread::scope(|scope| scope.spawn(|| path.is_dir()).join()).expect("a thread"), "our own threads see it");
}

#[test]
fn an_open_file_prevents_recreating_the_file_system() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let mut image = make(&spec("ext4", 32 * MIB, scratch.path())).expect("an image");
    let path = image.path().join("open");
    let open = fs::File::create(&path).expect("a file");
    assert!(matches!(image.fresh(), Err(ImageFault::Mount { action: "unmount", .. })));
    assert!(path.exists(), "it stays mounted");
    drop(open);
    image.fresh().expect("made again");
}

#[test]
fn a_kept_image_has_a_name_and_a_file_system() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let image = make(&spec("ext4", 32 * MIB, scratch.path())).expect("an image");
    let path = image.keep("kept").expect("a name");
    assert_eq!(path, scratch.path().join("kept.img"));
    let mut start = [0; 2048];
    fs::File::open(&path).and_then(|mut file| file.read_exact(&mut start)).expect("its beginning");
    // The superblock begins at 1024, its magic number 56 bytes later.
    assert_eq!(start[1080..1082], [0x53, 0xef]);
    wait_until("the loop device is gone", || loops_on(scratch.path()).is_empty());
}

#[test]
fn an_image_never_has_holes() {
    for (file_system, bytes) in FILE_SYSTEMS {
        need_disk!(&format!("mkfs.{file_system}"));
        let scratch = scratch();
        let mut image = make(&spec(file_system, bytes, scratch.path())).expect(file_system);
        image.fresh().expect("made again");
        let path = image.path().join("file");
        for _ in 0..3 {
            fs::write(&path, vec![1; MIB as usize]).expect("a file");
            fs::File::open(&path).and_then(|file| file.sync_all()).expect("durable");
            fs::File::create(&path).expect("emptied");
            image.remount().expect("remounted");
        }
        let kept = image.keep("kept").expect("a name");
        let file = fs::File::open(kept).expect("the image");
        assert_eq!(rustix::fs::seek(&file, rustix::fs::SeekFrom::Hole(0)), Ok(bytes), "{file_system}");
    }
}

#[test]
fn blocks_have_the_requested_size() {
    need_disk!("mkfs.ext4", "mkfs.xfs");
    let scratch = scratch();
    let small = ImageSpec { block: Some(Bytes(1024)), ..spec("ext4", 32 * MIB, scratch.path()) };
    assert_eq!(make(&small).expect("an image").block().expect("a size"), Bytes(1024));
    // Newer kernels mount it; older ones refuse it.
    let large = ImageSpec { block: Some(Bytes(8192)), ..spec("xfs", 320 * MIB, scratch.path()) };
    match make(&large) {
        Ok(image) => assert_eq!(image.block().expect("a size"), Bytes(8192)),
        Err(fault) => assert!(matches!(fault, ImageFault::BlockSize { .. }), "{fault}"),
    }
}

#[test]
fn unmountable_block_sizes_are_found_before_writing() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let spec = ImageSpec { block: Some(Bytes(65_536)), ..spec("ext4", 64 * MIB, scratch.path()) };
    let mounts = PrivateMounts::enter().expect("mounts of our own");
    match Image::make(&spec, &mounts, |_| panic!("nothing must be written")) {
        Err(fault @ ImageFault::BlockSize { .. }) => {
            let said = fault.to_string();
            assert!(said.contains("ext4 with blocks of 64 KiB") && said.contains("page size is"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    wait_until("the loop device is gone", || loops_on(scratch.path()).is_empty());
}

#[test]
fn messages_of_mkfs_and_mount_are_quoted() {
    need_disk!("mkfs.ext4", "mkfs.xfs");
    let scratch = scratch();
    let with = |file_system: &str, bytes, mkfs: &str, mount: &str| {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let plain = spec(file_system, bytes, scratch.path());
        let spec = ImageSpec { mkfs_options: words(mkfs), mount_options: words(mount), ..plain };
        make(&spec).expect_err("refused").to_string()
    };
    for (file_system, bytes) in [("ext4", 32 * MIB), ("xfs", 320 * MIB)] {
        let said = with(file_system, bytes, "-y", "");
        assert!(said.starts_with(&format!("mkfs.{file_system} says: ")) && said.contains("'y'"), "{said}");
        assert!(!said.contains('\n') && !said.to_lowercase().contains("usage"), "{said}");
        let said = with(file_system, bytes, "", "frobnicate");
        assert!(said.contains("frobnicate"), "{said}");
    }
    let said = with("xfs", 32 * MIB, "-m crc=1", "");
    assert!(said.starts_with("mkfs.xfs says: "), "options may change the least size, so mkfs decides: {said}");
    assert!(is_empty(scratch.path()));
    wait_until("the loop devices are gone", || loops_on(scratch.path()).is_empty());
}

#[test]
fn options_reach_mkfs_and_mount() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let plain = spec("ext4", 32 * MIB, scratch.path());
    let spec = ImageSpec {
        mkfs_options: words("-m 50 -E stride=16"),
        mount_options: words("noatime commit=77"),
        ..plain.clone()
    };
    let reserved = |spec: &ImageSpec| {
        let image = make(spec).expect("an image");
        let space = rustix::fs::statvfs(image.path()).expect("space");
        let place = Place::under(image.path()).expect("a place");
        (space.f_bfree - space.f_bavail, place.mount_options)
    };
    let (usual, _) = reserved(&plain);
    let (half, options) = reserved(&spec);
    assert!(half > 5 * usual, "-m 50 reserves {half} blocks, {usual} without");
    for option in ["noatime", "commit=77", "stripe=16"] {
        assert!(options.iter().any(|found| found == option), "{option}: {options:?}");
    }
}

#[test]
fn impossible_images_are_refused() {
    need_disk!("mkfs.ext4", "mkfs.xfs");
    let scratch = scratch();
    let refused = |spec: ImageSpec| make(&spec).expect_err("refused");
    let none = refused(spec("zzfs", 32 * MIB, scratch.path()));
    assert!(matches!(none, ImageFault::NoTool { package: None, .. }), "{none}");
    let small = refused(spec("xfs", 64 * MIB, scratch.path()));
    assert!(matches!(small, ImageFault::TooSmall { minimum: Bytes(minimum), .. } if minimum == 300 * MIB), "{small}");
    let large = refused(spec("ext4", 1 << 60, scratch.path()));
    assert!(matches!(large, ImageFault::NoRoom { .. }), "{large}");
    let nowhere = refused(spec("ext4", 32 * MIB, &scratch.path().join("none")));
    assert!(matches!(nowhere, ImageFault::File { .. }), "{nowhere}");
    let elsewhere =
        |option: &str| ImageSpec { mount_options: vec![option.to_owned()], ..spec("xfs", 320 * MIB, scratch.path()) };
    for option in ["logdev=loop7", "device=/dev/loop7", "journal_dev=0x701"] {
        assert!(matches!(refused(elsewhere(option)), ImageFault::Elsewhere(_)), "{option}");
    }
    // /proc has no room and supports no unnamed files.
    assert!(make(&spec("ext4", 32 * MIB, Path::new("/proc"))).is_err());
    assert!(is_empty(scratch.path()));
    wait_until("the loop devices are gone", || loops_on(scratch.path()).is_empty());
}

#[test]
fn the_minimum_size_of_each_file_system_is_enough() {
    for (file_system, minimum) in [("ext4", MIB), ("xfs", 300 * MIB), ("btrfs", 114_294_784)] {
        need_disk!(&format!("mkfs.{file_system}"));
        let scratch = scratch();
        make(&spec(file_system, minimum, scratch.path())).expect(file_system);
        assert!(matches!(make(&spec(file_system, minimum - 4096, scratch.path())), Err(ImageFault::TooSmall { .. })));
    }
}

#[test]
fn any_file_system_can_hold_the_image() {
    need_disk!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs");
    for (host, bytes) in FILE_SYSTEMS {
        let scratch = scratch();
        let outer = make(&spec(host, bytes.max(128 * MIB), scratch.path())).expect(host);
        let inner = make(&spec("ext4", 16 * MIB, outer.path())).expect("an image on an image");
        assert_eq!(inner.host().file_system.as_deref(), Some(host));
        assert_eq!(inner.host().device.as_ref(), Some(outer.device()));
        // The files of a btrfs do not have the number of its device.
        let shared = Place::under(outer.path()).expect("a place").shared_with(inner.device());
        assert_eq!(shared.first(), Some(&outer.device().name), "{host}");
    }
}

/// Loop devices on the files of an overlay: one on a disk, and one in memory.
#[test]
fn a_file_on_an_overlay_is_on_the_device_of_its_upper_layer() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let image = make(&spec("ext4", 32 * MIB, scratch.path())).expect("an image");
    let folder = |name: &str| {
        let path = image.path().join(name);
        fs::create_dir_all(&path).expect("a folder");
        path
    };
    let memory = Mounted::tmpfs(&folder("memory"), "size=8m");
    for layers in ["disk", "memory"] {
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| folder(&format!("{layers}/{name}")));
        let options = [("lowerdir", lower), ("upperdir", upper), ("workdir", work)];
        let options = options.map(|(key, path)| format!("{key}={}", path.display())).join(",");
        let point = folder(&format!("{layers}-merged"));
        testkit::run_tool("mount", &["-t", "overlay", "-o", &options, "overlay", &point.to_string_lossy()]);
        let overlay = Mounted::adopt(&point);
        let file = point.join("file");
        fs::write(&file, vec![1; MIB as usize]).expect("a file");
        let disk = LoopDisk::attach_through_cache(&file).expect("a loop device");
        let name = disk.node().file_name().expect("a name").display().to_string();
        let device = Storage::inspect(disk.node()).expect("readable").and_then(|disk| disk.device).expect("a device");
        let shared = Place::under(image.path()).expect("a place").shared_with(&device);
        let in_memory = memory_below(&device);
        match layers {
            "disk" => assert_eq!((shared.first(), in_memory), (Some(&image.device().name), None)),
            _ => assert_eq!(in_memory, Some(format!("{name} on tmpfs under an overlay"))),
        }
        drop(disk);
        wait_until("the loop device is gone", || loops_on(&point).is_empty());
        drop(overlay);
    }
    drop(memory);
}

#[test]
fn images_in_tmpfs_work_and_direct_io_is_reported() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let memory = Path::new("/dev/shm");
    if Place::under(memory).ok().and_then(|place| place.file_system).as_deref() != Some("tmpfs") {
        return skip!("/dev/shm is no tmpfs");
    }
    for directory in [scratch.path(), memory] {
        let image = make(&spec("ext4", 16 * MIB, directory)).expect("an image");
        let flag = Path::new("/sys/block").join(&image.device().name).join("loop/dio");
        assert_eq!(fs::read_to_string(flag).expect("a flag").trim() == "1", image.is_direct());
    }
}

#[test]
fn concurrent_images_are_all_different() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    thread::scope(|scope| {
        for number in 0..6 {
            let directory = scratch.path();
            scope.spawn(move || {
                for _ in 0..4 {
                    let image = make(&spec("ext4", 4 * MIB, directory)).expect("an image");
                    fs::write(image.path().join(number.to_string()), "mine").expect("a file");
                    let names = fs::read_dir(image.path()).expect("a folder").flatten();
                    let names: Vec<_> = names.map(|entry| entry.file_name()).filter(|n| n != "lost+found").collect();
                    assert_eq!(names, [number.to_string().as_str()]);
                }
            });
        }
    });
    wait_until("the loop devices are gone", || loops_on(scratch.path()).is_empty());
}

#[test]
fn stopping_leaves_no_image() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let mounts = PrivateMounts::enter().expect("mounts of our own");
    let outcome = Image::make(&spec("ext4", 128 * MIB, scratch.path()), &mounts, |_| ControlFlow::Break(()));
    assert!(matches!(outcome, Err(ImageFault::Stopped)), "{outcome:?}");
    assert!(is_empty(scratch.path()));
    wait_until("the loop device is gone", || loops_on(scratch.path()).is_empty());
}

/// An image that contains the image of a process which is killed. Afterwards the outer image must be empty, all its
/// room free again, and unmounting it possible.
#[test]
fn no_image_is_left_after_a_kill() {
    need_disk!("mkfs.ext4");
    let scratch = scratch();
    let mut outer = make(&spec("ext4", 160 * MIB, scratch.path())).expect("an image");
    for stage in ["written", "mounted"] {
        let free = || Place::under(outer.path()).expect("a place").free_bytes;
        let before = free();
        let mut child = Command::new(env::current_exe().expect("our path"))
            .args(["--exact", "child_creates_an_image", "--ignored", "--nocapture"])
            .envs([("DISKPERF_TEST_STAGE", stage.as_ref()), ("DISKPERF_TEST_FOLDER", outer.path().as_os_str())])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(&format!("at {stage}"))), "the child never came to {stage}");
        assert!(free() < before, "the child's image takes no room");
        wait_until("the loop devices of this stage", || loops_on(outer.path()).is_empty() == (stage == "written"));
        child.kill().expect("killed");
        child.wait().expect("ended");
        wait_until("the loop device is gone", || loops_on(outer.path()).is_empty());
        wait_until("the room is free", || free() == before);
        assert!(fs::read_dir(outer.path()).expect("a folder").flatten().all(|entry| entry.file_name() == "lost+found"));
        outer.remount().expect("nothing in it is open");
    }
}

#[test]
#[ignore = "half of no_image_is_left_after_a_kill"]
fn child_creates_an_image() {
    let (stage, folder) = (env::var("DISKPERF_TEST_STAGE"), env::var("DISKPERF_TEST_FOLDER"));
    let (Ok(stage), Ok(folder)) = (stage, folder) else { return };
    let wait_at = |here: &str| {
        if stage == here {
            println!("at {here}");
            thread::sleep(Duration::from_secs(600));
        }
    };
    let mounts = PrivateMounts::enter().expect("mounts of our own");
    let spec = spec("ext4", 64 * MIB, Path::new(&folder));
    let image = Image::make(&spec, &mounts, |_| {
        wait_at("written");
        ControlFlow::Continue(())
    });
    let image = image.expect("an image");
    fs::write(image.path().join("file"), "something").expect("a file");
    wait_at("mounted");
}
