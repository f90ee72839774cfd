//! A fresh file system on an image: an unnamed file, a loop device on it, and a file system on that, mounted where
//! only this process sees it.
//!
//! ```text
//!   directory ── UnnamedFile ── Cleared (loop device) ── MountedFs: Mkfs ── Mounted in PrivateMounts ── path()
//! ```
//!
//! Each layer holds the one before it. The kernel removes all of them when the process ends, however it ends.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use units::Bytes;

use super::image_fault::ImageFault;
use super::image_file::UnnamedFile;
use super::mounted_fs::{MountedFs, VolumeSpec};
use super::mounts::PrivateMounts;
use crate::guard::Cleared;
use crate::observe::block_device::Device;
use crate::observe::mount::Place;

/// Sizes are rounded up to a multiple of this, in bytes.
pub(super) const GRAIN: u64 = 4096;

/// The description of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSpec {
    /// `ext4`, `xfs`, `btrfs`, or any other type that has a mkfs and that the kernel can mount.
    pub file_system: String,
    /// The size of the image.
    pub bytes: Bytes,
    /// The directory of the image. Its file system must support unnamed files.
    pub directory: PathBuf,
    /// The block size. `None` leaves the choice to mkfs.
    pub block: Option<Bytes>,
    /// Mount options, as in mount(8).
    pub mount_options: Vec<String>,
    /// Options for mkfs, added after our own.
    pub mkfs_options: Vec<String>,
}

impl ImageSpec {
    /// Returns an error if the image cannot be made, as far as that is known without rights and without changes.
    pub fn check(&self) -> Result<(), ImageFault> {
        let volume = self.volume();
        volume.check()?;
        volume.check_size(self.file_bytes())
    }

    /// The size of the file, a multiple of the largest sector size.
    pub fn file_bytes(&self) -> Bytes {
        Bytes(self.bytes.0.checked_next_multiple_of(GRAIN).unwrap_or(u64::MAX / GRAIN * GRAIN))
    }

    /// The file system to make on it.
    pub(super) fn volume(&self) -> VolumeSpec {
        VolumeSpec {
            file_system: self.file_system.clone(),
            block: self.block,
            mount_options: self.mount_options.clone(),
            mkfs_options: self.mkfs_options.clone(),
        }
    }
}

/// A file system on an image, freshly made by mkfs.
#[derive(Debug)]
pub struct Image {
    // Dropped in this order: unmount, detach, remove.
    mounted_fs: MountedFs,
    cleared: Cleared,
    file: UnnamedFile,
    spec: ImageSpec,
    host: Place,
}

impl Image {
    /// Makes the image.
    ///   1. Everything is first done on the empty file, to find errors before the long wait.
    ///   2. The file is fully written. `progress` gets the number of bytes written and can stop it.
    ///   3. Everything is done again.
    pub fn make(
        spec: &ImageSpec,
        mounts: &PrivateMounts,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Image, ImageFault> {
        spec.check()?;
        let mut mounted_fs = MountedFs::new(&spec.volume(), mounts)?;
        let directory = &spec.directory;
        let fault = |action| move |source| ImageFault::File { action, directory: directory.clone(), source };
        let host = Place::under(directory).map_err(fault("look at the storage under a file"))?;
        let file = UnnamedFile::make(directory, spec.file_bytes().0)?;
        // 1
        let mut cleared = Cleared::on_own_file(&file)?;
        mounted_fs.make(&mut cleared, None, None)?;
        mounted_fs.mount(&mut cleared)?;
        mounted_fs.unmount()?;
        drop(cleared);
        // 2
        file.fill(progress)?;
        // 3
        let cleared = Cleared::on_own_file(&file)?;
        let mut image = Image { mounted_fs, cleared, file, spec: spec.clone(), host };
        image.fresh()?;
        Ok(image)
    }

    /// Unmounts the file system, makes a new one, and mounts it. No file in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.unmount()?;
        self.mounted_fs.make(&mut self.cleared, None, None)?;
        self.file.close_holes()?;
        self.mounted_fs.mount(&mut self.cleared)
    }

    /// Unmounts the file system and mounts it again, so that not even its metadata stay in memory. No file in it may
    /// be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        self.mounted_fs.unmount()?;
        self.mounted_fs.mount(&mut self.cleared)
    }

    /// Unmounts the file system and gives its file a name: `NAME.img` in its directory. Returns the path.
    pub fn keep(mut self, name: &str) -> Result<PathBuf, ImageFault> {
        self.mounted_fs.unmount()?;
        self.file.give_name(name)
    }

    /// The mount point.
    pub fn path(&self) -> &Path {
        self.mounted_fs.path()
    }

    /// The loop device below it.
    pub fn device(&self) -> &Device {
        self.cleared.device()
    }

    /// The host file system of the image's file and its device, whose counters show the I/O that reached it.
    pub fn host(&self) -> &Place {
        &self.host
    }

    /// True if the loop device bypasses the page cache of the host file system. Otherwise that is a second page cache
    /// below the file system.
    pub fn is_direct(&self) -> bool {
        self.cleared.is_direct()
    }

    /// The block size that the mounted file system reports.
    pub fn block(&self) -> Result<Bytes, ImageFault> {
        self.mounted_fs.block()
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
