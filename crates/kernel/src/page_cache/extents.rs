//! The allocation of files: data, compressed data, or holes. Reading bytes that were never written does not read the
//! device, however large the file seems.
//!
//! Uses the file system's extent map (Documentation/filesystems/fiemap.rst). If it has none, lseek(2) finds holes,
//! but not all of them.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use workload::Allocation;

use crate::errors::Fault;
use crate::observe::mount;
use crate::page_cache;
use crate::world::program::Program;

// From linux/fs.h and linux/fiemap.h.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const FIEMAP_FLAG_SYNC: u32 = 1;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_ENCRYPTED: u32 = 0x80;
const EXTENT_UNWRITTEN: u32 = 0x800;

/// Extents per call: 14 KiB of results.
const BATCH: usize = 256;

/// `struct fiemap_extent`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more_reserved: [u32; 3],
}

/// `struct fiemap` with space for a batch.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// Sums up the allocation of all files of the programs. Returns `None` if there are no bytes or if a file cannot be
/// inspected.
pub(crate) fn allocation(programs: &[Program]) -> Result<Option<Allocation>, Fault> {
    let mut sum = Allocation::default();
    for program in programs {
        let own = program.working_files()?;
        for path in own.iter().chain(&program.given) {
            // A loop device has the holes of its part of a file. As far as diskperf can see, other devices are fully
            // written.
            let (path, part) = match mount::loop_part(path) {
                Some((file, part)) => (file, Some(part)),
                None => (path.clone(), None),
            };
            let seen = page_cache::open(&path).and_then(|file| {
                let metadata = file.metadata()?;
                let part = part.unwrap_or(0..metadata.len());
                if metadata.is_file() { allocation_of(&file, part) } else { Ok(None) }
            });
            match seen {
                Ok(Some(allocation)) => sum.add(allocation),
                Ok(None) | Err(_) => return Ok(None),
            }
        }
    }
    Ok((sum.bytes > 0).then_some(sum))
}

/// Bytes of a file that were never written, as far as its file system shows them. Zero for a device.
pub fn never_written(path: &Path) -> io::Result<u64> {
    let file = page_cache::open(path)?;
    let metadata = file.metadata()?;
    let seen = if metadata.is_file() { allocation_of(&file, 0..metadata.len())? } else { None };
    Ok(seen.map_or(0, |allocation| allocation.empty))
}

/// The allocation of a part of a file.
fn allocation_of(file: &File, part: Range<u64>) -> io::Result<Option<Allocation>> {
    match extents(file, &part) {
        Ok(extents) => Ok(Some(sum_up(&part, &extents))),
        Err(error) if is_unsupported(&error) => {
            let bytes = part.end - part.start;
            Ok(Some(Allocation { bytes, empty: holes(file, &part)?, compressed: 0 }))
        }
        Err(error) => Err(error),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::EBADR | libc::ENOSYS))
}

/// The extents that a part of a file touches, in file order. Dirty data are written back first, because they have no
/// place on the device before that.
fn extents(file: &File, part: &Range<u64>) -> io::Result<Vec<Extent>> {
    let mut all: Vec<Extent> = Vec::new();
    let mut start = part.start;
    while start < part.end {
        let mut map = Map {
            start,
            length: part.end - start,
            flags: FIEMAP_FLAG_SYNC,
            mapped: 0,
            count: BATCH as u32,
            reserved: 0,
            extents: [Extent::default(); BATCH],
        };
        // SAFETY: the kernel reads the head of `map` and writes up to `count` extents behind it, for which there is
        // space; the structures have the layout that it expects, and the descriptor is open.
        let answer = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut map) };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        let batch = &map.extents[..(map.mapped as usize).min(BATCH)];
        let Some(last) = batch.last() else { break };
        all.extend(batch);
        let end = last.logical.saturating_add(last.length);
        if last.flags & EXTENT_LAST != 0 || end <= start {
            break;
        }
        start = end;
    }
    Ok(all)
}

/// Sums up sorted extents within a part of a file. Bytes that no extent covers are holes.
fn sum_up(part: &Range<u64>, extents: &[Extent]) -> Allocation {
    let mut allocation = Allocation { bytes: part.end - part.start, empty: 0, compressed: 0 };
    let mut at = part.start;
    for extent in extents {
        let within = |offset: u64| offset.clamp(at, part.end);
        let (begin, end) = (within(extent.logical), within(extent.logical.saturating_add(extent.length)));
        allocation.empty += begin - at;
        if extent.flags & EXTENT_UNWRITTEN != 0 {
            allocation.empty += end - begin;
        } else if extent.flags & EXTENT_ENCODED != 0 && extent.flags & EXTENT_ENCRYPTED == 0 {
            allocation.compressed += end - begin;
        }
        at = end;
    }
    allocation.empty += part.end - at;
    allocation
}

/// Bytes of holes in a part of a file, as far as lseek(2) reports them.
fn holes(file: &File, part: &Range<u64>) -> io::Result<u64> {
    let (mut empty, mut at) = (0, part.start);
    while at < part.end {
        let hole = rustix::fs::seek(file, SeekFrom::Hole(at))?.min(part.end);
        at = match rustix::fs::seek(file, SeekFrom::Data(hole)) {
            Ok(data) => data.min(part.end),
            // After the last data.
            Err(Errno::NXIO) => part.end,
            Err(errno) => return Err(errno.into()),
        };
        empty += at - hole;
    }
    Ok(empty)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn extent(logical: u64, length: u64, flags: u32) -> Extent {
        Extent { logical, length, flags, ..Extent::default() }
    }

    #[test]
    fn bytes_outside_of_extents_are_empty() {
        let all = [
            extent(10, 20, 0),
            extent(30, 10, EXTENT_UNWRITTEN),
            extent(50, 8, EXTENT_ENCODED),
            extent(58, 2, EXTENT_ENCODED | EXTENT_ENCRYPTED),
            extent(90, 4096, EXTENT_LAST),
        ];
        assert_eq!(sum_up(&(0..100), &all), Allocation { bytes: 100, empty: 10 + 10 + 10 + 30, compressed: 8 });
        assert_eq!(sum_up(&(0..100), &[]), Allocation { bytes: 100, empty: 100, compressed: 0 });
        assert_eq!(sum_up(&(0..0), &[]), Allocation::default());
        // A loop device with an offset shows a part of the file.
        assert_eq!(sum_up(&(15..54), &all), Allocation { bytes: 39, empty: 10 + 10, compressed: 4 });
    }

    #[test]
    fn holes_are_found_with_a_map_and_without() {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(&[1; 65_536], 1 << 20).expect("a write");
        file.set_len(4 << 20).expect("a hole");
        let written = 1 << 20..(1 << 20) + 65_536;
        for (part, empty) in [(0..4 << 20, (4 << 20) - 65_536), (written, 0), (2 << 20..3 << 20, 1 << 20)] {
            let found = Allocation { bytes: part.end - part.start, empty, compressed: 0 };
            assert_eq!(allocation_of(&file, part.clone()).expect("seen"), Some(found));
            assert_eq!(holes(&file, &part).expect("seen"), empty);
        }
        let mut whole = tempfile::tempfile().expect("a file");
        whole.write_all(&[1; 10_000]).expect("a write");
        let found = Allocation { bytes: 10_000, empty: 0, compressed: 0 };
        assert_eq!(allocation_of(&whole, 0..10_000).expect("seen"), Some(found));
        let sparse = tempfile::NamedTempFile::new().expect("a file");
        sparse.as_file().set_len(4 << 20).expect("a hole");
        assert_eq!(never_written(sparse.path()).expect("seen"), 4 << 20);
        assert_eq!(never_written(Path::new("/dev/null")).expect("seen"), 0);
    }
}
