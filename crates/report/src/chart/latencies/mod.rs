//! Latencies of single operations: for each program and target the percentiles on a logarithmic axis. Each percentile
//! has its own shape; a line joins them. Then the distributions, and the latencies over time.

mod distribution;
mod heat;

use stats::{Cell, Document, Latency, LatencyKind, Provenance};
use units::Nanos;

use super::cell_text::{self, Names};
use super::frame::{AXIS, Frame, Heading, LINE, both_sides, x_axis};
use super::labels::Anchor;
use super::labels::{shared, width};
use super::rates::MOST_BARS;
use super::scale::{self, Scale};
use super::svg::{Along, Path, Shape, Svg};
use super::{Chart, NARROW, Subject};
use crate::cell_names::{CellNames, grouped};

/// The height of the strip for the percentiles of a cell, in pixels.
const STRIP: f64 = 15.0;
/// From a program to the next, in pixels.
const BETWEEN: f64 = 6.0;
/// The height of the legend of shapes, in pixels.
const KEY: f64 = 22.0;

/// The name and the shape of each percentile.
const SHAPES: [(&str, Shape); 5] = [
    ("p50", Shape::Circle { hollow: false }),
    ("p90", Shape::Circle { hollow: true }),
    ("p99", Shape::Diamond),
    ("p99.9", Shape::Up),
    ("max", Shape::Stroke),
];

/// Returns a chart for each kind of latency: service and response. Then the charts of the histograms.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let names = Names::from_document(document, false);
    let of_kind = |kind| {
        let is_own = |cell: &Cell| cell.provenance != Provenance::Published;
        let is = |cell: &Cell| cell.latency_ns.filter(|latency| latency.kind == kind && is_own(cell));
        let cells: Vec<(&Cell, Latency)> = document.cells.iter().filter_map(|cell| Some((cell, is(cell)?))).collect();
        let scale =
            Scale::log(cells.iter().flat_map(|(_, latency)| times(*latency)).flatten().map(|nanos| nanos as f64));
        scale.map(|scale| chart(document, &names, kind, &cells, &scale))
    };
    let percentiles = [LatencyKind::Service, LatencyKind::Response].into_iter().filter_map(of_kind);
    percentiles.chain(distribution::charts(document, &names)).chain(heat::charts(document)).collect()
}

/// Returns the latencies in the order of [`SHAPES`].
fn times(latency: Latency) -> [Option<u64>; 5] {
    [Some(latency.p50), latency.p90, latency.p99, latency.p999, Some(latency.max)]
}

fn chart(document: &Document, names: &Names, kind: LatencyKind, cells: &[(&Cell, Latency)], scale: &Scale) -> Chart {
    let cell_names = CellNames::from_cells(&document.cells);
    let mut rows = grouped(cells.iter().take(MOST_BARS).map(|cell| (cell_names.name(cell.0), cell)));
    let shared = shared(rows.iter_mut().map(|(name, _)| name));
    let is_alone = names.each().len() == 1;
    let lines = |name: &str, cells: &[&(&Cell, Latency)]| {
        let heading = Heading::from_name(name);
        let is_single = is_alone && cells.len() == 1 && heading.has_room_for(&describe_latency(cells[0]));
        if is_single { 0.0 } else { heading.height() }
    };
    let height = |cells: &[&(&Cell, Latency)]| cells.len() as f64 * (LINE + STRIP) + BETWEEN;
    let foot = KEY + rows.iter().map(|(name, cells)| lines(name, cells) + height(cells)).sum::<f64>();
    let mut svg = Svg::default();
    key(&mut svg);
    let labels = scale.ticks(5).into_iter().map(|tick| (scale.share(tick), scale::time(tick)));
    x_axis(&mut svg, labels, NARROW, KEY, foot);
    let mut y = KEY;
    let mut figures: Vec<String> = Vec::new();
    for (name, cells) in &rows {
        let heading = Heading::from_name(name);
        let own_lines = lines(name, cells);
        if own_lines == 0.0 {
            heading.draw_as_label(&mut svg, y)
        } else {
            heading.draw(&mut svg, y)
        }
        y += own_lines;
        for cell_and_times @ (cell, latency) in cells {
            let said = describe_latency(cell_and_times);
            figures.push(format!("{name} on {} {said}", cell.target));
            svg.open_series(&names.class(&cell.target), &names.series(&cell.target), &tip(cell, name, *latency));
            both_sides(&mut svg, y, if is_alone { "" } else { &cell.target }, &said);
            y += LINE;
            strip(&mut svg, scale, *latency, y);
            svg.close("g");
            y += STRIP;
        }
        y += BETWEEN;
    }
    let frame = Frame {
        subject: Subject::Latency,
        title: match kind {
            LatencyKind::Service => "Service times, from each operation's issue: p50 / p99",
            LatencyKind::Response => "Response times, from each operation's intended start: p50 / p99",
        }
        .to_owned()
            + &shared
            + &cell_text::left_out(cells.len(), MOST_BARS),
        series: names.all(),
        told: cell_text::describe_figures(&format!("Percentiles of {} times", kind.name()), &figures),
    };
    frame.rows(svg, foot + AXIS)
}

/// Draws the legend of the shapes.
fn key(svg: &mut Svg) {
    let mut x = 6.0;
    for (name, shape) in SHAPES {
        svg.shape("event", shape, Along::Pixels(x), 8.0, "");
        svg.text("tick", Along::Pixels(x + 8.0), 12.0, Anchor::Start, name);
        x += width(name) + 25.0;
    }
}

/// Draws the line from the median to the maximum, and the shapes on it.
fn strip(svg: &mut Svg, scale: &Scale, latency: Latency, y: f64) {
    let at = |nanos: u64| scale.share(nanos as f64);
    let middle = STRIP / 2.0 - 1.0;
    let line = Path::default().to(at(latency.p50), middle).line(at(latency.max), middle);
    svg.stretched(y, STRIP, &[("interval", line)]);
    for ((_, shape), nanos) in SHAPES.into_iter().zip(times(latency)) {
        if let Some(nanos) = nanos {
            svg.shape("", shape, Along::Share(at(nanos)), y + middle, "");
        }
    }
}

/// `46 us / 65 us*`: the median and the 99th percentile.
fn describe_latency((cell, latency): &(&Cell, Latency)) -> String {
    let p99 = latency.p99.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string());
    format!("{} / {p99}{}", Nanos(latency.p50), cell_text::star(cell))
}

/// Returns all percentiles of a cell as text.
fn tip(cell: &Cell, name: &str, latency: Latency) -> String {
    let figure = |((name, _), nanos): ((&str, Shape), Option<u64>)| {
        format!("{name} {}", nanos.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string()))
    };
    let figures: Vec<String> = SHAPES.into_iter().zip(times(latency)).map(figure).collect();
    let (kind, count) = (latency.kind.name(), units::whole(latency.count));
    let (target, star, marks) = (&cell.target, cell_text::star(cell), cell_text::marks(cell));
    format!("{name} on {target}, {kind} time: {}{star}; {count} operations{marks}", figures.join(", "))
}
