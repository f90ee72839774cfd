//! Curves over a setting that a run varies, on logarithmic axes: `buffer` has seconds over the size of a buffer, and
//! `setting` rates over the settings of a workload of your own.

mod buffer;
mod curves;
mod setting;

use std::collections::{BTreeMap, BTreeSet};

use stats::inference::sweep::{self, Axis};
use stats::{Cell, Document};

use super::Chart;

/// The fewest buffer sizes that make a curve.
const LEAST_SIZES: usize = 4;

/// The programs and settings of a document that are shown as curves.
pub(super) struct Swept<'a> {
    /// The programs that ran with buffers of several sizes, and their cells.
    programs: BTreeMap<&'a str, Vec<&'a Cell>>,
    /// The swept settings of workloads of the user.
    axes: Vec<Axis<'a>>,
}

impl<'a> Swept<'a> {
    /// Collects these programs and settings from a document.
    pub(super) fn from_document(document: &'a Document) -> Swept<'a> {
        let axes = sweep::axes(&document.cells);
        let mut programs: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
        // The rounds of a workload of the user all take the same time.
        let is_own = |cell: &Cell| axes.iter().any(|axis| axis.shows(cell));
        for cell in document.cells.iter().filter(|cell| !is_own(cell)) {
            programs.entry(&cell.program).or_default().push(cell);
        }
        let sizes = |cells: &[&Cell]| -> BTreeSet<u64> {
            cells.iter().filter(|cell| cell.measured).filter_map(|cell| cell.number("buffer_bytes")).collect()
        };
        programs.retain(|_, cells| sizes(cells).len() >= LEAST_SIZES);
        Swept { programs, axes }
    }

    /// True if these charts show the cell, so that no other chart needs to.
    pub(super) fn shows(&self, cell: &Cell) -> bool {
        self.programs.contains_key(cell.program.as_str()) && cell.number("buffer_bytes").is_some()
            || self.axes.iter().any(|axis| axis.shows(cell))
    }
}

/// Returns a chart for each program that ran with buffers of several sizes, and for each swept setting.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let swept = Swept::from_document(document);
    let buffers = swept.programs.iter().filter_map(|(program, cells)| buffer::chart(program, cells));
    buffers.chain(swept.axes.iter().filter_map(setting::chart)).collect()
}
