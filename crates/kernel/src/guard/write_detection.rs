//! Detects writes of other programs to a device between two states of it: through the device itself, through the disk
//! of a partition, or to the file or device behind a loop device.
//!
//! Not detected: writes to the disk below the file system of a file; writes through a mapping of a file on tmpfs or
//! ramfs, which do not update the file's times; writes through another name of a file whose name in /sys was removed;
//! writes to the devices below LVM, dm, md and bcache, which are not followed. `writers` finds a program that has such
//! a file open for writing.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::backing_file::BackingFile;
use crate::observe::block_device::Device;
use crate::provision::loop_device::{self, Backing};
use crate::sys::read_limited;

/// Maximum number of samples until the counts of a disk and of its partitions are the same twice. The counts are in
/// several files, so a write to another partition between two reads spoils a sample. Guess: a tenth of a second of
/// trying.
const SAMPLES: usize = 100;

/// Pause between two samples.
const BETWEEN: Duration = Duration::from_millis(1);

/// Maximum number of inspections of a file until its times are old enough. Guess; one wait is enough for a file that no
/// program writes to.
const LOOKS: usize = 5;

/// Twice the resolution of file times. They have the resolution of the kernel's clock tick, at most 10 ms
/// (`CONFIG_HZ=100`); exFAT rounds them to 10 ms.
const TICK: Duration = Duration::from_millis(20);

/// File times without a fraction may be rounded by the file system: FAT rounds to 2 s, others to less. A tick is added.
const ROUNDED: Duration = Duration::from_millis(2020);

/// `RAMFS_MAGIC` of linux/magic.h.
const RAMFS_MAGIC: i64 = 0x8584_58f6;

/// A way by which the bytes of a device can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WritePath {
    /// Through a device: the bytes written to it; `None` if the kernel does not count them.
    Device { name: String, written: Option<u64> },
    /// Through the whole disk of a partition: the bytes written to it outside of its partitions, and the partitions'
    /// names. `None` if the counts never stopped changing.
    Disk { name: String, written: Option<(u64, Vec<String>)> },
    /// To the file behind a loop device; `None` if it cannot be inspected.
    File(Option<FileState>),
    /// To a deleted file behind a loop device: writes through another name of it are not detected.
    NamelessFile,
}

/// The attributes of a file that a write changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    /// `None` on ramfs: it counts pages in memory, so reading a hole changes the count.
    blocks: Option<u64>,
    /// Time of the last write (mtime), in seconds and nanoseconds.
    modified: (i64, i64),
    /// Time of the last change of its attributes (ctime). No program can set it.
    changed: (i64, i64),
}

/// The state of all ways to a device at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WriteState(Vec<WritePath>);

/// The change between two states.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// No program wrote to the device.
    Nothing,
    /// A program wrote to it.
    Written,
    /// The kernel does not count writes to it.
    Uncounted,
    /// Writes by this way cannot be detected.
    Unseen(String),
}

impl WriteState {
    /// Looks at a device whose page cache was flushed, at the devices below it, and at the file behind it.
    pub(super) fn capture(device: &Device) -> WriteState {
        WriteState::capture_with(device, &is_flushed)
    }

    /// As [`WriteState::capture`]. `is_flushed` flushes the page cache of a device below: dirty pages of another
    /// program are not counted before.
    fn capture_with(device: &Device, is_flushed: &dyn Fn(&Device) -> bool) -> WriteState {
        // `blank_check` makes sure that a read of its own is counted.
        let mut ways = vec![WritePath::Device { name: device.name.clone(), written: device.writes_if_reads_count() }];
        let mut next = Some(device.clone());
        while let Some(mut device) = next.take() {
            if let Some(disk) = device.disk() {
                let written = is_flushed(&disk).then(|| written_past_partitions(&disk)).flatten();
                ways.push(WritePath::Disk { name: disk.name.clone(), written });
                device = disk;
            }
            if !device.is_file() {
                continue;
            }
            let below = match loop_device::attached_to(&device).map(|shown| shown.backing) {
                Some(Backing::Device((major, minor))) => Device::numbered(major, minor),
                _ => None,
            };
            match below {
                Some(below) => {
                    let written = is_flushed(&below).then(|| below.counted_writes()).flatten();
                    ways.push(WritePath::Device { name: below.name.clone(), written });
                    next = Some(below);
                }
                None => ways.push(file_path(&device)),
            }
        }
        WriteState(ways)
    }

    /// Compares this state with a later one:
    ///   1. if a way cannot be seen in either, nothing is proved;
    ///   2. any difference is a write, except fewer blocks of a file.
    pub(super) fn change_until(&self, later: &WriteState) -> Change {
        // 1.
        if let Some(unknown) = self.0.iter().chain(&later.0).find_map(WritePath::unknown) {
            return unknown;
        }
        // 2.
        let is_unwritten = self.0.len() == later.0.len() && self.0.iter().zip(&later.0).all(|(a, b)| a.is_unwritten(b));
        if is_unwritten { Change::Nothing } else { Change::Written }
    }
}

impl WritePath {
    /// Returns true if nothing was written by this way between the two states.
    fn is_unwritten(&self, later: &WritePath) -> bool {
        match (self, later) {
            (WritePath::File(Some(before)), WritePath::File(Some(later))) => before.is_unwritten(later),
            _ => self == later,
        }
    }

    fn unknown(&self) -> Option<Change> {
        match self {
            WritePath::Device { written: None, .. } => Some(Change::Uncounted),
            WritePath::Disk { name, written: None } => Some(Change::Unseen(format!("its disk {name}"))),
            WritePath::File(None) => Some(Change::Unseen("the file behind it".to_owned())),
            WritePath::Device { .. } | WritePath::Disk { .. } | WritePath::File(Some(_)) | WritePath::NamelessFile => {
                None
            }
        }
    }
}

/// Flushes the page cache of a device. Returns false if its node is missing or belongs to another device.
fn is_flushed(device: &Device) -> bool {
    let flush = |node: File| {
        let number = node.metadata()?.rdev();
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        node.sync_all().map(|()| device.number() == Some(&number))
    };
    read_limited::open(&device.node()).and_then(flush).unwrap_or(false)
}

/// Returns the bytes written to a disk outside of its partitions, and the partitions' names.
fn written_past_partitions(disk: &Device) -> Option<(u64, Vec<String>)> {
    let sample = || {
        let partitions = disk.partitions().into_iter();
        let partitions = partitions.map(|one| Some((one.counters()?.written, one.name))).collect::<Option<Vec<_>>>()?;
        Some((disk.counted_writes()?, partitions))
    };
    let mut before = sample()?;
    for _ in 0..SAMPLES {
        let now = sample()?;
        if now == before {
            let (written, partitions) = now;
            let (of_partitions, names): (Vec<u64>, Vec<String>) = partitions.into_iter().unzip();
            return Some((past(written, &of_partitions)?, names));
        }
        before = now;
        thread::sleep(BETWEEN);
    }
    None
}

/// Returns the bytes written past the partitions. The kernel counts a write to a partition for its disk too
/// (`part_stat_add` in linux/part_stat.h). `None` if these counts contradict that.
fn past(written: u64, of_partitions: &[u64]) -> Option<u64> {
    of_partitions.iter().try_fold(written, |rest, partition| rest.checked_sub(*partition))
}

fn file_path(device: &Device) -> WritePath {
    match BackingFile::open(device) {
        BackingFile::File { file, .. } => WritePath::File(FileState::settled(&file).ok().flatten()),
        BackingFile::Nameless => WritePath::NamelessFile,
        BackingFile::Hidden => WritePath::File(None),
    }
}

impl FileState {
    /// Returns true if the file was not written between the two states. Fewer blocks are not a write: XFS frees
    /// preallocated blocks in the background. A program that frees blocks changes the file's times too.
    fn is_unwritten(&self, later: &FileState) -> bool {
        later.blocks.is_some() == self.blocks.is_some()
            && later.blocks <= self.blocks
            && FileState { blocks: self.blocks, ..*later } == *self
    }

    fn read(file: &File) -> io::Result<FileState> {
        let metadata = file.metadata()?;
        let counts_pages = rustix::fs::fstatfs(file)?.f_type == RAMFS_MAGIC;
        Ok(FileState {
            bytes: metadata.size(),
            blocks: (!counts_pages).then(|| metadata.blocks()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Flushes a file and returns its state, once its times are so old that any later write changes them. `None` if
    /// other programs write to it all the time.
    fn settled(file: &File) -> io::Result<Option<FileState>> {
        for _ in 0..LOOKS {
            // This allocates blocks of delayed allocation. It also makes mapped pages read-only, so that the next write
            // through a mapping changes the file's times.
            file.sync_all()?;
            let state = FileState::read(file)?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
            match state.unsettled(now) {
                None => return Ok(Some(state)),
                Some(wait) => thread::sleep(wait),
            }
        }
        Ok(None)
    }

    /// Returns the time until a write would get a different timestamp than the last one; `None` if it would now. If the
    /// last timestamp is in the future, any write gets a different one.
    fn unsettled(&self, now: Duration) -> Option<Duration> {
        let (seconds, nanos) = self.modified.max(self.changed);
        let last = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
        let step = if nanos == 0 { ROUNDED } else { TICK };
        step.checked_sub(now.checked_sub(last)?).filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::recorded_machine::Recorded;

    const STATE: FileState = FileState { bytes: 4096, blocks: Some(8), modified: (100, 5), changed: (100, 5) };

    fn device(written: Option<u64>) -> WritePath {
        WritePath::Device { name: "sda1".to_owned(), written }
    }

    fn disk(written: u64, partitions: &[&str]) -> WritePath {
        let partitions = partitions.iter().map(|&name| name.to_owned()).collect();
        WritePath::Disk { name: "sda".to_owned(), written: Some((written, partitions)) }
    }

    #[test]
    fn any_difference_is_a_write_except_fewer_blocks() {
        let before = WriteState(vec![
            device(Some(512)),
            disk(1024, &["sda1"]),
            WritePath::File(Some(STATE)),
            WritePath::NamelessFile,
        ]);
        assert_eq!(before.change_until(&before.clone()), Change::Nothing);
        let changed = [
            (0, device(Some(1024))),
            (0, device(Some(0))),
            (1, disk(1536, &["sda1"])),
            (1, disk(1024, &["sda1", "sda2"])),
            (2, WritePath::File(Some(FileState { bytes: 8192, ..STATE }))),
            (2, WritePath::File(Some(FileState { blocks: Some(16), ..STATE }))),
            (2, WritePath::File(Some(FileState { modified: (100, 6), ..STATE }))),
            (2, WritePath::File(Some(FileState { changed: (99, 5), ..STATE }))),
            (2, WritePath::NamelessFile),
        ];
        for (place, way) in changed {
            let mut after = before.clone();
            after.0[place] = way;
            assert_eq!(before.change_until(&after), Change::Written, "{after:?}");
        }
        assert_eq!(before.change_until(&WriteState(before.0[..3].to_vec())), Change::Written);
        let file = |state| WriteState(vec![WritePath::File(Some(state))]);
        let fewer = FileState { blocks: Some(4), ..STATE };
        assert_eq!(file(STATE).change_until(&file(fewer)), Change::Nothing);
        assert_eq!(file(fewer).change_until(&file(STATE)), Change::Written);
        assert_eq!(file(STATE).change_until(&file(FileState { changed: (100, 6), ..fewer })), Change::Written);
        assert_eq!(file(STATE).change_until(&file(FileState { blocks: None, ..STATE })), Change::Written);
    }

    #[test]
    fn unobservable_paths_prove_nothing() {
        let seen = WriteState(vec![device(Some(512))]);
        let of_disk = WritePath::Disk { name: "sda".to_owned(), written: None };
        for (way, said) in [
            (device(None), Change::Uncounted),
            (of_disk, Change::Unseen("its disk sda".to_owned())),
            (WritePath::File(None), Change::Unseen("the file behind it".to_owned())),
        ] {
            let unseen = WriteState(vec![way]);
            for (before, after) in [(&seen, &unseen), (&unseen, &seen), (&unseen, &unseen)] {
                assert_eq!(before.change_until(after), said);
            }
        }
    }

    #[test]
    fn writes_to_partitions_are_subtracted_from_the_disk() {
        assert_eq!(past(300, &[100, 150]), Some(50));
        assert_eq!(past(300, &[]), Some(300));
        assert_eq!(past(300, &[200, 101]), None);
    }

    /// A disk with two partitions. One is looked at while other sectors are written.
    #[test]
    fn writes_through_the_disk_count_but_not_to_other_partitions() {
        let recorded = Recorded::new();
        let stat = |sectors: u64| format!("0 0 0 0 1 0 {sectors} 0 0 0 0\n");
        let requests = ("mq/0/nr_tags", "1\n");
        recorded.add("pci/sda", "8:0", &[("stat", &stat(100)), ("queue/iostats", "1\n"), requests]);
        let own = recorded.add("pci/sda/sda1", "8:1", &[("stat", &stat(10)), ("partition", "1\n")]);
        recorded.add("pci/sda/sda2", "8:2", &[("stat", &stat(20)), ("partition", "2\n")]);
        let write = |device: &str, sectors| recorded.write(&format!("devices/pci/{device}/stat"), &stat(sectors));
        let state = || WriteState::capture_with(&own, &|disk| disk.name == "sda");
        let before = state();
        let partitions = vec!["sda1".to_owned(), "sda2".to_owned()];
        let expected = [
            WritePath::Device { name: "sda1".to_owned(), written: Some(10 * 512) },
            WritePath::Disk { name: "sda".to_owned(), written: Some((70 * 512, partitions)) },
        ];
        assert_eq!(before.0, expected);
        write("sda", 108);
        write("sda/sda2", 28);
        assert_eq!(before.change_until(&state()), Change::Nothing, "eight sectors of the neighbour");
        write("sda", 109);
        assert_eq!(before.change_until(&state()), Change::Written, "a sector of no partition");
        write("sda/sda1", 11);
        assert_eq!(before.change_until(&state()), Change::Written, "a sector of its own");
        let unflushed = WriteState::capture_with(&own, &|_| false);
        assert_eq!(before.change_until(&unflushed), Change::Unseen("its disk sda".to_owned()));
        recorded.write("devices/pci/sda/queue/iostats", "0\n");
        assert_eq!(before.change_until(&state()), Change::Uncounted);
    }

    #[test]
    fn file_times_are_settled_once_a_write_would_change_them() {
        let at = |seconds, nanos| Duration::new(seconds, nanos);
        assert_eq!(STATE.unsettled(at(100, 5)), Some(TICK));
        assert_eq!(STATE.unsettled(at(100, 5) + TICK / 2), Some(TICK / 2));
        assert_eq!(STATE.unsettled(at(100, 5) + TICK), None);
        assert_eq!(STATE.unsettled(at(99, 0)), None, "the clock was set back");
        let rounded = FileState { modified: (100, 0), changed: (98, 0), ..STATE };
        assert_eq!(rounded.unsettled(at(101, 0)), Some(ROUNDED - Duration::from_secs(1)));
        assert_eq!(rounded.unsettled(at(103, 0)), None);
        assert_eq!(FileState { changed: (101, 7), ..rounded }.unsettled(at(102, 0)), None);
    }

    /// Size, blocks and bytes stay the same: only the times show the write.
    #[test]
    fn a_write_to_a_file_changes_its_state_and_a_read_does_not() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let writer = file.reopen().expect("the file");
        writer.write_all_at(&[0; 8192], 0).expect("written");
        let state = || FileState::settled(file.as_file()).expect("a state").expect("no program writes");
        let before = state();
        file.as_file().read_exact_at(&mut [0; 4096], 0).expect("read");
        assert_eq!(state(), before);
        writer.write_all_at(&[0; 4096], 4096).expect("written");
        assert_ne!(state(), before);
    }
}
