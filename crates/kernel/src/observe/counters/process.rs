//! What the kernel charged to this process and its threads.

use units::Nanos;
use workload::Accounts;

use super::{Source, number_after};
use crate::sys::read_limited;

/// The bytes charged to this process since it began. Reading them costs a call of its own, whose hundred
/// bytes are counted too.
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

/// Time in which the calling thread could have run and no processor was free for it, since it began. Time
/// in which its control group had used up its share is part of it.
pub(crate) fn ready_time() -> Option<Nanos> {
    parse_schedstat(&read_limited::of_the_kernel("/proc/thread-self/schedstat").ok()?)
}

/// Nanoseconds on a processor, nanoseconds waiting for one, turns (Documentation/scheduler/sched-stats.rst).
pub(super) fn parse_schedstat(text: &str) -> Option<Nanos> {
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_wait() {
        assert_eq!(parse_schedstat("961000000 39000000 35\n"), Some(Nanos::from_millis(39)));
        assert_eq!(parse_schedstat(""), None);
    }
}
