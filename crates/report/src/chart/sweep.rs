//! Seconds over the size of a buffer, both on logarithmic axes: the tables of *The Linux Programming Interface*,
//! chapter 13, as curves. The slope on the left is the cost of a call, the level on the right the cost of the bytes.

use std::collections::{BTreeMap, BTreeSet};

use stats::digits::significant;
use stats::figures::execution_times::ExecutionTimes;
use stats::{Cell, Document};

use super::cell_text::{self, class};
use super::frame::{AXIS, Frame, LEFT, LINE, NARROW_GROUND, x_axis, y_axis};
use super::labels::Anchor;
use super::labels::fitted;
use super::scale::{self, Scale};
use super::svg::{Along, Path, Shape, Svg};
use super::{Chart, NARROW, Subject};
use crate::cell_names::grouped;
use crate::sanitize;

/// The fewest buffer sizes that make a curve.
const LEAST_SIZES: usize = 4;
/// The most curves of a chart: the number of colours.
const MOST_CURVES: usize = 6;
/// The height of the plot area, in pixels.
const GROUND: f64 = 190.0;

/// The cells of one target and one way to sync.
struct Curve<'a> {
    name: String,
    cells: Vec<&'a Cell>,
}

/// The programs of a document that ran with buffers of several sizes, and their cells.
pub(super) struct Swept<'a> {
    programs: BTreeMap<&'a str, Vec<&'a Cell>>,
}

impl<'a> Swept<'a> {
    /// Collects these programs from a document.
    pub(super) fn from_document(document: &'a Document) -> Swept<'a> {
        let mut programs: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
        for cell in &document.cells {
            programs.entry(&cell.program).or_default().push(cell);
        }
        let sizes = |cells: &[&Cell]| -> BTreeSet<u64> {
            cells.iter().filter(|cell| cell.measured).filter_map(|cell| cell.number("buffer_bytes")).collect()
        };
        programs.retain(|_, cells| sizes(cells).len() >= LEAST_SIZES);
        Swept { programs }
    }

    /// True if this chart shows the cell, so that no other chart needs to.
    pub(super) fn shows(&self, cell: &Cell) -> bool {
        self.programs.contains_key(cell.program.as_str()) && cell.number("buffer_bytes").is_some()
    }
}

/// Returns a chart for each program that ran with buffers of several sizes.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let swept = Swept::from_document(document);
    swept.programs.iter().filter_map(|(program, cells)| chart(program, cells)).collect()
}

/// Returns the curves of a program, by target and by way to sync.
fn curves<'a>(cells: &[&'a Cell]) -> Vec<Curve<'a>> {
    let own = cells.iter().copied().filter(|cell| seconds(cell).is_some());
    let syncs: BTreeSet<Option<&str>> = own.clone().map(|cell| cell.word("sync")).collect();
    let name = |cell: &Cell| match cell.word("sync").filter(|_| syncs.len() > 1) {
        Some(sync) => format!("{}, sync {sync}", cell.target),
        None => cell.target.clone(),
    };
    let drawn = own.filter(|cell| cell.number("buffer_bytes").is_some_and(|bytes| bytes > 0));
    let curves = grouped(drawn.map(|cell| (name(cell), cell)));
    let mut curves: Vec<Curve> = curves.into_iter().map(|(name, cells)| Curve { name, cells }).collect();
    curves.iter_mut().for_each(|curve| curve.cells.sort_by_key(|cell| cell.number("buffer_bytes")));
    curves.truncate(MOST_CURVES);
    curves
}

fn seconds(cell: &Cell) -> Option<f64> {
    ExecutionTimes::from_cell(cell).map(|execution| execution.elapsed_s).filter(|seconds| *seconds > 0.0)
}

fn chart(program: &str, cells: &[&Cell]) -> Option<Chart> {
    let curves = curves(cells);
    let cells = || curves.iter().flat_map(|curve| curve.cells.iter().copied());
    // Programs with files of several sizes are compared by time per megabyte.
    let files: BTreeSet<Option<u64>> = cells().map(|cell| cell.number("file_bytes")).collect();
    let (unit, is_by_megabyte) = match files.len() {
        1 => ("seconds", false),
        _ => ("seconds for each million bytes", true),
    };
    let value = |cell: &Cell| {
        let bytes = cell.number("file_bytes").filter(|bytes| *bytes > 0);
        let seconds = seconds(cell)?;
        if is_by_megabyte { Some(seconds * 1e6 / bytes? as f64) } else { Some(seconds) }
    };
    let size = |cell: &Cell| cell.number("buffer_bytes").unwrap_or(1) as f64;
    let sizes = Scale::log(cells().map(size))?;
    let scale = Scale::log(cells().filter_map(value))?;
    // Room between the name of the unit and the uppermost label.
    let top = LINE + 8.0;
    let foot = top + GROUND;
    let mut svg = Svg::default();
    svg.text("tick", Along::Pixels(-LEFT), 11.0, Anchor::Start, &fitted(unit, NARROW));
    y_axis(
        &mut svg,
        sorted(scale.ticks(7)).into_iter().map(|tick| (scale.share(tick), scale::number(tick))),
        top,
        foot,
    );
    x_axis(&mut svg, labels(&sizes), NARROW_GROUND, top, foot);
    svg.text("tick", Along::Share(1.0), foot + 31.0, Anchor::End, "bytes of the buffer");
    let mut figures: Vec<String> = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        let name = sanitize::line(&curve.name).into_owned();
        let points: Vec<(&Cell, f64)> = curve.cells.iter().filter_map(|cell| Some((*cell, value(cell)?))).collect();
        svg.open_series(&class(place), if curves.len() > 1 { &name } else { "" }, "");
        let y = |value: f64| (1.0 - scale.share(value)) * GROUND;
        let mut path = Path::default();
        for (index, (cell, value)) in points.iter().enumerate() {
            let x = sizes.share(size(cell));
            path = if index == 0 { path.to(x, y(*value)) } else { path.line(x, y(*value)) };
        }
        let whiskers = points.iter().fold(Path::default(), |path, (cell, value)| {
            let x = sizes.share(size(cell));
            match ends(cell, *value) {
                Some((low, high)) => path.to(x, y(low)).line(x, y(high)),
                None => path,
            }
        });
        svg.stretched(top, GROUND, &[("line", path), ("whisker", whiskers)]);
        for (cell, value) in &points {
            let bytes = scale::bytes(size(cell));
            let tip =
                format!("{name}, buffer {bytes}: {} {unit}{}", describe_value(cell, *value), cell_text::marks(cell));
            let class = if cell.is_suspect() { "hollow" } else { "" };
            svg.shape(class, shape(place), Along::Share(sizes.share(size(cell))), top + y(*value), &tip);
        }
        svg.close("g");
        if let (Some((first, from)), Some((last, to))) = (points.first(), points.last()) {
            let starred = |cell: &Cell, value: f64| significant(value, 3) + cell_text::star(cell);
            let (from, to) = (starred(first, *from), starred(last, *to));
            let (first, last) = (scale::bytes(size(first)), scale::bytes(size(last)));
            figures.push(format!("{name} {from} with a buffer of {first}, {to} with {last}"));
        }
    }
    let series = if curves.len() > 1 {
        curves.iter().map(|curve| sanitize::line(&curve.name).into_owned()).collect()
    } else {
        Vec::new()
    };
    let frame = Frame {
        subject: Subject::Sweep,
        title: format!("{program}: {unit} over the size of the buffer"),
        series,
        told: cell_text::describe_figures(&format!("Curves of {unit}"), &figures),
    };
    Some(frame.upright(svg, foot + AXIS + LINE))
}

/// Returns the interval of a cell's time. A high rate is a short time, so the ends change places.
fn ends(cell: &Cell, value: f64) -> Option<(f64, f64)> {
    let rate = cell.rate.as_ref()?;
    let turned = |per_second: f64| if per_second > 0.0 { value * rate.per_second / per_second } else { f64::INFINITY };
    Some((turned(rate.high?), turned(rate.low?)))
}

/// `2.00* (1.82 to 2.22, 95 %)`
fn describe_value(cell: &Cell, value: f64) -> String {
    let confidence = cell.rate.as_ref().map_or(0.0, |rate| 100.0 * rate.confidence);
    let ends = ends(cell, value).map_or_else(String::new, |(low, high)| match high.is_finite() {
        true => format!(" ({} to {}, {confidence:.0} %)", significant(low, 3), significant(high, 3)),
        false => format!(" ({} and more, {confidence:.0} %)", significant(low, 3)),
    });
    format!("{}{}{ends}", significant(value, 3), cell_text::star(cell))
}

/// Returns a shape for each curve. All of them are filled: a hollow one means suspect.
fn shape(place: usize) -> Shape {
    match place % MOST_CURVES {
        0 => Shape::Circle { hollow: false },
        1 => Shape::Square,
        2 => Shape::Diamond,
        3 => Shape::Up,
        4 => Shape::Left { hollow: false },
        _ => Shape::Right { hollow: false },
    }
}

/// Returns labels: powers of 16 first, then the powers of 4 between them, which need room.
fn labels(sizes: &Scale) -> Vec<(f64, String)> {
    let on_axis = |bytes: &f64| (1e-9..1.0 - 1e-9).contains(&sizes.share(*bytes));
    let powers = |first: i32| (first..64).step_by(4).map(|power| 2f64.powi(power));
    powers(0).chain(powers(2)).filter(on_axis).map(|bytes| (sizes.share(bytes), scale::bytes(bytes))).collect()
}

fn sorted(mut ticks: Vec<f64>) -> Vec<f64> {
    ticks.sort_by(f64::total_cmp);
    ticks
}
