//! When a run that has a time of its own is to end, also where the device is slower than its trials said.

use std::time::Instant;

use units::Nanos;

/// When a run is to end. Nothing begins that would probably end later than a tenth after its time; a sixth after
/// it, everything is stopped. What the kernel is still asked for then, an fsync of one file, ends when it ends.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    started: Instant,
    time: Nanos,
}

impl Deadline {
    /// Of a run that started then and has so much time.
    pub fn new(started: Instant, time: Nanos) -> Deadline {
        Deadline { started, time }
    }

    /// Whether what takes so long may begin now.
    pub fn holds(self, span: Nanos) -> bool {
        self.holds_after(since(self.started), span)
    }

    /// Whether what takes so long ends in its time if it begins now.
    pub fn fits(self, span: Nanos) -> bool {
        span <= self.rest()
    }

    /// How much of its time is left.
    pub fn rest(self) -> Nanos {
        self.time.saturating_sub(since(self.started))
    }

    fn holds_after(self, spent: Nanos, span: Nanos) -> bool {
        spent + span <= Nanos(self.time.0 / 10 * 11)
    }

    /// How long from now until everything is stopped.
    pub fn left(self) -> Nanos {
        Nanos(self.time.0 / 6 * 7).saturating_sub(since(self.started))
    }
}

/// How long each of so many rounds took.
pub fn mean(began: Instant, rounds: u32) -> Nanos {
    Nanos(since(began).0 / u64::from(rounds))
}

/// How long ago that was.
pub fn since(began: Instant) -> Nanos {
    Nanos(began.elapsed().as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_too_late_does_not_begin() {
        let deadline = Deadline::new(Instant::now(), Nanos::from_secs(60));
        let holds = |spent, span| deadline.holds_after(Nanos::from_secs(spent), Nanos::from_secs(span));
        assert!(holds(50, 10) && holds(60, 6) && holds(66, 0));
        assert!(!holds(50, 17) && !holds(67, 0));
        assert!(deadline.left() <= Nanos::from_secs(70) && deadline.rest() <= Nanos::from_secs(60));
        assert!(deadline.fits(Nanos::from_secs(30)) && !deadline.fits(Nanos::from_secs(61)));
        assert_eq!(Deadline::new(Instant::now(), Nanos::ZERO).left(), Nanos::ZERO);
    }
}
