//! Predictions of seven commands on four disks of known law, each checked on the disk itself.

use serde_json::Value;

use super::{Experiment, Figure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "predict",
    command: &["cargo", "bench", "--quiet", "--package", "diskperf", "--bench", "predict"],
    figures: 1,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    let count = |name: &str| line[name].as_u64();
    let (all, refused) = (count("predictions")?, count("refused")?);
    let (near, stated, within) = (count("within_a_fifth")?, count("with_range")?, count("within_range")?);
    let median = line["median_error"].as_f64().unwrap_or(f64::INFINITY);
    let (made, share) = (all.saturating_sub(refused), within as f64 / stated as f64);
    Some(Figure {
        what: format!("`predict` of {all} commands on disks of known law, checked on the disks"),
        asked: "median error at most 10 %, 90 % within 20 %, 85 to 97 % in the stated range".to_owned(),
        measured: format!(
            "median {:.1} %, {near} of {made} within 20 %, {within} of {stated} in the range, {refused} refused",
            median * 100.0
        ),
        reached: made > 0 && median <= 0.1 && near * 10 >= made * 9 && (0.85..=0.97).contains(&share),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_and_ranges_must_both_be_right() {
        let reached = |median: f64, near: u64, within: u64| {
            judge(&json!({
                "predictions": 28, "refused": 8, "median_error": median, "within_a_fifth": near, "with_range": 10,
                "within_range": within,
            }))
            .expect("a figure")
            .reached
        };
        assert!(reached(0.05, 18, 9));
        assert!(!reached(0.11, 18, 9) && !reached(0.05, 17, 9) && !reached(0.05, 18, 8) && !reached(0.05, 18, 10));
        assert_eq!(judge(&json!({"predicted_command": "dd"})), None);
    }
}
