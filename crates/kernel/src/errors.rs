//! Errors of the kernel backend, apart from the failure of one operation.

use std::fmt;
use std::io;
use std::path::PathBuf;

use units::{Bytes, Errno};

use crate::sys::name::Shown;
use crate::world::uring::NoRing;

/// An error of the system as a user reads it: of a call that the kernel refused in words and with its name, as in
/// `Input/output error (EIO)`.
pub fn said(error: &io::Error) -> impl fmt::Display {
    match error.raw_os_error() {
        Some(number) => Errno(number).to_string(),
        None => error.to_string(),
    }
}

/// What to try after an error of the system.
pub fn hint_of(error: &io::Error) -> Option<&'static str> {
    Errno(error.raw_os_error()?).hint()
}

/// Whether the user lacks the right, or the file system is read-only.
pub fn lacks_rights(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The world itself failed.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The private folder could not be made, listed, cleared or removed.
    #[error("cannot {action} {path}: {}", said(source), path = .path.shown())]
    Folder {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file under /proc or /sys that every kernel has could not be read.
    #[error("cannot read the kernel's counters in {what}: {message}")]
    Counters {
        /// Which counters.
        what: &'static str,
        /// What went wrong.
        message: String,
    },
    /// The private folder is still there, with what it holds.
    #[error("cannot remove the private folder {path}: {}", said(source), path = .path.shown())]
    Left {
        /// Where it is.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The tests and their results do not fit into memory.
    #[error("not enough memory: {0} needed")]
    Memory(Bytes),
    /// A program that runs next to others got no thread.
    #[error("cannot start a thread: {}", said(.0))]
    Thread(io::Error),
    /// The caches of the machine could not be dropped.
    #[error("cannot drop the page cache (vm.drop_caches): {}", said(.0))]
    DropCaches(io::Error),
    /// The file system of a test could not be remounted.
    #[error("cannot remount the file system: {}", said(.0))]
    Remount(io::Error),
    /// A device could not be written to before the rounds.
    #[error("cannot condition {device}: {}", said(source), device = .device.shown())]
    Conditioning {
        /// Which.
        device: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A path holds a zero byte.
    #[error("the path {} contains a zero byte", .0.shown())]
    Path(PathBuf),
    /// There is no io_uring.
    #[error("{0}")]
    Ring(NoRing),
    /// An io_uring that was there issued nothing more.
    #[error("io_uring failed with operations in flight: {}", said(.0))]
    Issue(io::Error),
}
