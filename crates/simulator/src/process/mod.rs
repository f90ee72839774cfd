//! Processes: what each is doing in the kernel, as a state that can be looked at. Between two states a process spends
//! time on the processor, or sleeps.

mod call;

pub(crate) use call::{Call, Progress, Request};

use units::{Moment, Nanos, Virtual};
use workload::{HANDLES, Reason};

use crate::cache::BufferId;
use crate::cpu::Cause;
use crate::drive::Activity;
use crate::namespace::FileId;

/// What a process wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// The processor, for what takes a VAX-11/780 so long.
    Spend(Cause, Nanos),
    /// To sleep until something has happened.
    Sleep(Channel),
    /// Nothing more: the call returns.
    Return(Result<u32, Reason>),
}

/// What a process sleeps on. Who sleeps on the same is woken in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The data of that buffer.
    Buffer(BufferId),
    /// Any buffer that becomes free.
    AnyBuffer,
}

/// One process.
#[derive(Debug)]
pub(crate) struct Proc {
    pub(crate) drive: usize,
    pub(crate) call: Call,
    /// Whether it is in that call.
    pub(crate) in_call: bool,
    /// The block that it read last: who reads the one after it reads on.
    pub(crate) last_read: Option<(FileId, u32)>,
    /// Whether writes to each handle wait for the drive.
    pub(crate) durable: [bool; HANDLES],
    /// Since when it sleeps, and what its drive had spent its time on then.
    pub(crate) asleep: Option<(Moment<Virtual>, [Nanos; Activity::COUNT])>,
    /// Since when it pauses of its own will.
    pub(crate) paused: Option<Moment<Virtual>>,
    /// What it slept through, by what its drive did meanwhile.
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
