//! The file behind a loop device. It is opened by its name.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

use rustix::fs::SeekFrom;
use rustix::io::Errno;

use super::trusted_file_systems;
use crate::observe::block_device::Device;
use crate::observe::block_stack;
use crate::observe::mount;
use crate::provision::loop_device::{self, Backing};
use crate::sys::read_limited;

/// The file behind a loop device.
pub(super) enum BackingFile {
    /// The file, which is open.
    File {
        file: File,
        /// Offset of the device in the file, in bytes. `None` if the file's holes prove nothing: its file system does
        /// not report all data, or the device decrypts what it reads.
        offset: Option<u64>,
    },
    /// The file was deleted and has no name any more.
    Nameless,
    /// The file's name leads to no file here, to another file, or to a file system of another machine.
    Hidden,
}

impl BackingFile {
    /// Opens the file behind a loop device. Returns [`BackingFile::Hidden`] for other devices.
    pub(super) fn open(device: &Device) -> BackingFile {
        let Some(path) = block_stack::named_file(device) else {
            return if device.is_file() { BackingFile::Nameless } else { BackingFile::Hidden };
        };
        let Some(shown) = loop_device::attached_to(device) else { return BackingFile::Hidden };
        let Backing::File { device, inode } = shown.backing else { return BackingFile::Hidden };
        // Files on other file systems are not opened: opening a file on a network may block for ever.
        if !mount::file_system_at(&path).is_some_and(|name| trusted_file_systems::tells_files(&name)) {
            return BackingFile::Hidden;
        }
        let opened = read_limited::open(&path).and_then(|file| Ok((file.metadata()?, file)));
        let Ok((metadata, file)) = opened else { return BackingFile::Hidden };
        if !metadata.is_file() || (metadata.dev(), metadata.ino()) != (device, inode) {
            return BackingFile::Hidden;
        }
        let tells =
            rustix::fs::fstatfs(&file).is_ok_and(|stat| trusted_file_systems::with_magic_tells_holes(stat.f_type));
        let offset = (tells && !shown.is_encrypted).then_some(shown.window.offset);
        BackingFile::File { file, offset }
    }
}

/// Flushes the file behind a device, and returns the ranges of the device that have data. The device begins at `offset`
/// in the file and has this many bytes.
pub(super) fn data(file: &File, offset: u64, bytes: u64) -> io::Result<Vec<Range<u64>>> {
    file.sync_all()?;
    let end = offset.saturating_add(bytes);
    let next = |from| match rustix::fs::seek(file, from) {
        // There is no more data, or no more hole.
        Err(Errno::NXIO) => Ok(end),
        found => found.map(|at| at.min(end)),
    };
    let mut ranges = Vec::new();
    let mut at = next(SeekFrom::Data(offset))?;
    while at < end {
        let hole = next(SeekFrom::Hole(at))?;
        if hole <= at {
            return Err(io::Error::other("the file system reports a hole where the file has data"));
        }
        ranges.push(at - offset..hole - offset);
        at = next(SeekFrom::Data(hole))?;
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    /// Covers data that are only in the page cache, and blocks that were reserved and never written.
    #[test]
    fn file_data_are_found_before_they_are_written_back() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("file");
        let file = File::create_new(&path).expect("a file");
        file.set_len(8 << 20).expect("its size");
        if !mount::file_system_at(&path).is_some_and(|name| trusted_file_systems::tells_files(&name)) {
            return testkit::skip!("temporary files are on a file system that does not tell its holes");
        }
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 4 << 20, 2 << 20).expect("reserved");
        let behind = |offset, bytes| data(&File::open(&path).expect("the file"), offset, bytes).expect("ranges");
        assert_eq!(behind(0, 8 << 20), []);
        file.write_all_at(&[1; 4096], 1 << 20).and_then(|()| file.write_all_at(&[1], 5 << 20)).expect("written");
        let holds = |offset: u64, bytes: u64, at: u64| {
            let ranges = behind(offset, bytes);
            ranges.iter().any(|range| range.contains(&at))
        };
        assert!(holds(0, 8 << 20, 1 << 20) && holds(0, 8 << 20, 5 << 20));
        assert!(holds(1 << 20, 1 << 20, 0), "the window begins with the data");
        assert_eq!(behind(2 << 20, 1 << 20), [], "the window is between the data");
    }
}
