//! Errors of the command line of `diskperf verify`.

use std::path::PathBuf;

use kernel::sys::name::Shown;

use super::outcome::{Outcome, refused, usage};
use crate::ui::shell;

/// The reason why a target cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("diskperf cannot cut the power of the disk under {}", .0.shown())]
    TwoSteps(PathBuf),
    #[error("{} is in memory; a power cut erases all of it", .0.shown())]
    NothingLasts(PathBuf),
    #[error("standard output is a file on the same file system as {}, so the power cut could destroy it", .0.shown())]
    LogIsLost(PathBuf),
    #[error("diskperf cannot verify {0}")]
    NotVerified(String),
}

impl VerifyError {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            VerifyError::TwoSteps(path) => {
                let path = shell::word(path);
                usage(format!(
                    "run `ssh HOST diskperf verify {path} --write > log` until you cut the power, then `diskperf \
                        verify \
                     {path} --check log`; for image:ext4, diskperf cuts the power itself"
                ))
            }
            VerifyError::NothingLasts(_) => usage("name a directory on a disk"),
            VerifyError::LogIsLost(_) => {
                refused("write the log on another machine: ssh HOST diskperf verify PATH --write > log")
            }
            VerifyError::NotVerified(_) => usage("name image:FSTYPE, or a directory with --write or --check"),
        }
    }
}
