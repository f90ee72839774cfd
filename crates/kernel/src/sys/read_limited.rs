//! Reads files that others have written, up to a limit. Opening never blocks, except for a FIFO that the user named.
//! Reading may block: it waits for a pipe's writer.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use units::{Bytes, name};

/// Maximum size of a file under /proc or /sys that is read. Attributes have at most a page; the list of ten thousand
/// mounts has two megabytes.
pub const OF_THE_KERNEL: Bytes = Bytes::mib(16);

/// Opens a file for reading. Opening a pipe does not wait for a writer: a pipe without one is at its end.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    // Reads do wait for the writer of a pipe.
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

/// Opens a file that the user named. A FIFO without a writer is not at its end: this waits for one, and a signal ends
/// the wait. A pipe without a name, as in `/dev/stdin`, had a writer from the beginning: without one, it is at its end.
pub fn open_named(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    let is_fifo = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) == FileType::Fifo;
    // PIPEFS_MAGIC in linux/magic.h: the file system of pipes without a name.
    if is_fifo && rustix::fs::fstatfs(&file)?.f_type != 0x5049_5045 {
        // Ready once a writer has written or left. A FIFO that had no writer since it was opened is not ready.
        let mut entry = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the kernel reads and writes one entry, which lives until the call returns.
        if unsafe { libc::poll(&raw mut entry, 1, -1) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(file)
}

/// Reads all bytes; `None` if there are more than `most`.
pub fn bytes(source: impl Read, most: Bytes) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(most.0.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most.0).then_some(bytes))
}

/// Reads a regular file of at most `most` bytes as UTF-8 text.
pub fn text(path: &Path, most: Bytes) -> io::Result<String> {
    String::from_utf8(whole(path, most)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Reads a regular file of at most `most` bytes.
fn whole(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {most}"));
    bytes(file, most)?.ok_or_else(too_large)
}

/// Reads a file under /proc or /sys as text. The kernel writes names as raw bytes. Bytes that are not UTF-8 are written
/// as `units::name` does, so that one odd name does not hide the rest of the file.
pub(crate) fn of_the_kernel(path: impl AsRef<Path>) -> io::Result<String> {
    whole(path.as_ref(), OF_THE_KERNEL).map(|bytes| name::text(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stop_at_the_limit() {
        assert_eq!(bytes(&[7; 10][..], Bytes(10)).expect("a read"), Some(vec![7; 10]));
        assert_eq!(bytes(io::repeat(7), Bytes(10)).expect("a read"), None);
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "text").expect("a file");
        assert_eq!(text(&path, Bytes(4)).expect("a read"), "text");
        assert_eq!(text(&path, Bytes(3)).expect_err("it has four").to_string(), "it is larger than 3 B");
        std::fs::write(&path, b"\xFF").expect("a file");
        assert_eq!(text(&path, Bytes(4)).expect_err("no text").kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            assert_eq!(text(path, Bytes(4)).expect_err("no file").to_string(), "it is not a regular file", "{path:?}");
        }
        assert_eq!(open(&pipe).and_then(|pipe| bytes(pipe, Bytes(4))).expect("it ends"), Some(Vec::new()));
        assert_eq!(text(&folder.path().join("none"), Bytes(4)).expect_err("none").kind(), ErrorKind::NotFound);
    }

    #[test]
    fn an_unnamed_pipe_without_a_writer_is_at_its_end() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(writer);
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let all = open_named(Path::new(&path)).and_then(|pipe| bytes(pipe, Bytes(4)));
        assert_eq!(all.expect("it ends"), Some(Vec::new()));
    }
}
