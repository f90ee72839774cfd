//! Whether a device is blank. Only reading proves it, or a file system that reports that the file of a loop device has
//! no data.

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;

use super::signatures::Signature;
use super::{again, file_systems, forget};
use crate::bounded;
use crate::data::Pages;
use crate::devices::Device;
use crate::loops::{self, Backing};
use crate::place;
use crate::stack;

/// Bytes of one read. Guess: as much as any disk needs to be read at its full rate.
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
    /// Another program wrote to it meanwhile.
    Changing,
    /// The kernel does not count writes to it, so a write by another program would not be noticed.
    Uncounted,
    /// The caller ended it.
    Stopped,
}

/// Looks for data on a device that is held exclusively:
///   1. what the page cache has not written yet is written, and the kernel's count of written sectors is noted. If that
///      count is off, or a read of ours is not in the count of reads, the rest is not read;
///   2. of a loop device on an ordinary file system only the data of its file are read, by SEEK_DATA; of any other
///      device everything;
///   3. reads go past the page cache, which may be stale and is needed by others, from the first byte to the last; the
///      first byte that is not zero ends it;
///   4. the count of written sectors must be the same: no program wrote behind the reading.
pub(super) fn look(held: &File, device: &Device, bytes: u64, told: Watch) -> io::Result<Found> {
    let written = || {
        held.sync_all()?;
        Ok::<_, io::Error>(device.counted_writes())
    };
    // 1.
    let Some(before) = written()? else { return Ok(Found::Uncounted) };
    let mut reader = Reader::of(held)?;
    if bytes > 0 && !reader.is_counted(device, bytes)? {
        return Ok(Found::Uncounted);
    }
    // 2.
    let ranges = match file_behind(device)? {
        Some(file) => file.data(bytes)?,
        None => std::iter::once(0..bytes).collect(),
    };
    // 3.
    let found = read(&mut reader, bytes, &ranges, told)?;
    // 4.
    Ok(match (found, written()?) {
        (Found::Nothing, None) => Found::Uncounted,
        (Found::Nothing, Some(after)) if after != before => Found::Changing,
        (found, _) => found,
    })
}

/// The file behind a loop device.
struct FileBehind {
    file: File,
    offset: u64,
}

/// The file behind a loop device, if its file system reports holes and the file can be opened by its name.
fn file_behind(device: &Device) -> io::Result<Option<FileBehind>> {
    let Some(path) = stack::backing_file(device) else { return Ok(None) };
    let Some(shown) = loops::attached_to(device).filter(|shown| !shown.is_encrypted) else { return Ok(None) };
    let Backing::File { device, inode } = shown.backing else { return Ok(None) };
    // Other files are not opened: opening a file on a network may wait for ever.
    if !place::file_system_at(&path).is_some_and(|name| file_systems::tells_files(&name)) {
        return Ok(None);
    }
    let Ok(file) = bounded::open(&path) else { return Ok(None) };
    let metadata = file.metadata()?;
    let is_it = metadata.is_file() && (metadata.dev(), metadata.ino()) == (device, inode);
    let tells = is_it && file_systems::with_magic_tells_holes(rustix::fs::fstatfs(&file)?.f_type);
    Ok(tells.then_some(FileBehind { file, offset: shown.window.offset }))
}

impl FileBehind {
    /// The parts of the device that have data, after the file was flushed. `bytes` is the size of the device.
    fn data(&self, bytes: u64) -> io::Result<Vec<Range<u64>>> {
        self.file.sync_all()?;
        let end = self.offset.saturating_add(bytes);
        let next = |from| match rustix::fs::seek(&self.file, from) {
            // There is no more data, or no more hole.
            Err(Errno::NXIO) => Ok(end),
            found => found.map(|at| at.min(end)),
        };
        let mut ranges = Vec::new();
        let mut at = next(SeekFrom::Data(self.offset))?;
        while at < end {
            let hole = next(SeekFrom::Hole(at))?;
            if hole <= at {
                return Err(io::Error::other("the file system reports a hole where the file has data"));
            }
            ranges.push(at - self.offset..hole - self.offset);
            at = next(SeekFrom::Data(hole))?;
        }
        Ok(ranges)
    }
}

/// Direct reads begin and end on a multiple of this, the largest sector. The last one of a device may be shorter.
const SECTOR: u64 = 4096;

/// Reads a device past the page cache.
struct Reader<'a> {
    held: &'a File,
    /// None if the device takes no direct I/O.
    direct: Option<File>,
    pages: Pages,
}

impl Reader<'_> {
    fn of(held: &File) -> io::Result<Reader<'_>> {
        let direct = again(held, OFlags::RDONLY | OFlags::DIRECT).ok();
        Ok(Reader { held, direct, pages: Pages::zeroed(PIECE).map_err(io::Error::other)? })
    }

    /// The bytes from there on; at most [`PIECE`].
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

    /// Whether a read is in the kernel's count. Some drivers (brd) count nothing, also if the count is switched on.
    fn is_counted(&mut self, device: &Device, bytes: u64) -> io::Result<bool> {
        let count = || device.counters().map(|counters| counters.read);
        let before = count();
        self.piece(0, bytes.min(SECTOR) as usize)?;
        Ok(count() > before)
    }
}

/// Reads these parts of a device. `bytes` is the size of the device.
fn read(reader: &mut Reader, bytes: u64, ranges: &[Range<u64>], told: Watch) -> io::Result<Found> {
    let whole = |range: &Range<u64>| {
        range.start / SECTOR * SECTOR..range.end.checked_next_multiple_of(SECTOR).map_or(bytes, |end| end.min(bytes))
    };
    let ranges: Vec<Range<u64>> = ranges.iter().map(whole).collect();
    let of = ranges.iter().map(|range| range.end - range.start).sum();
    let mut done = 0;
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            if told(done, of).is_break() {
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
    Ok(if of > 0 && told(of, of).is_break() { Found::Stopped } else { Found::Nothing })
}

/// The first byte that is not zero. Comparing the bytes with themselves is as fast as memcmp.
fn first_set(bytes: &[u8]) -> Option<usize> {
    let is_zero = bytes.first().is_none_or(|first| *first == 0 && bytes[1..] == bytes[..bytes.len() - 1]);
    if is_zero { None } else { bytes.iter().position(|byte| *byte != 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Recorded;

    /// The count of such a device stands still: here it is that of a file, whose reads are in no count.
    #[test]
    fn a_device_whose_count_stands_still_is_not_proved_blank() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(8 << 20).expect("its size");
        let recorded = Recorded::new();
        let stat = ("stat", "10 0 80 3 20 0 160 4 0 5 6\n");
        let looked = |name: &str, files: &[(&str, &str)]| {
            let device = recorded.add(&format!("virtual/{name}"), &format!("1:{}", name.len()), files);
            look(&file, &device, 8 << 20, &mut |_, _| panic!("it is read")).expect("readable")
        };
        assert_eq!(looked("a", &[stat, ("queue/iostats", "1\n")]), Found::Uncounted);
        assert_eq!(looked("bb", &[stat, ("queue/iostats", "0\n")]), Found::Uncounted);
        assert_eq!(looked("ccc", &[("queue/iostats", "1\n")]), Found::Uncounted);
    }

    #[test]
    fn the_first_byte_that_is_not_zero_is_found() {
        assert_eq!(first_set(&[]), None);
        assert_eq!(first_set(&[0; 5000]), None);
        for at in [0, 1, 4095, 4999] {
            let mut bytes = [0; 5000];
            bytes[at] = 7;
            assert_eq!(first_set(&bytes), Some(at));
        }
        assert_eq!(first_set(&[7; 3]), Some(0));
    }

    /// Data that are in the page cache only, and blocks that were reserved and never written.
    #[test]
    fn data_of_a_file_are_found_before_they_are_on_a_disk() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("file");
        let file = File::create_new(&path).expect("a file");
        file.set_len(8 << 20).expect("its size");
        if !place::file_system_at(&path).is_some_and(|name| file_systems::tells_files(&name)) {
            return testkit::skip!("temporary files are on a file system that does not tell its holes");
        }
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 4 << 20, 2 << 20).expect("reserved");
        let behind = |offset| FileBehind { file: File::open(&path).expect("the file"), offset };
        assert_eq!(behind(0).data(8 << 20).expect("ranges"), []);
        file.write_all_at(&[1; 4096], 1 << 20).and_then(|()| file.write_all_at(&[1], 5 << 20)).expect("written");
        let holds = |offset: u64, bytes: u64, at: u64| {
            let ranges = behind(offset).data(bytes).expect("ranges");
            ranges.iter().any(|range| range.contains(&at))
        };
        assert!(holds(0, 8 << 20, 1 << 20) && holds(0, 8 << 20, 5 << 20));
        assert!(holds(1 << 20, 1 << 20, 0), "the window begins with the data");
        assert_eq!(behind(2 << 20).data(1 << 20).expect("ranges"), [], "the window is between the data");
    }
}
