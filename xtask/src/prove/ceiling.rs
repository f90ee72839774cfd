//! The column `of limit`: the limits of six throttled volumes, and its cost on the results.

use serde_json::Value;

use super::{Experiment, Figure};

/// The largest error of a known limit.
const ERROR: f64 = 0.03;

/// The largest cost, as a share of the rate.
const COST: f64 = 0.01;

pub const EXPERIMENT: Experiment = Experiment {
    name: "ceiling",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "ceiling"],
    figures: 7,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    if let Some(ratio) = line["rate_with_over_without"].as_f64() {
        return Some(Figure {
            what: "rate of read_8192 after a round with a ceiling / after one without".to_owned(),
            asked: format!("1 - {COST} or more"),
            measured: format!("{ratio:.4}"),
            reached: ratio >= 1.0 - COST,
        });
    }
    let (kind, allowed) = (line["ceiling"].as_str()?, line["allowed"].as_f64()?);
    let limit = line["limit"].as_f64();
    let measured = limit.map_or_else(
        || format!("n.m.: {}", line["reason"].as_str().unwrap_or("no reason")),
        |limit| format!("{limit:.0}/s, {:+.1} %", 100.0 * (limit / allowed - 1.0)),
    );
    Some(Figure {
        what: format!("limit of {kind} on a volume of {allowed}/s"),
        asked: format!("within {:.0} %", 100.0 * ERROR),
        measured,
        reached: limit.is_some_and(|limit| (limit - allowed).abs() <= ERROR * allowed),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_and_wrong_limits_miss_the_goal() {
        let reached = |limit: Value| {
            let line = json!({"ceiling": "read", "allowed": 1000, "limit": limit, "reason": "unstable"});
            judge(&line).expect("a figure").reached
        };
        assert!(reached(json!(970.0)) && reached(json!(1030.0)));
        assert!(!reached(json!(969.0)) && !reached(json!(1031.0)) && !reached(Value::Null));
        let cost = |ratio: f64| judge(&json!({"rate_with_over_without": ratio})).expect("a figure").reached;
        assert!(cost(0.99) && cost(1.02) && !cost(0.98));
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
