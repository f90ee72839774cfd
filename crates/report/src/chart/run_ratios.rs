//! Several runs in one chart: for each test of one preset that they have in common, the rate of every run as a ratio to
//! the rate of the first run.

use stats::{Cell, Document};

use super::cell_text::{self, Names};
use super::frame::{AXIS, Frame, Heading, LINE, both_sides, x_axis};
use super::labels::shared;
use super::rates::MOST_BARS;
use super::ratios::{labels, scale_of};
use super::svg::{Along, Path, Shape, Svg};
use super::{Chart, NARROW, Subject};
use crate::cell_names::{CellNames, grouped};

/// The height of a strip with one dot, in pixels.
const STRIP: f64 = 12.0;
/// From a test to the next, in pixels.
const BETWEEN: f64 = 6.0;
/// Intervals farther than this from 1 end at the edge.
const FURTHEST: f64 = 8.0;

/// A result, and its rate divided by that of the first run.
struct Dot<'a> {
    cell: &'a Cell,
    ratio: f64,
    ends: Option<(f64, f64)>,
}

/// Returns a chart of a document whose targets are runs; `None` if no two runs share a test.
pub(super) fn chart(document: &Document) -> Option<Chart> {
    let names = Names::from_document(document, false);
    let cell_names = CellNames::from_cells(&document.cells);
    let named = document.cells.iter().map(|cell| ((cell.preset.as_str(), cell_names.name(cell)), cell));
    let mut rows: Vec<(String, Vec<Dot>)> = grouped(named)
        .into_iter()
        .map(|((_, name), cells)| (if is_same(&cells) { name } else { name + DIFFERENT }, dots(&cells)))
        .filter(|(_, dots)| dots.len() > 1)
        .collect();
    let all = rows.iter().map(|(_, dots)| dots.len()).sum::<usize>();
    // Only whole tests are shown, and always the first one, however many runs it has.
    let mut shown = 0;
    let fits = |(_, dots): &&(String, Vec<Dot>)| {
        let with = shown + dots.len();
        let fits = shown == 0 || with <= MOST_BARS;
        shown = if fits { with } else { shown };
        fits
    };
    let count = rows.iter().take_while(fits).count();
    rows.truncate(count);
    if rows.is_empty() {
        return None;
    }
    let shared = shared(rows.iter_mut().map(|(name, _)| name));
    let within = |ratio: f64| ratio.clamp(1.0 / FURTHEST, FURTHEST);
    let ratios = rows
        .iter()
        .flat_map(|(_, dots)| dots)
        .flat_map(|dot| [Some(dot.ratio), dot.ends.map(|ends| within(ends.0)), dot.ends.map(|ends| within(ends.1))]);
    let scale = scale_of(ratios.flatten(), 1.0 + stats::inference::ratio_test::MARGIN);
    let height =
        |name: &str, dots: &[Dot]| Heading::from_name(name).height() + dots.len() as f64 * (LINE + STRIP) + BETWEEN;
    let foot = rows.iter().map(|(name, dots)| height(name, dots)).sum::<f64>();
    let mut svg = Svg::default();
    x_axis(&mut svg, labels(&scale), NARROW, 0.0, foot);
    svg.upright("one", scale.share(1.0), 0.0, foot);
    let (mut y, mut told) = (0.0, Vec::new());
    for (name, dots) in &rows {
        let heading = Heading::from_name(name);
        heading.draw(&mut svg, y);
        y += heading.height();
        for Dot { cell, ratio, ends } in dots {
            let said = cell_text::describe_rate(cell);
            told.push(format!("{name} in {} {said}", cell.target));
            svg.open_series(&names.class(&cell.target), &names.series(&cell.target), &cell_text::tip(cell, name));
            both_sides(&mut svg, y, &cell.target, &said);
            y += LINE;
            let middle = STRIP / 2.0 - 1.0;
            let line = ends.map_or_else(Path::default, |(low, high)| {
                Path::default().to(scale.share(low), middle).line(scale.share(high), middle)
            });
            svg.stretched(y, STRIP, &[("interval", line)]);
            let shape = Shape::Circle { hollow: cell.is_suspect() };
            svg.shape("", shape, Along::Share(scale.share(*ratio)), y + middle, "");
            svg.close("g");
            y += STRIP;
        }
        y += BETWEEN;
    }
    let left_out = cell_text::left_out(all, shown);
    let frame = Frame {
        subject: Subject::Rates,
        title: format!("Rate of each run divided by that of the first{shared}{left_out}"),
        series: names.all(),
        told: cell_text::describe_figures("Rates with their 95 % intervals", &told),
    };
    Some(frame.rows(svg, foot + AXIS))
}

/// Added to the name of a test whose results have different settings.
const DIFFERENT: &str = " (settings differ)";

/// Settings that describe the target of a test, not its work.
const SURROUNDINGS: [&str; 2] = ["file_system", "tune"];

/// True if all cells have the same settings, [`SURROUNDINGS`] excepted.
fn is_same(cells: &[&Cell]) -> bool {
    let settings = |cell: &'_ Cell| {
        let own = cell.parameters.iter().filter(|(key, _)| !SURROUNDINGS.contains(&key.as_str()));
        own.map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>()
    };
    cells.windows(2).all(|two| settings(two[0]) == settings(two[1]))
}

/// Returns the results of one test that count the same unit, as ratios to the first one.
fn dots<'a>(cells: &[&'a Cell]) -> Vec<Dot<'a>> {
    let Some(first) = cells.iter().find_map(|cell| cell.rate.as_ref()).filter(|rate| rate.per_second > 0.0) else {
        return Vec::new();
    };
    let dot = |cell: &&'a Cell| {
        let rate = cell.rate.as_ref().filter(|rate| rate.base == first.base)?;
        let ratio = |per_second: f64| per_second / first.per_second;
        let ends = rate.low.zip(rate.high).map(|(low, high)| (ratio(low), ratio(high)));
        Some(Dot { cell, ratio: ratio(rate.per_second), ends })
    };
    cells.iter().filter_map(dot).collect()
}
