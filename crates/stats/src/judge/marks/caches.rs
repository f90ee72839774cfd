//! Whether what was read came from the device that it is said to come from.

use super::{Mark, MarkCode};

/// The share of the bytes read that must have come from the device. The kernel reads whole pages, and more of
/// them than are asked for, so that less than all of it has another source.
pub const FROM_DEVICE: f64 = 0.95;

/// Bytes that may have another source in any case: to look a file up reads metadata, and btrfs keeps small files
/// among them. Eight of its nodes; looking up reads one or two.
const BY_THE_WAY: u64 = 128 << 10;

/// What programs read that is said to have been out of memory, or was read past it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// So many bytes, each once or past the page cache.
    All(u64),
    /// So many bytes for the first time. What is touched again after that, or was written before, memory has by right.
    First(u64),
}

impl Wanted {
    /// The bytes that have to come from the device.
    pub fn bytes(self) -> u64 {
        let (Wanted::All(bytes) | Wanted::First(bytes)) = self;
        bytes
    }
}

/// What is wrong where programs wanted these bytes and so many were fetched from the device for them.
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

/// What is wrong where a device read so many bytes, and those it stands on only so many meanwhile.
pub fn lower(below: u64, above: u64, (device, under): (&str, &str)) -> Option<Mark> {
    let share = below as f64 / above as f64;
    (above > 0 && share < FROM_DEVICE).then(|| Mark {
        code: MarkCode::Lower,
        value: Some(share),
        text: format!(
            "{} of the bytes that {device} read came from {under} below it, the rest from a cache between them",
            percent(share)
        ),
    })
}

/// Never rounded up to all of it.
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
        let names = ("loop0", "vda");
        assert_eq!(lower(0, 0, names), None);
        assert_eq!(lower(100, 100, names), None);
        let mark = lower(0, 100, names).expect("a mark");
        assert_eq!(mark.code, MarkCode::Lower);
        assert!(mark.text.starts_with("0 % of the bytes that loop0 read came from vda"), "{}", mark.text);
    }
}
