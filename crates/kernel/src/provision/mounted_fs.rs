//! Makes and mounts a file system on a cleared device: the common part of images and volumes.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use units::Bytes;

use super::image_fault::ImageFault;
use super::image_file::UnnamedFile;
use super::mkfs::{self, Mkfs};
use super::mounts::{self, Mounted, NotMounted, PrivateMounts};
use crate::guard::{Cleared, Uuid};

/// A mount point of ours, with the file system that is made on the device and mounted there. Dropping it unmounts the
/// file system.
#[derive(Debug)]
pub(crate) struct MountedFs {
    mounted: Option<Mounted>,
    mkfs: Mkfs,
    mounts: PrivateMounts,
    folder: PathBuf,
    spec: VolumeSpec,
}

/// The file system to make, and its mount options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSpec {
    /// `ext4`, `xfs`, `btrfs`, or any other type that has a mkfs and that the kernel can mount.
    pub file_system: String,
    /// The block size. `None` leaves the choice to mkfs.
    pub block: Option<Bytes>,
    /// Mount options, as in mount(8).
    pub mount_options: Vec<String>,
    /// Options for mkfs, added after our own.
    pub mkfs_options: Vec<String>,
}

impl VolumeSpec {
    /// Returns an error if the file system cannot be made, as far as that is known without rights and without
    /// changes.
    pub fn check(&self) -> Result<(), ImageFault> {
        self.plan().map(drop)
    }

    /// The mkfs command line without the device.
    pub fn mkfs_line(&self) -> Result<String, ImageFault> {
        Ok(self.plan()?.line())
    }

    pub(super) fn plan(&self) -> Result<Mkfs, ImageFault> {
        if let Some(option) = self.mount_options.iter().find(|option| mkfs::leads_elsewhere(option)) {
            return Err(ImageFault::Elsewhere(option.clone()));
        }
        Mkfs::plan(&self.file_system, self.block, &self.mkfs_options)
    }

    /// Returns an error if `bytes` is too small for the file system.
    pub(crate) fn check_size(&self, bytes: Bytes) -> Result<(), ImageFault> {
        let minimum = mkfs::minimum(&self.file_system);
        // Options may lower the minimum; then mkfs reports the error.
        if self.mkfs_options.is_empty() && bytes < minimum {
            return Err(ImageFault::TooSmall { file_system: self.file_system.clone(), bytes, minimum });
        }
        Ok(())
    }
}

impl MountedFs {
    /// Creates the mount point; makes no file system yet.
    pub(crate) fn new(spec: &VolumeSpec, mounts: &PrivateMounts) -> Result<MountedFs, ImageFault> {
        let mkfs = spec.plan()?;
        if !mounts::knows(&spec.file_system) {
            return Err(ImageFault::Unsupported(spec.file_system.clone()));
        }
        let folder = mounts.folder().map_err(|source| ImageFault::Confined { action: "create a folder", source })?;
        Ok(MountedFs { mounted: None, mkfs, mounts: mounts.clone(), folder, spec: spec.clone() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// True if mkfs accepts a UUID, by which the file system can be identified later.
    pub(crate) fn takes_uuid(&self) -> bool {
        self.mkfs.takes_uuid()
    }

    /// The block size that the mounted file system reports.
    pub(crate) fn block(&self) -> Result<Bytes, ImageFault> {
        let space = rustix::fs::statvfs(&self.folder).map_err(|errno| self.fault("look at", errno.into()))?;
        Ok(Bytes(space.f_bsize))
    }

    /// Makes the file system; see [`Mkfs::run`].
    pub(crate) fn make(&self, cleared: &mut Cleared, uuid: Option<Uuid>, held: Option<File>) -> Result<(), ImageFault> {
        self.mkfs.run(cleared, uuid, &self.folder, held)
    }

    /// Lets mkfs check its options for a device of the file's size; see [`Mkfs::check`].
    pub(crate) fn check(&self, file: &UnnamedFile) -> Result<bool, ImageFault> {
        self.mkfs.check(file.descriptor(), &self.folder)
    }

    /// The maximum size in bytes of a file in memory on which the file system can be made.
    pub(crate) fn most_in_memory(&self) -> u64 {
        self.mkfs.most_in_memory()
    }

    pub(crate) fn mount(&mut self, cleared: &mut Cleared) -> Result<(), ImageFault> {
        // The kernel needs the device exclusively.
        cleared.release()?;
        let file_system = &self.spec.file_system;
        let options = mkfs::mount_options(file_system, &self.spec.mount_options);
        let mounted = self.mounts.mount(cleared, file_system, &options, &self.folder);
        self.mounted = Some(mounted.map_err(|refusal| self.refusal(refusal))?);
        Ok(())
    }

    /// Converts a mount error. For a block larger than a page, the kernel returns "invalid argument" or "not
    /// implemented".
    fn refusal(&self, refusal: NotMounted) -> ImageFault {
        let page = Bytes(rustix::param::page_size() as u64);
        match (refusal.errno, self.spec.block) {
            (Errno::INVAL | Errno::NOSYS, Some(block)) if block > page && refusal.words.is_none() => {
                ImageFault::BlockSize { file_system: self.spec.file_system.clone(), block, page }
            }
            _ => self.fault("mount", refusal),
        }
    }

    pub(crate) fn unmount(&mut self) -> Result<(), ImageFault> {
        if let Some(mounted) = &mut self.mounted {
            let unmounted = mounted.unmount();
            unmounted.map_err(|errno| self.fault("unmount", errno.into()))?;
        }
        self.mounted = None;
        Ok(())
    }

    fn fault(&self, action: &'static str, refusal: NotMounted) -> ImageFault {
        let file_system = self.spec.file_system.clone();
        ImageFault::Mount { action, file_system, words: refusal.words, source: refusal.errno.into() }
    }
}
