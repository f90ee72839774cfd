//! A fresh file system on a device with a volatile write cache, whose power can be cut.
//!
//! ```text
//!   Image: ext4 ── a file in it ── loop device through the page cache ── the file system under test
//! ```
//!
//! Method:
//!   1. Data written to the loop device stay in the page cache of the middle file until the loop device is flushed.
//!      Then the kernel syncs that file. So this page cache acts as the write cache of a disk, and no code of ours is
//!      in the path of a request.
//!   2. A disk may write cached data to the platter at any time. So diskperf writes randomly chosen pages before it
//!      cuts the power.
//!   3. The power is cut by shutting down the middle file system (FS_IOC_SHUTDOWN, which the kernel has for such
//!      tests). From then on nothing reaches its device, neither pages nor its own journal, and everything above gets
//!      I/O errors. A flush that succeeded before that has written everything.
//!   4. Then the middle file system is mounted again. The contents of its file are the contents of the platter.
//!
//! The file was fully written, so only its bytes change, and each page survives or is lost independently.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};

use units::{Bytes, Prng};

use super::image::{GRAIN, Image, ImageSpec};
use super::image_fault::ImageFault;
use super::image_file::FileWithin;
use super::mounted_fs::{MountedFs, VolumeSpec};
use super::mounts::PrivateMounts;
use crate::guard::Cleared;
use crate::observe::block_device::Device;
use crate::page_cache::Probe;
use crate::sys::read_limited;

/// From linux/fs.h (FS_IOC_SHUTDOWN). Before Linux 6.10, each file system had the same number under its own name.
const SHUTDOWN: libc::c_ulong = 0x8004_587D;

/// Does not write the journal first: FS_SHUTDOWN_FLAGS_NOLOGFLUSH.
const NO_LOG_FLUSH: u32 = 2;

/// Space that an ext4 with few inodes needs for itself, besides a sixteenth of its contents. On a device of 128 MiB,
/// mke2fs 1.47 makes a journal of 16 MiB; on larger devices, the share is smaller.
const OWN: u64 = 32 << 20;

/// Maximum number of pages that survive or are lost together. Smaller than a record of many sectors, so that a record
/// can be torn anywhere.
const TOGETHER: u64 = 8;

/// Kernel settings that make a warning, or an error of a file system, stop the machine: name, path, and the file system
/// whose errors they are about (Documentation/admin-guide/sysctl/kernel.rst and Documentation/admin-guide/xfs.rst).
const STOPPING: [(&str, &str, Option<&str>); 2] = [
    ("kernel.panic_on_warn", "/proc/sys/kernel/panic_on_warn", None),
    ("fs.xfs.panic_mask", "/proc/sys/fs/xfs/panic_mask", Some("xfs")),
];

/// Options of mke2fs for the behavior on errors: /etc/mke2fs.conf may have `errors = panic`. The user's options follow,
/// and `panic` is not accepted there.
const ON_ERROR: [&str; 2] = ["-e", "continue"];

/// Longest wait for data in the write cache before the power is cut. Guess: several flushes of a fast disk.
const PATIENCE: Duration = Duration::from_millis(20);

/// The unflushed data of the write cache that survive the power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surviving {
    /// Nothing except the pages that the kernel has already written.
    Nothing,
    /// A random choice of small groups of pages.
    Half,
}

/// The file system under test, and the layers below it.
#[derive(Debug)]
pub struct VolatileImage {
    // Dropped in this order: unmount, detach, remove.
    mounted_fs: MountedFs,
    attached: Option<(Cleared, FileWithin)>,
    middle: Image,
    spec: ImageSpec,
}

impl VolatileImage {
    /// The spec of the middle image on the machine's disk, for an image under test with this spec.
    pub fn middle(spec: &ImageSpec) -> ImageSpec {
        let bytes = spec.file_bytes().0;
        ImageSpec {
            file_system: "ext4".to_owned(),
            bytes: Bytes(bytes.saturating_add(bytes / 16).saturating_add(OWN)),
            directory: spec.directory.clone(),
            block: None,
            mount_options: Vec::new(),
            // No blocks are reserved for the administrator, and it holds one file.
            mkfs_options: [&ON_ERROR[..], &["-m", "0", "-N", "16"]].concat().into_iter().map(str::to_owned).collect(),
        }
    }

    /// Returns an error for impossible specs, and for settings that would stop this machine. The file system gets I/O
    /// errors, and may be set to panic on them. The kernel may be set to panic on warnings, which unexpected I/O
    /// errors can cause.
    pub fn check(spec: &ImageSpec) -> Result<(), ImageFault> {
        spec.check()?;
        VolatileImage::middle(spec).check()?;
        if let Some(setting) = stopping(&spec.file_system, |path| read_limited::of_the_kernel(path).ok()) {
            return Err(ImageFault::Panics(setting.to_owned()));
        }
        let options = spec.mount_options.iter().chain(&spec.mkfs_options);
        match options.into_iter().find(|option| option.contains("panic")) {
            Some(option) => Err(ImageFault::Panics(option.clone())),
            None => Ok(()),
        }
    }

    /// Makes the image. `progress` gets the bytes written and the total, and can stop it.
    pub fn make(
        spec: &ImageSpec,
        mounts: &PrivateMounts,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<VolatileImage, ImageFault> {
        VolatileImage::check(spec)?;
        let mounted_fs = MountedFs::new(&tried(spec), mounts)?;
        let below = VolatileImage::middle(spec);
        let (first, second) = (below.file_bytes().0, spec.file_bytes().0);
        let middle = Image::make(&below, mounts, |bytes| progress(bytes, first + second))?;
        let file = FileWithin::make(middle.path(), second, |bytes| progress(first + bytes, first + second))?;
        let attached = Some((Cleared::on_file_within(&file)?, file));
        let mut image = VolatileImage { mounted_fs, attached, middle, spec: spec.clone() };
        image.fresh()?;
        Ok(image)
    }

    /// Makes a new file system and mounts it. The power must be on.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.unmount()?;
        let Some((cleared, file)) = &mut self.attached else { return Err(no_power()) };
        self.mounted_fs.make(cleared, None, None)?;
        file.close_holes()?;
        self.mounted_fs.mount(cleared)
    }

    /// Writes all data so far to the platter, even if no program would flush the device.
    pub fn settle(&self) -> Result<(), ImageFault> {
        let Some((_, file)) = &self.attached else { return Err(no_power()) };
        let settled = File::open(self.path()).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
        settled.and_then(|()| file.file().sync_all()).map_err(|source| failed("flush the device", source))
    }

    /// The mount point of the file system under test.
    pub fn path(&self) -> &Path {
        self.mounted_fs.path()
    }

    /// Its device. `None` if the power is off.
    pub fn device(&self) -> Option<&Device> {
        self.attached.as_ref().map(|(cleared, _)| cleared.device())
    }

    /// The size of its device.
    pub fn bytes(&self) -> Bytes {
        self.spec.file_bytes()
    }

    /// Cuts the power. Waits a moment for data in the write cache. Returns the number of cached bytes just before the
    /// cut, or `None` if this kernel does not report it. From here on, programs that use the file system get errors.
    pub fn cut(&self, surviving: Surviving, random: &mut Prng) -> Result<Option<u64>, ImageFault> {
        let Some((_, file)) = &self.attached else { return Err(no_power()) };
        // 2
        if surviving == Surviving::Half {
            self.write_some(file.file(), random).map_err(|source| failed("write to the device", source))?;
        }
        let opened = |path: &Path| File::open(path).map_err(|source| failed("cut the power of the device", source));
        let (middle, tried) = (opened(self.middle.path())?, opened(self.path())?);
        let mut unflushed = unflushed(file.file());
        let began = Instant::now();
        while unflushed == Some(0) && began.elapsed() < PATIENCE {
            unflushed = self::unflushed(file.file());
        }
        // 3
        shut_down(&middle).map_err(|source| failed("cut the power of the device", source))?;
        // Keeps the file system under test from retrying for long. Not all file systems support this.
        let _ = shut_down(&tried);
        Ok(unflushed)
    }

    /// Switches the power on again, and mounts the file system. No program may use it any more. If it cannot be
    /// mounted, it can be made again.
    pub fn power_on(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.unmount()?;
        self.attached = None;
        self.middle.remount().map_err(of_the_disk)?;
        let file = FileWithin::open(self.middle.path())?;
        let (cleared, _) = self.attached.insert((Cleared::on_file_within(&file)?, file));
        self.mounted_fs.mount(cleared)
    }

    fn write_some(&self, file: &File, random: &mut Prng) -> io::Result<()> {
        let bytes = self.bytes().0;
        let mut at = 0;
        while at < bytes {
            let length = GRAIN * (1 + random.below(TOGETHER));
            if random.below(2) == 0 {
                // SAFETY: the call takes numbers only; the descriptor is open.
                let begun = unsafe {
                    libc::sync_file_range(file.as_raw_fd(), at as i64, length as i64, libc::SYNC_FILE_RANGE_WRITE)
                };
                if begun != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            at += length;
        }
        Ok(())
    }
}

/// The file system under test, which must not stop the machine on errors.
fn tried(spec: &ImageSpec) -> VolumeSpec {
    let mut volume = spec.volume();
    if volume.file_system.starts_with("ext") {
        volume.mkfs_options.splice(0..0, ON_ERROR.map(str::to_owned));
    }
    volume
}

/// The first kernel setting that would stop the machine. A file that does not exist is no setting of this kernel.
fn stopping(file_system: &str, read: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_set = |path| read(path).is_some_and(|text| text.trim() != "0");
    let mut settings = STOPPING.iter().filter(|(_, _, of)| of.is_none_or(|of| of == file_system));
    settings.find(|(_, path, _)| is_set(path)).map(|(name, ..)| *name)
}

/// The error if the power could not be switched on again.
fn no_power() -> ImageFault {
    failed("use the device", io::Error::new(io::ErrorKind::NotConnected, "its power is off"))
}

/// A failure of the middle image says nothing about the file system under test, so it gets another error.
fn of_the_disk(fault: ImageFault) -> ImageFault {
    failed("switch the power on again", io::Error::other(fault.to_string()))
}

fn failed(action: &'static str, source: io::Error) -> ImageFault {
    ImageFault::Loop { action, source }
}

/// Bytes in the write cache of the device on this file. `None` if the kernel does not report it.
fn unflushed(file: &File) -> Option<u64> {
    let pages = Probe::Cachestat.count(file).ok()?.unwritten?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Shuts down the file system of this folder: it writes nothing any more.
fn shut_down(folder: &File) -> io::Result<()> {
    let how = NO_LOG_FLUSH;
    // SAFETY: the kernel reads one number of 32 bits, which outlives the call; the descriptor is open.
    let done = unsafe { libc::ioctl(folder.as_raw_fd(), SHUTDOWN as _, &raw const how) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn spec(mount: &[&str], mkfs: &[&str]) -> ImageSpec {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        ImageSpec {
            file_system: "ext4".to_owned(),
            bytes: Bytes::mib(64),
            directory: PathBuf::from("."),
            block: None,
            mount_options: words(mount),
            mkfs_options: words(mkfs),
        }
    }

    #[test]
    fn options_that_panic_the_kernel_are_refused() {
        for (mount, mkfs) in
            [(&["errors=panic"][..], &[][..]), (&["noatime", "fatal_errors=panic"], &[]), (&[], &["-epanic"])]
        {
            let checked = VolatileImage::check(&spec(mount, mkfs));
            assert!(matches!(checked, Err(ImageFault::Panics(_))), "{checked:?}");
        }
    }

    #[test]
    fn kernel_settings_that_stop_the_machine_are_refused() {
        let set =
            |name: &'static str| move |path: &str| Some(if path.ends_with(name) { "255\n" } else { "0\n" }.into());
        for (file_system, name, refused) in [
            ("xfs", "xfs/panic_mask", Some("fs.xfs.panic_mask")),
            ("ext4", "xfs/panic_mask", None),
            ("ext4", "panic_on_warn", Some("kernel.panic_on_warn")),
            ("xfs", "none", None),
        ] {
            assert_eq!(stopping(file_system, set(name)), refused, "{file_system} {name}");
        }
        assert_eq!(stopping("xfs", |_| None), None);
    }

    #[test]
    fn ext4_does_not_take_the_behavior_on_errors_from_the_system() {
        let (mine, middle) = (spec(&[], &["-e", "remount-ro"]), VolatileImage::middle(&spec(&[], &[])));
        assert_eq!(tried(&mine).mkfs_options, ["-e", "continue", "-e", "remount-ro"]);
        assert_eq!(middle.mkfs_options[..2], ["-e", "continue"]);
        let xfs = ImageSpec { file_system: "xfs".to_owned(), ..spec(&[], &[]) };
        assert_eq!(tried(&xfs).mkfs_options, [""; 0]);
    }

    #[test]
    fn a_disk_that_cannot_be_set_up_again_is_not_a_data_loss() {
        let (file_system, source) = ("ext4".to_owned(), io::Error::from_raw_os_error(libc::EIO));
        let fault = of_the_disk(ImageFault::Mount { action: "mount", file_system, words: None, source });
        assert!(
            !matches!(fault, ImageFault::Mount { .. }) && fault.to_string().contains("cannot mount ext4"),
            "{fault}"
        );
    }

    #[test]
    fn the_image_below_is_large_enough() {
        let below = VolatileImage::middle(&spec(&["barrier=0"], &[]));
        assert!(below.bytes.0 > 64 << 20 && below.mount_options.is_empty());
    }
}
