//! A small SVG writer. Positions along a chart are percentages, heights are pixels. Every text is escaped here.

use super::labels::{Anchor, Placed};
use crate::sanitize;

/// A horizontal position in the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Along {
    /// A share of its width, from 0 to 1.
    Share(f64),
    /// Pixels from its left edge.
    Pixels(f64),
}

/// The shape of a value that is drawn as a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A circle.
    Circle {
        /// True if only its edge is drawn.
        hollow: bool,
    },
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle that points up.
    Up,
    /// A triangle that points to the left.
    Left {
        /// True if only its edge is drawn.
        hollow: bool,
    },
    /// A triangle that points to the right.
    Right {
        /// True if only its edge is drawn.
        hollow: bool,
    },
    /// A short vertical stroke.
    Stroke,
    /// An arrowhead that ends here: the value is farther to the right.
    Beyond,
}

impl Shape {
    /// The path around the middle of the shape, about five pixels to each side. A circle has an SVG element instead.
    const fn path(self) -> &'static str {
        match self {
            Shape::Circle { .. } => "",
            Shape::Square => "M-4-4h8v8h-8z",
            Shape::Diamond => "M0-5.5L5.5 0L0 5.5L-5.5 0z",
            Shape::Up => "M0-5L5 4H-5z",
            Shape::Left { .. } => "M-6 0L4-5.5V5.5z",
            Shape::Right { .. } => "M6 0L-4-5.5V5.5z",
            Shape::Stroke => "M-1.5-6h3v12h-3z",
            Shape::Beyond => "M0 0L-8-4.5V4.5z",
        }
    }

    const fn is_hollow(self) -> bool {
        matches!(self, Shape::Circle { hollow: true } | Shape::Left { hollow: true } | Shape::Right { hollow: true })
    }
}

/// The drawing so far.
#[derive(Debug, Default)]
pub(super) struct Svg {
    text: String,
}

impl Svg {
    /// Returns the whole drawing.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Appends another drawing.
    pub(super) fn append(&mut self, other: Svg) {
        self.text += &other.text;
    }

    /// Opens an element. Attributes with an empty value are left out.
    pub(super) fn open(&mut self, element: &str, attributes: &[(&str, &str)]) {
        self.begin(element, attributes);
        self.text.push('>');
    }

    /// Closes an element.
    pub(super) fn close(&mut self, element: &str) {
        self.text += "</";
        self.text += element;
        self.text.push('>');
    }

    /// Adds an empty element.
    pub(super) fn empty(&mut self, element: &str, attributes: &[(&str, &str)]) {
        self.begin(element, attributes);
        self.text += "/>";
    }

    /// Adds an element with a text in it.
    pub(super) fn holding(&mut self, element: &str, attributes: &[(&str, &str)], text: &str) {
        self.open(element, attributes);
        self.text += &sanitize::xml(text);
        self.close(element);
    }

    fn begin(&mut self, element: &str, attributes: &[(&str, &str)]) {
        self.text.push('<');
        self.text += element;
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            self.text.push(' ');
            self.text += name;
            self.text += "=\"";
            self.text += &sanitize::xml(value);
            self.text.push('"');
        }
    }

    /// Opens a group that belongs to a series, if the chart has series. `tip` is its tooltip.
    pub(super) fn open_series(&mut self, class: &str, series: &str, tip: &str) {
        let class = format!("{class}{}{}", if series.is_empty() { "" } else { " series" }, tipped(tip));
        self.open("g", &[("class", class.trim_start()), ("data-series", series), ("data-tip", tip)]);
    }

    /// Adds a text.
    pub(super) fn text(&mut self, class: &str, x: Along, y: f64, anchor: Anchor, text: &str) {
        let place = [("class", class), ("x", &along(x)), ("y", &pixels(y)), ("text-anchor", anchor.name())];
        self.holding("text", &place, text);
    }

    /// Adds a label of a horizontal axis.
    pub(super) fn label(&mut self, label: &Placed, y: f64) {
        let moved = if label.moved == 0.0 { String::new() } else { pixels(label.moved) };
        let place = [("class", "tick"), ("x", &share(label.share)), ("dx", &moved), ("y", &pixels(y))];
        self.holding("text", &[&place[..], &[("text-anchor", label.anchor.name())]].concat(), &label.label);
    }

    /// Adds a rectangle from one share of the width to another.
    pub(super) fn rect(&mut self, class: &str, from: f64, to: f64, y: f64, height: f64, tip: &str) {
        let class = format!("{class}{}", tipped(tip));
        let width = share(limited(to) - limited(from));
        self.empty(
            "rect",
            &[
                ("class", &class),
                ("x", &share(from)),
                ("y", &pixels(y)),
                ("width", &width),
                ("height", &pixels(height)),
                ("data-tip", tip),
            ],
        );
    }

    /// Adds a vertical line.
    pub(super) fn upright(&mut self, class: &str, x: f64, from: f64, to: f64) {
        let x = share(x);
        self.empty("line", &[("class", class), ("x1", &x), ("x2", &x), ("y1", &pixels(from)), ("y2", &pixels(to))]);
    }

    /// Adds a horizontal line.
    pub(super) fn level(&mut self, class: &str, from: f64, to: f64, y: f64) {
        let y = pixels(y);
        self.empty("line", &[("class", class), ("x1", &share(from)), ("x2", &share(to)), ("y1", &y), ("y2", &y)]);
    }

    /// Adds a point.
    pub(super) fn shape(&mut self, class: &str, shape: Shape, x: Along, y: f64, tip: &str) {
        let class = format!("mark {class}{}{}", if shape.is_hollow() { " hollow" } else { "" }, tipped(tip));
        if let Shape::Circle { .. } = shape {
            let place = [("cx", &*along(x)), ("cy", &*pixels(y)), ("r", "4.5")];
            self.empty("circle", &[&[("class", &*class)], &place[..], &[("data-tip", tip)]].concat());
            return;
        }
        self.open("svg", &[("class", "at"), ("x", &along(x)), ("y", &pixels(y))]);
        self.empty("path", &[("class", &class), ("d", shape.path()), ("data-tip", tip)]);
        self.close("svg");
    }

    /// Adds paths in a nested drawing that is stretched to the width of the chart: x is a thousandth of that width, y a
    /// pixel.
    pub(super) fn stretched(&mut self, y: f64, height: f64, paths: &[(&str, Path)]) {
        let high = pixels(height);
        let ground = format!("0 0 1000 {high}");
        self.open(
            "svg",
            &[
                ("class", "at"),
                ("y", &pixels(y)),
                ("height", &high),
                ("viewBox", &ground),
                ("preserveAspectRatio", "none"),
            ],
        );
        for (class, path) in paths.iter().filter(|(_, path)| !path.text.is_empty()) {
            self.empty("path", &[("class", class), ("d", &path.text)]);
        }
        self.close("svg");
    }
}

/// A path in a stretched drawing.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    text: String,
}

impl Path {
    /// Moves without drawing; x is a share of the width.
    pub(super) fn to(mut self, x: f64, y: f64) -> Path {
        self.add('M', x, y);
        self
    }

    /// Draws a line.
    pub(super) fn line(mut self, x: f64, y: f64) -> Path {
        self.add('L', x, y);
        self
    }

    /// Draws a rectangle; its width is a share of the width.
    pub(super) fn block(self, x: f64, y: f64, width: f64, height: f64) -> Path {
        let mut path = self.to(x, y);
        let (width, height) = (trimmed(1000.0 * limited(width), 1), trimmed(height, 1));
        path.text += &format!("h{width}v{height}h-{width}z");
        path
    }

    /// Draws a dot: a line of length zero with round ends.
    pub(super) fn dot(self, x: f64, y: f64) -> Path {
        let mut path = self.to(x, y);
        path.text += "h0";
        path
    }

    fn add(&mut self, what: char, x: f64, y: f64) {
        self.text.push(what);
        self.text += &trimmed(1000.0 * limited(x), 1);
        self.text.push(' ');
        self.text += &trimmed(y, 1);
    }
}

fn tipped(tip: &str) -> &'static str {
    if tip.is_empty() { "" } else { " tip" }
}

fn along(x: Along) -> String {
    match x {
        Along::Share(x) => share(x),
        Along::Pixels(x) => pixels(x),
    }
}

/// Clamps a share to the chart; a share that is not a number becomes 0.
fn limited(share: f64) -> f64 {
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

fn share(share: f64) -> String {
    trimmed(100.0 * limited(share), 2) + "%"
}

fn pixels(pixels: f64) -> String {
    trimmed(pixels, 2)
}

/// Formats a number with at most this many decimals.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", if value.is_finite() { value } else { 0.0 });
    match text.trim_end_matches('0').trim_end_matches('.') {
        "" | "-0" => "0".to_owned(),
        trimmed if text.contains('.') => trimmed.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_none() {
        assert_eq!([0.0, 12.0, 12.345, -0.001, 100.0].map(|value| trimmed(value, 2)), ["0", "12", "12.35", "0", "100"]);
        assert_eq!([trimmed(120.0, 0), trimmed(f64::NAN, 2)], ["120", "0"]);
        assert_eq!([0.5, 7.0, f64::NAN, f64::NEG_INFINITY].map(share), ["50%", "100%", "0%", "0%"]);
    }

    #[test]
    fn what_markup_and_terminals_obey_is_text() {
        assert_eq!(
            sanitize::xml("<a b='\"&\">\u{1b}[2J\u{ffff}"),
            "&lt;a b=&#39;&quot;&amp;&quot;&gt;\\u{1b}[2J\\u{ffff}"
        );
    }

    #[test]
    fn an_element_has_its_attributes_and_only_those() {
        let mut svg = Svg::default();
        svg.open_series("s0", "a&b", "");
        svg.text("", Along::Pixels(-6.0), 12.5, Anchor::End, "a<b");
        svg.close("g");
        assert_eq!(
            svg.into_text(),
            "<g class=\"s0 series\" data-series=\"a&amp;b\"><text x=\"-6\" y=\"12.5\" text-anchor=\"end\">\
             a&lt;b</text></g>"
        );
    }

    #[test]
    fn a_path_is_in_thousandths_of_the_width() {
        assert_eq!(Path::default().to(0.0, 3.0).line(0.12345, 4.56).dot(1.0, 2.0).text, "M0 3L123.5 4.6M1000 2h0");
    }
}
