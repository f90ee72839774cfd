//! Counters that the kernel keeps for this process and its threads.

use std::path::Path;

use units::Nanos;
use workload::Accounts;

use super::{Source, number_after};
use crate::sys::schedstat;

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
    Some(schedstat::read(Path::new("/proc/thread-self"))?.waited)
}
