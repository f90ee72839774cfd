//! `diskperf doctor [PATH]`: what this user, kernel and container can measure, and how to get the rest.

use std::path::{Path, PathBuf};

use clap::Args;
use kernel::PathFault;
use kernel::doctor::Found;
use kernel::observe::host::Host;
use kernel::sys::name::Shown;
use stats::{CHECKUP_SCHEMA, Checkup};
use units::Exit;

use crate::doctor::checks::checks;
use crate::documents::user_files;
use crate::error::Error;
use crate::ui::output_format::{Format, OutputArguments, json};

#[derive(Clone, Debug, Args)]
pub struct DoctorArguments {
    /// Directory to check
    #[arg(default_value = ".")]
    path: PathBuf,
    #[command(flatten)]
    output: OutputArguments,
}

/// Runs the command. A missing ability is an answer, not a failure.
pub fn run(arguments: &DoctorArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let checkup = checkup(&arguments.path)?;
    let text = match arguments.output.layout() {
        Format::Json => json(&checkup),
        Format::Table => report::doctor::table(&checkup, arguments.output.page()),
    };
    arguments.output.deliver(&text)?;
    Ok(Exit::Done)
}

/// Checks what can be measured in this directory.
pub fn checkup(path: &Path) -> Result<Checkup, Error> {
    if !user_files::existing(path)?.is_dir() {
        return Err(PathFault::NotADirectory(path.to_owned()).into());
    }
    let found = Found::probe(path).map_err(|source| PathFault::Unreadable { path: path.to_owned(), source })?;
    Ok(Checkup {
        schema: CHECKUP_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: Host::this().kernel,
        path: path.shown().to_string(),
        checks: checks(&found),
    })
}
