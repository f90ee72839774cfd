//! Files that results are written to. A regular file is replaced as a whole; a FIFO, a terminal or a descriptor of this
//! process is a stream.
//!
//! Policy:
//!   1. links are followed by hand, so that the folder is known in which the file itself is;
//!   2. `-` and names of this process's descriptors (/dev/stdout, /dev/fd/3) are streams: what a shell opened to append
//!      is appended to;
//!   3. FIFOs, terminals and /dev/null are streams;
//!   4. other devices, directories, and files that a loop device shows are refused when they are looked at, and again
//!      when they are written;
//!   5. a regular file is written unnamed into its folder and synced, and then gets the name. A full disk, a limit or
//!      a kill leaves the old file whole and no other file next to it. Other names of the old file keep its old
//!      content;
//!   6. the old file is written in place if only that keeps its owner and its access control list, or if no new file
//!      can be created in its folder: a user who may write a file expects it to be written. A full disk or a limit
//!      leaves it whole there too.

mod output_steps;
mod replacement;

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub use output_steps::OutputSteps;
use replacement::{Replacement, Temporary, keep_rights};
use rustix::fs::{Access, AtFlags, FallocateFlags, FileType, Mode, OFlags, PROC_SUPER_MAGIC, StatxFlags};
use rustix::io::{Errno, FdFlags};
use rustix::process::{Resource, getrlimit};

use crate::errors::message;
use crate::guard::{Found, Refusal, judge};
use crate::observe::mount::{is_under_dev, may_write, through};

/// Maximum number of links to follow, the kernel's limit for loops (linux/namei.h, MAXSYMLINKS).
const LINKS: usize = 40;

/// Upper bound of a file system's block size, in bytes: the largest page size of Linux.
const LARGEST_BLOCK: u64 = 64 << 10;

/// The name of an access control list (linux/xattr.h, XATTR_NAME_POSIX_ACL_ACCESS).
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// Pause between two checks for a reader. Guess: short for you, long for a processor.
const PAUSE: Duration = Duration::from_millis(10);

/// Character devices that a stream may go to, by major number: /dev/null, /dev/zero and /dev/full; terminals
/// (Documentation/admin-guide/devices.txt).
const MEMORY: (u32, [u32; 3]) = (1, [3, 5, 7]);
const TERMINALS: [u32; 4] = [4, 5, 204, 229];
const PSEUDO_TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;

/// Treatment of a symbolic link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The link's target is written; the link stays.
    Followed,
    /// The link is refused.
    Refused,
}

/// A wait for a stream that cannot be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// No program has the FIFO open for reading.
    ForReader,
    /// The reader has not read enough.
    ForRoom,
}

/// Why results cannot be written to a file.
#[derive(Debug)]
pub enum OutputFileFault {
    /// The path leads to a file that must not be written.
    Refused(Refusal),
    /// The folder does not exist.
    NoFolder(PathBuf),
    /// The device does not exist, and diskperf creates none under /dev.
    NoDevice(PathBuf),
    /// The process was not started with this descriptor, or not open for writing.
    NotOpen,
    /// The process was told to stop before a reader had opened the FIFO and read everything.
    NoReader,
    /// The kernel returned an error.
    Failed(io::Error),
}

impl From<io::Error> for OutputFileFault {
    fn from(error: io::Error) -> OutputFileFault {
        OutputFileFault::Failed(error)
    }
}

impl From<Errno> for OutputFileFault {
    fn from(errno: Errno) -> OutputFileFault {
        OutputFileFault::Failed(errno.into())
    }
}

/// The destination that a path for results leads to.
#[derive(Debug)]
pub struct OutputFile {
    destination: Destination,
}

#[derive(Debug)]
enum Destination {
    /// A descriptor that this process was started with.
    Descriptor(File),
    /// A FIFO, a terminal, /dev/null.
    Stream(Found),
    /// A name in a folder, and the regular file that has this name, if there is one.
    Name { folder: File, name: PathBuf, old: Option<Found> },
    /// A regular file that has no name here: a descriptor of another process.
    Nameless(Found),
}

impl OutputFile {
    /// Resolves the path and judges the file that it leads to. Nothing is created or written.
    pub fn resolve(path: &Path, links: Links) -> Result<OutputFile, OutputFileFault> {
        if path == Path::new("-") {
            return Ok(OutputFile { destination: descriptor(1)? });
        }
        let mut path = path.to_owned();
        // 1
        for _ in 0..LINKS {
            let name = match path.file_name() {
                Some(name) if !path.as_os_str().as_bytes().ends_with(b"/") => PathBuf::from(name),
                _ => return Err(no_file(path)),
            };
            let parent = path.parent().unwrap_or(Path::new(""));
            let folder = open_folder(parent, &path)?;
            if let Some(number) = own_descriptor(&folder, &name) {
                return Ok(OutputFile { destination: descriptor(number)? });
            }
            let destination = match Found::in_folder(folder.as_fd(), &name)? {
                None if is_under_dev(&path) => return Err(OutputFileFault::NoDevice(path)),
                None => Destination::Name { folder, name, old: None },
                Some(found) if !found.metadata()?.is_symlink() => destination_of(found, Some((folder, name)))?,
                Some(_) if links == Links::Refused => return Err(OutputFileFault::Refused(Refusal::Link)),
                Some(_) if rustix::fs::fstatfs(&folder)?.f_type as u64 == PROC_SUPER_MAGIC as u64 => {
                    destination_of(Found::follow(&path)?.ok_or(Errno::NOENT)?, None)?
                }
                Some(link) => {
                    let to = rustix::fs::readlinkat(&link, c"", Vec::new())?;
                    path = parent.join(std::ffi::OsString::from_vec(to.into_bytes()));
                    continue;
                }
            };
            return Ok(OutputFile { destination });
        }
        Err(Errno::LOOP.into())
    }

    /// Checks that this user may write the file, and may also read it if it must be written in place.
    pub fn check(&self) -> Result<(), OutputFileFault> {
        let (path, is_in_place) = match &self.destination {
            Destination::Descriptor(_) => return Ok(()),
            Destination::Stream(found) => (found.path(), false),
            Destination::Name { folder, old: None, .. } => (through(folder), false),
            Destination::Name { folder, old: Some(found), .. } => (found.path(), !is_replaceable(folder, found)?),
            Destination::Nameless(found) => (found.path(), true),
        };
        may_write(&path)?;
        if is_in_place {
            rustix::fs::access(&path, Access::READ_OK)?;
        }
        Ok(())
    }

    /// Writes all bytes. Waits for a reader of a FIFO until `is_to_stop` returns true. A reader that closes the FIFO
    /// early is not an error.
    pub fn write(&self, bytes: &[u8], is_to_stop: &dyn Fn(Wait) -> bool) -> Result<(), OutputFileFault> {
        match &self.destination {
            Destination::Descriptor(file) => stream(file.as_fd(), bytes, is_to_stop),
            Destination::Stream(found) => stream(open_stream(found, is_to_stop)?.as_fd(), bytes, is_to_stop),
            Destination::Name { folder, name, old } => {
                self.check()?;
                check_limit(bytes)?;
                if let Some(new) = Replacement::begin(folder, old.as_ref())? {
                    let mut file = new.file();
                    file.write_all(bytes)?;
                    if new.end(folder, name)? {
                        return Ok(());
                    }
                }
                old.as_ref().map_or(Ok(()), |old| write_in_place(old, bytes))
            }
            Destination::Nameless(found) => {
                check_limit(bytes)?;
                write_in_place(found, bytes)
            }
        }
    }
}

/// Opens the folder of a file.
fn open_folder(folder: &Path, path: &Path) -> Result<File, OutputFileFault> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match rustix::fs::open(here, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(open) => Ok(open.into()),
        Err(Errno::NOENT) if is_under_dev(path) => Err(OutputFileFault::NoDevice(path.to_owned())),
        Err(Errno::NOENT) => Err(OutputFileFault::NoFolder(folder.to_owned())),
        Err(errno) => Err(errno.into()),
    }
}

/// Returns the error for a path that only a directory can have: it ends with `/`, `.` or `..`.
fn no_file(path: PathBuf) -> OutputFileFault {
    match Found::follow(&path) {
        Ok(Some(_)) => OutputFileFault::Refused(Refusal::Directory),
        Ok(None) => OutputFileFault::NoFolder(path),
        Err(error) => error.into(),
    }
}

/// Returns the descriptor's number if `name` in `folder` is a descriptor of this process.
fn own_descriptor(folder: &File, name: &Path) -> Option<RawFd> {
    let number: RawFd = name.to_str()?.parse().ok().filter(|number| *number >= 0)?;
    let folder = std::fs::read_link(through(folder)).ok()?;
    let own = Path::new("/proc").join(std::fs::read_link("/proc/self").ok()?);
    let is_own = folder == own.join("fd") || folder.starts_with(own.join("task")) && folder.ends_with("fd");
    is_own.then_some(number)
}

/// Returns a descriptor that this process was started with. Descriptors that it opened itself (a database, for
/// instance) have FD_CLOEXEC; inherited ones do not.
fn descriptor(number: RawFd) -> Result<Destination, OutputFileFault> {
    // SAFETY: the number is only used for questions: if it is not open, the kernel returns an error.
    let given = unsafe { BorrowedFd::borrow_raw(number) };
    let is_ours = |flags: FdFlags| flags.contains(FdFlags::CLOEXEC);
    if rustix::io::fcntl_getfd(given).map_or(true, is_ours) {
        return Err(OutputFileFault::NotOpen);
    }
    let flags = rustix::fs::fcntl_getfl(given)?;
    if flags.contains(OFlags::PATH) || flags & OFlags::ACCMODE == OFlags::RDONLY {
        return Err(OutputFileFault::NotOpen);
    }
    // 4
    match judge(given) {
        Err(refusal) if !is_stream(&refusal) => Err(OutputFileFault::Refused(refusal)),
        _ => Ok(Destination::Descriptor(rustix::io::fcntl_dupfd_cloexec(given, 0)?.into())),
    }
}

/// Decides how to write an existing file. `place` is its folder and name, if it has a name here.
fn destination_of(found: Found, place: Option<(File, PathBuf)>) -> Result<Destination, OutputFileFault> {
    match judge(&found) {
        Ok(()) => Ok(match place {
            Some((folder, name)) => Destination::Name { folder, name, old: Some(found) },
            None => Destination::Nameless(found),
        }),
        // A socket behind a descriptor cannot be opened by that descriptor's name.
        Err(refusal) if is_stream(&refusal) && !matches!(refusal, Refusal::Socket) => Ok(Destination::Stream(found)),
        Err(refusal) => Err(OutputFileFault::Refused(refusal)),
    }
}

/// Returns true for files that take text and keep nothing.
fn is_stream(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Fifo | Refusal::Socket => true,
        Refusal::CharacterDevice { major, minor } => {
            (*major == MEMORY.0 && MEMORY.1.contains(minor))
                || TERMINALS.contains(major)
                || PSEUDO_TERMINALS.contains(major)
        }
        _ => false,
    }
}

/// Opens a stream without blocking: a FIFO only once it has a reader.
fn open_stream(found: &Found, is_to_stop: &dyn Fn(Wait) -> bool) -> Result<File, OutputFileFault> {
    loop {
        match found.open(OFlags::WRONLY | OFlags::NONBLOCK) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => wait(is_to_stop, Wait::ForReader)?,
            opened => return Ok(opened?),
        }
    }
}

/// Writes all bytes to an open descriptor. A blocked write would be restarted after a signal (SA_RESTART), so no write
/// may block. Each write therefore begins once the kernel has room, and is no longer than that room.
pub fn stream(to: BorrowedFd, bytes: &[u8], is_to_stop: &dyn Fn(Wait) -> bool) -> Result<(), OutputFileFault> {
    stream_to_reader(to, bytes, is_to_stop).map(drop)
}

/// Does the same, and returns false if the reader has closed the pipe.
fn stream_to_reader(
    to: BorrowedFd,
    mut bytes: &[u8],
    is_to_stop: &dyn Fn(Wait) -> bool,
) -> Result<bool, OutputFileFault> {
    // A regular file always has room. One call appends everything, which keeps the results of two programs apart.
    let is_regular = FileType::from_raw_mode(rustix::fs::fstat(to)?.st_mode) == FileType::RegularFile;
    let longest = if is_regular { usize::MAX } else { libc::PIPE_BUF };
    while !bytes.is_empty() {
        if !has_room(to)? {
            stop_if_told(is_to_stop, Wait::ForRoom)?;
            continue;
        }
        match rustix::io::write(to, &bytes[..bytes.len().min(longest)]) {
            Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::PIPE) => return Ok(false),
            // Another program has filled the pipe since the check.
            Err(Errno::AGAIN) => wait(is_to_stop, Wait::ForRoom)?,
            Err(Errno::INTR) => stop_if_told(is_to_stop, Wait::ForRoom)?,
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(true)
}

/// Waits up to [`PAUSE`] until a write of at most PIPE_BUF bytes would return at once, successfully or with an error.
fn has_room(to: BorrowedFd) -> Result<bool, OutputFileFault> {
    let mut entry = libc::pollfd { fd: to.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: the kernel reads and writes one entry, which lives until the call returns.
    let ready = unsafe { libc::poll(&raw mut entry, 1, PAUSE.as_millis() as libc::c_int) };
    match ready {
        0 => Ok(false),
        1.. => Ok(true),
        _ => match io::Error::last_os_error() {
            error if error.kind() == ErrorKind::Interrupted => Ok(false),
            error => Err(error.into()),
        },
    }
}

fn stop_if_told(is_to_stop: &dyn Fn(Wait) -> bool, wait: Wait) -> Result<(), OutputFileFault> {
    if is_to_stop(wait) { Err(OutputFileFault::NoReader) } else { Ok(()) }
}

fn wait(is_to_stop: &dyn Fn(Wait) -> bool, wait: Wait) -> Result<(), OutputFileFault> {
    stop_if_told(is_to_stop, wait)?;
    thread::sleep(PAUSE);
    Ok(())
}

/// Refuses more bytes than `ulimit -f` allows, because the kernel would end the process with a signal.
fn check_limit(bytes: &[u8]) -> Result<(), OutputFileFault> {
    match getrlimit(Resource::Fsize).current {
        Some(most) if bytes.len() as u64 > most => Err(Errno::FBIG.into()),
        _ => Ok(()),
    }
}

/// Returns true if a new file may replace the old one. If this user cannot read the old file, tries it with a temporary
/// file. If the file can be read, the answer does not matter: writing in place would work too.
fn is_replaceable(folder: &File, old: &Found) -> io::Result<bool> {
    if rustix::fs::access(old.path(), Access::READ_OK).is_ok() {
        return Ok(true);
    }
    let is_mounted = mount(folder).zip(mount(old)).is_some_and(|(folder, file)| folder != file);
    if is_mounted || has_access_list(old) {
        return Ok(false);
    }
    let kept = old.metadata()?;
    match Temporary::in_folder(folder, true).and_then(|temporary| keep_rights(temporary.file(), &kept)) {
        Err(error) if is_denied(&error) => Ok(false),
        made => made.map(|()| true),
    }
}

/// The ID of the mount that an open file is on; `None` before Linux 5.8.
fn mount(file: impl AsFd) -> Option<u64> {
    let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

/// Returns true if the file has an access control list, which a new file would not have.
fn has_access_list(file: &Found) -> bool {
    match rustix::fs::getxattr(file.path(), ACCESS_LIST, &mut [0; 256]) {
        Ok(bytes) => bytes > 0,
        Err(errno) => errno == Errno::RANGE,
    }
}

/// Returns true if the folder, not the disk, prevents replacing a file: by its permissions, as a sticky folder, or
/// because the file is a mount point.
fn is_denied(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY))
}

/// Overwrites an old file in place. A full disk or a limit leaves the old file whole:
///   1. the bytes that will be overwritten are kept in memory, so the file must be readable;
///   2. space is reserved for the new bytes and, after them, for the old ones: a copy-on-write file system needs new
///      blocks to put them back. If there is not enough space, nothing has been written yet;
///   3. some file systems cannot reserve space, or do not use it. If writing fails, the reserved space is released and
///      the old bytes are written again.
fn write_in_place(old: &Found, bytes: &[u8]) -> Result<(), OutputFileFault> {
    judge(old).map_err(OutputFileFault::Refused)?;
    let file = old.open(OFlags::RDWR)?;
    let (before, after) = (file.metadata()?.len(), bytes.len() as u64);
    // 1
    let mut kept = vec![0; before.min(after) as usize];
    file.read_exact_at(&mut kept, 0)?;
    // 2
    let behind = before.max(after).next_multiple_of(LARGEST_BLOCK);
    if let Err(error) = reserve(&file, 0, after).and_then(|()| reserve(&file, behind, kept.len() as u64)) {
        file.set_len(before)?;
        return Err(error.into());
    }
    // 3
    let written = file.write_all_at(bytes, 0).and_then(|()| file.sync_all()).and_then(|()| file.set_len(after));
    let Err(error) = written else { return Ok(file.sync_all()?) };
    let restored = file.set_len(before).and_then(|()| file.write_all_at(&kept, 0)).and_then(|()| file.sync_all());
    Err(OutputFileFault::Failed(match restored {
        Ok(()) => error,
        Err(again) => {
            io::Error::other(format!("{}; restoring the old content failed: {}", message(&error), message(&again)))
        }
    }))
}

/// Reserves space in a file. Also succeeds if the file system cannot reserve: then writing shows whether there is
/// space.
fn reserve(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, at, bytes) {
        Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::IO)) => Err(errno.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_store_nothing_are_streams() {
        let device = |major, minor| Refusal::CharacterDevice { major, minor };
        for stream in [Refusal::Fifo, Refusal::Socket, device(1, 3), device(1, 7), device(5, 0), device(136, 9)] {
            assert!(is_stream(&stream), "{stream}");
        }
        // /dev/mem, I/O ports, a tape, flash memory (MTD), a SCSI device.
        let others = [device(1, 1), device(1, 4), device(9, 0), device(90, 0), device(21, 0)];
        for other in others.into_iter().chain([Refusal::Directory, Refusal::BlockDevice, Refusal::Link]) {
            assert!(!is_stream(&other), "{other}");
        }
    }

    #[test]
    fn a_full_disk_is_not_a_reason_to_write_in_place() {
        let denied = |errno: Errno| is_denied(&errno.into());
        assert!(denied(Errno::ACCESS) && denied(Errno::PERM) && denied(Errno::BUSY));
        assert!(!denied(Errno::NOSPC) && !denied(Errno::DQUOT) && !denied(Errno::FBIG) && !denied(Errno::IO));
    }
}
