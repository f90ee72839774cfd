//! `diskperf export RUN...`: runs as JSON, CSV or Markdown; and workloads as fio jobs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use campaign::request::host;
use clap::{Args, ValueEnum};
use jobs::{Source, fio};
use stats::Document;
use units::Exit;

use crate::documents::document::{self, plain, presentation};
use crate::documents::job_files;
use crate::documents::redact::anonymous;
use crate::documents::store_arguments::StoreArguments;
use crate::error::{Error, RunsError};
use crate::ui::output;
use crate::ui::output_format::{Layout, OutputArguments, json};

/// Arguments of `diskperf export`.
#[derive(Clone, Debug, Args)]
pub struct ExportArguments {
    /// Stored runs (their ids, the beginnings of ids, their names, or last), or result files (of `diskperf run ...
    /// --json -o FILE`); with --to, also job files; - means standard input
    #[arg(required = true, value_name = "RUN|FILE")]
    runs: Vec<PathBuf>,
    /// Remove the name of the machine, its paths and serial numbers.
    #[arg(long)]
    anonymous: bool,
    /// Export the workload of one run or job file as a job file for another tool, instead of the results. Options the
    /// tool lacks are listed.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["format", "json", "anonymous"])]
    to: Option<Program>,
    #[command(flatten)]
    output: OutputArguments<Exported>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Tools that can run a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Program {
    /// The flexible I/O tester
    Fio,
}

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Exported {
    /// The default: a JSON array of the runs, also for one run
    #[default]
    Json,
    /// CSV, one line per result of every run; an empty field means not measured
    Csv,
    /// Markdown, a table per run
    Markdown,
    /// Latencies as an interval log of HdrHistogram, a line for each round and kind of operation
    Hdr,
}

impl Layout for Exported {
    const JSON: Exported = Exported::Json;
}

pub fn run(arguments: &ExportArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    if let Some(Program::Fio) = arguments.to {
        return to_fio(arguments);
    }
    let mut runs = Vec::new();
    for typed in &arguments.runs {
        let documents = document::all_named(typed, &arguments.store)?;
        let is_one = documents.len() == 1;
        for (document, place) in documents.into_iter().zip(1..) {
            let number = runs.len() + 1;
            runs.push(match arguments.anonymous {
                true => (anonymous_name(typed, &document, number), anonymous(&document)),
                false if is_one => (document::display_name(typed, &document), document),
                false => (format!("{}:{place}", document::display_name(typed, &document)), document),
            });
        }
    }
    arguments.output.deliver(&text(arguments.output.layout(), &runs))?;
    Ok(Exit::Done)
}

/// The id of a stored run. For a file, whose name may identify the user, a replacement: `FILE2`.
fn anonymous_name(typed: &Path, document: &Document, number: usize) -> String {
    match document::stored_name(typed) {
        Some(_) => document::display_name(typed, document),
        None => format!("FILE{number}"),
    }
}

/// Exports one workload. Two in one fio job would be another workload: fio runs all sections at the same time, equal
/// names share a file, and `[global]` applies to all sections after it.
fn to_fio(arguments: &ExportArguments) -> Result<Exit, Error> {
    let (typed, count) = (&arguments.runs[0], arguments.runs.len());
    if count > 1 {
        return Err(RunsError::SeveralJobs { first: typed.clone(), count }.into());
    }
    let text = if typed.extension().is_some_and(|extension| extension == "toml") {
        job_files::open_own(typed)?
    } else {
        let document = document::named(typed, &arguments.store)?;
        let name = document::display_name(typed, &document);
        match document.run.job {
            Some(text) => Source::new(name, text),
            None => return Err(RunsError::NoJob(name).into()),
        }
    };
    let job = host::read(&text)?;
    job.warnings.iter().for_each(|warning| output::remark(warning));
    let exported = fio::export(&job);
    arguments.output.deliver(&exported.job)?;
    exported.differences.iter().for_each(|line| output::remark(line));
    Ok(Exit::Done)
}

fn text(layout: Exported, runs: &[(String, Document)]) -> String {
    match (layout, runs) {
        (Exported::Json, runs) => json(&runs.iter().map(|(_, run)| run).collect::<Vec<&Document>>()),
        (Exported::Csv, runs) => {
            let shown: Vec<(&str, Cow<Document>)> =
                runs.iter().map(|(name, run)| (name.as_str(), plain(run))).collect();
            report::csv::runs(&shown.iter().map(|(name, run)| (*name, &**run)).collect::<Vec<_>>())
        }
        (Exported::Hdr, runs) => {
            let log = report::export::hdr_log::log(runs);
            if log.damaged > 0 {
                output::remark(&format!("damaged histograms, which are left out: {}", log.damaged));
            }
            log.text
        }
        (Exported::Markdown, runs) => {
            let pages = runs.iter().map(|(name, run)| report::markdown(name, &plain(run), presentation(run)));
            pages.collect::<Vec<String>>().join("\n")
        }
    }
}
