//! Predictions of the time of a command on another device: the decisions, and their JSON.
//!
//! ```text
//!   block traces ── replay ──> seconds on the own device ── refusal ──> seconds on the other device
//!   stored checks ── range ──> error ───────────────────────────────────> low, high
//! ```

mod range;
mod refusal;

pub use range::{COVERAGE, LEAST_CHECKS, Spread, TooFewChecks, spread};
pub use refusal::{MOST_MISSED, MOST_WAITED, Refusal, refusal};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of the format.
pub const PREDICTION_SCHEMA: &str = "diskperf-predict/1";

/// The parts of a computer that no prediction models.
pub const NEVER_MODELLED: [&str; 3] =
    ["another CPU or another memory size", "timers of the kernel's write-back", "load of other processes"];

/// The JSON of `predict`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictionDocument {
    /// `diskperf-predict/1`.
    pub schema: String,
    /// The predictions, one for each test and target of the run.
    pub predictions: Vec<Prediction>,
    /// The stored checks of earlier predictions, and of this one.
    pub record: CheckRecord,
}

/// A prediction, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Id of the run, or the path of the trace.
    pub run: String,
    /// The test.
    pub program: String,
    /// The target of the run.
    pub target: String,
    /// Number of traces. All times are medians over them.
    pub traces: u64,
    /// Measured time in seconds.
    pub here_s: f64,
    /// Time of the replay on the law of the run's own device, in seconds; null if the law has no time for a request.
    pub replayed_s: Option<f64>,
    /// Share of the time in which the program waited for a processor; null if it is not known.
    pub waited: Option<f64>,
    /// The name of the other device.
    pub device: String,
    /// Predicted time in seconds; null if it was refused.
    pub predicted_s: Option<f64>,
    /// The range that contains the time in 9 of 10 predictions; null if there are too few checks.
    pub low_s: Option<f64>,
    /// As `low_s`.
    pub high_s: Option<f64>,
    /// Number of checks from which the range is computed.
    pub checks: u64,
    /// The reason why there is no prediction, or no range; null if there are both.
    pub reason: Option<String>,
    /// Mechanisms that the prediction does not contain.
    pub not_modelled: Vec<String>,
    /// Measured time on the other device in seconds; null without `--check`.
    pub measured_s: Option<f64>,
}

/// A prediction that was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictionCheck {
    /// Id of the run that was predicted from.
    pub run: String,
    /// Id of the run that was measured.
    pub measured_run: String,
    /// Time of the check, in seconds since 1970.
    pub made_unix_s: f64,
    /// The test.
    pub program: String,
    /// The target of the check.
    pub target: String,
    /// The name of the other device.
    pub device: String,
    /// Measured time of the first run in seconds.
    pub here_s: f64,
    /// Predicted time in seconds.
    pub predicted_s: f64,
    /// The range that was stated before the check; null if there was none.
    pub low_s: Option<f64>,
    /// As `low_s`.
    pub high_s: Option<f64>,
    /// Measured time in seconds.
    pub measured_s: f64,
    /// The reason why the check is left out of all ranges and counts: its target is another device than that of the
    /// law. Null if it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

impl PredictionCheck {
    /// True if the measured time is within the stated range; `None` if no range was stated or the check does not count.
    pub fn is_within(&self) -> Option<bool> {
        if self.elsewhere.is_some() {
            return None;
        }
        Some((self.low_s?..=self.high_s?).contains(&self.measured_s))
    }

    /// The measured time over the predicted time.
    pub fn ratio(&self) -> f64 {
        self.measured_s / self.predicted_s
    }
}

/// All checks, and how many were within their range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckRecord {
    /// Checks of predictions with a range.
    pub with_range: u64,
    /// Those of them that were within their range.
    pub within: u64,
    /// All checks, the oldest first.
    pub checks: Vec<PredictionCheck>,
}

impl CheckRecord {
    /// Counts the checks.
    pub fn new(checks: Vec<PredictionCheck>) -> CheckRecord {
        let stated = || checks.iter().filter_map(PredictionCheck::is_within);
        CheckRecord { with_range: stated().count() as u64, within: stated().filter(|is| *is).count() as u64, checks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_without_a_range_are_not_counted() {
        let check = |range: Option<(f64, f64)>, measured_s| PredictionCheck {
            run: "a".to_owned(),
            measured_run: "b".to_owned(),
            made_unix_s: 1.0,
            program: "tar".to_owned(),
            target: "/t".to_owned(),
            device: "slow".to_owned(),
            here_s: 1.0,
            predicted_s: 2.0,
            low_s: range.map(|(low, _)| low),
            high_s: range.map(|(_, high)| high),
            measured_s,
            elsewhere: None,
        };
        let range = Some((1.5, 2.5));
        let record = CheckRecord::new(vec![check(None, 2.0), check(range, 2.5), check(range, 2.6), check(range, 1.4)]);
        assert_eq!((record.with_range, record.within, record.checks.len()), (3, 1, 4));
        assert_eq!(record.checks[2].ratio(), 1.3);
    }

    #[test]
    fn checks_on_another_device_are_kept_and_not_counted() {
        let text = r#"{"run": "a", "measured_run": "b", "made_unix_s": 1.0, "program": "tar", "target": "/t",
            "device": "slow", "here_s": 1.0, "predicted_s": 2.0, "low_s": 1.5, "high_s": 2.5, "measured_s": 2.0}"#;
        let check: PredictionCheck = serde_json::from_str(text).expect("a check without the later field");
        let elsewhere = PredictionCheck { elsewhere: Some("it ran on vdb".to_owned()), ..check.clone() };
        let record = CheckRecord::new(vec![check, elsewhere]);
        assert_eq!((record.with_range, record.within, record.checks.len()), (1, 1, 2));
    }
}
