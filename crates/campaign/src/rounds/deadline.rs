//! The deadline of a run that must fit into a time, even if the device is slower than in its trials.

use std::time::Instant;

use units::Nanos;

/// The planned end of a run. An execution does not begin if it would probably end more than a tenth after the time. A
/// sixth after the time, everything is stopped. A kernel call that runs then, such as an fsync of one file, ends when
/// it ends. All moments are counted from the same origin.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Nanos,
    time: Nanos,
}

impl Deadline {
    /// The deadline of a run that started at `started` and has this time.
    pub fn new(started: Nanos, time: Nanos) -> Deadline {
        Deadline { started, time }
    }

    /// True if an execution of this duration may begin now.
    pub fn holds(self, now: Nanos, span: Nanos) -> bool {
        self.spent(now) + span <= Nanos(self.time.0 / 10 * 11)
    }

    /// True if an execution of this duration would end in time.
    pub fn fits(self, now: Nanos, span: Nanos) -> bool {
        span <= self.rest(now)
    }

    /// The time left until the planned end.
    pub fn rest(self, now: Nanos) -> Nanos {
        self.time.saturating_sub(self.spent(now))
    }

    /// The time left until everything is stopped.
    pub fn until_stop(self, now: Nanos) -> Nanos {
        Nanos(self.time.0 / 6 * 7).saturating_sub(self.spent(now))
    }

    fn spent(self, now: Nanos) -> Nanos {
        now.saturating_sub(self.started)
    }
}

/// The time since an origin that is the same for all moments of a run.
pub type Clock<'a> = &'a dyn Fn() -> Nanos;

/// The time since that moment.
pub fn since(began: Instant) -> Nanos {
    Nanos(began.elapsed().as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_that_would_end_too_late_are_not_started() {
        const S: fn(u64) -> Nanos = Nanos::from_secs;
        let deadline = Deadline::new(S(100), S(60));
        let holds = |spent: u64, span| deadline.holds(S(100 + spent), S(span));
        assert!(holds(50, 10) && holds(60, 6) && holds(66, 0));
        assert!(!holds(50, 17) && !holds(67, 0));
        assert_eq!(
            (deadline.until_stop(S(100)), deadline.until_stop(S(170)), deadline.until_stop(S(500))),
            (S(70), S(0), S(0))
        );
        assert_eq!((deadline.rest(S(100)), deadline.rest(S(130)), deadline.rest(S(161))), (S(60), S(30), S(0)));
        assert!(deadline.fits(S(130), S(30)) && !deadline.fits(S(130), S(31)));
    }
}
