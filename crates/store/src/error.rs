//! Errors of the results database: message, exit status and hint.

use std::borrow::Cow;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use units::{Errno, Exit};

/// An error of the results database.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist.
    #[error("there is no results database {}", .0.shown())]
    Missing(PathBuf),
    /// The folder in which a store is to be created does not exist.
    #[error("there is no folder {} for the results database", .0.shown())]
    NoFolder(PathBuf),
    /// This user may not create a folder of the default path.
    #[error("cannot create the folder {} for the results database: {}", .path.shown(), message_with_name(source))]
    FolderDenied {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another process has locked the store for longer than we wait.
    #[error("another process has locked the results database {}", .0.shown())]
    Locked(PathBuf),
    /// The file or its folder is not writable.
    #[error("cannot write the results database {}", .0.shown())]
    ReadOnly(PathBuf),
    /// This user has no permission to read the file.
    #[error("no permission to read the results database {}", .0.shown())]
    Denied(PathBuf),
    /// The file is not an SQLite database, or belongs to another program.
    #[error("{path} is not a results database of diskperf: {what}", path = .path.shown())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The kind of the file.
        what: String,
    },
    /// A newer diskperf wrote the file.
    #[error("the results database {} has schema {found}; this diskperf knows schemas up to {known}", .path.shown())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The newest schema that this diskperf knows.
        known: i64,
    },
    /// The file is damaged.
    #[error("the results database {path} is damaged: {what}", path = .path.shown())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The damage that was found.
        what: String,
    },
    /// The file system is full.
    #[error("no space for the results database {}", .0.shown())]
    Full(PathBuf),
    /// No run has this name.
    #[error("there is no run {typed}")]
    UnknownRun {
        /// The name as the user typed it.
        typed: String,
        /// Similar names.
        near: Vec<String>,
    },
    /// Several runs begin with these characters.
    #[error("{} runs begin with {typed}: {}", .runs.len(), .runs.join(", "))]
    Ambiguous {
        /// The name as the user typed it.
        typed: String,
        /// The runs that begin with it.
        runs: Vec<String>,
    },
    /// Another process has resumed the run.
    #[error("another process has resumed the run {0}")]
    Taken(String),
    /// The operating system reported an error.
    #[error("cannot {action} {path}: {}", message_with_name(source), path = .path.shown())]
    Io {
        /// The action that failed, a verb.
        action: &'static str,
        /// The file of the action.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// SQLite reported an error that is none of the above.
    #[error("results database {path}: {source}", path = .path.shown())]
    Sql {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

/// Returns an error of the system as text with its name: `Input/output error (EIO)`.
fn message_with_name(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |number| Errno(number).to_string())
}

impl StoreError {
    /// Returns the exit status of a command that needed the database.
    pub fn exit(&self) -> Exit {
        match self {
            StoreError::Missing(_)
            | StoreError::NoFolder(_)
            | StoreError::UnknownRun { .. }
            | StoreError::Ambiguous { .. } => Exit::Usage,
            StoreError::FolderDenied { .. } | StoreError::ReadOnly(_) | StoreError::Denied(_) => Exit::Refused,
            StoreError::Locked(_)
            | StoreError::Foreign { .. }
            | StoreError::Newer { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Full(_)
            | StoreError::Taken(_)
            | StoreError::Io { .. }
            | StoreError::Sql { .. } => Exit::Failed,
        }
    }

    /// Returns advice. `option` is the command-line option that names this database, with a space before it; empty for
    /// the default database.
    pub fn hint(&self, option: &str) -> String {
        match self {
            StoreError::Missing(_) => "check the spelling of --store; diskperf run quick makes one".to_owned(),
            StoreError::NoFolder(_) => "create the folder, or use another --store".to_owned(),
            StoreError::Locked(_) => "wait until that process ends, or use another --store".to_owned(),
            StoreError::FolderDenied { .. }
            | StoreError::ReadOnly(_)
            | StoreError::Denied(_)
            | StoreError::Io { .. }
            | StoreError::Sql { .. } => "use another --store PATH, or none: diskperf run quick --no-store".to_owned(),
            StoreError::Foreign { .. } => "use another file with --store; this one was not changed".to_owned(),
            StoreError::Newer { .. } => "use the diskperf that wrote it, or another file with --store".to_owned(),
            StoreError::Corrupt { path, .. } => {
                format!(
                    "save the intact data with sqlite3 {} .recover, then move the file away",
                    units::shell::word(path.as_os_str().as_bytes())
                )
            }
            StoreError::Full(_) => "free some space, or use another --store".to_owned(),
            StoreError::UnknownRun { near, .. } if near.is_empty() => format!("diskperf list{option} shows the runs"),
            StoreError::UnknownRun { near, .. } => format!("did you mean {}?", near.join(" or ")),
            StoreError::Ambiguous { .. } => "type more characters".to_owned(),
            StoreError::Taken(run) => format!("diskperf show {run}{option} shows its progress"),
        }
    }

    /// Converts an error of SQLite.
    pub(crate) fn sql(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
        if let FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..) =
            source
        {
            return StoreError::Corrupt { path, what: source.to_string() };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                StoreError::Locked(path)
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => StoreError::ReadOnly(path),
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => StoreError::Denied(path),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { path, what: source.to_string() }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full(path),
            _ => StoreError::Sql { path, source },
        }
    }

    /// Converts an error of the operating system about a folder that could not be created.
    pub(crate) fn folder(path: &Path, source: io::Error) -> StoreError {
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::FolderDenied { path: path.to_owned(), source }
            }
            _ => StoreError::io("create", path, source),
        }
    }

    /// Converts an error of the operating system.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> StoreError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full(path),
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly(path),
            io::ErrorKind::PermissionDenied if action == READ => StoreError::Denied(path),
            io::ErrorKind::PermissionDenied => StoreError::ReadOnly(path),
            _ => StoreError::Io { action, path, source },
        }
    }
}

/// A path as text without loss.
trait Shown {
    fn shown(&self) -> Cow<'_, str>;
}

impl Shown for Path {
    fn shown(&self) -> Cow<'_, str> {
        units::name::text(self.as_os_str().as_bytes())
    }
}

/// The action whose denial means that the store may not even be read.
pub(crate) const READ: &str = "read";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_database_as_the_command_did() {
        let taken = StoreError::Taken("bzkv-261122".to_owned());
        assert!(taken.hint(" --store a.sqlite").starts_with("diskperf show bzkv-261122 --store a.sqlite "));
        let unknown = |near| StoreError::UnknownRun { typed: "x".to_owned(), near };
        assert!(unknown(Vec::new()).hint("").starts_with("diskperf list "));
        assert!(!unknown(vec!["y".to_owned()]).hint("").contains("diskperf"));
        let corrupt = StoreError::Corrupt { path: "/it is/here".into(), what: String::new() };
        assert!(corrupt.hint("").contains("sqlite3 '/it is/here' .recover"));
    }

    #[test]
    fn missing_rights_to_the_database_are_a_refusal() {
        let io = |action, number| StoreError::io(action, Path::new("x"), io::Error::from_raw_os_error(number));
        // Numbers from errno.h: EACCES, EROFS, ENOSPC, EIO.
        for (number, status) in [(13, Exit::Refused), (30, Exit::Refused), (28, Exit::Failed), (5, Exit::Failed)] {
            assert_eq!((io(READ, number).exit(), io("write", number).exit()), (status, status), "{number}");
        }
        assert_eq!(StoreError::Missing("x".into()).exit(), Exit::Usage);
    }

    #[test]
    fn a_folder_that_cannot_be_created_is_named_as_a_folder() {
        let folder = |number| StoreError::folder(Path::new("/root/.local"), io::Error::from_raw_os_error(number));
        // Numbers from errno.h: EACCES, EROFS, ENOSPC, ENOTDIR.
        for (number, status) in [(13, Exit::Refused), (30, Exit::Refused), (28, Exit::Failed), (20, Exit::Failed)] {
            let error = folder(number);
            assert!(error.exit() == status && error.to_string().contains(" /root/.local"), "{error}");
        }
        let denied = "cannot create the folder /root/.local for the results database: Permission denied (EACCES)";
        assert_eq!(folder(13).to_string(), denied);
    }
}
