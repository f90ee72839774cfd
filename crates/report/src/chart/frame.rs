//! The frame around the drawing of every chart: its SVG element, its axes, and its description for readers who cannot
//! see it.

use super::labels::Anchor;
use super::labels::{self, BOLD, Label};
use super::svg::{Along, Svg};
use super::{Chart, NARROW, Subject};
use crate::sanitize;

/// Room for the labels to the left of a chart with a vertical axis, in pixels. The style sheet repeats it.
pub(super) const LEFT: f64 = 48.0;

/// Room to the right, so that the last dot is complete, in pixels. The style sheet repeats it.
pub(super) const RIGHT: f64 = 8.0;

/// The narrowest plot area between them, in pixels.
pub(super) const NARROW_GROUND: f64 = NARROW - LEFT - RIGHT;

/// From the foot of the plot area to the baseline of its labels, in pixels.
const BELOW: f64 = 15.0;

/// The height of a horizontal axis including its labels, in pixels.
pub(super) const AXIS: f64 = 21.0;

/// The title, the series and the description of a chart.
pub(super) struct Frame {
    pub(super) subject: Subject,
    pub(super) title: String,
    pub(super) series: Vec<String>,
    pub(super) told: String,
}

impl Frame {
    /// A chart whose labels are above the things that they name.
    pub(super) fn plain(self, drawing: Svg, height: f64) -> Chart {
        self.around("chart", drawing, height)
    }

    /// A chart with a row for each bar or strip. If there is room, the page moves the labels into a gutter to the left.
    pub(super) fn rows(self, drawing: Svg, height: f64) -> Chart {
        self.around("chart rows", drawing, height)
    }

    /// A chart with a vertical axis, whose labels are to the left of the plot area.
    pub(super) fn upright(self, drawing: Svg, height: f64) -> Chart {
        self.around("chart upright", drawing, height)
    }

    fn around(self, class: &str, drawing: Svg, height: f64) -> Chart {
        let height = height.ceil() as u32;
        let (title, told) = (sanitize::line(&self.title).into_owned(), sanitize::line(&self.told).into_owned());
        let mut svg = Svg::default();
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("class", class),
            ("role", "img"),
            ("width", "100%"),
            ("height", &height.to_string()),
        ];
        svg.open("svg", &attributes);
        svg.holding("title", &[], &title);
        svg.holding("desc", &[], &told);
        svg.append(drawing);
        svg.close("svg");
        Chart { subject: self.subject, title, series: self.series, svg: svg.into_text(), told, height }
    }
}

/// Draws a horizontal axis at the foot of a plot area, with grid lines. The more important labels come first.
pub(super) fn x_axis(svg: &mut Svg, labels: impl IntoIterator<Item = Label>, room: f64, top: f64, foot: f64) {
    for label in labels::apart(labels, room) {
        svg.upright("grid", label.share, top, foot);
        svg.label(&label, foot + BELOW);
    }
    svg.level("axis", 0.0, 1.0, foot);
}

/// Draws a vertical axis: a line and a label for each share of the height, from the foot.
pub(super) fn y_axis(svg: &mut Svg, labels: impl IntoIterator<Item = Label>, top: f64, foot: f64) {
    let mut last = f64::INFINITY;
    for (share, label) in labels {
        let y = foot - share * (foot - top);
        if (last - y).abs() < LEAST_APART {
            continue;
        }
        last = y;
        svg.level("grid", 0.0, 1.0, y);
        let label = labels::fitted(&label, LEFT - 7.0);
        svg.text("tick", Along::Pixels(-6.0), y + MIDDLE, Anchor::End, &label);
    }
}

/// The least distance between labels of a vertical axis, in pixels.
const LEAST_APART: f64 = 15.0;

/// The height of a line of text, in pixels.
pub(super) const LINE: f64 = 16.0;

/// The name of a program above its targets, broken into as many lines as it needs.
pub(super) struct Heading(Vec<String>);

impl Heading {
    /// Breaks a name into lines.
    pub(super) fn from_name(name: &str) -> Heading {
        Heading(labels::lines(&sanitize::line(name), NARROW / BOLD))
    }

    /// True if the name and these words fit on one line.
    pub(super) fn has_room_for(&self, said: &str) -> bool {
        matches!(&self.0[..], [line] if BOLD * labels::width(line) + BESIDE + labels::width(said) <= NARROW)
    }

    /// The height in pixels.
    pub(super) fn height(&self) -> f64 {
        LINE * self.0.len() as f64
    }

    /// Draws the heading above its bars.
    pub(super) fn draw(&self, svg: &mut Svg, y: f64) {
        self.draw_as("name", svg, y);
    }

    /// Draws the heading as the label of its only bar.
    pub(super) fn draw_as_label(&self, svg: &mut Svg, y: f64) {
        self.draw_as("name label", svg, y);
    }

    fn draw_as(&self, class: &str, svg: &mut Svg, y: f64) {
        for (line, place) in self.0.iter().zip(0u32..) {
            svg.text(class, Along::Share(0.0), y + BASE + LINE * f64::from(place), Anchor::Start, line);
        }
    }
}

/// From the top of a line of text to its baseline, in pixels.
pub(super) const BASE: f64 = 12.0;

/// The least distance between text on the left and text on the right, in pixels.
const BESIDE: f64 = 10.0;

/// Draws a line of text on both sides. The text on the right is complete; the text on the left is shortened to the room
/// left.
pub(super) fn both_sides(svg: &mut Svg, y: f64, left: &str, right: &str) {
    let room = NARROW - labels::width(right) - BESIDE;
    if !left.is_empty() {
        svg.text("label", Along::Share(0.0), y + BASE, Anchor::Start, &labels::fitted(left, room));
    }
    svg.text("said", Along::Share(1.0), y + BASE, Anchor::End, right);
}

/// From the middle of a line of text to its baseline, in pixels.
pub(super) const MIDDLE: f64 = 4.0;
