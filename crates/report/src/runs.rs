//! The list of runs.

use comfy_table::{Table, TableStyle};
use units::Civil;

/// A run as the list shows it.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// How it is called.
    pub name: &'a str,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// What was run.
    pub preset: &'a str,
    /// Where.
    pub targets: Vec<&'a str>,
    /// How many of its cells are measured.
    pub measured: u64,
    /// How many it has.
    pub cells: u64,
    /// How far it came.
    pub state: &'a str,
}

/// A line per run, in their order.
pub fn table<'a>(runs: impl Iterator<Item = Run<'a>>) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["run", "began (UTC)", "preset", "targets", "cells", "state"]);
    for run in runs {
        let began = Civil::from_unix(run.started_unix_s).to_string();
        let cells = if run.measured == run.cells {
            run.cells.to_string()
        } else {
            format!("{} of {}", run.measured, run.cells)
        };
        let targets = run.targets.join(" ");
        table.add_row([run.name, &began, run.preset, &targets, &cells, run.state]);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}
