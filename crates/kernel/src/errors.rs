//! Errors of the kernel backend, apart from the failure of one operation.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use units::{Bytes, Errno, Exit};
use workload::TARGET_GONE;

use crate::sys::name::{Shown, shell_word};
use crate::world::uring::NoRing;

/// Formats a system error for the user: the kernel's message and the error's name, as in `Input/output error (EIO)`.
pub fn message(error: &io::Error) -> impl fmt::Display {
    match error.raw_os_error() {
        Some(number) => Errno(number).to_string(),
        None => error.to_string(),
    }
}

/// Returns the hint for a system error, if there is one.
pub fn hint_of(error: &io::Error) -> Option<&'static str> {
    Errno(error.raw_os_error()?).hint()
}

/// Returns the hint to run the same command as root.
pub fn as_root() -> String {
    let words: Vec<OsString> = std::env::args_os().collect();
    format!("run it as root: sudo {}", units::shell::line(words.iter().map(|word| word.as_bytes())))
}

/// Returns true if the user lacks the right, or the file system is read-only.
pub fn lacks_rights(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The action of [`Fault::Folder`] if a private folder cannot be created.
pub(crate) const CREATE_FOLDER: &str = "create a folder in";

/// A failure of the world itself, not of one operation.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The private folder could not be created, listed, cleared or removed.
    #[error("cannot {action} {path}: {}", message(source), path = .path.shown())]
    Folder {
        /// The attempted action: a verb.
        action: &'static str,
        /// Path of the folder or of a file in it.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Folders in this one could be created, but not removed (`chattr +a`).
    #[error("{} is append-only: the private folder could not be removed from it", .0.shown())]
    AppendOnly(PathBuf),
    /// A file under /proc or /sys that every kernel has could not be read.
    #[error("cannot read the kernel's counters in {what}: {message}")]
    Counters {
        /// The file or counter that was read.
        what: &'static str,
        /// Cause.
        message: String,
    },
    /// The private folder could not be removed and still exists, with its content.
    #[error("cannot remove the private folder {path}: {}", message(source), path = .path.shown())]
    Left {
        /// Path of the folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The tests and their results do not fit into memory.
    #[error("not enough memory: {0} needed")]
    Memory(Bytes),
    /// No thread could be started for a program that runs next to others.
    #[error("cannot start a thread: {}", message(.0))]
    Thread(io::Error),
    /// The machine's page cache could not be dropped.
    #[error("cannot drop the page cache (vm.drop_caches): {}", message(.0))]
    DropCaches(io::Error),
    /// The file system of a test could not be remounted.
    #[error("cannot remount the file system: {}", message(.0))]
    Remount(io::Error),
    /// Writing to a device before the rounds (conditioning) failed.
    #[error("cannot condition {device}: {}", message(source), device = .device.shown())]
    Conditioning {
        /// Path of the device.
        device: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A path holds a zero byte.
    #[error("the path {} contains a zero byte", .0.shown())]
    Path(PathBuf),
    /// io_uring is not available.
    #[error("{0}")]
    Ring(NoRing),
    /// io_uring failed while operations were in flight.
    #[error("io_uring failed with operations in flight: {}", message(.0))]
    Issue(io::Error),
}

impl Fault {
    /// Returns the exit status of a command that met the fault.
    pub fn exit(&self) -> Exit {
        match self {
            Fault::Folder { source, .. } | Fault::DropCaches(source) if lacks_rights(source) => Exit::Refused,
            Fault::AppendOnly(_) | Fault::Memory(_) => Exit::Refused,
            _ => Exit::Failed,
        }
    }

    /// Returns the hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Fault::Folder { source, .. } if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                "name a writable directory; if this one was writable before, dmesg says why"
            }
            Fault::Folder { source, path, .. } if is_not_permitted(source) => {
                let path = shell_word(path);
                return Some(format!(
                    "name another directory; to see whether this one is immutable or append-only: lsattr -d {path}"
                ));
            }
            Fault::Folder { source, .. } if lacks_rights(source) => "name a directory that you may write to",
            Fault::AppendOnly(path) => {
                return Some(format!("name another directory; to see the attribute: lsattr -d {}", shell_word(path)));
            }
            // The kernel gives this error for /proc, where nothing can be created.
            Fault::Folder { action: CREATE_FOLDER, path, source } if is_gone(source) && path.is_dir() => {
                "name a directory on a disk: this file system creates no folders"
            }
            Fault::Folder { source, .. } if is_gone(source) => TARGET_GONE,
            Fault::Folder { source, .. } | Fault::Remount(source) => hint_of(source)?,
            Fault::DropCaches(_) => {
                "run as root, or leave --drop-caches out: file data are cold without it, metadata are not"
            }
            Fault::Left { path, source } => {
                // `clean` needs the directory, not the folder's path: only the tag of the private folder proves that it
                // is ours.
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let folder = shell_word(folder.unwrap_or(Path::new(".")));
                let condition = if is_not_permitted(source) {
                    format!("lsattr -d {folder} shows whether it is append-only; after chattr -a")
                } else {
                    "when the device is writable again".to_owned()
                };
                return Some(format!("{condition}, run: diskperf clean {folder}"));
            }
            Fault::Memory(_) => "check the memory limits: ulimit -v, and memory.max of this control group",
            Fault::Thread(_) => "check the thread limits: ulimit -u, and pids.max of this control group",
            Fault::Counters { .. } | Fault::Conditioning { .. } | Fault::Path(_) | Fault::Ring(_) | Fault::Issue(_) => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}

/// Returns true if the kernel refuses even the owner, for example because of an attribute of the folder.
fn is_not_permitted(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EPERM)
}

/// Returns true if the folder was removed or replaced.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From errno.h: ENOENT, EACCES, EROFS, ENOSPC.
    #[test]
    fn folder_faults_depend_on_the_system_error() {
        let folder = |number| {
            let source = io::Error::from_raw_os_error(number);
            Fault::Folder { action: "create", path: "/mnt/x".into(), source }
        };
        for (number, status) in [(2, Exit::Failed), (13, Exit::Refused), (30, Exit::Refused), (28, Exit::Failed)] {
            assert_eq!(folder(number).exit(), status, "{number}");
        }
        let hints = [2, 13, 30, 28].map(|number| folder(number).hint().expect("a hint"));
        assert_eq!(hints[0], TARGET_GONE);
        let source = io::Error::from_raw_os_error(2);
        let in_proc = Fault::Folder { action: CREATE_FOLDER, path: "/proc".into(), source };
        assert!(in_proc.hint().is_some_and(|hint| hint.starts_with("name a directory on a disk")));
        assert_eq!(hints[3], Errno(28).hint().expect("a hint"));
        assert_ne!(hints[1], hints[2]);
    }

    #[test]
    fn the_hint_for_a_leftover_folder_is_quoted_for_a_shell() {
        let left = Fault::Left { path: "/mnt/it is/x".into(), source: io::Error::from_raw_os_error(5) };
        assert!(left.hint().is_some_and(|hint| hint.ends_with("diskperf clean '/mnt/it is'")));
    }

    /// EPERM: even root may not change an immutable folder, or remove files from an append-only one.
    #[test]
    fn folders_that_even_root_may_not_change_have_a_hint_to_lsattr() {
        let source = || io::Error::from_raw_os_error(1);
        let (path, below) = (|| PathBuf::from("/mnt/x"), PathBuf::from("/mnt/x/y"));
        for fault in [
            Fault::Folder { action: CREATE_FOLDER, path: path(), source: source() },
            Fault::AppendOnly(path()),
            Fault::Left { path: below, source: source() },
        ] {
            let hint = fault.hint().expect("a hint");
            assert!(hint.contains("lsattr -d") && hint.contains("/mnt/x") && !hint.contains("writable"), "{hint}");
        }
        assert_eq!(Fault::AppendOnly(path()).exit(), Exit::Refused);
    }
}
