//! The list of runs.

use units::Civil;

use crate::grid::{Column, Grid};
use crate::page::Page;

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
