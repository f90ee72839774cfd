//! Checks that a device is blank. Only reading proves it, or a file system that reports that a loop device's file has
//! no data.

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;

use rustix::fs::OFlags;

use super::backing_file::{self, BackingFile};
use super::signatures::Signature;
use super::write_detection::{Change, WriteState};
use super::{forget, reopen};
use crate::observe::block_device::Device;
use crate::sys::payload::Pages;

/// Bytes of one read. Guess: large enough for the full rate of any disk.
const PIECE: usize = 1 << 20;

/// A callback for progress, with the bytes read so far and in all. It may end the reading.
pub type Watch<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// The result of reading a device.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Every byte is zero.
    Nothing,
    /// A byte is not zero.
    Data(Signature),
    /// Another program wrote to it during the reading.
    Changing,
    /// The kernel does not count writes to it, so a write by another program would not be noticed.
    Uncounted,
    /// Writes by this way cannot be seen: through its disk, or to the file behind it.
    Unseen(String),
    /// The caller ended it.
    Stopped,
}

/// Searches a device for data. The device is held exclusively:
///   1. dirty pages are written, and the ways by which other programs can write to the device are recorded. If a way
///      cannot be seen, or the kernel does not count a read of ours, the rest is not read;
///   2. for a loop device on an ordinary file system only its file's data are read, found by SEEK_DATA; for any other
///      device, everything;
///   3. reads bypass the page cache, which may be stale and is needed by other programs. They go from the first byte to
///      the last, and end at the first byte that is not zero;
///   4. the ways must be unchanged at the end: no program wrote during the reading.
pub(super) fn search(held: &File, device: &Device, bytes: u64, progress: Watch) -> io::Result<Found> {
    let seen = || {
        held.sync_all()?;
        Ok::<_, io::Error>(WriteState::capture(device))
    };
    // 1.
    let before = seen()?;
    if let Some(unknown) = changed(before.change_until(&before)) {
        return Ok(unknown);
    }
    let mut reader = Reader::new(held)?;
    if bytes > 0 && !reader.is_counted(device, bytes)? {
        return Ok(Found::Uncounted);
    }
    // 2.
    let ranges = match BackingFile::open(device) {
        BackingFile::File { file, offset: Some(offset) } => backing_file::data(&file, offset, bytes)?,
        _ => std::iter::once(0..bytes).collect(),
    };
    // 3.
    let found = read(&mut reader, bytes, &ranges, progress)?;
    // 4.
    match found {
        Found::Nothing => Ok(changed(before.change_until(&seen()?)).unwrap_or(Found::Nothing)),
        found => Ok(found),
    }
}

/// Returns the reason why two looks do not prove that the device is blank; `None` if nothing was written.
fn changed(change: Change) -> Option<Found> {
    match change {
        Change::Nothing => None,
        Change::Written => Some(Found::Changing),
        Change::Uncounted => Some(Found::Uncounted),
        Change::Unseen(way) => Some(Found::Unseen(way)),
    }
}

/// Alignment of direct reads in bytes: the largest sector size. The last read of a device may be shorter.
const SECTOR: u64 = 4096;

/// Reads a device past the page cache.
struct Reader<'a> {
    held: &'a File,
    /// The device opened with O_DIRECT; `None` if it does not support direct I/O.
    direct: Option<File>,
    pages: Pages,
}

impl Reader<'_> {
    fn new(held: &File) -> io::Result<Reader<'_>> {
        let direct = reopen(held, OFlags::RDONLY | OFlags::DIRECT).ok();
        Ok(Reader { held, direct, pages: Pages::zeroed(PIECE).map_err(io::Error::other)? })
    }

    /// Reads `length` bytes at `at`; at most [`PIECE`].
    fn piece(&mut self, at: u64, length: usize) -> io::Result<&[u8]> {
        let piece = &mut self.pages.bytes_mut()[..length];
        // Some drivers accept O_DIRECT and then fail to read.
        if self.direct.as_ref().is_none_or(|direct| direct.read_exact_at(piece, at).is_err()) {
            self.direct = None;
            forget(self.held)?;
            self.held.read_exact_at(piece, at)?;
        }
        Ok(piece)
    }

    /// Returns true if the kernel counts a read. Some drivers (brd) count nothing, even if counting is on.
    fn is_counted(&mut self, device: &Device, bytes: u64) -> io::Result<bool> {
        let count = || device.counters().map(|counters| counters.read);
        let before = count();
        self.piece(0, bytes.min(SECTOR) as usize)?;
        Ok(count() > before)
    }
}

/// Reads these parts of a device. `bytes` is the size of the device.
fn read(reader: &mut Reader, bytes: u64, ranges: &[Range<u64>], progress: Watch) -> io::Result<Found> {
    let whole = |range: &Range<u64>| {
        range.start / SECTOR * SECTOR..range.end.checked_next_multiple_of(SECTOR).map_or(bytes, |end| end.min(bytes))
    };
    let ranges: Vec<Range<u64>> = ranges.iter().map(whole).collect();
    let of = ranges.iter().map(|range| range.end - range.start).sum();
    let mut done = 0;
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            if progress(done, of).is_break() {
                return Ok(Found::Stopped);
            }
            let length = (range.end - at).min(PIECE as u64) as usize;
            if let Some(first) = first_set(reader.piece(at, length)?) {
                return Ok(Found::Data(Signature::of_unknown(at + first as u64, 1)));
            }
            at += length as u64;
            done += length as u64;
        }
    }
    // Report the end too, unless there was nothing to read.
    Ok(if of > 0 && progress(of, of).is_break() { Found::Stopped } else { Found::Nothing })
}

/// Returns the index of the first byte that is not zero. Comparing the bytes with themselves, shifted by one, is as
/// fast as memcmp.
fn first_set(bytes: &[u8]) -> Option<usize> {
    let is_zero = bytes.first().is_none_or(|first| *first == 0 && bytes[1..] == bytes[..bytes.len() - 1]);
    if is_zero { None } else { bytes.iter().position(|byte| *byte != 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded_machine::Recorded;

    /// A device whose read count never changes. The test reads a regular file instead, and those reads are not in the
    /// recorded count.
    #[test]
    fn devices_with_a_constant_read_count_are_not_proved_blank() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(8 << 20).expect("its size");
        let recorded = Recorded::new();
        let stat = ("stat", "10 0 80 3 20 0 160 4 0 5 6\n");
        let looked = |name: &str, files: &[(&str, &str)]| {
            let device = recorded.add(&format!("virtual/{name}"), &format!("1:{}", name.len()), files);
            search(&file, &device, 8 << 20, &mut |_, _| panic!("it is read")).expect("readable")
        };
        assert_eq!(looked("a", &[stat, ("queue/iostats", "1\n")]), Found::Uncounted);
        assert_eq!(looked("bb", &[stat, ("queue/iostats", "0\n")]), Found::Uncounted);
        assert_eq!(looked("ccc", &[("queue/iostats", "1\n")]), Found::Uncounted);
    }

    #[test]
    fn the_first_nonzero_byte_is_found() {
        assert_eq!(first_set(&[]), None);
        assert_eq!(first_set(&[0; 5000]), None);
        for at in [0, 1, 4095, 4999] {
            let mut bytes = [0; 5000];
            bytes[at] = 7;
            assert_eq!(first_set(&bytes), Some(at));
        }
        assert_eq!(first_set(&[7; 3]), Some(0));
    }
}
