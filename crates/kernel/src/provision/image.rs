//! A fresh file system on an image: a file without a name, a loop device on it, a file system on that, mounted
//! where only this process sees it.
//!
//! ```text
//!   directory ── UnnamedFile ── Cleared (loop device) ── Standing: Mkfs ── Mounted in PrivateMounts ── path()
//! ```
//!
//! Each holds the one before it, and the kernel takes all of them away when the process ends, however it ends.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use units::Bytes;

use super::image_fault::ImageFault;
use super::image_file::UnnamedFile;
use super::mounted_fs::{Standing, VolumeSpec};
use super::mounts::PrivateMounts;
use crate::guard::Cleared;
use crate::observe::block_device::Device;
use crate::observe::mount::Place;

/// Sizes are rounded up to a multiple of this.
pub(super) const GRAIN: u64 = 4096;

/// What an image is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// `ext4`, `xfs`, `btrfs`, or any other that has a mkfs and that the kernel can mount.
    pub file_system: String,
    /// The size of the image.
    pub bytes: Bytes,
    /// In which directory it lies; its file system must allow files without a name.
    pub directory: PathBuf,
    /// The size of a block; the choice of mkfs where none is given.
    pub block: Option<Bytes>,
    /// Options to mount it with, as mount(8) knows them.
    pub mount_options: Vec<String>,
    /// Options for mkfs, after our own.
    pub mkfs_options: Vec<String>,
}

impl ImageSpec {
    /// Says what cannot be, as far as it shows without rights and without touching anything.
    pub fn check(&self) -> Result<(), ImageFault> {
        let volume = self.volume();
        volume.check()?;
        volume.check_size(self.file_bytes())
    }

    /// The size of the file, which is a multiple of the largest sector.
    pub fn file_bytes(&self) -> Bytes {
        Bytes(self.bytes.0.checked_next_multiple_of(GRAIN).unwrap_or(u64::MAX / GRAIN * GRAIN))
    }

    /// What is made on it.
    pub(super) fn volume(&self) -> VolumeSpec {
        VolumeSpec {
            file_system: self.file_system.clone(),
            block: self.block,
            mount_options: self.mount_options.clone(),
            mkfs_options: self.mkfs_options.clone(),
        }
    }
}

/// A file system on an image, fresh from mkfs when made.
#[derive(Debug)]
pub struct Image {
    // Dropped from the first to the last: unmounted, detached, gone.
    standing: Standing,
    cleared: Cleared,
    file: UnnamedFile,
    spec: ImageSpec,
    host: Place,
}

impl Image {
    /// Makes the image:
    ///   1. everything once on the still empty file, so that what cannot be is known before the long wait;
    ///   2. the file written in full; `progress` hears how many bytes are, and may stop it;
    ///   3. everything again.
    pub fn make(
        spec: &ImageSpec,
        mounts: &PrivateMounts,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Image, ImageFault> {
        spec.check()?;
        let mut standing = Standing::new(&spec.volume(), mounts)?;
        let directory = &spec.directory;
        let fault = |action| move |source| ImageFault::File { action, directory: directory.clone(), source };
        let host = Place::under(directory).map_err(fault("look at the storage under a file"))?;
        let file = UnnamedFile::make(directory, spec.file_bytes().0)?;
        // 1:
        let mut cleared = Cleared::on_own_file(&file)?;
        standing.make(&mut cleared, None, None)?;
        standing.mount(&mut cleared)?;
        standing.unmount()?;
        drop(cleared);
        // 2:
        file.fill(progress)?;
        // 3:
        let cleared = Cleared::on_own_file(&file)?;
        let mut image = Image { standing, cleared, file, spec: spec.clone(), host };
        image.fresh()?;
        Ok(image)
    }

    /// Unmounts it, makes the file system anew, and mounts it. Nothing in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.standing.unmount()?;
        self.standing.make(&mut self.cleared, None, None)?;
        self.file.close_holes()?;
        self.standing.mount(&mut self.cleared)
    }

    /// Unmounts it and mounts it again, so that not even its metadata are in memory. Nothing in it may be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        self.standing.unmount()?;
        self.standing.mount(&mut self.cleared)
    }

    /// Unmounts it and gives its file a name: `NAME.img` in its directory. Says which.
    pub fn keep(mut self, name: &str) -> Result<PathBuf, ImageFault> {
        self.standing.unmount()?;
        self.file.give_name(name)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.standing.path()
    }

    /// The loop device under it.
    pub fn device(&self) -> &Device {
        self.cleared.device()
    }

    /// What lies under the directory that the image's file is in: the host file system and its device, whose
    /// counters tell what reached it.
    pub fn host(&self) -> &Place {
        &self.host
    }

    /// Whether the loop device passes the page cache of the host file system by. Where not, that cache is one
    /// more below the file system.
    pub fn is_direct(&self) -> bool {
        self.cleared.is_direct()
    }

    /// The size of its blocks, as the mounted file system says.
    pub fn block(&self) -> Result<Bytes, ImageFault> {
        self.standing.block()
    }

    /// The size of its file.
    pub fn bytes(&self) -> Bytes {
        self.spec.file_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(file_system: &str, bytes: u64) -> ImageSpec {
        ImageSpec {
            file_system: file_system.to_owned(),
            bytes: Bytes(bytes),
            directory: PathBuf::from("."),
            block: None,
            mount_options: Vec::new(),
            mkfs_options: Vec::new(),
        }
    }

    #[test]
    fn sizes_are_whole_sectors() {
        assert_eq!(spec("ext4", 100_000_000).file_bytes(), Bytes(100_003_840));
        assert_eq!(spec("ext4", 1 << 20).file_bytes(), Bytes(1 << 20));
    }
}
