//! Measures how long a drive is idle around reads: whether a system that waits for a block leaves the drive idle
//! meanwhile.

use units::Nanos;

use crate::time_accounts::AroundReads;

/// Idle time of one drive around its reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdleWatch {
    around: AroundReads,
    /// Total idle time of the drive at the last request.
    seen: Nanos,
    /// True if the last completed request was a read.
    has_read: bool,
}

impl IdleWatch {
    /// Notes a request to the drive. `idle` is the drive's total idle time so far.
    pub(super) fn asked(&mut self, reads: bool, idle: Nanos) {
        let rested = idle - self.seen;
        self.seen = idle;
        self.around.reads += u64::from(reads);
        if reads || self.has_read {
            self.around.idle += rested;
        }
    }

    /// Notes that a request was completed.
    pub(super) fn arrived(&mut self, reads: bool) {
        self.has_read = reads;
    }

    pub(super) fn around_reads(&self) -> AroundReads {
        self.around
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_counts_before_and_after_a_read() {
        let mut watch = IdleWatch::default();
        let mut ask = |reads, idle| {
            watch.asked(reads, Nanos(idle));
            watch.arrived(reads);
            watch.around_reads()
        };
        assert_eq!(ask(false, 10), AroundReads { reads: 0, idle: Nanos(0) });
        assert_eq!(ask(true, 13), AroundReads { reads: 1, idle: Nanos(3) });
        // The next write ends the idle time after the read. The idle time before the second write is not next to a
        // read.
        assert_eq!(ask(false, 20), AroundReads { reads: 1, idle: Nanos(10) });
        assert_eq!(ask(false, 25), AroundReads { reads: 1, idle: Nanos(10) });
    }

    #[test]
    fn an_overtaken_read_is_not_the_last_operation() {
        let mut watch = IdleWatch::default();
        watch.asked(true, Nanos(0));
        watch.asked(false, Nanos(0));
        watch.arrived(true);
        watch.arrived(false);
        watch.asked(false, Nanos(50));
        assert_eq!(watch.around_reads().idle, Nanos(0));
    }
}
