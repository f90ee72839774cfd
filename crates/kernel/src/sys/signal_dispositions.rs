//! What this process was started with, and keeps: signals that it is to ignore.

use crate::sys::read_limited;

/// The signals that whoever started this process had ignored (`nohup`, `&` in a script), a bit each, the lowest for
/// signal 1; none where that cannot be seen. To be asked before this process sets any.
pub fn ignored_signals() -> u64 {
    let status = read_limited::of_the_kernel("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}
