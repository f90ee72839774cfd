//! The second extended file system of Linux, and its parameters.

use alloc::string::String;

use super::{Drive, Invalid};

/// A second extended file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ext2 {
    /// The name.
    pub name: String,
    /// Block size.
    pub block_bytes: u32,
    /// Bytes of file system per inode.
    pub bytes_per_inode: u32,
    /// Fate of changed directories, inodes and maps.
    pub metadata: Metadata,
    /// Blocks that may be dirty before a write sends the oldest of them to the drive.
    pub dirty_blocks: u32,
    /// Writes that a process starts before it waits for the first of them.
    pub requests: u32,
    /// Pages that are read ahead of a sequential read.
    pub read_ahead_pages: u32,
}

/// Fate of changed directories, inodes and maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metadata {
    /// They stay in memory until dirty data are written (`async`, the default of ext2).
    Delayed,
    /// A call on a name waits until they are on the drive (`sync`).
    Sync,
}

impl Metadata {
    /// All kinds with their names.
    pub const NAMES: [(&str, Metadata); 2] = [("delayed", Metadata::Delayed), ("sync", Metadata::Sync)];
}

impl Ext2 {
    /// Bytes of a page, the unit of the cache.
    pub const PAGE_BYTES: u32 = 4096;

    /// Bytes that files can use in any case: a twentieth is reserved, and another fifth is left for inodes, maps and
    /// indirect blocks.
    pub fn room(&self, drive: &Drive) -> u64 {
        drive.bytes() / 4 * 3
    }

    pub(super) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        let block = self.block_bytes;
        if !block.is_power_of_two() || !(1024..=Ext2::PAGE_BYTES).contains(&block) {
            let what = alloc::format!("ext2 has no blocks of {block} bytes");
            return Err(Invalid::new("file_system.block_bytes", what, "1024, 2048 or 4096"));
        }
        let within = Invalid::unless_within;
        within("file_system.bytes_per_inode", self.bytes_per_inode.into(), 1024, 1 << 22, "mke2fs takes 4096")?;
        within("file_system.dirty_blocks", self.dirty_blocks.into(), 1, 1 << 24, "Linux 2.4 writes 32 at once")?;
        within("file_system.requests", self.requests.into(), 1, 1 << 14, "Linux 2.4 used 128")?;
        within("file_system.read_ahead_pages", self.read_ahead_pages.into(), 1, 1 << 10, "Linux 2.4 used 31")?;
        let group = u64::from(block) * u64::from(block) * 8;
        if drive.bytes() < group {
            let what = alloc::format!("a partition of {} bytes is smaller than a group", drive.bytes());
            return Err(Invalid::new("drive.first_sector", what, "a group has 8 blocks per byte of a block"));
        }
        Ok(())
    }
}
