//! A fresh file system on a device with a volatile write cache, whose power can be cut.
//!
//! ```text
//!   Image: ext4 ── a file in it ── loop device through the page cache ── the file system that is tried
//! ```
//!
//! Method:
//!   1. what is written to the loop device lies in the page cache of the file in the middle, until the loop device is
//!      flushed: then the kernel syncs that file. So that cache is the write cache of a disk, with nothing of ours on
//!      the way of a request;
//!   2. a disk may bring to the platter what it likes when it likes. So may we: pages by lot, before the power goes;
//!   3. the power is cut by shutting the file system in the middle down (FS_IOC_SHUTDOWN, which the kernel has for
//!      tests like this): from then on nothing reaches its device any more, neither pages nor its own journal, and
//!      everything above gets I/O errors. A flush that was answered well before has written all there was;
//!   4. afterwards the one in the middle is mounted anew, and what its file then holds is what was on the platter.
//!
//! The file was written in full, so that nothing but its bytes changes, and every page lasts or is lost by itself.

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
use super::mounted_fs::Standing;
use super::mounts::PrivateMounts;
use crate::guard::Cleared;
use crate::observe::block_device::Device;
use crate::page_cache::Probe;
use crate::sys::read_limited;

/// From linux/fs.h (FS_IOC_SHUTDOWN); before Linux 6.10 each file system had the same number under a name of its own.
const SHUTDOWN: libc::c_ulong = 0x8004_587D;

/// Without writing the journal first: FS_SHUTDOWN_FLAGS_NOLOGFLUSH.
const NO_LOG_FLUSH: u32 = 2;

/// What an ext4 with few inodes needs for itself, beside a sixteenth of what it holds: mke2fs 1.47 makes a journal of
/// 16 MiB on a device of 128 MiB, and of a smaller share on any larger one.
const OWN: u64 = 32 << 20;

/// Pages that are brought to the platter, or not, together: so many at the most. Fewer than a record of many sectors
/// has, so that it can be torn anywhere.
const TOGETHER: u64 = 8;

/// Whether a warning of the kernel stops the machine.
const PANIC_ON_WARN: &str = "/proc/sys/kernel/panic_on_warn";

/// So long the power is left on for a moment when something is in the write cache. Guess: several flushes of a fast
/// disk.
const PATIENCE: Duration = Duration::from_millis(20);

/// What of a write cache is on the platter when the power goes, beside what was flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// Nothing, but for what the kernel had found time to write.
    Nothing,
    /// Each few pages by lot.
    Half,
}

/// The file system that is tried, and what lies below it.
#[derive(Debug)]
pub struct VolatileImage {
    // Dropped from the first to the last: unmounted, detached, gone.
    standing: Standing,
    attached: Option<(Cleared, FileWithin)>,
    middle: Image,
    spec: ImageSpec,
}

impl VolatileImage {
    /// What is made on the disk of the machine, for an image of this kind.
    pub fn middle(spec: &ImageSpec) -> ImageSpec {
        let bytes = spec.file_bytes().0;
        ImageSpec {
            file_system: "ext4".to_owned(),
            bytes: Bytes(bytes.saturating_add(bytes / 16).saturating_add(OWN)),
            directory: spec.directory.clone(),
            block: None,
            mount_options: Vec::new(),
            // Nothing is kept back for the administrator, and it holds one file.
            mkfs_options: ["-m", "0", "-N", "16"].map(str::to_owned).into(),
        }
    }

    /// Refuses what cannot be, and what would stop this machine: the file system gets I/O errors, and may be told to
    /// panic at those; and the kernel may be told to panic where it would warn, as it may at errors in mid-air.
    pub fn check(spec: &ImageSpec) -> Result<(), ImageFault> {
        spec.check()?;
        VolatileImage::middle(spec).check()?;
        if read_limited::of_the_kernel(PANIC_ON_WARN).is_ok_and(|text| text.trim() != "0") {
            return Err(ImageFault::Panics("kernel.panic_on_warn".to_owned()));
        }
        let options = spec.mount_options.iter().chain(&spec.mkfs_options);
        match options.into_iter().find(|option| option.contains("panic")) {
            Some(option) => Err(ImageFault::Panics(option.clone())),
            None => Ok(()),
        }
    }

    /// Makes it. `progress` hears how many bytes of how many are written, and may stop it.
    pub fn make(
        spec: &ImageSpec,
        mounts: &PrivateMounts,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<VolatileImage, ImageFault> {
        VolatileImage::check(spec)?;
        let standing = Standing::new(&spec.volume(), mounts)?;
        let below = VolatileImage::middle(spec);
        let (first, second) = (below.file_bytes().0, spec.file_bytes().0);
        let middle = Image::make(&below, mounts, |bytes| progress(bytes, first + second))?;
        let file = FileWithin::make(middle.path(), second, |bytes| progress(first + bytes, first + second))?;
        let attached = Some((Cleared::on_file_within(&file)?, file));
        let mut image = VolatileImage { standing, attached, middle, spec: spec.clone() };
        image.fresh()?;
        Ok(image)
    }

    /// Makes the file system anew, and mounts it. The power is on.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.standing.unmount()?;
        let Some((cleared, file)) = &mut self.attached else { return Err(no_power()) };
        self.standing.make(cleared, None, None)?;
        file.close_holes()?;
        self.standing.mount(cleared)
    }

    /// Brings all that was written so far to the platter, whether or not anybody would flush the device.
    pub fn settle(&self) -> Result<(), ImageFault> {
        let Some((_, file)) = &self.attached else { return Err(no_power()) };
        let settled = File::open(self.path()).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
        settled.and_then(|()| file.file().sync_all()).map_err(|source| failed("flush the device", source))
    }

    /// Where the file system is mounted.
    pub fn path(&self) -> &Path {
        self.standing.path()
    }

    /// Its device; nothing where the power is off.
    pub fn device(&self) -> Option<&Device> {
        self.attached.as_ref().map(|(cleared, _)| cleared.device())
    }

    /// The size of its device.
    pub fn bytes(&self) -> Bytes {
        self.spec.file_bytes()
    }

    /// Cuts the power, at a moment when something is in the write cache, where one comes soon. Says how many bytes that
    /// were, a moment before; nothing where this kernel does not tell. Whoever works on the file system gets errors
    /// from here on.
    pub fn cut(&self, lasting: Lasting, random: &mut Prng) -> Result<Option<u64>, ImageFault> {
        let Some((_, file)) = &self.attached else { return Err(no_power()) };
        // 2
        if lasting == Lasting::Half {
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
        // So that it does not try for long what cannot be done. Not all file systems can be told to.
        let _ = shut_down(&tried);
        Ok(unflushed)
    }

    /// Has the power on again, and mounts what is there. Nobody may work on it any more. Where it cannot be mounted, it
    /// can be made anew.
    pub fn power_on(&mut self) -> Result<(), ImageFault> {
        self.standing.unmount()?;
        self.attached = None;
        self.middle.remount().map_err(of_the_disk)?;
        let file = FileWithin::open(self.middle.path())?;
        let (cleared, _) = self.attached.insert((Cleared::on_file_within(&file)?, file));
        self.standing.mount(cleared)
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

/// After the power could not be switched on again.
fn no_power() -> ImageFault {
    failed("use the device", io::Error::new(io::ErrorKind::NotConnected, "its power is off"))
}

/// That the disk which is made here cannot be had again says nothing about the file system that is tried.
fn of_the_disk(fault: ImageFault) -> ImageFault {
    failed("switch the power on again", io::Error::other(fault.to_string()))
}

fn failed(action: &'static str, source: io::Error) -> ImageFault {
    ImageFault::Loop { action, source }
}

/// Bytes in the write cache of the device that lies on this file; nothing where the kernel does not tell.
fn unflushed(file: &File) -> Option<u64> {
    let pages = Probe::Cachestat.look(file).ok()?.unwritten?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Has the file system of this folder write nothing any more.
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
    fn what_would_stop_the_machine_is_refused() {
        for (mount, mkfs) in
            [(&["errors=panic"][..], &[][..]), (&["noatime", "fatal_errors=panic"], &[]), (&[], &["-epanic"])]
        {
            let checked = VolatileImage::check(&spec(mount, mkfs));
            assert!(matches!(checked, Err(ImageFault::Panics(_))), "{checked:?}");
        }
    }

    #[test]
    fn a_disk_that_cannot_be_had_again_is_no_loss_of_what_is_on_it() {
        let (file_system, source) = ("ext4".to_owned(), io::Error::from_raw_os_error(libc::EIO));
        let fault = of_the_disk(ImageFault::Mount { action: "mount", file_system, words: None, source });
        assert!(
            !matches!(fault, ImageFault::Mount { .. }) && fault.to_string().contains("cannot mount ext4"),
            "{fault}"
        );
    }

    #[test]
    fn what_lies_below_holds_it() {
        let below = VolatileImage::middle(&spec(&["barrier=0"], &[]));
        assert!(below.bytes.0 > 64 << 20 && below.mount_options.is_empty());
    }
}
