//! The list of runs.

use units::Civil;

use crate::grid::{Column, Grid};
use crate::page::Page;

/// A row of the list of runs.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The identifier of the run.
    pub name: &'a str,
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
    let columns = ["run", "began (UTC)", "preset", "targets", "results", "state"];
    // Start time and targets identify a run.
    let rank = |heading| match heading {
        "results" => Column::words(heading).left_out(2),
        "preset" => Column::words(heading).left_out(1),
        _ => Column::words(heading),
    };
    let mut grid = Grid::new(columns.into_iter().map(rank).collect());
    for run in runs {
        let began = Civil::from_unix(run.started_unix_s).to_string();
        let cells = if run.measured == run.cells {
            run.cells.to_string()
        } else {
            format!("{} of {}", run.measured, run.cells)
        };
        let targets = run.targets.join(" ");
        grid.row([run.name, &began, run.preset, &targets, &cells, run.state]);
    }
    grid.lines(page).join("\n") + "\n"
}
