//! The main job on a disk of 20 MiB/s and 100 operations per second: it must end within a minute.

use serde_json::Value;

use super::{Experiment, Figure};

/// The time limit of the default budget, in seconds.
const LIMIT: f64 = 60.0;

/// The time limit of `--budget 61s`: the minute for which it plans, plus the excess if the disk is slower than in the
/// trials.
const LIMIT_OF_BUDGET: f64 = 75.0;

/// The smallest number of rows that are measured.
const ROWS: u64 = 7;

pub const EXPERIMENT: Experiment = Experiment {
    name: "quick-on-a-throttled-disk",
    command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "throttled"],
    figures: 2,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    let arguments = line["quick_on_a_slow_disk"].as_str()?;
    let elapsed = line["elapsed_s"].as_f64()?;
    let limit = if arguments.is_empty() { LIMIT } else { LIMIT_OF_BUDGET };
    let (cells, explained, measured) =
        (line["cells"].as_u64()?, line["explained"].as_u64()?, line["measured"].as_u64()?);
    let random = line["random_reads_per_s"].as_f64()?;
    let allowed = line["operations_allowed"].as_f64()?;
    Some(Figure {
        what: format!("`run quick {arguments}` on a loop device of 20 MiB/s and 100 operations a second"),
        asked: format!("within {limit} s, {ROWS} rows measured, the others explained, random reads as it allows"),
        measured: format!("{elapsed:.1} s, {measured} of {cells} measured, {explained} explained, {random:.0} reads/s"),
        // The throttle permits more than its limit in the first time slice of each round.
        reached: elapsed <= limit
            && measured >= ROWS
            && explained == cells
            && (0.9..=1.5).contains(&(random / allowed)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slow_unmeasured_or_unexplained_runs_miss_the_goal() {
        let reached = |arguments: &str, elapsed: f64, measured: u64, explained: u64, random: f64| {
            let line = json!({
                "quick_on_a_slow_disk": arguments, "elapsed_s": elapsed, "cells": 12, "measured": measured,
                "explained": explained, "random_reads_per_s": random, "operations_allowed": 100,
            });
            judge(&line).expect("a figure").reached
        };
        assert!(reached("", 59.0, 7, 12, 101.0) && reached("--budget 61s", 75.0, 12, 12, 101.0));
        assert!(!reached("", 61.0, 11, 12, 101.0) && !reached("--budget 61s", 76.0, 11, 12, 101.0));
        assert!(!reached("", 59.0, 6, 12, 101.0) && !reached("", 59.0, 11, 11, 101.0));
        assert!(!reached("", 59.0, 11, 12, 3000.0));
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
