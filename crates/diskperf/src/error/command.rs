//! Errors of a command of yours that is measured.

use kernel::NoCommand;

use super::outcome::{Outcome, usage};

/// Why your command cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CommandFault {
    #[error(transparent)]
    NotFound(#[from] NoCommand),
    #[error("cannot split --prepare into words: {0}")]
    NoLine(String),
    #[error("{0} is a preset; a command replaces the preset")]
    Preset(String),
}

impl CommandFault {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            CommandFault::NotFound(fault) => usage(fault.hint()),
            CommandFault::NoLine(_) => usage("close its quotes, as in --prepare 'cp -r /usr/include include'"),
            CommandFault::Preset(_) => usage("leave it out: diskperf run TARGET -- COMMAND"),
        }
    }
}
