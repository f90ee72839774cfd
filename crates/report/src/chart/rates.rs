//! The rate of each program: a chart for each unit, a bar for each target.

use std::collections::{BTreeMap, BTreeSet};

use stats::figures::rate::RUNS;
use stats::{Cell, Document, Provenance};

use super::bars::{self, Bar, Group};
use super::cell_text::{self, Names};
use super::concurrent::Alone;
use super::frame::{BASE, Frame, LINE};
use super::labels::Anchor;
use super::labels::{lines, listed, shared};
use super::svg::Along;
use super::sweep::Swept;
use super::{Chart, NARROW, Subject, scale};
use crate::cell_names::{CellNames, different, grouped};
use crate::sanitize;

/// The most bars of a chart: `quick` on three targets has 39. The table has the rest.
pub(super) const MOST_BARS: usize = 40;

/// From the labels of an axis to the text below it, in pixels.
const ABOVE_WORDS: f64 = 6.0;

/// Returns a chart for each unit, with the cells that no other chart shows.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let names = Names::from_document(document, false);
    let (swept, together) = (Swept::from_document(document), Alone::from_document(document));
    let is_shown =
        |cell: &&Cell| cell.provenance != Provenance::Published && !swept.shows(cell) && !together.shows(cell);
    let cells: Vec<&Cell> = document.cells.iter().filter(is_shown).collect();
    let units = different(cells.iter().filter_map(|cell| own_unit(cell)));
    let of_cells = Units::from_cells(&cells);
    let mut of_units: BTreeMap<Option<&str>, Vec<&Cell>> =
        grouped(cells.iter().map(|cell| (of_cells.unit(cell), *cell))).into_iter().collect();
    let cell_names = CellNames::from_cells(&document.cells);
    let last = units.last().copied();
    let of_unit = |unit| {
        let without_unit = if last == Some(unit) { of_units.remove(&None) } else { None };
        let cells = of_units.remove(&Some(unit)).unwrap_or_default();
        chart((&names, &cell_names), unit, &cells, &without_unit.unwrap_or_default())
    };
    units.into_iter().map(of_unit).collect()
}

fn own_unit(cell: &Cell) -> Option<&str> {
    Some(cell.rate.as_ref()?.unit.as_str())
}

/// The units of programs and of their phases: the unit of the first measured cell.
struct Units<'a> {
    of_phase: BTreeMap<(&'a str, &'a str), &'a str>,
    of_program: BTreeMap<&'a str, &'a str>,
}

impl<'a> Units<'a> {
    fn from_cells(cells: &[&'a Cell]) -> Units<'a> {
        let mut units = Units { of_phase: BTreeMap::new(), of_program: BTreeMap::new() };
        for (cell, unit) in cells.iter().filter_map(|cell| Some((*cell, own_unit(cell)?))) {
            units.of_phase.entry((&cell.program, &cell.phase)).or_insert(unit);
            units.of_program.entry(&cell.program).or_insert(unit);
        }
        units
    }

    /// Returns the unit of a cell. A cell without a rate gets the unit of its phase, or of another phase of its
    /// program, or none.
    fn unit(&self, cell: &'a Cell) -> Option<&'a str> {
        let of_phase = || self.of_phase.get(&(&*cell.program, &*cell.phase)).copied();
        own_unit(cell).or_else(of_phase).or_else(|| self.of_program.get(cell.program.as_str()).copied())
    }
}

/// Returns the chart of a unit. Measured programs come first; programs without a unit are listed below it in words,
/// each once.
fn chart((names, cell_names): (&Names, &CellNames), unit: &str, cells: &[&Cell], without_unit: &[&Cell]) -> Chart {
    let mut ordered: Vec<(String, &Cell)> = cells.iter().map(|cell| (cell_names.name(cell), *cell)).collect();
    let measured: BTreeSet<String> =
        ordered.iter().filter(|(_, cell)| cell.rate.is_some()).map(|(name, _)| name.clone()).collect();
    ordered.sort_by_key(|(name, _)| !measured.contains(name));
    let bars = ordered.into_iter().take(MOST_BARS).map(|(name, cell)| {
        let bar = bar(names, cell, &name);
        (name, bar)
    });
    let mut groups: Vec<Group> = grouped(bars).into_iter().map(|(heading, bars)| Group { heading, bars }).collect();
    let shared = shared(groups.iter_mut().map(|group| &mut group.heading));
    let of_group = |group: &Group| {
        let figures = group.bars.iter().map(|bar| format!("{} {}", bar.label, bar.said).trim_start().to_owned());
        format!("{} {}", group.heading, figures.collect::<Vec<_>>().join(", "))
    };
    let mut figures: Vec<String> = groups.iter().map(of_group).collect();
    let is_time = unit == RUNS;
    let (mut svg, mut height) = bars::draw(&groups, if is_time { scale::seconds } else { scale::number });
    let title = if is_time { "Time of a run, shorter is faster".to_owned() } else { format!("Rate in {unit}") };
    let missing = different(without_unit.iter().map(|cell| cell_names.name(cell)));
    if !missing.is_empty() {
        let words = format!("n.m.: {}", listed(&missing, MOST_BARS, ", "));
        height += ABOVE_WORDS;
        for line in lines(&sanitize::line(&words), NARROW) {
            svg.text("note", Along::Share(0.0), height + BASE, Anchor::Start, &line);
            height += LINE;
        }
        figures.push(words);
    }
    let frame = Frame {
        subject: Subject::Rates,
        title: title + &shared + &cell_text::left_out(cells.len(), MOST_BARS),
        series: names.all(),
        told: cell_text::describe_figures("Bars with 95 % intervals", &figures),
    };
    frame.rows(svg, height)
}

fn bar(names: &Names, cell: &Cell, name: &str) -> Bar {
    Bar {
        class: names.class(&cell.target),
        series: names.series(&cell.target),
        label: if names.each().len() > 1 { cell.target.clone() } else { String::new() },
        said: cell_text::describe_rate(cell),
        tip: cell_text::tip(cell, name),
        drawn: cell_text::drawn(cell),
    }
}
