//! Steps between the ops of a stream's body: intended starts and pauses. Most streams have none, and then pay one
//! comparison per op.

use units::Nanos;

use super::schedule::Pace;
use crate::op::Op;
use crate::step::Step;
use crate::stream_body::Body;

/// The steps between the ops of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacing {
    pub(crate) pace: Option<Pace>,
    /// The schedule of the writes, if `pace` is only that of the reads.
    pub(crate) writes: Option<Pace>,
    pub(crate) think: Option<Think>,
    /// The time from the start of the stream to the start of the schedule.
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

impl Pacing {
    /// Its schedules.
    pub(crate) fn paces(&mut self) -> impl Iterator<Item = &mut Pace> {
        self.pace.iter_mut().chain(&mut self.writes)
    }

    /// The next op, and its intended start if there is a schedule. With two schedules, the one with the earlier start
    /// decides whether the op reads or writes, like `rate_iops=a,b` in fio.
    fn scheduled(&mut self, body: &mut Body) -> Option<(Op, Option<Nanos>)> {
        let op = body.next()?;
        Some(match (&mut self.pace, &mut self.writes) {
            (Some(reads), Some(writes)) => match writes.is_before(reads) {
                true => (op.directed(true), writes.start()),
                false => (op.directed(false), reads.start()),
            },
            (pace, _) => (op, pace.as_mut().and_then(Pace::start)),
        })
    }

    /// The pauses before this number of units. Zero without pauses.
    pub(crate) fn paused(&self, units: u64) -> Nanos {
        let Some(Think { span, burst, .. }) = self.think else { return Nanos::ZERO };
        Nanos(span.0.saturating_mul(units.saturating_sub(1) / u64::from(burst)))
    }

    /// The next step, or `None` if the body has ended:
    ///   1. the op whose intended start or pause was returned before;
    ///   2. the next op of the body. If it has an intended start or a pause, that step comes first. If its intended
    ///      start is not before the end of the schedule, the body ends: at the end of the schedule, not earlier.
    #[inline(never)]
    pub(crate) fn next(&mut self, body: &mut Body) -> Option<Step> {
        // 1
        if let Some(op) = self.due.take() {
            return Some(Step::Op(op));
        }
        // 2
        let (op, start) = self.scheduled(body)?;
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
        Some(Step::Op(op))
    }
}
