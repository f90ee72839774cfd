//! The keys of a device's file: the form and the quantity of each.

use simulator::description::{Counts, Limits};

use crate::quantity::Quantity;

/// The form of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Times by size.
    Table,
    /// A number.
    Number(Quantity),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A group of figures; as a figure of its own it is only `none` or `n.m.`.
    Group,
}

/// The keys outside of groups, and the groups, in the order of the file.
pub const TOP: [&str; 9] = [
    "capacity",
    "alignment",
    "read_latency",
    "write_latency",
    "read_gate",
    "write_gate",
    "flush",
    "write_cache",
    BUCKET,
];

/// The group of buckets. Each has a name of its own: `bucket.requests.rate`.
pub const BUCKET: &str = "bucket";

/// The possible units of a bucket's tokens.
pub const TOKENS: [&str; 2] = ["requests", "bytes"];

const COUNTS: [&str; 2] = [Counts::NAMES[0].0, Counts::NAMES[1].0];
const LIMITS: [&str; 3] = [Limits::NAMES[0].0, Limits::NAMES[1].0, Limits::NAMES[2].0];

/// The keys within a group, in the order of the file. A bucket of bytes has only the first four.
pub const fn within(group: &str) -> &'static [&'static str] {
    match group.as_bytes() {
        b"read_gate" | b"write_gate" => &["request", "byte"],
        b"flush" => &["base", "drain"],
        b"write_cache" => &["size", "drain"],
        b"bucket" => &["of", "limits", "rate", "burst", "unit", "counts"],
        _ => &[],
    }
}

/// Returns the form of a key; `None` if there is no such key. `of` is the unit of the tokens in the key's bucket.
pub fn form(key: &str, of: &str) -> Option<Form> {
    let mut names = key.split('.');
    let path = (names.next()?, names.next(), names.next(), names.next());
    let (group, inner) = match path {
        (top, None, ..) => (top, None),
        (BUCKET, Some(name), None, _) => return is_name(name).then_some(Form::Group),
        (BUCKET, Some(name), inner, None) => (is_name(name).then_some(BUCKET)?, inner),
        (group, inner, None, _) => (group, inner),
        _ => return None,
    };
    let is_bytes = of == TOKENS[1];
    Some(match (group, inner) {
        ("capacity" | "alignment", None) => Form::Number(Quantity::Size),
        ("read_latency" | "write_latency", None) => Form::Table,
        ("read_gate" | "write_gate" | "flush" | "write_cache" | BUCKET, None) => Form::Group,
        ("read_gate" | "write_gate", Some("request")) | ("flush", Some("base")) => Form::Number(Quantity::Time),
        ("read_gate" | "write_gate", Some("byte")) => Form::Number(Quantity::TimePerByte),
        ("flush" | "write_cache", Some("drain")) => Form::Number(Quantity::Rate),
        ("write_cache", Some("size")) => Form::Number(Quantity::Size),
        (BUCKET, Some("of")) => Form::Word(&TOKENS),
        (BUCKET, Some("limits")) => Form::Word(&LIMITS),
        (BUCKET, Some("rate")) if is_bytes => Form::Number(Quantity::Rate),
        (BUCKET, Some("rate")) => Form::Number(Quantity::RequestRate),
        (BUCKET, Some("burst")) if is_bytes => Form::Number(Quantity::Size),
        (BUCKET, Some("burst")) => Form::Number(Quantity::Count("requests")),
        (BUCKET, Some("unit")) if !is_bytes => Form::Number(Quantity::Size),
        (BUCKET, Some("counts")) if !is_bytes => Form::Word(&COUNTS),
        _ => return None,
    })
}

/// True for the name of a bucket: a plain key of TOML.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The place of a key in the file, for sorting.
pub fn place(key: &str) -> (usize, &str, usize) {
    let (top, rest) = key.split_once('.').unwrap_or((key, ""));
    let (name, inner) = if top == BUCKET { rest.split_once('.').unwrap_or((rest, "")) } else { ("", rest) };
    let position = |all: &[&str], one: &str| all.iter().position(|known| *known == one).unwrap_or(all.len());
    (position(&TOP, top), name, position(within(top), inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_keys_have_a_form() {
        assert_eq!(form("flush.base", ""), Some(Form::Number(Quantity::Time)));
        assert_eq!(form("bucket.a.rate", "bytes"), Some(Form::Number(Quantity::Rate)));
        assert_eq!(form("bucket.a.rate", "requests"), Some(Form::Number(Quantity::RequestRate)));
        assert_eq!(form("bucket.a", "requests"), Some(Form::Group));
        for key in ["", "flush.size", "read_latency.x", "bucket.a.b", "bucket.a.rate.x", "bucket..rate", "flush.base.x"]
        {
            assert_eq!(form(key, ""), None, "{key}");
        }
        assert_eq!(form("bucket.a.unit", "bytes"), None);
    }
}
