//! The distribution of latencies (CDF): for each time the share of operations that took at most as long. The vertical
//! axis is stretched towards 100 %, so that the tail is visible: 90, 99 and 99.9 % have the same distance.
//!
//! Policy:
//!   1. each kind of operation of a program has its own chart, with a line for each target;
//!   2. a line ends at the share that ten operations are beyond, as the percentiles do.

use stats::{Cell, Document, Latencies, OperationKind, Provenance};
use units::Nanos;

use super::super::cell_text::{self, Names};
use super::super::frame::{AXIS, Frame, NARROW_GROUND, x_axis, y_axis};
use super::super::scale::{self, Scale};
use super::super::svg::{Path, Svg};
use super::super::{Chart, Subject};
use crate::cell_names::{CellNames, grouped};

/// The most charts of a document, so that the page stays small.
const MOST_CHARTS: usize = 6;

/// The most lines of a chart: the number of colours.
const MOST_LINES: usize = 6;

/// The height of the plot area, in pixels.
const GROUND: f64 = 150.0;

/// From the top of the drawing to the plot area, in pixels.
const TOP: f64 = 10.0;

/// Operations that must be beyond a share of the axis. The percentiles have the same limit.
const BEYOND: f64 = 10.0;

/// The least distance between two points of a line, as a share of an axis: a pixel or two.
const LEAST_STEP: f64 = 0.01;

/// The shares on the vertical axis, in percent.
const SHARES: [f64; 6] = [0.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// A line: a result and its latencies.
type Line<'a> = (&'a Cell, Latencies);

/// Returns a chart for each kind of operation of each program.
pub(super) fn charts(document: &Document, names: &Names) -> Vec<Chart> {
    let cell_names = CellNames::from_cells(&document.cells);
    let own = document.cells.iter().filter(|cell| cell.provenance != Provenance::Published && !cell.together);
    // 1
    let lines = own.flat_map(|cell| {
        let name = cell_names.name(cell);
        let kinds = kinds(cell);
        let is_alone = kinds.len() < 2;
        kinds.into_iter().filter_map(move |kind| {
            let all = cell.latencies(kind).filter(|all| most_nines(all) > 0.0)?;
            let title = match kind.filter(|_| !is_alone) {
                Some(kind) => format!("{name}, {}", kind.name()),
                None => name.clone(),
            };
            Some((title, (cell, all)))
        })
    });
    grouped(lines).into_iter().take(MOST_CHARTS).map(|(title, lines)| chart(&title, &lines, names)).collect()
}

/// The kinds of operations that are drawn: those of the figures, or the units of work.
fn kinds(cell: &Cell) -> Vec<Option<OperationKind>> {
    match &cell.operations[..] {
        [] | [_] => vec![None],
        several => several.iter().map(|one| Some(one.operation)).collect(),
    }
}

/// The nines of the largest share that a line has: 2 for 99 %.
fn most_nines(all: &Latencies) -> f64 {
    (all.count() as f64 / BEYOND).log10()
}

fn chart(title: &str, lines: &[Line], names: &Names) -> Chart {
    let lines = &lines[..lines.len().min(MOST_LINES)];
    let most = lines.iter().map(|(_, all)| most_nines(all)).fold(1.0, f64::max);
    let times = lines.iter().flat_map(|(_, all)| points(all)).map(|(time, _)| time);
    let scale = Scale::log(times).unwrap_or(Scale::Log(1.0, 10.0));
    let foot = TOP + GROUND;
    let mut svg = Svg::default();
    let shares = SHARES.into_iter().map(|percent| (nines(percent) / most, percent.to_string()));
    y_axis(&mut svg, shares.filter(|(share, _)| *share <= 1.0), TOP, foot);
    let labels = scale.ticks(5).into_iter().map(|tick| (scale.share(tick), scale::time(tick)));
    x_axis(&mut svg, labels, NARROW_GROUND, TOP, foot);
    let mut figures = Vec::new();
    for (cell, all) in lines {
        svg.open_series(&names.class(&cell.target), &names.series(&cell.target), "");
        svg.stretched(TOP, GROUND, &[("line", path(&points(all), &scale, most))]);
        svg.close("g");
        let at = |percent: f64| all.percentile(percent).map(|nanos| format!("{percent} % within {}", Nanos(nanos)));
        let shares: Vec<String> = [50.0, 90.0, 99.0, 99.9].into_iter().filter_map(at).collect();
        figures.push(format!("{}: {}", cell.target, shares.join(", ")));
    }
    let frame = Frame {
        subject: Subject::Latency,
        title: format!("{title}: percentage of operations within a time (CDF)"),
        series: names.all(),
        told: cell_text::describe_figures("Distribution of latencies", &figures),
    };
    frame.upright(svg, foot + AXIS)
}

/// The nines of a share in percent: 1 for 90 %, 2 for 99 %.
fn nines(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).log10()
}

/// The points of a line: times in nanoseconds, and the nines of the share within them.
fn points(all: &Latencies) -> Vec<(f64, f64)> {
    let (count, most) = (all.count() as f64, most_nines(all));
    let mut seen = 0;
    let points = all.filled().map(|(time, number)| {
        seen += number;
        (time.max(1) as f64, nines(100.0 * seen as f64 / count))
    });
    // 2
    points.take_while(|(_, nines)| *nines <= most).collect()
}

fn path(points: &[(f64, f64)], scale: &Scale, most: f64) -> Path {
    let mut last: Option<(f64, f64)> = None;
    let mut path = Path::default();
    for (place, (time, nines)) in points.iter().enumerate() {
        let (x, share) = (scale.share(*time), nines / most);
        let is_far = last.is_none_or(|(before, height)| x - before >= LEAST_STEP || share - height >= LEAST_STEP);
        if !is_far && place + 1 < points.len() {
            continue;
        }
        let y = GROUND * (1.0 - share);
        path = if last.is_none() { path.to(x, GROUND).line(x, y) } else { path.line(x, y) };
        last = Some((x, share));
    }
    path
}
