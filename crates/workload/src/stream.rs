//! A program's steps, made one at a time as the world pulls them.

use alloc::vec;
use alloc::vec::Vec;

use units::Nanos;

use crate::body::Body;
use crate::op::Op;

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

/// Where a program's steps come from.
pub trait Steps: Iterator<Item = Step> {
    /// Takes out steps that come next and are this op, and says how many: all of them, some, or none. A
    /// world that does one call after the other need not ask for each; other worlds never call this, and
    /// `next` gives them every step.
    fn again(&mut self, _: &Op) -> u64 {
        0
    }

    /// Leaves out what is left of the middle; what ends the stream still comes.
    fn curtail(&mut self);
}

/// A stream of steps: a few ops to begin with, a body of many, a few ops to end with. Cloning one starts
/// it over, so a phase keeps its stream and every round runs a copy.
#[derive(Clone, Debug)]
pub struct Stream {
    opening: vec::IntoIter<Op>,
    body: Body,
    closing: vec::IntoIter<Op>,
}

impl Stream {
    /// No steps at all.
    pub fn empty() -> Stream {
        Stream::of(Vec::new())
    }

    /// Just these ops.
    pub fn of(ops: Vec<Op>) -> Stream {
        Stream { opening: ops.into_iter(), body: Body::Empty, closing: Vec::new().into_iter() }
    }

    /// These ops, then the body.
    pub fn open(opening: Vec<Op>, body: Body) -> Stream {
        Stream { opening: opening.into_iter(), body, closing: Vec::new().into_iter() }
    }

    /// And these ops at the end.
    pub fn then(mut self, closing: Vec<Op>) -> Stream {
        self.closing = closing.into_iter();
        self
    }

    /// Moves places that are drawn at random on to those of a later round.
    pub(crate) fn skip_rounds(&mut self, rounds: u32) {
        if let Body::Places(places) = &mut self.body {
            places.skip_rounds(rounds);
        }
    }

    /// The bytes of the calls into which it cuts what it writes to a file, but for the last; nothing where it
    /// writes nothing of its own, or each file in one call. What a copy writes, it has read before.
    pub fn cuts(&self) -> Option<u32> {
        self.body.cuts()
    }

    /// Whether no step is left.
    pub fn is_empty(&self) -> bool {
        self.clone().next().is_none()
    }
}

impl Iterator for Stream {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        if let Some(op) = self.opening.next() {
            return Some(Step::Op(op));
        }
        let op = match self.body.next() {
            Some(op) => op,
            None => self.closing.next()?,
        };
        Some(Step::Op(op))
    }
}

impl Steps for Stream {
    #[inline]
    fn again(&mut self, op: &Op) -> u64 {
        match &mut self.body {
            Body::Calls { call, left } if call == op && self.opening.as_slice().is_empty() => core::mem::take(left),
            _ => 0,
        }
    }

    #[cold]
    fn curtail(&mut self) {
        self.body = Body::Empty;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Access, Handle, Mode, Name};

    #[test]
    fn what_is_taken_at_once_is_what_would_have_come() {
        let call = Op::Read { handle: Handle(0), length: 8192 };
        let opening = Op::Open { name: Name::root(0), handle: Handle(0), access: Access::Read, mode: Mode::default() };
        // The opening ends with the body's own call, which must not be taken twice.
        let stream = Stream::open(vec![opening, call], Body::Calls { call, left: 3 }).then(vec![call]);
        let one_by_one: Vec<Step> = stream.clone().collect();
        let mut taken = Vec::new();
        let mut rest = stream;
        while let Some(step) = rest.next() {
            let Step::Op(op) = step else { panic!("not an op") };
            let times = 1 + rest.again(&op);
            taken.extend((0..times).map(|_| step));
        }
        assert_eq!(taken, one_by_one);
        assert_eq!(taken.len(), 6);
    }

    #[test]
    fn a_curtailed_stream_still_ends_as_it_should() {
        let call = Op::Read { handle: Handle(0), length: 8192 };
        let end = Op::Close { handle: Handle(0) };
        let mut stream = Stream::open(Vec::new(), Body::Calls { call, left: 3 }).then(vec![end]);
        assert_eq!(stream.next(), Some(Step::Op(call)));
        stream.curtail();
        assert_eq!((stream.next(), stream.next()), (Some(Step::Op(end)), None));
    }

    #[test]
    fn another_op_takes_nothing() {
        let call = Op::Read { handle: Handle(0), length: 8192 };
        let mut stream = Stream::open(Vec::new(), Body::Calls { call, left: 3 });
        assert_eq!(stream.again(&Op::Read { handle: Handle(1), length: 8192 }), 0);
        assert_eq!((stream.again(&call), stream.next()), (3, None));
    }
}
