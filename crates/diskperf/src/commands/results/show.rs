//! `diskperf show [RUN|FILE]`: prints a run as it was printed when it was measured.

use std::path::PathBuf;

use clap::Args;
use store::LAST;
use units::Exit;

use crate::documents::document;
use crate::documents::store_arguments::StoreArguments;
use crate::error::Error;
use crate::ui::output_format::{OutputArguments, RunFormat};

#[derive(Clone, Debug, Args)]
pub struct ShowArguments {
    /// Stored run (its id, the beginning of an id, its name, or last), or result file (of `diskperf run ... --json -o
    /// FILE`); - means standard input [default: last]
    #[arg(value_name = "RUN|FILE", default_value = LAST, hide_default_value = true)]
    run: PathBuf,
    /// Add a table of each host, if several hosts measured.
    #[arg(long, conflicts_with_all = ["format", "json"])]
    hosts: bool,
    #[command(flatten)]
    output: OutputArguments<RunFormat>,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn run(arguments: &ShowArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let document = document::named(&arguments.run, &arguments.store)?;
    let mut text = arguments.output.text(&document);
    if arguments.hosts {
        text += &report::layouts::hosts::each(&document, arguments.output.page());
    }
    arguments.output.deliver(&text)?;
    Ok(Exit::Done)
}
