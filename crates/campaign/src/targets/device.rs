//! A block device as a target: it is read, or overwritten completely if the user demands that.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use kernel::PathFault;
use kernel::guard::{Inspected, Permission};
use kernel::observe::block_device::Device;
use kernel::observe::block_source::Storage;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::error::CampaignError;

/// The smallest device that is measured: a thousand blocks for random I/O. Less fits into the cache of any drive.
pub const LEAST_DEVICE: Bytes = Bytes::mib(4);

/// A device that is measured without a file system.
#[derive(Clone, Debug)]
pub struct DeviceArgument {
    /// The path, as typed.
    pub path: PathBuf,
    /// Its size, and how it can be read.
    pub storage: Storage,
    /// Details of overwriting it; `None` if it is only read.
    pub overwriting: Option<Overwriting>,
}

/// Details of overwriting a whole device.
#[derive(Clone, Debug)]
pub struct Overwriting {
    /// The findings of the guard.
    pub inspected: Inspected,
    /// The user's consent to lose the present contents.
    pub permission: Permission,
    /// Preconditioning before the first round; `None` if an earlier process has done that.
    pub conditioning: Option<Conditioning>,
}

/// Preconditioning: the number of times that a device is written sequentially before the first round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditioning(f64);

/// Upper limit: a hundred times is the life of some flash.
const MOST: f64 = 100.0;

impl Conditioning {
    /// Bytes to write to a device of `device` bytes.
    pub fn bytes(self, device: u64) -> u64 {
        (device as f64 * self.0) as u64
    }
}

/// Twice, as in the SNIA specification.
impl Default for Conditioning {
    fn default() -> Conditioning {
        Conditioning(2.0)
    }
}

impl FromStr for Conditioning {
    type Err = String;

    /// Reads `2x`, `0.5` or `none`.
    fn from_str(text: &str) -> Result<Conditioning, String> {
        if text == "none" {
            return Ok(Conditioning(0.0));
        }
        let times = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
        match times {
            Ok(times) if (0.0..=MOST).contains(&times) => Ok(Conditioning(times)),
            Ok(_) => Err(format!("a device is written up to {MOST} times over")),
            Err(_) => Err("write how many times over, as in 2x, or none".to_owned()),
        }
    }
}

impl DeviceArgument {
    /// Opens the device to learn its properties. Reads no data.
    pub fn open(path: &Path) -> Result<DeviceArgument, CampaignError> {
        let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
        let storage =
            Storage::inspect(path).map_err(unreadable)?.ok_or_else(|| PathFault::NotStorage(path.to_owned()))?;
        Ok(DeviceArgument { path: path.to_owned(), storage, overwriting: None })
    }

    /// The device under /sys, if it is visible there.
    pub fn device(&self) -> Option<&Device> {
        self.storage.device.as_ref()
    }

    /// Marks the device to be overwritten. Returns an error if the guard forbids that.
    pub fn overwrite(&mut self, conditioning: Conditioning) -> Result<(), CampaignError> {
        let inspected = kernel::guard::inspect(&self.path)?;
        self.overwriting =
            Some(Overwriting { inspected, permission: Permission::None, conditioning: Some(conditioning) });
        Ok(())
    }

    /// Returns an error if the device has fewer than `needed` bytes.
    pub fn check_size(&self, needed: Bytes) -> Result<(), CampaignError> {
        let size = Bytes(self.storage.bytes);
        if size >= needed {
            Ok(())
        } else {
            Err(CampaignError::SmallDevice { device: self.path.clone(), size, needed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_conditioning_factors_are_refused() {
        let bytes = |text: &str| text.parse::<Conditioning>().map(|times| times.bytes(1000));
        assert_eq!(
            (bytes("2x"), bytes("2"), bytes("0.5x"), bytes("none"), bytes("0")),
            (Ok(2000), Ok(2000), Ok(500), Ok(0), Ok(0))
        );
        assert_eq!(bytes("100x"), Ok(100_000));
        for absurd in ["-1", "101x", "1e9", "inf", "NaN", "", "x", "twice", "2xx"] {
            assert!(bytes(absurd).is_err(), "{absurd}");
        }
    }
}
