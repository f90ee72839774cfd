//! The steps of a program, and how it issues them.

use units::Nanos;

use crate::op::{Op, Place};

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Ask this of the file system.
    Op(Op),
    /// Do something else for so long.
    Think(Nanos),
    /// Wait until so long after the stream began: the intended start of what follows.
    At(Nanos),
}

/// How a program issues its ops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Issue {
    /// One call after the other.
    #[default]
    InTurn,
    /// One after the other, reads and writes at places as copies from and to memory that the file is mapped into. A
    /// world without such memory does them as calls.
    Mapped,
    /// Several at once, where the world can do that.
    Overlapping(Overlap),
    /// Not at all: each counts as done at once, which tells what issuing them costs. The world stays as it is.
    Nowhere,
}

/// What of a program is under way at once: reads and writes at places of their own. All else waits until nothing
/// is, and nothing begins before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// How many, at most.
    pub depth: u32,
    /// Bytes of the largest.
    pub largest: u32,
    /// Whether there are writes among them.
    pub writes: bool,
    /// Whether a thread of the kernel looks for what is to be begun, so that the program need not say so.
    pub polled: bool,
}

/// Where a program's steps come from.
pub trait Steps: Iterator<Item = Step> {
    /// How they are to be issued.
    fn issue(&self) -> Issue {
        Issue::InTurn
    }

    /// Whether a schedule says when they begin.
    fn is_paced(&self) -> bool {
        false
    }

    /// Whether it has pauses.
    fn pauses(&self) -> bool {
        false
    }

    /// Takes out steps that come next and are this op, and says how many: all of them, some, or none. A
    /// world that does one call after the other need not ask for each; other worlds never call this, and
    /// `next` gives them every step.
    fn again(&mut self, _: &Op) -> u64 {
        0
    }

    /// Takes out the step that comes next where it is a read or a write at a place of its own, and may begin at once.
    /// An offer like the one above: a world that takes it need not look which op it is.
    fn place(&mut self) -> Option<Place> {
        None
    }

    /// Leaves out what is left of the middle; what ends the stream still comes.
    fn curtail(&mut self);
}
