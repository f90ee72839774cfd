//! The files of the records in the folder of the writers, and the space that they need.

use std::path::{Path, PathBuf};

use crate::record::{Kind, RECORD};

/// The number of records that are overwritten in place. Few, so that each is overwritten often in a round.
pub(crate) const SLOTS: u64 = 32;

/// The number of files that are replaced.
pub(crate) const REPLACED: u64 = 8;

/// The divisor of the free space, in records. The files of each of two kinds have at most three times
/// [`Bounds::records`] records, and half of the space stays free.
const SHARE: u64 = 2 * 3 * 2;

/// The paths of the records, below this folder.
pub(crate) struct RecordPaths<'a>(pub(crate) &'a Path);

impl RecordPaths<'_> {
    /// True if a record of this kind and number can exist.
    pub(crate) fn may_hold(kind: Kind, number: u64) -> bool {
        match kind {
            // The number is limited as if all earlier records were in the same file, which cannot be longer than
            // `i64::MAX` bytes.
            Kind::Create | Kind::Append => number < i64::MAX as u64 / RECORD as u64,
            Kind::Overwrite => number < SLOTS,
            Kind::Replace => number < REPLACED,
        }
    }

    /// Returns the folder of a kind.
    pub(crate) fn folder(&self, kind: Kind) -> PathBuf {
        self.0.join(kind.name())
    }

    /// Returns the file of a record and its offset there. `in_log` is the number of appended records in a file.
    pub(crate) fn record(&self, kind: Kind, number: u64, in_log: u64) -> (PathBuf, u64) {
        let (file, record) = match kind {
            Kind::Create | Kind::Replace => (number, 0),
            Kind::Append => (number / in_log, number % in_log),
            Kind::Overwrite => (0, number),
        };
        (self.folder(kind).join(file.to_string()), record * RECORD as u64)
    }
}

/// The space that the writers may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The minimum number of promised new files, and that of promised appended records, once enough are written. The
    /// maximum is twice this number. Up to this number of records still exist but are no longer promised.
    pub records: u64,
}

impl Bounds {
    /// Returns the bounds for this many free bytes: half of them stay free.
    pub fn within(free: u64) -> Bounds {
        Bounds { records: (free / RECORD as u64 / SHARE).clamp(SLOTS, Bounds::MOST) }
    }

    /// The maximum of [`Bounds::records`], because more records would not reveal other losses. A guess: 64 MiB, which a
    /// fast disk writes in some tenths of a second.
    pub const MOST: u64 = 4096;

    /// The fewest free bytes that the writers need.
    pub const LEAST: u64 = SLOTS * RECORD as u64 * SHARE;
}
