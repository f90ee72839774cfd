//! The calendar of events, ordered by moment and then by sequence number, so that the order is total.
//!
//! Reading the clock changes nothing; the clock moves only when the next event is taken. Scheduling an event in the
//! past is an error of the model and panics.

use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};

/// An event with a number that identifies it in the hash.
pub(crate) trait Coded: Copy {
    /// The event that can be put off: the end of the processor's current work.
    const MOVABLE: Self;

    fn code(self) -> u64;
}

/// Future events, and the current moment.
#[derive(Debug)]
pub(crate) struct Calendar<E> {
    now: Moment<Virtual>,
    sequence: u64,
    /// The next event. Its moment is [`NEVER`] if there is none.
    first: Entry<E>,
    /// The events after it, the next one last. There are only a few: one for the clock, two or three for each drive,
    /// one for each paused process. For so few, a sorted vector is faster than a heap.
    later: Vec<Entry<E>>,
    /// When the end of the processor's current work comes, and its sequence number: the one event that is rescheduled
    /// and canceled all the time. The moment is [`NEVER`] if there is none.
    movable: (Moment<Virtual>, u64),
    hash: u64,
    happened: u64,
}

/// The moment of an event that does not happen. A comparison with it is cheaper than one with an option.
const NEVER: Moment<Virtual> = Moment::from_zero(Nanos(u64::MAX));

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    moment: Moment<Virtual>,
    sequence: u64,
    event: E,
}

impl<E: Coded> Calendar<E> {
    pub(crate) fn new() -> Calendar<E> {
        Calendar {
            now: Moment::ZERO,
            sequence: 0,
            first: Entry { moment: NEVER, sequence: u64::MAX, event: E::MOVABLE },
            later: Vec::with_capacity(16),
            movable: (NEVER, u64::MAX),
            hash: 0xcbf2_9ce4_8422_2325,
            happened: 0,
        }
    }

    pub(crate) fn now(&self) -> Moment<Virtual> {
        self.now
    }

    /// Hash of all events so far and their moments. Identical runs have the same hash.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Number of events so far.
    pub(crate) fn happened(&self) -> u64 {
        self.happened
    }

    /// Schedules an event after `delay`.
    pub(crate) fn schedule_after(&mut self, delay: Nanos, event: E) {
        self.schedule_at(self.now + delay, event);
    }

    /// Schedules an event at `moment`.
    #[inline]
    pub(crate) fn schedule_at(&mut self, moment: Moment<Virtual>, event: E) {
        assert!(moment >= self.now, "an event in the past: {moment:?} at {:?}", self.now);
        self.sequence += 1;
        let entry = Entry { moment, sequence: self.sequence, event };
        // Events of the same moment stay in the order of their scheduling.
        if moment < self.first.moment {
            self.later.push(core::mem::replace(&mut self.first, entry));
            return;
        }
        self.later.push(entry);
        let mut place = self.later.len() - 1;
        while place > 0 && self.later[place - 1].moment <= moment {
            self.later[place] = self.later[place - 1];
            place -= 1;
        }
        self.later[place] = entry;
    }

    /// Schedules the movable event after `delay`, instead of its previous moment.
    #[inline]
    pub(crate) fn put_off(&mut self, delay: Nanos) {
        self.sequence += 1;
        self.movable = (self.now + delay, self.sequence);
    }

    /// Cancels the movable event.
    #[inline]
    pub(crate) fn take_back(&mut self) {
        self.movable.0 = NEVER;
    }

    /// Advances the clock to the next event, and removes the event.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<E> {
        let movable = self.movable;
        let Entry { moment, sequence, event } = self.first;
        if moment < movable.0 || (moment == movable.0 && sequence < movable.1) {
            // The last one does not happen: it was the first when no event was scheduled.
            self.first = self.later.pop().expect("an event that does not happen");
            self.happen(moment, event);
            return Some(event);
        }
        if movable.0 == NEVER {
            return None;
        }
        self.movable.0 = NEVER;
        self.happen(movable.0, E::MOVABLE);
        Some(E::MOVABLE)
    }

    /// Schedules an event and takes it at once, without storing it, if it is the next one. Returns whether it was.
    /// Events already scheduled for the same moment come first.
    #[inline]
    pub(crate) fn happens_next(&mut self, delay: Nanos, event: E) -> bool {
        let moment = self.now + delay;
        if self.movable.0 <= moment || self.first.moment <= moment {
            return false;
        }
        self.sequence += 1;
        self.happen(moment, event);
        true
    }

    /// Schedules an event, takes it at once, and delays the movable event by the same time. Returns false and changes
    /// nothing if another event comes before. Equivalent to `take_back`, `happens_next` and `put_off`.
    #[inline]
    pub(crate) fn delay_movable(&mut self, delay: Nanos, event: E) -> bool {
        let moment = self.now + delay;
        if self.first.moment <= moment {
            return false;
        }
        self.sequence += 1;
        if self.movable.0 != NEVER {
            self.movable = (self.movable.0 + delay, self.sequence);
        }
        self.happen(moment, event);
        true
    }

    #[inline]
    fn happen(&mut self, moment: Moment<Virtual>, event: E) {
        self.now = moment;
        self.happened += 1;
        let nanos = moment.since_zero().0;
        self.hash = (self.hash ^ nanos).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23) ^ event.code();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Coded for u64 {
        const MOVABLE: u64 = 3;

        fn code(self) -> u64 {
            self
        }
    }

    #[test]
    fn events_happen_in_order_of_time_then_of_request() {
        let mut calendar = Calendar::new();
        for (delay, event) in [(5, 1), (3, 2), (5, 3), (0, 4)] {
            calendar.schedule_after(Nanos(delay), event);
        }
        let order: Vec<(u64, u64)> =
            core::iter::from_fn(|| calendar.next().map(|event| (event, calendar.now().since_zero().0))).collect();
        assert_eq!(order, [(4, 0), (2, 3), (1, 5), (3, 5)]);
    }

    #[test]
    fn postponed_events_come_in_their_new_order() {
        let mut calendar = Calendar::new();
        calendar.put_off(Nanos(1));
        calendar.schedule_after(Nanos(2), 2);
        calendar.put_off(Nanos(2));
        calendar.schedule_after(Nanos(2), 4);
        let order: Vec<u64> = core::iter::from_fn(|| calendar.next()).collect();
        assert_eq!(order, [2, 3, 4]);
    }

    #[test]
    fn cancelled_events_do_not_happen() {
        let mut calendar = Calendar::new();
        calendar.put_off(Nanos(1));
        calendar.schedule_after(Nanos(2), 2);
        calendar.take_back();
        assert_eq!((calendar.next(), calendar.next()), (Some(2), None));
    }

    #[test]
    fn the_shortcut_gives_the_same_state_as_the_queue() {
        for (delay, short) in [(4, true), (5, false), (6, false)] {
            let mut long = Calendar::new();
            long.schedule_after(Nanos(5), 1);
            let mut cut = Calendar::new();
            cut.schedule_after(Nanos(5), 1);
            long.schedule_after(Nanos(delay), 2);
            assert_eq!(cut.happens_next(Nanos(delay), 2), short);
            if short {
                assert_eq!(long.next(), Some(2));
                assert_eq!((long.now(), long.hash(), long.happened()), (cut.now(), cut.hash(), cut.happened()));
            }
        }
    }

    #[test]
    fn a_delay_gives_the_same_state_as_its_parts() {
        let calendar = || {
            let mut calendar = Calendar::new();
            calendar.schedule_after(Nanos(9), 1);
            calendar.put_off(Nanos(4));
            calendar
        };
        let (mut parts, mut whole) = (calendar(), calendar());
        parts.take_back();
        assert!(parts.happens_next(Nanos(5), 2));
        parts.put_off(Nanos(4));
        assert!(!whole.delay_movable(Nanos(9), 2) && whole.delay_movable(Nanos(5), 2));
        let rest = |mut calendar: Calendar<u64>| (calendar.hash(), [(); 3].map(|()| calendar.next()), calendar.hash());
        // The movable event comes after the one that was scheduled before for the same moment.
        assert_eq!(rest(whole), rest(parts));
    }

    #[test]
    fn the_hash_depends_on_times_and_events() {
        let hash = |events: &[(u64, u64)]| {
            let mut calendar = Calendar::new();
            for &(delay, event) in events {
                calendar.schedule_after(Nanos(delay), event);
            }
            while calendar.next().is_some() {}
            calendar.hash()
        };
        assert_eq!(hash(&[(1, 1), (2, 2)]), hash(&[(2, 2), (1, 1)]));
        assert_ne!(hash(&[(1, 1), (2, 2)]), hash(&[(1, 2), (2, 1)]));
        assert_ne!(hash(&[(1, 1)]), hash(&[(2, 1)]));
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn events_in_the_past_panic() {
        let mut calendar = Calendar::new();
        calendar.schedule_after(Nanos(5), 1);
        calendar.next();
        calendar.schedule_at(Moment::from_zero(Nanos(4)), 2);
    }
}
