//! Segments: the log is divided into pieces of equal size, which are written from their beginning to their end and
//! become free as a whole.

use crate::description::{Drive, Lfs, SECTOR_BYTES};
use crate::fs::extent::Extent;

/// Number of a fragment, from the beginning of the first segment. Content begins at a fragment: most content is a whole
/// block, and the last block of a file takes as many fragments as it has data.
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
    pub(super) fragment_bytes: u32,
    /// Fragments of a block, and of a segment.
    pub(super) per_block: u32,
    pub(super) per_segment: u32,
    pub(super) segments: u32,
    first_sector: u32,
}

impl Layout {
    /// Divides a partition into segments. The rest after the last whole segment is not used.
    pub(super) fn from_drive(drive: &Drive, lfs: &Lfs) -> Layout {
        let Lfs { block_bytes, fragment_bytes, segment_bytes, .. } = *lfs;
        let room = drive.bytes().saturating_sub(u64::from(2 * REGION_SECTORS * SECTOR_BYTES));
        Layout {
            fragment_bytes,
            per_block: block_bytes / fragment_bytes,
            per_segment: segment_bytes / fragment_bytes,
            segments: (room / u64::from(segment_bytes)) as u32,
            first_sector: drive.first_sector + 2 * REGION_SECTORS,
        }
    }

    pub(super) fn segment(&self, address: Address) -> Segment {
        address / self.per_segment
    }

    pub(super) fn first_of(&self, segment: Segment) -> Address {
        segment * self.per_segment
    }

    pub(super) fn segment_bytes(&self) -> u64 {
        u64::from(self.per_segment) * u64::from(self.fragment_bytes)
    }

    /// Number of blocks of a segment.
    pub(super) fn blocks_per_segment(&self) -> u32 {
        self.per_segment / self.per_block
    }

    /// Number of fragments for that many bytes of a block.
    pub(super) fn fragments(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.fragment_bytes)
    }

    /// Returns the sectors of consecutive fragments.
    pub(super) fn extent(&self, address: Address, fragments: u32) -> Extent {
        let sectors = self.fragment_bytes / SECTOR_BYTES;
        Extent { sector: self.first_sector + address * sectors, sectors: (fragments * sectors) as u16 }
    }

    /// Returns the sectors of a whole block.
    pub(super) fn block(&self, address: Address) -> Extent {
        self.extent(address, self.per_block)
    }

    /// Returns the sectors of a checkpoint region. The two regions are written in turn.
    pub(super) fn region(&self, is_second: bool) -> Extent {
        let before = if is_second { REGION_SECTORS } else { 2 * REGION_SECTORS };
        Extent { sector: self.first_sector - before, sectors: REGION_SECTORS as u16 }
    }
}
