//! A file system that diskperf created for a target: on a loop image, or on a device that the user named.

use std::path::{Path, PathBuf};

use kernel::observe::block_device::Device;
use kernel::{Image, ImageFault, Vacated, Volume};

/// A file system that diskperf created. Dropping it removes the image, or erases the device.
pub enum ScratchFs {
    /// On an image.
    Image(Box<Image>),
    /// On a device.
    Volume(Box<Volume>),
}

impl ScratchFs {
    /// The mount point.
    pub fn path(&self) -> &Path {
        match self {
            ScratchFs::Image(image) => image.path(),
            ScratchFs::Volume(volume) => volume.path(),
        }
    }

    /// The device under it.
    pub fn device(&self) -> &Device {
        match self {
            ScratchFs::Image(image) => image.device(),
            ScratchFs::Volume(volume) => volume.device(),
        }
    }

    /// The image; `None` if the file system is on a device.
    pub fn image(&self) -> Option<&Image> {
        match self {
            ScratchFs::Image(image) => Some(image),
            ScratchFs::Volume(_) => None,
        }
    }

    /// Re-creates the file system. No file in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        match self {
            ScratchFs::Image(image) => image.fresh(),
            ScratchFs::Volume(volume) => volume.fresh(),
        }
    }

    /// Unmounts it and mounts it again. No file in it may be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        match self {
            ScratchFs::Image(image) => image.remount(),
            ScratchFs::Volume(volume) => volume.remount(),
        }
    }

    /// Keeps the file system: an image as a file named `name`, a device as it is. Returns the path.
    pub fn keep(self, name: &str) -> Result<PathBuf, ImageFault> {
        match self {
            ScratchFs::Image(image) => image.keep(name),
            ScratchFs::Volume(volume) => {
                let node = volume.device().node();
                volume.keep().map(|()| node)
            }
        }
    }

    /// Removes the file system. Returns its device, still held, for another file system of this run; `None` for an
    /// image.
    pub fn vacate(self) -> Result<Option<Vacated>, ImageFault> {
        match self {
            ScratchFs::Image(_) => Ok(None),
            ScratchFs::Volume(volume) => volume.vacate().map(Some),
        }
    }

    /// Removes the file system, and returns the error if that fails.
    pub fn finish(self) -> Result<(), ImageFault> {
        match self {
            // Dropping the image removes it.
            ScratchFs::Image(_) => Ok(()),
            ScratchFs::Volume(volume) => volume.finish(),
        }
    }
}
