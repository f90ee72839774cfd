//! Ends a simulation that would not end by itself, or that the user stops.
//!
//! Each request of a program grants events. A computer that has used more events than granted is so slow, or loses
//! turns so often, that the simulation would practically never end.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};

use workload::Reason;

/// Events granted to each run: about a day of simulated time at 100 clock ticks per second, and a second or so of real
/// time.
const TO_BEGIN_WITH: u64 = 1 << 23;

/// Events granted for each requested block, or part of one. A machine of 1983 needs about forty.
pub(super) const PER_BLOCK: u64 = 1 << 8;

/// Events between two checks: a few milliseconds of real time.
const BETWEEN_LOOKS: u64 = 1 << 16;

/// Limit of events, and the user's stop flag.
#[derive(Debug)]
pub(super) struct Watchdog {
    to_begin_with: u64,
    /// Event count after which the simulation is given up.
    granted: u64,
    /// Event count at which to check next.
    look_at: u64,
    stop: Option<Arc<AtomicBool>>,
    over: Option<Reason>,
}

impl Watchdog {
    pub(super) fn new() -> Watchdog {
        Watchdog::with_limit(TO_BEGIN_WITH)
    }

    pub(super) fn with_limit(to_begin_with: u64) -> Watchdog {
        Watchdog { to_begin_with, granted: to_begin_with, look_at: 0, stop: None, over: None }
    }

    /// Sets the flag that stops the simulation.
    pub(super) fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Begins a run. `events` is the number of events so far.
    pub(super) fn begin(&mut self, events: u64) {
        self.granted = self.granted.max(events.saturating_add(self.to_begin_with));
        self.look_at = events;
    }

    /// Grants `events` more events.
    pub(super) fn grant(&mut self, events: u64) {
        self.granted = self.granted.saturating_add(events);
    }

    /// True if the simulation must end, after `events` events. Once true, it stays true.
    #[inline]
    pub(super) fn is_over(&mut self, events: u64) -> bool {
        events >= self.look_at && self.check(events)
    }

    #[cold]
    fn check(&mut self, events: u64) -> bool {
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

    /// Why the simulation must end; `None` if it may go on.
    pub(super) fn end_reason(&self) -> Option<Reason> {
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_granted_number_of_events() {
        let mut watchdog = Watchdog::with_limit(10);
        watchdog.begin(0);
        assert!(!watchdog.is_over(10));
        watchdog.grant(5);
        assert!(!watchdog.is_over(15));
        assert!(watchdog.is_over(16));
        assert_eq!(watchdog.end_reason(), Some(Reason::Unending));
        // The simulation stays over.
        watchdog.grant(1000);
        assert!(watchdog.is_over(16));
    }

    #[test]
    fn every_run_has_its_own_limit() {
        let mut watchdog = Watchdog::with_limit(10);
        watchdog.begin(0);
        watchdog.begin(1000);
        assert!(!watchdog.is_over(1010));
        assert!(watchdog.is_over(1011));
    }

    #[test]
    fn a_stop_request_is_seen_at_the_next_poll() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut watchdog = Watchdog::new();
        watchdog.heed(Arc::clone(&stop));
        watchdog.begin(0);
        assert!(!watchdog.is_over(0));
        stop.store(true, Ordering::Relaxed);
        assert!(!watchdog.is_over(1));
        assert!(watchdog.is_over(BETWEEN_LOOKS));
        assert_eq!(watchdog.end_reason(), Some(Reason::Interrupted));
    }
}
