//! `diskperf show RUN`: a stored run, as it was printed.

use clap::Args;

use crate::cli::OutputArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::output;
use crate::runs::StoreArguments;

/// What `diskperf show` takes.
#[derive(Clone, Debug, Args)]
pub struct ShowArguments {
    /// Its id, the beginning of one, or last.
    run: String,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command.
pub fn run(arguments: &ShowArguments) -> Result<Exit, Error> {
    let to = arguments.output.file.as_deref();
    output::check(to)?;
    let (_, document) = arguments.store.load(&arguments.run)?;
    output::deliver(&arguments.output.text(&document), to)?;
    Ok(Exit::Done)
}
