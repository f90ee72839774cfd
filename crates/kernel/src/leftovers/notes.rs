//! What is to be undone, written down for the case that this process cannot do it: small files in a folder that only
//! its owner can enter, so that nobody else can have anything "undone". They are gone when the machine is started
//! again.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use units::Bytes;

use crate::sys::read_limited;

/// The folder of the administrator, who alone may do most of it.
const SYSTEM: &str = "/run/diskperf";

/// The folder of anybody else, below `XDG_RUNTIME_DIR`.
const PERSONAL: &str = "diskperf";

/// Far more than a note has.
const LARGEST: Bytes = Bytes::mib(1);

/// The folder of the administrator's notes, where there is one and this user cannot see them.
pub fn hidden_notes() -> Option<PathBuf> {
    let is_hidden = !rustix::process::geteuid().is_root() && Path::new(SYSTEM).exists();
    is_hidden.then(|| PathBuf::from(SYSTEM))
}

/// Where notes are.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    folder: PathBuf,
}

/// The notes, while no other process reads or changes them.
pub(crate) struct Locked<'a> {
    notes: &'a Notes,
    _folder: File,
}

impl Notes {
    /// Those of this user; nothing where there is no place for them.
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

    /// Whether there ever were any.
    pub(crate) fn exist(&self) -> bool {
        self.folder.exists()
    }

    /// An empty file of this name, locked until the last process closes it that opened or inherited it. So a child that
    /// has it as its standard input keeps the lock, whatever becomes of this process. The folder must exist. Fails
    /// where another has the lock.
    pub(crate) fn hold(&self, name: &str) -> io::Result<File> {
        let file = self.holding(name)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    }

    /// Whether a process has the file of this name that [`Notes::hold`] gave.
    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.folder.join(name).exists() && self.hold(name).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Waits until no process has the file of this name that [`Notes::hold`] gave.
    pub(crate) fn wait(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::flock(self.holding(name)?, FlockOperation::LockShared)?)
    }

    fn holding(&self, name: &str) -> io::Result<File> {
        // Only to be read: nothing that inherits it writes there.
        let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::open(self.folder.join(name), flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Waits until no other process has them. The folder is made where it is missing, and refused where others
    /// could write to it.
    pub(crate) fn lock(&self) -> io::Result<Locked<'_>> {
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let folder =
            File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(&self.folder)?;
        let metadata = folder.metadata()?;
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "other users could change the notes there"));
        }
        rustix::fs::flock(&folder, FlockOperation::LockExclusive)?;
        Ok(Locked { notes: self, _folder: folder })
    }
}

impl Locked<'_> {
    /// The note of this name, where there is one.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<String>> {
        match read_limited::text(&self.notes.folder.join(name), LARGEST) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All whose names begin so, as far as they can be read.
    pub(crate) fn all(&self, prefix: &str) -> Vec<String> {
        let files = fs::read_dir(&self.notes.folder).into_iter().flatten().flatten();
        let notes = files.filter(|file| file.file_name().to_string_lossy().starts_with(prefix));
        notes.filter_map(|file| read_limited::text(&file.path(), LARGEST).ok()).collect()
    }

    /// Writes it, or writes it anew.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        options.open(self.notes.folder.join(name))?.write_all(text.as_bytes())
    }

    /// Removes it, where it is there.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.notes.folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
