//! Checks that tests pass under any condition: three runs each on a quiet and a busy machine, on one processor, and
//! with a slow disk. `cargo xtask steady-tests` runs them and stores the result of each test.

use serde_json::Value;

use super::{Experiment, Figure};

pub const QUIET: Experiment =
    experiment("steady-tests-quiet", &["cargo", "xtask", "steady-tests", "quiet", "--runs", "3"]);
pub const BUSY: Experiment =
    experiment("steady-tests-busy", &["cargo", "xtask", "steady-tests", "busy", "--runs", "3"]);
pub const ONE_PROCESSOR: Experiment =
    experiment("steady-tests-one-processor", &["cargo", "xtask", "steady-tests", "one-processor", "--runs", "3"]);
pub const SLOW_DISK: Experiment =
    experiment("steady-tests-slow-disk", &["cargo", "xtask", "steady-tests", "slow-disk", "--runs", "3"]);

const fn experiment(name: &'static str, command: &'static [&'static str]) -> Experiment {
    Experiment { name, command, figures: 3, judge }
}

/// The line of a run of all tests. A test that skipped itself has not passed.
fn judge(line: &Value) -> Option<Figure> {
    let (condition, run) = (line["steady_tests"].as_str()?, line["run"].as_u64()?);
    let (passed, tests) = (line["passed"].as_u64()?, line["tests"].as_u64()?);
    let failed = line["failed"].as_array()?.iter().map(|one| {
        let [test, file] = ["test", "file"].map(|key| one[key].as_str().unwrap_or("?"));
        let how = if one["timed_out"] == true { "timed out" } else { "failed" };
        let within = one["within_s"].as_u64().map(|seconds| format!(" within {seconds} s")).unwrap_or_default();
        format!("; {how}: {test} ({file}), again {} of {} times{within}", one["failed_again"], one["of"])
    });
    let failed: Vec<String> = failed.collect();
    let skipped = line["skipped"].as_object()?;
    let mut measured = format!("{passed} of {tests} tests passed{}", failed.concat());
    if !skipped.is_empty() {
        let names: Vec<&str> = skipped.keys().map(String::as_str).collect();
        measured += &format!("; {} skipped: {}", names.len(), names.join(", "));
    }
    Some(Figure {
        what: format!("tests, {condition}, run {run}"),
        asked: "all pass, none skipped".to_owned(),
        measured,
        reached: tests > 0 && failed.is_empty() && skipped.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failures_are_named_with_repeats_and_skips_do_not_pass() {
        let line = |failed: Value, skipped: Value| {
            json!({"steady_tests": "busy", "run": 2, "files": 3, "tests": 11, "passed": 10, "failed": failed,
                   "skipped": skipped})
        };
        let failed = json!([{"test": "cli::a", "file": "diskperf::cli", "failed_again": 3, "of": 20}]);
        let figure = judge(&line(failed, json!({}))).expect("a figure");
        assert!(!figure.reached && figure.what == "tests, busy, run 2");
        assert!(
            figure.measured.ends_with("failed: cli::a (diskperf::cli), again 3 of 20 times"),
            "{}",
            figure.measured
        );
        let skipped = line(json!([]), json!({"cli::b": "needs root"}));
        let figure = judge(&skipped).expect("a figure");
        assert!(!figure.reached && figure.measured.ends_with("1 skipped: cli::b"), "{}", figure.measured);
        assert!(judge(&line(json!([]), json!({}))).is_some_and(|figure| figure.reached));
        let hung = json!([{"test": "cli::a", "file": "diskperf::cli", "failed_again": 20, "of": 20, "timed_out": true,
                           "within_s": 120}]);
        let figure = judge(&line(hung, json!({}))).expect("a figure");
        assert!(
            figure.measured.ends_with("timed out: cli::a (diskperf::cli), again 20 of 20 times within 120 s"),
            "{}",
            figure.measured
        );
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
