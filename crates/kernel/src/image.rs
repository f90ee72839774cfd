//! A fresh file system on an image: a file without a name, a loop device on it, a file system on that, mounted
//! where only this process sees it.
//!
//! ```text
//!   directory ── UnnamedFile ── Cleared (loop device) ── Mkfs ── Mounted in PrivateMounts ── path()
//! ```
//!
//! Each holds the one before it, and the kernel takes all of them away when the process ends, however it ends.

mod fault;
mod file;
mod mkfs;
mod mounts;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use units::Bytes;

use crate::cleared::Cleared;
use crate::devices::Device;
use crate::place::Place;

pub use fault::ImageFault;
pub(crate) use file::UnnamedFile;
use mkfs::Mkfs;
pub(crate) use mkfs::tool;
pub(crate) use mounts::knows;
use mounts::{Mounted, NotMounted};
pub use mounts::{PrivateMounts, may_administer};

/// Sizes are rounded up to a multiple of this.
const GRAIN: u64 = 4096;

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
        self.plan().map(drop)
    }

    /// The size of the file, which is a multiple of the largest sector.
    pub fn file_bytes(&self) -> Bytes {
        Bytes(self.bytes.0.next_multiple_of(GRAIN))
    }

    fn plan(&self) -> Result<Mkfs, ImageFault> {
        if let Some(option) = self.mount_options.iter().find(|option| mkfs::leads_elsewhere(option)) {
            return Err(ImageFault::Elsewhere(option.clone()));
        }
        let mkfs = Mkfs::plan(&self.file_system, self.block, &self.mkfs_options)?;
        let (bytes, minimum) = (self.file_bytes(), mkfs::minimum(&self.file_system));
        // Options may change what is possible; then mkfs says it.
        if self.mkfs_options.is_empty() && bytes < minimum {
            return Err(ImageFault::TooSmall { file_system: self.file_system.clone(), bytes, minimum });
        }
        Ok(mkfs)
    }
}

/// A file system on an image, fresh from mkfs when made.
#[derive(Debug)]
pub struct Image {
    // Dropped from the first to the last: unmounted, detached, gone.
    mounted: Option<Mounted>,
    cleared: Cleared,
    file: UnnamedFile,
    mkfs: Mkfs,
    mounts: PrivateMounts,
    folder: PathBuf,
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
        let mkfs = spec.plan()?;
        if !mounts::knows(&spec.file_system) {
            return Err(ImageFault::Unsupported(spec.file_system.clone()));
        }
        let directory = &spec.directory;
        let fault = |action| move |source| ImageFault::File { action, directory: directory.clone(), source };
        let host = Place::under(directory).map_err(fault("look at what lies under a file"))?;
        let file = UnnamedFile::make(directory, spec.file_bytes().0)?;
        let folder = mounts.folder().map_err(|source| ImageFault::Confined { action: "make a folder", source })?;
        let attached = |file: UnnamedFile| -> Result<Image, ImageFault> {
            let cleared = Cleared::on_own_file(&file)?;
            let (mkfs, mounts, folder) = (mkfs.clone(), mounts.clone(), folder.clone());
            let (spec, host) = (spec.clone(), host.clone());
            Ok(Image { mounted: None, cleared, file, mkfs, mounts, folder, spec, host })
        };
        // 1:
        let mut trial = attached(file)?;
        trial.make_file_system()?;
        trial.mount()?;
        let file = trial.detach()?;
        // 2:
        file.fill(progress)?;
        // 3:
        let mut image = attached(file)?;
        image.fresh()?;
        Ok(image)
    }

    /// Unmounts it, makes the file system anew, and mounts it. Nothing in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        self.unmount()?;
        self.make_file_system()?;
        self.file.close_holes()?;
        self.mount()
    }

    /// Unmounts it and mounts it again, so that not even its metadata are in memory. Nothing in it may be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        self.unmount()?;
        self.mount()
    }

    /// Unmounts it and gives its file a name: `NAME.img` in its directory. Says which.
    pub fn keep(self, name: &str) -> Result<PathBuf, ImageFault> {
        self.detach()?.give_name(name)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.folder
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
        let space = rustix::fs::statvfs(&self.folder).map_err(|errno| self.mount_fault("look at", errno.into()))?;
        Ok(Bytes(space.f_bsize))
    }

    /// The size of its file.
    pub fn bytes(&self) -> Bytes {
        self.spec.file_bytes()
    }

    fn make_file_system(&self) -> Result<(), ImageFault> {
        self.mkfs.run(&self.cleared, &self.file, &self.folder)
    }

    fn mount(&mut self) -> Result<(), ImageFault> {
        self.cleared.verify(&self.file)?;
        let file_system = &self.spec.file_system;
        let options = mkfs::mount_options(file_system, &self.spec.mount_options);
        let mounted = self.mounts.mount(&self.cleared, file_system, &options, &self.folder);
        self.mounted = Some(mounted.map_err(|refusal| self.refusal(refusal))?);
        Ok(())
    }

    /// A block that is larger than a page is what the kernel says "invalid argument" to, or "not implemented".
    fn refusal(&self, refusal: NotMounted) -> ImageFault {
        let page = Bytes(rustix::param::page_size() as u64);
        match (refusal.errno, self.spec.block) {
            (Errno::INVAL | Errno::NOSYS, Some(block)) if block > page && refusal.words.is_none() => {
                ImageFault::BlockSize { file_system: self.spec.file_system.clone(), block, page }
            }
            _ => self.mount_fault("mount", refusal),
        }
    }

    fn unmount(&mut self) -> Result<(), ImageFault> {
        if let Some(mounted) = &mut self.mounted {
            let unmounted = mounted.unmount();
            unmounted.map_err(|errno| self.mount_fault("unmount", errno.into()))?;
        }
        self.mounted = None;
        Ok(())
    }

    fn detach(mut self) -> Result<UnnamedFile, ImageFault> {
        self.unmount()?;
        Ok(self.file)
    }

    fn mount_fault(&self, action: &'static str, refusal: NotMounted) -> ImageFault {
        let file_system = self.spec.file_system.clone();
        ImageFault::Mount { action, file_system, words: refusal.words, source: refusal.errno.into() }
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
