//! Zeros in a fio call: in fio, they are the defaults, such as no pause and no sync. diskperf refuses them.

use std::ffi::OsString;

use super::setting;

/// True if a time of fio is zero, in whatever unit.
pub(super) fn is_zero(time: &str) -> bool {
    let digits = time.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    !digits.is_empty() && digits.bytes().all(|digit| digit == b'0')
}

/// Removes syncs after every 0 writes. These options have the same names in both programs.
pub(super) fn remove_zero_syncs(ours: &mut Vec<OsString>) {
    let mut place = 0;
    while place < ours.len() {
        let is_next_zero = ours.get(place + 1).is_some_and(|next| next == "0");
        let length = match ours[place].to_str().and_then(setting) {
            Some(("fsync" | "fdatasync", Some("0"))) => 1,
            Some(("fsync" | "fdatasync", None)) if is_next_zero => 2,
            _ => 0,
        };
        ours.drain(place..place + length);
        place += usize::from(length == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::translated;
    use super::*;

    #[test]
    fn zeros_are_the_defaults_of_fio() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<OsString>>();
        for (fio, expected) in [
            ("--rw=randread --thinktime=0 --ramp_time 0s", "randread"),
            ("--rw=read --bs=4k --runtime=0 --timeout=0", "read --bs=4k"),
            ("--rw=randwrite --fsync=0 --fdatasync 0 .", "randwrite ."),
            ("--rw=randwrite --sync=none --fsync 8", "randwrite --fsync 8"),
            ("--rw=randwrite --sync=0 --fdatasync=10", "randwrite --fdatasync=10"),
            ("randwrite --sync none", "randwrite"),
        ] {
            let translated = translated(&words(&format!("diskperf io {fio}"))).expect("a call of fio");
            assert_eq!(translated.words, words(&format!("diskperf io {expected}")), "{fio}");
            assert!(translated.fault.is_none() && translated.remarks.is_empty(), "{:?}", translated.remarks);
        }
        // diskperf refuses zeros in its own words.
        assert!(translated(&words("diskperf io randwrite --fsync 0")).is_none());
    }
}
