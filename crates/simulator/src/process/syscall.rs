//! A system call in progress.

use workload::Reason;

use crate::cache::BufferId;
use crate::fs::ffs::Places;
use crate::namespace::FileId;

/// The data part of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Request {
    /// No data: the call just succeeds.
    #[default]
    Nothing,
    /// The call fails for this reason.
    Fails(Reason),
    /// Reads bytes of a file.
    Read { file: FileId, offset: u64, bytes: u32 },
    /// Writes bytes to a file. `waits` is true if the data must be on the drive before the call returns.
    Write { file: FileId, offset: u64, bytes: u32, waits: bool },
    /// Waits until all data of the program's file system are on its drive.
    Sync,
}

/// State of a call.
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
    /// Read: waits for the data of the block.
    Await,
    /// Read: the data were copied to the program.
    Copied,
    /// Write: reads the header of the new block's cylinder group.
    Header,
    /// Write: writes new indirect blocks.
    NewIndirect,
    /// Write: waits for a new indirect block to be written.
    AwaitIndirect(BufferId),
    /// Write: reads existing indirect blocks.
    OldIndirect,
    /// Write: clears the new block.
    Clear,
    /// Write: gets a buffer for the block.
    GetBuffer,
    /// Write: copies the data from the program.
    CopyIn,
    /// Write: releases the buffer.
    LetGo,
}

/// A call and its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) request: Request,
    pub(crate) progress: Progress,
    /// Bytes done so far.
    pub(crate) done: u32,
    /// The current block, the offset in it, and the number of bytes in it.
    pub(crate) block: u32,
    pub(crate) within: u32,
    pub(crate) bytes: u32,
    /// The buffer of the current block.
    pub(crate) buffer: BufferId,
    /// Buffer whose request is to be submitted to the driver, as the processor time for it was spent.
    pub(crate) hand_over: Option<BufferId>,
    /// True if the current block is new.
    pub(crate) is_new: bool,
    /// Number of new blocks, including new indirect blocks, and number of bytes to clear.
    pub(crate) new_blocks: u8,
    pub(crate) cleared: u32,
    /// Indirect blocks still to be written or read.
    pub(crate) indirect: Places,
    /// The header of the new block's cylinder group.
    pub(crate) header: Option<crate::fs::ffs::Extent>,
}

impl Default for Call {
    fn default() -> Call {
        Call::new(Request::Nothing)
    }
}

impl Call {
    pub(crate) fn new(request: Request) -> Call {
        Call {
            request,
            progress: Progress::Enter,
            done: 0,
            block: 0,
            within: 0,
            bytes: 0,
            buffer: 0,
            hand_over: None,
            is_new: false,
            new_blocks: 0,
            cleared: 0,
            indirect: Places::NONE,
            header: None,
        }
    }
}
