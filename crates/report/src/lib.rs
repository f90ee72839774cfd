//! Prints documents: cells in, text out. The crate does not depend on a clock, a device or a store.

pub mod chart;
pub mod compare;
pub mod csv;
pub mod doctor;
mod escape;
pub mod explain;
pub mod glossary;
mod header;
pub mod html;
pub mod layouts;
mod markdown;
mod names;
mod numbers;
mod page;
mod presentation;
pub mod runs;
pub mod sanitize;
mod shell;
mod table;
pub mod verification;
mod why;
mod words;
pub mod wrap;

use compare::target_comparison;
pub use header::aged;
pub use layouts::device::conditioned;
pub use layouts::rows::first_figure;
use layouts::{book, device, lfs, paper, rows, simulated};
pub use markdown::markdown;
pub use names::cell_names;
pub use numbers::RUNS;
pub use page::Page;
pub use presentation::{Group, Layout, Presentation, Question};
use stats::Document;
pub use words::unit;

/// The table of a run, in the layout of its preset. The machine is above it, the warnings are below it. A narrow page
/// breaks lines, and names the columns that it leaves out.
pub fn table(document: &Document, presentation: Presentation, page: Page) -> String {
    if let Some(choice) = &document.run.choice {
        return target_comparison::table(document, choice, presentation.layout, page);
    }
    let body = match presentation.layout {
        Layout::Plain | Layout::Trial => rows::table(document, presentation, page),
        Layout::Device => device::table(document, page),
        Layout::Classic1983 if document.run.phases.is_some() => simulated::table(document, page),
        Layout::Classic1983 => paper::table(document, page),
        Layout::Lfs => lfs::table(document, page),
        Layout::Tlpi => book::table(document, page),
    };
    let mut below = format!("\n{}{}", rows::legend(&document.cells), header::not_measured(&body));
    for finding in &document.run.findings {
        below += &format!("{finding}\n");
    }
    below += &header::footnotes(document);
    wrap::wrapped(&header::lines(document, presentation.layout), page) + "\n" + &body + &wrap::wrapped(&below, page)
}
