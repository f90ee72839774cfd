//! The outcome of a comparison of two rates: the estimated ratio, and the verdict. Comparisons of targets, stages and
//! runs, and the steps of a history, all use these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ratio of a second rate to a first, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ratio")]
pub struct Estimate {
    /// The ratio; `None` if one of both did no work in a round.
    pub ratio: Option<f64>,
    /// Lower end of the interval; `None` if there are too few rounds for one.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Confidence level of the interval by itself; 1 if chance has no effect.
    pub confidence: f64,
}

impl Estimate {
    /// Returns the ratio of the first rate to the second.
    pub fn inverse(self) -> Estimate {
        let inverse = |value: Option<f64>| value.map(|value| 1.0 / value);
        Estimate { ratio: inverse(self.ratio), low: inverse(self.high), high: inverse(self.low), ..self }
    }

    /// Returns how far the ratio is from 1 in either direction, as a logarithm.
    pub fn distance(self) -> f64 {
        self.ratio.map_or(0.0, |ratio| ratio.ln().abs())
    }
}

// The name is part of the JSON schemas.
/// The finding about a cell in the second run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Finding")]
pub enum Verdict {
    /// The second run is faster.
    Faster,
    /// The second run is slower.
    Slower,
    /// The rates differ by less than the margin.
    Same,
    /// Not decided.
    Undecided,
    /// The cell is not measured in one of the runs, or in both.
    #[serde(rename = "n.m.")]
    NotMeasured,
}

impl Verdict {
    /// The name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
            Verdict::NotMeasured => "n.m.",
        }
    }

    /// True if one of both is faster.
    pub const fn is_difference(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}
