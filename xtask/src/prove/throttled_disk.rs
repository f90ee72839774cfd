//! The main job on a disk of 20 MiB/s and 100 operations per second, which must end within 75 s.

use serde_json::Value;

use super::{Experiment, Figure};

/// The time limit in seconds: the minute for which it plans, plus the excess if the disk is slower than in the trials.
const LIMIT: f64 = 75.0;

pub const EXPERIMENT: Experiment = Experiment {
    name: "quick-on-a-throttled-disk",
    command: &["cargo", "bench", "--quiet", "--package", "diskperf", "--bench", "throttled"],
    figures: 2,
    judge,
};

fn judge(line: &Value) -> Option<Figure> {
    let arguments = line["quick_on_a_slow_disk"].as_str()?;
    let elapsed = line["elapsed_s"].as_f64()?;
    let (cells, explained) = (line["cells"].as_u64()?, line["explained"].as_u64()?);
    let random = line["random_reads_per_s"].as_f64()?;
    let allowed = line["operations_allowed"].as_f64()?;
    Some(Figure {
        what: format!("`run quick {arguments}` on a loop device of 20 MiB/s and 100 operations a second"),
        asked: format!("ends within {LIMIT} s, every cell measured or explained, random reads as many as it allows"),
        measured: format!("{elapsed:.1} s, {explained} of {cells} cells, {random:.0} reads/s"),
        // The throttle permits more than its limit in the first time slice of each round.
        reached: elapsed <= LIMIT && explained == cells && (0.9..=1.5).contains(&(random / allowed)),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slow_or_unexplained_runs_miss_the_goal() {
        let reached = |elapsed: f64, explained: u64, random: f64| {
            let line = json!({
                "quick_on_a_slow_disk": "", "elapsed_s": elapsed, "cells": 12, "measured": 11,
                "explained": explained, "random_reads_per_s": random, "operations_allowed": 100,
            });
            judge(&line).expect("a figure").reached
        };
        assert!(reached(61.0, 12, 101.0));
        assert!(!reached(76.0, 12, 101.0) && !reached(61.0, 11, 101.0) && !reached(61.0, 12, 3000.0));
        assert_eq!(judge(&json!({"other": 1})), None);
    }
}
