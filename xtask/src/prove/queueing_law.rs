//! Compares the results for a queue with queueing theory.

use serde_json::Value;

use super::{Experiment, Figure};

/// The maximum relative error of a rate, and of a percentile, against queueing theory.
const RATE: f64 = 0.03;
const TIME: f64 = 0.05;

pub const EXPERIMENT: Experiment = Experiment {
    name: "law",
    command: &["cargo", "bench", "--quiet", "--package", "diskperf", "--bench", "law"],
    figures: 4,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    let name = line["law"].as_str()?;
    let [rate, p50, p99] = ["rate_error", "p50_error", "p99_error"].map(|error| line[error].as_f64());
    let percent =
        |error: Option<f64>| error.map_or_else(|| "n.m.".to_owned(), |error| format!("{:+.1} %", 100.0 * error));
    let is_within = |error: Option<f64>, most: f64| error.is_some_and(|error| error.abs() <= most);
    Some(Figure {
        what: format!("random reads of a single server of 200 us, {name}: rate, p50, p99 against queueing theory"),
        asked: format!("{} %, {} %, {1} %", 100.0 * RATE, 100.0 * TIME),
        measured: [rate, p50, p99].map(percent).join(", "),
        reached: is_within(rate, RATE) && is_within(p50, TIME) && is_within(p99, TIME),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_error_counts_and_unknown_errors_miss_the_goal() {
        let reached = |rate: Value, p99: f64| {
            judge(&json!({"law": "depth 8", "rate_error": rate, "p50_error": 0.04, "p99_error": p99}))
                .expect("a figure")
                .reached
        };
        assert!(reached(json!(-0.02), 0.05));
        assert!(!reached(json!(-0.04), 0.05) && !reached(json!(0.0), -0.06) && !reached(Value::Null, 0.0));
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
