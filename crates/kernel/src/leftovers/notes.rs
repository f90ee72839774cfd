//! Notes of changes that must be undone, in case this process cannot undo them. They are small files in a folder that
//! only its owner can enter, so that no other user can have anything "undone". A reboot removes them.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use units::Bytes;

use crate::sys::read_limited;

/// Root's folder. Only root can make most of the changes.
const SYSTEM: &str = "/run/diskperf";

/// Another user's folder, in `XDG_RUNTIME_DIR`.
const PERSONAL: &str = "diskperf";

/// Maximum size of a note that is read: far more than a note has.
const LARGEST: Bytes = Bytes::mib(1);

/// Returns root's folder of notes if it exists and this user is not root, so that its notes cannot be read.
pub fn hidden_notes() -> Option<PathBuf> {
    let is_hidden = !rustix::process::geteuid().is_root() && Path::new(SYSTEM).exists();
    is_hidden.then(|| PathBuf::from(SYSTEM))
}

/// A folder of notes.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    folder: PathBuf,
}

/// The notes, locked against other processes.
pub(crate) struct Locked<'a> {
    notes: &'a Notes,
    _folder: File,
}

impl Notes {
    /// Returns this user's folder of notes; `None` if there is no place for one.
    pub(crate) fn usual() -> Option<Notes> {
        if rustix::process::geteuid().is_root() {
            return Some(Notes::in_folder(PathBuf::from(SYSTEM)));
        }
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        Some(Notes::in_folder(runtime?.join(PERSONAL)))
    }

    pub(crate) fn in_folder(folder: PathBuf) -> Notes {
        Notes { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns true if the folder exists: a note was made since the last boot.
    pub(crate) fn exist(&self) -> bool {
        self.folder.exists()
    }

    /// Creates an empty file of this name and locks it. The lock ends when every process that opened or inherited the
    /// file has closed it: a child that has it as standard input keeps the lock even if this process dies. The folder
    /// must exist. Fails if another process has the lock.
    pub(crate) fn hold(&self, name: &str) -> io::Result<File> {
        let file = self.holding(name)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    }

    /// Returns true if a process holds the lock on the file of this name ([`Notes::hold`]).
    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.folder.join(name).exists() && self.hold(name).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Waits until no process holds the lock on the file of this name ([`Notes::hold`]).
    pub(crate) fn wait(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::flock(self.holding(name)?, FlockOperation::LockShared)?)
    }

    fn holding(&self, name: &str) -> io::Result<File> {
        // Read-only: children that inherit it never write to it.
        let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::open(self.folder.join(name), flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Waits for the lock on the notes. Creates the folder if it is missing, and refuses one that other users could
    /// write to.
    pub(crate) fn lock(&self) -> io::Result<Locked<'_>> {
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let folder =
            File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(&self.folder)?;
        let metadata = folder.metadata()?;
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "other users have access to this folder"));
        }
        rustix::fs::flock(&folder, FlockOperation::LockExclusive)?;
        Ok(Locked { notes: self, _folder: folder })
    }
}

impl Locked<'_> {
    /// Reads the note of this name; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<String>> {
        match read_limited::text(&self.notes.folder.join(name), LARGEST) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads all notes whose names have this prefix. Unreadable notes are left out.
    pub(crate) fn all(&self, prefix: &str) -> Vec<String> {
        let files = fs::read_dir(&self.notes.folder).into_iter().flatten().flatten();
        let notes = files.filter(|file| file.file_name().to_string_lossy().starts_with(prefix));
        notes.filter_map(|file| read_limited::text(&file.path(), LARGEST).ok()).collect()
    }

    /// Creates or replaces a note.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        options.open(self.notes.folder.join(name))?.write_all(text.as_bytes())
    }

    /// Removes a note if it exists.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.notes.folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
