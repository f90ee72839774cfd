//! Horizontal bars from zero on one axis, each under its name and its figure, with an interval and a dot for every
//! round.

use super::NARROW;
use super::cell_text::Drawn;
use super::frame::{AXIS, Heading, LINE, both_sides, x_axis};
use super::scale::Scale;
use super::svg::{Along, Path, Shape, Svg};

/// One bar.
pub(super) struct Bar {
    /// The class of its colour.
    pub(super) class: String,
    /// The series of the bar in the chart; empty if the chart has no series.
    pub(super) series: String,
    /// The name of the bar; empty if the heading names it.
    pub(super) label: String,
    /// The figure as text, with its unit.
    pub(super) said: String,
    /// The text of the tooltip.
    pub(super) tip: String,
    /// The values to draw; empty if nothing was measured.
    pub(super) drawn: Drawn,
}

/// Bars under one heading.
pub(super) struct Group {
    /// The heading of the group.
    pub(super) heading: String,
    /// The bars; at least one.
    pub(super) bars: Vec<Bar>,
}

/// The height of a bar in pixels; an interval and dots must be distinguishable in it.
const HIGH: f64 = 11.0;
/// From a bar to the next text, in pixels.
const GAP: f64 = 6.0;
/// From a group to the next, in pixels.
const BETWEEN: f64 = 6.0;

impl Group {
    /// True if the heading and the figure of the only bar fit on one line.
    fn is_single(&self) -> bool {
        let [only] = &self.bars[..] else { return false };
        only.label.is_empty() && Heading::from_name(&self.heading).has_room_for(&only.said)
    }

    fn height(&self) -> f64 {
        let heading = if self.is_single() { 0.0 } else { Heading::from_name(&self.heading).height() };
        heading + self.bars.len() as f64 * (LINE + HIGH + GAP) + BETWEEN
    }
}

/// The most by which intervals lengthen the axis, as a factor. The interval of two rounds may reach ten times the
/// measured value and leave no room for the bars. A choice.
const MOST_BEYOND: f64 = 1.3;

/// Returns an axis from zero to the largest measured value, or to the ends of intervals near it.
fn scale(groups: &[Group]) -> Scale {
    let drawn = || groups.iter().flat_map(|group| &group.bars).map(|bar| &bar.drawn);
    let measured = || drawn().flat_map(|drawn| drawn.dots.iter().copied().chain(drawn.value));
    let most = measured().filter(|value| value.is_finite()).fold(0.0, f64::max) * MOST_BEYOND;
    let ends = drawn().filter_map(|drawn| Some(drawn.interval?.1)).filter(|end| *end <= most);
    Scale::linear(measured().chain(ends))
}

/// Draws all groups below each other and returns the drawing with its height. `label` formats the values of the axis.
pub(super) fn draw(groups: &[Group], label: fn(f64) -> String) -> (Svg, f64) {
    let scale = scale(groups);
    let foot = groups.iter().map(Group::height).sum::<f64>() + 2.0;
    let mut svg = Svg::default();
    let labels = scale.ticks(4).into_iter().map(|tick| (scale.share(tick), label(tick)));
    x_axis(&mut svg, labels, NARROW, 0.0, foot);
    let mut y = 0.0;
    for group in groups {
        let next = y + group.height();
        let heading = Heading::from_name(&group.heading);
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
                // The dots are drawn twice, so that a dot is visible on the bar and next to it.
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

/// The most dots of a bar: more would be indistinguishable.
const MOST_DOTS: usize = 30;

/// Returns a dot for each round if there are several. Of more than [`MOST_DOTS`], it keeps a selection from the
/// smallest to the largest value.
fn dots(bar: &Bar, scale: &Scale) -> Path {
    let mut several = if bar.drawn.dots.len() > 1 { bar.drawn.dots.clone() } else { Vec::new() };
    if several.len() > MOST_DOTS {
        several.sort_by(f64::total_cmp);
        let last = several.len() - 1;
        several = (0..MOST_DOTS).map(|dot| several[dot * last / (MOST_DOTS - 1)]).collect();
    }
    several.iter().fold(Path::default(), |path, value| path.dot(scale.share(*value), HIGH - 2.5))
}

/// Returns the interval as a line with an end mark on both sides. An end beyond the chart has no mark.
fn whisker(bar: &Bar, scale: &Scale) -> Path {
    let Some((low, high)) = bar.drawn.interval else { return Path::default() };
    let end = |path: Path, value| match scale.is_beyond(value) {
        true => path,
        false => path.to(scale.share(value), 0.5).line(scale.share(value), 7.5),
    };
    end(end(Path::default(), low), high).to(scale.share(low), 4.0).line(scale.share(high), 4.0)
}
