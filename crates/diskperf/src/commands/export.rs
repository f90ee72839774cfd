//! `diskperf export RUN...`: stored runs for other programs and other people.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stats::Document;

use crate::anonymous::anonymous;
use crate::error::Error;
use crate::exit::Exit;
use crate::output;
use crate::runs::StoreArguments;

/// What `diskperf export` takes.
#[derive(Clone, Debug, Args)]
pub struct ExportArguments {
    /// Their ids, the beginnings of them, or last.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// As what.
    #[arg(long, value_enum, default_value = "json")]
    format: Layout,
    /// Leave out what tells whose machine it was: its name, the paths on it, serial numbers.
    #[arg(long)]
    anonymous: bool,
    /// Write it to FILE.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

/// What runs are exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// The document of the run; of several, an array of them.
    Json,
    /// A line per cell of every run; an empty field is n.m.
    Csv,
    /// A table per run.
    Markdown,
}

/// Runs the command.
pub fn run(arguments: &ExportArguments) -> Result<Exit, Error> {
    let to = arguments.output.as_deref();
    output::check(to)?;
    let mut runs = Vec::new();
    for typed in &arguments.runs {
        let (name, document) = arguments.store.load(typed)?;
        runs.push((name, if arguments.anonymous { anonymous(&document) } else { document }));
    }
    output::deliver(&text(arguments.format, &runs), to)?;
    Ok(Exit::Done)
}

fn text(layout: Layout, runs: &[(String, Document)]) -> String {
    match (layout, runs) {
        (Layout::Json, [(_, run)]) => serde_json::to_string_pretty(run).expect("plain data") + "\n",
        (Layout::Json, runs) => {
            let runs: Vec<&Document> = runs.iter().map(|(_, run)| run).collect();
            serde_json::to_string_pretty(&runs).expect("plain data") + "\n"
        }
        (Layout::Csv, runs) => {
            let lines = runs.iter().map(|(name, run)| report::csv::lines(name, run));
            report::csv::heading() + &lines.collect::<String>()
        }
        (Layout::Markdown, runs) => {
            let pages: Vec<String> = runs.iter().map(|(name, run)| report::markdown(name, run)).collect();
            pages.join("\n")
        }
    }
}
