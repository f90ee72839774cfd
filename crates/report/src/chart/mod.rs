//! Charts of a document, as SVG: a document in, text out. No file, no clock, no script.
//!
//! Policy:
//!   1. a chart is as wide as the place where it stands, and its text as large as the text around it: positions along
//!      it are percentages, sizes of text and strokes are pixels;
//!   2. names are above their bars, so that a phone has room for both; the style sheet moves them into a gutter to the
//!      left if there is room. A label that would touch another at [`NARROW`] pixels is left out;
//!   3. colour never tells alone: lines are dashed each in its own way, bars are named, verdicts have shapes and words;
//!   4. colours are variables of [`STYLE`], so that light, dark and print are the page's;
//!   5. the charts of a document are not larger than [`MOST_BYTES`]: the first of each subject come before the second;
//!   6. a chart of which nothing was measured is not made.

mod bars;
mod budget;
mod figures;
mod frame;
mod history;
mod latencies;
mod over_time;
mod past;
mod published;
mod rates;
mod ratios;
mod scale;
mod stacks;
mod standalone;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;
mod thinned;
mod together;
mod words;

use stats::Document;
use stats::compare::history::History;
use stats::compare::replication::Comparison;

pub(crate) use figures::class as colour;
pub(crate) use ratios::Axis;
pub use standalone::standalone;

/// The part of a page that a chart belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// How fast, with intervals.
    Rates,
    /// Which of two is faster.
    Choice,
    /// The rate while a program ran, and what happened meanwhile.
    OverTime,
    /// How long single operations took.
    Latency,
    /// All at once, beside what each does alone.
    Together,
    /// Where each millisecond went.
    Time,
    /// Seconds over the size of a buffer.
    Sweep,
    /// What was published beside what was found here.
    Paper,
}

/// One chart. All of it is plain text, still to be escaped, but for the SVG.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The part of a page that it belongs to.
    pub subject: Subject,
    /// What stands above it.
    pub title: String,
    /// The names of what it tells apart, each with the colour of [`Chart::class`]. In the SVG every group
    /// `class="series s1" data-series="NAME"` belongs to one of them. Empty if there is only one.
    pub series: Vec<String>,
    /// An element `<svg class="chart">` to be put into a page that has [`STYLE`].
    pub svg: String,
    /// What it shows, in a sentence or two, for who cannot see it.
    pub told: String,
    /// How high it is, in pixels.
    pub height: u32,
}

impl Chart {
    /// The class of the colour of a series: of an owner of time always the same, of others by their place.
    pub fn class(&self, place: usize) -> String {
        match self.series.get(place) {
            Some(owner) if self.subject == Subject::Time => stacks::class(owner).to_owned(),
            _ => colour(place),
        }
    }
}

/// The style sheet that charts need: variables of colours, light and dark, and classes.
pub const STYLE: &str = include_str!("style.css");

/// The narrowest place that a chart is made for, in pixels: a telephone of 320 with a margin on both sides.
pub const NARROW: f64 = 264.0;

/// The charts of a document are not larger than this: half of what a page may have.
pub const MOST_BYTES: usize = 150_000;

/// Charts of a document, in the order of [`Subject`].
pub fn charts(document: &Document) -> Vec<Chart> {
    let subjects = [
        rates::charts,
        ratios::charts,
        over_time::charts,
        latencies::charts,
        together::charts,
        stacks::charts,
        sweep::charts,
        published::charts,
    ];
    budget::within(subjects.into_iter().flat_map(|charts| charts(document)).collect())
}

/// Several runs, which are the targets of this document: their rates in one chart.
pub(crate) fn runs(document: &Document) -> Option<Chart> {
    history::chart(document)
}

/// Tests over all stored runs, in one chart unless they are more than there are colours.
pub fn past(history: &History) -> Vec<Chart> {
    past::charts(history)
}

/// Cells of the tables of 1983: what was printed beside what is simulated. A chart for each table and file system.
pub fn paper(cells: &[Comparison]) -> Vec<Chart> {
    published::tables(cells)
}
