//! The plain table: a row per cell.

use comfy_table::{CellAlignment, Table, TableStyle};
use stats::{Cell, ClockKind, Document};

use crate::numbers::significant;

/// A row per cell, in the order of the run.
pub fn table(document: &Document) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(["", "", "until", "rate", "+-", "CPU"]);
    let several = document.run.targets.len() > 1;
    for cell in &document.cells {
        let name =
            if cell.program == cell.phase { cell.program.clone() } else { format!("{} {}", cell.program, cell.phase) };
        let place = if several { cell.target.clone() } else { String::new() };
        table.add_row([name, place, until(cell).to_owned(), rate(cell), interval(cell), cpu(cell)]);
    }
    for column in 3..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

fn until(cell: &Cell) -> &'static str {
    match cell.state.clock {
        ClockKind::Returned => "returned",
        ClockKind::DataDurable => "data durable",
        ClockKind::Durable => "durable",
    }
}

fn rate(cell: &Cell) -> String {
    let Some(rate) = &cell.rate else { return "n.m.".to_owned() };
    let star = if cell.marks.is_empty() { "" } else { "*" };
    format!("{} {}{star}", significant(rate.value, 3), rate.unit)
}

fn interval(cell: &Cell) -> String {
    let Some((rate, low)) = cell.rate.as_ref().and_then(|rate| Some((rate, rate.low?))) else {
        return String::new();
    };
    format!("{:.0} %", 100.0 * (rate.per_second - low) / rate.per_second)
}

fn cpu(cell: &Cell) -> String {
    cell.cpu_percent.map_or_else(|| "n.m.".to_owned(), |cpu| format!("{:.0}%", cpu.process))
}
