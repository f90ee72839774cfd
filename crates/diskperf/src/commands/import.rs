//! `diskperf import JOB.fio`: a job of fio as one of ours.

use std::path::PathBuf;

use clap::Args;
use units::Exit;

use crate::error::Error;
use crate::jobs::{self, fio};
use crate::ui::output;

/// What `diskperf import` takes.
#[derive(Clone, Debug, Args)]
pub struct ImportArguments {
    /// fio job; - means standard input
    #[arg(value_name = "JOB.fio")]
    job: PathBuf,
    /// Write the job file to FILE, or replace FILE [default: standard output, or -].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &ImportArguments) -> Result<Exit, Error> {
    output::check(arguments.file.as_deref())?;
    let imported = fio::import(&jobs::open(&arguments.job)?)?;
    output::deliver(&imported.job, arguments.file.as_deref())?;
    imported.said.iter().for_each(|line| output::remark(line));
    Ok(Exit::Done)
}
