//! Processes: the state of each in the kernel. Between two states a process spends time on the processor, or sleeps.

use units::{Moment, Nanos, Virtual};
use workload::HANDLES;

use crate::cache::BufferId;
use crate::drive::{Activity, Times};
use crate::fs::{Plan, Step};

/// A process's next demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Processor time to start the transfer of a buffer, and then to hand over its request.
    Start(BufferId),
    /// Sleep until something has happened.
    Sleep(Channel),
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
    /// The call in progress, or the last one.
    pub(crate) plan: Plan,
    /// True while a call is in progress.
    pub(crate) in_call: bool,
    /// The step to perform again once the last demand is met.
    pub(crate) step: Option<Step>,
    /// The buffer that the call holds.
    pub(crate) buffer: BufferId,
    /// True while it waits until that buffer is written.
    pub(crate) is_writing: bool,
    /// Buffer whose request is to be submitted to the driver, as the processor time for it was spent.
    pub(crate) hand_over: Option<BufferId>,
    /// For each handle, true if writes wait for the drive.
    pub(crate) durable: [bool; HANDLES],
    /// True while it sleeps. The times of its drive are counted into `waited` meanwhile.
    pub(crate) is_asleep: bool,
    /// When its pause (think time) began.
    pub(crate) paused: Option<Moment<Virtual>>,
    /// Time asleep, by the activity of its drive meanwhile.
    pub(crate) waited: Times,
    pub(crate) pauses: Nanos,
}

impl Proc {
    pub(crate) fn new(drive: usize) -> Proc {
        Proc {
            drive,
            plan: Plan::default(),
            in_call: false,
            step: None,
            buffer: 0,
            is_writing: false,
            hand_over: None,
            durable: [false; HANDLES],
            is_asleep: false,
            paused: None,
            waited: [Nanos::ZERO; Activity::COUNT],
            pauses: Nanos::ZERO,
        }
    }
}
