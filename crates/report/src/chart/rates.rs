//! How fast each program was: a chart for each unit, a bar for each target.

use stats::{Cell, Document, Provenance};

use super::bars::{self, Bar, Group};
use super::figures::{self, Names};
use super::frame::Frame;
use super::{Chart, Subject, sweep, together};
use crate::rows;

/// The most bars of a chart. What a sweep of a simulated machine has beyond that stands in the table.
pub(super) const MOST_BARS: usize = 60;

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
    units.iter().map(|unit| chart(document, &names, unit, &of_unit(&cells, &units, unit))).collect()
}

/// The cells of a unit. What was not measured has none: it stands with those of its program, or with the first.
fn of_unit<'a>(cells: &[&'a Cell], units: &[&str], unit: &str) -> Vec<&'a Cell> {
    let own = |cell: &Cell| cell.rate.as_ref().map(|rate| rate.unit.clone());
    let its = |cell: &Cell| {
        let same = |other: &&&Cell| other.program == cell.program && other.phase == cell.phase;
        own(cell).or_else(|| cells.iter().filter(same).find_map(|other| own(other)))
    };
    let is_first = units.first() == Some(&unit);
    cells.iter().copied().filter(|cell| its(cell).map_or(is_first, |its| its == unit)).collect()
}

fn chart(document: &Document, names: &Names, unit: &str, cells: &[&Cell]) -> Chart {
    let mut groups: Vec<Group> = Vec::new();
    for cell in cells.iter().take(MOST_BARS) {
        let name = rows::name(cell, &document.cells);
        let bar = bar(names, cell, &name);
        match groups.iter_mut().find(|group| group.heading == name) {
            Some(group) => group.bars.push(bar),
            None => groups.push(Group { heading: name, bars: vec![bar] }),
        }
    }
    let of_group = |group: &Group| {
        let figures = group.bars.iter().map(|bar| format!("{} {}", bar.label, bar.said).trim_start().to_owned());
        format!("{} {}", group.heading, figures.collect::<Vec<_>>().join(", "))
    };
    let figures: Vec<String> = groups.iter().map(of_group).collect();
    let (svg, height) = bars::draw(&groups);
    let frame = Frame {
        subject: Subject::Rates,
        title: format!("Rate in {unit}{}", figures::left_out(cells.len(), MOST_BARS)),
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
        value: cell.rate.as_ref().map(|rate| rate.value),
        interval: cell.rate.as_ref().and_then(figures::interval),
        dots: figures::rounds(cell),
    }
}
