//! A log-structured file system and its parameters.

use alloc::format;
use alloc::string::String;

use super::{Drive, Invalid, Names, SECTOR_BYTES};

/// A log-structured file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lfs {
    /// The name: `LFS cost-benefit`.
    pub name: String,
    /// Block size.
    pub block_bytes: u32,
    /// Fragment size: the last block of a file takes as many fragments as it has data.
    pub fragment_bytes: u32,
    /// Segment size.
    pub segment_bytes: u32,
    /// The choice of the segments to clean.
    pub cleaner: CleanerPolicy,
    /// True if the cleaner sorts the live blocks of a batch by age.
    pub age_sort: bool,
    /// The cleaner begins if fewer segments are clean.
    pub clean_below: u32,
    /// The cleaner ends at this number of clean segments.
    pub clean_until: u32,
    /// Maximum number of segments that are cleaned at a time.
    pub batch: u32,
    /// Bytes that programs write from one checkpoint to the next.
    pub checkpoint_bytes: u64,
    /// Share of the disk that files cannot use, in thousandths.
    pub reserve_permille: u32,
    /// Consecutive blocks that are read with one request.
    pub read_cluster: u32,
    /// Cost of directories and inodes.
    pub names: Names,
}

/// The choice of the segments to clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanerPolicy {
    /// Those with the fewest live bytes.
    Greedy,
    /// Those with the largest ratio of benefit to cost: free space times the age of the data, divided by the cost.
    CostBenefit {
        /// Age that is not exceeded, in thousandths of the blocks of the disk that programs write. Older segments
        /// count as equally old.
        age_limit_permille: u32,
    },
}

/// Limit of a segment: a request has at most 65535 sectors.
const LARGEST_SEGMENT: u64 = 16 << 20;

/// The minimum number of segments with which a cleaner works.
const LEAST_SEGMENTS: u64 = 8;

impl Lfs {
    /// Segments on a drive.
    fn segments(&self, drive: &Drive) -> u64 {
        // 16 Kbytes are for two checkpoint regions.
        drive.bytes().saturating_sub(16 << 10) / u64::from(self.segment_bytes.max(1))
    }

    /// Blocks of a checkpoint of an almost empty file system: the segment usage table with its entries of 16 bytes, a
    /// summary, and a block each of inodes and inode map.
    fn checkpoint_blocks(&self, segments: u64) -> u64 {
        segments.div_ceil(u64::from(self.block_bytes / 16)) + 3
    }

    /// Bytes that files can use in any case.
    pub(super) fn room(&self, drive: &Drive) -> u64 {
        let segments = self.segments(drive).saturating_sub(self.clean_below.into());
        // A twentieth is left for inodes, indirect blocks and summaries.
        segments * u64::from(self.segment_bytes) * u64::from(1000 - self.reserve_permille.min(1000)) / 1000 / 20 * 19
    }

    pub(crate) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        let block = self.block_bytes;
        if !block.is_power_of_two() || !(SECTOR_BYTES..=1 << 16).contains(&block) {
            let what = format!("a block of {block} bytes is not a power of two from 512 to 65536");
            return Err(Invalid::new("file_system.block_bytes", what, "Sprite used 4096"));
        }
        let fragment = self.fragment_bytes;
        if !fragment.is_power_of_two() || !(SECTOR_BYTES..=block).contains(&fragment) {
            let what = format!("a fragment of {fragment} bytes is not a power of two from 512 to {block}");
            return Err(Invalid::new("file_system.fragment_bytes", what, "Sprite used 512"));
        }
        let segment = u64::from(self.segment_bytes);
        if !segment.is_multiple_of(block.into()) || segment < 8 * u64::from(block) || segment > LARGEST_SEGMENT {
            let what = format!("a segment of {segment} bytes is not 8 blocks or more, or exceeds 16 MiB");
            return Err(Invalid::new("file_system.segment_bytes", what, "Sprite used 1 MiB"));
        }
        let segments = self.segments(drive);
        if segments == 0 {
            let what = format!("a partition of {} bytes is too small for a segment of {segment}", drive.bytes());
            return Err(Invalid::new("file_system.segment_bytes", what, "smaller segments, or a larger drive"));
        }
        if segments < LEAST_SEGMENTS {
            let what = format!("a partition of {segments} segments has none to clean: at least 8 are needed");
            return Err(Invalid::new("file_system.segment_bytes", what, "smaller segments, or a larger drive"));
        }
        let checkpoint = self.checkpoint_blocks(segments);
        let room = u64::from(self.clean_below) * (segment / u64::from(block));
        // A smaller `clean_below` is an error of its own.
        if checkpoint > room && self.clean_below >= 3 {
            let what = format!("a checkpoint of {checkpoint} blocks does not fit into clean_below: {room} blocks");
            return Err(Invalid::new("file_system.segment_bytes", what, "larger segments, or a larger clean_below"));
        }
        let within = Invalid::unless_within;
        let hint = "three for the cleaner itself, and at most half of the segments";
        within("file_system.clean_below", self.clean_below.into(), 3, segments / 2, hint)?;
        let until = self.clean_until.into();
        let hint = "from clean_below on, and at most half of the segments";
        within("file_system.clean_until", until, self.clean_below.into(), segments / 2, hint)?;
        within("file_system.batch", self.batch.into(), 1, segments, "Sprite cleaned a few tens at a time")?;
        within("file_system.reserve_permille", self.reserve_permille.into(), 0, 900, "4.2BSD kept 10 %")?;
        within("file_system.read_cluster", self.read_cluster.into(), 1, segment / u64::from(block), "1 is none")?;
        within("file_system.checkpoint_bytes", self.checkpoint_bytes, segment, 1 << 40, "at least a segment")?;
        if let CleanerPolicy::CostBenefit { age_limit_permille } = self.cleaner {
            let hint = "1000 permille is the disk once";
            within("file_system.age_limit_permille", age_limit_permille.into(), 1, 1_000_000, hint)?;
        }
        Ok(())
    }
}
