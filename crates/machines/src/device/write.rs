//! Writes the file of a device.

use std::fmt::Write;

use super::keys::{self, Form};
use super::read::{LAW, NONE, UNMEASURED};
use super::{DeviceFile, Figure, Origin, Point};
use crate::part::Source;
use crate::quantity::{Decimal, Quantity};

/// Returns the text of the file.
pub fn text(file: &DeviceFile) -> String {
    let mut text = format!("kind = {}\nname = {}\n", quoted(LAW), quoted(&file.name));
    if let Some(on) = &file.measured_on {
        let (host, date, target) = (quoted(&on.host), quoted(&on.date), quoted(&on.target));
        let _ = writeln!(text, "measured_on = {{ host = {host}, date = {date}, target = {target} }}");
    }
    let mut group = "";
    for (key, figure) in file.figures() {
        let top = key.split('.').next().unwrap_or_default();
        if top != group || !key.contains('.') {
            text.push('\n');
        }
        group = top;
        let bucket = key.split('.').nth(1).unwrap_or_default();
        let of = match file.figure(&format!("{}.{bucket}.of", keys::BUCKET)) {
            Some(Figure::Word { word, .. }) => word,
            _ => "",
        };
        let _ = writeln!(text, "{key} = {{ {} }}", figure_text(figure, keys::form(key, of)));
    }
    text
}

fn figure_text(figure: &Figure, form: Option<Form>) -> String {
    match figure {
        Figure::Unmeasured { reason } => format!("value = {}, reason = {}", quoted(UNMEASURED), quoted(reason)),
        Figure::None { origin } => format!("value = {}, {}", quoted(NONE), origin_text(origin)),
        Figure::Word { word, origin } => format!("value = {}, {}", quoted(word), origin_text(origin)),
        Figure::Number { value, range, origin } => {
            let quantity = match form {
                Some(Form::Number(quantity)) => quantity,
                _ => Quantity::Count(""),
            };
            let mut all = vec![*value];
            all.extend(range.iter().flat_map(|(low, high)| [*low, *high]));
            let (numbers, unit) = quantity.written(&all);
            let range = match numbers[..] {
                [_, low, high] => format!(", low = {low}, high = {high}"),
                _ => String::new(),
            };
            format!("value = {}, unit = {}, {}{range}", numbers[0], quoted(unit), origin_text(origin))
        }
        Figure::Table { points, origin } => table_text(points, origin),
    }
}

fn table_text(points: &[Point], origin: &Origin) -> String {
    let ranges: Option<Vec<(u64, u64)>> =
        points.iter().map(|point| point.range.map(|(low, high)| (low.0, high.0))).collect();
    let ranges = ranges.unwrap_or_default();
    let mut all: Vec<u64> = points.iter().map(|point| point.time.0).collect();
    all.extend(ranges.iter().map(|(low, _)| *low));
    all.extend(ranges.iter().map(|(_, high)| *high));
    let (numbers, unit) = Quantity::Time.written(&all);
    let list = |numbers: &[Decimal]| {
        let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        format!("[{}]", texts.join(", "))
    };
    let sizes: Vec<String> = points.iter().map(|point| point.bytes.to_string()).collect();
    let count = points.len();
    let range = match numbers.get(count..) {
        Some(rest) if !rest.is_empty() => {
            format!(", low = {}, high = {}", list(&rest[..count]), list(&rest[count..]))
        }
        _ => String::new(),
    };
    let (at, value) = (sizes.join(", "), list(&numbers[..count]));
    format!("at = [{at}], value = {value}, unit = {}, {}{range}", quoted(unit), origin_text(origin))
}

/// A figure that was set on the command line is written as inferred from the setting.
fn origin_text(origin: &Origin) -> String {
    let source = if origin.source == Source::Typed { Source::Inferred } else { origin.source };
    let samples = origin.samples.map_or(String::new(), |samples| format!(", samples = {samples}"));
    format!("source = {}, from = {}{samples}", quoted(source.name()), quoted(&origin.from))
}

/// Returns the text as a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
