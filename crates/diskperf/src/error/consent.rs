//! Errors of changes that you did not confirm.

use std::path::PathBuf;

use kernel::sys::name::Shown;

use super::outcome::{Outcome, refused};
use crate::ui::shell;

/// The change that you did not confirm.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    #[error("this would overwrite all of {device}")]
    NotToBeOverwritten { device: String, identity: String },
    #[error("{path} {why}; nothing was written there", path = .path.shown())]
    RarelyMeant { path: PathBuf, why: &'static str },
    #[error("{things} {} not removed: not confirmed", if *count == 1 { "was" } else { "were" })]
    NotAgreed { things: String, count: usize },
}

impl ConsentError {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            ConsentError::NotToBeOverwritten { identity, .. } => {
                refused(format!("to erase its data: --destroy-data --confirm {}", shell::word(identity)))
            }
            ConsentError::RarelyMeant { .. } => refused("name another directory, or confirm with --yes"),
            ConsentError::NotAgreed { .. } => refused("nothing was removed; --yes confirms without a question"),
        }
    }
}
