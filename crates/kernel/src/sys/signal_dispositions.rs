//! Signal dispositions that this process inherited: signals that it ignores.

use crate::sys::read_limited;

/// Returns the signals that were ignored when this process started (`nohup`, `&` in a script): one bit each, the lowest
/// for signal 1. Returns 0 if they cannot be read. Call it before this process changes any disposition.
pub fn ignored_signals() -> u64 {
    let status = read_limited::of_the_kernel("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}
