//! What to make of a command of a person's own that cannot be run.

use kernel::NoCommand;

use super::Error;
use crate::ui::shell;

/// Why it cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CommandFault {
    #[error(transparent)]
    NotFound(#[from] NoCommand),
    #[error("cannot split --prepare into words: {0}")]
    NoLine(String),
    #[error("{target} is {what}; a command needs a folder to run in")]
    NoFolder { target: String, what: &'static str },
    #[error("{0} is a preset; a command replaces the preset")]
    Preset(String),
}

/// What to try.
pub fn hint(fault: &CommandFault) -> String {
    match fault {
        CommandFault::NotFound(NoCommand::Nothing) => {
            "name it after --, as in diskperf run . -- cp -r /usr/include copy".to_owned()
        }
        CommandFault::NotFound(NoCommand::Missing(name)) if name.as_encoded_bytes().contains(&b'/') => {
            "check the spelling; relative paths start in the current directory".to_owned()
        }
        CommandFault::NotFound(NoCommand::Missing(_)) => {
            "diskperf searches PATH and runs no shell; for shell syntax, use sh -c 'LINE'".to_owned()
        }
        CommandFault::NotFound(NoCommand::NotExecutable(path)) => {
            format!("if it is a program: chmod +x {}", shell::word(path))
        }
        CommandFault::NoLine(_) => "close its quotes, as in --prepare 'cp -r /usr/include include'".to_owned(),
        CommandFault::NoFolder { .. } => "name a directory, image:FSTYPE or new:FSTYPE@DEVICE".to_owned(),
        CommandFault::Preset(_) => "leave it out: diskperf run TARGET -- COMMAND".to_owned(),
    }
}

impl From<CommandFault> for Error {
    fn from(fault: CommandFault) -> Error {
        Error::Command(Box::new(fault))
    }
}
