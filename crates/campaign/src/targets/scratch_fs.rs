//! A file system that diskperf created for a target: on a loop image, or on a device that the user named.

use std::path::{Path, PathBuf};

use kernel::observe::block_device::Device;
use kernel::{Image, ImageFault, Vacated, Volume};

/// A file system that diskperf created. Dropping it removes the image, or erases the device.
pub enum Made {
    /// On an image.
    Image(Box<Image>),
    /// On a device.
    Volume(Box<Volume>),
}

impl Made {
    /// The mount point.
    pub fn path(&self) -> &Path {
        match self {
            Made::Image(image) => image.path(),
            Made::Volume(volume) => volume.path(),
        }
    }

    /// The device under it.
    pub fn device(&self) -> &Device {
        match self {
            Made::Image(image) => image.device(),
            Made::Volume(volume) => volume.device(),
        }
    }

    /// The image; `None` if the file system is on a device.
    pub fn image(&self) -> Option<&Image> {
        match self {
            Made::Image(image) => Some(image),
            Made::Volume(_) => None,
        }
    }

    /// Re-creates the file system. No file in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        match self {
            Made::Image(image) => image.fresh(),
            Made::Volume(volume) => volume.fresh(),
        }
    }

    /// Unmounts it and mounts it again. No file in it may be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        match self {
            Made::Image(image) => image.remount(),
            Made::Volume(volume) => volume.remount(),
        }
    }

    /// Keeps the file system: an image as a file named `name`, a device as it is. Returns the path.
    pub fn keep(self, name: &str) -> Result<PathBuf, ImageFault> {
        match self {
            Made::Image(image) => image.keep(name),
            Made::Volume(volume) => {
                let node = volume.device().node();
                volume.keep().map(|()| node)
            }
        }
    }

    /// Removes the file system. Returns its device, still held, for another file system of this run; `None` for an
    /// image.
    pub fn vacate(self) -> Result<Option<Vacated>, ImageFault> {
        match self {
            Made::Image(_) => Ok(None),
            Made::Volume(volume) => volume.vacate().map(Some),
        }
    }

    /// Removes the file system, and returns the error if that fails.
    pub fn finish(self) -> Result<(), ImageFault> {
        match self {
            // Dropping the image removes it.
            Made::Image(_) => Ok(()),
            Made::Volume(volume) => volume.finish(),
        }
    }
}
