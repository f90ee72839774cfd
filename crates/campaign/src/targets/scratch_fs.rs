//! A file system that was made for a target: on a loop image of ours, or on a device of the user's.

use std::path::{Path, PathBuf};

use kernel::observe::block_device::Device;
use kernel::{Image, ImageFault, Vacated, Volume};

/// A file system that was made. Dropping it removes the image, or erases the device.
pub enum Made {
    /// On an image.
    Image(Box<Image>),
    /// On a device.
    Volume(Box<Volume>),
}

impl Made {
    /// Where it is mounted.
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

    /// The image, if it is on one.
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

    /// Keeps it: an image as a file of this name, a device as it is. Returns the path.
    pub fn keep(self, name: &str) -> Result<PathBuf, ImageFault> {
        match self {
            Made::Image(image) => image.keep(name),
            Made::Volume(volume) => {
                let node = volume.device().node();
                volume.keep().map(|()| node)
            }
        }
    }

    /// Removes it, but holds its device for another file system of this run.
    pub fn vacate(self) -> Result<Option<Vacated>, ImageFault> {
        match self {
            Made::Image(_) => Ok(None),
            Made::Volume(volume) => volume.vacate().map(Some),
        }
    }

    /// Removes it, and returns the error if that fails.
    pub fn finish(self) -> Result<(), ImageFault> {
        match self {
            // Gone with its last user.
            Made::Image(_) => Ok(()),
            Made::Volume(volume) => volume.finish(),
        }
    }
}
