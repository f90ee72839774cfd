//! A device that programs write to as it is, without a file system on it. Made only where the guard gave leave; all
//! that it held goes.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::errors::{Fault, said};
use crate::guard::{Cleared, DISCARDED_AT_A_TIME, GuardFault, Inspected, Leave};
use crate::observe::block_device::Device;
use crate::sys::payload::{Pages, fill, identity_of_conditioning, stamp_all};

/// Bytes of a call that conditions a device (SNIA Solid State Storage Performance Test Specification 2.0.1).
pub const CONDITIONING_CALL: u32 = 128 << 10;

/// Why a device was not discarded.
#[derive(Debug, thiserror::Error)]
pub enum NotDiscarded {
    /// It cannot.
    #[error("{0} takes no discard")]
    Unable(String),
    /// It was told to stop.
    #[error("stopped by the user")]
    Stopped,
    /// It says that it can, and did not.
    #[error("discarding {} failed: {}", .0, said(.1))]
    Failed(String, std::io::Error),
}

/// A device to be overwritten.
#[derive(Debug)]
pub struct RawDevice {
    cleared: Cleared,
    bytes: u64,
}

impl RawDevice {
    /// Takes the device that was looked at, and erases all that tells of what it held: what is written then must not be
    /// taken for what was there.
    pub fn over(inspected: &Inspected, leave: &Leave) -> Result<RawDevice, GuardFault> {
        let mut cleared = Cleared::over(inspected, leave)?;
        cleared.erase()?;
        Ok(RawDevice { cleared, bytes: inspected.bytes() })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.cleared.device()
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Tells it that nothing on it is wanted any more, as if nothing had ever been written. `go_on` is asked between
    /// pieces.
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

    /// Writes so many bytes in order, past the page cache, from the beginning and again from there; nothing that can be
    /// compressed, where it is not to be zeros. `told` hears how many bytes are written, and may end it. Says how many
    /// were; they are durable.
    pub fn condition(
        &self,
        bytes: u64,
        (seed, zeros): (u64, bool),
        mut told: impl FnMut(u64) -> ControlFlow<()>,
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
            // What two blocks hold is never the same: a drive may find equal ones.
            stamp_all(pages.bytes_mut(), identity ^ index, at);
            let moved = rustix::io::pwrite(device.as_fd(), &pages.bytes()[..CONDITIONING_CALL as usize], at);
            if moved.map_err(failed)? as u64 != call {
                return Err(failed(Errno::NOSPC));
            }
            written += call;
            if told(written).is_break() {
                break;
            }
        }
        rustix::fs::fsync(&device).map_err(failed)?;
        Ok(written)
    }

    /// Opens it once more, for a program: to read or write, past the page cache or not.
    pub(crate) fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags & (OFlags::ACCMODE | OFlags::DIRECT | OFlags::DSYNC | OFlags::SYNC);
        self.cleared.open(flags).map(OwnedFd::from).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}
