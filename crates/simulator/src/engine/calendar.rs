//! The calendar of events, ordered by moment and then by sequence number, so that the order is total.
//!
//! Reading the clock changes nothing; the clock moves only when the next event is taken. Scheduling an event in the
//! past is an error of the model and panics.

use alloc::vec::Vec;

use units::{Moment, Nanos, Virtual};

/// An event that the list can contain, with a number that identifies it in the hash.
pub(crate) trait Coded: Copy {
    /// A placeholder for the event in an entry that never happens.
    const NEVER: Self;
    /// The number of the movable event, and that of the periodic one.
    const MOVABLE: u64;
    const PERIODIC: u64;

    fn code(self) -> u64;
}

/// An event that has happened. Its tag is a byte of its own, which is cheaper to look at than a value that no field can
/// have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Happened<E> {
    /// The movable event: the processor's current work has ended.
    Movable,
    /// The periodic event: the clock ticks.
    Periodic,
    /// An event of the list.
    Listed(E),
}

/// Future events, and the current moment.
#[derive(Debug)]
pub(crate) struct Calendar<E> {
    now: Moment<Virtual>,
    sequence: u64,
    /// The next event of the list. Its moment is [`NEVER`] if there is none.
    first: Entry<E>,
    /// The events after it, the next one last. There are only a few: two or three for each drive, one for each paused
    /// process. For so few, a sorted vector is faster than a heap.
    later: Vec<Entry<E>>,
    /// When the end of the processor's current work comes, and its sequence number: the one event that is rescheduled
    /// and canceled all the time. The moment is [`NEVER`] if there is none.
    movable: Turn,
    /// When the clock ticks. In the list, this event would come after most others, and take the longest search.
    periodic: Turn,
    hash: u64,
    happened: u64,
}

/// The moment of an event that never happens. Comparing it is cheaper than comparing an option.
const NEVER: Moment<Virtual> = Moment::from_zero(Nanos(u64::MAX));

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    turn: Turn,
    event: E,
}

/// The moment of an event, and the sequence number of its scheduling. Events of the same moment stay in that order.
#[derive(Clone, Copy, Debug)]
struct Turn {
    moment: Moment<Virtual>,
    sequence: u64,
}

impl Turn {
    const NEVER: Turn = Turn { moment: NEVER, sequence: u64::MAX };

    /// A single comparison is faster than two: usually the moments differ.
    #[inline(always)]
    fn is_before(self, other: Turn) -> bool {
        let key = |turn: Turn| u128::from(turn.moment.since_zero().0) << u64::BITS | u128::from(turn.sequence);
        key(self) < key(other)
    }
}

impl<E: Coded> Calendar<E> {
    pub(crate) fn new() -> Calendar<E> {
        Calendar {
            now: Moment::ZERO,
            sequence: 0,
            first: Entry { turn: Turn::NEVER, event: E::NEVER },
            later: Vec::with_capacity(16),
            movable: Turn::NEVER,
            periodic: Turn::NEVER,
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
        if moment < self.now {
            in_the_past(moment, self.now);
        }
        let entry = Entry { turn: self.turn(moment), event };
        if moment < self.first.turn.moment {
            self.later.push(core::mem::replace(&mut self.first, entry));
            return;
        }
        self.later.push(entry);
        let mut rest = self.later.as_mut_slice();
        while let [later @ .., place] = rest {
            match later.last() {
                Some(other) if other.turn.moment <= moment => *place = *other,
                _ => {
                    *place = entry;
                    return;
                }
            }
            rest = later;
        }
    }

    /// Schedules the movable event after `delay`, instead of its previous moment.
    #[inline]
    pub(crate) fn put_off(&mut self, delay: Nanos) {
        self.movable = self.turn(self.now + delay);
    }

    /// Schedules the periodic event after `delay`, instead of its previous moment.
    #[inline]
    pub(crate) fn repeat_after(&mut self, delay: Nanos) {
        self.periodic = self.turn(self.now + delay);
    }

    #[inline(always)]
    fn turn(&mut self, moment: Moment<Virtual>) -> Turn {
        self.sequence += 1;
        Turn { moment, sequence: self.sequence }
    }

    /// Cancels the movable event.
    #[inline]
    pub(crate) fn take_back(&mut self) {
        self.movable = Turn::NEVER;
    }

    /// Advances the clock to the next event, and removes the event.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Happened<E>> {
        let Entry { turn, event } = self.first;
        if turn.is_before(self.movable) {
            if turn.is_before(self.periodic) {
                // `later` keeps a placeholder that never happens: it was `first` before any event was scheduled.
                self.first = self.later.pop().expect("an event that does not happen");
                self.happen(turn.moment, event.code());
                return Some(Happened::Listed(event));
            }
        } else if self.movable.is_before(self.periodic) {
            let moment = core::mem::replace(&mut self.movable, Turn::NEVER).moment;
            self.happen(moment, E::MOVABLE);
            return Some(Happened::Movable);
        }
        if self.periodic.moment == NEVER {
            return None;
        }
        let moment = core::mem::replace(&mut self.periodic, Turn::NEVER).moment;
        self.happen(moment, E::PERIODIC);
        Some(Happened::Periodic)
    }

    /// Schedules an event and takes it at once, without storing it, if it is the next one. Returns whether it was.
    /// Events already scheduled for the same moment come first.
    #[inline]
    pub(crate) fn happens_next(&mut self, delay: Nanos, event: E) -> bool {
        self.passes(delay, event.code())
    }

    /// Does the same as `happens_next` with the movable event, which must not be scheduled otherwise.
    #[inline]
    pub(crate) fn movable_happens_next(&mut self, delay: Nanos) -> bool {
        self.passes(delay, E::MOVABLE)
    }

    #[inline(always)]
    fn passes(&mut self, delay: Nanos, code: u64) -> bool {
        let moment = self.now + delay;
        if self.movable.moment <= moment || self.first.turn.moment <= moment || self.periodic.moment <= moment {
            return false;
        }
        self.happen(moment, code);
        true
    }

    /// Schedules a movable event, takes it at once, and delays the scheduled one by the same time. Returns false and
    /// changes nothing if another event comes before. Equivalent to `take_back`, `movable_happens_next` and `put_off`.
    #[inline]
    pub(crate) fn delay_movable(&mut self, delay: Nanos) -> bool {
        let moment = self.now + delay;
        if self.first.turn.moment <= moment || self.periodic.moment <= moment {
            return false;
        }
        self.sequence += 1;
        if self.movable.moment != NEVER {
            self.movable = Turn { moment: self.movable.moment + delay, sequence: self.sequence };
        }
        self.happen(moment, E::MOVABLE);
        true
    }

    #[inline]
    fn happen(&mut self, moment: Moment<Virtual>, code: u64) {
        self.now = moment;
        self.happened += 1;
        let nanos = moment.since_zero().0;
        self.hash = (self.hash ^ nanos).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23) ^ code;
    }
}

/// Outlined, because `schedule_at` is shorter without the message.
#[cold]
#[inline(never)]
fn in_the_past(moment: Moment<Virtual>, now: Moment<Virtual>) -> ! {
    panic!("an event in the past: {moment:?} at {now:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Coded for u64 {
        const NEVER: u64 = 0;
        const MOVABLE: u64 = 3;
        const PERIODIC: u64 = 5;

        fn code(self) -> u64 {
            self
        }
    }

    /// The next event by its number.
    fn next(calendar: &mut Calendar<u64>) -> Option<u64> {
        calendar.next().map(|happened| match happened {
            Happened::Movable => u64::MOVABLE,
            Happened::Periodic => u64::PERIODIC,
            Happened::Listed(event) => event,
        })
    }

    #[test]
    fn events_happen_in_order_of_time_then_of_request() {
        let mut calendar = Calendar::new();
        for (delay, event) in [(5, 1), (3, 2), (5, 3), (0, 4)] {
            calendar.schedule_after(Nanos(delay), event);
        }
        let order: Vec<(u64, u64)> =
            core::iter::from_fn(|| next(&mut calendar).map(|event| (event, calendar.now().since_zero().0))).collect();
        assert_eq!(order, [(4, 0), (2, 3), (1, 5), (3, 5)]);
    }

    #[test]
    fn postponed_events_come_in_their_new_order() {
        let mut calendar = Calendar::new();
        calendar.put_off(Nanos(1));
        calendar.schedule_after(Nanos(2), 2);
        calendar.put_off(Nanos(2));
        calendar.schedule_after(Nanos(2), 4);
        let order: Vec<u64> = core::iter::from_fn(|| next(&mut calendar)).collect();
        assert_eq!(order, [2, 3, 4]);
    }

    #[test]
    fn the_periodic_event_comes_among_the_others() {
        let mut calendar = Calendar::new();
        calendar.schedule_after(Nanos(2), 1);
        calendar.repeat_after(Nanos(2));
        calendar.put_off(Nanos(2));
        calendar.schedule_after(Nanos(2), 2);
        assert!(!calendar.happens_next(Nanos(2), 4) && !calendar.delay_movable(Nanos(2)));
        let before = [(); 2].map(|()| next(&mut calendar));
        calendar.repeat_after(Nanos(1));
        let after = [(); 4].map(|()| next(&mut calendar));
        assert_eq!((before, after), ([Some(1), Some(5)], [Some(3), Some(2), Some(5), None]));
    }

    #[test]
    fn cancelled_events_do_not_happen() {
        let mut calendar = Calendar::new();
        calendar.put_off(Nanos(1));
        calendar.schedule_after(Nanos(2), 2);
        calendar.take_back();
        assert_eq!((next(&mut calendar), next(&mut calendar)), (Some(2), None));
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
                assert_eq!(next(&mut long), Some(2));
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
        assert!(parts.movable_happens_next(Nanos(5)));
        parts.put_off(Nanos(4));
        assert!(!whole.delay_movable(Nanos(9)) && whole.delay_movable(Nanos(5)));
        let rest =
            |mut calendar: Calendar<u64>| (calendar.hash(), [(); 3].map(|()| next(&mut calendar)), calendar.hash());
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
            while next(&mut calendar).is_some() {}
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
        next(&mut calendar);
        calendar.schedule_at(Moment::from_zero(Nanos(4)), 2);
    }
}
