//! The tables of the paper of 1983: under each printed figure is the simulated one.

use maud::{Markup, html};
use stats::compare::replication::{Comparison, Drive, PaperDocument};

use super::parts::{Place, figure, side, wide};
use crate::chart;
use crate::compare::replication::{computed, difference, different, printed, summary};

/// The title of the section.
pub const TITLE: &str = "The tables of 1983: published and simulated";

/// Returns all tables that a document has.
pub fn section(paper: &PaperDocument, place: Place) -> Markup {
    html! {
        section id={ "r" (place.number) } {
            (place.title(TITLE))
            p class="when" {
                "Kridle and McKusick, Performance Effects of Disk Subsystem Choices for VAX Systems Running 4.2BSD \
                 UNIX, 1983."
            }
            @if let Some(errors) = &paper.summary {
                div class="verdict" {
                    @for line in summary(errors).lines() { p { "Errors of the simulation, " (line) "." } }
                }
            }
            (tables(&paper.cells))
            @for drive in &paper.drives { (drive_table(drive)) }
            (place.heading("Repeat this report"))
            div class="command" { pre { code { "diskperf report --paper" } } }
        }
    }
}

/// Returns a table for each table of the paper, and each file system in it.
pub fn tables(cells: &[Comparison]) -> Markup {
    let all: Vec<&Comparison> = cells.iter().collect();
    html! {
        @for name in different(&all, |cell| &cell.table) {
            @let own = all.iter().copied().filter(|cell| cell.table == name).collect::<Vec<&Comparison>>();
            @for file_system in different(&own, |cell| &cell.file_system) {
                @let half = own.iter().filter(|cell| cell.file_system == file_system).map(|cell| (*cell).clone());
                @let half = half.collect::<Vec<Comparison>>();
                @for chart in chart::paper(&half) { (figure(&chart)) }
                (part(name, file_system, &half.iter().collect::<Vec<&Comparison>>()))
            }
        }
        p class="why" {
            "Each result has the printed figures, the simulated figures, and the error of the simulated rate with its \
             bottleneck. Rates are in Kbytes (1024 bytes) per second, with the CPU time in percent. If the printed \
             figure is missing (n.m.) or suspect (*), the simulated figure is that of healthy hardware."
        }
    }
}

/// Returns one half of a table.
fn part(name: &str, file_system: &str, cells: &[&Comparison]) -> Markup {
    let first = cells.first().map(|cell| &cell.test);
    let columns: Vec<&&Comparison> = cells.iter().filter(|cell| Some(&cell.test) == first).collect();
    let inside = html! {
        table class="paper" {
            caption { (name) ", " (file_system) }
            thead {
                tr {
                    th scope="col" { "Test" }
                    @for column in &columns {
                        th scope="col" class="n" {
                            (column.configuration) br;
                            (column.drives) @if column.drives == 1 { " drive" } @else { " drives" }
                        }
                    }
                }
            }
            tbody {
                @for test in different(cells, |cell| &cell.test) {
                    tr {
                        th scope="row" { (test) }
                        @for cell in cells.iter().filter(|cell| cell.test == test) {
                            td class="n" {
                                b { (printed(&cell.published)) } br; (computed(&cell.simulated)) br;
                                span class="why" { (difference(cell)) }
                            }
                        }
                    }
                }
            }
        }
    };
    wide(&format!("Table {name}, {file_system}"), inside)
}

/// Returns the printed data of a drive.
fn drive_table(drive: &Drive) -> Markup {
    let inside = html! {
        table {
            caption { (drive.id) ", " (drive.title) }
            tbody {
                @for row in &drive.rows {
                    tr {
                        th scope="row" { (row.what) }
                        td class=[side(true)] { (row.value) " " (row.unit.as_deref().unwrap_or_default()) }
                    }
                }
            }
        }
    };
    wide(&drive.title, inside)
}
