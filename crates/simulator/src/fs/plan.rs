//! The plan of a call: the request of the process, and how far it has come. Each process has one plan.

use workload::Reason;

use super::ffs;
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

/// A call in progress, in units of blocks.
#[derive(Clone, Copy, Debug, Default)]
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
    /// State of a fast file system. Other file systems have their own.
    pub(crate) ffs: ffs::CallState,
}

impl Plan {
    /// Begins another call.
    pub(crate) fn begin(&mut self, request: Request) {
        *self = Plan { request, last_read: self.last_read, ..Plan::default() };
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
