//! The sizes of a preset's programs, and the size that the cost of a row depends on.

use serde::{Deserialize, Serialize};
use units::Nanos;

/// Bytes of one random read.
const BLOCK: u64 = 4096;

/// The sizes of all programs. All are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Bytes of a large file.
    pub large: u64,
    /// Bytes of a copied file.
    pub copied: u64,
    /// The number of small files.
    pub files: u32,
    /// The maximum number of committed records.
    pub records: u32,
    /// The time limit of random reads, and of commits.
    pub random: Nanos,
}

impl Sizes {
    /// The maximum sizes. A second of random reads is enough for any disk: the slowest does a hundred.
    pub const LARGEST: Sizes =
        Sizes { large: 512 << 20, copied: 16 << 20, files: 8192, records: 1024, random: Nanos::from_millis(1000) };

    /// The minimum sizes: a round writes less than a MiB. It takes about a second on a disk with a hundred operations
    /// per second.
    pub const SMALLEST: Sizes =
        Sizes { large: 64 << 10, copied: 64 << 10, files: 16, records: 16, random: Nanos::from_millis(125) };

    /// The sizes on a simulated machine, which are not fitted: files as large as those of 1983, and the rest in
    /// proportion.
    pub const SIMULATED: Sizes =
        Sizes { large: 8 << 20, copied: 1 << 20, files: 128, records: 128, random: Nanos::from_millis(1000) };

    /// The sizes of the trials. The first is quick even on the slowest disk. Together they separate costs that grow
    /// with the size from fixed costs.
    pub const TRIALS: [Sizes; 3] = [
        Sizes { records: 64, ..Sizes::trial(64 << 10, 64 << 10, 16) },
        Sizes { records: 64, ..Sizes::trial(2 << 20, 512 << 10, 64) },
        Sizes { records: 64, ..Sizes::trial(8 << 20, 1 << 20, 64) },
    ];

    const fn trial(large: u64, copied: u64, files: u32) -> Sizes {
        Sizes { large, copied, files, random: Nanos::from_millis(40), ..Sizes::SMALLEST }
    }

    /// Bytes of the file for random reads: a quarter of the other large files. It is written only to be read at a few
    /// thousand places. A small one lets the others be twice as large within the bytes that may be written.
    pub fn spots(&self) -> u64 {
        (self.large / 4 / BLOCK * BLOCK).max(BLOCK)
    }

    /// The smaller of both values for each size.
    pub fn min(&self, other: &Sizes) -> Sizes {
        Sizes {
            large: self.large.min(other.large),
            copied: self.copied.min(other.copied),
            files: self.files.min(other.files),
            records: self.records.min(other.records),
            random: self.random.min(other.random),
        }
    }
}

/// The size that the cost of a row depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeKind {
    /// A large file, sequential.
    Large,
    /// A large file, random, for a time.
    Spots,
    /// Commits, for a time.
    Records,
    /// Small files.
    Files,
    /// A copied file.
    Copied,
}

impl SizeKind {
    /// The size, in the unit that the cost grows with.
    pub fn amount(self, sizes: &Sizes) -> u64 {
        match self {
            SizeKind::Large => sizes.large,
            SizeKind::Spots => sizes.spots(),
            SizeKind::Files => u64::from(sizes.files),
            SizeKind::Copied => sizes.copied,
            SizeKind::Records => u64::from(sizes.records),
        }
    }

    /// True if the row runs for a time.
    pub fn is_timed(self) -> bool {
        matches!(self, SizeKind::Spots | SizeKind::Records)
    }

    /// These sizes with this one halved.
    pub fn halved(self, sizes: &Sizes) -> Sizes {
        let mut half = *sizes;
        match self {
            SizeKind::Large | SizeKind::Spots => half.large /= 2,
            SizeKind::Files => half.files /= 2,
            SizeKind::Copied => half.copied /= 2,
            SizeKind::Records => half.records /= 2,
        }
        half
    }
}
