//! Judges whether data were durable when the clock said so.

use super::{Mark, MarkCode};

/// The share of the files' pages that may be dirty when durability is claimed. A convention of this project: other
/// programs may touch a page of metadata meanwhile.
const DIRTY: f64 = 0.01;

/// Returns a mark if too many of the `of` pages were dirty when the clock stopped.
pub fn dirty(unwritten: u64, of: u64) -> Option<Mark> {
    let share = unwritten as f64 / of as f64;
    (of > 0 && share > DIRTY).then(|| Mark {
        code: MarkCode::Dirty,
        value: Some(share),
        text: format!("{:.0} % of the data were only in the page cache when the clock stopped", 100.0 * share),
    })
}

/// The largest permitted growth of the machine's dirty bytes at the time of durability, as a share of the written
/// bytes. Other programs write too, so only a majority is evidence.
const GROWN: f64 = 0.5;

/// Smaller amounts are normal background writes: a quarter of the 16 MiB below which a machine counts as idle.
const GROWN_LEAST: u64 = 4 << 20;

/// Returns the number of dirty bytes above which their growth is evidence that `written` bytes are not on a device.
/// `None` if no growth is evidence.
pub fn evident_growth(written: u64) -> Option<u64> {
    (written >= GROWN_LEAST).then_some((GROWN * written as f64) as u64)
}

/// Returns a mark if the machine's dirty bytes grew by `grown` until the clock stopped, although the `written` bytes
/// were said to be durable. Call it only if no disk is visible that may have received them; the flushes of a visible
/// disk are better evidence.
pub fn dirty_below(grown: u64, written: u64) -> Option<Mark> {
    let share = grown as f64 / written as f64;
    (grown > evident_growth(written)?).then(|| Mark {
        code: MarkCode::Dirty,
        value: Some(share),
        text: format!(
            "when the clock stopped, {:.0} % of the written bytes were still to be written, and no disk is visible \
             that received them",
            100.0 * share
        ),
    })
}

/// Applies [`dirty_below`] to each round, given as the growth of the machine's dirty bytes (`None` if unknown) and the
/// bytes written. Returns the mark of the round with the smallest share. Other programs can make dirty bytes grow in
/// some rounds, but hardly in all, so one round without growth clears the disk.
pub fn dirty_below_always(rounds: &[(Option<u64>, u64)]) -> Option<Mark> {
    let marks: Option<Vec<Mark>> = rounds.iter().map(|(grown, written)| dirty_below((*grown)?, *written)).collect();
    marks?.into_iter().min_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// Of this number of sync calls, at least one must have caused a flush: file systems flush once for each call that
/// comes alone, and several programs may share a flush.
const CALLS_PER_FLUSH: u64 = 2;

/// The flushes of a device that has a write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flushing<'a> {
    /// The name of the device.
    pub device: &'a str,
    /// Number of flushes, for any program.
    pub flushes: u64,
    /// True if the kernel's setting was overridden, so that it believes the device has no write cache to flush.
    pub overridden: bool,
}

/// Returns a mark if a device with a write cache was flushed too rarely for the number of sync calls per program.
pub fn noflush(seen: Flushing, calls_per_program: u64) -> Option<Mark> {
    let Flushing { device, flushes, overridden } = seen;
    let needed = (calls_per_program / CALLS_PER_FLUSH).max(1);
    (flushes < needed).then(|| {
        let why = if overridden { ", because the kernel was told that it has none" } else { "" };
        let calls = if calls_per_program > 1 { format!(" for {calls_per_program} syncs") } else { String::new() };
        Mark {
            code: MarkCode::Noflush,
            value: Some(flushes as f64),
            text: format!("{device} has a write cache and was flushed {flushes} times{calls}{why}"),
        }
    })
}

/// Mount options that turn flushes off, each with its file system type; an empty type means any. ext4 and btrfs without
/// barriers, as in /proc, and overlayfs without crash safety, as older and newer kernels call it.
const WITHOUT_FLUSHES: [(&str, &str); 5] = [
    ("", "nobarrier"),
    ("", "barrier=0"),
    ("", "barrier=none"),
    ("overlay", "volatile"),
    ("overlay", "fsync=volatile"),
];

/// Returns a mark if a file system of this type with these mount options does not flush.
pub fn noflush_by_mount(file_system: &str, options: &[String]) -> Option<Mark> {
    let promises = |option: &&String| {
        WITHOUT_FLUSHES.iter().any(|(system, word)| word == option && (system.is_empty() || *system == file_system))
    };
    let option = options.iter().find(promises)?;
    let text = format!("{file_system} is mounted with {option}: its syncs flush nothing");
    Some(Mark { code: MarkCode::Noflush, value: None, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grew_with_the_data_was_not_written() {
        assert_eq!(dirty_below(100 << 20, 0), None);
        assert_eq!((dirty_below(3 << 20, 3 << 20), evident_growth(3 << 20)), (None, None));
        assert_eq!(evident_growth(64 << 20), Some(32 << 20));
        assert_eq!(dirty_below(32 << 20, 64 << 20), None);
        assert_eq!(dirty_below(60 << 20, 64 << 20).map(|mark| mark.code), Some(MarkCode::Dirty));
    }

    /// One disk does not write its data. The other is honest, but another program writes in some rounds.
    #[test]
    fn only_what_grew_in_every_round_was_not_written() {
        let written = 64 << 20;
        let value = |grown: &[Option<u64>]| {
            let rounds: Vec<(Option<u64>, u64)> = grown.iter().map(|grown| (*grown, written)).collect();
            dirty_below_always(&rounds).and_then(|mark| mark.value)
        };
        assert_eq!(value(&[Some(64 << 20), Some(48 << 20)]), Some(0.75));
        assert_eq!(value(&[Some(64 << 20), Some(1 << 20), Some(64 << 20)]), None);
        assert_eq!(value(&[Some(64 << 20), None]), None);
        assert_eq!(value(&[]), None);
    }

    #[test]
    fn one_flush_is_enough_for_one_sync_and_for_two() {
        let seen = |flushes| Flushing { device: "vda", flushes, overridden: false };
        for (flushes, calls, is_marked) in
            [(0, 0, true), (1, 0, false), (1, 3, false), (0, 1, true), (99, 200, true), (100, 200, false)]
        {
            let mark = noflush(seen(flushes), calls);
            assert_eq!(mark.is_some(), is_marked, "{flushes} for {calls}");
        }
        let told = noflush(Flushing { overridden: true, ..seen(0) }, 0).expect("a mark");
        assert!(told.text.contains("told"), "{}", told.text);
    }

    #[test]
    fn some_mounts_promise_nothing() {
        let judge = |system: &str, options: &[&str]| {
            noflush_by_mount(system, &options.iter().map(|&option| option.to_owned()).collect::<Vec<String>>())
        };
        assert_eq!(judge("ext4", &["rw", "barrier=1"]), None);
        assert!(judge("ext4", &["rw", "nobarrier"]).is_some());
        assert!(judge("overlay", &["rw", "volatile"]).expect("a mark").text.contains("mounted with volatile"));
        assert!(judge("overlay", &["rw", "fsync=volatile"]).is_some());
        assert_eq!(judge("other", &["volatile"]), None);
    }

    #[test]
    fn a_hundredth_may_be_unwritten() {
        assert_eq!(dirty(0, 0), None);
        assert_eq!(dirty(10, 1000), None);
        assert_eq!(dirty(11, 1000).map(|mark| mark.code), Some(MarkCode::Dirty));
    }
}
