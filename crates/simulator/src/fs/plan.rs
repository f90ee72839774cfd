//! The plan of a call: the request of the process, and how far it has come. Each process has one plan.

use alloc::vec::Vec;

use workload::Reason;

use super::step::Step;
use super::{ext2, ffs, lfs};
use crate::namespace::FileId;

/// The request of a process to a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
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
    /// Starts to write all changed data of a file system, as the update daemon asks.
    Update,
    /// Reads or changes a name, on a file system whose names take time.
    Name(NameCall),
}

/// A call that reads or changes a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameCall {
    pub(crate) work: NameWork,
    /// The folder of the program. Names are relative to it.
    pub(crate) root: FileId,
    /// The directory of the name: that folder, or a directory in it.
    pub(crate) directory: FileId,
    /// The file or directory with that name.
    pub(crate) file: FileId,
    /// True if the call releases the contents of the file.
    pub(crate) releases: bool,
}

/// The work of a call on a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameWork {
    /// Opens an existing file.
    Open,
    /// Opens a file for writing. Creates it if it is missing.
    Create,
    /// Closes a file, whatever its name.
    Close,
    /// Removes the name of a file.
    Unlink,
    /// Makes a directory.
    MakeDirectory,
    /// Removes an empty directory.
    RemoveDirectory,
}

/// A call in progress, in units of blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) request: Request,
    /// Bytes done so far.
    pub(crate) done: u32,
    /// The current block, the offset in it, and the number of bytes in it.
    pub(crate) block: u32,
    pub(crate) within: u32,
    pub(crate) bytes: u32,
    /// True if the last step waited for a block whose buffer was given to another block meanwhile.
    pub(crate) is_lost: bool,
    /// The block that the process read last. A read of the next block is sequential, and starts read-ahead. Kept from
    /// call to call.
    pub(crate) last_read: Option<(FileId, u32)>,
    /// Steps that were decided in advance, and the number of those done.
    pub(crate) script: Vec<Step>,
    pub(crate) script_done: usize,
    /// State of a fast file system. Other file systems have their own.
    pub(crate) ffs: ffs::CallState,
    /// State of a log-structured file system.
    pub(crate) lfs: lfs::CallState,
    /// State of a second extended file system.
    pub(crate) ext2: ext2::CallState,
}

impl Plan {
    /// Begins another call.
    pub(crate) fn begin(&mut self, request: Request) {
        self.request = request;
        (self.done, self.is_lost, self.script_done) = (0, false, 0);
        self.script.clear();
        self.ffs = ffs::CallState::default();
        self.lfs = lfs::CallState::default();
        self.ext2 = ext2::CallState::default();
    }

    /// Takes the next step that was decided in advance.
    pub(crate) fn next_of_script(&mut self) -> Option<Step> {
        let step = self.script.get(self.script_done).copied()?;
        self.script_done += 1;
        Some(step)
    }

    /// Moves on to the next block of a read or write. Returns false at its end.
    pub(crate) fn next_block(&mut self, block_bytes: u32) -> bool {
        let (Request::Read { offset, bytes, .. } | Request::Write { offset, bytes, .. }) = self.request else {
            return false;
        };
        if self.done == bytes {
            return false;
        }
        let at = offset + u64::from(self.done);
        self.block = (at / u64::from(block_bytes)) as u32;
        self.within = (at % u64::from(block_bytes)) as u32;
        self.bytes = (bytes - self.done).min(block_bytes - self.within);
        true
    }
}
