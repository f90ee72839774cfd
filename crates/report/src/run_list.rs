//! The list of runs.

use units::DateTime;

use crate::page::Page;
use crate::table::{Column, Field, Grid};

/// A row of the list of runs.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The identifier of the run.
    pub name: &'a str,
    /// The name that the user gave it; empty if there is none.
    pub given: &'a str,
    /// The start time, in seconds since 1970.
    pub started_unix_s: f64,
    /// The preset of the run.
    pub preset: &'a str,
    /// The names of the targets.
    pub targets: Vec<&'a str>,
    /// The number of measured cells.
    pub measured: u64,
    /// The number of all cells.
    pub cells: u64,
    /// The state of the run in words.
    pub state: &'a str,
}

/// Returns a line per run, in the given order.
pub fn table<'a>(runs: impl Iterator<Item = Run<'a>>, page: Page) -> String {
    // Start time and targets identify a run.
    let mut columns: Vec<Field<Run, Column>> = vec![
        (Column::words("run"), |run| run.name.to_owned()),
        (Column::words("began (UTC)"), |run| DateTime::from_unix(run.started_unix_s).to_string()),
        (Column::words("preset").left_out(1), |run| run.preset.to_owned()),
        (Column::words("targets"), |run| run.targets.join(" ")),
        (Column::words("results").left_out(2), |run| match run.measured == run.cells {
            true => run.cells.to_string(),
            false => format!("{} of {}", run.measured, run.cells),
        }),
        (Column::words("state"), |run| run.state.to_owned()),
    ];
    let runs: Vec<Run> = runs.collect();
    if runs.iter().any(|run| !run.given.is_empty()) {
        columns.insert(1, (Column::words("name"), |run| run.given.to_owned()));
    }
    Grid::filled(&columns, runs).lines(page).join("\n") + "\n"
}
