//! The file system on a drive: its kind.

use super::{Drive, Ffs, Invalid, Lfs};

/// A file system of one of the supported kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// A Berkeley fast file system.
    Ffs(Ffs),
    /// A log-structured file system.
    Lfs(Lfs),
}

impl FileSystem {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            FileSystem::Ffs(ffs) => &ffs.name,
            FileSystem::Lfs(lfs) => &lfs.name,
        }
    }

    /// Block size.
    pub fn block_bytes(&self) -> u32 {
        match self {
            FileSystem::Ffs(ffs) => ffs.block_bytes,
            FileSystem::Lfs(lfs) => lfs.block_bytes,
        }
    }

    /// Bytes that files can use in any case.
    pub fn room(&self, drive: &Drive) -> u64 {
        match self {
            FileSystem::Ffs(ffs) => ffs.room(drive),
            FileSystem::Lfs(lfs) => lfs.room(drive),
        }
    }

    pub(super) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        match self {
            FileSystem::Ffs(ffs) => ffs.check(drive),
            FileSystem::Lfs(lfs) => lfs.check(drive),
        }
    }
}
