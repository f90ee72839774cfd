//! `diskperf list`: the stored runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;
use store::Listed;

use crate::error::Error;
use crate::exit::Exit;
use crate::output;
use crate::runs::{self, StoreArguments};

/// What `diskperf list` takes.
#[derive(Clone, Debug, Args)]
pub struct ListArguments {
    /// How to print the list.
    #[arg(long, value_enum, default_value = "table")]
    format: Layout,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write it to FILE.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

/// How the list is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// For people.
    Table,
    /// For other programs: an array with an object for each run.
    Json,
}

/// Runs the command.
pub fn run(arguments: &ListArguments) -> Result<Exit, Error> {
    let to = arguments.output.as_deref();
    output::check(to)?;
    let listed = arguments.store.to_read()?.map(|store| store.list()).transpose()?.unwrap_or_default();
    if listed.is_empty() {
        remark!("no run is stored yet");
    }
    let text = match if arguments.json { Layout::Json } else { arguments.format } {
        Layout::Table if listed.is_empty() => String::new(),
        Layout::Table => report::runs::table(listed.iter().map(line)),
        Layout::Json => {
            let runs: Vec<_> = listed.iter().map(object).collect();
            serde_json::to_string_pretty(&runs).expect("plain data") + "\n"
        }
    };
    output::deliver(&text, to)?;
    Ok(Exit::Done)
}

fn line(run: &Listed) -> report::runs::Run<'_> {
    report::runs::Run {
        name: &run.id,
        started_unix_s: run.info.started_unix_s,
        preset: run.info.preset.as_deref().unwrap_or_default(),
        targets: run.info.targets.iter().map(|target| target.name.as_str()).collect(),
        measured: run.measured,
        cells: run.cells,
        state: runs::state(run),
    }
}

fn object(run: &Listed) -> serde_json::Value {
    json!({
        "run": run.id,
        "state": runs::state(run),
        "started_unix_s": run.info.started_unix_s,
        "ended_unix_s": run.ended_unix_s,
        "preset": run.info.preset,
        "targets": run.info.targets.iter().map(|target| &target.name).collect::<Vec<_>>(),
        "cells": run.cells,
        "measured": run.measured,
        "version": run.info.version,
        "command": run.info.command,
    })
}
