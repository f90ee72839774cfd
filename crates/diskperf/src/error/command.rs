//! What to make of a command of a person's own that cannot be run.

use kernel::NoCommand;

use super::Error;

/// Why it cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CommandFault {
    #[error(transparent)]
    NotFound(#[from] NoCommand),
    #[error("cannot split --prepare into words: {0}")]
    NoLine(String),
    #[error("{0} is a preset; a command replaces the preset")]
    Preset(String),
}

/// What to try.
pub fn hint(fault: &CommandFault) -> String {
    match fault {
        CommandFault::NotFound(fault) => fault.hint(),
        CommandFault::NoLine(_) => "close its quotes, as in --prepare 'cp -r /usr/include include'".to_owned(),
        CommandFault::Preset(_) => "leave it out: diskperf run TARGET -- COMMAND".to_owned(),
    }
}

impl From<CommandFault> for Error {
    fn from(fault: CommandFault) -> Error {
        Error::Command(Box::new(fault))
    }
}
