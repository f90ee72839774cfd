//! The engine of simulated time: events in the order of their moments, and of their scheduling if the moments are
//! equal. Random numbers and the timeline belong to it, too.

mod calendar;
mod event;

use units::{Moment, Nanos, Prng, Virtual};

pub(crate) use calendar::{Calendar, Coded, Happened};
pub(crate) use event::{Event, Handler};

use crate::timeline::Timeline;

/// Simulated time, random numbers, and the timeline.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) calendar: Calendar<Event>,
    pub(crate) prng: Prng,
    pub(crate) timeline: Timeline,
}

impl Engine {
    pub(crate) fn new(seed: u64) -> Engine {
        Engine { calendar: Calendar::new(), prng: Prng::new(seed), timeline: Timeline::default() }
    }

    pub(crate) fn now(&self) -> Moment<Virtual> {
        self.calendar.now()
    }

    /// Returns `span` plus or minus a random deviation of at most `permille` thousandths.
    #[inline]
    pub(crate) fn jittered(&mut self, span: Nanos, permille: u32) -> Nanos {
        if permille == 0 {
            return span;
        }
        let permille = u64::from(permille);
        Nanos(span.0 * (1000 - permille + self.prng.below(2 * permille + 1)) / 1000)
    }
}
