//! Predictions of commands on disks with known laws, each checked on a disk. Commands are predicted for another disk,
//! and for a disk with a changed constant. Predictions from disturbed runs must be refused.

use serde_json::Value;

use super::{Experiment, Figure};

/// The largest error of a prediction for a changed constant (`--set`), as a share.
const WHAT_IF: f64 = 0.1;

pub const EXPERIMENT: Experiment = Experiment {
    name: "predict",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "predict"],
    figures: 6,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    of_all(line).or_else(|| of_what_if(line)).or_else(|| of_noisy(line))
}

fn of_what_if(line: &Value) -> Option<Figure> {
    let (what_if, command) = (line["what_if"].as_str()?, line["command"].as_str()?);
    let ratio = line["predicted_s"].as_f64().zip(line["measured_s"].as_f64()).map(|(one, other)| one / other);
    Some(Figure {
        what: format!("`predict --set`: {command} with {what_if}, checked on a disk that has it"),
        asked: "within 10 % of the measured time".to_owned(),
        measured: match ratio {
            Some(ratio) => format!("predicted / measured x{ratio:.3}"),
            None => format!("n.m.: {}", line["reason"].as_str().unwrap_or("no reason")),
        },
        reached: ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= WHAT_IF),
    })
}

fn of_noisy(line: &Value) -> Option<Figure> {
    let (runs, refused) = (line["noisy"].as_u64()?, line["refused"].as_u64()?);
    Some(Figure {
        what: "`predict` from runs that other load disturbed".to_owned(),
        asked: "refused in ten of ten".to_owned(),
        measured: format!("refused in {refused} of {runs}"),
        reached: refused == runs,
    })
}

fn of_all(line: &Value) -> Option<Figure> {
    let count = |name: &str| line[name].as_u64();
    let (all, refused) = (count("predictions")?, count("refused")?);
    let (near, stated, within) = (count("within_a_fifth")?, count("with_range")?, count("within_range")?);
    let median = line["median_error"].as_f64().unwrap_or(f64::INFINITY);
    let made = all.saturating_sub(refused);
    // Rounded up: one of fewer than 34 predictions is more than 3 % of them, so all of them may be in their ranges.
    let is_right = within as f64 >= 0.85 * stated as f64 && within <= (0.97 * stated as f64).ceil() as u64;
    Some(Figure {
        what: format!("`predict` of {all} commands on disks of known law, checked on the disks"),
        asked: "median error at most 10 %, 90 % within 20 %, 85 to 97 % in the stated range (rounded up)".to_owned(),
        measured: format!(
            "median {:.1} %, {near} of {made} within 20 %, {within} of {stated} in the range, {refused} refused",
            median * 100.0
        ),
        reached: made > 0 && median <= 0.1 && near * 10 >= made * 9 && stated > 0 && is_right,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_and_ranges_must_both_be_right() {
        let reached = |median: f64, near: u64, [within, stated]: [u64; 2]| {
            judge(&json!({
                "predictions": 28, "refused": 8, "median_error": median, "within_a_fifth": near, "with_range": stated,
                "within_range": within,
            }))
            .expect("a figure")
            .reached
        };
        assert!(reached(0.05, 18, [9, 10]) && reached(0.05, 18, [10, 10]) && reached(0.05, 18, [97, 100]));
        assert!(!reached(0.11, 18, [9, 10]) && !reached(0.05, 17, [9, 10]));
        assert!(!reached(0.05, 18, [8, 10]) && !reached(0.05, 18, [98, 100]) && !reached(0.05, 18, [0, 0]));
        assert_eq!(judge(&json!({"predicted_command": "dd"})), None);
    }

    #[test]
    fn a_what_if_needs_both_times() {
        let reached = |measured: Option<f64>| {
            let line = json!({"what_if": "x", "command": "dd", "predicted_s": 1.0, "measured_s": measured});
            judge(&line).expect("a figure").reached
        };
        assert!(reached(Some(1.05)) && !reached(Some(0.8)) && !reached(None));
    }

    #[test]
    fn every_disturbed_run_must_be_refused() {
        let reached = |refused: u64| judge(&json!({"noisy": 10, "refused": refused})).expect("a figure").reached;
        assert!(reached(10) && !reached(9));
    }
}
