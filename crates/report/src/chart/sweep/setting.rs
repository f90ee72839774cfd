//! Rates over a swept setting of a workload, such as its queue depth. Each curve has the other settings in its name,
//! and its knee. The table has the curves for which there is no room.

use stats::Cell;
use stats::digits::significant;
use stats::inference::sweep::{Axis, Curve};

use super::buffer::labels;
use super::curves::{self, Across, Dot, Drawn, MOST_CURVES};
use crate::chart::cell_text;
use crate::chart::frame::Frame;
use crate::chart::scale::Scale;
use crate::chart::{Chart, Subject};
use crate::sanitize;

/// Bytes of the unit of a rate in bytes.
const MIB: f64 = 1024.0 * 1024.0;

/// Returns the chart of a swept setting. `None` if nothing was measured.
pub(super) fn chart(axis: &Axis) -> Option<Chart> {
    let (unit, size) = if axis.is_in_bytes() { ("MiB/s", MIB) } else { ("operations per second", 1.0) };
    let all = axis.curves.len();
    let shown: Vec<&Curve> = spread(all).map(|place| &axis.curves[place]).collect();
    let has_targets = axis.curves.iter().any(|curve| curve.target != axis.curves[0].target);
    let names: Vec<String> = shown.iter().map(|curve| name(axis, curve, has_targets)).collect();
    let curve = |(curve, name): (&&Curve, &String)| {
        let dot = |cell: &&Cell| {
            let point = axis.point(cell)?;
            let (low, high) = point.ends.unzip();
            let interval = low.zip(high).map_or_else(String::new, |(low, high)| {
                format!(" ({} to {}, 95 %)", significant(low / size, 3), significant(high / size, 3))
            });
            let tip = format!(
                "{}{} {}: {}{} {unit}{interval}{}",
                if name.is_empty() { String::new() } else { format!("{name}, ") },
                axis.option,
                axis.words(point.value),
                significant(point.rate / size, 3),
                cell_text::star(cell),
                cell_text::marks(cell)
            );
            Some(Dot {
                x: position(point.value),
                y: point.rate / size,
                ends: point.ends.map(|(low, high)| (low / size, high / size)),
                is_hollow: cell.is_suspect(),
                tip: sanitize::line(&tip).into_owned(),
            })
        };
        let series = if shown.len() > 1 { name.clone() } else { String::new() };
        Drawn { series, dots: curve.cells.iter().filter_map(dot).collect() }
    };
    let drawn: Vec<Drawn> = shown.iter().zip(&names).map(curve).collect();
    let values = drawn.iter().flat_map(|curve| &curve.dots).map(|dot| dot.x);
    let scale = Scale::log(values)?;
    let labels = if axis.option == "bs" { labels(&scale) } else { numbers(axis, &scale) };
    let title = match &shown[..] {
        [only] if all == 1 => format!(": {}", axis.knee(only).words(|value| axis.words(value))),
        _ if all > shown.len() => format!(" ({} of {all} curves; the table has the others)", shown.len()),
        _ => String::new(),
    };
    let frame = Frame {
        subject: Subject::Setting,
        title: format!("{}: {unit} over {}{title}", axis.program, axis.option),
        series: if shown.len() > 1 { names.clone() } else { Vec::new() },
        told: cell_text::describe_figures(&format!("Curves of {unit}"), &told(axis, &shown, &names)),
    };
    curves::chart(frame, unit, Across { unit: axis.option.to_owned(), scale, labels }, &drawn)
}

/// A sentence for each curve: its name if there are several, and its knee.
fn told(axis: &Axis, shown: &[&Curve], names: &[String]) -> Vec<String> {
    let one = |(curve, name): (&&Curve, &String)| match shown {
        [_] => axis.knee(curve).words(|value| axis.words(value)),
        _ => name.clone(),
    };
    shown.iter().zip(names).map(one).collect()
}

/// The name of a curve: its target if there are several, its other settings, and its knee.
fn name(axis: &Axis, curve: &Curve, has_targets: bool) -> String {
    let target = has_targets.then(|| curve.target.to_owned());
    let others = Some(curve.others.clone()).filter(|others| !others.is_empty());
    let words: Vec<String> = target.into_iter().chain(others).collect();
    if words.is_empty() {
        return String::new();
    }
    let name = format!("{}: {}", words.join(", "), axis.knee(curve).words(|value| axis.words(value)));
    sanitize::line(&name).into_owned()
}

/// The places of the curves that are shown: all, or as many as there are colours, from the first to the last.
fn spread(all: usize) -> impl Iterator<Item = usize> {
    let shown = all.min(MOST_CURVES);
    (0..shown).map(move |place| if shown == all { place } else { place * (all - 1) / (shown - 1) })
}

/// The place of a value on the logarithmic axis. Zero, as a percentage of reads, is at its beginning.
fn position(value: u64) -> f64 {
    value.max(1) as f64
}

/// The labels of the values: the ends first, then those between them.
fn numbers(axis: &Axis, scale: &Scale) -> Vec<(f64, String)> {
    let cells = axis.curves.iter().flat_map(|curve| &curve.cells);
    let mut values: Vec<u64> = cells.filter_map(|cell| cell.number(axis.parameter)).collect();
    values.sort_unstable();
    values.dedup();
    let (first, last) = (values.first().copied(), values.last().copied());
    let ends = first.into_iter().chain(last.filter(|last| Some(*last) != first));
    let between = values.iter().copied().filter(|value| Some(*value) != first && Some(*value) != last);
    ends.chain(between).map(|value| (scale.share(position(value)), value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_curves_are_spread_over_all() {
        assert_eq!(spread(3).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(spread(18).collect::<Vec<_>>(), [0, 3, 6, 10, 13, 17]);
        assert_eq!(spread(0).count(), 0);
    }
}
