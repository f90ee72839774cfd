//! `probe` on disks with known laws: the rate and the credit of token buckets.

use serde_json::Value;

use super::{Experiment, Figure};

/// The largest error, as a share.
const ERROR: f64 = 0.01;

pub const EXPERIMENT: Experiment = Experiment {
    name: "probe-known-disks",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "probe"],
    figures: 4,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    let (row, rate, burst) = (line["probe"].as_str()?, line["rate"].as_u64()?, line["burst"].as_u64()?);
    let ratios = ["rate_ratio", "burst_ratio"].map(|name| line[name].as_f64());
    let text = |ratio: Option<f64>| ratio.map_or_else(|| "n.m.".to_owned(), |ratio| format!("x{ratio:.4}"));
    let is_near = |ratio: Option<f64>| ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= ERROR);
    Some(Figure {
        what: format!("`probe` on a served file: {row} {rate}, burst {burst}"),
        asked: "rate and burst within 1 %".to_owned(),
        measured: format!("rate {}, burst {}", text(ratios[0]), text(ratios[1])),
        reached: ratios.into_iter().all(is_near),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_figures_must_be_measured_and_near() {
        let reached = |rate: Option<f64>, burst: Option<f64>| {
            let line = json!({
                "probe": "request bucket rate", "rate": 500, "burst": 600, "rate_ratio": rate, "burst_ratio": burst,
            });
            judge(&line).expect("a figure").reached
        };
        assert!(reached(Some(1.004), Some(0.992)));
        assert!(!reached(Some(1.02), Some(1.0)) && !reached(Some(1.0), None));
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
