//! The keys of a workload that take one of a few words.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PatternName {
    /// Random reads
    Randread,
    /// Random overwrites
    Randwrite,
    /// Random reads and overwrites, mixed by --reads
    Randrw,
    /// Sequential reads
    Read,
    /// Sequential writes of a new file
    Write,
    /// Appends, each followed by fdatasync, as a database commits
    Commit,
}

/// The ways to issue operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// io_uring for depths above 1, if available; otherwise plain calls
    #[default]
    Auto,
    /// Plain calls, one at a time
    Posix,
    /// io_uring; an error if it is not available
    Uring,
    /// io_uring with a polling kernel thread, which needs a processor of its own
    Sqpoll,
    /// Copies from and to the mapped file
    Mmap,
    /// No I/O: each operation counts as done at once, to measure the overhead of diskperf
    Null,
}

/// The distributions of the time between starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalsName {
    /// The same time between all starts
    Constant,
    /// Random times, exponentially distributed
    Poisson,
}

/// The flags of synchronous writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncName {
    /// O_DSYNC: data, and the metadata needed to read them back
    Dsync,
    /// O_SYNC: data and all metadata of the file
    Sync,
}

impl SyncName {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            SyncName::Dsync => "dsync",
            SyncName::Sync => "sync",
        }
    }
}

impl Engine {
    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Posix => "posix",
            Engine::Uring => "uring",
            Engine::Sqpoll => "sqpoll",
            Engine::Mmap => "mmap",
            Engine::Null => "null",
        }
    }
}
