//! The tables of *The Linux Programming Interface*, chapter 13: seconds per execution, a row per buffer size. Table
//! 13-1 for every way to sync; table 13-3 with a pair of columns for each way.

use stats::digits::significant;
use stats::figures::execution_times::ExecutionTimes;
use stats::{Cell, Document, Provenance};
use units::whole;

use crate::page::Page;
use crate::table::{Column, Field, Grid};
use crate::wrap::wrapped;

/// Returns both tables for every measured target, then those of the published figures.
pub fn table(document: &Document, page: Page) -> String {
    let measured = document.run.targets.iter().map(|target| target.name.as_str());
    let published = document.cells.iter().filter(|cell| cell.provenance == Provenance::Published);
    let mut targets: Vec<&str> = Vec::new();
    for target in measured.chain(published.map(|cell| cell.target.as_str())) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    let blocks = targets.into_iter().flat_map(|target| {
        let here = |program: &str| -> Vec<&Cell> {
            document.cells.iter().filter(|cell| cell.target == target && cell.program == program).collect()
        };
        let (copies, writes) = (here("copy"), here("write"));
        let copies = syncs(&copies).into_iter().map(move |sync| copy_block(&with_sync(&copies, sync), sync, page));
        copies.chain([write_block(&writes, page)]).flatten().collect::<Vec<String>>()
    });
    blocks.collect::<Vec<String>>().join("\n")
}

/// A row of table 13-1: a result, its buffer size, and its times.
type Copied<'a> = (&'a Cell, u64, Option<ExecutionTimes>);

/// Table 13-1: the book's four columns.
fn copy_block(cells: &[&Cell], sync: &str, page: Page) -> Option<String> {
    let columns: [Field<Copied, Column>; 5] = [
        (Column::figures("BUF_SIZE"), |(_, size, _)| size.to_string()),
        (Column::figures("Elapsed"), |(cell, ..)| elapsed(cell)),
        (Column::figures("Total CPU"), |(cell, _, times)| figure(cell, times.as_ref().and_then(|times| times.cpu_s))),
        (Column::figures("User CPU"), |(cell, _, times)| split(cell, times.as_ref().and_then(|times| times.user_s))),
        (Column::figures("System CPU"), |(cell, _, times)| {
            split(cell, times.as_ref().and_then(|times| times.system_s))
        }),
    ];
    let rows: Option<Vec<Copied>> =
        cells.iter().map(|cell| Some((*cell, buffer(cell)?, ExecutionTimes::from_cell(cell)))).collect();
    let grid = Grid::filled(&columns, rows?);
    Some(titled("copy", Some(sync), cells, "13-1", &grid, page))
}

/// Table 13-3: a row per buffer size, elapsed and total CPU time for every way to sync.
fn write_block(cells: &[&Cell], page: Page) -> Option<String> {
    let syncs = syncs(cells);
    let heads = syncs.iter().flat_map(|sync| [format!("{sync}: Elapsed"), "Total CPU".to_owned()]);
    let heads = ["BUF_SIZE".to_owned()].into_iter().chain(heads);
    let mut grid = Grid::new(heads.map(Column::figures).collect());
    let mut buffers: Vec<u64> = cells.iter().filter_map(|cell| buffer(cell)).collect();
    buffers.sort_unstable();
    buffers.dedup();
    for size in buffers {
        let pairs = syncs.iter().flat_map(|sync| {
            let cell = with_sync(cells, sync).into_iter().find(|cell| buffer(cell) == Some(size));
            cell.map_or_else(Default::default, |cell| {
                [elapsed(cell), figure(cell, ExecutionTimes::from_cell(cell).and_then(|execution| execution.cpu_s))]
            })
        });
        grid.row([size.to_string()].into_iter().chain(pairs));
    }
    Some(titled("write", None, cells, "13-3", &grid, page))
}

/// `copy of 100,000,000 bytes, sync none, on . (seconds per execution; TLPI table 13-1)`
fn titled(what: &str, sync: Option<&str>, cells: &[&Cell], number: &str, grid: &Grid, page: Page) -> String {
    let Some(first) = cells.first() else { return String::new() };
    let mut title = what.to_owned();
    if let Some(bytes) = first.number("file_bytes") {
        title += &format!(" of {} bytes", whole(bytes));
    }
    if let Some(sync) = sync {
        title += &format!(", sync {sync}");
    }
    title += &match first.provenance {
        Provenance::Published => format!(", published in {}, table {number} (seconds)", first.target),
        Provenance::Measured | Provenance::Simulated => {
            format!(", on {} (seconds per execution; TLPI table {number})", first.target)
        }
    };
    wrapped(&format!("{title}\n"), page) + &grid.lines(page).join("\n") + "\n"
}

fn buffer(cell: &Cell) -> Option<u64> {
    cell.number("buffer_bytes")
}

/// Returns the ways to sync, in the order of the run.
fn syncs<'a>(cells: &[&'a Cell]) -> Vec<&'a str> {
    let mut syncs = Vec::new();
    for sync in cells.iter().filter_map(|cell| cell.word("sync")) {
        if !syncs.contains(&sync) {
            syncs.push(sync);
        }
    }
    syncs
}

fn with_sync<'a>(cells: &[&'a Cell], sync: &str) -> Vec<&'a Cell> {
    cells.iter().copied().filter(|cell| cell.word("sync") == Some(sync)).collect()
}

/// Returns the elapsed time, with the star of the whole row.
fn elapsed(cell: &Cell) -> String {
    let star = if cell.is_suspect() { "*" } else { "" };
    figure(cell, ExecutionTimes::from_cell(cell).map(|execution| execution.elapsed_s)) + star
}

/// Returns seconds as text, or `n.m.` if there are none.
fn figure(cell: &Cell, seconds: Option<f64>) -> String {
    match seconds {
        None => "n.m.".to_owned(),
        // Published figures keep the printed digits.
        Some(seconds) if seconds < 1000.0 && cell.provenance == Provenance::Published => format!("{seconds:.2}"),
        Some(seconds) => digits(seconds),
    }
}

/// Formats user or system CPU time. Measured times have no more digits than milliseconds, because ticks of 1 to 10 ms
/// sample them.
fn split(cell: &Cell, seconds: Option<f64>) -> String {
    match seconds {
        Some(seconds) if seconds < 1.0 && cell.provenance == Provenance::Measured => format!("{seconds:.3}"),
        seconds => figure(cell, seconds),
    }
}

/// Formats seconds with two decimals as in the book. From 1000 s on four significant digits; below 1 s three, because
/// two decimals would show too little.
fn digits(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => significant(s, 3),
        s if s < 1000.0 => format!("{s:.2}"),
        s => significant(s, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_the_digits_that_mean_something() {
        assert_eq!(
            [107.4341, 2.0, 0.375, 0.0123456, 1030.4, 0.0].map(digits),
            ["107.43", "2.00", "0.375", "0.0123", "1,030", "0"]
        );
    }
}
