//! Judges claims about storage without a visible device by the bytes that all disks and networks of the machine moved.
//! Other programs only add to these bytes. So too few of them disprove a claim, and enough of them prove nothing.

use units::Bytes;

use super::{Mark, MarkCode};

/// The share of incompressible bytes that disks and networks must have moved at least. Less than half is gross: layers
/// that the machine does not count, such as a small cache, may have had the rest.
const MOVED: f64 = 0.5;

/// The same share of bytes that a file system may have compressed. Guess.
const MOVED_COMPRESSED: f64 = 0.05;

/// Fewer missing bytes are not evidence: small files may be in metadata that were fetched before.
const LEAST: u64 = 1 << 20;

/// Returns a mark if too few bytes arrived from disks and networks while `read` bytes were read from storage.
pub fn undelivered(arrived: u64, read: u64, is_compressible: bool) -> Option<Mark> {
    let share = short_share(arrived, read, is_compressible)?;
    let text = format!(
        "all disks and networks of this machine delivered {} while the test read {}: the rest came from the memory of \
         a server, or in a way that the kernel does not count",
        Bytes(arrived),
        Bytes(read)
    );
    Some(Mark { code: MarkCode::Lower, value: Some(share), text })
}

/// Returns a mark if too few bytes left for disks and networks until `written` bytes were said to be durable.
pub fn untaken(left: u64, written: u64, is_compressible: bool) -> Option<Mark> {
    let share = short_share(left, written, is_compressible)?;
    let text = format!(
        "when the clock stopped, all disks and networks of this machine had taken {} of {} written: the rest was only \
         in memory, or left in a way that the kernel does not count",
        Bytes(left),
        Bytes(written)
    );
    Some(Mark { code: MarkCode::Dirty, value: Some(1.0 - share), text })
}

/// Returns the share that was moved, if it is too small.
fn short_share(moved: u64, of: u64, is_compressible: bool) -> Option<f64> {
    let share = moved as f64 / of as f64;
    let least = if is_compressible { MOVED_COMPRESSED } else { MOVED };
    (of.saturating_sub(moved) >= LEAST && share < least).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gross_differences_disprove() {
        let mib = |count: u64| count << 20;
        for (moved, of, is_compressible, is_marked) in [
            (0, 0, false, false),
            (0, mib(1) - 1, false, false),
            (0, mib(1), false, true),
            (mib(31), mib(64), false, true),
            (mib(32), mib(64), false, false),
            (mib(900), mib(64), false, false),
            (mib(4), mib(64), true, false),
            (mib(3), mib(64), true, true),
        ] {
            assert_eq!(undelivered(moved, of, is_compressible).is_some(), is_marked, "{moved} of {of}");
            assert_eq!(untaken(moved, of, is_compressible).is_some(), is_marked, "{moved} of {of}");
        }
        let mark = undelivered(mib(1), mib(64), false).expect("a mark");
        assert_eq!((mark.code, mark.value), (MarkCode::Lower, Some(1.0 / 64.0)));
        assert!(mark.text.contains("delivered 1 MiB while the test read 64 MiB"), "{}", mark.text);
        let mark = untaken(0, mib(64), false).expect("a mark");
        assert_eq!((mark.code, mark.value), (MarkCode::Dirty, Some(1.0)));
        assert!(mark.text.contains("had taken 0 B of 64 MiB written"), "{}", mark.text);
    }
}
