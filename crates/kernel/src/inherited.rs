//! What this process was started with, and keeps: signals that it is to ignore.

use procfs::process::Process;

/// The signals that whoever started this process had ignored (`nohup`, `&` in a script), a bit each, the lowest for
/// signal 1; none where that cannot be seen. To be asked before this process sets any.
pub fn ignored_signals() -> u64 {
    Process::myself().and_then(|process| process.status()).map_or(0, |status| status.sigign)
}
