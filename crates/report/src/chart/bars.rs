//! Bars from zero, each under its name and its figure, on one axis: with an interval, and a dot for every round.

use super::NARROW;
use super::frame::{AXIS, Heading, LINE, along, both_sides};
use super::scale::{self, Scale};
use super::svg::{Path, Svg};

/// One bar.
pub(super) struct Bar {
    /// The class of its colour.
    pub(super) class: String,
    /// What the chart tells apart that it belongs to; nothing where that is nothing.
    pub(super) series: String,
    /// Its name; nothing where the heading is.
    pub(super) label: String,
    /// Its figure, in words.
    pub(super) said: String,
    /// What is said to who points at it.
    pub(super) tip: String,
    /// How long it is; nothing is drawn where nothing was measured.
    pub(super) value: Option<f64>,
    /// Its interval.
    pub(super) interval: Option<(f64, f64)>,
    /// What it is the mean of.
    pub(super) dots: Vec<f64>,
}

/// Bars under one heading.
pub(super) struct Group {
    /// The heading.
    pub(super) heading: String,
    /// At least one.
    pub(super) bars: Vec<Bar>,
}

/// A bar, in which an interval and dots can be told apart.
const HIGH: f64 = 11.0;
/// From a bar to the next text.
const GAP: f64 = 6.0;
/// From a group to the next.
const BETWEEN: f64 = 6.0;

impl Group {
    /// Whether the heading stands in the line of the only bar.
    fn is_single(&self) -> bool {
        matches!(&self.bars[..], [only] if only.label.is_empty() && Heading::of(&self.heading).has_room_for(&only.said))
    }

    fn height(&self) -> f64 {
        let heading = if self.is_single() { 0.0 } else { Heading::of(&self.heading).height() };
        heading + self.bars.len() as f64 * (LINE + HIGH + GAP) + BETWEEN
    }
}

/// All groups below each other, and how high that is.
pub(super) fn draw(groups: &[Group]) -> (Svg, f64) {
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let ends = bars().filter_map(|bar| Some(bar.interval?.1));
    let scale = Scale::linear(bars().flat_map(|bar| bar.dots.iter().copied().chain(bar.value)).chain(ends));
    let foot = groups.iter().map(Group::height).sum::<f64>() + 2.0;
    let mut svg = Svg::default();
    let labels = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), scale::number(tick)));
    along(&mut svg, labels, NARROW, 0.0, foot);
    let mut y = 0.0;
    for group in groups {
        let next = y + group.height();
        let heading = Heading::of(&group.heading);
        heading.draw(&mut svg, y);
        if !group.is_single() {
            y += heading.height();
        }
        for bar in &group.bars {
            svg.open_series(&bar.class, &bar.series, &bar.tip);
            both_sides(&mut svg, y, &bar.label, &bar.said);
            y += LINE;
            if let Some(value) = bar.value {
                svg.rect("bar", 0.0, scale.share(value), y, HIGH, "");
                let dots = dots(bar, &scale);
                // A ring is seen on the bar and beside it.
                let paths = [("dots", dots.clone()), ("dots within", dots), ("whisker", whisker(bar, &scale))];
                svg.stretched(y, HIGH, &paths);
            }
            svg.close("g");
            y += HIGH + GAP;
        }
        y = next;
    }
    (svg, foot + AXIS)
}

/// The most dots of a bar: more cannot be told apart.
const MOST_DOTS: usize = 30;

/// A dot for each round, where there are several; of very many as many as can be told apart, from the least to the largest.
fn dots(bar: &Bar, scale: &Scale) -> Path {
    let mut several = if bar.dots.len() > 1 { bar.dots.clone() } else { Vec::new() };
    if several.len() > MOST_DOTS {
        several.sort_by(f64::total_cmp);
        let last = several.len() - 1;
        several = (0..MOST_DOTS).map(|dot| several[dot * last / (MOST_DOTS - 1)]).collect();
    }
    several.iter().fold(Path::default(), |path, value| path.dot(scale.share(*value), HIGH - 2.5))
}

/// The interval: a line with an end on both sides.
fn whisker(bar: &Bar, scale: &Scale) -> Path {
    let Some((low, high)) = bar.interval else { return Path::default() };
    let (low, high) = (scale.share(low), scale.share(high));
    let end = |path: Path, x| path.to(x, 0.5).line(x, 7.5);
    end(end(Path::default(), low), high).to(low, 4.0).line(high, 4.0)
}
