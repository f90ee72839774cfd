//! Errors of `diskperf verify` beyond its command line: message, exit status and hint.

use std::io;
use std::path::PathBuf;

use kernel::provision::queue_tuning::TuningFault;
use kernel::sys::name::Shown;
use kernel::{ImageFault, PathFault, lacks_rights, message};
use units::{Bytes, Exit};

use crate::ledger::LedgerFault;

/// An error that ended a test early.
#[derive(Debug, thiserror::Error)]
pub enum PowerCutError {
    /// The image could not be created, cut off or mounted.
    #[error(transparent)]
    Image(#[from] ImageFault),
    /// The queue of its device could not be tuned.
    #[error(transparent)]
    Tuning(#[from] TuningFault),
    /// A file or a folder could not be read.
    #[error(transparent)]
    Path(#[from] PathFault),
    /// A fault of the test itself.
    #[error(transparent)]
    Verify(#[from] VerifyFault),
}

impl PowerCutError {
    /// The exit status.
    pub fn exit(&self) -> Exit {
        match self {
            PowerCutError::Image(fault) => fault.exit(),
            PowerCutError::Tuning(fault) => fault.exit(),
            PowerCutError::Path(fault) => fault.exit(),
            PowerCutError::Verify(fault) => fault.exit(),
        }
    }

    /// The hint.
    pub fn hint(&self) -> Option<String> {
        match self {
            PowerCutError::Image(fault) => fault.hint(),
            PowerCutError::Tuning(fault) => fault.hint(),
            PowerCutError::Path(fault) => fault.hint(),
            PowerCutError::Verify(fault) => fault.hint(),
        }
    }
}

/// A fault of the test itself.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum VerifyFault {
    #[error("the tests need {needed}; the image has {size}")]
    SmallImage { size: Bytes, needed: Bytes },
    #[error("cannot sync records in {path}: {}", message(source), path = .path.shown())]
    Writers { path: PathBuf, source: io::Error },
    #[error("the control test failed, so a clean result would prove nothing: {0}")]
    NoControl(TuningFault),
    #[error("{path} is not a log of `diskperf verify --write`: {fault}", path = .path.shown())]
    BadLog { path: PathBuf, fault: LedgerFault },
    #[error("there is no {folder} in {path}", path = .path.shown())]
    NoRecords { path: PathBuf, folder: String },
    #[error("process {pid} is still writing in {path}", path = .path.shown())]
    StillWriting { path: PathBuf, pid: i32 },
}

impl VerifyFault {
    /// The exit status.
    pub fn exit(&self) -> Exit {
        match self {
            VerifyFault::SmallImage { .. } | VerifyFault::BadLog { .. } | VerifyFault::NoRecords { .. } => Exit::Usage,
            VerifyFault::StillWriting { .. } => Exit::Refused,
            VerifyFault::Writers { source, .. } if lacks_rights(source) => Exit::Refused,
            VerifyFault::Writers { .. } | VerifyFault::NoControl(_) => Exit::Failed,
        }
    }

    /// The hint.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            VerifyFault::SmallImage { .. } => "use a larger size=, or leave it out",
            VerifyFault::NoControl(_) => {
                "diskperf verify image:ext4,mount=barrier=0 shows whether this machine can lose data"
            }
            VerifyFault::BadLog { .. } => "name the file with the output of `diskperf verify PATH --write`",
            VerifyFault::NoRecords { .. } => {
                "check that the disk is mounted there; if the folder itself is lost, add --lost-folder"
            }
            VerifyFault::StillWriting { .. } => "cut the power first, or press Ctrl-C there",
            VerifyFault::Writers { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
