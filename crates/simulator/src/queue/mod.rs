//! Queue orders: the order in which the requests of one drive are served. Each order is a function of the waiting
//! requests and the new one, in its own file.

mod disksort;
mod fifo;
mod reads_first;

use alloc::vec::Vec;

use crate::description;
use crate::faults::{self, Fault};

/// A request with the properties that determine its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting<T> {
    pub(crate) cylinder: u32,
    pub(crate) reads: bool,
    pub(crate) request: T,
}

/// The requests of one drive, the next one first. The first may be in progress, and keeps its place.
#[derive(Debug)]
pub(crate) struct DriveQueue<T> {
    order: description::Queue,
    /// The requests. Those before `first` were taken already. They stay, because moving the others each time would cost
    /// more.
    requests: Vec<Waiting<T>>,
    first: usize,
}

/// Taken requests that may stay in the list. More than the usual length of a queue, so that they are rarely moved.
const TAKEN: usize = 64;

impl<T: Copy> DriveQueue<T> {
    pub(crate) fn new(order: description::Queue) -> DriveQueue<T> {
        DriveQueue { order, requests: Vec::with_capacity(2 * TAKEN), first: 0 }
    }

    pub(crate) fn insert(&mut self, mut new: Waiting<T>) {
        if faults::is_planted(Fault::DisksortBackwards) {
            new.cylinder = u32::MAX - new.cylinder;
        }
        let waiting = self.waiting();
        let place = match self.order {
            description::Queue::Fifo => fifo::place(waiting.len()),
            description::Queue::Disksort => disksort::place(waiting, new.cylinder),
            description::Queue::ReadsFirst => reads_first::place(waiting, &new),
        };
        // Usually at the end.
        if place == waiting.len() {
            self.requests.push(new);
        } else {
            self.requests.insert(self.first + place, new);
        }
    }

    fn waiting(&self) -> &[Waiting<T>] {
        &self.requests[self.first..]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.requests.len()
    }

    pub(crate) fn first(&self) -> Option<T> {
        self.requests.get(self.first).map(|waiting| waiting.request)
    }

    pub(crate) fn take_first(&mut self) -> Option<T> {
        let request = self.first()?;
        self.first += 1;
        if self.is_empty() {
            self.requests.clear();
            self.first = 0;
        } else if self.first == TAKEN {
            self.requests.drain(..TAKEN);
            self.first = 0;
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use description::Queue;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The steps may take more requests than the list keeps.
        #[test]
        fn requests_come_as_from_a_list_without_those_that_were_taken(
            order in prop::sample::select(&[Queue::Fifo, Queue::Disksort, Queue::ReadsFirst][..]),
            steps in prop::collection::vec(prop::option::weighted(0.6, (0u32..9, any::<bool>())), 0..600),
        ) {
            let (mut queue, mut expected) = (DriveQueue::new(order), Vec::new());
            for (request, step) in steps.into_iter().enumerate() {
                if let Some((cylinder, reads)) = step {
                    let new = Waiting { cylinder, reads, request };
                    let place = match order {
                        Queue::Fifo => expected.len(),
                        Queue::Disksort => disksort::place(&expected, cylinder),
                        Queue::ReadsFirst => reads_first::place(&expected, &new),
                    };
                    expected.insert(place, new);
                    queue.insert(new);
                } else {
                    let taken = (!expected.is_empty()).then(|| expected.remove(0).request);
                    prop_assert_eq!(queue.take_first(), taken);
                }
                prop_assert_eq!(queue.first(), expected.first().map(|waiting| waiting.request));
                prop_assert_eq!(queue.is_empty(), expected.is_empty());
            }
        }
    }
}
