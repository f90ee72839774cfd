//! The trait through which a world reports each op, and its simplest implementation.

use serde::{Deserialize, Serialize};
use units::Moment;

use crate::failure::{Failure, Reason};
use crate::op::{Op, OpKind};

/// Receives the ops of one program: a world calls it for every op, in order of completion. Generic, so that it is
/// compiled into the world's loop.
pub trait Recorder<C> {
    /// True if each op is to be timed. If false, a world need not read a clock per op, and both moments that `record`
    /// receives may be the start of the stream.
    const TIMED: bool;

    /// Reports the moment before the first op at which the streams of all programs began.
    fn begin(&mut self, _: Moment<C>) {}

    /// Reports that `op` completed or failed. `issued` is the start, or the intended start if there is a schedule.
    /// `outcome` is the number of bytes moved. Ops that were in flight together are reported in order of completion.
    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>);

    /// Returns whether the program has done enough although its stream has more steps. The world asks after every op.
    /// On true, it curtails the stream.
    #[inline]
    fn has_enough(&self) -> bool {
        false
    }

    /// Returns whether the program shall end before its next op. The world asks only while it waits for the start of
    /// an op or for the end of a pause. On true, it curtails the stream.
    fn ends_pauses(&self) -> bool {
        false
    }
}

/// Counts ops and bytes, keeps the first failure, and times nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The number of completed ops, by kind.
    pub ops: [u64; OpKind::COUNT],
    /// Bytes that flowed from files to the program.
    pub bytes_read: u64,
    /// Bytes that flowed from the program to files.
    pub bytes_written: u64,
    /// The first op that failed; the world stops the stream there. Not stored, because a failed execution is not a
    /// finished one.
    #[serde(skip)]
    pub failure: Option<Failure>,
}

impl Tally {
    /// The number of completed ops of one kind.
    pub fn count(&self, kind: OpKind) -> u64 {
        self.ops[kind as usize]
    }

    /// Adds the tally of another stream of the same program.
    pub fn add(&mut self, other: &Tally) {
        for (mine, theirs) in self.ops.iter_mut().zip(other.ops) {
            *mine += theirs;
        }
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
        self.failure = self.failure.or(other.failure);
    }
}

impl<C> Recorder<C> for Tally {
    const TIMED: bool = false;

    #[inline]
    fn record(&mut self, op: &Op, _: Moment<C>, _: Moment<C>, outcome: Result<u32, Reason>) {
        match outcome {
            Ok(moved) => {
                let kind = op.kind();
                self.ops[kind as usize] += 1;
                if kind.reads() {
                    self.bytes_read += u64::from(moved);
                } else {
                    self.bytes_written += u64::from(moved);
                }
            }
            Err(reason) => self.failure = self.failure.or(Some(Failure { op: *op, reason })),
        }
    }
}
