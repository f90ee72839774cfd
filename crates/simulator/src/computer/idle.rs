//! How long a drive has nothing to do around what it has to read: whether a system that waits for a block lets the
//! drive rest meanwhile.

use units::Nanos;

use crate::accounts::AroundReads;

/// What is known of one drive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdleWatch {
    around: AroundReads,
    /// How long it had been idle in all when something was last asked of it.
    seen: Nanos,
    /// What it did last was to read.
    has_read: bool,
}

impl IdleWatch {
    /// Something is asked of the drive, which has been idle so long in all.
    pub(super) fn asked(&mut self, reads: bool, idle: Nanos) {
        let rested = idle - self.seen;
        self.seen = idle;
        self.around.reads += u64::from(reads);
        if reads || self.has_read {
            self.around.idle += rested;
        }
    }

    /// It was done.
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
    fn rest_counts_before_a_read_and_after_it() {
        let mut watch = IdleWatch::default();
        let mut ask = |reads, idle| {
            watch.asked(reads, Nanos(idle));
            watch.arrived(reads);
            watch.around_reads()
        };
        assert_eq!(ask(false, 10), AroundReads { reads: 0, idle: Nanos(0) });
        assert_eq!(ask(true, 13), AroundReads { reads: 1, idle: Nanos(3) });
        // The next write ends the rest that the read began; the one after it has nothing to do with any.
        assert_eq!(ask(false, 20), AroundReads { reads: 1, idle: Nanos(10) });
        assert_eq!(ask(false, 25), AroundReads { reads: 1, idle: Nanos(10) });
    }

    #[test]
    fn a_read_that_is_overtaken_is_not_what_was_done_last() {
        let mut watch = IdleWatch::default();
        watch.asked(true, Nanos(0));
        watch.asked(false, Nanos(0));
        watch.arrived(true);
        watch.arrived(false);
        watch.asked(false, Nanos(50));
        assert_eq!(watch.around_reads().idle, Nanos(0));
    }
}
