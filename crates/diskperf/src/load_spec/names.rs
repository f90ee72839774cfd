//! Words of a load that are chosen out of a few.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Deserialize;

/// What can be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PatternName {
    /// Read blocks at random places.
    Randread,
    /// Write over blocks at random places.
    Randwrite,
    /// Both, mixed as --reads says.
    Randrw,
    /// Read from the beginning to the end.
    Read,
    /// Write anew from the beginning to the end.
    Write,
    /// Append records, each durable (fdatasync) before the next.
    Commit,
}

/// Who issues the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// io_uring where more than one is to be under way and it can be had; else plain calls.
    #[default]
    Auto,
    /// Plain calls, one after the other.
    Posix,
    /// io_uring, or none.
    Uring,
    /// io_uring, or none, with a thread of the kernel that looks for what is to be begun: it takes a processor of its own.
    Sqpoll,
    /// Nobody: what is read and written is copied from and to memory that the file is mapped into.
    Mmap,
    /// Nobody: each counts as done at once.
    Null,
}

/// How far apart starts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalsName {
    /// Always as far.
    Constant,
    /// As chance has it.
    Poisson,
}

/// What a write waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncName {
    /// O_DSYNC: the data and what is needed to read them back.
    Dsync,
    /// O_SYNC: the data and everything about the file.
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
