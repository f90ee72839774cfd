//! Cells in, text out. Knows no clock, no device and no store.

mod book;
pub mod chart;
pub mod choice;
pub mod compared;
pub mod csv;
mod device;
pub mod doctor;
pub mod explain;
pub mod glossary;
mod grid;
mod header;
pub mod history;
pub mod html;
pub mod lab;
mod lfs;
mod markdown;
mod names;
mod numbers;
mod paper;
pub mod plain;
pub mod replication;
mod rows;
pub mod runs;
mod simulated;
mod stages;
pub mod verification;
pub mod wrap;

pub use device::conditioned;
pub use grid::Page;
pub use header::aged;
pub use markdown::markdown;
pub use names::cell_names;
pub use numbers::{RUNS, significant, whole};
pub use rows::first_figure;
use stats::Document;

/// The table that a person reads: in the layout of the preset, with a line about the machine above it and
/// the marks explained below. On a narrow page lines are broken, and what is left out of the table is said.
pub fn table(document: &Document, page: Page) -> String {
    if let Some(choice) = &document.run.choice {
        return choice::table(document, choice, page);
    }
    let body = match document.run.preset.as_deref() {
        Some("classic1983") if document.run.phases.is_some() => simulated::table(document, page),
        Some("classic1983") => paper::table(document, page),
        Some("device") => device::table(document, page),
        Some("lfs") => lfs::table(document, page),
        Some("tlpi") => book::table(document, page),
        _ => rows::table(document, page),
    };
    let mut below = String::new();
    for finding in &document.run.findings {
        below += &format!("\n{finding}");
    }
    below += &header::footnotes(document);
    wrap::wrapped(&header::lines(document), page) + "\n" + &body + &wrap::wrapped(&below, page)
}
