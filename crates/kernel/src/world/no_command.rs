//! The reasons why your command cannot be run: message and hint.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::sys::name::{Shown, shell_word};

/// The reason why a command cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCommand {
    /// No word was given.
    #[error("no command given")]
    Nothing,
    /// No file of that name exists there or in the folders of PATH.
    #[error("command {0:?} not found")]
    Missing(OsString),
    /// The file exists, but this user may not execute it, or it is a folder.
    #[error("{} cannot be executed", .0.shown())]
    NotExecutable(PathBuf),
}

impl NoCommand {
    /// A suggestion for the user.
    pub fn hint(&self) -> String {
        match self {
            NoCommand::Nothing => "name it after --, as in diskperf run . -- cp -r /usr/include copy".to_owned(),
            NoCommand::Missing(name) if name.as_bytes().contains(&b'/') => {
                "check the spelling; relative paths start in the current directory".to_owned()
            }
            NoCommand::Missing(_) => {
                "diskperf searches PATH and runs no shell; for shell syntax, use sh -c 'LINE'".to_owned()
            }
            NoCommand::NotExecutable(path) => format!("if it is a program: chmod +x {}", shell_word(path)),
        }
    }
}
