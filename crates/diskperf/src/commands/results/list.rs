//! `diskperf list`: the stored runs.

use std::path::Path;

use campaign::presets::COMMAND;
use clap::Args;
use serde_json::json;
use stats::{Name, RunInfo};
use store::Listed;
use units::Exit;

use crate::documents::store_arguments::{self, StoreArguments};
use crate::error::Error;
use crate::ui::output;
use crate::ui::output_format::{self, Format, OutputArguments};

#[derive(Clone, Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn run(arguments: &ListArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let listed = arguments.store.to_read()?.map(|store| store.list()).transpose()?.unwrap_or_default();
    if listed.is_empty() {
        output::remark("no run is stored yet");
    }
    let text = match arguments.output.layout() {
        Format::Table if listed.is_empty() => String::new(),
        Format::Table => report::run_list::table(listed.iter().map(line), arguments.output.page()),
        // An array with an object for each run.
        Format::Json => output_format::json(&listed.iter().map(object).collect::<Vec<_>>()),
    };
    arguments.output.deliver(&text)?;
    Ok(Exit::Done)
}

fn line(run: &Listed) -> report::run_list::Run<'_> {
    report::run_list::Run {
        name: &run.id,
        given: run.info.name.as_deref().unwrap_or_default(),
        started_unix_s: run.info.started_unix_s,
        preset: preset(&run.info),
        targets: run.info.targets.iter().map(|target| target.name.as_str()).collect(),
        measured: run.measured,
        cells: run.cells,
        state: store_arguments::state(run),
    }
}

/// The preset of a run, or the file name of the user's command.
fn preset(info: &RunInfo) -> &str {
    let preset = info.preset.as_deref().unwrap_or_default();
    let mut words = info.command.iter().skip_while(|word| *word != "--");
    let command = words.nth(1).filter(|_| preset == COMMAND.name);
    command.and_then(|word| Path::new(word).file_name()?.to_str()).unwrap_or(preset)
}

fn object(run: &Listed) -> serde_json::Value {
    json!({
        "run": run.id,
        "name": run.info.name,
        "state": store_arguments::state(run),
        "started_unix_s": run.info.started_unix_s,
        "ended_unix_s": run.ended_unix_s,
        "preset": run.info.preset,
        "targets": run.info.targets.iter().map(|target| Name::new(&target.name)).collect::<Vec<_>>(),
        "cells": run.cells,
        "measured": run.measured,
        "version": run.info.version,
        "command": run.info.command.iter().map(|word| Name::new(word)).collect::<Vec<_>>(),
    })
}
