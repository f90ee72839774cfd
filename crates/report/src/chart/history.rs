//! Tests over all stored runs: a line for each, as ratios to its first run.
//!
//! Policy:
//!   1. every run has the same width, whatever time passed between two;
//!   2. the band within the margin of the first run is shaded;
//!   3. a run that is proven faster or slower than the run before it is marked, and listed below the plot area;
//!   4. a chart has as many lines as there are colours; further tests have further charts.

use std::collections::BTreeMap;

use stats::MarkCode;
use stats::compare::history::{History, Past, Time};
use units::DateTime;

use super::cell_text::{self, class};
use super::frame::{AXIS, Frame, LEFT, LINE, NARROW_GROUND, y_axis};
use super::labels;
use super::labels::Anchor;
use super::ratios::{labels, scale_of};
use super::scale::Scale;
use super::svg::{Along, Path, Shape, Svg};
use super::{Chart, NARROW, Subject, size_limit};
use crate::compare::history::{step, tests};
use crate::compare::verdict::percent;
use crate::{rate_format, sanitize};

/// The most lines of a chart: as many as there are colours.
const MOST_LINES: usize = 6;
/// The most charts: the tables show the other tests.
const MOST_CHARTS: usize = 6;
/// The most dots of a line. Each dot has its own tooltip, and a line of more runs has no room for them.
const MOST_DOTS: usize = 60;
/// The most steps that are named below a chart.
const MOST_NAMED: usize = 8;
/// The height of the plot area, in pixels.
const GROUND: f64 = 200.0;
/// The height of the row of step marks, in pixels.
const MARKS: f64 = 14.0;
/// The least distance between two labels of the vertical axis, in pixels.
const APART: f64 = 15.0;
/// Ratios and intervals farther than this from 1 end at the edge.
const FURTHEST: f64 = 32.0;

/// Returns a chart for every six tests.
pub(super) fn charts(history: &History) -> Vec<Chart> {
    let names = tests(history);
    let all: Vec<(String, &Past)> = names.into_iter().zip(&history.series).filter(|(_, past)| is_drawn(past)).collect();
    let count = all.chunks(MOST_LINES).len();
    let charts = all.chunks(MOST_LINES).take(MOST_CHARTS).enumerate().map(|(place, tests)| {
        let part = if count > 1 { format!(", part {} of {count}", place + 1) } else { String::new() };
        Drawing::from_tests(tests, history.margin).chart(&part)
    });
    size_limit::within(charts.collect())
}

/// True if any run of the test has a rate.
fn is_drawn(past: &Past) -> bool {
    past.runs.iter().any(|time| rate(time).is_some())
}

fn rate(time: &Time) -> Option<f64> {
    time.rate.as_ref().map(|rate| rate.per_second).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// A run on a line.
struct Dot<'a> {
    time: &'a Time,
    place: usize,
    ratio: f64,
    ends: Option<(f64, f64)>,
}

/// A run that differs from the run before it.
struct Marked {
    place: usize,
    words: String,
}

/// The tests of a chart, and the runs along its axis.
struct Drawing<'a> {
    margin: f64,
    /// The identifiers of the runs, the oldest first.
    runs: Vec<&'a str>,
    lines: Vec<(&'a str, Vec<Dot<'a>>)>,
    marked: Vec<Marked>,
    scale: Scale,
}

impl<'a> Drawing<'a> {
    fn from_tests(tests: &'a [(String, &'a Past)], margin: f64) -> Drawing<'a> {
        let times = tests.iter().flat_map(|(_, past)| &past.runs);
        let began: BTreeMap<&str, f64> = times.map(|time| (time.run.as_str(), time.started_unix_s)).collect();
        let mut runs: Vec<&str> = began.keys().copied().collect();
        runs.sort_by(|one, other| began[one].total_cmp(&began[other]));
        let places: BTreeMap<&str, usize> = runs.iter().enumerate().map(|(place, run)| (*run, place)).collect();
        let lines: Vec<(&str, Vec<Dot>)> =
            tests.iter().map(|(name, past)| (name.as_str(), dots(past, &places))).collect();
        let marked = lines.iter().flat_map(|(name, dots)| dots.iter().filter_map(|dot| marked(name, dot))).collect();
        let within = |ratio: f64| ratio.clamp(1.0 / FURTHEST, FURTHEST);
        let ratios = lines.iter().flat_map(|(_, dots)| dots).flat_map(|dot| {
            let ends = dot.ends.map_or([dot.ratio; 2], |(low, high)| [low, high]);
            [dot.ratio, ends[0], ends[1]].map(within)
        });
        let scale = scale_of(ratios, 1.0 + margin);
        Drawing { margin, runs, lines, marked, scale }
    }

    /// Returns the middle of a run's width, as a share of the chart's width.
    fn share(&self, place: usize) -> f64 {
        (place as f64 + 0.5) / self.runs.len() as f64
    }

    fn chart(&self, part: &str) -> Chart {
        let top = LINE + if self.marked.is_empty() { 0.0 } else { MARKS } + 8.0;
        let foot = top + GROUND;
        let mut svg = Svg::default();
        svg.text("tick", Along::Pixels(-LEFT), 11.0, Anchor::Start, "rate divided by that of the first run");
        self.ground(&mut svg, top, foot);
        for (place, (name, dots)) in self.lines.iter().enumerate() {
            let series = if self.lines.len() > 1 { sanitize::line(name).into_owned() } else { String::new() };
            svg.open_series(&class(place), &series, "");
            self.line(&mut svg, name, dots, top);
            svg.close("g");
        }
        let height = self.captions(&mut svg, foot + AXIS + 6.0);
        let told: Vec<String> = self.lines.iter().map(|(name, dots)| describe_line(name, dots)).collect();
        let is_one = self.lines.len() == 1;
        let of = if is_one { format!(": {}", self.lines[0].0) } else { String::new() };
        let frame = Frame {
            subject: Subject::Rates,
            title: format!("Rate over {}{of}{part}", counted(self.runs.len(), "run")),
            series: if is_one {
                Vec::new()
            } else {
                self.lines.iter().map(|(name, _)| sanitize::line(name).into_owned()).collect()
            },
            told: cell_text::describe_figures("Lines over the runs", &told),
        };
        frame.upright(svg, height)
    }

    /// Draws the band of the margin, both axes, and marks at the runs that differ from the run before.
    fn ground(&self, svg: &mut Svg, top: f64, foot: f64) {
        let y = |ratio: f64| top + GROUND * (1.0 - self.scale.share(ratio));
        let [upper, lower] = [1.0 + self.margin, 1.0 / (1.0 + self.margin)].map(y);
        svg.rect("band", 0.0, 1.0, upper, lower - upper, "");
        y_axis(svg, spread(&self.scale), top, foot);
        svg.level("one", 0.0, 1.0, y(1.0));
        let mut order: Vec<usize> = vec![self.runs.len() - 1, 0];
        order.extend(self.marked.iter().map(|marked| marked.place));
        order.extend(0..self.runs.len());
        let mut seen = vec![false; self.runs.len()];
        order.retain(|place| !std::mem::replace(&mut seen[*place], true));
        let names = order.into_iter().map(|place| (self.share(place), short(self.runs[place]).to_owned()));
        for label in labels::apart(names, NARROW_GROUND) {
            svg.label(&label, foot + 15.0);
        }
        svg.level("axis", 0.0, 1.0, foot);
        let mut of_runs: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        self.marked.iter().for_each(|marked| of_runs.entry(marked.place).or_default().push(&marked.words));
        for (place, steps) in of_runs {
            let at = self.share(place);
            svg.upright("happened", at, LINE + MARKS / 2.0, foot);
            svg.shape("event", Shape::Diamond, Along::Share(at), LINE + MARKS / 2.0, &steps.join("; "));
        }
    }

    /// Draws a line, with an interval and a dot for each run.
    fn line(&self, svg: &mut Svg, name: &str, dots: &[Dot], top: f64) {
        let y = |ratio: f64| GROUND * (1.0 - self.scale.share(ratio));
        let path = dots.iter().enumerate().fold(Path::default(), |path, (index, dot)| {
            let (x, y) = (self.share(dot.place), y(dot.ratio));
            if index == 0 { path.to(x, y) } else { path.line(x, y) }
        });
        svg.stretched(top, GROUND, &[("line", path)]);
        for dot in dots.iter().filter(|dot| dots.len() <= MOST_DOTS || dot.time.is_step()) {
            let x = self.share(dot.place);
            if let Some((low, high)) = dot.ends {
                svg.upright("interval", x, top + y(high), top + y(low));
            }
            let shape = Shape::Circle { hollow: is_suspect(dot.time) };
            svg.shape("", shape, Along::Share(x), top + y(dot.ratio), &tip(name, dot.time));
        }
    }

    /// Draws the meaning of the band, and the steps in words. Returns the height of the drawing.
    fn captions(&self, svg: &mut Svg, from: f64) -> f64 {
        let mut y = from;
        let mut note = |svg: &mut Svg, left: f64, text: &str| {
            for line in labels::lines(text, NARROW - 20.0) {
                svg.text("label", Along::Pixels(left - LEFT), y + 12.0, Anchor::Start, &line);
                y += LINE;
            }
            y
        };
        let mut next = note(svg, 0.0, &format!("shaded: within {} of the first run", percent(self.margin)));
        for marked in self.marked.iter().take(MOST_NAMED) {
            svg.shape("event", Shape::Diamond, Along::Pixels(6.0 - LEFT), next + 8.0, "");
            next = note(svg, 16.0, &marked.words);
        }
        if let Some(more) = self.marked.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            next = note(svg, 16.0, &format!("and {more} more in the tables"));
        }
        next + 4.0
    }
}

/// Returns a dot for each run in which the test has a rate.
fn dots<'a>(past: &'a Past, places: &BTreeMap<&str, usize>) -> Vec<Dot<'a>> {
    let first = past.runs.iter().find_map(rate).unwrap_or(1.0);
    let dot = |time: &'a Time| {
        let ends = time.rate.as_ref().and_then(|rate| rate.low.zip(rate.high));
        Some(Dot {
            time,
            place: *places.get(time.run.as_str())?,
            ratio: rate(time)? / first,
            ends: ends.map(|(low, high)| (low / first, high / first)),
        })
    };
    past.runs.iter().filter_map(dot).collect()
}

fn is_suspect(time: &Time) -> bool {
    time.marks.iter().any(|mark| *mark != MarkCode::Nested)
}

fn marked(name: &str, dot: &Dot) -> Option<Marked> {
    let found = dot.time.step.filter(|_| dot.time.is_step())?;
    let words = format!("{} in {}: {}", name, short(&dot.time.run), step(&found));
    Some(Marked { place: dot.place, words })
}

/// `read_8192 in k3pv-261121, 2026-11-21 10:02 UTC: 704 MiB/s; same`
fn tip(name: &str, time: &Time) -> String {
    let star = if is_suspect(time) { "*" } else { "" };
    let figure = time.rate.as_ref().map_or_else(|| "n.m.".to_owned(), rate_format::beside_ratio);
    let found = time.step.as_ref().map_or_else(String::new, |found| format!("; {}", step(found)));
    format!("{name} in {}, {} UTC: {figure}{star}{found}", time.run, DateTime::from_unix(time.started_unix_s))
}

/// `read_8192 1,610 MiB/s in the first of 3 runs, 1,200 MiB/s in the last`
fn describe_line(name: &str, dots: &[Dot]) -> String {
    let figure = |dot: Option<&Dot>| {
        dot.and_then(|dot| dot.time.rate.as_ref()).map_or_else(String::new, rate_format::beside_ratio)
    };
    let runs = counted(dots.len(), "run");
    format!("{name} {} in the first of {runs}, {} in the last", figure(dots.first()), figure(dots.last()))
}

/// Returns the first part of an identifier, which commands accept for the whole: the rest is the date.
fn short(run: &str) -> &str {
    run.split_once('-').map_or(run, |(beginning, _)| beginning)
}

fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("one {word}") } else { format!("{count} {word}s") }
}

/// Returns labels that do not touch, from the foot; 1 comes before all others.
fn spread(scale: &Scale) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    for (share, label) in labels(scale) {
        if kept.iter().all(|(other, _)| GROUND * (share - other).abs() >= APART) {
            kept.push((share, label));
        }
    }
    kept.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    kept
}
