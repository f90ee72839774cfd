//! A chart as a separate SVG file. Programs that draw such files do not support variables of style sheets. So the sheet
//! of the page is written out with its light colours, as for paper.

use super::frame::{LEFT, LINE, RIGHT};
use super::labels::Anchor;
use super::svg::{Along, Shape, Svg};
use super::{Chart, STYLE, labels};

/// The width in pixels: half of a large screen.
const WIDE: f64 = 760.0;
/// The margin around it, in pixels.
const EDGE: f64 = 16.0;

/// Returns a chart as a separate file, with its colours, its title and the names of its series.
pub fn standalone(chart: &Chart) -> String {
    let room = WIDE - 2.0 * EDGE;
    let mut y = EDGE + 12.0;
    let mut head = Svg::default();
    for line in labels::lines(&chart.title, room / labels::BOLD) {
        head.text("name", Along::Pixels(EDGE), y, Anchor::Start, &line);
        y += LINE;
    }
    // The legend uses the same strokes as the chart: lines have their own dashes, bars are filled.
    let is_of_lines = chart.svg.contains("class=\"line\"");
    let mut x = EDGE;
    for (place, name) in chart.series.iter().enumerate() {
        let name = labels::fitted(name, room / 2.0);
        let wide = labels::width(&name) + 42.0;
        if x + wide > WIDE - EDGE && x > EDGE {
            (x, y) = (EDGE, y + LINE);
        }
        head.open("g", &[("class", &chart.class(place))]);
        if is_of_lines {
            let (from, to) = ((x - 5.0) / WIDE, (x + 19.0) / WIDE);
            head.level("line", from, to, y - 4.0);
        } else {
            head.shape("", Shape::Square, Along::Pixels(x + 7.0), y - 4.0, "");
        }
        head.text("label", Along::Pixels(x + 24.0), y, Anchor::Start, &name);
        head.close("g");
        x += wide;
    }
    if !chart.series.is_empty() {
        y += LINE;
    }
    let high = y + f64::from(chart.height) + EDGE;
    let is_upright = chart.svg.contains("class=\"chart upright\"");
    let (left, right) = if is_upright { (LEFT, RIGHT) } else { (0.0, 0.0) };
    let (from, width) = (EDGE + left, room - left - right);
    let (style, head, height) = (written_out(), head.into_text(), chart.height);
    let chart = &chart.svg;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \
         width=\"{WIDE}\" height=\"{high}\" viewBox=\"0 0 {WIDE} {high}\">\n<style>\n{style}</style>\n\
         <rect class=\"ground\" width=\"{WIDE}\" height=\"{high}\"/>{head}<svg class=\"at\" x=\"{from}\" y=\"{y}\" \
         width=\"{width}\" height=\"{height}\">{chart}</svg></svg>\n"
    )
}

/// Returns the style sheet without variables: a rule that depends on a series is repeated for each series.
fn written_out() -> String {
    let of_page = STYLE.lines().take_while(|line| !line.starts_with('}')).flat_map(variables);
    let colours: Vec<(&str, &str)> = of_page.collect();
    let series: Vec<(&str, Vec<(&str, &str)>)> = STYLE
        .lines()
        .filter(|line| line.starts_with(".s") || line.starts_with(".t"))
        .filter_map(|line| Some((line.split_once(' ')?.0, variables(line).collect())))
        .collect();
    let mut style = String::new();
    // Rules that only position a chart in a page are left out of a file.
    for rule in STYLE.lines().filter(|line| line.starts_with(".chart ") && !line.starts_with(".chart {")) {
        style += &with(rule, &colours, &[]);
        style.push('\n');
        let Some((selector, declared)) =
            rule.split_once(" {").filter(|_| rule.contains("var(--series") || rule.contains("var(--dash"))
        else {
            continue;
        };
        for (class, own) in &series {
            let within = |one: &str| {
                let own = one.trim().trim_start_matches(".chart ");
                format!("{class} {own}, {class}{own}")
            };
            let selectors: Vec<String> = selector.split(',').map(within).collect();
            style += &with(&format!("{} {{{declared}\n", selectors.join(", ")), &colours, own);
        }
    }
    style + ".chart { overflow: visible; font: 12px \"DejaVu Sans\", sans-serif; }\n.ground { fill: #ffffff; }\n"
}

/// Returns the variables that a line of the style sheet sets.
fn variables(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let declared = line.split_once('{').map_or(line, |(_, declared)| declared);
    declared.trim_end_matches('}').split(';').filter_map(|one| {
        let (name, value) = one.split_once(':')?;
        name.trim().starts_with("--").then(|| (name.trim(), value.trim()))
    })
}

/// Returns a rule with variables replaced by their values, the last one first, because a variable may have another one
/// as its default.
fn with(rule: &str, colours: &[(&str, &str)], series: &[(&str, &str)]) -> String {
    let mut text = rule.to_owned();
    while let Some(from) = text.rfind("var(") {
        let Some(to) = text[from..].find(')').map(|length| from + length) else { break };
        let inner = &text[from + "var(".len()..to];
        let (name, otherwise) = inner.split_once(',').map_or((inner, None), |(name, other)| (name, Some(other.trim())));
        let known = series.iter().chain(colours).find(|(known, _)| *known == name.trim());
        let value = known.map(|(_, value)| *value).or(otherwise).unwrap_or("none").to_owned();
        text.replace_range(from..=to, &value);
    }
    text
}
