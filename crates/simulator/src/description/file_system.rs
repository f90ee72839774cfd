//! The file system on a drive: its kind.

use super::{Drive, Ext2, Ffs, Invalid, Lfs};

/// A file system of one of the supported kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// A Berkeley fast file system.
    Ffs(Ffs),
    /// A second extended file system of Linux.
    Ext2(Ext2),
    /// A log-structured file system.
    Lfs(Lfs),
}

impl FileSystem {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            FileSystem::Ffs(ffs) => &ffs.name,
            FileSystem::Ext2(ext2) => &ext2.name,
            FileSystem::Lfs(lfs) => &lfs.name,
        }
    }

    /// Bytes of a buffer of the cache: a block of 4.2BSD or of a log, or a page of Linux.
    pub fn block_bytes(&self) -> u32 {
        match self {
            FileSystem::Ffs(ffs) => ffs.block_bytes,
            FileSystem::Ext2(_) => Ext2::PAGE_BYTES,
            FileSystem::Lfs(lfs) => lfs.block_bytes,
        }
    }

    /// Bytes that files can use in any case.
    pub fn room(&self, drive: &Drive) -> u64 {
        match self {
            FileSystem::Ffs(ffs) => ffs.room(drive),
            FileSystem::Ext2(ext2) => ext2.room(drive),
            FileSystem::Lfs(lfs) => lfs.room(drive),
        }
    }

    pub(super) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        match self {
            FileSystem::Ffs(ffs) => ffs.check(drive),
            FileSystem::Ext2(ext2) => ext2.check(drive),
            FileSystem::Lfs(lfs) => lfs.check(drive),
        }
    }
}
