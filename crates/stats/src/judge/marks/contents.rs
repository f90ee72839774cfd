//! Whether the device moved the bytes that the programs moved: neither holes nor compressed data, nor several times
//! over.

use super::{Mark, MarkCode};

/// The share of the files that may be empty, or compressed: as much as need not come from the device
/// (`caches::FROM_DEVICE`).
const OTHERWISE: f64 = 0.05;

/// The share of the programs' bytes that the device must have written. What it writes beside the data only adds
/// to that.
const WRITTEN: f64 = 0.90;

/// So many times the programs' bytes may a device write where they are large and in order.
const TIMES: f64 = 1.5;

/// Below this, journal and metadata weigh too much: on fresh images they took up to 0.6 MiB beside the data of one
/// phase that wrote in order (measured: btrfs; ext4 and xfs less than 0.1 MiB), and a disk that others use writes for
/// them too. Blocks at random are another matter: btrfs wrote 16 MiB of those three times over.
const LARGE: u64 = 16 << 20;

/// Writes that are as large as the blocks of most file systems: smaller ones, each made durable by itself, must
/// write a block over and over.
const LARGE_CALL: u64 = 4096;

/// What is wrong with reading files of which so many bytes were never written.
pub fn hole(empty: u64, of: u64) -> Option<Mark> {
    let share = empty as f64 / of as f64;
    (of > 0 && share > OTHERWISE).then(|| Mark {
        code: MarkCode::Hole,
        value: Some(share),
        text: format!("{:.0} % of the files are holes, and reading holes does not touch the device", 100.0 * share),
    })
}

/// Whether so much of the files is compressed that reading them reads less of a device.
pub fn is_compressed(compressed: u64, of: u64) -> bool {
    of > 0 && compressed as f64 / of as f64 > OTHERWISE
}

/// What is wrong where programs read so many bytes of compressed files, and so many were fetched from the device for
/// them. To be asked where that is too few (`caches::cache`).
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

/// What is wrong where programs wrote so many bytes and made them durable, and the device wrote so many.
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

/// The same where the device wrote far more. `calls` is how many writes it were, in order.
pub fn amplify(device: u64, program: u64, calls: u64) -> Option<Mark> {
    let times = device as f64 / program as f64;
    let is_large = program >= LARGE && calls > 0 && program / calls >= LARGE_CALL;
    (is_large && times > TIMES).then(|| Mark {
        code: MarkCode::Amplify,
        value: Some(times),
        text: format!("the device wrote {times:.1} times the bytes that the test wrote"),
    })
}

/// What is wrong with a command while which the devices under its target moved so many bytes in all rounds together,
/// and whose own account has so many, where others use the devices too. Names that are made and removed are in no
/// account.
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
        assert_eq!(amplify(1 << 30, 1 << 20, 128), None);
        assert_eq!(amplify(96 << 20, 64 << 20, 8192), None);
        assert_eq!(amplify(128 << 20, 64 << 20, 1 << 20), None);
        assert_eq!(amplify(128 << 20, 64 << 20, 0), None);
        assert_eq!(amplify(128 << 20, 64 << 20, 8192).map(|mark| mark.value), Some(Some(2.0)));
    }
}
