//! Rates of programs that run at the same time, next to the rate of each alone: the sum without shared resources, the
//! part of it that the CPUs allow, and the measured rate.

use std::collections::BTreeMap;

use stats::digits::significant;
use stats::inference::two_drive_bounds::{self, Bounds, Solo};
use stats::{Cell, Document, ParameterValue};

use super::cell_text::{self, class};
use super::frame::{AXIS, Frame, Heading, LINE, x_axis};
use super::labels::Anchor;
use super::labels::{fitted, shared, width};
use super::scale::{self, Scale};
use super::svg::{Along, Path, Svg};
use super::{Chart, NARROW, Subject};
use crate::cell_names::{CellNames, grouped};
use crate::rate_format::{supported, supported_digits};

/// The height of a bar, in pixels.
const HIGH: f64 = 11.0;
/// From a bar to the next text, in pixels.
const GAP: f64 = 5.0;
/// The height of a program below its name: the reason, and the bars of each alone and of all at once, each under its
/// words. In pixels.
const ROW: f64 = LINE + 2.0 * (LINE + HIGH + GAP) + 8.0;

/// A program that ran alone on each target, and on all targets at once.
struct Both<'a> {
    together: &'a Cell,
    alone: Vec<&'a Cell>,
    bounds: Bounds,
}

/// The identity of a program on any target: its names, its settings, and the unit of its rate.
type Identity<'a> = ([&'a str; 5], Vec<(&'a String, &'a ParameterValue)>);

/// The programs of a document that ran alone.
pub(super) struct Alone<'a> {
    document: &'a Document,
    cells: BTreeMap<Identity<'a>, Vec<&'a Cell>>,
}

impl<'a> Alone<'a> {
    /// Collects these programs from a document.
    pub(super) fn from_document(document: &'a Document) -> Alone<'a> {
        let mut cells: BTreeMap<Identity, Vec<&Cell>> = BTreeMap::new();
        // No index is built if no programs ran at the same time.
        if document.cells.iter().any(|cell| cell.together) {
            for cell in document.cells.iter().filter(|cell| !cell.together) {
                if let Some(identity) = identity(cell) {
                    cells.entry(identity).or_default().push(cell);
                }
            }
        }
        Alone { document, cells }
    }

    /// True if this chart shows the cell, so that no other chart needs to: cells of programs that ran at once.
    pub(super) fn shows(&self, cell: &Cell) -> bool {
        Both::from_cell(self, cell).is_some()
    }
}

/// Returns the identity of a cell's program; `None` if the cell has no rate.
fn identity(cell: &Cell) -> Option<Identity<'_>> {
    let unit = &cell.rate.as_ref()?.unit;
    Some(([&cell.program, &cell.phase, &cell.preset, cell.provenance.name(), unit], settings(cell).collect()))
}

impl<'a> Both<'a> {
    fn from_cell(every: &Alone<'a>, together: &'a Cell) -> Option<Both<'a>> {
        if !together.together {
            return None;
        }
        let found = every.cells.get(&identity(together)?)?;
        // The drives of a simulated machine are equal, so one of them represents all.
        let alone = match (&found[..], together.targets as usize) {
            (all, targets) if all.len() == targets => found.clone(),
            ([one], targets @ 2..=MOST) => vec![*one; targets],
            _ => return None,
        };
        let solo = |cell: &&Cell| {
            let cpu_percent = cell.cpu_percent.map(|cpu| cpu.process);
            Some(Solo { rate: cell.rate.as_ref()?.value, cpu_percent })
        };
        let solos: Vec<Solo> = alone.iter().map(solo).collect::<Option<_>>()?;
        let processors = if together.is_simulated() { 1.0 } else { every.document.run.cpus as f64 };
        Some(Both { together, alone, bounds: two_drive_bounds::bounds(&solos, processors) })
    }
}

/// The most programs of a chart; the table has the rest of a sweep.
const MOST_PROGRAMS: usize = 30;

/// The most drives. No run has more; a document may contain any number.
const MOST: usize = 64;

/// Returns the settings that identify a program, without the number of drives and the file system on them.
fn settings(cell: &Cell) -> impl Iterator<Item = (&String, &stats::ParameterValue)> {
    let is_simulated = cell.is_simulated();
    cell.parameters.iter().filter(move |(key, _)| *key != "drives" && (is_simulated || *key != "file_system"))
}

/// Returns a chart for each unit.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let alone = Alone::from_document(document);
    let all: Vec<Both> = document.cells.iter().filter_map(|cell| Both::from_cell(&alone, cell)).collect();
    let of_units = grouped(all.iter().map(|both| (unit(both.together), both)));
    of_units.iter().map(|(unit, own)| chart(document, unit, own)).collect()
}

fn unit(cell: &Cell) -> &str {
    cell.rate.as_ref().map_or("", |rate| rate.unit.as_str())
}

fn chart(document: &Document, unit: &str, every: &[&Both]) -> Chart {
    let all = &every[..every.len().min(MOST_PROGRAMS)];
    let value = |cell: &Cell| cell.rate.as_ref().map_or(0.0, |rate| rate.value);
    let high = |cell: &Cell| cell.rate.as_ref().and_then(cell_text::interval).map_or(0.0, |(_, high)| high);
    let ends = all.iter().flat_map(|both| [both.bounds.free, value(both.together), high(both.together)]);
    let scale = Scale::linear(ends);
    let names = CellNames::from_cells(&document.cells);
    let mut headings: Vec<String> = all.iter().map(|both| names.name(both.together)).collect();
    let shared = shared(&mut headings);
    let foot = headings.iter().map(|name| Heading::from_name(name).height() + ROW).sum::<f64>();
    let mut svg = Svg::default();
    let labels = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), scale::number(tick)));
    x_axis(&mut svg, labels, NARROW, 0.0, foot);
    let mut figures: Vec<String> = Vec::new();
    let mut y = 0.0;
    for (both, name) in all.iter().zip(&headings) {
        let measured = value(both.together);
        let limit = two_drive_bounds::explain(both.bounds, measured).name();
        let digits = both.together.rate.as_ref().map_or(3, supported_digits);
        let cpu = both.bounds.cpu.filter(|cpu| *cpu < both.bounds.free);
        let allowed = cpu.map_or_else(String::new, |cpu| format!(", the CPU allows {}", significant(cpu, 3)));
        let own = |cell: &Cell| cell.rate.as_ref().map_or_else(String::new, supported) + cell_text::star(cell);
        let parts: Vec<String> = both.alone.iter().map(|cell| own(cell)).collect();
        let digits_of = |cell: &&Cell| cell.rate.as_ref().map_or(3, supported_digits);
        let digits_of_all = both.alone.iter().map(digits_of).min().unwrap_or(3);
        let star = both.alone.iter().map(|cell| cell_text::star(cell)).max().unwrap_or_default();
        let whole = significant(both.bounds.free, digits_of_all) + star;
        let in_parts = format!("alone: {} = {whole}", parts.join(" + "));
        let sum = if width(&in_parts) <= NARROW { in_parts } else { format!("alone, summed: {whole}") };
        let all_at_once = format!("together: {}{}", significant(measured, digits), cell_text::star(both.together));
        figures.push(format!("{name} {sum}{allowed}, {all_at_once}, limited by: {limit}"));

        let heading = Heading::from_name(name);
        heading.draw(&mut svg, y);
        y += heading.height();
        let because = match limit {
            "nothing shared" => shared.to_owned(),
            shared => format!("shared: {shared}"),
        };
        svg.text("label", Along::Share(0.0), y + 12.0, Anchor::Start, &fitted(&because, NARROW));
        let mut at = y + LINE;
        svg.text("said", Along::Share(0.0), at + 12.0, Anchor::Start, &sum);
        at += LINE;
        let mut from = 0.0;
        for (place, cell) in both.alone.iter().enumerate() {
            let to = from + value(cell);
            svg.open_series(&class(place), "", &cell_text::tip(cell, name));
            svg.rect("bar part", scale.share(from), scale.share(to), at, HIGH, "");
            whisker(&mut svg, &scale, cell, from, at);
            svg.close("g");
            from = to;
        }
        at += HIGH + GAP;
        svg.open_series("all", "", &format!("{}{allowed}", cell_text::tip(both.together, name)));
        svg.text("said", Along::Share(0.0), at + 12.0, Anchor::Start, &all_at_once);
        if let Some(cpu) = cpu {
            let words = format!("CPU allows {}", significant(cpu, 3));
            if width(&all_at_once) + width(&words) + 12.0 <= NARROW {
                svg.text("label", Along::Share(1.0), at + 12.0, Anchor::End, &words);
            }
        }
        at += LINE;
        svg.rect("bar", 0.0, scale.share(measured), at, HIGH, "");
        whisker(&mut svg, &scale, both.together, 0.0, at);
        if let Some(cpu) = cpu {
            svg.upright("bound", scale.share(cpu), at - 3.0, at + HIGH + 3.0);
        }
        svg.close("g");
        y += ROW;
    }
    let frame = Frame {
        subject: Subject::Together,
        title: format!("Alone and together, in {unit}{shared}{}", cell_text::left_out(every.len(), MOST_PROGRAMS)),
        series: Vec::new(),
        told: cell_text::describe_figures("Rates alone and together", &figures),
    };
    frame.plain(svg, foot + AXIS)
}

/// Draws the interval of a cell whose bar begins at `from`.
fn whisker(svg: &mut Svg, scale: &Scale, cell: &Cell, from: f64, y: f64) {
    let Some((low, high)) = cell.rate.as_ref().and_then(cell_text::interval) else { return };
    let (low, high) = (scale.share(from + low), scale.share(from + high));
    let line = Path::default().to(low, HIGH / 2.0).line(high, HIGH / 2.0);
    let ends = line.to(low, 2.0).line(low, HIGH - 2.0).to(high, 2.0).line(high, HIGH - 2.0);
    svg.stretched(y, HIGH, &[("whisker", ends)]);
}
