//! Counters that the kernel keeps for this process and its threads.

use units::Nanos;
use workload::Accounts;

use super::{Source, number_after};
use crate::sys::read_limited;

/// The bytes charged to this process since it started. Reading them takes a system call, whose hundred bytes are
/// counted too.
pub(super) fn accounts(source: &Source) -> Option<Accounts> {
    let text = source.text("proc/self/io")?;
    Some(Accounts {
        called_read: number_after(&text, "rchar")?,
        called_written: number_after(&text, "wchar")?,
        fetched: number_after(&text, "read_bytes")?,
        dirtied: number_after(&text, "write_bytes")?,
        cancelled: number_after(&text, "cancelled_write_bytes")?,
    })
}

/// Time since its start in which the calling thread was ready to run but waited for a processor. It includes the time
/// in which its control group was throttled.
pub(crate) fn ready_time() -> Option<Nanos> {
    parse_schedstat(&read_limited::of_the_kernel("/proc/thread-self/schedstat").ok()?)
}

/// Returns the second number. The numbers are: nanoseconds on a processor, nanoseconds waiting for one, time slices
/// (Documentation/scheduler/sched-stats.rst).
pub(super) fn parse_schedstat(text: &str) -> Option<Nanos> {
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_of_schedstat_is_the_wait() {
        assert_eq!(parse_schedstat("961000000 39000000 35\n"), Some(Nanos::from_millis(39)));
        assert_eq!(parse_schedstat(""), None);
    }
}
