//! One file under two names: on an overlay, or with a FUSE server, the inode number does not identify a file. A loop
//! device on such a file is never overwritten, nor is a device of the same size, which may be the same file.
//!
//! No other test may use the sizes of these disks: the guard would refuse a device of the same size in any test.

#[allow(dead_code, reason = "what other tests share")]
mod common;

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::in_mounts_of_its_own;
use kernel::guard::{GuardFault, Inspected, Permission, inspect, may_show_file};
use kernel::{Cleared, Image, ImageSpec, PrivateMounts};
use rustix::fs::MemfdFlags;
use rustix::mount::MountFlags;
use tempfile::TempDir;
use testkit::fuse::{Knobs, OneFile};
use testkit::loop_disk::{Disk, LoopDisk, Mounted};
use testkit::{need_disk, run_tool, skip};
use units::Bytes;

const MIB: u64 = 1 << 20;

/// An overlay whose layers are on a tmpfs: `lower`, `upper` and `merged` in a folder. It is in the calling thread's own
/// mount namespace, and ends with that.
struct Overlay {
    folder: TempDir,
}

impl Overlay {
    /// Mounts an overlay; `None` if the kernel does not support it.
    fn mount() -> Option<Overlay> {
        let folder = tempfile::tempdir().expect("a scratch folder");
        rustix::mount::mount("layers", folder.path(), "tmpfs", MountFlags::empty(), c"size=64m").expect("a tmpfs");
        let overlay = Overlay { folder };
        for name in ["lower", "upper", "work", "merged"] {
            fs::create_dir(overlay.path(name)).expect("a folder");
        }
        let layer = |name: &str| overlay.path(name).to_str().expect("a plain path").to_owned();
        let options = format!("lowerdir={},upperdir={},workdir={}\0", layer("lower"), layer("upper"), layer("work"));
        let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).expect("one zero, at the end");
        let mounted = rustix::mount::mount("test", overlay.path("merged"), "overlay", MountFlags::empty(), options);
        mounted.is_ok().then_some(overlay)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a file of this many zero bytes in a layer, and returns its path.
    fn file(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.path(name);
        File::create_new(&path).and_then(|file| file.set_len(bytes)).expect("a file");
        path
    }
}

/// Unmounts the overlay before its folder is removed.
impl Drop for Overlay {
    fn drop(&mut self) {
        for at in [self.path("merged"), self.folder.path().to_owned()] {
            let _ = rustix::mount::unmount(at, rustix::mount::UnmountFlags::DETACH);
        }
    }
}

fn look_at(device: &LoopDisk) -> Inspected {
    inspect(device.node()).expect("it can be looked at")
}

fn reasons(device: &LoopDisk) -> Vec<String> {
    look_at(device).reasons().iter().map(ToString::to_string).collect()
}

fn name(device: &LoopDisk) -> String {
    device.node().file_name().expect("a name").to_string_lossy().into_owned()
}

/// Checks that the device is refused for this reason with any permission, and that the file keeps every byte.
fn is_never_overwritten(device: &LoopDisk, file: &Path, reason: &str) {
    let before = fs::read(file).expect("its bytes");
    let inspected = look_at(device);
    let said = reasons(device);
    assert!(said.contains(&reason.to_owned()), "{reason:?} is not said: {said:?}");
    for leave in [Permission::None, Permission::Destroy(inspected.identity())] {
        let outcome = Cleared::acquire(&inspected, &leave);
        assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{reason}: {outcome:?}");
    }
    assert!(fs::read(file).expect("its bytes") == before, "{reason}: something was written");
}

const UNSEEN: &str = "it has a backing file on overlay, which may be in use under another name";

fn as_large(device: &LoopDisk, file_system: &str) -> String {
    format!("{} has the same size and may have the same bytes: its backing file is on {file_system}", name(device))
}

#[test]
fn files_mounted_via_upper_are_not_overwritten_via_merged() {
    need_disk!("mkfs.ext4", "mount", "umount");
    in_mounts_of_its_own(|| {
        let Some(overlay) = Overlay::mount() else { return skip!("the kernel has no overlay") };
        let upper = overlay.file("upper/img", 8 * MIB + 3 * 4096);
        run_tool("mkfs.ext4", &["-q", "-F", upper.to_str().expect("a plain path")]);
        let one = LoopDisk::attach_through_cache(&upper).expect("a loop device");
        let folder = overlay.path("mounted");
        fs::create_dir(&folder).expect("a folder");
        let mounted = Mounted::mount(one.node(), &folder, "rw");
        fs::write(folder.join("precious"), "data").expect("a file");
        rustix::fs::sync();
        let merged = overlay.path("merged/img");
        let other = LoopDisk::attach_through_cache(&merged).expect("a loop device");
        is_never_overwritten(&other, &upper, UNSEEN);
        is_never_overwritten(&one, &upper, &as_large(&other, "overlay"));
        assert_eq!(fs::read(folder.join("precious")).expect("the file"), b"data");
        drop(mounted);
    })
    .expect("mounts of our own");
}

/// The copy in the upper layer has another inode number than the file in the lower layer.
#[test]
fn copied_up_files_are_not_overwritten_under_any_name() {
    need_disk!();
    in_mounts_of_its_own(|| {
        let Some(overlay) = Overlay::mount() else { return skip!("the kernel has no overlay") };
        overlay.file("lower/img", 8 * MIB + 5 * 4096);
        let merged = overlay.path("merged/img");
        // Opening for writing copies the file up.
        let shown = LoopDisk::attach_through_cache(&merged).expect("a loop device");
        let upper = overlay.path("upper/img");
        is_never_overwritten(&shown, &upper, UNSEEN);
        let copy = LoopDisk::attach_through_cache(&upper).expect("a loop device");
        is_never_overwritten(&copy, &upper, &as_large(&shown, "overlay"));
        let reader = LoopDisk::attach_read_only(&overlay.path("lower/img")).expect("a loop device");
        assert!(reasons(&reader).contains(&as_large(&shown, "overlay")));
        // Once the device on the overlay is detached, nothing may show the file any more.
        let name_of_shown = name(&shown);
        drop((shown, reader));
        testkit::wait_until("it is detached", || !reasons(&copy).iter().any(|one| one.starts_with(&name_of_shown)));
        assert_eq!(reasons(&copy), [""; 0]);
        Cleared::acquire(&look_at(&copy), &Permission::None).expect("leave");
    })
    .expect("mounts of our own");
}

/// Attaches a loop device to a part of a file.
fn part_of(file: &Path, offset: u64, limit: Option<u64>) -> LoopDisk {
    let offset = offset.to_string();
    let limit = limit.map(|limit| limit.to_string());
    let limit: Vec<&str> = limit.iter().flat_map(|limit| ["--sizelimit", limit]).collect();
    let arguments = [&["--find", "--show", "--offset", &offset], &limit[..], &[file.to_str().expect("plain")]].concat();
    let ended = testkit::run(&testkit::tool("losetup").expect("it is installed"), "/".as_ref(), &arguments);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    LoopDisk::adopt(ended.out.trim().into())
}

/// A device that shows a part of a file on an overlay has another size than the file. It may be a part of any larger
/// disk, so this file is larger than the disks of all other tests.
#[test]
fn parts_of_files_on_an_overlay_are_not_overwritten() {
    need_disk!();
    in_mounts_of_its_own(|| {
        let Some(overlay) = Overlay::mount() else { return skip!("the kernel has no overlay") };
        // The file ends within a sector, and one of the offsets begins within one.
        let upper = overlay.file("upper/img", (2 << 40) + MIB + 100);
        let merged = overlay.path("merged/img");
        let is_refused = |device: &LoopDisk, reason: &str| {
            let inspected = look_at(device);
            assert!(reasons(device).contains(&reason.to_owned()), "{reason:?} is not said: {:?}", reasons(device));
            for leave in [Permission::None, Permission::Destroy(inspected.identity())] {
                let outcome = Cleared::acquire(&inspected, &leave);
                assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{reason}: {outcome:?}");
            }
        };
        for (offset, limit) in [(MIB, None), (300, None), (0, Some(2 << 40)), (MIB, Some(2 << 40))] {
            let part = part_of(&merged, offset, limit);
            is_refused(&part, UNSEEN);
            let whole = LoopDisk::attach_through_cache(&upper).expect("a loop device");
            let part = name(&part);
            is_refused(&whole, &format!("{part} may share bytes with it: {part} is a part of a file on overlay"));
            // The reverse: a part of the ordinary file, and the whole file on the overlay.
            let other = LoopDisk::attach_through_cache(&merged).expect("a loop device");
            let part_of_upper = part_of(&upper, offset, limit);
            is_refused(&part_of_upper, &as_large(&other, "overlay"));
        }
        let blocks = std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&upper).expect("the file"));
        assert_eq!(blocks, 0, "something was written");
    })
    .expect("mounts of our own");
}

/// Like snap packages: many read-only loop devices, each with its own size.
#[test]
fn devices_of_another_size_do_not_matter() {
    need_disk!();
    in_mounts_of_its_own(|| {
        let Some(overlay) = Overlay::mount() else { return skip!("the kernel has no overlay") };
        let disk = Disk::new(8 * MIB + 7 * 4096);
        let snaps = [9, 11].map(|pages| {
            let path = overlay.file(&format!("merged/{pages}"), 8 * MIB + pages * 4096);
            LoopDisk::attach_read_only(&path).expect("a loop device")
        });
        assert!(snaps.iter().all(|snap| reasons(snap).contains(&UNSEEN.to_owned())));
        assert_eq!(reasons(&disk.device), [""; 0]);
        Cleared::acquire(&look_at(&disk.device), &Permission::None).expect("leave");
        let same = LoopDisk::attach_read_only(&overlay.file("merged/same", 8 * MIB + 7 * 4096)).expect("a loop device");
        is_never_overwritten(&disk.device, &disk.file, &as_large(&same, "overlay"));
    })
    .expect("mounts of our own");
}

#[test]
fn a_file_on_fuse_may_be_any_device_of_its_size() {
    need_disk!();
    if !Path::new("/dev/fuse").exists() {
        return skip!("needs /dev/fuse");
    }
    in_mounts_of_its_own(|| {
        let bytes = 4 * MIB + 13 * 4096;
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("below");
        let below = File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
        below.set_len(bytes).expect("its size");
        let at = folder.path().join("served");
        fs::create_dir(&at).expect("a folder");
        let served = OneFile::mount(&at, below, Knobs::default()).expect("a file system");
        let through = LoopDisk::attach_through_cache(&served.file()).expect("a loop device");
        is_never_overwritten(&through, &path, "it has a backing file on fuse, which may be in use under another name");
        // The server has the backing file open. That is not a reason to refuse, because this process is the server.
        let direct = LoopDisk::attach_through_cache(&path).expect("a loop device");
        is_never_overwritten(&direct, &path, &as_large(&through, "fuse"));
        assert!(may_show_file(File::open(&path).expect("the file")).expect("an answer").contains(&name(&through)));
        let other = Disk::new(bytes + 4096);
        assert_eq!(reasons(&other.device), [""; 0]);
        drop((through, served));
    })
    .expect("mounts of our own");
}

/// After a crash of a FUSE server, Linux does not tell which file is behind a loop device.
#[test]
fn a_file_of_a_dead_server_may_be_any_device_of_its_size() {
    need_disk!();
    if !Path::new("/dev/fuse").exists() {
        return skip!("needs /dev/fuse");
    }
    in_mounts_of_its_own(|| {
        let bytes = 4 * MIB + 21 * 4096;
        let same = Disk::new(bytes);
        let folder = tempfile::tempdir().expect("a scratch folder");
        let below = File::options().read(true).write(true).open(&same.file).expect("the file");
        let served = OneFile::mount(folder.path(), below, Knobs::default()).expect("a file system");
        let through = LoopDisk::attach_through_cache(&served.file()).expect("a loop device");
        assert!(reasons(&same.device).contains(&as_large(&through, "fuse")));
        served.abort().expect("the server is gone");
        let unseen = "a file system that diskperf cannot see";
        testkit::wait_until("the server does not answer", || {
            reasons(&same.device).contains(&as_large(&through, unseen))
        });
        is_never_overwritten(&same.device, &same.file, &as_large(&through, unseen));
        if let Ok(inspected) = inspect(through.node()) {
            let outcome = Cleared::acquire(&inspected, &Permission::Destroy(inspected.identity()));
            assert!(matches!(&outcome, Err(GuardFault::Refused { .. })), "{outcome:?}");
        }
        let other = Disk::new(bytes + 4096);
        assert_eq!(reasons(&other.device), [""; 0]);
        Cleared::acquire(&look_at(&other.device), &Permission::None).expect("leave");
        drop((through, served));
    })
    .expect("mounts of our own");
}

#[test]
fn files_are_shown_by_devices_with_other_inode_numbers() {
    need_disk!();
    in_mounts_of_its_own(|| {
        let Some(overlay) = Overlay::mount() else { return skip!("the kernel has no overlay") };
        let upper = overlay.file("upper/img", 8 * MIB + 15 * 4096);
        let merged = overlay.path("merged/img");
        let shown = |path: &Path| may_show_file(File::open(path).expect("the file")).expect("an answer");
        assert_eq!((shown(&upper), shown(&merged)), (vec![], vec![]));
        // Inode numbers identify an ordinary file, but not a file on an overlay.
        let device = LoopDisk::attach_through_cache(&upper).expect("a loop device");
        assert_eq!((shown(&upper), shown(&merged)), (vec![], vec![name(&device)]));
        drop(device);
        let device = LoopDisk::attach_through_cache(&merged).expect("a loop device");
        assert_eq!(shown(&upper), [name(&device)]);
        assert!(shown(&merged).contains(&name(&device)));
        // A new file, and one of another size.
        for bytes in [0, MIB] {
            let path = overlay.file(&format!("merged/{bytes}"), bytes);
            assert!(!shown(&path).contains(&name(&device)), "{bytes}");
        }
    })
    .expect("mounts of our own");
}

/// Other programs have loop devices on memfd files, which are in no folder and in no list of mounts.
#[test]
fn memfd_files_are_identified_by_their_inode() {
    need_disk!();
    let file = File::from(rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).expect("a file in memory"));
    file.set_len(4 * MIB + 17 * 4096).expect("its size");
    let path = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&file));
    let device = LoopDisk::attach_through_cache(Path::new(&path)).expect("a loop device");
    assert_eq!(reasons(&device), [""; 0]);
    Cleared::acquire(&look_at(&device), &Permission::None).expect("leave");
}

/// An image that this run made on an overlay is no reason to refuse a device of the same size.
#[test]
fn our_own_images_do_not_matter() {
    need_disk!("mkfs.ext4");
    let ended = in_mounts_of_its_own(|| {
        let Some(overlay) = Overlay::mount() else { return skip!("the kernel has no overlay") };
        let bytes = 8 * MIB + 19 * 4096;
        let spec = ImageSpec {
            file_system: "ext4".to_owned(),
            bytes: Bytes(bytes),
            directory: overlay.path("merged"),
            block: None,
            mount_options: Vec::new(),
            mkfs_options: Vec::new(),
        };
        let mounts = PrivateMounts::enter().expect("mounts");
        let image = match Image::make(&spec, &mounts, |_| ControlFlow::Continue(())) {
            Err(kernel::ImageFault::NoUnnamed(_)) => return skip!("overlays of this kernel have no unnamed files"),
            image => image.expect("an image"),
        };
        let disk = Disk::new(bytes);
        assert_eq!(reasons(&disk.device), [""; 0]);
        Cleared::acquire(&look_at(&disk.device), &Permission::None).expect("leave");
        drop(image);
    });
    ended.expect("mounts of our own");
}
