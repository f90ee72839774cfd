//! Records the longest time between two completed operations, besides everything that [`Timed`] records. A device that
//! works steadily completes operations at equal distances, however many are in flight. A throttle completes them in
//! groups.

use units::{Moment, Nanos};
use workload::{Op, OpKind, Reason, Recorder};

use crate::recorder::Timed;

/// A recorder of gaps.
pub(crate) struct Gaps<C> {
    pub(crate) timed: Timed<C>,
    last: Option<Moment<C>>,
    longest: Option<Nanos>,
}

impl<C> Gaps<C> {
    pub(crate) fn new(timed: Timed<C>) -> Gaps<C> {
        Gaps { timed, last: None, longest: None }
    }

    /// The longest gap; `None` for fewer than two operations.
    pub(crate) fn longest(&self) -> Option<Nanos> {
        self.longest
    }
}

impl<C> Recorder<C> for Gaps<C> {
    const TIMED: bool = true;

    fn begin(&mut self, began: Moment<C>) {
        self.timed.begin(began);
    }

    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        self.timed.record(op, issued, returned, outcome);
        if op.kind() != OpKind::Open {
            let gap = self.last.map(|last| returned.since(last));
            self.longest = self.longest.max(gap);
            self.last = Some(returned);
        }
    }

    fn has_enough(&self) -> bool {
        self.timed.has_enough()
    }

    fn ends_pauses(&self) -> bool {
        Recorder::<C>::ends_pauses(&self.timed)
    }
}

#[cfg(test)]
mod tests {
    use workload::{Handle, Unit};

    use super::*;

    #[test]
    fn gaps_begin_with_the_first_completed_operation() {
        let at = |nanos| Moment::<()>::from_zero(Nanos(nanos));
        let read = Op::Read { handle: Handle::new(0), length: 1 };
        let mut gaps = Gaps::new(Timed::new(Unit::from_kind(OpKind::Read)));
        gaps.begin(at(0));
        let mut longest = Vec::new();
        // The first took long, and the third and the fourth completed at once.
        for (issued, returned) in [(0, 900), (0, 910), (900, 1000), (910, 1000), (1000, 1020)] {
            gaps.record(&read, at(issued), at(returned), Ok(1));
            longest.push(gaps.longest().map(|gap| gap.0));
        }
        assert_eq!(longest, [None, Some(10), Some(90), Some(90), Some(90)]);
    }
}
