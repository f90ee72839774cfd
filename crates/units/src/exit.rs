//! How a command ended, as a number that scripts can rely on. The error types of all crates name the one they lead to.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// A measurement failed.
    Failed = 1,
    /// The command makes no sense as it was typed.
    Usage = 2,
    /// Refused for safety or for lack of rights.
    Refused = 3,
    /// Told to stop; what was finished is shown.
    Interrupted = 4,
    /// Everything was done, and what should hold does not.
    Unmet = 5,
}

impl Exit {
    /// All of them; `diskperf help exit` explains each.
    pub const ALL: [Exit; 6] = [Exit::Done, Exit::Failed, Exit::Usage, Exit::Refused, Exit::Interrupted, Exit::Unmet];
}
