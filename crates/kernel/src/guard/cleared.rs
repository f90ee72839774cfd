//! Permission to overwrite a device. Only the guard makes values of this type.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::blank_check::{self, Found, Watch};
use super::signatures::{self, OfFile, Signature};
use super::{
    DiskMark, GuardFault, Inspected, Permission, Reason, forget, forget_partitions, inspect_open, open, reopen,
    sequence,
};
use crate::observe::block_device::Device;
use crate::observe::mount;
use crate::provision::image_fault::ImageFault;
use crate::provision::image_file::{FileWithin, UnnamedFile};
use crate::provision::loop_device::{Backing, LoopDevice};

/// Maximum rounds of erasing signatures: a copy may become visible only when the first one is gone. Guess; two rounds
/// were always enough.
const ROUNDS: usize = 8;

/// Bytes per discard, so that other I/O is served in between. Guess: a drive needs a second at most.
pub(crate) const DISCARDED_AT_A_TIME: u64 = 4 << 30;

/// Maximum wait for a device that was free, released or unmounted. Guess: a child executes its own program within
/// milliseconds, on an overloaded machine within a second, and programs that copy our mounts, such as container
/// runtimes, unmount them soon.
const PATIENCE: Duration = Duration::from_secs(10);

/// Permission to overwrite one device. The device cannot be replaced until this is dropped.
#[derive(Debug)]
pub struct Cleared {
    device: Device,
    holding: Holding,
}

/// The hold on a device.
#[derive(Debug)]
enum Holding {
    /// A loop device that this process has attached to an unnamed file of its own. It has no data of yours.
    Own { loop_device: LoopDevice, file: Backing },
    /// A device that was inspected.
    Other(Held),
}

/// An inspected device whose data may be overwritten.
#[derive(Debug)]
struct Held {
    number: (u32, u32),
    sequence: Option<u64>,
    bytes: u64,
    /// Open for reading, so that another device cannot get the name.
    kept: File,
    /// Open exclusively for writing, so that no program can mount the device. mkfs and mount need it exclusively too,
    /// so it is released just before they are called.
    claim: Option<File>,
}

impl Cleared {
    /// Attaches a loop device to an unnamed file that this process has just created.
    pub(crate) fn on_own_file(file: &UnnamedFile) -> Result<Cleared, ImageFault> {
        Cleared::on_loop(LoopDevice::attach(file.descriptor())?, file.descriptor())
    }

    /// Attaches a loop device to a file in an image of this process, where no other program can have created one. I/O
    /// goes through the page cache, which then is the device's write cache.
    pub(crate) fn on_file_within(file: &FileWithin) -> Result<Cleared, ImageFault> {
        Cleared::on_loop(LoopDevice::attach_cached(file.descriptor())?, file.descriptor())
    }

    fn on_loop(loop_device: LoopDevice, file: BorrowedFd) -> Result<Cleared, ImageFault> {
        let (major, minor) = loop_device.number();
        let device = Device::numbered(major, minor).ok_or(ImageFault::NotOurs(loop_device.node()))?;
        let file = identity(file)
            .map_err(|source| ImageFault::Loop { action: "inspect the backing file of a loop device", source })?;
        let cleared = Cleared { device, holding: Holding::Own { loop_device, file } };
        cleared.verify()?;
        Ok(cleared)
    }

    /// Like [`Cleared::acquire_watched`], but cannot be stopped.
    pub fn acquire(inspected: &Inspected, permission: &Permission) -> Result<Cleared, GuardFault> {
        Cleared::acquire_watched(inspected, permission, &mut |_, _| ControlFlow::Continue(()))
    }

    /// Checks and holds an inspected device:
    ///   1. open it again; it must still be the same;
    ///   2. inspect it again. `permission` overrides only the reasons that you were shown, not new ones;
    ///   3. open it exclusively, and inspect it once more: from here on no program can mount it, and no visible program
    ///      has it open for writing;
    ///   4. with [`Permission::None`], read all of it; every byte must be zero. The device is held before it is read,
    ///      so that no program can write in between. `progress` gets the bytes read so far, and may stop the reading;
    ///   5. inspect it for the last time: reading may take hours, and a program may have opened it for writing since.
    ///      If a program wrote to it and closed it again, the counts of the device and of its disk, or the times of the
    ///      file behind it, have changed, and 4. fails.
    pub fn acquire_watched(
        inspected: &Inspected,
        permission: &Permission,
        progress: Watch,
    ) -> Result<Cleared, GuardFault> {
        let (path, node) = (&inspected.path, inspected.node());
        let unreadable = |source| GuardFault::Unreadable { device: path.clone(), source };
        // 1.
        let kept = open(path, OFlags::RDONLY).map_err(unreadable)?;
        let now = inspect_open(path, &kept, false)?;
        if (now.number, now.sequence) != (inspected.number, inspected.sequence) {
            return Err(GuardFault::Changed(path.clone(), "its name now belongs to another device"));
        }
        // 2.
        let check = |now: &Inspected| match now.check(permission) {
            Ok(()) if !now.reasons.iter().all(|reason| inspected.reasons.contains(reason)) => {
                Err(GuardFault::Changed(path.clone(), "it is now in use or holds other data"))
            }
            checked => checked,
        };
        check(&now)?;
        // 3.
        wait_until_free(&kept);
        let claim = reopen(&kept, OFlags::RDWR | OFlags::EXCL).map_err(|source| match source.raw_os_error() {
            Some(libc::EBUSY) => {
                let (device, reasons) = (now.described(), vec![Reason::Claimed]);
                GuardFault::Refused { device, reasons, identity: now.identity() }
            }
            _ => GuardFault::Failed { action: "open", device: node.clone(), source },
        })?;
        check(&inspect_open(path, &claim, true)?)?;
        // 4.
        if *permission == Permission::None {
            let found = blank_check::search(&claim, &now.device, now.bytes, progress);
            let refused = |reason| {
                let (device, reasons) = (now.described(), vec![reason]);
                Err(GuardFault::Refused { device, reasons, identity: now.identity() })
            };
            match found.map_err(|source| GuardFault::Failed { action: "read", device: node.clone(), source })? {
                Found::Nothing => {}
                Found::Data(signature) => return refused(Reason::Holds(signature)),
                Found::Uncounted => return refused(Reason::Uncounted(now.device.switch_of_counting())),
                Found::Unseen(way) => return refused(Reason::UnseenWrites(way)),
                Found::Changing => {
                    return Err(GuardFault::Changed(node, "another program wrote to it while it was read"));
                }
                Found::Stopped => return Err(GuardFault::Stopped(node)),
            }
            // 5.
            check(&inspect_open(path, &claim, true)?)?;
        }
        let (number, sequence, bytes) = (now.number, now.sequence, now.bytes);
        let held = Held { number, sequence, bytes, kept, claim: Some(claim) };
        let cleared = Cleared { device: now.device, holding: Holding::Other(held) };
        cleared.verify()?;
        Ok(cleared)
    }

    /// Inspects the held device after its signatures were erased. Data of no known format are ignored: no other program
    /// can have written them since.
    pub(crate) fn inspect(&self) -> Result<Inspected, GuardFault> {
        self.verify()?;
        let Holding::Other(Held { claim: Some(claim), .. }) = &self.holding else {
            return Err(GuardFault::Changed(self.node(), "it is not held exclusively"));
        };
        let mut inspected = inspect_open(&self.node(), claim, true)?;
        inspected.reasons.retain(|reason| !matches!(reason, Reason::Holds(signature) if signature.is_unknown()));
        Ok(inspected)
    }

    /// Checks that the path still leads to the device, and that the device is the same. Another program may change
    /// either between two uses.
    pub(crate) fn verify(&self) -> Result<(), GuardFault> {
        let changed = |why| Err(GuardFault::Changed(self.node(), why));
        match &self.holding {
            Holding::Own { loop_device, file } => {
                let is_on = loop_device.is_on(file).map_err(|source| self.failed("inspect", source))?;
                if is_on { Ok(()) } else { changed("it no longer has diskperf's file") }
            }
            Holding::Other(held) if mount::block_number(&self.node()) != Some(held.number) => {
                changed("its name now belongs to another device")
            }
            Holding::Other(held) if sequence(&held.kept) != held.sequence => changed("another disk replaced it"),
            Holding::Other(_) => Ok(()),
        }
    }

    /// Returns the device's path, for mkfs and mount.
    pub(crate) fn node(&self) -> PathBuf {
        self.device.node()
    }

    /// Returns the device, for its counters.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the mark of the disk; `None` for a file of our own.
    pub(crate) fn mark(&self) -> Option<DiskMark> {
        let Holding::Other(Held { bytes, sequence, .. }) = &self.holding else { return None };
        Some(DiskMark { bytes: *bytes, sequence: *sequence, identity: self.device.identity() })
    }

    /// Returns true for an image whose file is written with direct I/O.
    pub fn is_direct(&self) -> bool {
        matches!(&self.holding, Holding::Own { loop_device, .. } if loop_device.is_direct())
    }

    /// Releases the exclusive hold, which mkfs and mount need. No program may write to the device before they hold it.
    pub(crate) fn release(&mut self) -> Result<(), GuardFault> {
        self.release_and(wait_until_free)
    }

    fn release_and(&mut self, wait: impl FnOnce(&File)) -> Result<(), GuardFault> {
        self.verify()?;
        if !matches!(&self.holding, Holding::Other(Held { claim: Some(_), .. })) {
            // After an unmount, the device stays busy until the last copy of the mount in another namespace is gone.
            let kept = self.open(OFlags::RDONLY).map_err(|source| self.failed("open", source))?;
            wait(&kept);
            return Ok(());
        }
        let before = self.content()?;
        if let Holding::Other(held) = &mut self.holding {
            held.claim = None;
            wait(&held.kept);
        }
        self.verify()?;
        if self.content()? != before {
            return Err(GuardFault::Changed(self.node(), "another program wrote to it"));
        }
        Ok(())
    }

    /// Flushes the page cache. Returns the signatures and the kernel's count of written bytes.
    fn content(&self) -> Result<(Vec<Signature>, Option<u64>), GuardFault> {
        if let Holding::Other(held) = &self.holding {
            held.kept.sync_all().map_err(|source| self.failed("flush", source))?;
        }
        Ok((self.signatures()?, self.device.counters().map(|counters| counters.written)))
    }

    /// Releases the hold while `read` uses the device, and holds it again. Fails if anything was written meanwhile.
    pub(crate) fn lend<T>(&mut self, read: impl FnOnce(&Cleared) -> T) -> Result<T, GuardFault> {
        self.release()?;
        let before = self.content()?;
        let found = read(self);
        self.claim()?;
        if self.content()? != before {
            return Err(GuardFault::Changed(self.node(), "another program wrote to it"));
        }
        Ok(found)
    }

    /// Opens the held device again, even if its name leads to another device now.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<File> {
        self.verify().map_err(io::Error::other)?;
        match &self.holding {
            Holding::Own { .. } => open(&self.node(), flags),
            Holding::Other(held) => reopen(&held.kept, flags),
        }
    }

    /// Discards `length` bytes at `at`. Fails if the device is not held exclusively.
    pub(crate) fn discard(&self, at: u64, length: u64) -> io::Result<()> {
        match &self.holding {
            Holding::Other(Held { claim: Some(claim), .. }) => super::discard(claim, at, length),
            _ => Err(io::Error::other("it is not held exclusively")),
        }
    }

    /// Moves the permission into a new value. The device stays held exclusively if it is.
    pub(crate) fn hand_over(&mut self) -> Result<Cleared, GuardFault> {
        self.verify()?;
        let node = self.node();
        let Holding::Other(Held { number, sequence, bytes, kept, claim }) = &mut self.holding else {
            return Err(GuardFault::Changed(node, "it is a file of our own"));
        };
        let kept = kept.try_clone().map_err(|source| GuardFault::Failed { action: "hold", device: node, source })?;
        let held = Held { number: *number, sequence: *sequence, bytes: *bytes, kept, claim: claim.take() };
        Ok(Cleared { device: self.device.clone(), holding: Holding::Other(held) })
    }

    /// Discards the whole device, so that it is blank for the next run. A disk that cannot discard keeps the data.
    pub(crate) fn discard_all(&self) {
        let Holding::Other(Held { claim: Some(claim), bytes, .. }) = &self.holding else { return };
        if self.device.takes_discard() {
            let starts = (0..*bytes).step_by(DISCARDED_AT_A_TIME as usize);
            let discarded = starts.map(|at| super::discard(claim, at, DISCARDED_AT_A_TIME.min(bytes - at)));
            // If this fails, our data stay, and a later run asks about them.
            let _ = discarded.collect::<io::Result<()>>();
        }
    }

    /// Holds the device exclusively again. Waits up to [`PATIENCE`] if another program has it; a signal does not end
    /// this wait.
    pub(crate) fn claim(&mut self) -> Result<(), GuardFault> {
        self.verify()?;
        let node = self.node();
        if let Holding::Other(held) = &mut self.holding
            && held.claim.is_none()
        {
            // After an unmount, the device stays busy until the last copy of the mount in another namespace is gone.
            wait_until_free(&held.kept);
            let claim = reopen(&held.kept, OFlags::RDWR | OFlags::EXCL);
            held.claim = Some(claim.map_err(|source| GuardFault::Failed { action: "hold", device: node, source })?);
        }
        Ok(())
    }

    /// Finds the device's signatures; none for an image of our own, which no other program can have written to.
    pub(crate) fn signatures(&self) -> Result<Vec<Signature>, GuardFault> {
        let Holding::Other(held) = &self.holding else { return Ok(Vec::new()) };
        let found = forget(&held.kept).and_then(|()| signatures::find(&OfFile(&held.kept, held.bytes)));
        found.map_err(|source| self.failed("read", source))
    }

    /// Erases all signatures, through the descriptor that holds the device exclusively.
    pub(crate) fn erase(&mut self) -> Result<(), GuardFault> {
        self.claim()?;
        let Holding::Other(Held { claim: Some(claim), bytes, .. }) = &self.holding else { return Ok(()) };
        let erased = || {
            for _ in 0..ROUNDS {
                let found = signatures::find(&OfFile(claim, *bytes))?;
                if found.is_empty() {
                    return Ok(());
                }
                for Signature { at, length, .. } in found {
                    claim.write_all_at(&vec![0; length], at)?;
                }
                claim.sync_all()?;
            }
            Err(io::Error::other("the signatures reappear"))
        };
        erased().map_err(|source| self.failed("erase the signatures of", source))?;
        if self.device.has_partitions() {
            forget_partitions(claim).map_err(|source| self.failed("forget the partitions of", source))?;
        }
        Ok(())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> GuardFault {
        GuardFault::Failed { action, device: self.node(), source }
    }

    /// Returns true if the files of that folder are on this device.
    pub(crate) fn contains(&self, folder: &Path) -> bool {
        let place = mount::Place::under(folder).ok().and_then(|place| place.device);
        place.is_some_and(|device| device == self.device)
    }
}

/// Waits until a device can be opened exclusively. A child that another thread has just started has copies of our
/// descriptors until it executes its own program, and udev may look at the device for a moment. A copy of a mount in
/// another namespace keeps the device busy, too. If another program holds the device for longer, the next open, mkfs or
/// mount reports it.
fn wait_until_free(kept: &File) {
    let began = Instant::now();
    let is_busy = || reopen(kept, OFlags::RDONLY | OFlags::EXCL).is_err_and(|error| is_busy(&error));
    while is_busy() && began.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(1));
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}

fn identity(file: BorrowedFd) -> io::Result<Backing> {
    let stat = rustix::fs::fstat(file)?;
    Ok(Backing::File { device: stat.st_dev, inode: stat.st_ino })
}

#[cfg(test)]
mod tests {
    use testkit::loop_disk::Disk;
    use testkit::need_disk;

    use super::super::inspect;
    use super::*;

    #[test]
    fn a_device_changed_while_released_is_not_used() {
        need_disk!();
        // A known format, and data at a place where no format has its signature.
        for (at, bytes) in [(0x438, &[0x53, 0xEF][..]), (3 << 20, b"data")] {
            let disk = Disk::new(16 << 20);
            let mut cleared =
                Cleared::acquire(&inspect(disk.node()).expect("it"), &Permission::None).expect("it is blank");
            cleared.release().expect("nothing has changed");
            cleared.claim().expect("it is free");
            let released = cleared.release_and(|kept| {
                // A child that another test has just started may still have a copy of our descriptor.
                wait_until_free(kept);
                let other = reopen(kept, OFlags::RDWR | OFlags::EXCL).expect("it is free");
                other.write_all_at(bytes, at).and_then(|()| other.sync_all()).expect("written");
            });
            assert!(matches!(released, Err(GuardFault::Changed(..))), "{at}: {released:?}");
        }
    }
}
