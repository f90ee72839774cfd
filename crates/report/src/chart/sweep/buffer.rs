//! Seconds over the size of a buffer, both on logarithmic axes: the tables of *The Linux Programming Interface*,
//! chapter 13, as curves. The slope on the left is the cost of a call, the level on the right the cost of the bytes.

use std::collections::BTreeSet;

use stats::Cell;
use stats::digits::significant;
use stats::figures::execution_times::ExecutionTimes;

use super::curves::{self, Across, Dot, Drawn, MOST_CURVES};
use crate::cell_names::grouped;
use crate::chart::cell_text;
use crate::chart::frame::Frame;
use crate::chart::scale::{self, Scale};
use crate::chart::{Chart, Subject};
use crate::sanitize;

/// The cells of one target and one way to sync.
struct Curve<'a> {
    name: String,
    cells: Vec<&'a Cell>,
}

/// Returns the curves of a program, by target and by way to sync.
fn of_program<'a>(cells: &[&'a Cell]) -> Vec<Curve<'a>> {
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

/// Returns the chart of a program that ran with buffers of several sizes.
pub(super) fn chart(program: &str, cells: &[&Cell]) -> Option<Chart> {
    let curves = of_program(cells);
    let cells = || curves.iter().flat_map(|curve| curve.cells.iter().copied());
    // Programs with files of several sizes are compared by time per megabyte.
    let files: BTreeSet<Option<u64>> = cells().map(|cell| cell.number("file_bytes")).collect();
    let (unit, is_by_megabyte) = match files.len() {
        1 => ("seconds", false),
        _ => ("seconds per million bytes", true),
    };
    let value = |cell: &Cell| {
        let bytes = cell.number("file_bytes").filter(|bytes| *bytes > 0);
        let seconds = seconds(cell)?;
        if is_by_megabyte { Some(seconds * 1e6 / bytes? as f64) } else { Some(seconds) }
    };
    let size = |cell: &Cell| cell.number("buffer_bytes").unwrap_or(1) as f64;
    let sizes = Scale::log(cells().map(size))?;
    let mut figures: Vec<String> = Vec::new();
    let mut drawn = Vec::new();
    for curve in &curves {
        let name = sanitize::line(&curve.name).into_owned();
        let points: Vec<(&Cell, f64)> = curve.cells.iter().filter_map(|cell| Some((*cell, value(cell)?))).collect();
        let dot = |(cell, value): &(&Cell, f64)| {
            let bytes = scale::bytes(size(cell));
            let tip =
                format!("{name}, buffer {bytes}: {} {unit}{}", describe_value(cell, *value), cell_text::marks(cell));
            Dot { x: size(cell), y: *value, ends: ends(cell, *value), is_hollow: cell.is_suspect(), tip }
        };
        let dots = points.iter().map(dot).collect();
        drawn.push(Drawn { series: if curves.len() > 1 { name.clone() } else { String::new() }, dots });
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
        title: format!("{program}: {unit} by buffer size"),
        series,
        told: cell_text::describe_figures(&format!("Curves of {unit}"), &figures),
    };
    let across = Across { unit: "buffer size in bytes".to_owned(), labels: labels(&sizes), scale: sizes };
    curves::chart(frame, unit, across, &drawn)
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

/// Returns labels: powers of 16 first, then the powers of 4 between them, which need room.
pub(super) fn labels(sizes: &Scale) -> Vec<(f64, String)> {
    let on_axis = |bytes: &f64| (1e-9..1.0 - 1e-9).contains(&sizes.share(*bytes));
    let powers = |first: i32| (first..64).step_by(4).map(|power| 2f64.powi(power));
    powers(0).chain(powers(2)).filter(on_axis).map(|bytes| (sizes.share(bytes), scale::bytes(bytes))).collect()
}
