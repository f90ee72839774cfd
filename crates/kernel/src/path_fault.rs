//! Errors of a path that you named: message, exit status and hint.

use std::io;
use std::path::PathBuf;

use units::{Bytes, Exit};

use crate::errors::{hint_of, message};
use crate::sys::name::Shown;

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum PathFault {
    #[error("there is no {}", .0.shown())]
    Missing(PathBuf),
    #[error("there is no device {}; nothing was created", .0.shown())]
    MissingDevice(PathBuf),
    #[error("{} is a file; a directory is needed", .0.shown())]
    NotADirectory(PathBuf),
    #[error("{} is a directory; a file is needed", .0.shown())]
    IsADirectory(PathBuf),
    #[error("{} is not a regular file", .0.shown())]
    NotAFile(PathBuf),
    #[error("{} is neither a block device nor a file", .0.shown())]
    NotStorage(PathBuf),
    #[error("{} is a device, and this would overwrite it", .0.shown())]
    WouldOverwrite(PathBuf),
    #[error("{path} is the backing file of {device}; this would overwrite it", path = .path.shown())]
    WouldOverwriteLoop { path: PathBuf, device: String },
    #[error("{} is an input file; this would overwrite it", .0.shown())]
    WouldOverwriteInput(PathBuf),
    #[error("{} is a results database; this would overwrite it", .0.shown())]
    WouldOverwriteDatabase(PathBuf),
    #[error("cannot read {path}: {}", message(source), path = .path.shown())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} has room for {free}; {needed} are needed", path = .path.shown())]
    NoRoom { path: PathBuf, free: Bytes, needed: Bytes },
    #[error("{path} has room for {free} more files; {needed} are needed", path = .path.shown())]
    NoFiles { path: PathBuf, free: u64, needed: u64 },
}

impl PathFault {
    /// Returns the exit status of a command that was given the path.
    pub fn exit(&self) -> Exit {
        self.outcome().0
    }

    /// Returns the hint for the user.
    pub fn hint(&self) -> Option<String> {
        Some(self.outcome().1)
    }

    fn outcome(&self) -> (Exit, String) {
        let (exit, hint) = match self {
            PathFault::Missing(path) => match path.parent().filter(|parent| parent.is_dir()) {
                Some(parent) if parent.as_os_str().is_empty() => (Exit::Usage, "check the spelling"),
                Some(parent) => {
                    return (Exit::Usage, format!("{} exists; check the spelling of the rest", parent.shown()));
                }
                None => (Exit::Usage, "check the spelling, or create it first"),
            },
            PathFault::MissingDevice(_) => (Exit::Usage, "lsblk lists the devices"),
            PathFault::NotADirectory(path) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let example = parent.map_or_else(
                    || "such as . for the current one".to_owned(),
                    |parent| format!("as in {}", parent.shown()),
                );
                return (Exit::Usage, format!("name the directory to measure, {example}"));
            }
            PathFault::IsADirectory(path) => {
                return (Exit::Usage, format!("name a file in it, as in {}", path.join("tst2").shown()));
            }
            PathFault::NotAFile(_) => (Exit::Usage, "name a file; pipes, sockets and devices have no size"),
            PathFault::NotStorage(_) => (Exit::Usage, "lsblk lists the block devices"),
            PathFault::WouldOverwrite(_) => {
                (Exit::Refused, "name a file on that device; diskperf writes to files only")
            }
            PathFault::WouldOverwriteLoop { device, .. } => {
                let hint = format!("name another file, or detach the loop device: losetup --detach /dev/{device}");
                return (Exit::Refused, hint);
            }
            PathFault::WouldOverwriteInput(_) | PathFault::WouldOverwriteDatabase(_) => {
                (Exit::Refused, "name another file with -o, or another folder with --svg")
            }
            PathFault::Unreadable { source, .. } if crate::errors::lacks_rights(source) => {
                (Exit::Refused, "run as a user who may read it")
            }
            PathFault::Unreadable { source, .. } => {
                (Exit::Refused, hint_of(source).unwrap_or("name a file on a disk: this one cannot be read"))
            }
            PathFault::NoRoom { .. } => (
                Exit::Refused,
                "free some space (on tmpfs, memory), or use a smaller size (--size in run, choose and io)",
            ),
            PathFault::NoFiles { .. } => (Exit::Refused, "ask for fewer files, or use another file system"),
        };
        (exit, hint.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_names_the_part_of_the_path_that_exists() {
        let hint = |path: &str| PathFault::Missing(path.into()).hint().expect("a hint");
        assert!(hint("/none/such").contains("create it"));
        assert!(hint("/such").starts_with("/ exists"));
        assert!(!hint("such").contains("exists"));
    }

    #[test]
    fn the_hint_for_too_little_room_keeps_the_command() {
        let full = PathFault::NoRoom { path: "x".into(), free: Bytes(1), needed: Bytes(2) };
        assert!(full.hint().is_some_and(|hint| hint.contains("--size") && !hint.contains("diskperf")));
    }

    /// From errno.h: EIO, ENOENT, EACCES.
    #[test]
    fn an_unreadable_file_has_the_hint_of_the_system_error() {
        let unreadable =
            |number| PathFault::Unreadable { path: "x".into(), source: io::Error::from_raw_os_error(number) };
        assert_eq!(unreadable(5).hint().as_deref(), units::Errno::IO.hint());
        assert_ne!(unreadable(2).hint().as_deref(), units::Errno::IO.hint());
        // EACCES
        assert_eq!(unreadable(13).hint().as_deref(), Some("run as a user who may read it"));
        assert_ne!(unreadable(13).hint(), unreadable(2).hint());
        assert_eq!(unreadable(2).exit(), Exit::Refused);
    }
}
