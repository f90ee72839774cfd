//! A constant as a row of a table.

use schemars::JsonSchema;
use serde::Serialize;

use super::estimate::{Estimate, Measured};
use crate::digits::significant;

/// The name and version of the format.
pub const PROBE_SCHEMA: &str = "diskperf-probe/1";

/// The JSON of `probe`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeDocument {
    /// `diskperf-probe/1`.
    pub schema: &'static str,
    /// The target as typed.
    pub target: String,
    /// The constants, with the reason for those that are not measured.
    pub constants: Vec<Row>,
}

/// A constant of a device with its name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name: `read latency 4 KiB`.
    pub constant: String,
    /// The unit of the estimate: `us`.
    pub unit: &'static str,
    /// The estimate; null if it is not measured.
    pub estimate: Option<Estimate>,
    /// The reason why it is not measured; null if it is.
    pub why: Option<String>,
}

/// Digits of a value. Chosen: constants are known within a percent at best.
const DIGITS: i32 = 4;

/// Whole numbers below this are counts, and printed with all digits.
const LARGEST_WHOLE: f64 = 1e6;

impl Row {
    /// A row; `factor` converts the value into the unit.
    pub fn new(constant: impl Into<String>, measured: Measured, factor: f64, unit: &'static str) -> Row {
        Row {
            constant: constant.into(),
            unit,
            estimate: measured.ok().map(|estimate| estimate.times(factor)),
            why: measured.err().map(|why| why.to_string()),
        }
    }

    /// The value with its unit, or `n.m.`.
    pub fn value(&self) -> String {
        match self.estimate {
            Some(estimate) => format!("{} {}", number(estimate.value), self.unit).trim_end().to_owned(),
            None => "n.m.".to_owned(),
        }
    }

    /// The bracket: `1.08-1.1`; empty without an estimate.
    pub fn bracket(&self) -> String {
        let text = |estimate: Estimate| format!("{}-{}", number(estimate.low), number(estimate.high));
        self.estimate.map(text).unwrap_or_default()
    }
}

/// A whole number without decimals, any other number rounded.
fn number(value: f64) -> String {
    let is_whole = value.fract() == 0.0 && (0.0..LARGEST_WHOLE).contains(&value);
    if is_whole { units::whole(value as u64) } else { significant(value, DIGITS) }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::NotMeasured;
    use super::*;

    #[test]
    fn a_row_has_a_value_or_a_reason() {
        let estimate = Estimate { value: 1_094_000.0, low: 1_090_000.0, high: 1_100_000.0, samples: 40 };
        let row = Row::new("read latency 4 KiB", Ok(estimate), 1e-3, "us");
        assert_eq!((row.value().as_str(), row.bracket().as_str()), ("1,094 us", "1,090-1,100"));
        let row = Row::new("write cache", Err(NotMeasured::Wide(30.0)), 1.0, "MiB");
        assert_eq!((row.value().as_str(), row.bracket().as_str()), ("n.m.", ""));
        assert_eq!(row.why.as_deref(), Some("the bracket is 30 % wide"));
    }
}
