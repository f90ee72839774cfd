//! Bars from zero, each under its name and its figure, on one axis: with an interval, and a dot for every round.

use super::NARROW;
use super::figures::Drawn;
use super::frame::{AXIS, Heading, LINE, along, both_sides};
use super::scale::Scale;
use super::svg::{Along, Path, Shape, Svg};

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
    /// What is drawn: nothing where nothing was measured.
    pub(super) drawn: Drawn,
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

/// An interval lengthens the axis by so much at most: that of two rounds may reach ten times as far as what was
/// measured, and leave the bars no room. Ours.
const MOST_BEYOND: f64 = 1.3;

/// From zero to what was measured, and to the ends of intervals near it.
fn scale(groups: &[Group]) -> Scale {
    let drawn = || groups.iter().flat_map(|group| &group.bars).map(|bar| &bar.drawn);
    let measured = || drawn().flat_map(|drawn| drawn.dots.iter().copied().chain(drawn.value));
    let most = measured().filter(|value| value.is_finite()).fold(0.0, f64::max) * MOST_BEYOND;
    let ends = drawn().filter_map(|drawn| Some(drawn.interval?.1)).filter(|end| *end <= most);
    Scale::linear(measured().chain(ends))
}

/// All groups below each other, and how high that is. The axis is labelled by what turns a value into words.
pub(super) fn draw(groups: &[Group], label: fn(f64) -> String) -> (Svg, f64) {
    let scale = scale(groups);
    let foot = groups.iter().map(Group::height).sum::<f64>() + 2.0;
    let mut svg = Svg::default();
    let labels = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), label(tick)));
    along(&mut svg, labels, NARROW, 0.0, foot);
    let mut y = 0.0;
    for group in groups {
        let next = y + group.height();
        let heading = Heading::of(&group.heading);
        if group.is_single() {
            heading.draw_as_label(&mut svg, y);
        } else {
            heading.draw(&mut svg, y);
            y += heading.height();
        }
        for bar in &group.bars {
            svg.open_series(&bar.class, &bar.series, &bar.tip);
            both_sides(&mut svg, y, &bar.label, &bar.said);
            y += LINE;
            if let Some(value) = bar.drawn.value {
                svg.rect("bar", 0.0, scale.share(value), y, HIGH, "");
                let dots = dots(bar, &scale);
                // A ring is seen on the bar and beside it.
                let paths = [("dots", dots.clone()), ("dots within", dots), ("whisker", whisker(bar, &scale))];
                svg.stretched(y, HIGH, &paths);
                if bar.drawn.interval.is_some_and(|(_, high)| scale.is_beyond(high)) {
                    svg.shape("event", Shape::Beyond, Along::Share(1.0), y + 4.0, "");
                }
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

/// A dot for each round, where there are several; of very many as many as can be told apart, from the least to the
/// largest.
fn dots(bar: &Bar, scale: &Scale) -> Path {
    let mut several = if bar.drawn.dots.len() > 1 { bar.drawn.dots.clone() } else { Vec::new() };
    if several.len() > MOST_DOTS {
        several.sort_by(f64::total_cmp);
        let last = several.len() - 1;
        several = (0..MOST_DOTS).map(|dot| several[dot * last / (MOST_DOTS - 1)]).collect();
    }
    several.iter().fold(Path::default(), |path, value| path.dot(scale.share(*value), HIGH - 2.5))
}

/// The interval: a line with an end on both sides, but for one that goes on beyond the chart.
fn whisker(bar: &Bar, scale: &Scale) -> Path {
    let Some((low, high)) = bar.drawn.interval else { return Path::default() };
    let end = |path: Path, value| match scale.is_beyond(value) {
        true => path,
        false => path.to(scale.share(value), 0.5).line(scale.share(value), 7.5),
    };
    end(end(Path::default(), low), high).to(scale.share(low), 4.0).line(scale.share(high), 4.0)
}
