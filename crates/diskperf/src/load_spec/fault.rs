//! What of a load makes no sense, in words that fit the command line and a job file.

use std::fmt;

/// What of a load makes no sense: which key, what it was set to, why not, and what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFault {
    /// The key, as it is spelled in a job file.
    pub key: &'static str,
    /// Its value; nothing where it has none but being there.
    pub given: String,
    /// Other keys stand in it as options.
    pub why: String,
    /// What to try; as above.
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
