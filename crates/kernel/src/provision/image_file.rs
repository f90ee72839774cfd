//! The file of an image. It has no name, so it disappears with its last user. It is fully written before any
//! measurement, because the first write to a hole costs two to four times as much as a later one.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, AtFlags, CWD, MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use units::Bytes;

use super::image_fault::ImageFault;
use crate::leftovers::tag;
use crate::observe::mount::free_bytes;
use crate::sys::payload::PayloadRing;

/// Bytes of one write.
const PIECE: u32 = 1 << 20;

/// After this many bytes, the data are synced, so that progress means bytes on the device, and evicted from the page
/// cache. Guess; a factor of four more or less does not matter.
const STRETCH: u64 = 32 << 20;

/// A file without a name.
#[derive(Debug)]
pub(crate) struct UnnamedFile {
    file: File,
    directory: PathBuf,
    bytes: u64,
}

impl UnnamedFile {
    /// Creates an empty (sparse) file of this size in the directory. Fails if there is not enough space to write it
    /// in full.
    pub(crate) fn make(directory: &Path, bytes: u64) -> Result<UnnamedFile, ImageFault> {
        let free = free_bytes(directory).map_err(|source| fault("read the free space", directory, source))?;
        if free.is_some_and(|free| free < bytes) {
            return Err(no_room(directory, bytes));
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR);
        let file: File = match opened {
            Ok(descriptor) => descriptor.into(),
            Err(Errno::OPNOTSUPP | Errno::ISDIR) => return Err(ImageFault::NoUnnamed(directory.to_owned())),
            Err(errno) => return Err(fault("create a file", directory, errno.into())),
        };
        file.set_len(bytes).map_err(|source| fault("create a file of that size", directory, source))?;
        Ok(UnnamedFile { file, directory: directory.to_owned(), bytes })
    }

    /// Creates a sparse file in memory: only the data written to it take space, not its size.
    pub(crate) fn in_memory(bytes: u64) -> Result<UnnamedFile, ImageFault> {
        let directory = PathBuf::from("memory");
        let made = rustix::fs::memfd_create("diskperf", MemfdFlags::CLOEXEC).map_err(io::Error::from);
        let made = made.map(File::from).and_then(|file| file.set_len(bytes).map(|()| file));
        let file = made.map_err(|source| fault("create a file", &directory, source))?;
        Ok(UnnamedFile { file, directory, bytes })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Writes the whole file with incompressible bytes, and no two equal blocks, so that no layer below can store
    /// fewer bytes. The data are then durable and out of the page cache. `progress` gets the number of bytes written
    /// and can stop it.
    pub(crate) fn fill(&self, mut progress: impl FnMut(u64) -> ControlFlow<()>) -> Result<(), ImageFault> {
        let mut ring = PayloadRing::new(0, PIECE, self.bytes)
            .map_err(|_| fault("write the image", &self.directory, ErrorKind::OutOfMemory.into()))?;
        let mut written = 0;
        while written < self.bytes {
            let end = (written + STRETCH).min(self.bytes);
            self.write(&mut ring, written, end).map_err(|source| match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => no_room(&self.directory, self.bytes),
                _ => fault("write the image", &self.directory, source),
            })?;
            written = end;
            if progress(written).is_break() {
                return Err(ImageFault::Stopped);
            }
        }
        self.file.sync_all().map_err(|source| fault("write the image", &self.directory, source))
    }

    fn write(&self, ring: &mut PayloadRing, from: u64, to: u64) -> io::Result<()> {
        let mut at = from;
        while at < to {
            let length = u64::from(PIECE).min(to - at) as u32;
            self.file.write_all_at(ring.draw(length).next(self.bytes, at), at)?;
            at += u64::from(length);
        }
        self.settle(from, to)
    }

    /// Fills the holes with zeros. mkfs asks the loop device to zero some ranges, which turns them into holes again.
    /// Otherwise the first round would pay for allocating every block of a journal.
    pub(crate) fn close_holes(&self) -> Result<(), ImageFault> {
        // After the last hole and the last data comes the end.
        let next = |from| match rustix::fs::seek(&self.file, from) {
            Err(Errno::NXIO) => Ok(self.bytes),
            found => found,
        };
        let closed = || {
            let zeros = vec![0; PIECE as usize];
            let mut at = next(SeekFrom::Hole(0))?;
            while at < self.bytes {
                let (from, end) = (at, next(SeekFrom::Data(at))?);
                while at < end {
                    let length = (end - at).min(u64::from(PIECE));
                    self.file.write_all_at(&zeros[..length as usize], at)?;
                    at += length;
                }
                self.settle(from, end)?;
                at = next(SeekFrom::Hole(end))?;
            }
            Ok(())
        };
        closed().map_err(|source| fault("write the image", &self.directory, source))
    }

    /// Makes a range durable, and evicts it from the page cache.
    fn settle(&self, from: u64, to: u64) -> io::Result<()> {
        self.file.sync_data()?;
        Ok(rustix::fs::fadvise(&self.file, from, NonZeroU64::new(to - from), Advice::DontNeed)?)
    }

    /// Gives the file a name: `NAME.img` in its directory, with a number before the dot if that name is taken. Never
    /// overwrites a file.
    pub(crate) fn give_name(&self, name: &str) -> Result<PathBuf, ImageFault> {
        let fault = |source| fault("name the image", &self.directory, source);
        // The tag lets you find the file later, when it is no longer needed. Some file systems do not store tags.
        let _ = tag::tag(self.file.as_fd());
        self.file.sync_all().map_err(fault)?;
        let ours = CString::new(format!("/proc/self/fd/{}", self.file.as_raw_fd())).expect("digits hold no zero byte");
        let names =
            std::iter::once(format!("{name}.img")).chain((2..=999).map(|number| format!("{name}-{number}.img")));
        for path in names.map(|name| self.directory.join(name)) {
            match rustix::fs::linkat(CWD, &ours, CWD, &path, AtFlags::SYMLINK_FOLLOW) {
                Ok(()) => return Ok(path),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(fault(errno.into())),
            }
        }
        Err(fault(Errno::EXIST.into()))
    }
}

/// A named file in an image of this process. Other programs cannot see the image, and the file is removed with it. By
/// its name, the file is found again when the image is mounted again. Only the image code creates one, in an image's
/// folder.
#[derive(Debug)]
pub(crate) struct FileWithin(UnnamedFile);

impl FileWithin {
    /// Creates the file, writes it in full, and makes it durable with its name.
    pub(super) fn make(
        image: &Path,
        bytes: u64,
        progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<FileWithin, ImageFault> {
        let file = UnnamedFile::make(image, bytes)?;
        file.fill(progress)?;
        file.give_name(WITHIN)?;
        let synced = rustix::fs::syncfs(&file.file);
        synced.map_err(|errno| fault("sync a file", image, errno.into()))?;
        Ok(FileWithin(file))
    }

    /// Opens the file by its name after a remount.
    pub(super) fn open(directory: &Path) -> Result<FileWithin, ImageFault> {
        let opened = File::options().read(true).write(true).open(directory.join(format!("{WITHIN}.img")));
        let found = opened.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (bytes, file) = found.map_err(|source| fault("find the backing file of a device", directory, source))?;
        Ok(FileWithin(UnnamedFile { file, directory: directory.to_owned(), bytes }))
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.descriptor()
    }

    pub(crate) fn file(&self) -> &File {
        &self.0.file
    }

    /// As [`UnnamedFile::close_holes`].
    pub(crate) fn close_holes(&self) -> Result<(), ImageFault> {
        self.0.close_holes()
    }
}

/// The name of such a file, without `.img`.
const WITHIN: &str = "disk";

fn no_room(directory: &Path, needed: u64) -> ImageFault {
    let free = Bytes(free_bytes(directory).ok().flatten().unwrap_or(0));
    ImageFault::NoRoom { directory: directory.to_owned(), free, needed: Bytes(needed) }
}

fn fault(action: &'static str, directory: &Path, source: io::Error) -> ImageFault {
    ImageFault::File { action, directory: directory.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn an_image_file_has_no_name_until_it_is_kept() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = UnnamedFile::make(scratch.path(), 3 << 20).expect("a file");
        let mut heard = Vec::new();
        file.fill(|bytes| {
            heard.push(bytes);
            ControlFlow::Continue(())
        })
        .expect("written");
        assert_eq!(heard, [3 << 20]);
        assert_eq!(fs::read_dir(scratch.path()).expect("a list").count(), 0);
        fs::write(scratch.path().join("a.img"), "mine").expect("a file");
        let path = file.give_name("a").expect("a name");
        assert_eq!(path, scratch.path().join("a-2.img"));
        assert_eq!(fs::read(scratch.path().join("a.img")).expect("untouched"), b"mine");
        let written = path.metadata().expect("it exists");
        assert_eq!(written.len(), 3 << 20);
        assert!(written.blocks() * 512 >= 3 << 20, "the file has holes");
    }

    #[test]
    fn no_two_blocks_are_equal() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = UnnamedFile::make(scratch.path(), 3 << 20).expect("a file");
        file.fill(|_| ControlFlow::Continue(())).expect("written");
        let bytes = fs::read(file.give_name("a").expect("a name")).expect("its bytes");
        let mut blocks: Vec<&[u8]> = bytes.chunks(4096).collect();
        let all = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), all);
    }

    #[test]
    fn holes_are_closed_with_zeros() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = UnnamedFile::make(scratch.path(), 5 << 20).expect("a file");
        file.file.write_all_at(b"something", 3 << 20).expect("written");
        file.close_holes().expect("closed");
        assert_eq!(rustix::fs::seek(&file.file, SeekFrom::Hole(0)), Ok(5 << 20));
        let bytes = fs::read(file.give_name("a").expect("a name")).expect("its bytes");
        assert_eq!(&bytes[3 << 20..][..9], b"something");
        assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 9);
    }

    #[test]
    fn images_larger_than_free_space_are_refused_before_writing() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let outcome = UnnamedFile::make(scratch.path(), 1 << 60);
        assert!(matches!(outcome, Err(ImageFault::NoRoom { .. })), "{outcome:?}");
    }

    #[test]
    fn writing_can_be_stopped() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = UnnamedFile::make(scratch.path(), 2 * STRETCH).expect("a file");
        let outcome =
            file.fill(|bytes| if bytes == STRETCH { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        assert!(matches!(outcome, Err(ImageFault::Stopped)), "{outcome:?}");
    }
}
