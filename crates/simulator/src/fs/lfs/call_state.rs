//! State of a call in a log-structured file system.

/// Progress of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Enters the kernel.
    #[default]
    Enter,
    /// Moves on to the next block, or returns.
    NextBlock,
    /// Reads the inode and the indirect block, unless they are in memory.
    Pointers,
    /// Read: starts the read of the block, and of those that follow it.
    AskFor,
    /// Read: waits for the data of the block.
    Await,
    /// Read: copies the data to the program, or begins again if the buffer was lost.
    CopyOut,
    /// Read: the data were copied to the program.
    Copied,
    /// Write: reads the rest of a block that is changed in part.
    OldData,
    /// Write: gives the block an address at the end of the log.
    Append,
    /// Write: clears the rest of a new block.
    Clear,
    /// Write: finds the block.
    Find,
    /// Write: copies the data from the program.
    CopyIn,
    /// Write: releases the buffer.
    LetGo,
    /// Name: makes room for its changes.
    Search,
    /// Name: changes directories and inodes.
    Change,
    /// Writes the log.
    WriteLog,
    /// Waits until the log is written.
    AwaitLog,
    /// Sync: writes the buffers that are still dirty.
    Flush,
    /// Returns.
    End,
}

/// State of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallState {
    pub(super) progress: Progress,
    /// True if the current block is new.
    pub(super) is_new: bool,
    /// Sectors of the current block.
    pub(super) sectors: u16,
}
