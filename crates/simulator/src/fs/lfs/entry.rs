//! Entries of segment summaries: the content of each block of the log. The cleaner finds live blocks with them, and
//! roll-forward finds the files that changed after a checkpoint.

use super::segment::Address;
use crate::namespace::FileId;

/// Content of a block, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A block of a file.
    Data { file: FileId, block: u32 },
    /// An indirect block of a file.
    Indirect { file: FileId, index: u32 },
    /// The inode of a file. Several inodes share a block.
    Inode { file: FileId },
    /// A block of the inode map.
    InodeMap { index: u32 },
    /// A block of the segment usage table.
    UsageTable { index: u32 },
    /// The summary of a part of the log.
    Summary,
    /// A file was deleted. It takes no space: the record is in a summary.
    Removed { file: FileId },
}

/// An entry of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) address: Address,
    pub(super) content: Content,
    /// When the content was last changed, on the clock of the log.
    pub(super) modified: Age,
}

/// A moment on the clock of the log, which counts the blocks that programs have written.
pub(super) type Age = u64;
