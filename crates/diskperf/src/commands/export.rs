//! `diskperf export RUN...`: stored runs for other programs and other people; and job files for fio.

use clap::{Args, ValueEnum};
use stats::Document;

use crate::anonymous::anonymous;
use crate::document::plain;
use crate::error::Error;
use crate::exit::Exit;
use crate::jobs::{self, Job, Text, fio};
use crate::layout::{Layout, OutputArguments, json};
use crate::output;
use crate::runs::StoreArguments;

/// What `diskperf export` takes.
#[derive(Clone, Debug, Args)]
pub struct ExportArguments {
    /// Their ids, the beginnings of them, or last; with --to, job files, or runs of such.
    #[arg(required = true, value_name = "RUN|JOB.toml")]
    runs: Vec<String>,
    /// Leave out what tells whose machine it was: its name, the paths on it, serial numbers.
    #[arg(long)]
    anonymous: bool,
    /// The loads in place of the figures, as a job of another program. What that has not is said.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["format", "json", "anonymous"])]
    to: Option<Program>,
    #[command(flatten)]
    output: OutputArguments<Exported>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Other programs that take loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Program {
    /// The flexible I/O tester.
    Fio,
}

/// What runs are exported as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Exported {
    /// The document of the run; of several, an array of them. The default.
    #[default]
    Json,
    /// A line per cell of every run; an empty field is n.m.
    Csv,
    /// A table per run.
    Markdown,
}

impl Layout for Exported {
    const JSON: Exported = Exported::Json;
}

/// Runs the command.
pub fn run(arguments: &ExportArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    if let Some(Program::Fio) = arguments.to {
        return to_fio(arguments);
    }
    let mut runs = Vec::new();
    for typed in &arguments.runs {
        let (name, document) = arguments.store.load(typed)?;
        runs.push((name, if arguments.anonymous { anonymous(&document) } else { document }));
    }
    arguments.output.deliver(&text(arguments.output.layout(), &runs))?;
    Ok(Exit::Done)
}

fn to_fio(arguments: &ExportArguments) -> Result<Exit, Error> {
    let mut jobs = Vec::new();
    for typed in &arguments.runs {
        let text = if typed.ends_with(".toml") {
            jobs::open(typed.as_ref())?
        } else {
            let (name, document) = arguments.store.load(typed)?;
            match document.run.job {
                Some(text) => Text::new(name, text),
                None => return Err(Error::NoJob(name)),
            }
        };
        jobs.push(fio::export(&Job::read(&text)?));
    }
    let texts: Vec<&str> = jobs.iter().map(|exported| exported.job.as_str()).collect();
    arguments.output.deliver(&texts.join("\n"))?;
    jobs.iter().flat_map(|exported| &exported.said).for_each(|line| output::remark(line));
    Ok(Exit::Done)
}

fn text(layout: Exported, runs: &[(String, Document)]) -> String {
    match (layout, runs) {
        (Exported::Json, [(_, run)]) => json(run),
        (Exported::Json, runs) => json(&runs.iter().map(|(_, run)| run).collect::<Vec<&Document>>()),
        (Exported::Csv, runs) => {
            let lines = runs.iter().map(|(name, run)| report::csv::lines(name, &plain(run)));
            report::csv::heading() + &lines.collect::<String>()
        }
        (Exported::Markdown, runs) => {
            let pages: Vec<String> = runs.iter().map(|(name, run)| report::markdown(name, &plain(run))).collect();
            pages.join("\n")
        }
    }
}
