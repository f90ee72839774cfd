//! Processes: the state of each in the kernel. Between two states a process spends time on the processor, or sleeps.

mod syscall;

pub(crate) use syscall::{Call, Progress, Request};

use units::{Moment, Nanos, Virtual};
use workload::{HANDLES, Reason};

use crate::cache::BufferId;
use crate::cpu::Cause;
use crate::drive::Activity;
use crate::namespace::FileId;

/// A process's next demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Processor time, as needed on a VAX-11/780.
    Spend(Cause, Nanos),
    /// Sleep until something has happened.
    Sleep(Channel),
    /// Return from the call.
    Return(Result<u32, Reason>),
}

/// The condition that a process sleeps on. Processes that sleep on the same one wake up in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The end of that buffer's transfer.
    Buffer(BufferId),
    /// Any buffer that becomes free.
    AnyBuffer,
}

/// State of one process.
#[derive(Debug)]
pub(crate) struct Proc {
    pub(crate) drive: usize,
    pub(crate) call: Call,
    /// True while `call` is in progress.
    pub(crate) in_call: bool,
    /// The block that it read last. A read of the next block is sequential, and starts read-ahead.
    pub(crate) last_read: Option<(FileId, u32)>,
    /// For each handle, true if writes wait for the drive.
    pub(crate) durable: [bool; HANDLES],
    /// When it fell asleep, and the account of its drive at that moment.
    pub(crate) asleep: Option<(Moment<Virtual>, [Nanos; Activity::COUNT])>,
    /// When its pause (think time) began.
    pub(crate) paused: Option<Moment<Virtual>>,
    /// Time asleep, by the activity of its drive meanwhile.
    pub(crate) waited: [Nanos; Activity::COUNT],
    pub(crate) pauses: Nanos,
}

impl Proc {
    pub(crate) fn new(drive: usize) -> Proc {
        Proc {
            drive,
            call: Call::default(),
            in_call: false,
            durable: [false; HANDLES],
            last_read: None,
            asleep: None,
            paused: None,
            waited: [Nanos::ZERO; Activity::COUNT],
            pauses: Nanos::ZERO,
        }
    }
}
