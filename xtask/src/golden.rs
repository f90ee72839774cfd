//! `cargo xtask golden`: the output of `diskperf paper`, stored under `golden/` in a file per table, and one file for
//! the errors of all tables. A test compares the program with these files (`crates/diskperf/tests/program/golden.rs`).
//! This task writes them, and refuses to if an error has grown: errors may only decrease.

use std::fs;

use serde_json::Value;

use crate::process;

/// The tables. Each has its own file.
const TABLES: [&str; 6] = ["T1", "T2", "T3", "T4", "T5", "vaxmix"];

/// The errors over all tables that count: figures that must not grow. Each is a kind and a statistic.
const ERRORS: [(&str, &str); 6] =
    [("rate", "median"), ("rate", "mean"), ("rate", "largest"), ("cpu", "median"), ("cpu", "mean"), ("cpu", "largest")];

/// Writes the files after everything was simulated. `worse` permits errors that have grown.
pub fn run(worse: bool) -> Result<(), String> {
    let paper = |words: &[&str]| {
        let command = ["run", "--release", "--quiet", "--package", "diskperf", "--", "paper"];
        process::output(process::cargo(&command).args(words))
    };
    let folder = process::root().join("golden");
    let document: Value =
        serde_json::from_str(&paper(&["--json"])?).map_err(|error| format!("paper --json: {error}"))?;
    let errors = errors(&document["summary"]).ok_or("paper --json has no summary")?;
    let path = folder.join("errors.txt");
    let before = fs::read_to_string(&path).unwrap_or_default();
    let grown = grown(&before, &errors);
    if !grown.is_empty() && !worse {
        return Err(format!("errors have grown, nothing is written: {}", grown.join(", ")));
    }
    let texts: Vec<String> = TABLES.iter().map(|table| paper(&[table])).collect::<Result<_, _>>()?;
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make golden/: {error}"))?;
    for (table, text) in TABLES.iter().zip(texts) {
        let path = folder.join(table).with_extension("txt");
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let text: String = errors.iter().map(|(name, error)| format!("{name} {error:.2}\n")).collect();
    fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The figures that must not grow, by name: the errors, and the numbers of rates that are off by more than 10 % and 20
/// %.
fn errors(summary: &Value) -> Option<Vec<(String, f64)>> {
    let mut errors = Vec::new();
    for (of, what) in ERRORS {
        errors.push((format!("{of}-{what}"), summary[of][what].as_f64()?));
    }
    for limit in ["within_10", "within_20"] {
        let beyond = summary["rate"]["cells"].as_u64()?.checked_sub(summary["rate"][limit].as_u64()?)?;
        errors.push((format!("rate-not-{limit}"), beyond as f64));
    }
    Some(errors)
}

/// Messages about the errors that exceed their value in the file.
fn grown(written: &str, errors: &[(String, f64)]) -> Vec<String> {
    let before = |name: &str| -> Option<f64> {
        written.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    let grown = errors.iter().filter_map(|(name, error)| {
        let before = before(name)?;
        (format!("{error:.2}").parse::<f64>().ok()? > before).then(|| format!("{name} from {before} to {error:.2}"))
    });
    grown.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_may_only_decrease() {
        let rate =
            json!({"median": 4.0, "mean": 5.004, "largest": 20.0, "cells": 93, "within_10": 80, "within_20": 92});
        let errors = errors(&json!({"rate": rate, "cpu": rate})).expect("a whole summary");
        assert_eq!(errors.len(), 8);
        assert_eq!(grown("rate-median 4.00\nrate-mean 5.00\nrate-not-within_10 13.00\n", &errors), [""; 0]);
        assert_eq!(grown("rate-median 3.99\nrate-largest 21.00\n", &errors), ["rate-median from 3.99 to 4.00"]);
        assert_eq!(grown("rate-not-within_20 0.00\n", &errors).len(), 1);
        assert_eq!(super::errors(&json!({"rate": {"median": 4.0}})), None);
    }
}
