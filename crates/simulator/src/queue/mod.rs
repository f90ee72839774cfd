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
    waiting: Vec<Waiting<T>>,
}

impl<T: Copy> DriveQueue<T> {
    pub(crate) fn new(order: description::Queue) -> DriveQueue<T> {
        DriveQueue { order, waiting: Vec::with_capacity(64) }
    }

    pub(crate) fn insert(&mut self, mut new: Waiting<T>) {
        if faults::is_planted(Fault::DisksortBackwards) {
            new.cylinder = u32::MAX - new.cylinder;
        }
        let place = match self.order {
            description::Queue::Fifo => fifo::place(self.waiting.len()),
            description::Queue::Disksort => disksort::place(&self.waiting, new.cylinder),
            description::Queue::ReadsFirst => reads_first::place(&self.waiting, &new),
        };
        // Usually at the end.
        if place == self.waiting.len() {
            self.waiting.push(new);
        } else {
            self.waiting.insert(place, new);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn first(&self) -> Option<T> {
        self.waiting.first().map(|waiting| waiting.request)
    }

    pub(crate) fn take_first(&mut self) -> Option<T> {
        // Usually there is one.
        if self.waiting.len() == 1 {
            return self.waiting.pop().map(|waiting| waiting.request);
        }
        (!self.waiting.is_empty()).then(|| self.waiting.remove(0).request)
    }
}
