//! A file system that was made for a target: on an image of ours, or on a device of somebody's.

use std::path::{Path, PathBuf};

use kernel::devices::Device;
use kernel::{Image, ImageFault, Vacated, Volume};

/// What was made, and is gone or erased when this is.
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

    /// The image, where it is one.
    pub fn image(&self) -> Option<&Image> {
        match self {
            Made::Image(image) => Some(image),
            Made::Volume(_) => None,
        }
    }

    /// Makes the file system anew. Nothing in it may be open.
    pub fn fresh(&mut self) -> Result<(), ImageFault> {
        match self {
            Made::Image(image) => image.fresh(),
            Made::Volume(volume) => volume.fresh(),
        }
    }

    /// Mounts it anew. Nothing in it may be open.
    pub fn remount(&mut self) -> Result<(), ImageFault> {
        match self {
            Made::Image(image) => image.remount(),
            Made::Volume(volume) => volume.remount(),
        }
    }

    /// Leaves it behind: an image under this name, and says which; a device as it is, under its own.
    pub fn keep(self, name: &str) -> Result<PathBuf, ImageFault> {
        match self {
            Made::Image(image) => image.keep(name),
            Made::Volume(volume) => {
                let node = volume.device().node();
                volume.keep().map(|()| node)
            }
        }
    }

    /// Takes it away, but keeps its device for another file system of this run.
    pub fn vacate(self) -> Result<Option<Vacated>, ImageFault> {
        match self {
            Made::Image(_) => Ok(None),
            Made::Volume(volume) => volume.vacate().map(Some),
        }
    }

    /// Takes it away, and says where that failed.
    pub fn finish(self) -> Result<(), ImageFault> {
        match self {
            // Gone with its last user.
            Made::Image(_) => Ok(()),
            Made::Volume(volume) => volume.finish(),
        }
    }
}
