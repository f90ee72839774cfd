//! An error in a workload, in words that fit the command line and a job file.

use std::fmt;

/// An error in a workload: the key, its value, the reason and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFault {
    /// The key, as it is spelled in a job file.
    pub key: &'static str,
    /// Its value; empty for a flag.
    pub given: String,
    /// The reason. It names other keys as options (--rate).
    pub why: String,
    /// The hint, with the same form of names.
    pub hint: String,
}

impl fmt::Display for LoadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadFault { key, given, why, .. } = self;
        let gap = if given.is_empty() { "" } else { " " };
        write!(f, "--{key}{gap}{given}: {why}")
    }
}

impl std::error::Error for LoadFault {}
