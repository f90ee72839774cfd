//! Judges whether data came from the device that the label names.

use super::{Mark, MarkCode};

/// The share of the bytes read that must have come from the device. The kernel reads whole pages and reads ahead, so a
/// smaller share means another source.
pub const FROM_DEVICE: f64 = 0.95;

/// Bytes that may always have another source. Opening a file reads metadata, and btrfs stores small files in its
/// metadata. This is eight btrfs nodes; a lookup reads one or two.
const BY_THE_WAY: u64 = 128 << 10;

/// The bytes that programs read, and that were outside of the page cache (as the label says) or read past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Number of bytes, each read once or past the page cache.
    All(u64),
    /// Number of bytes read for the first time. The page cache may hold bytes that are read again or were written
    /// before.
    First(u64),
}

impl Wanted {
    /// Returns the bytes that must come from the device.
    pub fn bytes(self) -> u64 {
        let (Wanted::All(bytes) | Wanted::First(bytes)) = self;
        bytes
    }
}

/// Returns a mark if too few of the wanted bytes were fetched from the device.
pub fn cache(fetched: u64, wanted: Wanted) -> Option<Mark> {
    let share = fetched as f64 / wanted.bytes() as f64;
    let is_much = wanted.bytes().saturating_sub(fetched) > BY_THE_WAY;
    let what = match wanted {
        Wanted::All(_) => "the bytes read",
        Wanted::First(_) => "the bytes read for the first time",
    };
    (is_much && share < FROM_DEVICE).then(|| Mark {
        code: MarkCode::Cache,
        value: Some(share),
        text: format!("{} of {what} came from the device, the rest from the page cache", percent(share)),
    })
}

/// The bytes that a device read.
#[derive(Clone, Copy, Debug)]
pub struct Reads<'a> {
    /// Name of the device.
    pub device: &'a str,
    /// Number of bytes.
    pub bytes: u64,
}

/// Returns a mark if the device below a stacked device read far fewer bytes than the stacked device itself.
pub fn lower(above: Reads, below: Reads) -> Option<Mark> {
    let share = below.bytes as f64 / above.bytes as f64;
    (above.bytes > 0 && share < FROM_DEVICE).then(|| Mark {
        code: MarkCode::Lower,
        value: Some(share),
        text: format!(
            "{} of the bytes that {} read came from {} below it, the rest from a cache between them",
            percent(share),
            above.device,
            below.device
        ),
    })
}

/// Truncates, so that 100 % means all bytes.
fn percent(share: f64) -> String {
    format!("{:.0} %", (100.0 * share).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nineteen_of_twenty_bytes_must_come_from_the_device() {
        for wanted in [Wanted::All, Wanted::First] {
            assert_eq!(cache(0, wanted(0)), None);
            assert_eq!(cache(95 << 20, wanted(100 << 20)), None);
            assert_eq!(cache(400 << 20, wanted(100 << 20)), None);
            let mark = cache(94 << 20, wanted(100 << 20)).expect("a mark");
            assert_eq!((mark.code, mark.value), (MarkCode::Cache, Some(0.94)));
            assert_eq!(cache(0, wanted(128 << 10)), None);
            assert!(cache(0, wanted(256 << 10)).is_some());
        }
        let text = |wanted| cache(0, wanted).expect("a mark").text;
        assert!(text(Wanted::All(1 << 20)).starts_with("0 % of the bytes read came from the device"));
        assert!(text(Wanted::First(1 << 20)).starts_with("0 % of the bytes read for the first time came from"));
    }

    #[test]
    fn what_a_device_reads_must_come_from_below() {
        let [above, below] = ["loop0", "vda"].map(|device| move |bytes| Reads { device, bytes });
        assert_eq!(lower(above(0), below(0)), None);
        assert_eq!(lower(above(100), below(100)), None);
        let mark = lower(above(100), below(0)).expect("a mark");
        assert_eq!(mark.code, MarkCode::Lower);
        assert!(mark.text.starts_with("0 % of the bytes that loop0 read came from vda"), "{}", mark.text);
    }
}
