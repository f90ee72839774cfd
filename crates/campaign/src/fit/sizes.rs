//! The sizes of a preset's programs, and the size that the cost of a row depends on.

use serde::{Deserialize, Serialize};
use units::Nanos;

/// Bytes of one random read, and of one commit.
pub const BLOCK: u64 = 4096;

/// The sizes of all programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Bytes of a large file.
    pub large: u64,
    /// Bytes of the file for random reads.
    pub spots: u64,
    /// Bytes of a copied file.
    pub copied: u64,
    /// Bytes of a file that is copied in small calls. The processor limits these.
    pub small_calls: u64,
    /// The number of small files.
    pub files: u32,
    /// The maximum number of committed records.
    pub records: u32,
    /// The time limit of random reads, and of commits.
    pub random: Nanos,
}

impl Sizes {
    /// The maximum sizes. A disk that reads 10 GB/s needs 2 GiB for the time of a round, and one that commits or
    /// deletes a million times per second needs a quarter of a million files and records.
    pub const LARGEST: Sizes = Sizes {
        large: 2 << 30,
        spots: 1 << 30,
        copied: 1 << 30,
        small_calls: 1 << 30,
        files: 1 << 18,
        records: 1 << 18,
        random: Nanos::from_secs(10),
    };

    /// The minimum sizes: a round writes less than a MiB. It takes about a second on a disk with a hundred operations
    /// per second.
    pub const SMALLEST: Sizes = Sizes {
        large: 64 << 10,
        spots: 16 << 10,
        copied: 64 << 10,
        small_calls: 64 << 10,
        files: 16,
        records: 16,
        random: Nanos::from_millis(125),
    };

    /// The maximum sizes in tests of diskperf, which need no floor. They write at most 3 GiB in five rounds.
    pub const WITHOUT_FLOOR: Sizes = Sizes {
        large: 64 << 20,
        spots: 32 << 20,
        copied: 16 << 20,
        small_calls: 16 << 20,
        files: 8192,
        records: 1024,
        random: Nanos::from_millis(1000),
    };

    /// The sizes on a simulated machine, which are not fitted: files as large as those of 1983, and the rest in
    /// proportion.
    pub const SIMULATED: Sizes = Sizes {
        large: 8 << 20,
        spots: 2 << 20,
        copied: 1 << 20,
        small_calls: 1 << 20,
        files: 128,
        records: 128,
        random: Nanos::from_millis(1000),
    };

    /// The sizes of the trials. The first is quick even on the slowest disk. Together they separate costs that grow
    /// with the size from fixed costs. The last is too large for the burst that a throttled disk allows.
    pub const TRIALS: [Sizes; 4] = [
        Sizes::trial(64 << 10, 1 << 20, 64 << 10, 16),
        Sizes::trial(2 << 20, 1 << 20, 512 << 10, 64),
        Sizes::trial(8 << 20, 4 << 20, 2 << 20, 256),
        Sizes::trial(64 << 20, 16 << 20, 16 << 20, 2048),
    ];

    const fn trial(large: u64, spots: u64, copied: u64, files: u32) -> Sizes {
        let small_calls = if copied < 2 << 20 { copied } else { 2 << 20 };
        Sizes { large, spots, copied, small_calls, files, records: 64, random: Nanos::from_millis(40) }
    }

    /// Bytes of the file for random reads if the size of large files is given: a quarter. It is written only to be read
    /// at a few thousand places.
    pub fn spots_beside(large: u64) -> u64 {
        (large / 4 / BLOCK * BLOCK).max(BLOCK)
    }

    /// The smaller of both values for each size.
    pub fn min(&self, other: &Sizes) -> Sizes {
        Sizes {
            large: self.large.min(other.large),
            spots: self.spots.min(other.spots),
            copied: self.copied.min(other.copied),
            small_calls: self.small_calls.min(other.small_calls),
            files: self.files.min(other.files),
            records: self.records.min(other.records),
            random: self.random.min(other.random),
        }
    }

    /// The sizes for each of several hosts that share the room for these, but none below `least`: a given size stays.
    /// Times stay too.
    pub fn divided(&self, hosts: u64, least: &Sizes) -> Sizes {
        let part = |kind: SizeKind| {
            let part = kind.amount(self) / hosts;
            // Four significant bits, as in `with_amount`, which would otherwise exceed the part.
            let grain: u64 = 1 << part.max(1).ilog2().saturating_sub(3);
            (part / grain * grain).max(kind.amount(least))
        };
        let count = |kind: SizeKind| u32::try_from(part(kind)).unwrap_or(u32::MAX);
        Sizes {
            large: part(SizeKind::Large),
            spots: part(SizeKind::Spots),
            copied: part(SizeKind::Copied),
            small_calls: part(SizeKind::SmallCalls),
            files: count(SizeKind::Files),
            records: count(SizeKind::Records),
            random: self.random,
        }
    }
}

/// The size that the cost of a row depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeKind {
    /// A large file, sequential.
    Large,
    /// A file of its own, random, for a time.
    Spots,
    /// Commits, for a time.
    Records,
    /// Small files.
    Files,
    /// A copied file.
    Copied,
    /// A file copied in small calls.
    SmallCalls,
}

impl SizeKind {
    /// All kinds.
    pub const ALL: [SizeKind; 6] =
        [SizeKind::Large, SizeKind::Spots, SizeKind::Records, SizeKind::Files, SizeKind::Copied, SizeKind::SmallCalls];

    /// The size, in the unit that the cost grows with.
    pub fn amount(self, sizes: &Sizes) -> u64 {
        match self {
            SizeKind::Large => sizes.large,
            SizeKind::Spots => sizes.spots,
            SizeKind::Files => u64::from(sizes.files),
            SizeKind::Copied => sizes.copied,
            SizeKind::SmallCalls => sizes.small_calls,
            SizeKind::Records => u64::from(sizes.records),
        }
    }

    /// These sizes with this one replaced by an amount, or by the next larger one that has four significant bits. So
    /// file sizes stay multiples of a call.
    pub fn with_amount(self, sizes: &Sizes, amount: u64) -> Sizes {
        let grain = 1 << amount.max(1).ilog2().saturating_sub(3);
        let amount = amount.checked_next_multiple_of(grain).unwrap_or(amount);
        let count = amount.try_into().unwrap_or(u32::MAX);
        match self {
            SizeKind::Large => Sizes { large: amount, ..*sizes },
            SizeKind::Spots => Sizes { spots: amount, ..*sizes },
            SizeKind::Files => Sizes { files: count, ..*sizes },
            SizeKind::Copied => Sizes { copied: amount, ..*sizes },
            SizeKind::SmallCalls => Sizes { small_calls: amount, ..*sizes },
            SizeKind::Records => Sizes { records: count, ..*sizes },
        }
    }

    /// Bytes on the target per unit of the size, at one time.
    pub fn unit_bytes(self) -> u64 {
        match self {
            SizeKind::Large | SizeKind::Spots => 1,
            SizeKind::Copied | SizeKind::SmallCalls => 2,
            // A file system gives a block to a small file.
            SizeKind::Files | SizeKind::Records => BLOCK,
        }
    }

    /// The maximum number of operations of a timed row; `None` for others.
    pub fn operations(self, sizes: &Sizes) -> Option<u64> {
        match self {
            SizeKind::Spots => Some(sizes.spots / BLOCK),
            SizeKind::Records => Some(u64::from(sizes.records)),
            _ => None,
        }
    }

    /// True if the row runs for a time.
    pub fn is_timed(self) -> bool {
        matches!(self, SizeKind::Spots | SizeKind::Records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_file_sizes_are_multiples_of_a_call() {
        for amount in [64 << 10, 100_000, 1_000_000, 23_000_000, (1 << 30) + 1] {
            let sizes = SizeKind::Large.with_amount(&Sizes::SMALLEST, amount);
            assert!(sizes.large >= amount && sizes.large.is_multiple_of(8192), "{amount}: {}", sizes.large);
            assert!(sizes.large <= amount / 8 * 9 + 8, "{amount}: {}", sizes.large);
        }
        assert_eq!(SizeKind::Files.with_amount(&Sizes::SMALLEST, 200).files, 208);
        assert_eq!(SizeKind::Files.with_amount(&Sizes::SMALLEST, 5).files, 5);
    }

    #[test]
    fn divided_sizes_are_whole_calls_and_given_sizes_stay() {
        // The user gives this size: it is both the largest and the smallest one.
        let given = |sizes: &Sizes| Sizes { large: 1000 << 20, ..*sizes };
        for hosts in 1..=64 {
            for sizes in [Sizes::LARGEST, Sizes::WITHOUT_FLOOR] {
                let divided = sizes.divided(hosts, &Sizes::SMALLEST);
                assert!(divided.large.is_multiple_of(8192), "{hosts}: {divided:?}");
                for kind in SizeKind::ALL {
                    assert!(kind.amount(&divided) <= kind.amount(&sizes) / hosts, "{kind:?} {hosts}: {divided:?}");
                    assert_eq!(kind.with_amount(&divided, kind.amount(&divided)), divided, "{kind:?} {hosts}");
                }
                let kept = given(&sizes).divided(hosts, &given(&Sizes::SMALLEST));
                assert_eq!(kept, given(&divided), "{hosts}");
            }
        }
        assert_eq!(Sizes::SMALLEST.divided(2, &Sizes::SMALLEST), Sizes::SMALLEST);
    }

    #[test]
    fn a_given_size_has_a_quarter_for_random_reads() {
        assert_eq!((Sizes::spots_beside(40 << 10), Sizes::spots_beside(8192)), (8 << 10, BLOCK));
    }
}
