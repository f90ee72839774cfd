//! What stands around the drawing of every chart: its element, its axes, its words for who cannot see it.

use super::svg::{Along, Svg};
use super::words::Anchor;
use super::words::{self, BOLD, Label};
use super::{Chart, NARROW, Subject};
use crate::plain;

/// A chart with an upright axis has so many pixels for its labels to the left...
pub(super) const LEFT: f64 = 48.0;

/// ...and some to the right, so that its last dot is seen whole (the style sheet has both).
pub(super) const RIGHT: f64 = 8.0;

/// The narrowest ground between them.
pub(super) const NARROW_GROUND: f64 = NARROW - LEFT - RIGHT;

/// From the lower end of an axis along to the line that its labels stand on.
const BELOW: f64 = 15.0;

/// What an axis along takes, its labels included.
pub(super) const AXIS: f64 = 21.0;

/// What a chart says of itself.
pub(super) struct Frame {
    pub(super) subject: Subject,
    pub(super) title: String,
    pub(super) series: Vec<String>,
    pub(super) told: String,
}

impl Frame {
    /// With labels above what they name.
    pub(super) fn plain(self, drawing: Svg, height: f64) -> Chart {
        self.around("chart", drawing, height)
    }

    /// A row for each bar or strip, whose labels a page with room moves into a gutter to the left.
    pub(super) fn rows(self, drawing: Svg, height: f64) -> Chart {
        self.around("chart rows", drawing, height)
    }

    /// With an upright axis, whose labels stand to the left of the ground.
    pub(super) fn upright(self, drawing: Svg, height: f64) -> Chart {
        self.around("chart upright", drawing, height)
    }

    fn around(self, class: &str, drawing: Svg, height: f64) -> Chart {
        let height = height.ceil() as u32;
        let (title, told) = (plain::line(&self.title).into_owned(), plain::line(&self.told).into_owned());
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

/// An axis along the foot of a ground, with lines through it. The more important labels come first.
pub(super) fn along(svg: &mut Svg, labels: impl IntoIterator<Item = Label>, room: f64, top: f64, foot: f64) {
    for label in words::apart(labels, room) {
        svg.upright("grid", label.share, top, foot);
        svg.label(&label, foot + BELOW);
    }
    svg.level("axis", 0.0, 1.0, foot);
}

/// An upright axis: a line and a label for each share of the height, from the foot.
pub(super) fn upright(svg: &mut Svg, labels: impl IntoIterator<Item = Label>, top: f64, foot: f64) {
    let mut last = f64::INFINITY;
    for (share, label) in labels {
        let y = foot - share * (foot - top);
        if (last - y).abs() < LEAST_APART {
            continue;
        }
        last = y;
        svg.level("grid", 0.0, 1.0, y);
        let label = words::fitted(&label, LEFT - 7.0);
        svg.text("tick", Along::Pixels(-6.0), y + MIDDLE, Anchor::End, &label);
    }
}

/// Labels of an upright axis keep so many pixels apart.
const LEAST_APART: f64 = 15.0;

/// A line of text.
pub(super) const LINE: f64 = 16.0;

/// The name of a program above its targets, in as many lines as it needs.
pub(super) struct Heading(Vec<String>);

impl Heading {
    /// Of this name.
    pub(super) fn of(name: &str) -> Heading {
        Heading(words::lines(&plain::line(name), NARROW / BOLD))
    }

    /// Whether the name leaves room beside it for these words, so that both stand in one line.
    pub(super) fn has_room_for(&self, said: &str) -> bool {
        matches!(&self.0[..], [line] if BOLD * words::width(line) + BESIDE + words::width(said) <= NARROW)
    }

    /// How high it is.
    pub(super) fn height(&self) -> f64 {
        LINE * self.0.len() as f64
    }

    /// Draws it above its bars.
    pub(super) fn draw(&self, svg: &mut Svg, y: f64) {
        self.draw_as("name", svg, y);
    }

    /// Draws it as the label of its only bar.
    pub(super) fn draw_as_label(&self, svg: &mut Svg, y: f64) {
        self.draw_as("name label", svg, y);
    }

    fn draw_as(&self, class: &str, svg: &mut Svg, y: f64) {
        for (line, place) in self.0.iter().zip(0u32..) {
            svg.text(class, Along::Share(0.0), y + BASE + LINE * f64::from(place), Anchor::Start, line);
        }
    }
}

/// From the upper end of a line to what its letters stand on.
pub(super) const BASE: f64 = 12.0;

/// What is at least between words to the left and words to the right.
const BESIDE: f64 = 10.0;

/// A line with words on both sides. Those to the right are whole; of those to the left what there is room for.
pub(super) fn both_sides(svg: &mut Svg, y: f64, left: &str, right: &str) {
    let room = NARROW - words::width(right) - BESIDE;
    if !left.is_empty() {
        svg.text("label", Along::Share(0.0), y + BASE, Anchor::Start, &words::fitted(left, room));
    }
    svg.text("said", Along::Share(1.0), y + BASE, Anchor::End, right);
}

/// From the middle of a line of text to what it stands on.
pub(super) const MIDDLE: f64 = 4.0;
