//! Whether what was said to be durable was.

use super::{Mark, MarkCode};

/// The share of the files' pages that may be in memory only when durability is claimed. A convention of this
/// project: other programs may touch a page of metadata meanwhile.
const DIRTY: f64 = 0.01;

/// What is wrong where so many of so many pages were in memory only when the clock stopped.
pub fn dirty(unwritten: u64, of: u64) -> Option<Mark> {
    let share = unwritten as f64 / of as f64;
    (of > 0 && share > DIRTY).then(|| Mark {
        code: MarkCode::Dirty,
        value: Some(share),
        text: format!("{:.0} % of the data were only in the page cache when the clock stopped", 100.0 * share),
    })
}

/// The share of the written bytes that the machine may have more to write than at first when they are said to be
/// durable. Others write too, so that only most of them tells.
const GROWN: f64 = 0.5;

/// Less than this is what others make dirty in passing: the quarter of the 16 MiB at which a machine counts as
/// calm.
const GROWN_LEAST: u64 = 4 << 20;

/// What is wrong where the machine had so many more bytes to write than at first when the clock stopped, though so
/// many were written and made durable. To be asked only where no disk can be seen that may have got them: where
/// one can, its flushes tell.
pub fn dirty_below(grown: u64, written: u64) -> Option<Mark> {
    let share = grown as f64 / written as f64;
    (written >= GROWN_LEAST && share > GROWN).then(|| Mark {
        code: MarkCode::Dirty,
        value: Some(share),
        text: format!(
            "when the clock stopped, {:.0} % of the written bytes were still to be written, and no disk is visible \
             that received them",
            100.0 * share
        ),
    })
}

/// Applies [`dirty_below`] to each round, given as the growth of the machine's dirty bytes (none if unknown) and the
/// bytes written, and returns the mark of the round with the smallest share. Other programs can make dirty bytes grow
/// in some rounds, but hardly in all, so one round without growth clears the disk.
pub fn dirty_below_always(rounds: &[(Option<u64>, u64)]) -> Option<Mark> {
    let marks: Option<Vec<Mark>> = rounds.iter().map(|(grown, written)| dirty_below((*grown)?, *written)).collect();
    marks?.into_iter().min_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// Of two calls that wait for durability, at least one must have brought a flush: file systems do one for each
/// that comes alone, and several programs may share one.
const CALLS_PER_FLUSH: u64 = 2;

/// What a device did that has a write cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flushing<'a> {
    /// Its name.
    pub device: &'a str,
    /// How often it was flushed, for everybody.
    pub flushes: u64,
    /// Whether the kernel was told that there is nothing to flush.
    pub overridden: bool,
}

/// What is wrong where so many calls per program waited for durability, and a device with a write cache was
/// flushed too rarely for that to be true.
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

/// Options of a mount by which its syncs flush nothing: ext4 and btrfs without barriers, as /proc names them, and
/// an overlay that is not to survive a crash, as older and newer kernels name it.
const WITHOUT_FLUSHES: [(&str, &str); 5] = [
    ("", "nobarrier"),
    ("", "barrier=0"),
    ("", "barrier=none"),
    ("overlay", "volatile"),
    ("overlay", "fsync=volatile"),
];

/// What is wrong with durability on a mount of this type with these options.
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
        assert_eq!(dirty_below(3 << 20, 3 << 20), None);
        assert_eq!(dirty_below(32 << 20, 64 << 20), None);
        assert_eq!(dirty_below(60 << 20, 64 << 20).map(|mark| mark.code), Some(MarkCode::Dirty));
    }

    /// A disk that keeps what it was told to write, and an honest one beside a program that writes in some rounds.
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
