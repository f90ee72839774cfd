//! The steps of a program, and the ways to issue them.

use units::Nanos;

use crate::op::{Op, PositionedIo};

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// An operation on the file system.
    Op(Op),
    /// A pause: the program does no I/O for this time.
    Think(Nanos),
    /// Wait until this time since the stream began: the intended start of the next op.
    At(Nanos),
}

/// The way in which a program issues its ops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Issue {
    /// Synchronous calls, one at a time.
    #[default]
    Sync,
    /// Synchronous, with positioned reads and writes as copies from and to a mapping of the file. A world without
    /// mappings performs them as calls.
    Mapped,
    /// Several in flight, if the world can do that.
    Async(Overlap),
    /// Not issued: each op counts as completed at once, which measures the cost of issuing. The world does not change.
    Null,
}

/// Overlapped I/O: positioned reads and writes may be in flight together. Any other op waits until nothing is in
/// flight, and the next op waits until it has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// The queue depth: the maximum number in flight.
    pub depth: u32,
    /// Bytes of the largest one.
    pub largest: u32,
    /// True if some of them are writes.
    pub writes: bool,
    /// True if a kernel thread polls for new requests, so that the program makes no system call to submit them.
    pub polled: bool,
}

/// The source of a program's steps.
pub trait Steps: Iterator<Item = Step> {
    /// The way in which the steps are to be issued.
    fn issue(&self) -> Issue {
        Issue::Sync
    }

    /// Returns whether a schedule gives the steps intended starts.
    fn is_paced(&self) -> bool {
        false
    }

    /// Returns whether the steps include pauses.
    fn pauses(&self) -> bool {
        false
    }

    /// Takes out the next steps if they are equal to this op, and returns their number: all, some, or none of them.
    /// This saves a synchronous world one call per step. Other worlds never call it, and get every step from `next`.
    fn take_repeats(&mut self, _: &Op) -> u64 {
        0
    }

    /// Takes out the next step if it is a positioned read or write that may start at once. An optimization like
    /// `take_repeats`: the world need not match on the kind of op.
    fn next_positioned(&mut self) -> Option<PositionedIo> {
        None
    }

    /// Drops the rest of the body. The closing ops still come.
    fn curtail(&mut self);
}
