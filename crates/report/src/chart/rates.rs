//! How fast each program was: a chart for each unit, a bar for each target.

use std::collections::BTreeSet;

use stats::{Cell, Document, Provenance};

use super::bars::{self, Bar, Group};
use super::figures::{self, Names};
use super::frame::{BASE, Frame, LINE};
use super::svg::{Along, Anchor};
use super::words::{lines, listed, shared};
use super::{Chart, NARROW, Subject, scale, sweep, together};
use crate::numbers::RUNS;
use crate::{plain, rows};

/// The most bars of a chart: `quick` on three targets has 39. What there is beyond that stands in the table.
pub(super) const MOST_BARS: usize = 40;

/// Between the labels of an axis and words below it.
const ABOVE_WORDS: f64 = 6.0;

/// A chart for each unit, of the cells that no other chart shows.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let names = Names::of(document, false);
    let is_shown = |cell: &&Cell| {
        cell.provenance != Provenance::Published && !sweep::shows(document, cell) && !together::shows(document, cell)
    };
    let cells: Vec<&Cell> = document.cells.iter().filter(is_shown).collect();
    let mut units: Vec<&str> = Vec::new();
    for unit in cells.iter().filter_map(|cell| Some(cell.rate.as_ref()?.unit.as_str())) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let of_unit = |unit: &&str| -> Vec<&Cell> {
        cells.iter().copied().filter(|cell| self::unit(&cells, cell) == Some(*unit)).collect()
    };
    let last = units.last().copied();
    let without: Vec<&Cell> = cells.iter().copied().filter(|cell| unit(&cells, cell).is_none()).collect();
    let without = |unit: &str| if last == Some(unit) { &without[..] } else { &[] };
    units.iter().map(|unit| chart(document, &names, unit, &of_unit(unit), without(unit))).collect()
}

/// The unit of a cell. What was not measured has that of its phase, or that of another phase of its program; or none.
fn unit<'a>(cells: &[&'a Cell], cell: &'a Cell) -> Option<&'a str> {
    fn own(cell: &Cell) -> Option<&str> {
        Some(cell.rate.as_ref()?.unit.as_str())
    }
    let same = |other: &&&Cell| other.program == cell.program;
    let same_phase = cells.iter().filter(same).filter(|other| other.phase == cell.phase).find_map(|other| own(other));
    own(cell).or(same_phase).or_else(|| cells.iter().filter(same).find_map(|other| own(other)))
}

/// What was measured comes first; what has no unit stands below it in words, each program once.
fn chart(document: &Document, names: &Names, unit: &str, cells: &[&Cell], without_unit: &[&Cell]) -> Chart {
    let mut groups: Vec<Group> = Vec::new();
    let mut ordered: Vec<(String, &Cell)> =
        cells.iter().map(|cell| (rows::name(cell, &document.cells), *cell)).collect();
    let measured: BTreeSet<String> =
        ordered.iter().filter(|(_, cell)| cell.rate.is_some()).map(|(name, _)| name.clone()).collect();
    ordered.sort_by_key(|(name, _)| !measured.contains(name));
    for (name, cell) in ordered.into_iter().take(MOST_BARS) {
        let bar = bar(names, cell, &name);
        match groups.iter_mut().find(|group| group.heading == name) {
            Some(group) => group.bars.push(bar),
            None => groups.push(Group { heading: name, bars: vec![bar] }),
        }
    }
    let shared = shared(groups.iter_mut().map(|group| &mut group.heading));
    let of_group = |group: &Group| {
        let figures = group.bars.iter().map(|bar| format!("{} {}", bar.label, bar.said).trim_start().to_owned());
        format!("{} {}", group.heading, figures.collect::<Vec<_>>().join(", "))
    };
    let mut figures: Vec<String> = groups.iter().map(of_group).collect();
    let is_time = unit == RUNS;
    let (mut svg, mut height) = bars::draw(&groups, if is_time { scale::seconds } else { scale::number });
    let title = if is_time { "Time of a run, shorter is faster".to_owned() } else { format!("Rate in {unit}") };
    let mut missing: Vec<String> = without_unit.iter().map(|cell| rows::name(cell, &document.cells)).collect();
    let mut seen = BTreeSet::new();
    missing.retain(|name| seen.insert(name.clone()));
    if !missing.is_empty() {
        let words = format!("n.m.: {}", listed(&missing, MOST_BARS, ", "));
        height += ABOVE_WORDS;
        for line in lines(&plain::line(&words), NARROW) {
            svg.text("label", Along::Share(0.0), height + BASE, Anchor::Start, &line);
            height += LINE;
        }
        figures.push(words);
    }
    let frame = Frame {
        subject: Subject::Rates,
        title: title + &shared + &figures::left_out(cells.len(), MOST_BARS),
        series: names.all(),
        told: figures::told("Bars with 95 % intervals", &figures),
    };
    frame.plain(svg, height)
}

fn bar(names: &Names, cell: &Cell, name: &str) -> Bar {
    Bar {
        class: names.class(&cell.target),
        series: names.series(&cell.target),
        label: if names.each().len() > 1 { cell.target.clone() } else { String::new() },
        said: figures::said(cell),
        tip: figures::tip(cell, name),
        drawn: figures::drawn(cell),
    }
}
