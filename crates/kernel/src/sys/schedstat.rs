//! The times of a thread from `schedstat` (Documentation/scheduler/sched-stats.rst).

use std::path::Path;

use units::Nanos;

use crate::sys::read_limited;

/// The times of a thread since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadTimes {
    /// CPU time.
    pub(crate) ran: Nanos,
    /// Time in which it was ready to run but waited for a processor, or its control group was throttled.
    pub(crate) waited: Nanos,
}

impl ThreadTimes {
    /// The times since an earlier reading.
    pub(crate) fn since(self, earlier: ThreadTimes) -> ThreadTimes {
        ThreadTimes { ran: self.ran.saturating_sub(earlier.ran), waited: self.waited.saturating_sub(earlier.waited) }
    }
}

/// Reads the times of the thread with this folder under /proc.
pub(crate) fn read(thread: &Path) -> Option<ThreadTimes> {
    parse(&read_limited::of_the_kernel(thread.join("schedstat")).ok()?)
}

/// Parses the numbers: nanoseconds on a processor, nanoseconds waiting for one, time slices.
pub(crate) fn parse(text: &str) -> Option<ThreadTimes> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some(ThreadTimes { ran: Nanos(numbers.next()?.ok()?), waited: Nanos(numbers.next()?.ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_is_cpu_time_and_the_second_the_wait() {
        let times = ThreadTimes { ran: Nanos::from_millis(961), waited: Nanos::from_millis(39) };
        assert_eq!(parse("961000000 39000000 35\n"), Some(times));
        assert_eq!((parse(""), parse("1")), (None, None));
    }
}
