//! Errors of a command of the user.

use kernel::NoCommand;
use units::Exit;

/// The reason why a command cannot be run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum CommandFault {
    #[error(transparent)]
    NotFound(#[from] NoCommand),
    #[error("cannot split --prepare into words: {0}")]
    NoLine(String),
    #[error("the command is {now} on this host, and {then} on the first one")]
    Other { then: String, now: String },
    #[error("{0} is a preset; a command replaces the preset")]
    Preset(String),
}

impl CommandFault {
    /// The exit status.
    pub const fn exit(&self) -> Exit {
        Exit::Usage
    }

    /// The hint of the error.
    pub fn hint(&self) -> String {
        match self {
            CommandFault::NotFound(fault) => fault.hint().to_string(),
            CommandFault::NoLine(_) => "close its quotes, as in --prepare 'cp -r /usr/include include'".to_owned(),
            CommandFault::Other { .. } => "name the program with its whole path".to_owned(),
            CommandFault::Preset(_) => "leave it out: diskperf run TARGET -- COMMAND".to_owned(),
        }
    }
}
