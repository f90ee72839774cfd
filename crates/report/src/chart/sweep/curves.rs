//! Draws curves on two logarithmic axes, with an interval and a tip for each point.

use crate::chart::cell_text::class;
use crate::chart::frame::{AXIS, Frame, LEFT, LINE, NARROW_GROUND, x_axis, y_axis};
use crate::chart::labels::{Anchor, Label, fitted};
use crate::chart::scale::{self, Scale};
use crate::chart::svg::{Along, Path, Shape, Svg};
use crate::chart::{Chart, NARROW};

/// The most curves of a chart: the number of colours.
pub(super) const MOST_CURVES: usize = 6;

/// The height of the plot area, in pixels.
const GROUND: f64 = 190.0;

/// A curve.
pub(super) struct Drawn {
    /// The name of its series, escaped; empty if it is the only one.
    pub(super) series: String,
    /// Its points, from left to right.
    pub(super) dots: Vec<Dot>,
}

/// A point of a curve.
pub(super) struct Dot {
    /// The value on the horizontal axis.
    pub(super) x: f64,
    /// The value on the vertical axis.
    pub(super) y: f64,
    /// The ends of its interval.
    pub(super) ends: Option<(f64, f64)>,
    /// True if the figure is suspect.
    pub(super) is_hollow: bool,
    /// The text that appears above it.
    pub(super) tip: String,
}

/// The horizontal axis.
pub(super) struct Across {
    /// The name of its unit.
    pub(super) unit: String,
    /// Its scale.
    pub(super) scale: Scale,
    /// Its labels, the more important ones first.
    pub(super) labels: Vec<Label>,
}

/// Draws the curves. `unit` is that of the vertical axis. `None` if no value is above zero.
pub(super) fn chart(frame: Frame, unit: &str, across: Across, curves: &[Drawn]) -> Option<Chart> {
    let scale = Scale::log(curves.iter().flat_map(|curve| &curve.dots).map(|dot| dot.y))?;
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
    x_axis(&mut svg, across.labels, NARROW_GROUND, top, foot);
    svg.text("tick", Along::Share(1.0), foot + 31.0, Anchor::End, &across.unit);
    let (x, y) = (|value: f64| across.scale.share(value), |value: f64| (1.0 - scale.share(value)) * GROUND);
    for (place, Drawn { series, dots }) in curves.iter().enumerate() {
        svg.open_series(&class(place), series, "");
        let line = dots.iter().enumerate().fold(Path::default(), |path, (index, dot)| match index {
            0 => path.to(x(dot.x), y(dot.y)),
            _ => path.line(x(dot.x), y(dot.y)),
        });
        let whiskers = dots.iter().fold(Path::default(), |path, dot| match dot.ends {
            Some((low, high)) => path.to(x(dot.x), y(low)).line(x(dot.x), y(high)),
            None => path,
        });
        svg.stretched(top, GROUND, &[("line", line), ("whisker", whiskers)]);
        for dot in dots {
            let class = if dot.is_hollow { "hollow" } else { "" };
            svg.shape(class, shape(place), Along::Share(x(dot.x)), top + y(dot.y), &dot.tip);
        }
        svg.close("g");
    }
    Some(frame.upright(svg, foot + AXIS + LINE))
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

fn sorted(mut ticks: Vec<f64>) -> Vec<f64> {
    ticks.sort_by(f64::total_cmp);
    ticks
}
