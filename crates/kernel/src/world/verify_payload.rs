//! Verifies that files still contain the written data: reads samples of their stamps, outside every clock.
//!
//! Samples are read past the page cache if the file system allows that. Then they come from the device, and the cache
//! state does not change.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use workload::{Access, Directory, Failure, Handle, Mode, Name, Op, Reason};

use crate::errno::reason;
use crate::errors::Fault;
use crate::provision::workspace::files_below;
use crate::sys::payload::{Pages, STAMP_BYTES, STAMP_SPACING, stamp};
use crate::world::process::identity;

/// Number of stamps that are checked after a phase, over all files of a program. Guess: a few milliseconds on a disk
/// that seeks for each, negligible elsewhere.
const SAMPLES: u64 = 16;

/// True if no stamp was split between two calls, given that files were written sequentially in calls of these
/// lengths.
pub(crate) fn is_stamped(cuts: &[u32]) -> bool {
    let whole = |length: &u32| {
        let length = *length as usize;
        length >= STAMP_BYTES && (length.is_multiple_of(STAMP_SPACING) || STAMP_SPACING.is_multiple_of(length))
    };
    cuts.iter().all(whole)
}

/// Returns a failure for the first file in a folder with a sampled stamp that the program with this seed did not
/// write. `None` if all are right.
pub(crate) fn verify_contents(folder: &Path, seed: u64) -> Result<Option<Failure>, Fault> {
    let mut files = files_below(folder)?;
    files.sort_unstable();
    let per_file = (SAMPLES / files.len().max(1) as u64).max(1);
    let every = files.len().div_ceil(SAMPLES as usize).max(1);
    let mut room = Pages::zeroed(STAMP_SPACING)?;
    for path in files.iter().step_by(every) {
        let Some(name) = name_of(path.strip_prefix(folder).unwrap_or(path)) else { continue };
        let op = Op::Open { name, handle: Handle::new(0), access: Access::Read, mode: Mode::default() };
        let failed = |reason| Some(Failure { op, reason });
        match is_altered(path, name, seed, per_file, &mut room) {
            Ok(false) => {}
            Ok(true) => return Ok(failed(Reason::Altered)),
            Err(error) => return Ok(failed(reason(rustix::io::Errno::from_io_error(&error).unwrap_or(IO)))),
        }
    }
    Ok(None)
}

const IO: rustix::io::Errno = rustix::io::Errno::IO;

fn is_altered(path: &Path, name: Name, seed: u64, samples: u64, room: &mut Pages) -> io::Result<bool> {
    let bytes = path.metadata()?.len();
    // Offsets with space for a whole stamp.
    let places = (bytes + (STAMP_SPACING - STAMP_BYTES) as u64) / STAMP_SPACING as u64;
    if places == 0 {
        return Ok(false);
    }
    let mut file = open(path)?;
    let samples = samples.min(places);
    for sample in 0..samples {
        // The first, the last, and evenly spaced ones between them.
        let place = if samples == 1 { 0 } else { sample * (places - 1) / (samples - 1) };
        let offset = place * STAMP_SPACING as u64;
        let read = read_sample(path, &mut file, &mut room.bytes_mut()[..STAMP_SPACING], offset)?;
        let found = &room.bytes()[..read.min(STAMP_BYTES)];
        // A copied file contains the stamps of its source, which is the first file of its program.
        if [name, Name::root(0)].iter().all(|name| found != stamp(identity(seed, *name), offset)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Opens a file for direct reads, or if that fails, for reads through the page cache.
fn open(path: &Path) -> io::Result<File> {
    let past = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
    past.or_else(|_| File::open(path))
}

/// Reads at an offset of the open file. If these bytes are too short for direct I/O (`EINVAL`: devices with logical
/// blocks above 4 KiB), this read and all later ones go through the page cache.
fn read_sample(path: &Path, file: &mut File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    match file.read_at(bytes, offset) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            *file = File::open(path)?;
            file.read_at(bytes, offset)
        }
        read => read,
    }
}

/// The op name of a path below the program's folder: `f7`, `d3/f7`.
fn name_of(path: &Path) -> Option<Name> {
    let mut parts = path.iter().rev().map(|part| part.to_str());
    let number = parts.next()??.strip_prefix('f')?.parse().ok()?;
    let directory = match parts.next() {
        Some(folder) => Directory(folder?.strip_prefix('d')?.parse().ok()?),
        None => Directory::ROOT,
    };
    Some(Name { directory, number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::workspace::Workspace;

    const SEED: u64 = 7;

    /// A folder with a file of `bytes` bytes, written as programs write.
    fn written(bytes: usize) -> (Workspace, std::path::PathBuf) {
        let workspace = Workspace::inside(&std::env::temp_dir()).expect("a folder");
        let path = workspace.path().join("f3");
        let mut data = vec![0xa5; bytes];
        for offset in (0..bytes.saturating_sub(STAMP_BYTES - 1)).step_by(STAMP_SPACING) {
            data[offset..offset + STAMP_BYTES].copy_from_slice(&stamp(identity(SEED, Name::root(3)), offset as u64));
        }
        std::fs::write(&path, data).expect("a file");
        (workspace, path)
    }

    fn reason_in(workspace: &Workspace, seed: u64) -> Option<Reason> {
        verify_contents(workspace.path(), seed).expect("readable").map(|failure| failure.reason)
    }

    #[test]
    fn intact_contents_pass() {
        for bytes in [0, 15, 16, 4096, 4100, 8192, 1_000_000] {
            assert_eq!(reason_in(&written(bytes).0, SEED), None, "{bytes}");
        }
    }

    #[test]
    fn samples_too_short_for_direct_io_are_read_through_the_page_cache() {
        let (_workspace, path) = written(8192);
        let mut file = open(&path).expect("the file");
        // A device has blocks of at least 512 bytes.
        let mut bytes = [0; STAMP_BYTES];
        for offset in [0, 4096] {
            let read = read_sample(&path, &mut file, &mut bytes, offset).expect("a sample");
            assert_eq!((read, bytes), (STAMP_BYTES, stamp(identity(SEED, Name::root(3)), offset)));
        }
    }

    #[test]
    fn changed_bytes_seeds_and_offsets_are_found() {
        let (workspace, path) = written(1_000_000);
        assert_eq!(reason_in(&workspace, SEED + 1), Some(Reason::Altered));
        let file = OpenOptions::new().write(true).open(&path).expect("the file");
        // The last place.
        file.write_all_at(b"x", 999_424).expect("written");
        assert_eq!(reason_in(&workspace, SEED), Some(Reason::Altered));
        let (workspace, path) = written(8192);
        std::fs::rename(&path, workspace.path().join("f4")).expect("renamed");
        assert_eq!(reason_in(&workspace, SEED), Some(Reason::Altered));
    }

    #[test]
    fn short_and_unaligned_calls_write_no_stamps() {
        assert!(is_stamped(&[]) && is_stamped(&[16, 4096, 65536]));
        assert!(!is_stamped(&[4096, 1]) && !is_stamped(&[1000]) && !is_stamped(&[6000]));
    }

    #[test]
    fn file_names_are_parsed_from_paths() {
        assert_eq!(name_of(Path::new("f7")), Some(Name::root(7)));
        assert_eq!(name_of(Path::new("d3/f7")), Some(Name { directory: Directory(3), number: 7 }));
        assert_eq!(name_of(Path::new("scratch")), None);
    }
}
