//! Errors of results that could not be written.

use std::io;
use std::path::{Path, PathBuf};

use kernel::message;
use kernel::sys::name::Shown;
use units::{Errno, Exit};

use super::outcome::{Outcome, usage};
use crate::ui::shell;

/// The reason why results were not written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("cannot write {to}: {}", message(source))]
    Failed { to: String, source: io::Error },
    #[error("cannot write {}: {}", .to.shown(), message(source))]
    Manual { to: PathBuf, source: io::Error },
    #[error("{} is not a descriptor that diskperf was started with and may write to", .0.shown())]
    NotOpen(PathBuf),
    #[error("stopped before the reader of {} had read everything", .0.shown())]
    NoReader(PathBuf),
    #[error("standard output is a terminal; an HTML page needs a file")]
    PageOnTerminal,
}

impl OutputError {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            OutputError::Failed { source, .. } => (Exit::Failed, hint_of(source).map(str::to_owned)),
            OutputError::Manual { source, .. } => {
                let hint = Errno(source.raw_os_error().unwrap_or_default()).hint();
                let hint = hint.unwrap_or("name a directory that you may write to, as in --out /tmp/man");
                (Exit::Failed, Some(hint.to_owned()))
            }
            OutputError::NotOpen(_) => usage("open it in the shell, as in diskperf list -o /dev/fd/3 3> FILE"),
            OutputError::NoReader(path) => {
                let hint = match path == Path::new("-") {
                    true => "use a reader that reads to the end, or write to a file with -o".to_owned(),
                    false => format!("start the reader first, as in cat {}", shell::word(path)),
                };
                (Exit::Interrupted, Some(hint))
            }
            OutputError::PageOnTerminal => usage("write it to a file: -o report.html"),
        }
    }
}

/// The hint after a failed write to a results file.
fn hint_of(error: &io::Error) -> Option<&'static str> {
    // By number in Linux (asm-generic/errno.h): EPERM and EACCES, EBUSY, ENOTDIR, ENAMETOOLONG, ELOOP.
    Some(match error.raw_os_error()? {
        1 | 13 => "name a file that you may write to, as in -o /tmp/results",
        16 => "name another file, as in -o /tmp/results",
        20 => "a part of this path is a file; use an existing folder, as in -o /tmp/results",
        36 => "use a shorter name: at most 255 bytes, and 4095 for the path",
        40 => "name the file itself; its symbolic links form a loop",
        number => return Errno(number).hint(),
    })
}
