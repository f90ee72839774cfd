//! Records: 16 KiB in which every sector identifies its record. This module does not access files or devices.
//!
//! A sector of 512 bytes is the smallest unit that a disk writes atomically. Each begins with a stamp: its record, the
//! version of the record, and its position in it. The remaining bytes are computed from the stamp, so that every byte
//! is checked.

use kernel::{STAMP_BYTES, stamp};
use units::Prng;
use units::fnv1a;

/// The smallest sector of a disk, in bytes: a disk writes it completely or not at all.
pub const SECTOR: usize = 512;

/// Bytes of a record: several pages, and several blocks of any file system, so that a record can be torn. Larger
/// records would be fewer in a round.
pub const RECORD: usize = 16 << 10;

/// The way in which a record is written and made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Writes a new file; `fsync` of the file, then of its directory.
    Create,
    /// Appends to a file; `fdatasync`.
    Append,
    /// Overwrites an older record in place; `fdatasync`.
    Overwrite,
    /// Writes a new file; `fsync`; renames it over an older file; `fsync` of the directory.
    Replace,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Create, Kind::Append, Kind::Overwrite, Kind::Replace];

    /// The name, as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Create => "create",
            Kind::Append => "append",
            Kind::Overwrite => "overwrite",
            Kind::Replace => "replace",
        }
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The state of an acknowledged record after the power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The record is present, in the acknowledged version or a newer one that was in flight.
    Intact,
    /// No part of the record is present.
    Missing,
    /// Only a part of the record is present; the rest has other contents.
    Torn,
    /// An older version is present, complete.
    Stale,
}

/// The records of one round. Records of other rounds and runs have different contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Records {
    /// The seed, which distinguishes this round from others.
    pub seed: u64,
}

impl Records {
    /// Returns the bytes of a version of a record.
    pub fn bytes(self, kind: Kind, number: u64, version: u64) -> Vec<u8> {
        let identity = self.identity(kind, number);
        let mut bytes = vec![0; RECORD];
        for (index, sector) in bytes.chunks_exact_mut(SECTOR).enumerate() {
            fill(sector, identity, version, index);
        }
        bytes
    }

    /// Judges the bytes at the position of a record whose version `acknowledged` was acknowledged:
    ///   1. intact: full length, and every sector has that version or a later one. A record of kind `Replace` must have
    ///      the same version in all sectors;
    ///   2. stale: every sector has the same older version;
    ///   3. missing: no sector has any version;
    ///   4. torn: everything else.
    pub fn judge(self, kind: Kind, number: u64, acknowledged: u64, bytes: &[u8]) -> Verdict {
        let identity = self.identity(kind, number);
        let sectors = bytes.chunks_exact(SECTOR).take(RECORD / SECTOR).enumerate();
        let versions: Vec<Option<u64>> = sectors.map(|(index, sector)| version(sector, identity, index)).collect();
        let (first, is_whole) = (versions.first().copied().flatten(), versions.len() == RECORD / SECTOR);
        let is_one = is_whole && first.is_some() && versions.iter().all(|version| *version == first);
        let is_new = is_whole && versions.iter().all(|version| version.is_some_and(|version| version >= acknowledged));
        // 1
        if is_new && (is_one || kind != Kind::Replace) {
            return Verdict::Intact;
        }
        // 2
        if is_one {
            return Verdict::Stale;
        }
        // 3, 4
        if versions.iter().all(Option::is_none) { Verdict::Missing } else { Verdict::Torn }
    }

    fn identity(self, kind: Kind, number: u64) -> u64 {
        let words = [self.seed, kind as u64, number];
        fnv1a(words.into_iter().flat_map(u64::to_le_bytes))
    }
}

/// Fills a sector: its stamp, then bytes computed from it.
fn fill(sector: &mut [u8], identity: u64, version: u64, index: usize) {
    let place = version.wrapping_mul(RECORD as u64).wrapping_add((index * SECTOR) as u64);
    let (head, rest) = sector.split_at_mut(STAMP_BYTES);
    head.copy_from_slice(&stamp(identity, place));
    let mut prng = Prng::new(identity ^ place.rotate_left(32));
    for word in rest.chunks_exact_mut(8) {
        word.copy_from_slice(&prng.next_u64().to_le_bytes());
    }
}

/// Returns the version of a sector; `None` if any byte differs from this record at this position.
fn version(sector: &[u8], identity: u64, index: usize) -> Option<u64> {
    let place = u64::from_le_bytes(sector.get(8..STAMP_BYTES)?.try_into().ok()?);
    let version = place / RECORD as u64;
    let mut expected = [0; SECTOR];
    fill(&mut expected, identity, version, index);
    (sector == expected).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: Records = Records { seed: 7 };

    fn bytes_of(version: u64) -> Vec<u8> {
        RECORDS.bytes(Kind::Overwrite, 3, version)
    }

    fn judged(bytes: &[u8]) -> Verdict {
        RECORDS.judge(Kind::Overwrite, 3, 5, bytes)
    }

    /// Returns the first sectors of `one`, then the rest of `other`.
    fn mixed(sectors: usize, one: &[u8], other: &[u8]) -> Vec<u8> {
        [&one[..sectors * SECTOR], &other[sectors * SECTOR..]].concat()
    }

    #[test]
    fn acknowledged_and_newer_versions_are_intact() {
        assert_eq!(judged(&bytes_of(5)), Verdict::Intact);
        assert_eq!(judged(&bytes_of(6)), Verdict::Intact);
        assert_eq!(judged(&mixed(7, &bytes_of(6), &bytes_of(5))), Verdict::Intact);
        let replaced = |bytes: &[u8]| RECORDS.judge(Kind::Replace, 3, 5, bytes);
        let bytes_of = |version| RECORDS.bytes(Kind::Replace, 3, version);
        assert_eq!(replaced(&bytes_of(6)), Verdict::Intact);
        assert_eq!(replaced(&mixed(7, &bytes_of(6), &bytes_of(5))), Verdict::Torn);
        assert_eq!(replaced(&bytes_of(4)), Verdict::Stale);
    }

    #[test]
    fn older_versions_are_stale_and_partial_ones_torn() {
        assert_eq!(judged(&bytes_of(4)), Verdict::Stale);
        assert_eq!(judged(&mixed(31, &bytes_of(5), &bytes_of(4))), Verdict::Torn);
        assert_eq!(judged(&mixed(1, &bytes_of(4), &bytes_of(3))), Verdict::Torn);
        assert_eq!(judged(&bytes_of(5)[..RECORD - 1]), Verdict::Torn);
        assert_eq!(judged(&mixed(8, &bytes_of(5), &vec![0; RECORD])), Verdict::Torn);
    }

    #[test]
    fn records_without_any_matching_byte_are_missing() {
        assert_eq!(judged(&[]), Verdict::Missing);
        assert_eq!(judged(&vec![0; RECORD]), Verdict::Missing);
        assert_eq!(judged(&RECORDS.bytes(Kind::Overwrite, 4, 5)), Verdict::Missing);
        assert_eq!(judged(&Records { seed: 8 }.bytes(Kind::Overwrite, 3, 5)), Verdict::Missing, "of another round");
    }

    #[test]
    fn one_changed_byte_makes_a_record_torn() {
        for at in [0, 8, 15, 16, 511, 512, RECORD - 1] {
            let mut bytes = bytes_of(5);
            bytes[at] ^= 1;
            assert_eq!(judged(&bytes), Verdict::Torn, "{at}");
        }
    }

    #[test]
    fn kinds_are_found_by_their_names() {
        assert!(Kind::ALL.into_iter().all(|kind| Kind::named(kind.name()) == Some(kind)));
        assert_eq!(Kind::named("delete"), None);
    }
}
