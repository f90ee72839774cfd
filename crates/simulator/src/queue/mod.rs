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
    /// The requests. Those before `first` were taken: to move the others for each would cost more.
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
    use alloc::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Also after more requests than may stay in the list once they were taken.
        #[test]
        fn requests_that_were_taken_do_not_come_again(
            steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..9), 0..600),
        ) {
            let (mut queue, mut expected) = (DriveQueue::new(description::Queue::Fifo), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Some(cylinder) => {
                        queue.insert(Waiting { cylinder, reads: true, request: number });
                        expected.push_back(number);
                    }
                    None => prop_assert_eq!(queue.take_first(), expected.pop_front()),
                }
                prop_assert_eq!(queue.first(), expected.front().copied());
                prop_assert_eq!(queue.is_empty(), expected.is_empty());
            }
        }
    }
}
