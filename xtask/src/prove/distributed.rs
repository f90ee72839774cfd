//! Runs the tests of the distributed program.

use serde_json::Value;

use super::{Experiment, Figure, WITH_DISTRIBUTED};

/// The experiment. A failed or skipped test prints no line, so that its figure is missing.
pub const EXPERIMENT: Experiment = Experiment {
    name: "dist",
    command: &[
        "cargo",
        "--config",
        WITH_DISTRIBUTED,
        "test",
        "--quiet",
        "--workspace",
        "--bench",
        "dist",
        "--",
        "--nocapture",
    ],
    figures: 4,
    judge,
};

/// The line of a test that has passed.
fn judge(line: &Value) -> Option<Figure> {
    let passed = line["distributed"].as_str()?;
    Some(Figure {
        what: format!("the distributed program: {passed}"),
        asked: "the test passes".to_owned(),
        measured: "it passes".to_owned(),
        reached: true,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_lines_of_passed_tests_are_figures() {
        assert!(judge(&json!({"distributed": "same texts"})).is_some_and(|figure| figure.reached));
        assert_eq!(judge(&json!({"program": "write_8192", "instructions": 1})), None);
    }
}
