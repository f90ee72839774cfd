//! Listens to a program and times its units of work.

use stats::Latencies;
use units::{Moment, Nanos};
use workload::{Op, Reason, Recorder, Tally, Unit};

/// Counts like a [`Tally`], and keeps how long each unit of work took.
pub struct Timed<C> {
    /// What was done.
    pub tally: Tally,
    /// How long each unit took.
    pub latencies: Latencies,
    unit: Unit,
    began: Option<Moment<C>>,
    /// After which time no unit is to begin, and when the first op was issued.
    within: Option<Nanos>,
    since: Option<Moment<C>>,
    has_enough: bool,
}

impl<C> Timed<C> {
    /// Times units of this kind.
    pub fn new(unit: Unit) -> Timed<C> {
        Timed {
            tally: Tally::default(),
            latencies: Latencies::default(),
            unit,
            began: None,
            within: None,
            since: None,
            has_enough: false,
        }
    }

    /// Has enough once a unit has ended and so much time is over; where a time is given.
    pub fn within(self, time: Option<Nanos>) -> Timed<C> {
        Timed { within: time, ..self }
    }
}

impl<C> Recorder<C> for Timed<C> {
    const TIMED: bool = true;

    #[inline]
    fn record(&mut self, op: &Op, issued: Moment<C>, returned: Moment<C>, outcome: Result<u32, Reason>) {
        Recorder::<C>::record(&mut self.tally, op, issued, returned, outcome);
        let kind = op.kind();
        if self.began.is_none() && kind == self.unit.first {
            self.began = Some(issued);
        }
        if kind == self.unit.last
            && let Some(began) = self.began.take()
        {
            self.latencies.record(returned.since(began));
            if let Some(time) = self.within {
                self.has_enough = returned.since(*self.since.get_or_insert(began)) >= time;
            }
        }
    }

    #[inline]
    fn has_enough(&self) -> bool {
        self.has_enough
    }
}
