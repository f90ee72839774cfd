//! `diskperf PATH...`, without a command: `run quick PATH...`, and with `-- COMMAND` `run PATH... -- COMMAND`.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ErrorKind};

use super::{Command, CommandLine, parse};
use crate::commands::help;
use crate::error::Error;
use crate::jobs::{JobFault, fio};
use crate::presets;
use crate::target::TargetKind;

/// Why words cannot be read.
pub enum Misread {
    /// They do not follow the grammar, or ask for help.
    Words(Box<clap::Error>),
    /// They do, and mean nothing.
    Meaning(Box<Error>),
}

/// Reads the words: the line, and the words that mean the same with a command.
///   1. if the first word is a command, nothing else is meant; a fio job instead of a preset or pattern is refused;
///   2. a word that is the name of a command is not a path, also behind options;
///   3. a word that is neither a target nor the path of anything was to be a command.
pub fn read(words: Vec<OsString>) -> Result<(CommandLine, Vec<OsString>), Misread> {
    let first = match parse(&words) {
        Ok(line) => return Ok((line, words)),
        // 1
        Err(error) if !error.use_stderr() || words.get(1).is_some_and(|word| is_command(&word.to_string_lossy())) => {
            return Err(match fio_job(&words).filter(|_| error.use_stderr()) {
                Some(fault) => Misread::Meaning(Box::new(fault.into())),
                None => Misread::Words(Box::new(error)),
            });
        }
        Err(error) => error,
    };
    let preset = if words.iter().any(|word| word == "--") { None } else { Some(presets::ALL[0].name) };
    let mut longer = words;
    longer.splice(1..1, ["run"].into_iter().chain(preset).map(OsString::from));
    let line = parse(&longer).map_err(|error| {
        let is_same = error.use_stderr() && wrong_word(&first) == wrong_word(&error);
        Misread::Words(Box::new(if is_same { first } else { error }))
    })?;
    let target = match &line.command {
        Some(Command::Run(arguments)) => arguments.first_target(),
        _ => None,
    };
    if let Some(target) = target
        && let TargetKind::Directory(path) = &target.kind
        && !target.typed.contains('/')
    {
        // 2
        if is_command(&target.typed) {
            return Err(Misread::Meaning(Box::new(Error::OptionsFirst(target.typed.clone()))));
        }
        // 3
        if path.symlink_metadata().is_err() {
            let (word, near) = (target.typed.clone(), help::near_commands(&target.typed));
            return Err(Misread::Meaning(Box::new(Error::NoCommand { word, near })));
        }
    }
    Ok((line, longer))
}

/// The fio job that `run` or `io` was told to run.
fn fio_job(words: &[OsString]) -> Option<JobFault> {
    let is_run = words.get(1).is_some_and(|word| word == "run" || word == "io");
    let paths = words.iter().skip(2).take_while(|word| *word != "--").filter(|_| is_run);
    paths.filter(|word| !word.as_encoded_bytes().starts_with(b"-")).find_map(|path| fio::fault(Path::new(path)))
}

fn is_command(word: &str) -> bool {
    super::command().find_subcommand(word).is_some()
}

/// The kind of the mistake, and the word that is one.
fn wrong_word(error: &clap::Error) -> (ErrorKind, Option<String>) {
    (error.kind(), error.get(ContextKind::InvalidArg).map(ToString::to_string))
}
