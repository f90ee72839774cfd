//! Tables of simulated machines: a table for each file system, as in 1983, with one drive next to several. A sweep has
//! a row per value.

use std::collections::BTreeSet;

use stats::digits::significant;
use stats::{Cell, Document, ParameterValue};

use crate::cell_names::different;
use crate::page::Page;
use crate::table::{Column, Grid};
use crate::wrap::wrapped;

/// Returns a table for each file system.
pub fn table(document: &Document, page: Page) -> String {
    let cells = &document.cells;
    let swept = swept(cells);
    let halves = different(cells.iter().map(|cell| cell.word("file_system").unwrap_or_default()));
    let texts = halves.iter().map(|half| {
        let cells: Vec<&Cell> =
            cells.iter().filter(|cell| cell.word("file_system").unwrap_or_default() == *half).collect();
        let unit = cells.iter().find_map(|cell| Some(cell.rate.as_ref()?.unit.as_str())).unwrap_or("n.m.");
        let title = format!("Logically Sequential Transfers from an {half} 4.2BSD File System ({unit}.)\n");
        wrapped(&title, page) + &if swept.is_empty() { programs(&cells, page) } else { values(&cells, &swept, page) }
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the settings that differ from cell to cell: dotted names of fields, and kinds of parts.
fn swept(cells: &[Cell]) -> Vec<&str> {
    let keys: BTreeSet<&str> = cells.iter().flat_map(|cell| cell.parameters.keys().map(String::as_str)).collect();
    let is_field = |key: &&str| key.contains('.') || PARTS.contains(key);
    let varies = |key: &&str| {
        cells.iter().map(|cell| cell.parameters.get(*key)).collect::<BTreeSet<Option<&ParameterValue>>>().len() > 1
    };
    keys.into_iter().filter(is_field).filter(varies).collect()
}

/// The kinds of parts that can be exchanged.
const PARTS: [&str; 5] = ["cpu", "kernel", "bus", "controller", "drive"];

/// Returns a row per program, a column per number of drives.
fn programs(cells: &[&Cell], page: Page) -> String {
    let columns = drives(cells);
    let header = [String::new()].into_iter().chain(columns.iter().map(|drives| heading(*drives)));
    let rows = different(cells.iter().map(|cell| cell.program.as_str())).into_iter().map(|program| {
        let figure = |drives: &u32| {
            figure(cells.iter().find(|cell| cell.program == program && cell.targets == *drives).copied())
        };
        [program.to_owned()].into_iter().chain(columns.iter().map(figure)).collect()
    });
    lines(header.collect(), rows.collect(), None, page)
}

/// Returns a row per combination of values, a column per program and number of drives.
fn values(cells: &[&Cell], swept: &[&str], page: Page) -> String {
    let programs = different(cells.iter().map(|cell| cell.program.as_str()));
    let drives = drives(cells);
    let columns: Vec<(&str, u32)> =
        programs.iter().flat_map(|program| drives.iter().map(move |drives| (*program, *drives))).collect();
    let of = |cell: &Cell| -> Vec<String> {
        swept.iter().map(|key| cell.parameters.get(*key).map_or_else(String::new, ToString::to_string)).collect()
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    // Cells of a row are adjacent, and every row has a cell for each column.
    for row in cells.chunk_by(|a, b| of(a) == of(b)) {
        let figures = columns.iter().map(|(program, drives)| {
            figure(row.iter().find(|cell| cell.program == *program && cell.targets == *drives).copied())
        });
        rows.push(of(row[0]).into_iter().chain(figures).collect());
    }
    let names = swept.iter().map(|key| (*key).to_owned());
    let header = names.chain(columns.iter().map(|(program, _)| (*program).to_owned())).collect();
    let second = swept.iter().map(|_| String::new()).chain(columns.iter().map(|(_, drives)| heading(*drives)));
    rows.insert(0, second.collect());
    lines(header, rows, Some(swept.len()), page)
}

fn heading(drives: u32) -> String {
    if drives == 1 { "1 Drive".to_owned() } else { format!("{drives} Drives") }
}

/// Returns the numbers of drives, in the order of first appearance.
fn drives(cells: &[&Cell]) -> Vec<u32> {
    different(cells.iter().map(|cell| cell.targets))
}

/// Rate and CPU time of a cell: `490 (69%)`, `n.m.`
fn figure(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return String::new() };
    let Some(rate) = &cell.rate else { return "n.m.".to_owned() };
    let cpu = cell.cpu_percent.map_or_else(String::new, |cpu| format!(" ({:.0}%)", cpu.process));
    let star = if cell.marks.is_empty() { "" } else { "*" };
    format!("{}{cpu}{star}", significant(rate.value, 3))
}

/// Returns the lines of a table. `values` is the number of leading columns with swept values; `None` if a row is a
/// program, whose name is words.
fn lines(header: Vec<String>, rows: Vec<Vec<String>>, values: Option<usize>, page: Page) -> String {
    let column = |(place, heading)| match (place, values) {
        (0, None) => Column::words(heading),
        _ => Column::figures(heading),
    };
    let mut grid = Grid::new(header.into_iter().enumerate().map(column).collect()).leading(values.unwrap_or(1));
    rows.into_iter().for_each(|row| grid.row(row));
    grid.lines(page).join("\n") + "\n"
}
