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
