//! The table of the preset `lfs`: a line per phase with its rate, the rate before the sync, the CPU time, and the
//! published rate of that phase.

use stats::digits::significant;
use stats::figures::rate::Average;
use stats::figures::summary::{median, round_rate};
use stats::{Cell, ClockKind, Document, Provenance, Rate};
use units::Bytes;

use crate::display_names::unit;
use crate::layouts::plain::{interval, rate};
use crate::page::Page;
use crate::rate_format::in_unit_of;
use crate::table::{Column, Field, Grid};
use crate::wrap::wrapped;

/// Returns a line per phase. Published cells do not get lines: they fill the last column.
pub fn table(document: &Document, page: Page) -> String {
    let (published, ours): (Vec<&Cell>, Vec<&Cell>) =
        document.cells.iter().partition(|cell| cell.provenance == Provenance::Published);
    let columns: [Field<(&Cell, &Document), Column>; 6] = [
        (Column::words(""), |(cell, document)| name(cell, document)),
        (Column::figures("rate"), |(cell, _)| rate(cell)),
        (Column::figures("±95 %"), |(cell, _)| interval(cell)),
        (Column::figures("before sync"), |(cell, _)| returned(cell)),
        (Column::figures("CPU"), |(cell, _)| cpu(cell)),
        (Column::figures("published"), |(cell, document)| published_rate(cell, &document.cells)),
    ];
    let grid = Grid::filled(&columns, ours.into_iter().map(|cell| (cell, document)));
    let mut sources: Vec<&str> = published.iter().map(|cell| cell.target.as_str()).collect();
    sources.dedup();
    let sources = format!("published: {}, in our units; MB is 2^20 bytes\n", sources.join(", "));
    grid.lines(page).join("\n") + "\n" + &wrapped(&sources, page)
}

/// Program, phase and size: `smallfb creat, 10000 of 1 KiB`; after the target if there are several.
fn name(cell: &Cell, document: &Document) -> String {
    let bytes = |parameter: &str| cell.number(parameter).map(|bytes| Bytes(bytes).to_string()).unwrap_or_default();
    let count = |parameter: &str| cell.number(parameter).unwrap_or(0);
    let name = match cell.program.as_str() {
        "bw -b" => format!("bw -b, {}", bytes("amount")),
        "bw -l" => format!("bw -l, {} of {}", count("amount"), bytes("buffer_bytes")),
        "smallfb" => format!("smallfb {}, {} of {}", cell.phase, count("files"), bytes("file_bytes")),
        program => format!("{program} {}, {}", cell.phase, bytes("file_bytes")),
    };
    if document.run.targets.len() > 1 { format!("{}: {name}", cell.target) } else { name }
}

/// Returns the rate until the last call returned, if the cell uses another clock.
fn returned(cell: &Cell) -> String {
    let Some(rate) = cell.rate.as_ref().filter(|_| cell.state.clock != ClockKind::Returned) else {
        return String::new();
    };
    let rates: Option<Vec<f64>> =
        cell.kept().map(|round| round_rate(round, cell.together, rate.base, ClockKind::Returned)).collect();
    match rates.filter(|rates| !rates.is_empty()) {
        Some(rates) => figure(in_unit_of(rate, Average::of_marks(&cell.marks).and_half_width(&rates).0)),
        None => String::new(),
    }
}

fn cpu(cell: &Cell) -> String {
    let missing = if cell.measured { "n.m." } else { "" };
    cell.cpu_percent.map_or_else(|| missing.to_owned(), |cpu| format!("{:.0}%", cpu.process))
}

/// Returns the published rate of the phase, in the cell's unit if the cell has a rate. Several figures become the
/// median and the range.
fn published_rate(cell: &Cell, all: &[Cell]) -> String {
    let same = all.iter().filter(|other| {
        other.provenance == Provenance::Published && (&other.program, &other.phase) == (&cell.program, &cell.phase)
    });
    let rates: Vec<&Rate> = same.filter_map(|other| other.rate.as_ref()).collect();
    let in_unit = |rate: &&Rate| match &cell.rate {
        Some(ours) if ours.per_second > 0.0 => in_unit_of(ours, rate.per_second),
        _ => rate.value,
    };
    let values: Vec<f64> = rates.iter().map(in_unit).collect();
    let Some(middle) = median(&values) else { return String::new() };
    let unit = match (&cell.rate, rates.first()) {
        (None, Some(rate)) => format!(" {}", unit(&rate.unit)),
        _ => String::new(),
    };
    if values.len() == 1 {
        return format!("{}{unit}", figure(middle));
    }
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().copied().fold(0.0, f64::max);
    format!("{} ({} to {}){unit}", figure(middle), figure(lowest), figure(highest))
}

fn figure(value: f64) -> String {
    significant(value, 3)
}
