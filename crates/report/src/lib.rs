//! Cells in, text out. Knows no clock, no device and no store.

mod book;
pub mod chart;
pub mod choice;
pub mod compared;
pub mod csv;
mod device;
pub mod doctor;
mod escape;
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
mod page;
mod paper;
pub mod plain;
pub mod replication;
mod rows;
pub mod runs;
mod shell;
mod simulated;
mod stages;
mod verdict;
pub mod verification;
mod why;
mod words;
pub mod wrap;

pub use device::conditioned;
pub use header::aged;
pub use markdown::markdown;
pub use names::cell_names;
pub use numbers::RUNS;
pub use page::Page;
pub use rows::first_figure;
use stats::Document;
pub use words::unit;

/// The table of a run, in the layout of its preset. The machine is above it, the warnings are below it. A narrow page
/// breaks lines, and names the columns that it leaves out.
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
    let mut below = format!("\n{}{}", rows::legend(&document.cells), header::not_measured(&body));
    for finding in &document.run.findings {
        below += &format!("{finding}\n");
    }
    below += &header::footnotes(document);
    wrap::wrapped(&header::lines(document), page) + "\n" + &body + &wrap::wrapped(&below, page)
}
