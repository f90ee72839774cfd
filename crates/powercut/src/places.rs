//! Files of the records, below the folder of the writers, and how much room they take.

use std::path::{Path, PathBuf};

use crate::record::{Kind, RECORD};

/// Records that are overwritten in place. Few, so that each is overwritten often in a round.
pub(crate) const SLOTS: u64 = 32;

/// Files that are replaced.
pub(crate) const REPLACED: u64 = 8;

/// What is there of two kinds at once, as shares of what is free: three times as many as are bounded (see
/// [`Bounds`]), and as much again, which stays free.
const SHARE: u64 = 2 * 3 * 2;

/// Where the records of a kind are, below a folder.
pub(crate) struct Places<'a>(pub(crate) &'a Path);

impl Places<'_> {
    /// Whether there may be a record of this number: others have no place.
    pub(crate) fn may_hold(kind: Kind, number: u64) -> bool {
        match kind {
            // Each as if it were in one file with those before it: further no file reaches.
            Kind::Create | Kind::Append => number < i64::MAX as u64 / RECORD as u64,
            Kind::Overwrite => number < SLOTS,
            Kind::Replace => number < REPLACED,
        }
    }

    /// The folder of a kind.
    pub(crate) fn folder(&self, kind: Kind) -> PathBuf {
        self.0.join(kind.name())
    }

    /// The file that a record is in, and where, of so many appended records a file.
    pub(crate) fn record(&self, kind: Kind, number: u64, in_log: u64) -> (PathBuf, u64) {
        let (file, record) = match kind {
            Kind::Create | Kind::Replace => (number, 0),
            Kind::Append => (number / in_log, number % in_log),
            Kind::Overwrite => (0, number),
        };
        (self.folder(kind).join(file.to_string()), record * RECORD as u64)
    }
}

/// How much room the writers take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// So many new files, and as many appended records, are promised at once, at the least; at the most twice as many.
    /// As many again are there that are promised no more.
    pub records: u64,
}

impl Bounds {
    /// As many as have room in so many bytes, and leave half of them free.
    pub fn within(free: u64) -> Bounds {
        Bounds { records: (free / RECORD as u64 / SHARE).clamp(SLOTS, Bounds::MOST) }
    }

    /// More show no more. Guess: 64 MiB, for which a fast disk takes some tenths of a second.
    pub const MOST: u64 = 4096;

    /// Bytes that must be free for the writers to be at ease.
    pub const LEAST: u64 = SLOTS * RECORD as u64 * SHARE;
}
