//! A fresh file system on a device of the user. It is made only with the guard's permission. At the end, no signature
//! is left on the device, so that the next run finds it as this one did.

mod note;
mod other_files;

use std::path::{Path, PathBuf};

use units::Bytes;

use super::image_fault::ImageFault;
use super::image_file::UnnamedFile;
use super::mounted_fs::{MountedFs, VolumeSpec};
use super::mounts::PrivateMounts;
use crate::guard::{Cleared, GuardFault, Inspected, Permission, Signature, Uuid, Watch, are_same};
use crate::observe::block_device::Device;
pub use note::{LeftoverVolume, ReplacedVolume, left_volumes, left_volumes_of, replaced_volumes_of};
use note::{Note, State};

/// A file system on a device, freshly made by mkfs.
///
/// mkfs and mount need the device exclusively, so diskperf cannot hold it exclusively meanwhile. It keeps another
/// descriptor open and uses it afterwards to check the device. It must be the same disk, with the file system that
/// has the UUID we chose. If no UUID can be chosen, the device must have exactly the signatures that it had after
/// mkfs.
#[derive(Debug)]
pub struct Volume {
    // Dropped in this order: unmount, then release the device.
    mounted_fs: MountedFs,
    cleared: Cleared,
    bytes: Bytes,
    /// The note for later processes, in case this one cannot erase the file system.
    note: Note,
    /// True if the device was blank and must be blank again at the end.
    was_blank: bool,
    /// The identification of the file system. `None` before mkfs has started.
    identified_by: Option<Evidence>,
    /// True if the contents of the device are ours.
    is_made: bool,
}

/// The evidence that distinguishes our file system from others.
#[derive(Debug)]
enum Evidence {
    /// The UUID that we chose for it.
    Number(Uuid),
    /// The signatures on the device directly after mkfs.
    Signatures(Vec<Signature>),
    /// mkfs has not finished: the device may hold a part of the new file system, or still the old one.
    Making {
        /// The chosen UUID, if mkfs accepts one.
        chosen: Option<Uuid>,
        /// The UUIDs of the previous file system.
        before: Vec<Uuid>,
    },
}

impl Volume {
    /// Makes a file system on an inspected device, for the stored run `run` if there is one.
    ///   1. If the device may hold data, everything is first done on files in memory. An option that mkfs or the
    ///      kernel does not accept then costs nothing.
    ///   2. The guard gives permission only if nothing has changed. With [`Permission::None`], the device is read and
    ///      must be blank: `progress` gets the progress and can stop it.
    ///   3. All old signatures are erased, such as the copy of a partition table at the end. Otherwise they would
    ///      show up again once our file system is gone.
    pub fn make(
        spec: &VolumeSpec,
        inspected: &Inspected,
        permission: &Permission,
        (mounts, run): (&PrivateMounts, Option<&str>),
        progress: Watch,
    ) -> Result<Volume, ImageFault> {
        let bytes = Bytes(inspected.bytes());
        spec.check_size(bytes)?;
        let mut mounted_fs = MountedFs::new(spec, mounts)?;
        let was_blank = *permission == Permission::None;
        // 1.
        if !was_blank || !inspected.reasons().is_empty() {
            inspected.check(permission)?;
            rehearse(&mut mounted_fs, bytes.0)?;
        }
        // 2.
        let mut cleared = Cleared::acquire_watched(inspected, permission, progress)?;
        // 3.
        cleared.erase()?;
        Volume::create(mounted_fs, (&spec.file_system, run), Vacated { cleared, bytes, was_blank })
    }

    /// Makes a file system on a device that another volume of this process has just left and that was held since
    /// then.
    pub fn make_on(
        spec: &VolumeSpec,
        vacated: Vacated,
        (mounts, run): (&PrivateMounts, Option<&str>),
    ) -> Result<Volume, ImageFault> {
        spec.check_size(vacated.bytes)?;
        let mounted_fs = MountedFs::new(spec, mounts)?;
        Volume::create(mounted_fs, (&spec.file_system, run), vacated)
    }

    fn create(
        mounted_fs: MountedFs,
        (file_system, run): (&str, Option<&str>),
        vacated: Vacated,
    ) -> Result<Volume, ImageFault> {
        let Vacated { cleared, bytes, was_blank } = vacated;
        let note = Note::about(&cleared, file_system, run);
        let mut volume = Volume { mounted_fs, cleared, bytes, note, was_blank, identified_by: None, is_made: false };
        volume.fresh()?;
        Ok(volume)
    }

    /// Unmounts the file system, makes a new one, and mounts it. No file in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.unmount()?;
        self.take()?;
        let uuid = if self.mounted_fs.takes_uuid() {
            let random = |source| ImageFault::Confined { action: "get a random number", source };
            Some(Uuid::random().map_err(random)?)
        } else {
            None
        };
        // Noted before mkfs, and together with the old UUIDs: the old file system stays until mkfs overwrites it.
        self.note.write(&[self.numbers(), uuid.as_slice().to_vec()].concat(), State::Making);
        // From here on the contents of the device are ours, even if mkfs fails half-way.
        self.identified_by = Some(Evidence::Making { chosen: uuid, before: self.numbers() });
        self.is_made = true;
        self.mounted_fs.make(&mut self.cleared, uuid, self.note.hold())?;
        self.identified_by = Some(match uuid {
            Some(uuid) => Evidence::Number(uuid),
            None => Evidence::Signatures(self.cleared.signatures()?),
        });
        self.is_ours()?;
        self.note.write(&self.numbers(), State::Made);
        self.mount()
    }

    /// Unmounts the file system and mounts it again, so that not even its metadata stay in memory. No file in it may
    /// be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.unmount()?;
        self.take()?;
        self.mount()
    }

    /// Unmounts the file system and erases its signatures. A device that was blank becomes blank again if it supports
    /// discard. Otherwise the written data stay on it, but do not look like a file system.
    pub fn finish(mut self) -> Result<(), ImageFault> {
        self.undo()
    }

    /// As `finish`, but the device stays held for another file system of this process.
    pub fn vacate(mut self) -> Result<Vacated, ImageFault> {
        self.erase()?;
        Ok(Vacated { cleared: self.cleared.hand_over()?, bytes: self.bytes, was_blank: self.was_blank })
    }

    /// Unmounts the file system and leaves it on the device. Its note stays too and says so, so that you can find and
    /// remove it later.
    pub fn keep(mut self) -> Result<(), ImageFault> {
        self.is_made = false;
        self.note.write(&self.numbers(), State::Kept);
        self.mounted_fs.unmount()
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        self.mounted_fs.path()
    }

    /// The device below it.
    pub fn device(&self) -> &Device {
        self.cleared.device()
    }

    /// The block size that the mounted file system reports.
    pub fn block(&self) -> Result<Bytes, ImageFault> {
        self.mounted_fs.block()
    }

    /// The size of the device.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// The UUIDs of the file system on the device: the one that we chose, or those that mkfs chose.
    fn numbers(&self) -> Vec<Uuid> {
        match &self.identified_by {
            Some(Evidence::Number(uuid)) => vec![*uuid],
            Some(Evidence::Making { chosen, before }) => [before.clone(), chosen.as_slice().to_vec()].concat(),
            Some(Evidence::Signatures(found)) => found.iter().filter_map(|one| one.uuid.map(Uuid)).collect(),
            None => Vec::new(),
        }
    }

    fn mount(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.mount(&mut self.cleared)?;
        let mounted = if self.cleared.contains(self.mounted_fs.path()) {
            self.is_ours()
        } else {
            Err(GuardFault::Changed(self.cleared.node(), "the mounted file system is on another device").into())
        };
        if mounted.is_err() {
            self.mounted_fs.unmount()?;
        }
        mounted
    }

    /// Claims the device exclusively, and checks that it holds only our contents.
    fn take(&mut self) -> Result<(), ImageFault> {
        self.cleared.claim()?;
        if self.is_made { self.is_ours() } else { Ok(()) }
    }

    /// Returns an error if the device is a different one, or holds anything but our file system.
    fn is_ours(&self) -> Result<(), ImageFault> {
        self.cleared.verify()?;
        let Some(identified_by) = &self.identified_by else { return Ok(()) };
        let found = self.cleared.signatures()?;
        let is_ours = match identified_by {
            Evidence::Number(uuid) => found.iter().any(|one| one.uuid == Some(uuid.0)),
            Evidence::Signatures(made) => are_same(made, &found),
            Evidence::Making { chosen, before } => is_in_the_making(&found, *chosen, before, self.note.file_system()),
        };
        if is_ours {
            return Ok(());
        }
        Err(GuardFault::Changed(self.cleared.node(), "it no longer holds the file system that diskperf made").into())
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
        self.mounted_fs.unmount()?;
        self.cleared.claim()?;
        self.is_ours()?;
        self.cleared.erase()?;
        self.note.remove();
        Ok(())
    }
}

/// True if these can be the signatures of an unfinished mkfs, or of the file system before it. A UUID proves that. If
/// none was chosen, only the format can be checked.
fn is_in_the_making(found: &[Signature], chosen: Option<Uuid>, before: &[Uuid], file_system: &str) -> bool {
    let has = |uuid: &Uuid| found.iter().any(|one| one.uuid == Some(uuid.0));
    found.iter().all(Signature::is_unknown)
        || chosen.iter().chain(before).any(has)
        || (chosen.is_none() && found.iter().any(|one| one.format == file_system))
}

/// A device that a file system of this process has left. It is still held, so no other program can have written to
/// it.
#[derive(Debug)]
pub struct Vacated {
    cleared: Cleared,
    bytes: Bytes,
    was_blank: bool,
}

impl Vacated {
    /// A device on which everything that diskperf made was erased and discarded.
    fn from(cleared: Cleared) -> Vacated {
        let bytes = Bytes(cleared.mark().map_or(0, |mark| mark.bytes));
        Vacated { cleared, bytes, was_blank: true }
    }

    /// The path of the device.
    pub fn node(&self) -> PathBuf {
        self.cleared.node()
    }

    /// Inspects the device. Data left on a disk without discard are ignored, because they are our own.
    pub fn inspect(&self) -> Result<Inspected, GuardFault> {
        self.cleared.inspect()
    }
}

/// Makes the file system in memory, to find errors:
///   1. if the device is too large to be represented in memory, mkfs checks its options for the full size;
///   2. the file system is made on a file in memory and mounted. Skipped if no loop device is available;
///   3. options that suit only the full size cannot be tried on a smaller file. The mount is then not tried.
fn rehearse(mounted_fs: &mut MountedFs, bytes: u64) -> Result<(), ImageFault> {
    let most = mounted_fs.most_in_memory();
    // 1.
    let suits_size = bytes > most && mounted_fs.check(&UnnamedFile::in_memory(bytes)?)?;
    // 2.
    let file = UnnamedFile::in_memory(bytes.min(most))?;
    let mut cleared = match Cleared::on_own_file(&file) {
        Err(ImageFault::Loop { .. }) => return Ok(()),
        cleared => cleared?,
    };
    match mounted_fs.make(&mut cleared, None, None) {
        // 3. The check reads no other files, such as those of `-l` and `-d`. If it accepts the smaller size, the fault
        // is not about the size.
        Err(fault @ ImageFault::Mkfs { .. }) if suits_size => {
            return if mounted_fs.check(&file).is_err() { Ok(()) } else { Err(fault) };
        }
        made => made?,
    }
    mounted_fs.mount(&mut cleared)?;
    mounted_fs.unmount()
}

/// Undoes what it can, and ignores errors; [`Volume::finish`] reports them.
impl Drop for Volume {
    fn drop(&mut self) {
        let _ = self.undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_signatures_are_not_our_unfinished_file_system() {
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
