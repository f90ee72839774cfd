//! When a simulation is given up: where it would not end, and where somebody said stop.
//!
//! What is asked for grants events. A computer that has had more than it was granted has a part that is so slow, or
//! loses so much, that nobody will see the end.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};

use workload::Reason;

/// Events that every run is granted: a day and a night of a clock that ticks a hundred times a second, and a second or
/// so of whoever waits for the simulation.
const TO_BEGIN_WITH: u64 = 1 << 23;

/// Events that every block, or less, that is asked for grants: a machine of 1983 has about forty for one.
pub(super) const PER_BLOCK: u64 = 1 << 8;

/// Events between two looks: some milliseconds.
const BETWEEN_LOOKS: u64 = 1 << 16;

/// How long a computer is waited for.
#[derive(Debug)]
pub(super) struct Patience {
    to_begin_with: u64,
    /// Until so many events.
    granted: u64,
    /// How many there may be before it is looked again.
    look_at: u64,
    stop: Option<Arc<AtomicBool>>,
    over: Option<Reason>,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience::of(TO_BEGIN_WITH)
    }

    pub(super) fn of(to_begin_with: u64) -> Patience {
        Patience { to_begin_with, granted: to_begin_with, look_at: 0, stop: None, over: None }
    }

    /// Whoever sets the flag says stop.
    pub(super) fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// A run begins, after so many events.
    pub(super) fn begin(&mut self, events: u64) {
        self.granted = self.granted.max(events.saturating_add(self.to_begin_with));
        self.look_at = events;
    }

    /// So many more events are to be expected.
    pub(super) fn grant(&mut self, events: u64) {
        self.granted = self.granted.saturating_add(events);
    }

    /// Whether it is over after so many events. Once it is, it is for good.
    #[inline]
    pub(super) fn is_over(&mut self, events: u64) -> bool {
        events >= self.look_at && self.look(events)
    }

    #[cold]
    fn look(&mut self, events: u64) -> bool {
        let told = || self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        if self.over.is_none() && told() {
            self.over = Some(Reason::Interrupted);
        } else if self.over.is_none() && events > self.granted {
            self.over = Some(Reason::Unending);
        }
        self.look_at = events.saturating_add(BETWEEN_LOOKS).min(self.granted.saturating_add(1));
        if self.over.is_some() {
            self.look_at = 0;
        }
        self.over.is_some()
    }

    /// Why it is over; nothing where it is not.
    pub(super) fn over(&self) -> Option<Reason> {
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_granted_is_waited_for_and_no_more() {
        let mut patience = Patience::of(10);
        patience.begin(0);
        assert!(!patience.is_over(10));
        patience.grant(5);
        assert!(!patience.is_over(15));
        assert!(patience.is_over(16));
        assert_eq!(patience.over(), Some(Reason::Unending));
        // For good.
        patience.grant(1000);
        assert!(patience.is_over(16));
    }

    #[test]
    fn every_run_has_its_own() {
        let mut patience = Patience::of(10);
        patience.begin(0);
        patience.begin(1000);
        assert!(!patience.is_over(1010));
        assert!(patience.is_over(1011));
    }

    #[test]
    fn who_is_told_to_stop_stops_at_the_next_look() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut patience = Patience::new();
        patience.heed(Arc::clone(&stop));
        patience.begin(0);
        assert!(!patience.is_over(0));
        stop.store(true, Ordering::Relaxed);
        assert!(!patience.is_over(1));
        assert!(patience.is_over(BETWEEN_LOOKS));
        assert_eq!(patience.over(), Some(Reason::Interrupted));
    }
}
