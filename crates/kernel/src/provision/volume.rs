//! A fresh file system on a device of somebody's. Made only where the guard gave leave; at the end nothing is on
//! the device that others would take for a file system, so that the next run finds it as this one did.

mod note;

use std::path::{Path, PathBuf};

use units::Bytes;

use super::image_fault::ImageFault;
use super::image_file::UnnamedFile;
use super::mounted_fs::{Standing, VolumeSpec};
use super::mounts::PrivateMounts;
use crate::guard::{Cleared, GuardFault, Inspected, Leave, Signature, Uuid, Watch, are_same};
use crate::observe::block_device::Device;
pub use note::{LeftVolume, ReplacedVolume, left_volumes, left_volumes_of, replaced_volumes_of};
use note::{Note, State};

/// A file system on a device, fresh from mkfs when made.
///
/// mkfs and mount want the device for themselves, so that it cannot be held exclusively meanwhile. It is then kept
/// open otherwise, and afterwards looked at through that: still the same disk, with the file system on it that has
/// the number we chose; where none can be chosen, with all that told of it when it was made, and nothing else.
#[derive(Debug)]
pub struct Volume {
    // Dropped from the first to the last: unmounted, let go.
    standing: Standing,
    cleared: Cleared,
    bytes: Bytes,
    /// What is noted for the case that this process cannot erase it.
    note: Note,
    /// Whether the device was blank, and is to be again.
    was_blank: bool,
    /// How the file system is known again; nothing before mkfs has started.
    told_by: Option<Told>,
    /// Whether what is on the device is ours.
    is_made: bool,
}

/// What tells a file system that was made from others.
#[derive(Debug)]
enum Told {
    /// The number that was chosen for it.
    Number(Uuid),
    /// What was found on the device directly after it was made.
    Signatures(Vec<Signature>),
    /// mkfs has not ended: the device may hold a part of the new file system, or still the one before.
    Making {
        /// The number that was chosen, if mkfs takes one.
        chosen: Option<Uuid>,
        /// The numbers of the file system before.
        before: Vec<Uuid>,
    },
}

impl Volume {
    /// Makes it on a device that was looked at, for the stored run of this name, if there is one:
    ///   1. where the device may hold something, everything once on a file in memory: an option that mkfs or the kernel
    ///      does not take costs nothing yet;
    ///   2. the leave, which is given only where nothing has changed. Without one the device is read, and must be
    ///      blank: `told` hears how far that is, and may end it;
    ///   3. all that tells of what was there is erased, so that nothing of it comes back when ours is gone: the copy of
    ///      a partition table at the end.
    pub fn make(
        spec: &VolumeSpec,
        inspected: &Inspected,
        leave: &Leave,
        (mounts, run): (&PrivateMounts, Option<&str>),
        told: Watch,
    ) -> Result<Volume, ImageFault> {
        let bytes = Bytes(inspected.bytes());
        spec.check_size(bytes)?;
        let mut standing = Standing::new(spec, mounts)?;
        let was_blank = *leave == Leave::None;
        // 1.
        if !was_blank || !inspected.reasons().is_empty() {
            inspected.check(leave)?;
            rehearse(&mut standing, bytes.0)?;
        }
        // 2.
        let mut cleared = Cleared::over_watched(inspected, leave, told)?;
        // 3.
        cleared.erase()?;
        Volume::on(standing, (&spec.file_system, run), Vacated { cleared, bytes, was_blank })
    }

    /// Makes it on a device that another of this process has just left, and that was held since.
    pub fn make_on(
        spec: &VolumeSpec,
        vacated: Vacated,
        (mounts, run): (&PrivateMounts, Option<&str>),
    ) -> Result<Volume, ImageFault> {
        spec.check_size(vacated.bytes)?;
        let standing = Standing::new(spec, mounts)?;
        Volume::on(standing, (&spec.file_system, run), vacated)
    }

    fn on(
        standing: Standing,
        (file_system, run): (&str, Option<&str>),
        vacated: Vacated,
    ) -> Result<Volume, ImageFault> {
        let Vacated { cleared, bytes, was_blank } = vacated;
        let note = Note::about(&cleared, file_system, run);
        let mut volume = Volume { standing, cleared, bytes, note, was_blank, told_by: None, is_made: false };
        volume.fresh()?;
        Ok(volume)
    }

    /// Unmounts it, makes the file system anew, and mounts it. Nothing in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.standing.unmount()?;
        self.take()?;
        let uuid = if self.standing.takes_uuid() {
            let random = |source| ImageFault::Confined { action: "get a random number", source };
            Some(Uuid::random().map_err(random)?)
        } else {
            None
        };
        // Before it is there, and beside the old one, which stays until mkfs comes to it.
        self.note.write(&[self.numbers(), uuid.as_slice().to_vec()].concat(), State::Making);
        // From here on what is on the device is ours, also where mkfs ends half-way.
        self.told_by = Some(Told::Making { chosen: uuid, before: self.numbers() });
        self.is_made = true;
        self.standing.make(&mut self.cleared, uuid, self.note.hold())?;
        self.told_by = Some(match uuid {
            Some(uuid) => Told::Number(uuid),
            None => Told::Signatures(self.cleared.signatures()?),
        });
        self.is_ours()?;
        self.note.write(&self.numbers(), State::Made);
        self.mount()
    }

    /// Unmounts it and mounts it again, so that not even its metadata are in memory. Nothing in it may be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        self.standing.unmount()?;
        self.take()?;
        self.mount()
    }

    /// Unmounts it and erases what tells of it. A device that was blank is so again if it can discard; else what was
    /// written stays on it, and nothing takes that for a file system.
    pub fn finish(mut self) -> Result<(), ImageFault> {
        self.undo()
    }

    /// The same, but that the device stays held for another file system of this process.
    pub fn vacate(mut self) -> Result<Vacated, ImageFault> {
        self.erase()?;
        Ok(Vacated { cleared: self.cleared.hand_over()?, bytes: self.bytes, was_blank: self.was_blank })
    }

    /// Unmounts it and leaves it on the device. Its note stays too and says so, so that it is found once nobody wants
    /// it.
    pub fn keep(mut self) -> Result<(), ImageFault> {
        self.is_made = false;
        self.note.write(&self.numbers(), State::Kept);
        self.standing.unmount()
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.standing.path()
    }

    /// The device under it.
    pub fn device(&self) -> &Device {
        self.cleared.device()
    }

    /// The size of its blocks, as the mounted file system says.
    pub fn block(&self) -> Result<Bytes, ImageFault> {
        self.standing.block()
    }

    /// The size of the device.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The numbers of the file system on the device: the one that was chosen, or those that mkfs chose.
    fn numbers(&self) -> Vec<Uuid> {
        match &self.told_by {
            Some(Told::Number(uuid)) => vec![*uuid],
            Some(Told::Making { chosen, before }) => [before.clone(), chosen.as_slice().to_vec()].concat(),
            Some(Told::Signatures(found)) => found.iter().filter_map(|one| one.uuid.map(Uuid)).collect(),
            None => Vec::new(),
        }
    }

    fn mount(&mut self) -> Result<(), ImageFault> {
        self.standing.mount(&mut self.cleared)?;
        let mounted = if self.cleared.lies_under(self.standing.path()) {
            self.is_ours()
        } else {
            Err(GuardFault::Changed(self.cleared.node(), "the mounted file system is on another device").into())
        };
        if mounted.is_err() {
            self.standing.unmount()?;
        }
        mounted
    }

    /// Has the device exclusively, with nothing on it that is not ours.
    fn take(&mut self) -> Result<(), ImageFault> {
        self.cleared.claim()?;
        if self.is_made { self.is_ours() } else { Ok(()) }
    }

    /// Whether the device is the same, and what is on it is what we have made.
    fn is_ours(&self) -> Result<(), ImageFault> {
        self.cleared.verify()?;
        let Some(told_by) = &self.told_by else { return Ok(()) };
        let found = self.cleared.signatures()?;
        let is_ours = match told_by {
            Told::Number(uuid) => found.iter().any(|one| one.uuid == Some(uuid.0)),
            Told::Signatures(made) => are_same(made, &found),
            Told::Making { chosen, before } => is_in_the_making(&found, *chosen, before, self.note.file_system()),
        };
        if is_ours {
            return Ok(());
        }
        Err(GuardFault::Changed(self.cleared.node(), "it does not hold the file system that was made on it").into())
    }

    fn undo(&mut self) -> Result<(), ImageFault> {
        let is_made = self.is_made;
        self.erase()?;
        if is_made && self.was_blank {
            self.cleared.discard_all();
        }
        Ok(())
    }

    fn erase(&mut self) -> Result<(), ImageFault> {
        if !std::mem::take(&mut self.is_made) {
            return Ok(());
        }
        self.standing.unmount()?;
        self.cleared.claim()?;
        self.is_ours()?;
        self.cleared.erase()?;
        self.note.remove();
        Ok(())
    }
}

/// Whether this can be what mkfs writes before it ends, or what it has not come to. Its number proves that; without a
/// choice of number only the format is known.
fn is_in_the_making(found: &[Signature], chosen: Option<Uuid>, before: &[Uuid], file_system: &str) -> bool {
    let has = |uuid: &Uuid| found.iter().any(|one| one.uuid == Some(uuid.0));
    found.iter().all(Signature::is_unknown)
        || chosen.iter().chain(before).any(has)
        || (chosen.is_none() && found.iter().any(|one| one.format == file_system))
}

/// A device that a file system of this process has left, and that is held: nobody else can have put anything on it.
#[derive(Debug)]
pub struct Vacated {
    cleared: Cleared,
    bytes: Bytes,
    was_blank: bool,
}

impl Vacated {
    /// The device, of which all that a process of ours made was erased and discarded.
    fn from(cleared: Cleared) -> Vacated {
        let bytes = Bytes(cleared.mark().map_or(0, |mark| mark.bytes));
        Vacated { cleared, bytes, was_blank: true }
    }

    /// The path of the device.
    pub fn node(&self) -> PathBuf {
        self.cleared.node()
    }

    /// The device as it is now, without the data that a disk keeps if it cannot discard: they are our own.
    pub fn inspect(&self) -> Result<Inspected, GuardFault> {
        self.cleared.inspect()
    }
}

/// So large is a file in memory at most that stands for a device. Its size decides little of which options are taken,
/// and mkfs writes tables of all of it: of so much, a few megabytes.
const REHEARSED: u64 = 64 << 30;

/// Makes and mounts the file system on a file in memory. Where no loop device can be had, nothing is known beforehand.
fn rehearse(standing: &mut Standing, bytes: u64) -> Result<(), ImageFault> {
    let file = UnnamedFile::in_memory(bytes.min(REHEARSED))?;
    let mut cleared = match Cleared::on_own_file(&file) {
        Err(ImageFault::Loop { .. }) => return Ok(()),
        cleared => cleared?,
    };
    standing.make(&mut cleared, None, None)?;
    standing.mount(&mut cleared)?;
    standing.unmount()
}

/// Undoes what can be undone; whoever wants to know calls [`Volume::finish`].
impl Drop for Volume {
    fn drop(&mut self) {
        let _ = self.undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_program_made_is_not_taken_for_a_half_made_file_system() {
        let [chosen, before, other] = [1, 2, 3].map(|byte| Uuid([byte; 16]));
        let of = |format, uuid: Option<Uuid>| Signature {
            format,
            label: None,
            is_table: false,
            uuid: uuid.map(|uuid| uuid.0),
            at: 0,
            length: 4,
        };
        let is_ours = |found: &[Signature]| is_in_the_making(found, Some(chosen), &[before], "ext4");
        let unknown = Signature::of_unknown(0, 4096);
        assert!(is_ours(&[]) && is_ours(std::slice::from_ref(&unknown)));
        assert!(is_ours(&[of("ext4", Some(chosen))]) && is_ours(&[of("ext4", Some(before))]));
        assert!(!is_ours(&[of("ext4", Some(other))]) && !is_ours(&[of("xfs", None), unknown]));
        let without = |format| is_in_the_making(&[of(format, Some(other))], None, &[], "vfat");
        assert!(without("vfat") && !without("ext4"));
    }
}
