//! Texts of charts about a cell, and the order of targets in charts.

use std::collections::BTreeMap;

use stats::digits::significant;
use stats::figures::rate::RUNS;
use stats::figures::summary::rate_of;
use stats::{Cell, Document, Mark, MarkCode, Provenance, Rate};

use super::labels::listed;
use crate::cell_names::different;
use crate::rate_format::{figure_of, in_unit_of, supported_digits, time_each};
use crate::sanitize;

/// The most figures in the description of a chart, for readers who cannot see it; the table has the others.
pub(super) const TOLD: usize = 6;

/// The number of colours in [`super::STYLE`]. Further series use them again from the first.
const COLOURS: usize = 6;

/// The series of a chart: the targets of a document in the order of the run, then all other targets that have cells.
pub(super) struct Names<'a> {
    names: Vec<&'a str>,
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    /// Collects the targets that ran alone, and the published ones if `with_published` is set.
    pub(super) fn from_document(document: &'a Document, with_published: bool) -> Names<'a> {
        let own = document.run.targets.iter().map(|target| target.name.as_str());
        let alone = document
            .cells
            .iter()
            .filter(|cell| !cell.together && (with_published || cell.provenance != Provenance::Published));
        let names = different(own.chain(alone.map(|cell| cell.target.as_str())));
        let places = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        Names { names, places }
    }

    /// Returns the CSS class of a target's colour. Several targets at once have no colour of a target.
    pub(super) fn class(&self, name: &str) -> String {
        self.places.get(name).map_or_else(|| "all".to_owned(), |place| class(*place))
    }

    /// Returns the name of a target as a series. Empty if there is only one target, or if `name` means several.
    pub(super) fn series(&self, name: &str) -> String {
        let is_one_of_many = self.names.len() > 1 && self.places.contains_key(name);
        if is_one_of_many { sanitize::line(name).into_owned() } else { String::new() }
    }

    /// Returns all names as series; none if there is only one.
    pub(super) fn all(&self) -> Vec<String> {
        self.names.iter().map(|name| self.series(name)).filter(|name| !name.is_empty()).collect()
    }

    /// Returns all names.
    pub(super) fn each(&self) -> &[&'a str] {
        &self.names
    }
}

/// Returns the CSS class of a colour.
pub(crate) fn class(place: usize) -> String {
    format!("s{}", place % COLOURS)
}

/// The rate of a cell, or the range of its rounds: `704 MiB/s*`, `n.m.`
pub(super) fn describe_rate(cell: &Cell) -> String {
    figure_of(cell).map_or_else(|| "n.m.".to_owned(), |figure| figure + star(cell))
}

/// Returns the star of a suspect figure; empty if it is not suspect.
pub(super) fn star(cell: &Cell) -> &'static str {
    if cell.is_suspect() { "*" } else { "" }
}

/// The tooltip of a cell: `write_8192 on ext4: 704 MiB/s (621 to 787, 95 %), 5 rounds; noise: other programs took 38 %
/// of the CPU`
pub(super) fn tip(cell: &Cell, name: &str) -> String {
    let mut tip = format!("{name} on {}: {}", cell.target, describe_rate(cell));
    if let Some(rate) = &cell.rate {
        if let Some(ends) = ends(rate) {
            tip += &format!(" ({ends}, {:.0} %)", 100.0 * rate.confidence);
        }
        tip += &format!(", {} round{}", rate.rounds, if rate.rounds == 1 { "" } else { "s" });
    }
    if let Some(reason) = &cell.reason {
        tip += &format!(" ({reason})");
    }
    tip + &marks(cell)
}

/// The warnings of a cell: `; noise: other programs took 38 % of the CPU`
pub(super) fn marks(cell: &Cell) -> String {
    let said = |Mark { code, text, .. }: &Mark| format!("; {}: {text}", code.name());
    cell.marks.iter().filter(|mark| mark.code != MarkCode::Nested).map(said).collect()
}

/// `621 to 787`; for runs of a command `12 to 37 ms`, the shortest first.
fn ends(rate: &Rate) -> Option<String> {
    let digits = supported_digits(rate);
    let (low, high) = interval(rate)?;
    if rate.unit != RUNS {
        return Some(format!("{} to {}", significant(low, digits), significant(high, digits)));
    }
    let shortest = time_each(rate.high?, digits);
    let longest = match rate.low? {
        low if low > 0.0 => time_each(low, digits),
        _ => return Some(format!("{shortest} and longer")),
    };
    let unit = longest.rsplit(' ').next().unwrap_or_default();
    Some(format!("{} to {longest}", shortest.strip_suffix(&format!(" {unit}")).unwrap_or(&shortest)))
}

/// The values of a bar: its length, its interval, and the rounds that it is the mean of.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) value: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) dots: Vec<f64>,
}

/// Returns the values to draw for a cell. Runs of a command are drawn as seconds per run, as in the text: the fastest
/// round is the shortest bar.
pub(super) fn drawn(cell: &Cell) -> Drawn {
    let Some(rate) = &cell.rate else { return Drawn::default() };
    if rate.unit != RUNS {
        return Drawn { value: Some(rate.value), interval: interval(rate), dots: rounds(cell) };
    }
    let turned = |per_second: f64| if per_second > 0.0 { 1.0 / per_second } else { f64::INFINITY };
    Drawn {
        value: Some(turned(rate.per_second)),
        interval: rate.high.zip(rate.low).map(|(high, low)| (turned(high), turned(low))),
        dots: rounds(cell).into_iter().map(|value| turned(value * rate.per_second / rate.value)).collect(),
    }
}

/// Returns the interval in the unit of the rate.
pub(super) fn interval(rate: &Rate) -> Option<(f64, f64)> {
    Some((in_unit_of(rate, rate.low?), in_unit_of(rate, rate.high?)))
}

/// Returns the rate of every round that counts, in the unit of the rate.
fn rounds(cell: &Cell) -> Vec<f64> {
    let Some(rate) = &cell.rate else { return Vec::new() };
    let of_round = |round| rate_of(cell, round, rate.base);
    cell.kept().filter_map(of_round).map(|per_second| in_unit_of(rate, per_second)).collect()
}

/// Returns a note if a chart shows only `most` of `all` items.
pub(super) fn left_out(all: usize, most: usize) -> String {
    match all.saturating_sub(most) {
        0 => String::new(),
        more => format!(" (the first {most}; {more} more in the table)"),
    }
}

/// Returns a sentence with the first [`TOLD`] figures.
pub(super) fn describe_figures(what: &str, figures: &[String]) -> String {
    format!("{what}: {}.", listed(figures, TOLD, "; "))
}
