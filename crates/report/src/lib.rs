//! Prints documents: cells in, text out. The crate does not depend on a clock, a device or a store.

mod cause;
mod cell_names;
pub mod chart;
pub mod compare;
pub mod csv;
pub mod devices;
mod display_names;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod glossary;
mod header;
pub mod html;
pub mod layouts;
mod markdown;
mod markdown_escape;
mod of_limit;
mod page;
mod presentation;
mod rate_format;
pub mod run_list;
pub mod sanitize;
mod shell;
mod table;
pub mod verification;
pub mod wrap;

pub use cell_names::cell_names;
use compare::target_comparison;
pub use display_names::unit;
pub use header::aged;
pub use layouts::device::conditioned;
pub use layouts::plain::first_figure;
use layouts::{classic1983, device, hosts, lfs, plain, simulated, tlpi};
pub use markdown::markdown;
pub use page::Page;
pub use presentation::{Group, Layout, Presentation, Question};
use stats::Document;

/// The table of a run, in the layout of its preset. The machine is above it, the warnings are below it. A narrow page
/// breaks lines, and names the columns that it leaves out.
pub fn table(document: &Document, presentation: Presentation, page: Page) -> String {
    if let Some(choice) = &document.run.choice {
        return target_comparison::table(document, choice, presentation.layout, page) + &hosts::summary(document, page);
    }
    let body = match presentation.layout {
        Layout::Plain | Layout::Trial => plain::table(document, presentation, page),
        Layout::Device => device::table(document, page),
        Layout::Classic1983 if document.run.phases.is_some() => simulated::table(document, page),
        Layout::Classic1983 => classic1983::table(document, page),
        Layout::Lfs => lfs::table(document, page),
        Layout::Tlpi => tlpi::table(document, page),
    };
    let body = body + &hosts::summary(document, page);
    let mut below = format!("\n{}{}", plain::legend(&document.cells), header::not_measured(&body));
    for finding in &document.run.findings {
        below += &format!("{finding}\n");
    }
    below += &devices::predict::check_lines(&document.run.checks);
    below += &header::footnotes(document);
    wrap::wrapped(&header::lines(document, presentation.layout), page) + "\n" + &body + &wrap::wrapped(&below, page)
}
