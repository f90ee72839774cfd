//! Steps between the ops of a stream's body: intended starts, pauses, syncs. Most streams have none, and then pay one
//! comparison per op.

use units::Nanos;

use super::schedule::Pace;
use crate::op::{Op, OpKind};
use crate::step::Step;
use crate::stream_body::Body;

/// The steps between the ops of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacing {
    pub(crate) pace: Option<Pace>,
    pub(crate) think: Option<Think>,
    pub(crate) syncs: Option<Syncs>,
    /// The time from the start of the stream to that of the schedule.
    pub(crate) delay: Nanos,
    /// The time at which the schedule ends, if it is limited.
    pub(crate) ends: Option<Nanos>,
    /// The next op. Its intended start or the pause before it has already been returned.
    due: Option<Op>,
}

/// A pause before every burst of units of work except for the first.
#[derive(Clone, Debug)]
pub(crate) struct Think {
    span: Nanos,
    /// The number of units in a burst.
    burst: u32,
    /// The number of ops in a burst, and the number left of the current one.
    ops: u32,
    left: u32,
    has_begun: bool,
}

/// A sync after every `every` writes.
#[derive(Clone, Debug)]
pub(crate) struct Syncs {
    sync: Op,
    every: u32,
    since: u32,
}

impl Think {
    /// A pause of `span` before every `burst` units of `ops` ops each.
    pub(crate) fn new(span: Nanos, ops: u32, burst: u32) -> Think {
        Think { span, burst, ops: ops.saturating_mul(burst), left: 0, has_begun: false }
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
    /// This sync after every `every` writes.
    pub(crate) fn new(sync: Op, every: u32) -> Syncs {
        Syncs { sync, every, since: 0 }
    }

    /// The kind of the sync.
    pub(crate) fn kind(&self) -> OpKind {
        self.sync.kind()
    }
}

impl Pacing {
    /// The pauses before this number of units. Zero without pauses.
    pub(crate) fn paused(&self, units: u64) -> Nanos {
        let Some(Think { span, burst, .. }) = self.think else { return Nanos::ZERO };
        Nanos(span.0.saturating_mul(units.saturating_sub(1) / u64::from(burst)))
    }

    /// The next step, or `None` if the body has ended:
    ///   1. the op whose start or pause was returned before;
    ///   2. a sync that is due. It belongs to the unit before it;
    ///   3. the next op of the body, or first its intended start or a pause. If its start is not before the end of the
    ///      schedule, the body ends, at that end and not earlier.
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
            return Some(Step::Op(syncs.sync));
        }
        // 3
        let op = body.next()?;
        let start = self.pace.as_mut().and_then(Pace::start);
        if let (Some(start), Some(end)) = (start, self.ends)
            && start >= end
        {
            *body = Body::Empty;
            return Some(Step::At(self.delay + end));
        }
        let before =
            start.map(|start| Step::At(self.delay + start)).or_else(|| self.think.as_mut()?.before().map(Step::Think));
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
