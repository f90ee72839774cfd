//! Segments: the log is divided into pieces of equal size, which are written from their beginning to their end and
//! become free as a whole.

use crate::description::{Drive, SECTOR_BYTES};
use crate::fs::extent::Extent;

/// Number of a block, from the beginning of the first segment.
pub(super) type Address = u32;

/// Number of a segment.
pub(super) type Segment = u32;

/// No address: a hole, or a block that was never written.
pub(super) const NOWHERE: Address = Address::MAX;

/// Sectors of each of the two checkpoint regions at the beginning of the partition: 8 Kbytes.
const REGION_SECTORS: u32 = 16;

/// Position of the segments on a drive.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) block_bytes: u32,
    pub(super) blocks_per_segment: u32,
    pub(super) segments: u32,
    first_sector: u32,
}

impl Layout {
    /// Divides a partition into segments. The rest after the last whole segment is not used.
    pub(super) fn from_drive(drive: &Drive, block_bytes: u32, segment_bytes: u32) -> Layout {
        let room = drive.bytes().saturating_sub(u64::from(2 * REGION_SECTORS * SECTOR_BYTES));
        Layout {
            block_bytes,
            blocks_per_segment: segment_bytes / block_bytes,
            segments: (room / u64::from(segment_bytes)) as u32,
            first_sector: drive.first_sector + 2 * REGION_SECTORS,
        }
    }

    pub(super) fn segment(&self, address: Address) -> Segment {
        address / self.blocks_per_segment
    }

    pub(super) fn first_of(&self, segment: Segment) -> Address {
        segment * self.blocks_per_segment
    }

    pub(super) fn segment_bytes(&self) -> u64 {
        u64::from(self.blocks_per_segment) * u64::from(self.block_bytes)
    }

    /// Returns the sectors of consecutive blocks.
    pub(super) fn extent(&self, address: Address, blocks: u32) -> Extent {
        let sectors = self.block_bytes / SECTOR_BYTES;
        Extent { sector: self.first_sector + address * sectors, sectors: (blocks * sectors) as u16 }
    }

    /// Returns the sectors of a checkpoint region. The two regions are written in turn.
    pub(super) fn region(&self, is_second: bool) -> Extent {
        let before = if is_second { REGION_SECTORS } else { 2 * REGION_SECTORS };
        Extent { sector: self.first_sector - before, sectors: REGION_SECTORS as u16 }
    }
}
