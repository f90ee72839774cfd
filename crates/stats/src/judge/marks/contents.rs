//! Judges whether the device moved the same bytes as the programs: no holes, no compressed data, no write
//! amplification.

use super::{Mark, MarkCode};

/// The share of the files that may be holes or compressed: the bytes that need not come from the device
/// (`caches::FROM_DEVICE`).
const OTHERWISE: f64 = 0.05;

/// The share of the programs' bytes that the device must have written. Metadata only adds to the device's bytes.
const WRITTEN: f64 = 0.90;

/// Write amplification that large sequential writes may have.
const TIMES: f64 = 1.5;

/// Below this, journal and metadata are too large a part. On fresh images they took up to 0.6 MiB in a phase of
/// sequential writes (measured: btrfs; ext4 and xfs less than 0.1 MiB), and the disk writes for other programs, too.
/// Random blocks are different: btrfs wrote 16 MiB of those three times.
const LARGE: u64 = 16 << 20;

/// Size of writes that are as large as the blocks of most file systems. Smaller writes, each made durable by itself,
/// must write the same block several times.
const LARGE_CALL: u64 = 4096;

/// Bytes of metadata that a file system may write for each sync: the journal's blocks, or copies of a tree's nodes. For
/// fdatasync after an append of 4 KiB, the device wrote 1 KiB more on xfs, 4 KiB on ext4 without a journal or with fast
/// commits, 24 KiB on ext4, 73 KiB on btrfs, and 144 KiB on btrfs with two copies of metadata (measured with Linux 6.18
/// on loop devices). The limit is the largest of these plus a third. It hides a device that writes twice the bytes if
/// they are at most 384 KiB per sync.
const SYNC: u64 = 192 << 10;

/// Returns a mark if too many of the `of` bytes of the files that were read are holes.
pub fn hole(empty: u64, of: u64) -> Option<Mark> {
    let share = empty as f64 / of as f64;
    (of > 0 && share > OTHERWISE).then(|| Mark {
        code: MarkCode::Hole,
        value: Some(share),
        text: format!("{:.0} % of the files are holes, and reading holes does not touch the device", 100.0 * share),
    })
}

/// True if the compressed share of the files noticeably reduces the bytes that reads take from the device.
pub fn is_compressed(compressed: u64, of: u64) -> bool {
    of > 0 && compressed as f64 / of as f64 > OTHERWISE
}

/// Returns the mark for reads of compressed files. Call it only if too few bytes were fetched from the device
/// (`caches::cache`).
pub fn compress_read(fetched: u64, read: u64) -> Mark {
    let share = fetched as f64 / read as f64;
    Mark {
        code: MarkCode::Compress,
        value: Some(share),
        text: format!(
            "the device read {:.0} % of the bytes that the test read: the data are compressed",
            100.0 * share
        ),
    }
}

/// Returns a mark if the device wrote far fewer bytes than the programs wrote and made durable.
pub fn compress(device: u64, program: u64) -> Option<Mark> {
    let share = device as f64 / program as f64;
    (program > 0 && share < WRITTEN).then(|| Mark {
        code: MarkCode::Compress,
        value: Some(share),
        text: format!(
            "the device wrote {:.0} % of the bytes that the test wrote: the data were compressed",
            100.0 * share
        ),
    })
}

/// The writes that are judged for amplification.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// Bytes.
    pub bytes: u64,
    /// The number of sequential calls.
    pub calls: u64,
    /// The number of syncs, each of which writes metadata.
    pub syncs: u64,
}

/// Returns a mark if the device wrote far more bytes than the programs, even without the metadata of their syncs.
pub fn amplify(device: u64, program: Writes) -> Option<Mark> {
    let Writes { bytes, calls, syncs } = program;
    let is_large = bytes >= LARGE && calls > 0 && bytes / calls >= LARGE_CALL;
    let of_data = device.saturating_sub(SYNC.saturating_mul(syncs));
    let times = device as f64 / bytes as f64;
    (is_large && of_data as f64 > TIMES * bytes as f64).then(|| Mark {
        code: MarkCode::Amplify,
        value: Some(times),
        text: format!("the device wrote {times:.1} times the bytes that the test wrote"),
    })
}

/// Returns a mark if the device had no part in a command. `device` is the number of bytes that the devices under its
/// target moved, over all rounds. `own` is the same figure of the command's own account, given if other programs use
/// the devices too. Accounts do not include the creation and removal of names.
pub fn untouched(device: u64, own: Option<u64>) -> Option<Mark> {
    let text = match own {
        _ if device == 0 => "it neither read nor wrote the device: the figure says nothing about this target",
        Some(0) => {
            "it neither read the device nor changed a file: unless it creates or removes files, the figure says \
             nothing about this target"
        }
        _ => return None,
    };
    Some(Mark { code: MarkCode::Untouched, value: None, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_may_be_empty_or_compressed() {
        for (part, is_marked) in [(0, false), (5, false), (6, true), (100, true)] {
            assert_eq!(hole(part, 100).map(|mark| mark.code), is_marked.then_some(MarkCode::Hole));
            assert_eq!(is_compressed(part, 100), is_marked);
        }
        assert_eq!(hole(0, 0), None);
        assert!(!is_compressed(0, 0));
        assert!(compress_read(3, 100).text.starts_with("the device read 3 %"));
    }

    #[test]
    fn the_device_writes_nine_tenths_at_least() {
        assert_eq!(compress(0, 0), None);
        assert_eq!(compress(90, 100), None);
        assert_eq!(compress(200, 100), None);
        assert_eq!(compress(89, 100).map(|mark| mark.code), Some(MarkCode::Compress));
    }

    #[test]
    fn a_single_byte_touches() {
        for (device, own, is_marked) in
            [(0, None, true), (1, None, false), (1, Some(0), true), (1, Some(1), false), (0, Some(1), true)]
        {
            assert_eq!(untouched(device, own).is_some(), is_marked, "{device} {own:?}");
        }
    }

    #[test]
    fn only_large_writes_are_amplified() {
        let amplify = |device, bytes, calls| amplify(device, Writes { bytes, calls, syncs: 0 });
        assert_eq!(amplify(1 << 30, 1 << 20, 128), None);
        assert_eq!(amplify(96 << 20, 64 << 20, 8192), None);
        assert_eq!(amplify(128 << 20, 64 << 20, 1 << 20), None);
        assert_eq!(amplify(128 << 20, 64 << 20, 0), None);
        assert_eq!(amplify(128 << 20, 64 << 20, 8192).map(|mark| mark.value), Some(Some(2.0)));
    }

    /// The measured bytes of appends that were made durable one by one.
    #[test]
    fn commits_may_write_their_metadata() {
        const COUNT: u64 = 1 << 14;
        let times = |size: u64, times: f64| {
            let bytes = COUNT * size;
            let device = (bytes as f64 * times) as u64;
            amplify(device, Writes { bytes, calls: COUNT, syncs: COUNT }).and_then(|mark| mark.value)
        };
        // xfs; ext4 without a journal, with one, and with a journal of data; btrfs with one copy of metadata and two.
        for ordinary in [1.25, 2.0002, 6.95, 7.002, 19.02, 36.03] {
            assert_eq!(times(4096, ordinary), None, "{ordinary}");
        }
        for ordinary in [1.02, 1.31, 2.16, 3.25] {
            assert_eq!(times(64 << 10, ordinary), None, "{ordinary}");
        }
        // Commits of 1 MiB: ext4 and btrfs, then a journal of data.
        assert_eq!((times(1 << 20, 1.02), times(1 << 20, 1.13)), (None, None));
        assert_eq!(times(1 << 20, 2.02).map(|times| (100.0 * times).round()), Some(202.0));
        // Twice the bytes are hidden by this allowance up to 384 KiB per commit, as the glossary says.
        assert_eq!((times(384 << 10, 2.0), times(385 << 10, 2.0)), (None, Some(2.0)));
        // No file system needs that for commits of 4 KiB.
        assert_eq!(times(4096, 50.0).map(f64::round), Some(50.0));
    }

    #[test]
    fn a_single_sync_at_the_end_excuses_nothing() {
        let device = |beside: u64| 24 * (1 << 20) + beside;
        let marked = |beside| amplify(device(beside), Writes { bytes: 16 << 20, calls: 4096, syncs: 1 }).is_some();
        assert!(!marked(SYNC) && marked(SYNC + 1));
        assert!(amplify(u64::MAX, Writes { bytes: 16 << 20, calls: 4096, syncs: u64::MAX }).is_none());
    }
}
