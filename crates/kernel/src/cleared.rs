//! The guard. Whatever makes a file system, mounts a device or writes to one takes a [`Cleared`], and only
//! this module makes one. No other function of the program takes a device by its path to write to it.

use std::path::PathBuf;

use crate::devices::Device;
use crate::image::{ImageFault, UnnamedFile};
use crate::loops::LoopDevice;

/// Leave to overwrite one device. Holding it keeps the device there; dropping it lets the device go.
///
/// For now there is one way to get it: the device is a loop device that this process has just attached to
/// an unnamed file of its own, so that nothing of anybody's can be lost.
#[derive(Debug)]
pub struct Cleared {
    loop_device: LoopDevice,
    device: Device,
}

impl Cleared {
    /// A loop device on a file that has no name and that this process has just made.
    pub(crate) fn on_own_file(file: &UnnamedFile) -> Result<Cleared, ImageFault> {
        let loop_device = LoopDevice::attach(file.descriptor())?;
        let (major, minor) = loop_device.number();
        let device = Device::numbered(major, minor).ok_or(ImageFault::NotOurs(loop_device.node()))?;
        let cleared = Cleared { loop_device, device };
        cleared.verify(file)?;
        Ok(cleared)
    }

    /// Looks again whether the path still leads to the device, and the device to the file: between two uses
    /// another program may have changed either.
    pub(crate) fn verify(&self, file: &UnnamedFile) -> Result<(), ImageFault> {
        if self.loop_device.is_on(file.descriptor())? { Ok(()) } else { Err(ImageFault::NotOurs(self.node())) }
    }

    /// The path of the device, for the program that makes a file system and for mounting.
    pub(crate) fn node(&self) -> PathBuf {
        self.loop_device.node()
    }

    /// The device, for its counters.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether what is written reaches the file without passing through the page cache.
    pub fn is_direct(&self) -> bool {
        self.loop_device.is_direct()
    }
}
