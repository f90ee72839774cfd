//! The update daemon: it asks every 30 seconds that all changed data be written (`etc/update.c` of 4.2BSD).

use units::Nanos;

use super::Deed;
use crate::fs::Request;

/// The daemon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    every: Nanos,
    drives: usize,
    /// The drive that is next.
    next: usize,
}

impl Update {
    pub(crate) fn new(every: Nanos, drives: usize) -> Update {
        Update { every, drives, next: 0 }
    }

    /// Goes from drive to drive, and then sleeps.
    pub(super) fn next(&mut self) -> Deed {
        if self.next == self.drives {
            self.next = 0;
            return Deed::Sleep(self.every);
        }
        self.next += 1;
        Deed::Call { drive: self.next - 1, request: Request::Update }
    }
}
