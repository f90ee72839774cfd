//! Verdicts on setups whose true difference is known, over random rounds with a fixed seed.

use serde_json::Value;

use super::{Experiment, Figure};

/// The number of comparisons per figure.
const COMPARISONS: u64 = 10_000;

pub const EXPERIMENT: Experiment = Experiment {
    name: "comparisons",
    command: &[
        "cargo",
        "--config",
        "env.DISKPERF_COMPARISONS=\"10000\"",
        "test",
        "--quiet",
        "--release",
        "--workspace",
        "--test",
        "ratio_test",
        "--",
        "--nocapture",
    ],
    figures: 11,
    judge,
};

/// Verdicts of `choose` on two disks with throttled speeds.
pub const THROTTLED: Experiment = Experiment {
    name: "choose-between-throttled-disks",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "choose", "--", "limits"],
    figures: 2,
    judge: throttled,
};

/// Verdicts of `choose` on pairs of disks with speeds that the command does not know.
pub const TASKS: Experiment = Experiment {
    name: "choose-between-unknown-disks",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "choose", "--", "tasks"],
    figures: 1,
    judge: tasks,
};

/// Verdicts of `choose` on equal images.
pub const EQUAL: Experiment = Experiment {
    name: "choose-between-equal-images",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "choose", "--", "equal"],
    figures: 1,
    judge: equal,
};

/// Checks that five minutes are enough to compare three file systems.
pub const FILE_SYSTEMS: Experiment = Experiment {
    name: "choose-between-file-systems",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "choose", "--", "file-systems"],
    figures: 1,
    judge: file_systems,
};

/// The time limit in seconds, including the creation and removal of the images.
const FIVE_MINUTES: f64 = 300.0;

fn tasks(line: &Value) -> Option<Figure> {
    let (all, right) = (line["tasks"].as_u64()?, line["right"].as_u64()?);
    let both = line["right_and_inside"].as_u64()?;
    Some(Figure {
        what: format!("`choose` between two disks of unknown speed, {all} pairs from a seed"),
        asked: "right answer and true size inside the interval in 19 of 20".to_owned(),
        measured: format!("{right} right, {both} with the true size inside"),
        reached: all >= 20 && both * 20 >= all * 19,
    })
}

fn equal(line: &Value) -> Option<Figure> {
    let (all, wrong) = (line["equal"].as_u64()?, line["said_faster"].as_u64()?);
    let (comparisons, rounds) = (line["comparisons"].as_u64()?, line["rounds"].as_u64()?);
    Some(Figure {
        what: format!("`choose` between two equal images, {all} times, {comparisons} comparisons, {rounds} rounds"),
        asked: "at most 6 of 40 say that one is faster".to_owned(),
        measured: wrong.to_string(),
        reached: all >= 40 && wrong * 40 <= all * 6,
    })
}

fn file_systems(line: &Value) -> Option<Figure> {
    let (elapsed, fewest) = (line["elapsed_s"].as_f64()?, line["fewest_pairs"].as_u64()?);
    let count = |name: &str| line[name].as_u64();
    let [all, faster, same] = ["comparisons", "faster", "same"].map(count);
    Some(Figure {
        what: format!("`choose` between {} file systems, the programs of quick", line["file_systems"].as_u64()?),
        asked: "5 minutes, at least 6 rounds each".to_owned(),
        measured: format!("{elapsed:.0} s, {fewest} rounds or more; of {} faster {}, same {}", all?, faster?, same?),
        reached: elapsed <= FIVE_MINUTES && fewest >= 6,
    })
}

fn throttled(line: &Value) -> Option<Figure> {
    let limits: Vec<f64> = line["choose"].as_array()?.iter().filter_map(Value::as_f64).collect();
    let [first, second] = limits[..] else { return None };
    let (ratio, verdict, rounds) = (line["ratio"].as_f64()?, line["verdict"].as_str()?, line["rounds"].as_u64()?);
    let [low, high] = ["low", "high"].map(|end| line[end].as_f64().unwrap_or(f64::NAN));
    let (asked, reached) = if first == second {
        ("same, in at most 12 rounds".to_owned(), verdict == "same")
    } else {
        let is_near = (ratio / (second / first) - 1.0).abs() <= 0.1;
        let asked = format!("b, within 10 % of {:.2}x, in at most 12 rounds", second / first);
        (asked, verdict == "faster" && line["faster"] == "b" && is_near)
    };
    Some(Figure {
        what: format!("`choose` between disks of {first} and {second} MiB/s"),
        asked,
        measured: format!("{verdict}, {ratio:.3}x ({low:.3}-{high:.3}), {rounds} rounds"),
        reached: reached && rounds <= 12,
    })
}

fn judge(line: &Value) -> Option<Figure> {
    let (times, what) = (line["comparisons"].as_u64()?, line["what"].as_str()?);
    let (pairs, said) = (line["pairs"].as_u64()?, line["said_percent"].as_f64()?);
    // The names that the test prints, and the percentages within which the results must be.
    let (low, high) = match what {
        "equal, said to be faster" => (4.0, 6.0),
        "ten programs, all equal" => (0.0, 6.0),
        "2 % faster, a reason to choose" => (0.0, 0.0),
        "5 % faster, found" | "equal, said to be the same" | "20 % faster, a reason to choose" => (90.0, 100.0),
        _ => return None,
    };
    // A comparison of ten programs is ten comparisons, so fewer of them suffice.
    let is_enough = times >= COMPARISONS / if what.starts_with("ten") { 4 } else { 1 };
    Some(Figure {
        what: format!("{what}, of {times} comparisons with up to {pairs} pairs"),
        asked: format!("{low} to {high} % of 10000"),
        measured: format!("{said:.2} %"),
        reached: is_enough && (low..=high).contains(&said),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn faster_disks_and_equal_disks_must_be_recognized() {
        let reached = |limits: [u64; 2], verdict: &str, ratio: f64, rounds: u64| {
            let line = json!({
                "choose": limits, "verdict": verdict, "faster": "b", "ratio": ratio, "low": 1.0, "high": 2.0,
                "rounds": rounds,
            });
            throttled(&line).expect("a figure").reached
        };
        assert!(reached([20, 24], "faster", 1.25, 8) && reached([20, 20], "same", 1.0, 12));
        assert!(!reached([20, 24], "same", 1.2, 8) && !reached([20, 24], "faster", 1.4, 8));
        assert!(!reached([20, 24], "faster", 1.2, 13) && !reached([20, 20], "faster", 1.0, 6));
    }

    #[test]
    fn one_of_twenty_and_six_of_forty_may_be_wrong() {
        let right =
            |both: u64| tasks(&json!({"tasks": 20, "right": 20, "right_and_inside": both})).map(|one| one.reached);
        assert_eq!([right(19), right(18)], [Some(true), Some(false)]);
        let said = |wrong: u64, all: u64| {
            let line = json!({"equal": all, "comparisons": 3 * all, "rounds": 6 * all, "said_faster": wrong});
            equal(&line).map(|one| one.reached)
        };
        assert_eq!([said(6, 40), said(7, 40), said(0, 10)], [Some(true), Some(false), Some(false)]);
        let timed = |elapsed: f64, fewest: u64| {
            let line = json!({
                "file_systems": 3, "elapsed_s": elapsed, "comparisons": 36, "fewest_pairs": fewest,
                "faster": 9, "same": 9,
            });
            file_systems(&line).map(|one| one.reached)
        };
        assert_eq!([timed(290.0, 6), timed(290.0, 5), timed(400.0, 6)], [Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn too_few_or_wrong_comparisons_miss_the_goal() {
        let reached = |times: u64, what: &str, said: f64| {
            let line = json!({"comparisons": times, "what": what, "pairs": 6, "said_percent": said});
            judge(&line).expect("a figure").reached
        };
        assert!(reached(10_000, "equal, said to be faster", 5.0));
        assert!(!reached(10_000, "equal, said to be faster", 6.5) && !reached(400, "equal, said to be faster", 5.0));
        assert!(!reached(10_000, "2 % faster, a reason to choose", 0.01));
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
