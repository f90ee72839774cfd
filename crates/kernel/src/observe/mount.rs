//! The mount of a path: its file system, options, free space and device.

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use procfs::process::MountInfo;
use rustix::fs::{Access, AtFlags, Mode, OFlags, StatVfs, StatxFlags};
use rustix::io::Errno;

use crate::observe::block_device::Device;
use crate::observe::block_stack::{self, SYS};
use crate::observe::overlay::upper_in;
use crate::sys::name::original;
use crate::sys::read_limited;

/// The fewest bytes that are counted for a file with data: a block of most file systems.
pub const LEAST_BLOCK: u64 = 4096;

/// The file system at a path, and the device below it.
#[derive(Clone, Debug)]
pub struct Place {
    /// `ext4`, `xfs`, `tmpfs`, ...; `None` if the mount table does not list it.
    pub file_system: Option<String>,
    /// The mount options, sorted.
    pub mount_options: Vec<String>,
    /// Bytes that an unprivileged program can still write. `None` if the file system reports no size.
    pub free_bytes: Option<u64>,
    /// The fewest bytes that a file with data takes. Limit: the clusters of ext4 (`bigalloc`) are not visible.
    pub block_bytes: u64,
    /// Files that an unprivileged program can still create. `None` if the file system sets no limit.
    pub free_files: Option<u64>,
    /// Bytes of the whole file system.
    pub total_bytes: u64,
    /// Bytes used by files and by the file system itself.
    pub used_bytes: u64,
    /// The device below the file system. `None` if none is visible.
    pub device: Option<Device>,
    /// The layer that is only in memory, so that nothing written there is durable: `tmpfs`, `zram0`, ...
    pub in_memory: Option<String>,
    /// The file system of the upper layer, if this is an overlay whose upper layer is known.
    pub upper: Option<String>,
    /// If the file system is in an image: the image's own file system and device, `ext4 on vda`. Otherwise `None`.
    pub nested_in: Option<String>,
}

impl Place {
    /// Inspects `path`, which must exist.
    pub fn under(path: &Path) -> io::Result<Place> {
        let path = path.canonicalize()?;
        let number = path.metadata()?.dev();
        let space = rustix::fs::statvfs(&path)?;
        let mount = mount_of(&path);
        let device = device_below(number, mount.as_ref());
        let stack = device.as_ref().map(devices_under).unwrap_or_default();
        Ok(Place {
            in_memory: mount.as_ref().and_then(memory_only).or_else(|| memory_in(&stack)),
            nested_in: stack.iter().find_map(|(one, _)| image_under(one)).map(|image| host_of(&image)),
            upper: None,
            file_system: mount.as_ref().map(|mount| mount.fs_type.clone()),
            mount_options: mount.as_ref().map(options).unwrap_or_default(),
            free_bytes: free_in(&space),
            block_bytes: block_of(&space, device.is_some()),
            free_files: (space.f_files > 0).then_some(space.f_favail),
            total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
            used_bytes: space.f_blocks.saturating_sub(space.f_bfree).saturating_mul(space.f_frsize),
            device,
        })
    }

    /// The same file system on the storage of another place: an overlay, whose new files are in its upper layer there.
    pub(crate) fn with_storage_of(self, upper: Place) -> Place {
        let Place { device, in_memory, nested_in, file_system, .. } = upper;
        let in_memory = in_memory.map(|memory| format!("{memory} under an overlay"));
        Place { device, in_memory, nested_in, upper: file_system, ..self }
    }

    /// Returns all devices below the file system, each once, with the number of devices above it. An xfs may have its
    /// realtime data and its log on devices of their own, which the mount options name (xfs(5)).
    pub(crate) fn devices(&self) -> Vec<(Device, u32)> {
        let named = |option: &String| {
            let path = ["rtdev=", "logdev="].into_iter().find_map(|key| option.strip_prefix(key))?;
            numbered_node(&PathBuf::from(original(path)))
        };
        let tops: Vec<Device> =
            self.device.iter().cloned().chain(self.mount_options.iter().filter_map(named)).collect();
        block_stack::under(Path::new(SYS), &tops, &device_of)
    }

    /// Returns the names of the devices in this stack that are also in the stack of `other`, from the top down.
    pub fn shared_with(&self, other: &Device) -> Vec<String> {
        let own = self.device.as_ref().map(devices_under).unwrap_or_default();
        let others = devices_under(other);
        let shared = own.into_iter().filter(|(device, _)| others.iter().any(|(other, _)| other == device));
        shared.map(|(device, _)| device.name).collect()
    }

    /// The used share of the file system, in percent.
    pub fn fill_percent(&self) -> f64 {
        if self.total_bytes == 0 {
            return 0.0;
        }
        100.0 * self.used_bytes as f64 / self.total_bytes as f64
    }
}

/// Returns the device and all devices below it, each once, with the number of devices above it.
pub(crate) fn devices_under(top: &Device) -> Vec<(Device, u32)> {
    block_stack::under(Path::new(SYS), std::slice::from_ref(top), &device_of)
}

/// Returns the names of the devices directly below a device.
pub(crate) fn names_below(device: &Device) -> Vec<String> {
    block_stack::directly_below(Path::new(SYS), device, &device_of).into_iter().map(|below| below.name).collect()
}

/// A device that contains a file: the device itself for a device node, because a loop device may also be on a device.
/// For a file on an overlay, that is the device of its upper layer.
fn device_of(file: &Path) -> Option<Device> {
    let metadata = file.metadata().ok()?;
    if metadata.file_type().is_block_device() {
        return numbered(metadata.rdev());
    }
    let of = |path: &Path, number| device_below(number, mount_of(path).as_ref());
    of(file, metadata.dev()).or_else(|| {
        let upper = same_in_upper(file)?;
        of(&upper, upper.metadata().ok()?.dev())
    })
}

/// The block device with this number (`st_dev` or `st_rdev`).
pub(crate) fn numbered(number: u64) -> Option<Device> {
    Device::numbered(rustix::fs::major(number), rustix::fs::minor(number))
}

/// The number of the block device at a path. Returns `None` if the path is not a block device.
pub(crate) fn block_number(path: &Path) -> Option<(u32, u32)> {
    let metadata = path.metadata().ok().filter(|metadata| metadata.file_type().is_block_device())?;
    Some((rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev())))
}

/// Returns the mount that contains the path: the deepest one, or of equally deep ones the last mounted. Reads the
/// table of this thread, because a thread may have its own mount namespace.
pub(crate) fn mount_of(path: &Path) -> Option<MountInfo> {
    let mounts = mounts_in(&mount_lines(Path::new("/proc/thread-self")).ok()?)?;
    let around = mounts.into_iter().filter(|mount| path.starts_with(&mount.mount_point));
    around.max_by_key(|mount| mount.mount_point.components().count())
}

/// The file system type at a path, from the mount table alone. Does not access the file system.
pub(crate) fn file_system_at(path: &Path) -> Option<String> {
    mount_of(path).map(|mount| mount.fs_type)
}

/// Reads the mount table of a thread, whose folder under /proc is `thread`. Paths may contain any bytes; they are
/// encoded as text as in `units::name`.
pub(crate) fn mount_lines(thread: &Path) -> io::Result<String> {
    read_limited::of_the_kernel(thread.join("mountinfo"))
}

/// Parses the lines of a mount table. Returns `None` if a line cannot be parsed.
pub(crate) fn mounts_in(lines: &str) -> Option<Vec<MountInfo>> {
    let mount = |line: &str| {
        let mut mount = MountInfo::from_line(line).ok()?;
        mount.mount_point = PathBuf::from(original(&unescaped(mount.mount_point.to_str()?)));
        mount.mount_source = mount.mount_source.as_deref().map(unescaped);
        Some(mount)
    };
    lines.lines().map(mount).collect()
}

/// Decodes a path: the kernel writes blanks, tabs, line ends and backslashes in octal.
fn unescaped(path: &str) -> String {
    let odd = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")];
    odd.into_iter().fold(path.to_owned(), |path, (octal, plain)| path.replace(octal, plain))
}

/// The options of the mount that contains the folder.
pub(crate) fn mount_options(folder: &Path) -> Option<Vec<String>> {
    Some(options(&mount_of(&folder.canonicalize().ok()?)?))
}

/// Returns the path that a file or folder should have in the upper layer of its overlay. `None` if it is not on an
/// overlay.
pub(crate) fn upper_path(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    upper_in(&mount_of(&path)?, &path)
}

/// Returns the path of a file or folder in the upper layer of its overlay, if the same one is there: with this inode
/// number and size. An overlay shows another inode number for a file that it has copied up; then this is `None`.
fn same_in_upper(path: &Path) -> Option<PathBuf> {
    let upper = upper_path(path)?.canonicalize().ok()?;
    let identity = |path: &Path| path.metadata().ok().map(|metadata| (metadata.ino(), metadata.len()));
    (identity(path)? == identity(&upper)?).then_some(upper)
}

/// The name of the file system, if it keeps files only in memory.
fn memory_only(mount: &MountInfo) -> Option<String> {
    keeps_in_memory(&mount.fs_type).then(|| mount.fs_type.clone())
}

/// True if a file system of this type keeps files only in memory.
pub(crate) fn keeps_in_memory(file_system: &str) -> bool {
    matches!(file_system, "tmpfs" | "ramfs" | "devtmpfs")
}

/// Describes the part of a stack that is only in memory. `None` if none is known, or if another device of its level is
/// not in memory: a mirror of a RAM disk and a disk is durable. Limits: a stripe or a cache that is partly in memory is
/// not noticed, and a mirror whose members have different depths may be named wrongly.
fn memory_in(stack: &[(Device, u32)]) -> Option<String> {
    let deepest = stack.iter().map(|(_, depth)| *depth).max()?;
    (0..=deepest).find_map(|depth| {
        let mut level = stack.iter().filter(|(_, of)| *of == depth).map(|(one, _)| in_memory(one));
        let first = level.next()??;
        level.all(|other| other.is_some()).then_some(first)
    })
}

/// Describes the part of a device that is only in memory: the device itself, or the file of a loop device.
fn in_memory(device: &Device) -> Option<String> {
    // The RAM disk (brd) and compressed memory (zram) have no attribute that shows it, only their names.
    let is_memory = ["ram", "zram"].iter().any(|kind| {
        let number = device.name.strip_prefix(kind);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    });
    if is_memory {
        return Some(device.name.clone());
    }
    let file = image_under(device)?;
    let on = |path: &Path| memory_only(&mount_of(path)?).map(|memory| format!("{} on {memory}", device.name));
    on(&file).or_else(|| Some(format!("{} under an overlay", on(&same_in_upper(&file)?)?)))
}

/// The layer of a device's stack that is only in memory; `None` if none is known.
pub fn memory_below(device: &Device) -> Option<String> {
    memory_in(&devices_under(device))
}

/// The file of the loop device at a path, and the part of the file that the device shows. `None` for other paths, and
/// if the file has no name.
pub(crate) fn loop_part(path: &Path) -> Option<(PathBuf, Range<u64>)> {
    let device = numbered_node(path)?;
    let offset: u64 = read_limited::of_the_kernel(device.sys.join("loop/offset")).ok()?.trim().parse().ok()?;
    Some((block_stack::named_file(&device)?, offset..offset.saturating_add(device.bytes()?)))
}

/// The file of a loop device, or the folder of a nameless one. Returns `None` if the file is itself a device.
fn image_under(device: &Device) -> Option<PathBuf> {
    let file = block_stack::backing_file(device)?;
    let metadata = file.metadata().ok()?;
    (!metadata.file_type().is_block_device()).then_some(file)
}

/// The file system and device of a file: `ext4 on vda`.
fn host_of(file: &Path) -> String {
    let mount = mount_of(file);
    let number = file.metadata().ok().map(|metadata| metadata.dev());
    let device = number.and_then(|number| device_below(number, mount.as_ref()));
    let file_system = mount.map_or_else(|| "a file system that cannot be seen".to_owned(), |mount| mount.fs_type);
    device.map_or_else(|| file_system.clone(), |device| format!("{file_system} on {}", device.name))
}

/// Returns the device of a mounted file system, whose files have this device number:
///   1. A FUSE file system has no device, whatever its files and the mount table say: its server may keep the data
///      anywhere.
///   2. Other files have the number of their device.
///   3. On some file systems, the files' number is not that of a block device, and the mount table names the device.
///      For an overlay or a network file system, a device in the mount table means nothing.
fn device_below(number: u64, mount: Option<&MountInfo>) -> Option<Device> {
    // 1
    if mount.is_some_and(|mount| is_served(&mount.fs_type)) {
        return None;
    }
    // 2
    numbered(number).or_else(|| {
        // 3
        let mount = mount.filter(|mount| NUMBERED_OTHERWISE.contains(&mount.fs_type.as_str()))?;
        numbered_node(&PathBuf::from(original(mount.mount_source.as_ref()?)))
    })
}

/// File systems on devices whose files do not have the number of a device, because there may be several devices.
const NUMBERED_OTHERWISE: [&str; 2] = ["btrfs", "bcachefs"];

/// True if a program serves the file system (FUSE). The mount table may append a name, as in `fuse.sshfs`.
pub fn is_served(file_system: &str) -> bool {
    let kind = file_system.split('.').next().unwrap_or_default();
    matches!(kind, "fuse" | "fuseblk")
}

/// The block device at a path.
fn numbered_node(path: &Path) -> Option<Device> {
    let (major, minor) = block_number(path)?;
    Device::numbered(major, minor)
}

fn options(mount: &MountInfo) -> Vec<String> {
    let all = mount.mount_options.iter().chain(mount.super_options.iter());
    let mut options: Vec<String> = all
        .map(|(key, value)| match value {
            Some(value) => format!("{key}={value}"),
            None => key.clone(),
        })
        .collect();
    options.sort_unstable();
    options.dedup();
    options
}

/// Checks that this user may write to the file, or create files in the directory.
pub fn may_write(path: &Path) -> io::Result<()> {
    let wanted = if path.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
    Ok(rustix::fs::access(path, wanted)?)
}

/// Bytes that an unprivileged program can still write in this directory. `None` if its file system reports no size.
pub fn free_bytes(directory: &Path) -> io::Result<Option<u64>> {
    Ok(free_in(&rustix::fs::statvfs(directory)?))
}

/// The free bytes. Without a size, the free bytes are zero too, but the file system need not be full: tmpfs without a
/// limit, ramfs, and FUSE servers that do not answer statfs.
fn free_in(space: &StatVfs) -> Option<u64> {
    (space.f_blocks > 0).then(|| space.f_bavail.saturating_mul(space.f_frsize))
}

/// The fewest bytes that a file with data takes: a block or a cluster, and at least 4096 bytes. A file system without a
/// visible device may report another unit: NFS the size of a transfer, and CephFS 4 MiB.
fn block_of(space: &StatVfs, has_device: bool) -> u64 {
    if has_device { space.f_frsize.max(LEAST_BLOCK) } else { LEAST_BLOCK }
}

/// True if files in this directory can be opened with `O_DIRECT`. Tries it on an unnamed file.
pub fn takes_direct(directory: &Path) -> bool {
    let Ok(file) = tempfile::tempfile_in(directory) else { return false };
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let opened = rustix::fs::open(through(&file), flags, Mode::empty()).map(drop);
    is_direct(opened, || rustix::fs::fcntl_setfl(&file, OFlags::DIRECT).is_ok())
}

/// The answer to an attempt to open an unnamed file with `O_DIRECT`. On SMB, a file without a name cannot be opened
/// again, with any flag. There, the flag is given to the file that is open.
fn is_direct(opened: rustix::io::Result<()>, can_be_set: impl FnOnce() -> bool) -> bool {
    match opened {
        Ok(()) => true,
        Err(Errno::INVAL) => false,
        Err(_) => can_be_set(),
    }
}

/// The alignment of direct I/O on files in this directory, in bytes. Returns `None` if the kernel does not report it
/// or if there is no direct I/O. Inspects an unnamed file.
pub fn direct_alignment(directory: &Path) -> Option<u32> {
    let file = tempfile::tempfile_in(directory).ok()?;
    let statx = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let is_said = statx.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    Some(statx.stx_dio_offset_align).filter(|align| is_said && *align > 0)
}

/// A path that leads to the open file, even if its name now leads elsewhere.
pub(crate) fn through(file: impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}

/// True if the path is under /dev, except /dev/shm. A missing name there is a typing error and must not be created.
pub fn is_under_dev(path: &Path) -> bool {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = absolute.parent().and_then(|parent| parent.canonicalize().ok()).unwrap_or(absolute);
    parent.starts_with("/dev")
        && parent.components().nth(2).map(|part| part.as_os_str().to_owned()) != Some(OsString::from("shm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refused_flag_is_an_answer() {
        let unasked = || -> bool { panic!("the first answer is clear") };
        assert!(is_direct(Ok(()), unasked) && !is_direct(Err(Errno::INVAL), unasked));
        assert!(is_direct(Err(Errno::NOENT), || true) && !is_direct(Err(Errno::NOENT), || false));
    }

    /// An unlinked file takes the flag if and only if it can be opened with it.
    #[test]
    fn a_file_takes_the_flag_as_it_is_opened_with_it() {
        for directory in ["/dev/shm", "/tmp", "/proc"].map(Path::new) {
            let Ok(file) = tempfile::tempfile_in(directory) else { continue };
            let is_set = rustix::fs::fcntl_setfl(&file, OFlags::DIRECT).is_ok();
            assert_eq!(takes_direct(directory), is_set, "{}", directory.display());
        }
    }

    #[test]
    fn a_file_system_without_a_size_need_not_be_full() {
        let space = |f_blocks, f_bavail| {
            let here = rustix::fs::statvfs("/").expect("a file system");
            free_in(&StatVfs { f_frsize: 512, f_blocks, f_bavail, ..here })
        };
        assert_eq!((space(0, 0), space(9, 0), space(9, 3)), (None, Some(0), Some(1536)));
    }

    #[test]
    fn only_a_file_system_on_a_device_reports_its_blocks() {
        let block = |f_frsize, has_device| {
            let here = rustix::fs::statvfs("/").expect("a file system");
            block_of(&StatVfs { f_frsize, ..here }, has_device)
        };
        assert_eq!((block(128 << 10, true), block(1024, true), block(0, true)), (128 << 10, 4096, 4096));
        assert_eq!(block(1 << 20, false), 4096);
    }

    #[test]
    fn a_served_or_stacked_file_system_names_no_device() {
        let here = Place::under(Path::new("/")).expect("a place");
        let device = here.device.expect("the root has a device");
        let number = Path::new("/").metadata().expect("the root").dev();
        let node = device.node();
        let mount = |kind: &str| {
            let line = format!("36 35 0:98 / /mnt rw - {kind} {} rw", node.display());
            MountInfo::from_line(&line).expect("a mount")
        };
        for (kind, of_number, of_name) in [
            ("ext4", true, false),
            ("btrfs", true, true),
            ("overlay", true, false),
            ("9p", true, false),
            ("fuse", false, false),
            ("fuse.ext4", false, false),
            ("fuseblk.ntfs", false, false),
        ] {
            // No device has the number 0:98.
            let found = [number, 98].map(|number| device_below(number, Some(&mount(kind))).is_some());
            assert_eq!(found, [of_number, of_name && node.exists()], "{kind}");
        }
        assert!(device_below(number, None).is_some());
    }

    #[test]
    fn a_mirror_is_in_memory_only_with_all_its_disks() {
        let memory = |stack: &[(&str, u32)]| {
            let device =
                |(name, depth): &(&str, u32)| (Device { name: (*name).to_owned(), sys: PathBuf::new() }, *depth);
            memory_in(&stack.iter().map(device).collect::<Vec<_>>())
        };
        assert_eq!(memory(&[("md0", 0), ("ram0", 1), ("sda", 1)]), None);
        assert_eq!(memory(&[("md0", 0), ("ram0", 1), ("ram1", 1)]).as_deref(), Some("ram0"));
        assert_eq!(memory(&[("dm-0", 0), ("zram0", 1)]).as_deref(), Some("zram0"));
        assert_eq!((memory(&[("sda1", 0), ("sda", 1)]), memory(&[])), (None, None));
    }

    /// The realtime device and the log of an xfs.
    #[test]
    fn mount_options_name_more_devices_of_a_file_system() {
        let here = Place::under(Path::new("/")).expect("a place");
        let Some(device) = here.device.clone().filter(|device| device.node().exists()) else {
            return testkit::skip!("the root has no device with a node");
        };
        for key in ["rtdev", "logdev"] {
            let mount_options = vec!["rw".to_owned(), format!("{key}={}", device.node().display())];
            let elsewhere = Place { device: None, mount_options, ..here.clone() };
            assert_eq!(elsewhere.devices(), devices_under(&device), "{key}");
        }
        assert_eq!(Place { mount_options: vec!["rw".to_owned()], ..here }.devices(), devices_under(&device));
    }

    #[test]
    fn an_overlay_knows_the_file_system_of_its_upper_layer() {
        let here = Place::under(Path::new("/")).expect("a place");
        let overlay = Place { file_system: Some("overlay".to_owned()), device: None, ..here.clone() };
        let place = overlay.with_storage_of(Place { file_system: Some("fuse.sshfs".to_owned()), ..here });
        assert_eq!(place.file_system.as_deref(), Some("overlay"));
        assert_eq!(place.upper.as_deref(), Some("fuse.sshfs"));
    }

    #[test]
    fn a_mount_shares_its_device_with_itself() {
        let here = Place::under(Path::new("/")).expect("a place");
        let device = here.device.clone().expect("the root has a device");
        assert_eq!(here.shared_with(&device).first(), Some(&device.name));
        let nowhere = Place { device: None, ..here.clone() };
        assert_eq!(nowhere.shared_with(&device), [""; 0]);
    }
}
