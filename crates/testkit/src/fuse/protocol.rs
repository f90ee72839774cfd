//! The part of the kernel's FUSE protocol (linux/fuse.h, version 7.31) that the servers of this crate need: a mount,
//! the threads that read requests and write answers, and the layout of both.
//!
//! The crate `fuser` (0.18, MIT, needs no libfuse) was considered and rejected:
//!   1. it would replace the codes and the layout of requests and answers, about 120 lines of this file; its methods
//!      have up to fifteen arguments, so the two servers would grow by about as much;
//!   2. it brings eight crates on Linux that the project does not have, among them `nix` in addition to `rustix`;
//!   3. it mounts the type `fuse` only, so we would still need our own mount for `fuseblk`.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Read};
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

// The requests of linux/fuse.h that the servers know.
pub(crate) const LOOKUP: u32 = 1;
pub(crate) const FORGET: u32 = 2;
pub(crate) const GETATTR: u32 = 3;
pub(crate) const SETATTR: u32 = 4;
pub(crate) const MKDIR: u32 = 9;
pub(crate) const UNLINK: u32 = 10;
pub(crate) const RMDIR: u32 = 11;
pub(crate) const RENAME: u32 = 12;
pub(crate) const OPEN: u32 = 14;
pub(crate) const READ: u32 = 15;
pub(crate) const WRITE: u32 = 16;
pub(crate) const STATFS: u32 = 17;
const RELEASE: u32 = 18;
pub(crate) const FSYNC: u32 = 20;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
pub(crate) const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
pub(crate) const FSYNCDIR: u32 = 30;
const ACCESS: u32 = 34;
pub(crate) const CREATE: u32 = 35;
const INTERRUPT: u32 = 36;
const DESTROY: u32 = 38;
pub(crate) const BATCH_FORGET: u32 = 42;
pub(crate) const RENAME2: u32 = 45;

/// The inode number of the root folder, which the protocol defines.
pub(crate) const ROOT: u64 = 1;

/// The most bytes of a request: the kernel's default of 32 pages.
const LARGEST: u32 = 128 * 1024;

/// Requests that are served at once: a sleeping fsync must not delay reads and writes.
const SERVERS: usize = 4;

/// The answer to a request: its bytes without the header, or an error.
pub(crate) type Answer = Result<Vec<u8>, Errno>;

/// A file system served by this process.
pub(crate) trait Server: Send + Sync + 'static {
    /// Returns the answer to a request; `None` if the kernel expects none.
    fn answer(&self, request: &Request) -> Option<Answer>;
}

/// The mount of a server. Dropping it unmounts it.
#[derive(Debug)]
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// Mounts a server on the folder, in the mount namespace of the calling thread, with this source and this type
    /// (`fuse`, `fuse.NAME` or `fuseblk`), and starts its threads. Needs root.
    pub(crate) fn new(at: &Path, source: &OsStr, kind: &str, server: Arc<impl Server>) -> io::Result<Mount> {
        let connection = OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
        let options =
            format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={LARGEST}", connection.as_raw_fd());
        let options = CString::new(options)?;
        rustix::mount::mount(source, at, kind, MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?;
        let connection = Arc::new(connection);
        for _ in 0..SERVERS {
            let (connection, server) = (Arc::clone(&connection), Arc::clone(&server));
            thread::spawn(move || serve(&connection, &*server));
        }
        Ok(Mount(at.to_owned()))
    }

    /// Returns the folder of the mount.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Ends the connection to the kernel. Mounts the file system that does that (fusectl) for this time.
    pub(crate) fn abort(&self) -> io::Result<()> {
        let connection = rustix::fs::minor(self.0.metadata()?.dev()).to_string();
        let control = tempfile::tempdir()?;
        rustix::mount::mount("control", control.path(), "fusectl", MountFlags::empty(), None)?;
        let aborted = fs::write(control.path().join(connection).join("abort"), "1");
        rustix::mount::unmount(control.path(), UnmountFlags::DETACH)?;
        aborted
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // An error is ignored: the mount ends with the process in any case.
        let _ = rustix::mount::unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// Answers requests until the file system is unmounted.
fn serve(connection: &File, server: &impl Server) {
    // Wakes threads when a request is done. By default the kernel may wake them up to 50 us later (prctl(2),
    // PR_SET_TIMERSLACK).
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // Space for the header and the fields of a write, in addition to its bytes.
    let mut buffer = vec![0; LARGEST as usize + 4096];
    loop {
        let length = match (&mut &*connection).read(&mut buffer) {
            Ok(length) => length,
            // The request was interrupted before it was read.
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::NotFound) => continue,
            Err(_) => return,
        };
        let request = Request(&buffer[..length]);
        let answer = match request.code() {
            INTERRUPT => None,
            INIT => Some(Ok(agreement(&request))),
            OPENDIR => Some(Ok(longs(&[0, 0], &[]))),
            RELEASE | RELEASEDIR | FLUSH | ACCESS | DESTROY => Some(Ok(Vec::new())),
            _ => server.answer(&request),
        };
        if let Some(answer) = answer {
            send(connection, request.unique(), answer);
        }
    }
}

/// Writes an answer with its header: length, error, and the ID of the request.
fn send(connection: &File, unique: u64, answer: Answer) {
    let (error, body) = match answer {
        Ok(body) => (0, body),
        Err(errno) => (-errno.raw_os_error(), Vec::new()),
    };
    let mut header = [0; 16];
    header[..4].copy_from_slice(&(16 + body.len() as u32).to_ne_bytes());
    header[4..8].copy_from_slice(&error.to_ne_bytes());
    header[8..].copy_from_slice(&unique.to_ne_bytes());
    // The kernel refuses an answer to an interrupted request. That is fine.
    let _ = rustix::io::writev(connection, &[IoSlice::new(&header), IoSlice::new(&body)]);
}

/// A request as the kernel sends it: a header of forty bytes, then its fields.
pub(crate) struct Request<'a>(&'a [u8]);

impl<'a> Request<'a> {
    const HEADER: usize = 40;

    pub(crate) fn code(&self) -> u32 {
        word(self.0, 4)
    }

    fn unique(&self) -> u64 {
        long(self.0, 8)
    }

    /// Returns the inode number.
    pub(crate) fn node(&self) -> u64 {
        long(self.0, 16)
    }

    /// Returns the fields.
    pub(crate) fn body(&self) -> &'a [u8] {
        self.0.get(Request::HEADER..).unwrap_or_default()
    }

    /// Returns the field of four bytes at this offset.
    pub(crate) fn word(&self, at: usize) -> u32 {
        word(self.body(), at)
    }

    /// Returns the field of eight bytes at this offset.
    pub(crate) fn long(&self, at: usize) -> u64 {
        long(self.body(), at)
    }

    /// Returns the name at this offset.
    pub(crate) fn name(&self, at: usize) -> Result<&'a CStr, Errno> {
        let bytes = self.body().get(at..).unwrap_or_default();
        CStr::from_bytes_until_nul(bytes).map_err(|_| Errno::INVAL)
    }

    /// Returns the range of bytes of a read or a write.
    pub(crate) fn range(&self) -> Range<u64> {
        let offset = self.long(8);
        offset..offset + u64::from(self.word(16))
    }

    /// Returns the bytes of a write. They follow its fields, which are as long as the header.
    pub(crate) fn data(&self) -> &'a [u8] {
        self.body().get(Request::HEADER..).unwrap_or_default()
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |bytes| u32::from_ne_bytes(bytes.try_into().expect("four bytes")))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
}

/// The answer to INIT: version, read-ahead, features, then the most bytes of a request. The kernel takes the rest of
/// the 64 bytes as zero.
fn agreement(request: &Request) -> Vec<u8> {
    // FUSE_ASYNC_READ, FUSE_BIG_WRITES and FUSE_ASYNC_DIO: requests overlap, also those that bypass the page cache,
    // and writes may be larger than a page.
    const FEATURES: u32 = 1 | 1 << 5 | 1 << 15;
    let read_ahead = request.word(8);
    let mut body = words(&[7, 31, read_ahead, FEATURES & request.word(12), 0, LARGEST, 1]);
    body.resize(64, 0);
    body
}

/// Returns these words as bytes.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Returns these long words as bytes, followed by others.
pub(crate) fn longs(longs: &[u64], rest: &[u8]) -> Vec<u8> {
    longs.iter().flat_map(|long| long.to_ne_bytes()).chain(rest.iter().copied()).collect()
}

/// Returns the number of an error.
pub(crate) fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
