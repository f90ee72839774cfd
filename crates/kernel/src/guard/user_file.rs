//! Files that a user names for writing. A name is resolved once. The file is then judged and opened through its
//! descriptor, so that a name that changes since leads to no other file. Nothing is truncated before it was judged.

use std::fmt::{self, Display};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::ambiguous_files::{self, FileEnd, SECTOR};
use super::device_uses::Machine;
use super::trusted_file_systems;
use crate::observe::block_device::{Device, number_in};
use crate::observe::block_stack::folders;
use crate::observe::mount::through;
use crate::provision::loop_device::{Backing, backing};

/// Flags for a file that did not exist when its name was looked up: an existing file is not opened, and a link is not
/// followed.
pub(crate) const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL);

/// Why a file must not be written like a regular file.
#[derive(Debug)]
pub enum Refusal {
    /// It is a directory.
    Directory,
    /// It is a block device, which writing would overwrite.
    BlockDevice,
    /// It is a character device of this number: a terminal, /dev/null, or a device that writing changes.
    CharacterDevice {
        /// The major number.
        major: u32,
        /// The minor number.
        minor: u32,
    },
    /// It is a FIFO.
    Fifo,
    /// It is a socket.
    Socket,
    /// It is a symbolic link, and the caller does not follow links.
    Link,
    /// Its type is unknown.
    Unknown,
    /// This loop device shows it, or may show it.
    Shown(String),
    /// The kernel does not report its type.
    Unseen(io::Error),
}

impl Display for Refusal {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Directory => to.write_str("it is a directory"),
            Refusal::BlockDevice => to.write_str("it is a block device"),
            Refusal::CharacterDevice { major, minor } => write!(to, "it is the character device {major}:{minor}"),
            Refusal::Fifo => to.write_str("it is a FIFO"),
            Refusal::Socket => to.write_str("it is a socket"),
            Refusal::Link => to.write_str("it is a symbolic link"),
            Refusal::Unknown => to.write_str("it is not a regular file"),
            Refusal::Shown(device) => write!(to, "it is the backing file of {device}"),
            Refusal::Unseen(error) => write!(to, "it cannot be inspected: {error}"),
        }
    }
}

/// Judges whether an open file may be truncated and written.
///   1. It must be a regular file.
///   2. No loop device may show it: writing would change the device, and what is mounted from it. The file's device and
///      inode numbers are compared, as the descriptor gives them, so other names of the file do not matter.
///   3. On some file systems (overlay, FUSE, a network), these numbers do not identify a file. If this file is on one,
///      no loop device may have its size or show a part of a file. The same applies to a loop device whose file is on
///      one. Loop devices on files of this process are ignored.
///
/// A loop device that is attached to the file after this is not seen: nothing in Linux prevents that.
pub fn judge(file: impl AsFd) -> Result<(), Refusal> {
    let stat = rustix::fs::fstat(&file).map_err(|errno| Refusal::Unseen(errno.into()))?;
    // 1
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(Refusal::Directory),
        FileType::BlockDevice => return Err(Refusal::BlockDevice),
        FileType::CharacterDevice => {
            let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
            return Err(Refusal::CharacterDevice { major, minor });
        }
        FileType::Fifo => return Err(Refusal::Fifo),
        FileType::Socket => return Err(Refusal::Socket),
        FileType::Symlink => return Err(Refusal::Link),
        FileType::Unknown => return Err(Refusal::Unknown),
    }
    // 2
    if let Some(device) = devices_showing(&Backing::File { device: stat.st_dev, inode: stat.st_ino }).into_iter().next()
    {
        return Err(Refusal::Shown(device));
    }
    // 3
    match may_show_file(file).map_err(Refusal::Unseen)?.into_iter().next() {
        Some(device) => Err(Refusal::Shown(device)),
        None => Ok(()),
    }
}

/// Returns the names of the loop devices that show this file or device.
pub(super) fn devices_showing(wanted: &Backing) -> Vec<String> {
    let folders = folders(Path::new("/sys/block")).into_iter();
    let devices = folders.filter_map(|folder| number_in(&folder)).filter_map(|(major, minor)| {
        // Skip the other devices: the programs of 1983 ask this, and must start fast.
        Device::numbered(major, minor).filter(Device::is_file)
    });
    devices.filter(|device| backing(device).as_ref() == Some(wanted)).map(|device| device.name).collect()
}

/// Returns the names of loop devices that may show this open file although their file has other numbers. They have the
/// same size or show a part of a file, and the numbers of one of the two files do not identify it. Devices that this
/// process has attached to files of its own are left out.
pub fn may_show_file(file: impl AsFd) -> io::Result<Vec<String>> {
    let stat = rustix::fs::fstat(&file)?;
    let bytes = u64::try_from(stat.st_size).unwrap_or(0);
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || bytes < SECTOR {
        return Ok(Vec::new());
    }
    let is_unseen = !trusted_file_systems::with_magic_tells_files(rustix::fs::fstatfs(&file)?.f_type);
    let machine = Machine::of_loops();
    let shown = ambiguous_files::may_show(&machine, Some(FileEnd::of_file(bytes)), is_unseen);
    Ok(shown.into_iter().map(|(block, _)| block.name.clone()).collect())
}

/// A file that a name led to. Its descriptor (`O_PATH`) opens no device, does not wait for the other end of a FIFO, and
/// cannot be read or written.
#[derive(Debug)]
pub struct Found {
    file: File,
}

impl Found {
    /// Finds the file at the path and follows links. Returns `None` if there is no such file.
    pub fn follow(path: &Path) -> io::Result<Option<Found>> {
        match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => Ok(Some(Found { file: file.into() })),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Finds the file at the path; does not follow a link. Returns `None` if there is no such file.
    pub(crate) fn named(path: &Path) -> io::Result<Option<Found>> {
        Found::in_folder(CWD, path)
    }

    /// Finds a file by its name in an open folder; does not follow a link. Returns `None` if there is no such file.
    pub(crate) fn in_folder(folder: BorrowedFd, name: &Path) -> io::Result<Option<Found>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Ok(file) => Ok(Some(Found { file: file.into() })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the file's type, size and other metadata.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Returns true if the other descriptor is of this file.
    pub(crate) fn is(&self, other: impl AsFd) -> bool {
        let number = |file: BorrowedFd| rustix::fs::fstat(file).map(|stat| (stat.st_dev, stat.st_ino)).ok();
        number(self.as_fd()).is_some_and(|this| number(other.as_fd()) == Some(this))
    }

    /// Returns a path that leads to this very file while this value lives.
    pub fn path(&self) -> PathBuf {
        through(&self.file)
    }

    /// Opens the file itself. Never creates it, and never makes a terminal the controlling one.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        Ok(rustix::fs::open(self.path(), flags, Mode::empty())?.into())
    }
}

impl AsFd for Found {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A file that a user names, and how a program may open it.
#[derive(Debug)]
pub enum Given {
    /// It may only be read.
    Read(PathBuf),
    /// It exists, was judged, and may be truncated and written.
    Write(Found),
    /// It did not exist, and the program creates it. A file that gets the name since is not touched.
    Create(PathBuf),
}

impl Given {
    /// Returns the path that a program opens.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Given::Read(path) | Given::Create(path) => path.clone(),
            Given::Write(found) => found.path(),
        }
    }

    /// Returns the flags for a program that wants these; `None` if it may not open the file so.
    pub(crate) fn flags(&self, wanted: OFlags) -> Option<OFlags> {
        match self {
            Given::Read(_) if wanted.intersects(OFlags::WRONLY | OFlags::RDWR) => None,
            Given::Create(_) if wanted.contains(OFlags::CREATE) => Some((wanted - OFlags::TRUNC) | NEW),
            Given::Read(_) | Given::Write(_) | Given::Create(_) => Some(wanted),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn judged(path: &str) -> Result<(), Refusal> {
        judge(Found::follow(Path::new(path)).expect("it can be looked at").expect("it is there"))
    }

    #[test]
    fn only_regular_files_are_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_str().expect("plain words").to_owned();
        fs::write(path("file"), "text").expect("a file");
        symlink("file", path("link")).expect("a link");
        let (kind, rights) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), kind, rights, 0).expect("a FIFO");
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
        assert!(judged(&path("file")).is_ok() && judged(&path("link")).is_ok());
        assert!(matches!(judged(&path("fifo")), Err(Refusal::Fifo)));
        assert!(matches!(judged(&path("socket")), Err(Refusal::Socket)));
        assert!(matches!(judged(&path(".")), Err(Refusal::Directory)));
        assert!(matches!(judged("/dev/null"), Err(Refusal::CharacterDevice { major: 1, minor: 3 })));
        let folder = File::open(folder.path()).expect("the folder");
        let link = Found::in_folder(folder.as_fd(), Path::new("link")).expect("it can be looked at");
        assert!(matches!(judge(link.expect("it is there")), Err(Refusal::Link)));
    }

    #[test]
    fn read_only_files_are_never_opened_for_writing() {
        let given = Given::Read(PathBuf::from("file"));
        assert_eq!(given.flags(OFlags::RDONLY), Some(OFlags::RDONLY));
        for flags in [OFlags::RDWR, OFlags::WRONLY, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC] {
            assert_eq!(given.flags(flags), None);
        }
    }

    #[test]
    fn a_new_file_replaces_no_existing_one() {
        let given = Given::Create(PathBuf::from("file"));
        let flags = given.flags(OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::DSYNC);
        assert_eq!(flags, Some(NEW | OFlags::DSYNC));
    }
}
