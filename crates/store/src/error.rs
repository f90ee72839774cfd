//! Errors of the results database: message, exit status and hint.

use std::borrow::Cow;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use units::{Errno, Exit};

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("there is no results database {}", .0.shown())]
    Missing(PathBuf),
    /// The folder of a store that is to be made does not exist.
    #[error("there is no folder {} for the results database", .0.shown())]
    NoFolder(PathBuf),
    /// Another process has it for longer than anybody waits.
    #[error("another process has locked the results database {}", .0.shown())]
    Locked(PathBuf),
    /// It, or the folder it lies in, may not be written to.
    #[error("cannot write the results database {}", .0.shown())]
    ReadOnly(PathBuf),
    /// This user may not read it.
    #[error("no permission to read the results database {}", .0.shown())]
    Denied(PathBuf),
    /// It is no database, or another program's.
    #[error("{path} is not a results database of diskperf: {what}", path = .path.shown())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// A newer diskperf has written it.
    #[error("the results database {} has schema {found}; this diskperf knows schemas up to {known}", .path.shown())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The last one that is known.
        known: i64,
    },
    /// It is damaged.
    #[error("the results database {path} is damaged: {what}", path = .path.shown())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// There is no room for more.
    #[error("no space for the results database {}", .0.shown())]
    Full(PathBuf),
    /// A run of this name is not there.
    #[error("there is no run {typed}")]
    UnknownRun {
        /// What was asked for.
        typed: String,
        /// Names that are near it.
        near: Vec<String>,
    },
    /// Several runs begin like this.
    #[error("{} runs begin with {typed}: {}", .runs.len(), .runs.join(", "))]
    Ambiguous {
        /// What was asked for.
        typed: String,
        /// Those that it may mean.
        runs: Vec<String>,
    },
    /// Another process goes on with the run.
    #[error("another process has resumed the run {0}")]
    Taken(String),
    /// The operating system refused.
    #[error("cannot {action} {path}: {}", said(source), path = .path.shown())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// SQLite refused, for none of the reasons above.
    #[error("results database {path}: {source}", path = .path.shown())]
    Sql {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
}

/// An error of the system in words and with its name, as in `Input/output error (EIO)`.
fn said(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |number| Errno(number).to_string())
}

impl StoreError {
    /// The exit status of a command that needed the database.
    pub fn exit(&self) -> Exit {
        match self {
            StoreError::Missing(_)
            | StoreError::NoFolder(_)
            | StoreError::UnknownRun { .. }
            | StoreError::Ambiguous { .. } => Exit::Usage,
            StoreError::ReadOnly(_) | StoreError::Denied(_) => Exit::Refused,
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

    /// What to try. `option` is the option that names this database in a command, with a space before it; empty for the
    /// default one.
    pub fn hint(&self, option: &str) -> String {
        match self {
            StoreError::Missing(_) => "check the spelling of --store; diskperf run quick makes one".to_owned(),
            StoreError::NoFolder(_) => "create the folder, or use another --store".to_owned(),
            StoreError::Locked(_) => "wait until that process ends, or use another --store".to_owned(),
            StoreError::ReadOnly(_) | StoreError::Denied(_) | StoreError::Io { .. } | StoreError::Sql { .. } => {
                "use another --store PATH, or none: diskperf run quick --no-store".to_owned()
            }
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

    /// What an answer of SQLite means.
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

    /// What an answer of the operating system means.
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

/// A path that can be shown without loss.
trait Shown {
    fn shown(&self) -> Cow<'_, str>;
}

impl Shown for Path {
    fn shown(&self) -> Cow<'_, str> {
        units::name::text(self.as_os_str().as_bytes())
    }
}

/// The action of which a denial means that the store may not even be read.
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
    fn a_database_that_may_not_be_used_is_a_refusal() {
        let io = |action, number| StoreError::io(action, Path::new("x"), io::Error::from_raw_os_error(number));
        // From errno.h: EACCES, EROFS, ENOSPC, EIO.
        for (number, status) in [(13, Exit::Refused), (30, Exit::Refused), (28, Exit::Failed), (5, Exit::Failed)] {
            assert_eq!((io(READ, number).exit(), io("write", number).exit()), (status, status), "{number}");
        }
        assert_eq!(StoreError::Missing("x".into()).exit(), Exit::Usage);
    }
}
