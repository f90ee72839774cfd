//! Addresses on a drive.

use crate::description::SECTOR_BYTES;

/// Consecutive sectors of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) sector: u32,
    pub(crate) sectors: u16,
}

impl Extent {
    pub(crate) fn bytes(self) -> u32 {
        u32::from(self.sectors) * SECTOR_BYTES
    }
}
