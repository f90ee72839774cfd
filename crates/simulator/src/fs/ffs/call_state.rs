//! State of a call in a fast file system.

use super::inode::Places;
use crate::fs::extent::Extent;

/// Progress of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Enters the kernel.
    #[default]
    Enter,
    /// Moves on to the next block, or returns.
    NextBlock,
    /// Read: reads the indirect blocks on the path.
    ReadIndirect,
    /// Read: starts the read of the block.
    AskFor,
    /// Read: starts read-ahead of the next block.
    AskAhead,
    /// Read: waits for the data of the block, or begins again if its buffer was lost.
    Await,
    /// Read: the data were copied to the program.
    Copied,
    /// Write: has the header of the new block's cylinder group in memory, and changes it.
    DirtyHeader,
    /// Write: writes new indirect blocks.
    NewIndirect,
    /// Write: has a buffer for a new indirect block.
    WriteIndirect,
    /// Write: reads existing indirect blocks. Then records a new block, and spends the processor time of its
    /// allocation.
    OldIndirect,
    /// Write: clears the new block.
    Clear,
    /// Write: gets a buffer for the block.
    GetBuffer,
    /// Write: finds the block.
    Find,
    /// Write: copies the data from the program.
    CopyIn,
    /// Write: releases the buffer.
    LetGo,
    /// Name: searches it.
    Search,
    /// Name or sync: changes the file system.
    Change,
    /// Returns.
    End,
}

/// State of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallState {
    pub(super) progress: Progress,
    /// True if the current block is new.
    pub(super) is_new: bool,
    /// Number of new blocks, including new indirect blocks, and number of bytes to clear.
    pub(super) new_blocks: u8,
    pub(super) cleared: u32,
    /// Indirect blocks still to be written or read.
    pub(super) indirect: Places,
    /// True if space was allocated for the current block.
    pub(super) allocates: bool,
    /// The block that is read or written.
    pub(super) extent: Extent,
    /// Sectors of the block that is held.
    pub(super) held: u16,
}
