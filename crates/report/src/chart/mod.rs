//! Charts of a document, as SVG: a document in, text out. They do not use files, clocks or scripts.
//!
//! Policy:
//!   1. a chart is as wide as its container, and its text as large as the text around it: positions along it are
//!      percentages, sizes of text and strokes are pixels;
//!   2. names are above their bars, so that a phone has room for both. If there is room, the style sheet moves them
//!      into a gutter to the left. A label that would touch another at [`NARROW`] pixels is left out;
//!   3. colour is never the only distinction: every line has its own dashes, bars have names, verdicts have shapes and
//!      words;
//!   4. colours are variables of [`STYLE`], so that the page controls them for light, dark and print;
//!   5. the charts of a document are not larger than [`MOST_BYTES`]: the first of each subject come before the second;
//!   6. a chart without any measured value is not made.

mod bars;
mod cell_text;
mod concurrent;
mod frame;
mod history;
mod hosts;
mod labels;
mod latencies;
mod over_time;
mod published;
mod rates;
mod ratios;
mod run_ratios;
mod scale;
mod size_limit;
mod standalone;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod thinning;
mod time_breakdown;

use stats::Document;
use stats::compare::history::History;
use stats::compare::replication::Comparison;

use crate::presentation::Layout;

pub(crate) use cell_text::class as colour;
pub(crate) use ratios::Axis;
pub use standalone::standalone;

/// The part of a page that a chart belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Rates with their intervals.
    Rates,
    /// Rates of several hosts that measured together.
    Hosts,
    /// Ratios of two targets.
    Choice,
    /// The rate while a program ran, and the events in that time.
    OverTime,
    /// Latencies of single operations.
    Latency,
    /// Rates of programs that run at the same time, next to their rates alone.
    Together,
    /// The breakdown of the elapsed time.
    Time,
    /// Seconds per run over the size of the buffer.
    Sweep,
    /// Rates over a swept setting of a workload.
    Setting,
    /// Published figures next to those of the run.
    Paper,
}

/// One chart. Its texts must still be escaped; its SVG is complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The part of the page that it belongs to.
    pub subject: Subject,
    /// The title above the chart.
    pub title: String,
    /// The names of the series, each with the colour of [`Chart::class`]. In the SVG every group `class="series s1"
    /// data-series="NAME"` belongs to one series. Empty if there is only one.
    pub series: Vec<String>,
    /// An element `<svg class="chart">` for a page that has [`STYLE`].
    pub svg: String,
    /// A description in a sentence or two, for readers who cannot see the chart.
    pub told: String,
    /// The height in pixels.
    pub height: u32,
}

impl Chart {
    /// Returns the CSS class of the colour of a series. An owner of time always has the same colour; other series have
    /// a colour by their index.
    pub fn class(&self, place: usize) -> String {
        match self.series.get(place) {
            Some(owner) if self.subject == Subject::Time => time_breakdown::class(owner).to_owned(),
            _ => colour(place),
        }
    }
}

/// The style sheet that charts need: variables of colours, light and dark, and classes.
pub const STYLE: &str = include_str!("style.css");

/// The narrowest width that charts are made for, in pixels: a phone of 320 pixels with a margin on both sides.
pub const NARROW: f64 = 264.0;

/// The most bytes of all charts of a document: half of the limit of a page.
pub const MOST_BYTES: usize = 150_000;

/// Returns the charts of a document, in the order of [`Subject`].
pub fn charts(document: &Document, layout: Layout) -> Vec<Chart> {
    let subjects = [
        rates::charts(document),
        hosts::charts(document),
        ratios::charts(document),
        over_time::charts(document, layout),
        latencies::charts(document),
        concurrent::charts(document),
        time_breakdown::charts(document),
        sweep::charts(document),
        published::charts(document),
    ];
    size_limit::within(subjects.into_iter().flatten().collect())
}

/// Returns one chart with the rates of several runs, which are the targets of this document.
pub(crate) fn runs(document: &Document) -> Option<Chart> {
    run_ratios::chart(document)
}

/// Returns the tests over all stored runs in one chart, or in several if there are more tests than colours.
pub fn history(history: &History) -> Vec<Chart> {
    history::charts(history)
}

/// Returns a chart for each table and file system of 1983, with the printed and the simulated figures.
pub fn paper(cells: &[Comparison]) -> Vec<Chart> {
    published::tables(cells)
}
