//! A system call under way.

use workload::Reason;

use crate::cache::BufferId;
use crate::fs::ffs::Places;
use crate::namespace::FileId;

/// What a call does to data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Request {
    /// Nothing: it succeeds, or fails for that reason.
    #[default]
    Nothing,
    /// It fails.
    Fails(Reason),
    /// Brings bytes of a file to the program.
    Read { file: FileId, offset: u64, bytes: u32 },
    /// Takes bytes of the program to a file; `waits` for the drive where they are to be durable.
    Write { file: FileId, offset: u64, bytes: u32, waits: bool },
    /// Waits until everything of the program's file system is on its drive.
    Sync,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It enters the kernel.
    #[default]
    Enter,
    /// It turns to the next block, or returns.
    NextBlock,
    /// Read: the indirect blocks on the way.
    ReadIndirect,
    /// Read: the block is asked for.
    AskFor,
    /// Read: the block after it is asked for.
    AskAhead,
    /// Read: its data are awaited.
    Await,
    /// Read: they were copied.
    Copied,
    /// Write: the header of the group of a new block is looked at.
    Header,
    /// Write: new indirect blocks are written.
    NewIndirect,
    /// Write: they are awaited.
    AwaitIndirect(BufferId),
    /// Write: indirect blocks that exist are looked at.
    OldIndirect,
    /// Write: the new block was chosen; it is cleared.
    Clear,
    /// Write: a buffer is got for the block.
    GetBuffer,
    /// Write: they are copied.
    CopyIn,
    /// Write: the buffer is let go.
    LetGo,
}

/// A call, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) request: Request,
    pub(crate) progress: Progress,
    /// Bytes that are done.
    pub(crate) done: u32,
    /// The block that it is at, where in it, and how many bytes of it.
    pub(crate) block: u32,
    pub(crate) within: u32,
    pub(crate) bytes: u32,
    /// The buffer of that block.
    pub(crate) buffer: BufferId,
    /// A buffer whose request is to be handed to the driver, now that the time for it was spent.
    pub(crate) hand_over: Option<BufferId>,
    /// The block is new.
    pub(crate) is_new: bool,
    /// How many new blocks were chosen, those that lead to it included, and bytes to be cleared.
    pub(crate) new_blocks: u8,
    pub(crate) cleared: u32,
    /// Indirect blocks to be written, or looked at.
    pub(crate) indirect: Places,
    /// The header of the group of a new block.
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
