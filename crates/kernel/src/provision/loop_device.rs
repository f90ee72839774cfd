//! Loop devices: files shown as block devices. They detach themselves when the last user closes and unmounts them. So
//! none outlives its process, however that ends.
//!
//! Linux keeps the queue of a detached loop device and most of its attributes (seen on 6.18): `scheduler` and its own
//! settings, `max_sectors_kb`, `nomerges`, `nr_requests`, `write_cache`, `wbt_lat_usec`, `rq_affinity`, `iostats`,
//! `stable_writes`, `discard_max_bytes`, and the shares of dirty memory. The next user would measure with them. So a
//! new device is added, whose queue has the defaults, and is removed after it was detached. A device that is already
//! there is never removed: another program may be about to attach it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::guard::trusted_file_systems;
use crate::observe::block_device::Device;
use crate::observe::mount;
use crate::sys::name::original;
use crate::sys::read_limited;

// From linux/loop.h.
const LOOP_CTL_ADD: libc::c_ulong = 0x4C80;
const LOOP_CTL_REMOVE: libc::c_ulong = 0x4C81;
const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4C82;
const LOOP_CONFIGURE: libc::c_ulong = 0x4C0A;
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// Sector sizes that are tried until one allows direct I/O: that of most devices, then that of devices with larger
/// sectors. If neither does, the first is used without direct I/O.
const SECTORS: [u32; 3] = [512, 4096, 512];

/// Number of attempts to attach a device. Another program may take a free device before we do. Guess; it only has to
/// be larger than the number of programs that attach devices at the same moment.
const ATTEMPTS: usize = 100;

/// Pause between two attempts; meanwhile the node of a newly added device appears.
const PAUSE: Duration = Duration::from_millis(1);

/// Number of attempts to remove a device. Guess: 20 ms are long for a program that looks at it.
const REMOVALS: usize = 20;

/// Requests an index that no device has, as the index of a device to add.
const ANY: u32 = u32::MAX;

/// Maximum number of checks of a device that reports no file although /sys names one. Guess: a tenth of a second is
/// long for the kernel's work between the two.
const LOOKS: usize = 100;

/// `struct loop_info64`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    raw_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Configuration {
    descriptor: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

impl Info {
    const EMPTY: Info = Info {
        device: 0,
        inode: 0,
        raw_device: 0,
        offset: 0,
        size_limit: 0,
        number: 0,
        encrypt_type: 0,
        encrypt_key_size: 0,
        flags: 0,
        file_name: [0; 64],
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
}

/// The loop devices that this process has attached to its own files and holds. No other program's data are behind
/// them.
static OWN: Mutex<BTreeSet<(u32, u32)>> = Mutex::new(BTreeSet::new());

/// True if this process has attached the loop device with this number to its own file, and holds it.
pub(crate) fn is_own(number: (u32, u32)) -> bool {
    OWN.lock().unwrap_or_else(PoisonError::into_inner).contains(&number)
}

/// The reason why a loop device could not be attached.
#[derive(Debug)]
pub(crate) struct LoopFault {
    /// The failed action.
    pub(crate) action: &'static str,
    /// The kernel's error.
    pub(crate) source: io::Error,
}

/// A loop device that this process has attached.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    device: File,
    index: u32,
    direct: bool,
    /// After `device`: fields are dropped in order, and a device that is open cannot be removed.
    _removal: Option<Removal>,
}

/// Removes a device that was added, once it is detached.
#[derive(Debug)]
struct Removal {
    control: File,
    index: u32,
}

impl Drop for Removal {
    fn drop(&mut self) {
        // Programs that look at new devices may have it open, so it is tried again. If the device is still mounted, it
        // stays.
        for _ in 0..REMOVALS {
            match ask(&self.control, LOOP_CTL_REMOVE, self.index) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

impl LoopDevice {
    /// Attaches a free loop device to the file: with direct I/O if the file's own device allows it, otherwise
    /// without.
    pub(crate) fn attach(file: BorrowedFd) -> Result<LoopDevice, LoopFault> {
        let mut device = LoopDevice::attach_with(file, SECTORS[0], LO_FLAGS_DIRECT_IO)?;
        for sector in SECTORS.into_iter().skip(1) {
            if device.direct {
                break;
            }
            drop(device);
            device = LoopDevice::attach_with(file, sector, LO_FLAGS_DIRECT_IO)?;
        }
        Ok(device)
    }

    /// Attaches a free loop device to the file, through the page cache. Data written to the device stay there until a
    /// flush of the device, or until the kernel writes them back.
    pub(crate) fn attach_cached(file: BorrowedFd) -> Result<LoopDevice, LoopFault> {
        LoopDevice::attach_with(file, SECTORS[0], 0)
    }

    fn attach_with(file: BorrowedFd, sector: u32, flags: u32) -> Result<LoopDevice, LoopFault> {
        let fault = |action| move |source| LoopFault { action, source };
        let control = open("/dev/loop-control".into()).map_err(fault("open /dev/loop-control"))?;
        let (mut attempts, mut is_new) = (0, true);
        loop {
            let added = if is_new { ask(&control, LOOP_CTL_ADD, ANY).ok() } else { None };
            let index = match added {
                Some(index) => index,
                // The kernel or a sandbox adds no device. A free device keeps the attributes of its last user. They are
                // recorded.
                None => ask(&control, LOOP_CTL_GET_FREE, 0).map_err(fault("find a free loop device"))?,
            };
            let removal = added.and_then(|index| Some(Removal { control: control.try_clone().ok()?, index }));
            attempts += 1;
            match LoopDevice::take(index, file, (sector, flags), removal) {
                Err(error) if attempts < ATTEMPTS && was_taken(&error) => {
                    // A container may have only the device nodes that existed when it began. Then no further device is
                    // added.
                    is_new &= error.kind() != ErrorKind::NotFound;
                    thread::sleep(PAUSE);
                }
                outcome => return outcome.map_err(fault("attach a loop device")),
            }
        }
    }

    fn take(
        index: u32,
        file: BorrowedFd,
        (sector, flags): (u32, u32),
        removal: Option<Removal>,
    ) -> io::Result<LoopDevice> {
        let device = open(node(index))?;
        configure(device.as_raw_fd(), file.as_raw_fd(), sector, flags)?;
        let direct = status(device.as_raw_fd())?.flags & LO_FLAGS_DIRECT_IO != 0;
        let taken = LoopDevice { device, index, direct, _removal: removal };
        OWN.lock().unwrap_or_else(PoisonError::into_inner).insert(taken.number());
        Ok(taken)
    }

    /// The major and minor number.
    pub(crate) fn number(&self) -> (u32, u32) {
        let number = self.device.metadata().map_or(0, |metadata| metadata.rdev());
        (rustix::fs::major(number), rustix::fs::minor(number))
    }

    /// Its path under /dev.
    pub(crate) fn node(&self) -> PathBuf {
        node(self.index)
    }

    /// True if it bypasses the page cache of the file.
    pub(crate) fn is_direct(&self) -> bool {
        self.direct
    }

    /// True if its path leads to this device, and the device to the file.
    pub(crate) fn is_on(&self, file: &Backing) -> io::Result<bool> {
        let is_ours = self.device.metadata()?.rdev() == self.node().metadata()?.rdev();
        Ok(is_ours && Backing::from_info(&status(self.device.as_raw_fd())?) == *file)
    }
}

/// Removes the number from the list before the device detaches itself. Another program may get the number directly
/// afterwards.
impl Drop for LoopDevice {
    fn drop(&mut self) {
        OWN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number());
    }
}

/// The file or device behind a loop device, and the part of it that the loop device shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) backing: Backing,
    pub(crate) window: Window,
    /// True if the device shows other bytes than the file contains: kernels before 5.16 can encrypt them.
    pub(crate) is_encrypted: bool,
}

/// The part of its file that a loop device shows, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) offset: u64,
    /// Length of the part. `None` if it extends to the end.
    pub(crate) limit: Option<u64>,
}

impl Shown {
    fn from_info(info: &Info) -> Shown {
        let window = Window { offset: info.offset, limit: Some(info.size_limit).filter(|limit| *limit > 0) };
        Shown { backing: Backing::from_info(info), window, is_encrypted: info.encrypt_type != 0 }
    }

    /// What /sys says of a device whose file does not answer.
    fn from_sys(device: &Device) -> Option<Shown> {
        let number = |name: &str| -> Option<u64> {
            read_limited::of_the_kernel(device.sys.join("loop").join(name)).ok()?.trim().parse().ok()
        };
        let window = Window { offset: number("offset")?, limit: Some(number("sizelimit")?).filter(|limit| *limit > 0) };
        Some(Shown { backing: Backing::Unreachable, window, is_encrypted: false })
    }
}

/// The file or device behind a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A block device.
    Device((u32, u32)),
    /// A file, identified by its inode number and device number, because names can change.
    File { device: u64, inode: u64 },
    /// A file that nothing identifies: its file system does not answer, as after the death of a FUSE server.
    Unreachable,
}

impl Backing {
    fn from_info(info: &Info) -> Backing {
        // For a backing block device, `raw_device` is its number. For a file it is zero or the number of the file's
        // own device.
        if info.raw_device == 0 || info.raw_device == info.device {
            return Backing::File { device: info.device, inode: info.inode };
        }
        Backing::Device((rustix::fs::major(info.raw_device), rustix::fs::minor(info.raw_device)))
    }
}

/// The file or device behind an attached loop device. Returns `None` if this user may not open the device and its
/// file's path leads nowhere, or to a file system with a server.
pub(crate) fn backing(device: &Device) -> Option<Backing> {
    let info = File::open(device.node()).and_then(|node| status(node.as_raw_fd()));
    match info {
        Ok(info) => Some(Backing::from_info(&info)),
        Err(_) => {
            let path = read_limited::of_the_kernel(device.sys.join("loop/backing_file")).ok()?;
            local_backing_at(Path::new(&original(path.trim_end_matches('\n'))))
        }
    }
}

/// The file or device behind an attached loop device, from the kernel instead of the file's path. The path may belong
/// to another mount namespace and lead to another file here. Returns `None` if the device has no node under /dev, if
/// the user may not open it, or if the device is detached.
pub(crate) fn attached_to(device: &Device) -> Option<Shown> {
    for _ in 0..LOOKS {
        let node = File::open(device.node()).ok()?;
        if mount::numbered(node.metadata().ok()?.rdev()).as_ref() != Some(device) {
            return None;
        }
        match status(node.as_raw_fd()) {
            Ok(info) => return Some(Shown::from_info(&info)),
            // The device is being attached or detached.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                if !device.is_file() {
                    return None;
                }
                thread::sleep(PAUSE);
            }
            // Linux asks the file system for the inode number of a file, and that failed. The number of a backing
            // device cannot fail, so this device shows a file.
            Err(_) => return Shown::from_sys(device),
        }
    }
    None
}

/// As [`backing_at`], but `None` for a path on a file system with a server. The server may be gone, and asking it would
/// then block for ever.
fn local_backing_at(path: &Path) -> Option<Backing> {
    mount::file_system_at(path).filter(|name| trusted_file_systems::is_local(name))?;
    backing_at(path)
}

/// The backing that a loop device attached to this path would have.
pub(crate) fn backing_at(path: &Path) -> Option<Backing> {
    let metadata = path.metadata().ok()?;
    let number = mount::block_number(path).map(Backing::Device);
    number.or(Some(Backing::File { device: metadata.dev(), inode: metadata.ino() }))
}

/// True if a free device is no longer usable: in use, being removed, or not created yet.
fn was_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EBUSY | libc::ENXIO | libc::ENOENT | libc::ENODEV))
}

/// Sends a request about the device with this index to the control device, and returns the answer. A free device is
/// found without an index.
fn ask(control: &File, request: libc::c_ulong, index: u32) -> io::Result<u32> {
    // SAFETY: these requests take a number and return one. The descriptor is open during the call.
    let answer = unsafe { libc::ioctl(control.as_raw_fd(), request as _, libc::c_ulong::from(index)) };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

fn node(index: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{index}"))
}

/// Opens a node without creating it: a missing node under /dev would become a regular file.
fn open(path: PathBuf) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

fn configure(device: RawFd, file: RawFd, sector: u32, flags: u32) -> io::Result<()> {
    let mut info = Info { flags: LO_FLAGS_AUTOCLEAR | flags, ..Info::EMPTY };
    let name = b"diskperf image";
    info.file_name[..name.len()].copy_from_slice(name);
    let configuration = Configuration { descriptor: file as u32, block_size: sector, info, reserved: [0; 8] };
    // SAFETY: the kernel reads one `loop_config`, which has the layout of `configuration`; both descriptors are open
    // during the call.
    let answer = unsafe { libc::ioctl(device, LOOP_CONFIGURE as _, &raw const configuration) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn status(device: RawFd) -> io::Result<Info> {
    let mut info = Info::EMPTY;
    // SAFETY: the kernel writes one `loop_info64`, which has the layout of `info`; `info` is exclusively ours.
    let answer = unsafe { libc::ioctl(device, LOOP_GET_STATUS64 as _, &raw mut info) };
    if answer == 0 { Ok(info) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn the_struct_layout_matches_the_kernel() {
        // Sizes from linux/loop.h on a 64-bit machine.
        assert_eq!(size_of::<Info>(), 232);
        assert_eq!(size_of::<Configuration>(), 304);
    }
    /// The inode numbers of all loop devices under /sys, by name. Each device that is added has another one.
    fn inodes() -> BTreeMap<String, u64> {
        let all = std::fs::read_dir("/sys/devices/virtual/block").into_iter().flatten().flatten();
        let loops = all.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.ino())));
        loops.filter(|(name, _)| name.starts_with("loop")).collect()
    }

    /// /proc stands for a file system that is not in the list.
    #[test]
    fn only_local_file_systems_are_asked_for_a_file() {
        let path = std::env::current_exe().expect("this program");
        let is_local = mount::file_system_at(&path).is_some_and(|name| trusted_file_systems::is_local(&name));
        assert_eq!(local_backing_at(&path).is_some(), is_local);
        let path = Path::new("/proc/version");
        assert!(backing_at(path).is_some() && local_backing_at(path).is_none());
    }

    #[test]
    fn a_device_is_new_and_is_removed_after_it_was_detached() {
        testkit::need_disk!();
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 20).expect("an image");
        // A program that scans all devices may have this one open, and the kernel then keeps it. So the test tries
        // again.
        let is_removed = (0..10).any(|_| {
            let before = inodes();
            let device = LoopDevice::attach_cached(file.as_fd()).expect("a loop device");
            let name = format!("loop{}", device.index);
            let own = inodes().remove(&name).expect("the device");
            assert!(before.values().all(|inode| *inode != own), "{name} was there before");
            drop(device);
            // Another program may have a new device of this name by now.
            inodes().get(&name) != Some(&own)
        });
        assert!(is_removed, "none of 10 loop devices was removed");
    }
}
