//! Compares the results for a queue with queueing theory.

use serde_json::Value;

use super::{Experiment, Figure};

/// The maximum relative error of a rate, and of a percentile, against queueing theory.
const RATE: f64 = 0.03;
const TIME: f64 = 0.05;

pub const EXPERIMENT: Experiment = Experiment {
    name: "law",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "law"],
    figures: 4,
    judge,
};

/// The maximum relative errors of the open loop in turns with fio: of its rate, and of its percentiles.
const OPEN_RATE: f64 = 0.02;
const OPEN_TIME: f64 = 0.1;

/// The open loop in turns with fio, whose two runs in each turn are the control.
pub const OPEN_LOOP: Experiment = Experiment {
    name: "open-loop",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "law", "--", "open"],
    figures: 1,
    judge: open_loop,
};

fn open_loop(line: &Value) -> Option<Figure> {
    let load = line["open_loop"].as_str()?;
    let [errors, fio, controls] = ["errors", "fio_errors", "controls"].map(|name| three(&line[name]));
    let (errors, fio, controls) = (errors?, fio?, controls?);
    let (turns, is_decided) = (line["turns"].as_u64()?, line["is_decided"].as_bool()?);
    let [middle, late, longest] = three(&line["alone_us"])?;
    let percent = |all: [f64; 3]| all.map(|one| format!("{:+.1} %", 100.0 * one)).join(", ");
    let controls = percent(controls.map(|ratio| ratio - 1.0));
    let measured = format!(
        "{}; fio {}; fio / fio {controls}; {turns} turns; read alone: p50 {middle:.0} us, p99 {late:.0} us, max \
         {longest:.0} us",
        percent(errors),
        percent(fio)
    );
    let [rate, p50, p99] = errors.map(f64::abs);
    Some(Figure {
        what: format!("open loop on a single server of 200 us, {load}: rate, p50, p99 against queueing theory"),
        asked: format!("{} %, {1} %, {1} %; fio / fio within 3 %", 100.0 * OPEN_RATE, 100.0 * OPEN_TIME),
        measured: if is_decided { measured } else { format!("not decided: {measured}") },
        reached: is_decided && rate <= OPEN_RATE && p50 <= OPEN_TIME && p99 <= OPEN_TIME,
    })
}

/// Three numbers. `None` if one is missing.
pub(super) fn three(value: &Value) -> Option<[f64; 3]> {
    let all: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    all?.try_into().ok()
}

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
    #[test]
    fn the_open_loop_counts_only_if_fio_repeats_itself() {
        let figure = |errors: Value, is_decided: bool| {
            let line = json!({
                "open_loop": "70 % busy", "errors": errors, "fio_errors": [0.0, 0.05, 0.2],
                "controls": [1.0, 1.01, 0.98], "turns": 9, "is_decided": is_decided, "alone_us": [230, 400, 9000],
            });
            open_loop(&line)
        };
        let reached = |errors: [f64; 3], is_decided| figure(json!(errors), is_decided).expect("a figure").reached;
        assert!(reached([0.02, -0.1, 0.1], true));
        assert!(!reached([0.021, 0.0, 0.0], true) && !reached([0.0, -0.11, 0.0], true));
        assert!(!reached([0.0, 0.0, 0.11], true) && !reached([0.0, 0.0, 0.0], false));
        let undecided = figure(json!([0.0, 0.0, 0.0]), false).expect("a figure").measured;
        assert!(
            undecided.starts_with("not decided: +0.0 %, +0.0 %, +0.0 %; fio +0.0 %, +5.0 %, +20.0 %"),
            "{undecided}"
        );
        assert!(undecided.ends_with("read alone: p50 230 us, p99 400 us, max 9000 us"), "{undecided}");
        assert_eq!((figure(json!([0.0, 0.0]), true), figure(json!([0.0, null, 0.0]), true)), (None, None));
    }
}
