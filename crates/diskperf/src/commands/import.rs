//! `diskperf import JOB.fio`: a fio job as a job file.

use std::path::PathBuf;

use campaign::request::host::LIMITS;
use clap::Args;
use jobs::fio;
use units::Exit;

use crate::documents::job_files;
use crate::error::Error;
use crate::ui::output;

/// Arguments of `diskperf import`.
#[derive(Clone, Debug, Args)]
pub struct ImportArguments {
    /// fio job; - means standard input
    #[arg(value_name = "JOB.fio")]
    job: PathBuf,
    /// Write the job file to FILE, or replace FILE [default: standard output, or -].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,
}

pub fn run(arguments: &ImportArguments) -> Result<Exit, Error> {
    output::check(arguments.file.as_deref())?;
    let imported = fio::import(&job_files::open(&arguments.job)?, LIMITS)?;
    output::deliver(&imported.job, arguments.file.as_deref())?;
    imported.differences.iter().for_each(|line| output::remark(line));
    Ok(Exit::Done)
}
