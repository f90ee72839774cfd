//! The deadline of a run that must fit into a time, even if the device is slower than in its trials.

use std::time::Instant;

use units::Nanos;

/// The planned end of a run. An execution does not begin if it would probably end too late. When it is too late,
/// everything is stopped. A kernel call that runs then, such as an fsync of one file, ends when it ends. All moments
/// are counted from the same origin.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Nanos,
    time: Nanos,
    /// True if nothing ends later than the time. Otherwise, executions that are needed for an answer may end a tenth
    /// later, and everything is stopped a sixth later.
    is_strict: bool,
}

impl Deadline {
    /// The deadline of a run that started at `started` and has this time.
    pub fn new(started: Nanos, time: Nanos) -> Deadline {
        Deadline { started, time, is_strict: false }
    }

    /// This deadline, after which nothing may run.
    pub fn strict(self) -> Deadline {
        Deadline { is_strict: true, ..self }
    }

    /// The same time, if the run started this much later.
    pub fn delayed(self, by: Nanos) -> Deadline {
        Deadline { started: self.started + by, ..self }
    }

    /// True if an execution of this duration may begin now.
    pub fn holds(self, now: Nanos, span: Nanos) -> bool {
        let latest = if self.is_strict { self.time } else { Nanos(self.time.0 / 10 * 11) };
        self.spent(now) + span <= latest
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
        let stop = if self.is_strict { self.time } else { Nanos(self.time.0 / 6 * 7) };
        stop.saturating_sub(self.spent(now))
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
        assert_eq!(deadline.delayed(S(5)).rest(S(130)), S(35));
        assert!(deadline.fits(S(130), S(30)) && !deadline.fits(S(130), S(31)));
        let strict = deadline.strict();
        assert!(strict.holds(S(150), S(10)) && !strict.holds(S(150), S(11)));
        assert_eq!((strict.until_stop(S(100)), strict.until_stop(S(160))), (S(60), S(0)));
    }
}
