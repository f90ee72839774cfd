//! What a world reports of each op, and the plainest listener.

use serde::{Deserialize, Serialize};
use units::Moment;

use crate::failure::{Failure, Reason};
use crate::op::{Op, OpKind};

/// Listens to one program: a world calls it for every op, in order. Generic, so that it is compiled into
/// the world's loop.
pub trait Recorder<C> {
    /// Whether each op is to be timed. Where not, a world need not read a clock per op, and the moments that
    /// `record` sees may both be the one at which the stream began.
    const TIMED: bool;

    /// The stream began then, as those of all programs at once did: before its first op.
    fn begin(&mut self, _: Moment<C>) {}

    /// The world did `op`, or failed to: when it was issued, or was to be where a schedule said when; when it returned;
    /// the bytes it moved. Ops that were under way at once come in the order in which they returned.
    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>);

    /// Whether the program has done enough, though its stream has more. Asked after every op; the world then
    /// has the stream come to its end.
    #[inline]
    fn has_enough(&self) -> bool {
        false
    }
}

/// Counts ops and bytes, keeps the first failure, times nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many ops of each kind were done.
    pub ops: [u64; OpKind::COUNT],
    /// Bytes that flowed from files to the program.
    pub bytes_read: u64,
    /// Bytes that flowed from the program to files.
    pub bytes_written: u64,
    /// The first op that failed; the world stops the stream there. Not stored: what failed is not finished.
    #[serde(skip)]
    pub failure: Option<Failure>,
}

impl Tally {
    /// Ops of one kind that were done.
    pub fn count(&self, kind: OpKind) -> u64 {
        self.ops[kind as usize]
    }

    /// Adds what another stream of the same program did.
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
