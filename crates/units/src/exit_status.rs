//! The exit statuses of diskperf, which scripts can rely on. The error types of all crates map to them.

/// The exit status of a diskperf command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command did everything that you asked for.
    Done = 0,
    /// A measurement failed.
    Failed = 1,
    /// The command line is not valid.
    Usage = 2,
    /// diskperf refused, for safety or because rights are missing.
    Refused = 3,
    /// The command was told to stop. The finished part is printed.
    Interrupted = 4,
    /// The command did everything, but a condition is not met.
    Unmet = 5,
}

impl Exit {
    /// All statuses; `diskperf help exit` explains each.
    pub const ALL: [Exit; 6] = [Exit::Done, Exit::Failed, Exit::Usage, Exit::Refused, Exit::Interrupted, Exit::Unmet];
}
