//! The counters of the journal of ext4 (jbd2), which it keeps since the file system was mounted.

use units::Nanos;
use workload::Journal;

use super::Source;
use crate::observe::block_device::Device;

/// The counters of a journal at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JournalState {
    commits: u64,
    commit_time: Nanos,
    blocks_per_commit: u64,
    most_blocks: u64,
}

impl JournalState {
    /// Reads the journal of the file system on a device. Returns `None` if there is none. The kernel names a journal on
    /// another device after that device, so it is not found.
    pub(super) fn read(source: &Source, device: &Device) -> Option<JournalState> {
        // The kernel writes `!` for the slashes of a name.
        let start = format!("{}-", device.name.replace('/', "!"));
        let is_inode = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        let folders = source.names("proc/fs/jbd2");
        let folder = folders.iter().find(|name| name.strip_prefix(&start).is_some_and(is_inode))?;
        parse_info(&source.text(&format!("proc/fs/jbd2/{folder}/info"))?)
    }

    /// The activity since an earlier reading.
    pub(super) fn since(&self, earlier: &JournalState) -> Journal {
        // The kernel rounds the mean down, so the earlier sum may be larger by almost a block per commit. Subtract
        // that.
        let earlier_blocks = earlier.commits.saturating_mul(earlier.blocks_per_commit.saturating_add(1));
        Journal {
            commits: self.commits.saturating_sub(earlier.commits),
            commit_time: self.commit_time,
            blocks: self.commits.saturating_mul(self.blocks_per_commit).saturating_sub(earlier_blocks),
            most_blocks: self.most_blocks,
        }
    }
}

/// Parses `info` (`jbd2_seq_info_show` in fs/jbd2/journal.c). A journal without commits has only the first line.
pub(super) fn parse_info(text: &str) -> Option<JournalState> {
    let first = text.lines().next()?;
    let (commits, rest) = first.split_once(" transactions")?;
    let most_blocks = rest.split_once("up to ")?.1.split(' ').next()?;
    let number = |words: &str| {
        let line = text.lines().find_map(|line| line.strip_suffix(words));
        line.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    Some(JournalState {
        commits: commits.trim().parse().ok()?,
        commit_time: Nanos(number("us average transaction commit time").saturating_mul(1_000)),
        blocks_per_commit: number(" blocks per transaction"),
        most_blocks: most_blocks.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::recorded;
    use super::*;

    const INFO: &str = "412 transactions (409 requested), each up to 1024 blocks\naverage: \n  0ms waiting for \
        transaction\n  0ms request delay\n  9ms running transaction\n  0ms transaction was being locked\n  0ms \
        flushing data (in ordered mode)\n  2ms logging transaction\n  2100us average transaction commit time\n  2 \
        handles per transaction\n  3 blocks per transaction\n  4 logged blocks per transaction\n";

    #[test]
    fn commits_are_counted_since_an_earlier_reading() {
        let now = parse_info(INFO).expect("a journal");
        let expected = JournalState {
            commits: 412,
            commit_time: Nanos::from_micros(2100),
            blocks_per_commit: 3,
            most_blocks: 1024,
        };
        assert_eq!(now, expected);
        let before = parse_info("12 transactions (12 requested), each up to 1024 blocks\n").expect("a journal");
        let used = Journal { commits: 400, commit_time: Nanos::from_micros(2100), blocks: 1224, most_blocks: 1024 };
        assert_eq!(now.since(&before), used);
        assert_eq!(parse_info(""), None);
        assert_eq!(parse_info("no numbers"), None);
    }

    #[test]
    fn the_journal_of_another_device_is_not_taken() {
        let recorded = recorded(&[
            ("sys/dev/block/7:3/uevent", "DEVNAME=loop3\n"),
            ("proc/fs/jbd2/loop33-8/info", "5 transactions (5 requested), each up to 1 blocks\n"),
            ("proc/fs/jbd2/loop3p1-8/info", "6 transactions (6 requested), each up to 1 blocks\n"),
        ]);
        let device = recorded.device(7, 3);
        assert_eq!(JournalState::read(&recorded.source, &device), None);
        recorded.write("proc/fs/jbd2/loop3-8/info", INFO);
        assert_eq!(JournalState::read(&recorded.source, &device).map(|state| state.commits), Some(412));
    }
}
