//! A device that programs write to directly, without a file system. It exists only with the guard's permission, and
//! all contents of the device are lost.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::errors::{Fault, message};
use crate::guard::{Cleared, DISCARDED_AT_A_TIME, GuardFault, Inspected, Permission};
use crate::observe::block_device::Device;
use crate::sys::payload::{Pages, fill, identity_of_conditioning, stamp_all};

/// Bytes per write call when a device is preconditioned (SNIA Solid State Storage Performance Test Specification
/// 2.0.1).
pub const CONDITIONING_CALL: u32 = 128 << 10;

/// The reason why a device was not discarded.
#[derive(Debug, thiserror::Error)]
pub enum NotDiscarded {
    /// The device does not support discard.
    #[error("{0} does not support discard")]
    Unable(String),
    /// The user stopped it.
    #[error("stopped by the user")]
    Stopped,
    /// The device claims to support discard, but the call failed.
    #[error("discarding {} failed: {}", .0, message(.1))]
    Failed(String, std::io::Error),
}

/// A device that will be overwritten.
#[derive(Debug)]
pub struct RawDevice {
    cleared: Cleared,
    bytes: u64,
}

impl RawDevice {
    /// Claims the inspected device and erases all signatures on it. Otherwise later data could be mistaken for the
    /// old contents.
    pub fn claim(inspected: &Inspected, permission: &Permission) -> Result<RawDevice, GuardFault> {
        let mut cleared = Cleared::acquire(inspected, permission)?;
        cleared.erase()?;
        Ok(RawDevice { cleared, bytes: inspected.bytes() })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.cleared.device()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Discards the whole device, as if nothing had ever been written to it. `go_on` is called before each piece and
    /// can stop it.
    pub fn discard(&self, mut go_on: impl FnMut() -> ControlFlow<()>) -> Result<(), NotDiscarded> {
        let name = || self.device().name.clone();
        if !self.device().takes_discard() {
            return Err(NotDiscarded::Unable(name()));
        }
        let mut at = 0;
        while at < self.bytes {
            if go_on().is_break() {
                return Err(NotDiscarded::Stopped);
            }
            let length = DISCARDED_AT_A_TIME.min(self.bytes - at);
            self.cleared.discard(at, length).map_err(|error| match error.raw_os_error() {
                Some(libc::EOPNOTSUPP) => NotDiscarded::Unable(name()),
                _ => NotDiscarded::Failed(name(), error),
            })?;
            at += length;
        }
        Ok(())
    }

    /// Preconditions the device: writes `bytes` bytes sequentially with direct I/O, starting over at the end of the
    /// device. The data are incompressible, or zeros if `zeros` is set. `progress` gets the number of bytes written so
    /// far and can stop it. Returns the number of bytes written, which are durable.
    pub fn precondition(
        &self,
        bytes: u64,
        (seed, zeros): (u64, bool),
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, Fault> {
        let failed = |errno: Errno| Fault::Conditioning { device: self.device().node(), source: errno.into() };
        let device = self.open(OFlags::RDWR | OFlags::DIRECT).map_err(failed)?;
        let mut pages = Pages::zeroed(CONDITIONING_CALL as usize)?;
        if !zeros {
            fill(pages.bytes_mut(), seed);
        }
        let identity = identity_of_conditioning(seed);
        let call = u64::from(CONDITIONING_CALL);
        let calls_of_device = self.bytes / call;
        let calls = if calls_of_device == 0 { 0 } else { bytes / call };
        let mut written = 0;
        for index in 0..calls {
            let at = index % calls_of_device * call;
            // Each block differs from all others, because a drive may deduplicate equal blocks.
            stamp_all(pages.bytes_mut(), identity ^ index, at);
            let moved = rustix::io::pwrite(device.as_fd(), &pages.bytes()[..CONDITIONING_CALL as usize], at);
            if moved.map_err(failed)? as u64 != call {
                return Err(failed(Errno::NOSPC));
            }
            written += call;
            if progress(written).is_break() {
                break;
            }
        }
        rustix::fs::fsync(&device).map_err(failed)?;
        Ok(written)
    }

    /// Opens another descriptor for a program. Of `flags`, the access mode and `O_DIRECT`, `O_DSYNC` and `O_SYNC` are
    /// used.
    pub(crate) fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags & (OFlags::ACCMODE | OFlags::DIRECT | OFlags::DSYNC | OFlags::SYNC);
        self.cleared.open(flags).map(OwnedFd::from).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}
