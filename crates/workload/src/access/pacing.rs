//! What comes between the ops of a stream's body: intended starts, pauses, syncs. Most streams have nothing of it, and
//! pay for it with one comparison.

use units::Nanos;

use super::schedule::Pace;
use crate::body::Body;
use crate::op::{Handle, Op, OpKind};
use crate::step::Step;

/// What comes between the ops of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Between {
    pub(crate) pace: Option<Pace>,
    pub(crate) think: Option<Think>,
    pub(crate) syncs: Option<Syncs>,
    /// When the schedule ends, where it does.
    pub(crate) ends: Option<Nanos>,
    /// The op that comes next: its start was told, or the pause before it.
    due: Option<Op>,
}

/// A pause before every unit of work but the first.
#[derive(Clone, Debug)]
pub(crate) struct Think {
    span: Nanos,
    /// How many ops belong to a unit, and how many of the last are still to come.
    ops: u32,
    left: u32,
    has_begun: bool,
}

/// A sync after so many writes.
#[derive(Clone, Debug)]
pub(crate) struct Syncs {
    handle: Handle,
    every: u32,
    since: u32,
}

impl Think {
    /// So long, before every so many ops.
    pub(crate) fn new(span: Nanos, ops: u32) -> Think {
        Think { span, ops, left: 0, has_begun: false }
    }

    fn before(&mut self) -> Option<Nanos> {
        if self.left > 0 {
            self.left -= 1;
            return None;
        }
        self.left = self.ops - 1;
        core::mem::replace(&mut self.has_begun, true).then_some(self.span)
    }
}

impl Syncs {
    /// After so many writes to a file.
    pub(crate) fn new(handle: Handle, every: u32) -> Syncs {
        Syncs { handle, every, since: 0 }
    }
}

impl Between {
    /// The next step, or nothing where the body has come to its end:
    ///   1. what was announced;
    ///   2. a sync that so many writes are due for, which belongs to the unit before it;
    ///   3. the next op of the body, or before it its intended start or a pause; what was to start when the schedule
    ///      has ended never does, and the body ends then, not before.
    #[inline(never)]
    pub(crate) fn next(&mut self, body: &mut Body) -> Option<Step> {
        // 1
        if let Some(op) = self.due.take() {
            return Some(self.counted(op));
        }
        // 2
        if let Some(syncs) = &mut self.syncs
            && syncs.since >= syncs.every
        {
            syncs.since = 0;
            return Some(Step::Op(Op::Fsync { handle: syncs.handle }));
        }
        // 3
        let op = body.next()?;
        let start = self.pace.as_mut().and_then(Pace::start);
        if let (Some(start), Some(end)) = (start, self.ends)
            && start >= end
        {
            *body = Body::Empty;
            return Some(Step::At(end));
        }
        let before = start.map(Step::At).or_else(|| self.think.as_mut()?.before().map(Step::Think));
        if before.is_some() {
            self.due = Some(op);
            return before;
        }
        Some(self.counted(op))
    }

    fn counted(&mut self, op: Op) -> Step {
        if let Some(syncs) = &mut self.syncs {
            syncs.since += u32::from(matches!(op.kind(), OpKind::Write | OpKind::WriteAt));
        }
        Step::Op(op)
    }
}
