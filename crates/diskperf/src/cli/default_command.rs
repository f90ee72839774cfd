//! `diskperf PATH...`, without a command: `run quick PATH...`, and with `-- COMMAND` `run PATH... -- COMMAND`.

use std::ffi::OsString;
use std::path::Path;

use campaign::presets;
use campaign::targets::TargetKind;
use clap::error::{ContextKind, ErrorKind};
use jobs::JobError;

use super::fio_words;
use super::help_search;
use super::operands::operands;
use super::other_programs;
use super::{Command, CommandLine, parse};
use crate::documents::job_files;
use crate::error::{ArgumentError, Error};
use crate::ui::shell;

/// The reason why a command line cannot be read.
pub enum Misread {
    /// The words do not follow the grammar, or ask for help.
    Words(Box<clap::Error>),
    /// The words follow the grammar, but make no sense.
    Meaning(Box<Error>),
}

/// Reads a command line. Returns it with the words of the equivalent call that names a command:
///   1. if the first word is a command, no other command is tried; a fio job instead of a preset or pattern is refused;
///   2. a word that is the name of a command is not a path, also behind options;
///   3. a word that is neither a target nor an existing path was meant as a command;
///   4. options of fio without a command were meant for `io`, and a fio job for `import`;
///   5. options of fio that follow the grammar, but mean something else here, are refused.
pub fn read(words: Vec<OsString>) -> Result<(CommandLine, Vec<OsString>), Misread> {
    let first = match parse(&words) {
        Ok(line) => {
            // 5
            let fault = fio_words::translated(&words).and_then(|translated| translated.fault);
            return fault.map_or(Ok((line, words)), |fault| Err(Misread::Meaning(Box::new(fault.into()))));
        }
        // 1
        Err(error) if !error.use_stderr() || words.get(1).is_some_and(|word| is_command(&word.to_string_lossy())) => {
            let foreign_option = || match wrong_word(&error) {
                (ErrorKind::UnknownArgument, Some(option)) => other_programs::option_fault(&words, &option),
                _ => None,
            };
            let several = || fio_words::several_jobs(&words).map(Error::from);
            let fault =
                || several().or_else(|| fio_job(&words).map(Error::from)).or_else(|| foreign_option().map(Error::from));
            return Err(match error.use_stderr().then(fault).flatten() {
                Some(fault) => Misread::Meaning(Box::new(fault)),
                None => Misread::Words(Box::new(error)),
            });
        }
        Err(error) => error,
    };
    // 4
    if let Some(call) = fio_words::call_of_io(&words) {
        let fault = fio_words::several_jobs(&call)
            .unwrap_or_else(|| ArgumentError::FioCall(format!("diskperf {}", shell::line(&call[1..]))));
        return Err(Misread::Meaning(Box::new(fault.into())));
    }
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
            return Err(Misread::Meaning(Box::new(ArgumentError::OptionsFirst(target.typed.clone()).into())));
        }
        // 3
        if path.symlink_metadata().is_err() {
            let near = match other_programs::command_instead_of(&target.typed) {
                Some(instead) => vec![instead.to_owned()],
                None => help_search::near_commands(&target.typed, &super::command()),
            };
            let word = target.typed.clone();
            return Err(Misread::Meaning(Box::new(ArgumentError::NoCommand { word, near }.into())));
        }
    }
    // 4
    if let Some(fault) = target.and_then(|target| match &target.kind {
        TargetKind::Directory(path) => job_files::fio_job(path),
        _ => None,
    }) {
        return Err(Misread::Meaning(Box::new(fault.into())));
    }
    Ok((line, longer))
}

/// The error for a fio job among the arguments of `run` or `io`.
fn fio_job(words: &[OsString]) -> Option<JobError> {
    let name = words.get(1).filter(|word| *word == "run" || *word == "io")?;
    let mut all = super::command();
    // Only `build` gives the options all their settings.
    all.build();
    let command = all.find_subcommand(name)?;
    operands(&[command], &words[2..]).find_map(|(_, path)| job_files::fio_job(Path::new(path)))
}

fn is_command(word: &str) -> bool {
    super::command().find_subcommand(word).is_some()
}

/// The kind of the mistake, and the wrong word.
fn wrong_word(error: &clap::Error) -> (ErrorKind, Option<String>) {
    (error.kind(), error.get(ContextKind::InvalidArg).map(ToString::to_string))
}
