//! Cells in, text out. Knows no clock, no device and no store.

mod book;
pub mod csv;
pub mod doctor;
pub mod explain;
pub mod glossary;
mod header;
pub mod lab;
mod lfs;
mod markdown;
mod numbers;
mod paper;
pub mod replication;
mod rows;
pub mod runs;
mod simulated;
pub mod wrap;

pub use markdown::markdown;
pub use numbers::significant;
pub use rows::first_figure;
use stats::Document;

/// The table that a person reads: in the layout of the preset, with a line about the machine above it and
/// the marks explained below.
pub fn table(document: &Document) -> String {
    let body = match document.run.preset.as_deref() {
        Some("classic1983") if document.run.phases.is_some() => simulated::table(document),
        Some("classic1983") => paper::table(document),
        Some("lfs") => lfs::table(document),
        Some("tlpi") => book::table(document),
        _ => rows::table(document),
    };
    let mut text = header::lines(document) + "\n" + &body;
    for finding in &document.run.findings {
        text += &format!("\n{finding}");
    }
    text + &header::footnotes(document)
}
