//! `diskperf import JOB.fio`: a fio job as a job file; also the command line of fio, after two dashes.

use std::path::PathBuf;

use campaign::request::host::LIMITS;
use clap::Args;
use jobs::{Source, fio};
use units::Exit;

use crate::documents::job_files;
use crate::error::{ArgumentError, Error};
use crate::ui::output;

/// Arguments of `diskperf import`.
#[derive(Clone, Debug, Args)]
pub struct ImportArguments {
    /// fio job; - means standard input
    #[arg(value_name = "JOB.fio", required_unless_present = "command", conflicts_with = "command")]
    job: Option<PathBuf>,
    /// Write the job file to FILE, or replace FILE [default: standard output, or -].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Command line of fio
    #[arg(last = true, value_name = "fio --name=...")]
    command: Vec<String>,
}

pub fn run(arguments: &ImportArguments) -> Result<Exit, Error> {
    output::check(arguments.file.as_deref())?;
    let source = match &arguments.job {
        Some(job) => job_files::open(job)?,
        None => {
            let text = fio::job_of_words(&arguments.command);
            let text = text.map_err(|word| ArgumentError::NoFioOption(word.to_owned()))?;
            Source::new("the command line".to_owned(), text)
        }
    };
    let imported = fio::import(&source, LIMITS)?;
    output::deliver(&imported.job, arguments.file.as_deref())?;
    imported.differences.iter().for_each(|line| output::remark(line));
    Ok(Exit::Done)
}
