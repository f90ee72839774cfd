//! Compares with fio on the same workloads: rates and latencies, and the CPU cost of an operation.

use serde_json::Value;

use super::{Experiment, Figure};

/// The maximum relative difference of rate and p50 from fio's, and of p99 from the range of fio's own runs.
const APART: f64 = 0.05;

/// The minimum ratio of fio's CPU time per operation to ours.
const CHEAPER: [(&str, f64); 3] = [("psync", 1.15), ("io_uring, tuned", 1.2), ("null", 1.5)];

pub const EXPERIMENT: Experiment = Experiment {
    name: "beside-fio",
    command: &["cargo", "bench", "--quiet", "--package", "diskperf", "--bench", "fio"],
    figures: 8 + CHEAPER.len(),
    judge: |line| compare(line).or_else(|| cost(line)),
};

fn compare(line: &Value) -> Option<Figure> {
    let name = line["beside_fio"].as_str()?;
    let [rate, p50, p99] = ["rate_ratio", "p50_ratio", "p99_us"].map(|figure| line[figure].as_f64());
    let [low, high] = [0, 1].map(|end| line["fio_p99_us"][end].as_f64());
    let (rate, p50, p99, low, high) = (rate?, p50?, p99?, low?, high?);
    let is_near = |ratio: f64| (ratio - 1.0).abs() <= APART;
    Some(Figure {
        what: format!("beside fio, {name}: rate and p50 as ratios; p99 in fio's range"),
        asked: format!("both within {} %; range widened by {0} %", 100.0 * APART),
        measured: format!("{rate:.3}, {p50:.3}; {p99:.1} us in {low:.1} to {high:.1}"),
        reached: is_near(rate) && is_near(p50) && p99 >= low * (1.0 - APART) && p99 <= high * (1.0 + APART),
    })
}

fn cost(line: &Value) -> Option<Figure> {
    let name = line["cpu_beside_fio"].as_str()?;
    let (_, asked) = CHEAPER.iter().find(|(cheaper, _)| *cheaper == name)?;
    let [ratio, ours, fio] = ["fio_over_ours", "ours_ns", "fio_ns"].map(|figure| line[figure].as_f64());
    let (ratio, ours, fio) = (ratio?, ours?, fio?);
    Some(Figure {
        what: format!("processor time of a 4 KiB operation in memory or nowhere, fio / ours: {name}"),
        asked: format!("at least {asked}"),
        measured: format!("{ratio:.2} ({fio:.0} / {ours:.0} ns)"),
        reached: ratio >= *asked,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn workloads_must_match_fio_in_rate_and_both_latencies() {
        let reached = |rate: f64, p50: f64, p99: f64| {
            let line = json!({
                "beside_fio": "randread", "rate_ratio": rate, "p50_ratio": p50, "p99_us": p99,
                "fio_p99_us": [100.0, 120.0],
            });
            compare(&line).expect("a figure").reached
        };
        assert!(reached(1.04, 0.96, 125.0) && reached(1.0, 1.0, 96.0));
        assert!(!reached(1.06, 1.0, 110.0) && !reached(1.0, 0.9, 110.0) && !reached(1.0, 1.0, 127.0));
        assert_eq!(compare(&json!({"beside_fio": "randread", "rate_ratio": 1.0})), None);
    }

    #[test]
    fn each_engine_has_its_own_bound() {
        let reached = |name: &str, ratio: f64| {
            let line = json!({"cpu_beside_fio": name, "fio_over_ours": ratio, "ours_ns": 700.0, "fio_ns": 900.0});
            cost(&line).map(|figure| figure.reached)
        };
        assert_eq!(
            (reached("psync", 1.16), reached("null", 1.16), reached("other", 9.0)),
            (Some(true), Some(false), None)
        );
    }
}
