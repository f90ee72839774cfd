//! The error of a description that is not a possible computer.

use alloc::borrow::Cow;
use core::fmt;

use units::Nanos;

/// An invalid field, with the problem and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The field: `drive.heads`.
    pub field: &'static str,
    /// The problem.
    pub what: Cow<'static, str>,
    /// The hint.
    pub hint: &'static str,
}

impl Invalid {
    pub(crate) fn new(field: &'static str, what: impl Into<Cow<'static, str>>, hint: &'static str) -> Invalid {
        Invalid { field, what: what.into(), hint }
    }

    /// Returns an error if `value` is outside `least..=most`.
    pub(crate) fn unless_within(
        field: &'static str,
        value: u64,
        least: u64,
        most: u64,
        hint: &'static str,
    ) -> Result<(), Invalid> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let unit = unit_of(field);
        Err(Invalid::new(field, alloc::format!("{value} is not within {least} to {most}{unit}"), hint))
    }

    /// Returns an error if `time` is longer than `most`.
    pub(crate) fn unless_at_most(
        field: &'static str,
        time: Nanos,
        most: Nanos,
        hint: &'static str,
    ) -> Result<(), Invalid> {
        if time <= most {
            return Ok(());
        }
        Err(Invalid::new(field, alloc::format!("{time} is more than {most}"), hint))
    }
}

/// The unit of a field's limits, from the end of its name, with a space before it. Machine files may use other units.
fn unit_of(field: &str) -> &'static str {
    let units = [
        ("_permille", " permille"),
        ("_ppm", " ppm"),
        ("_hertz", " hertz"),
        ("_bytes_per_second", " bytes/s"),
        ("_bytes", " bytes"),
    ];
    units.into_iter().find_map(|(end, unit)| field.ends_with(end).then_some(unit)).unwrap_or_default()
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl core::error::Error for Invalid {}
