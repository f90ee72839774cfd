//! What to make of a command of a person's own that cannot be run.

use kernel::NoCommand;

use super::Error;
use crate::shell;

/// Why it cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CommandFault {
    #[error(transparent)]
    NotFound(#[from] NoCommand),
    #[error("--prepare is no line of words: {0}")]
    NoLine(String),
    #[error("{target} is {what}, and a command needs a folder to stand in")]
    NoFolder { target: String, what: &'static str },
    #[error("{0} is a preset, and a command takes the place of one")]
    Preset(String),
}

/// What to try.
pub fn hint(fault: &CommandFault) -> String {
    match fault {
        CommandFault::NotFound(NoCommand::Nothing) => {
            "name it behind two dashes, as in diskperf run . -- cp -r /usr/include copy".to_owned()
        }
        CommandFault::NotFound(NoCommand::Missing(name)) if name.as_encoded_bytes().contains(&b'/') => {
            "check the spelling: a path begins where you stand".to_owned()
        }
        CommandFault::NotFound(NoCommand::Missing(_)) => {
            "it is looked for in the folders of PATH, and no shell is run: what only a shell knows is sh -c 'LINE'"
                .to_owned()
        }
        CommandFault::NotFound(NoCommand::NotExecutable(path)) => {
            format!("where it is a program: chmod +x {}", shell::word(path))
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
