//! The table of Kridle & McKusick 1983: `RATE (CPU%)` in Kbytes/sec, a `*` at suspect figures, `n.m.` for those not
//! measured; for one drive and for all at once. Below it are the bounds that the drives alone set for all together.

use stats::digits::significant;
use stats::inference::two_drive_bounds::{self, Solo};
use stats::{Cell, Document, Provenance};

use crate::cell_names::different;
use crate::page::Page;
use crate::rate_format::supported_of;
use crate::table::{Column, Grid};
use crate::wrap::wrapped;

/// Returns a row per program, a column per target and one for all at once, and the bounds.
pub fn table(document: &Document, page: Page) -> String {
    let cells = &document.cells;
    let columns = different(cells.iter().map(|cell| cell.target.as_str()));
    let headings = columns.iter().map(|column| Column::figures(*column));
    let mut grid = Grid::new([Column::words("")].into_iter().chain(headings).collect());
    if cells.iter().any(|cell| cell.together) {
        let drives = columns.iter().map(|column| {
            let busy = cells.iter().find(|cell| cell.target == *column).map_or(1, |cell| cell.targets);
            if busy == 1 { "1 Drive".to_owned() } else { format!("{busy} Drives") }
        });
        grid.row([String::new()].into_iter().chain(drives));
    }
    for program in programs(cells) {
        let figure = |column: &&str| find(cells, program, column).map_or_else(String::new, figure);
        grid.row([program.to_owned()].into_iter().chain(columns.iter().map(figure)));
    }
    let mut lines = vec!["Logically Sequential Transfers (Kbytes/sec.)".to_owned()];
    lines.extend(grid.lines(page));
    let bounds: Vec<String> = programs(cells).into_iter().filter_map(|program| bound(document, program)).collect();
    if !bounds.is_empty() {
        lines.push(String::new());
        lines.extend(bounds);
    }
    let letter = letter(document).map_or_else(String::new, |letter| wrapped(&letter, page));
    lines.join("\n") + "\n" + &letter
}

/// Returns a note if the file is small compared with the memory, as the 8 MB of 1983 are today.
fn letter(document: &Document) -> Option<String> {
    let measured = document.cells.iter().filter(|cell| cell.provenance == Provenance::Measured);
    let file = measured.filter_map(|cell| cell.number("file_bytes")).max()?;
    let memory = document.run.memory_limit_bytes.or(document.run.memory_bytes)?;
    (file < IN_1983 * memory).then(|| {
        format!(
            "\nThe file is {} the memory of the run; in 1983 it was twice the memory. The page cache may have served \
             all of it, so these rates may not be those of a disk.\n",
            if file < memory {
                format!("{} % of", significant(100.0 * file as f64 / memory as f64, 2))
            } else {
                "less than twice".to_owned()
            }
        )
    })
}

/// The ratio of file to memory in 1983: 8 MB and the 4 MB of the VAX 11/780 (Kridle & McKusick 1983, section 4).
const IN_1983: u64 = 2;

/// `read_8192: free 1,880 | CPU allows 1,240 | measured 1,190 -> CPU`; `None` unless the program ran both alone and
/// together.
fn bound(document: &Document, program: &str) -> Option<String> {
    let here = || document.cells.iter().filter(|cell| cell.program == program);
    let together = here().find(|cell| cell.together)?;
    let measured = together.rate.as_ref()?.value;
    let alone: Option<Vec<Solo>> = here()
        .filter(|cell| !cell.together && cell.provenance == together.provenance)
        .map(|cell| {
            Some(Solo { rate: cell.rate.as_ref()?.value, cpu_percent: cell.cpu_percent.map(|cpu| cpu.process) })
        })
        .collect();
    let processors = if together.is_simulated() { 1.0 } else { document.run.cpus as f64 };
    let bounds = two_drive_bounds::bounds(&alone?, processors);
    let cpu = bounds.cpu.map_or_else(|| "n.m.".to_owned(), |cpu| significant(cpu, 3));
    Some(format!(
        "{program}: free {} | CPU allows {cpu} | measured {} -> {}",
        significant(bounds.free, 3),
        significant(measured, 3),
        two_drive_bounds::explain(bounds, measured).name()
    ))
}

fn find<'a>(cells: &'a [Cell], program: &str, target: &str) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.program == program && cell.target == target)
}

fn programs(cells: &[Cell]) -> Vec<&str> {
    different(cells.iter().map(|cell| cell.program.as_str()))
}

/// Rate and CPU time of a cell: `490 (69%)`, `220 (58%)*`, `320`, `n.m.`
fn figure(cell: &Cell) -> String {
    let Some(figure) = supported_of(cell) else { return "n.m.".to_owned() };
    let cpu = cell.cpu_percent.map_or_else(String::new, |cpu| format!(" ({:.0}%)", cpu.process));
    let star = if cell.is_suspect() { "*" } else { "" };
    format!("{figure}{cpu}{star}")
}
