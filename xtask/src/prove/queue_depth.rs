//! Compares rates at queue depth with the better of two fio settings.

use serde_json::Value;

use super::{Experiment, Figure};

/// The minimum ratio of our rate to fio's.
const LEAST: f64 = 0.98;

pub const EXPERIMENT: Experiment = Experiment {
    name: "depth-beside-fio",
    command: &["cargo", "bench", "--quiet", "--package", "diskperf", "--bench", "depth"],
    figures: 4,
    judge: compare,
};

fn compare(line: &Value) -> Option<Figure> {
    let load = line["depth_beside_fio"].as_str()?;
    let (ratio, control) = (line["ratio"].as_f64()?, line["control"].as_f64()?);
    let (turns, is_decided) = (line["turns"].as_u64()?, line["is_decided"].as_bool()?);
    let (fio, rate) = (line["fio"].as_str()?, line["fio_rate"].as_f64()?);
    let measured = format!("{ratio:.3}; fio / fio {control:.3}, {turns} turns, fio with {fio} {rate:.0}/s");
    Some(Figure {
        what: format!("rate beside fio: {load}"),
        asked: format!("at least {LEAST}, fio / fio within 1 %"),
        measured: if is_decided { measured } else { format!("not decided: {measured}") },
        reached: is_decided && ratio >= LEAST,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_ratio_counts_only_if_fio_repeats_itself() {
        let figure = |ratio: f64, is_decided: bool| {
            compare(&json!({
                "depth_beside_fio": "randread", "ratio": ratio, "control": 1.004, "is_decided": is_decided, "turns": 8,
                "fio": "its default", "fio_rate": 1000.0,
            }))
            .expect("a figure")
        };
        assert!(figure(0.98, true).reached && !figure(0.979, true).reached && !figure(1.1, false).reached);
        assert!(figure(1.1, false).measured.starts_with("not decided"));
        assert_eq!(compare(&json!({"depth_beside_fio": "randread", "ratio": 1.0})), None);
    }
}
