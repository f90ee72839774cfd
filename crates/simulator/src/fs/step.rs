//! The steps of a call. A file system decides the next step; the computer performs it, and lets time pass.

use units::Nanos;
use workload::Reason;

use super::extent::Extent;
use crate::cache::BufferId;
use crate::cpu::Cause;

/// One step of a call. Processes sleep in a step, never between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    /// Spends processor time, as needed on a VAX-11/780.
    Spend(Cause, Nanos),
    /// Waits until a block is in memory, and holds its buffer (`bread`). Reads it from the drive if it is not.
    Read(Extent),
    /// Starts to read a block that is not in memory (the first half of `breada`). Waits for a buffer only.
    StartRead(Extent),
    /// Starts to read a block that is not in memory, if a buffer is free.
    ReadAhead(Extent),
    /// Hands over the request for a buffer whose transfer has begun ([`super::Host::begin_read`]). It takes the
    /// driver's time to start a request.
    HandOver(BufferId),
    /// Sleeps until the transfer of the buffer has ended.
    Sleep(BufferId),
    /// Waits for a block that was started. The next step of the plan learns whether its buffer was lost meanwhile. A
    /// block read to its end is not needed soon.
    Await { extent: Extent, to_its_end: bool },
    /// Holds a buffer for a block whose content is about to be replaced (`getblk`).
    GetBuffer(Extent),
    /// Marks the first N sectors of the held buffer as changed (`bdwrite`).
    WriteDelayed(u16),
    /// The same, and waits until it is on the drive (`bwrite`).
    WriteSync(u16),
    /// Starts to write each dirty block of the drive, and waits until all are written.
    Flush,
    /// Starts to write each dirty block of the drive (`bflush`).
    FlushBehind,
    /// Writes a part of a log with one request, and marks the buffers of its blocks as written. Waits for the previous
    /// such request only.
    WriteLog(Extent),
    /// Waits until all started writes of parts of the log have ended.
    AwaitLog,
    /// Starts to read a part of a log into no buffer.
    ReadLog(Extent),
    /// Waits until the started read of a part of the log has ended.
    AwaitRead,
    /// Starts to read consecutive blocks with one request, as far as buffers are free. The extent is that of
    /// the first block.
    ReadRun { extent: Extent, blocks: u16 },
    /// Starts to write a block, if it is dirty.
    WriteBack(Extent),
    /// Waits until a block that is being written is on the drive.
    AwaitWrite(Extent),
    /// Returns from the call.
    Return(Result<u32, Reason>),
}
