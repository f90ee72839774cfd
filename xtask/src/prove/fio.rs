//! Compares with fio on the same workloads: rates and latencies, and the CPU cost of an operation.

use serde_json::Value;

use super::queueing_law::three;
use super::{Experiment, Figure};

/// The maximum relative difference of rate and p50 from fio's, and of p99 from the range of fio's own runs.
const APART: f64 = 0.05;

/// The minimum ratio of fio's CPU time per operation to ours.
const CHEAPER: [(&str, f64); 3] = [("psync", 1.15), ("io_uring, tuned", 1.2), ("null", 1.5)];

pub const EXPERIMENT: Experiment = Experiment {
    name: "beside-fio",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "fio"],
    figures: 8 + CHEAPER.len(),
    judge: |line| compare(line).or_else(|| cost(line)),
};

/// Latencies of fsync and fdatasync in turns with fio, whose two runs in each turn are the control.
pub const SYNCS: Experiment = Experiment {
    name: "syncs-beside-fio",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "syncs"],
    figures: 2,
    judge: syncs,
};

fn syncs(line: &Value) -> Option<Figure> {
    let call = line["sync_beside_fio"].as_str()?;
    let [ratios, controls, fio] = ["ratios", "controls", "fio_us"].map(|name| three(&line[name]));
    let (ratios, controls, fio) = (ratios?, controls?, fio?);
    let (turns, is_decided) = (line["turns"].as_u64()?, line["is_decided"].as_bool()?);
    let list = |all: [f64; 3], digits: usize| all.map(|one| format!("{one:.digits$}")).join(", ");
    let measured =
        format!("{}; fio / fio {}; fio {} us; {turns} turns", list(ratios, 3), list(controls, 3), list(fio, 1));
    Some(Figure {
        what: format!("beside fio, p50, p90 and p99 of {call} on an ext4 in memory, as ratios"),
        asked: format!("all within {} %; fio / fio within 3 %", 100.0 * APART),
        measured: if is_decided { measured } else { format!("not decided: {measured}") },
        reached: is_decided && ratios.iter().all(|ratio| (ratio - 1.0).abs() <= APART),
    })
}

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
    #[test]
    fn all_percentiles_of_syncs_count_and_only_if_fio_repeats_itself() {
        let figure = |ratios: Value, is_decided: bool| {
            let line = json!({
                "sync_beside_fio": "fsync", "ratios": ratios, "controls": [1.0, 0.99, 1.02],
                "fio_us": [40.0, 50.0, 90.0], "turns": 9, "is_decided": is_decided,
            });
            syncs(&line)
        };
        let reached = |ratios: [f64; 3], is_decided| figure(json!(ratios), is_decided).expect("a figure").reached;
        assert!(reached([0.96, 1.0, 1.04], true) && !reached([1.0, 1.0, 1.0], false));
        assert!(!reached([1.06, 1.0, 1.0], true) && !reached([1.0, 0.94, 1.0], true));
        assert!(!reached([1.0, 1.0, 1.06], true));
        let undecided = figure(json!([1.0, 1.0, 1.0]), false).expect("a figure").measured;
        assert!(
            undecided.starts_with("not decided: 1.000, 1.000, 1.000; fio / fio 1.000, 0.990, 1.020"),
            "{undecided}"
        );
        assert_eq!(figure(json!([1.0, null, 1.0]), true), None);
    }
}
