//! Published figures next to our own: for the documents of runs, and for the tables of 1983 with the simulated
//! machines.

use std::collections::BTreeMap;

use stats::compare::replication::Comparison;
use stats::digits::significant;
use stats::{Cell, Document, Provenance, Rate};

use super::bars::{self, Bar, Group};
use super::cell_text::{self, Names, class};
use super::frame::{AXIS, Frame, Heading, LINE, both_sides, x_axis};
use super::labels::Anchor;
use super::scale::{self, Scale};
use super::svg::{Along, Path, Shape, Svg};
use super::sweep::Swept;
use super::{Chart, NARROW, Subject};
use crate::cell_names::{CellNames, grouped};
use crate::rate_format::in_unit_of;

/// Returns a chart for each unit of the published figures, with the run's own cells of the same program and phase.
/// Published figures of a sweep are in its curves instead.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let swept = Swept::from_document(document);
    let is_published = |cell: &&Cell| cell.provenance == Provenance::Published && !swept.shows(cell);
    let mut own: BTreeMap<(&str, &str), Vec<&Cell>> = BTreeMap::new();
    for cell in document.cells.iter().filter(|cell| cell.provenance != Provenance::Published) {
        own.entry((&cell.program, &cell.phase)).or_default().push(cell);
    }
    let (names, cell_names) = (Names::from_document(document, true), CellNames::from_cells(&document.cells));
    let mut panels: Vec<(&Rate, Vec<(String, &Cell)>)> = Vec::new();
    for cell in document.cells.iter().filter(is_published) {
        let Some(rate) = &cell.rate else { continue };
        // There are only three bases, so a linear search is enough.
        let place = match panels.iter().position(|(other, _)| other.base == rate.base) {
            Some(place) => place,
            None => {
                panels.push((rate, Vec::new()));
                panels.len() - 1
            }
        };
        panels[place].1.push((cell_names.name(cell), cell));
    }
    // The run's own cells follow the first publication of the same name.
    let group = |rate: &Rate, (heading, published): (String, Vec<&Cell>)| {
        let beside = published.first().and_then(|cell| own.get(&(&*cell.program, &*cell.phase)));
        let (first, others) = published.split_at(1);
        let cells = first.iter().chain(beside.into_iter().flatten()).chain(others);
        Group { heading, bars: cells.map(|cell| bar(&names, cell, rate)).collect() }
    };
    let chart = |(rate, published): (&Rate, Vec<(String, &Cell)>)| {
        let said = |(heading, cell): &(String, &Cell)| {
            format!("{heading} in {} {}", cell.target, cell_text::describe_rate(cell))
        };
        let told: Vec<String> = published.iter().map(said).collect();
        let groups: Vec<Group> = grouped(published).into_iter().map(|named| group(rate, named)).collect();
        let (svg, height) = bars::draw(&groups, scale::number);
        let frame = Frame {
            subject: Subject::Paper,
            title: format!("Published figures and this run, in {}", rate.unit),
            series: names.all(),
            told: cell_text::describe_figures("Published figures", &told),
        };
        frame.rows(svg, height)
    };
    panels.into_iter().map(chart).collect()
}

/// Returns the bar of a cell, converted to the unit of another rate.
fn bar(names: &Names, cell: &Cell, unit: &Rate) -> Bar {
    let turned = cell.rate.as_ref().map(|rate| {
        let turn = |per_second: f64| in_unit_of(unit, per_second);
        Rate { value: turn(rate.per_second), unit: unit.unit.clone(), ..rate.clone() }
    });
    let cell = Cell { rate: turned, rounds: Vec::new(), ..cell.clone() };
    Bar {
        class: names.class(&cell.target),
        series: names.series(&cell.target),
        label: cell.target.clone(),
        said: cell_text::describe_rate(&cell),
        tip: cell_text::tip(&cell, &cell.program),
        drawn: cell_text::drawn(&cell),
    }
}

/// The height of the strip for a pair of figures, in pixels.
const STRIP: f64 = 14.0;
/// From a configuration to the next, in pixels.
const BETWEEN: f64 = 6.0;
/// The height of the legend of shapes, in pixels.
const KEY: f64 = 22.0;

/// Returns a chart for each table and file system of 1983. Each line has a printed figure and the simulated one.
pub(super) fn tables(cells: &[Comparison]) -> Vec<Chart> {
    let tables = grouped(cells.iter().map(|cell| ((&*cell.table, &*cell.file_system), cell)));
    tables.iter().map(|((table, file_system), cells)| table_chart(table, file_system, cells)).collect()
}

fn table_chart(table: &str, file_system: &str, cells: &[&Comparison]) -> Chart {
    let rows = grouped(cells.iter().map(|cell| (&*cell.configuration, *cell)));
    let printed = |cell: &Comparison| cell.published.kbytes_per_sec.map(f64::from);
    let ends = cells.iter().flat_map(|cell| [Some(cell.simulated.kbytes_per_sec), printed(cell)]).flatten();
    let scale = Scale::linear(ends);
    let foot = KEY
        + rows
            .iter()
            .map(|(name, cells)| Heading::from_name(name).height() + BETWEEN + cells.len() as f64 * (LINE + STRIP))
            .sum::<f64>();
    let mut svg = Svg::default();
    let keys = [("printed", Shape::Circle { hollow: true }), ("simulated", Shape::Diamond)];
    for (place, (name, shape)) in keys.into_iter().enumerate() {
        let x = 6.0 + 90.0 * place as f64;
        svg.open_series(&class(place), "", "");
        svg.shape("", shape, Along::Pixels(x), 8.0, "");
        svg.text("tick", Along::Pixels(x + 9.0), 12.0, Anchor::Start, name);
        svg.close("g");
    }
    let labels = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), scale::number(tick)));
    x_axis(&mut svg, labels, NARROW, KEY, foot);
    let mut told: Vec<String> = Vec::new();
    let mut y = KEY;
    for (configuration, cells) in &rows {
        let heading = Heading::from_name(configuration);
        heading.draw(&mut svg, y);
        y += heading.height();
        for cell in cells {
            let drives = if cell.drives == 1 { "1 drive".to_owned() } else { format!("{} drives", cell.drives) };
            let star = if cell.published.suspect { "*" } else { "" };
            let figure = printed(cell).map_or_else(|| "n.m.".to_owned(), |rate| format!("{rate}{star}"));
            let simulated = significant(cell.simulated.kbytes_per_sec, 3);
            let said = format!("{figure} | {simulated}");
            let label = format!("{}, {drives}", cell.test);
            let error = cell.error_percent.map_or_else(String::new, |error| format!(", {error:+.1} %"));
            let tip = format!("{configuration}, {label}: printed {figure}, simulated {simulated}{error}");
            told.push(tip.clone());
            svg.open_series("", "", &tip);
            both_sides(&mut svg, y, &label, &said);
            y += LINE;
            pair(&mut svg, &scale, printed(cell), cell.simulated.kbytes_per_sec, y);
            svg.close("g");
            y += STRIP;
        }
        y += BETWEEN;
    }
    let frame = Frame {
        subject: Subject::Paper,
        title: format!("{table}, {file_system}: printed and simulated Kbytes/sec"),
        series: Vec::new(),
        told: cell_text::describe_figures("Printed and simulated figures", &told),
    };
    frame.rows(svg, foot + AXIS)
}

/// Draws both figures on one line, joined.
fn pair(svg: &mut Svg, scale: &Scale, printed: Option<f64>, simulated: f64, y: f64) {
    let middle = STRIP / 2.0;
    let line =
        printed.map(|printed| Path::default().to(scale.share(printed), middle).line(scale.share(simulated), middle));
    svg.stretched(
        y,
        STRIP,
        &[("track", Path::default().to(0.0, middle).line(1.0, middle)), ("interval", line.unwrap_or_default())],
    );
    let found = [(printed, Shape::Circle { hollow: true }), (Some(simulated), Shape::Diamond)];
    for (place, (value, shape)) in found.into_iter().enumerate() {
        if let Some(value) = value {
            svg.shape(&class(place), shape, Along::Share(scale.share(value)), y + middle, "");
        }
    }
}
