//! The table of Kridle & McKusick 1983: `RATE (CPU%)` in Kbytes/sec, a `*` on what is suspect, `n.m.` for
//! what was not measured.

use comfy_table::{CellAlignment, Table, TableStyle};
use stats::{Cell, Document};

use crate::numbers::significant;

/// A row per program, a column per target.
pub fn table(document: &Document) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    let targets: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    table.set_header([""].iter().chain(&targets));
    let mut programs: Vec<&str> = document.cells.iter().map(|cell| cell.program.as_str()).collect();
    programs.sort_by_key(|program| document.cells.iter().position(|cell| cell.program == *program));
    programs.dedup();
    for program in programs {
        let find =
            |target: &&str| document.cells.iter().find(|cell| cell.program == program && cell.target == **target);
        let figures = targets.iter().map(|target| find(target).map_or_else(String::new, figure));
        table.add_row([program.to_owned()].into_iter().chain(figures));
    }
    for column in 1..=targets.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("Logically Sequential Transfers (Kbytes/sec.)\n{}\n", table.trim_fmt())
}

/// `490 (69%)`, `220 (58%)*`, `320`, `n.m.`
pub fn figure(cell: &Cell) -> String {
    let Some(rate) = &cell.rate else { return "n.m.".to_owned() };
    let cpu = cell.cpu_percent.map_or_else(String::new, |cpu| format!(" ({:.0}%)", cpu.process));
    let star = if cell.marks.is_empty() { "" } else { "*" };
    format!("{}{cpu}{star}", significant(rate.value, 3))
}
