//! The calendar: one heap of events, ordered by moment and then by sequence, so that the order is total.
//!
//! Reading the clock changes nothing; the clock moves only when the next event is taken. What is asked for in
//! the past is a mistake of the model and panics.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use units::{Moment, Nanos, Virtual};

/// An event that can be told from others by a number, for the hash.
pub(crate) trait Coded: Copy {
    fn code(self) -> u64;
}

/// An event that was asked for. It can be cancelled as long as it has not happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    slot: u32,
    sequence: u64,
}

/// Events to come, and the present moment.
#[derive(Debug)]
pub(crate) struct Calendar<E> {
    now: Moment<Virtual>,
    sequence: u64,
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// What is to happen, by slot, with the sequence that the slot was given for.
    slots: Vec<Option<(u64, E)>>,
    unused: Vec<u32>,
    hash: u64,
    happened: u64,
}

impl<E: Coded> Calendar<E> {
    pub(crate) fn new() -> Calendar<E> {
        Calendar {
            now: Moment::ZERO,
            sequence: 0,
            heap: BinaryHeap::with_capacity(64),
            slots: Vec::with_capacity(64),
            unused: Vec::with_capacity(64),
            hash: 0xcbf2_9ce4_8422_2325,
            happened: 0,
        }
    }

    pub(crate) fn now(&self) -> Moment<Virtual> {
        self.now
    }

    /// A number made of every event so far and its moment: two runs are the same where it is.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// How many events there were.
    pub(crate) fn happened(&self) -> u64 {
        self.happened
    }

    /// Asks for an event so long from now.
    pub(crate) fn after(&mut self, delay: Nanos, event: E) -> Ticket {
        self.at(self.now + delay, event)
    }

    /// Asks for an event at that moment.
    pub(crate) fn at(&mut self, moment: Moment<Virtual>, event: E) -> Ticket {
        assert!(moment >= self.now, "an event in the past: {moment:?} at {:?}", self.now);
        self.sequence += 1;
        let entry = Some((self.sequence, event));
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                self.slots.len() as u32 - 1
            }
        };
        self.heap.push(Reverse((moment.since_zero().0, self.sequence, slot)));
        Ticket { slot, sequence: self.sequence }
    }

    /// Takes an event back that has not happened; of one that has, nothing is left to take.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[ticket.slot as usize];
        if slot.as_ref().is_some_and(|(sequence, _)| *sequence == ticket.sequence) {
            *slot = None;
            self.unused.push(ticket.slot);
        }
    }

    /// Moves the clock on to the next event and takes it.
    pub(crate) fn next(&mut self) -> Option<E> {
        while let Some(Reverse((nanos, sequence, slot))) = self.heap.pop() {
            // Of a slot that was cancelled, and perhaps given to another event since.
            let Some((_, event)) = self.slots[slot as usize].take_if(|(known, _)| *known == sequence) else {
                continue;
            };
            self.unused.push(slot);
            self.now = Moment::at(Nanos(nanos));
            self.happened += 1;
            self.hash = (self.hash ^ nanos).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23) ^ event.code();
            return Some(event);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Coded for u64 {
        fn code(self) -> u64 {
            self
        }
    }

    #[test]
    fn events_happen_in_order_of_moment_and_then_as_asked_for() {
        let mut calendar = Calendar::new();
        for (delay, event) in [(5, 1), (3, 2), (5, 3), (0, 4)] {
            calendar.after(Nanos(delay), event);
        }
        let order: Vec<(u64, u64)> =
            core::iter::from_fn(|| calendar.next().map(|event| (event, calendar.now().since_zero().0))).collect();
        assert_eq!(order, [(4, 0), (2, 3), (1, 5), (3, 5)]);
    }

    #[test]
    fn a_cancelled_event_does_not_happen_and_takes_no_other_with_it() {
        let mut calendar = Calendar::new();
        let first = calendar.after(Nanos(1), 1);
        calendar.cancel(first);
        // Takes over the slot.
        calendar.after(Nanos(2), 2);
        calendar.cancel(first);
        assert_eq!((calendar.next(), calendar.next()), (Some(2), None));
    }

    #[test]
    fn the_hash_tells_moments_and_events_apart() {
        let hash = |events: &[(u64, u64)]| {
            let mut calendar = Calendar::new();
            for &(delay, event) in events {
                calendar.after(Nanos(delay), event);
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
    fn nothing_happens_in_the_past() {
        let mut calendar = Calendar::new();
        calendar.after(Nanos(5), 1);
        calendar.next();
        calendar.at(Moment::at(Nanos(4)), 2);
    }
}
