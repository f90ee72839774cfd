//! The tables of *The Linux Programming Interface*, chapter 13: seconds per execution, a row per buffer
//! size. Table 13-1 for every way to sync, table 13-3 with a pair of columns for each.

use stats::digits::significant;
use stats::figures::execution::Execution;
use stats::{Cell, Document, Provenance};
use units::whole;

use crate::grid::{Column, Grid};
use crate::page::Page;
use crate::wrap::wrapped;

/// Both tables for every target, then what was published.
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

/// Table 13-1: the book's four columns.
fn copy_block(cells: &[&Cell], sync: &str, page: Page) -> Option<String> {
    let mut grid = grid_of(["BUF_SIZE", "Elapsed", "Total CPU", "User CPU", "System CPU"].into_iter());
    for cell in cells {
        let execution = Execution::of(cell);
        grid.row([
            buffer(cell)?.to_string(),
            elapsed(cell),
            figure(cell, execution.as_ref().and_then(|execution| execution.cpu_s)),
            split(cell, execution.as_ref().and_then(|execution| execution.user_s)),
            split(cell, execution.as_ref().and_then(|execution| execution.system_s)),
        ]);
    }
    Some(titled("copy", Some(sync), cells, "13-1", &grid, page))
}

/// Table 13-3: a row per buffer, elapsed and total CPU for every way to sync.
fn write_block(cells: &[&Cell], page: Page) -> Option<String> {
    let syncs = syncs(cells);
    let heads = syncs.iter().flat_map(|sync| [format!("{sync}: Elapsed"), "Total CPU".to_owned()]);
    let mut grid = grid_of(["BUF_SIZE".to_owned()].into_iter().chain(heads));
    let mut buffers: Vec<u64> = cells.iter().filter_map(|cell| buffer(cell)).collect();
    buffers.sort_unstable();
    buffers.dedup();
    for size in buffers {
        let pairs = syncs.iter().flat_map(|sync| {
            let cell = with_sync(cells, sync).into_iter().find(|cell| buffer(cell) == Some(size));
            cell.map_or_else(Default::default, |cell| {
                [elapsed(cell), figure(cell, Execution::of(cell).and_then(|execution| execution.cpu_s))]
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

fn grid_of(heads: impl Iterator<Item = impl Into<String>>) -> Grid {
    Grid::new(heads.map(Column::figures).collect())
}

fn buffer(cell: &Cell) -> Option<u64> {
    cell.number("buffer_bytes")
}

/// The ways to sync, in the order of the run.
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

/// The elapsed time; the star of the whole row stands here.
fn elapsed(cell: &Cell) -> String {
    let star = if cell.is_suspect() { "*" } else { "" };
    figure(cell, Execution::of(cell).map(|execution| execution.elapsed_s)) + star
}

/// Seconds, or `n.m.`
fn figure(cell: &Cell, seconds: Option<f64>) -> String {
    match seconds {
        None => "n.m.".to_owned(),
        // What was published keeps the digits that were printed.
        Some(seconds) if seconds < 1000.0 && cell.provenance == Provenance::Published => format!("{seconds:.2}"),
        Some(seconds) => digits(seconds),
    }
}

/// User or system CPU: of a measured cell no finer than a millisecond, as ticks of 1 to 10 ms sample it.
fn split(cell: &Cell, seconds: Option<f64>) -> String {
    match seconds {
        Some(seconds) if seconds < 1.0 && cell.provenance == Provenance::Measured => format!("{seconds:.3}"),
        seconds => figure(cell, seconds),
    }
}

/// Two decimals as in the book, but no more than four significant digits from 1000 s on, and three below
/// 1 s, where two decimals would tell nothing.
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
