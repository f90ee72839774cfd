//! Runs the tests in guests completely: all stacks of the guard and the jobs on all storage, on each kernel, and 30
//! power cuts with each setting. `cargo xtask test` runs the cheapest stacks.

use serde_json::Value;

use super::{Experiment, Figure};

/// Situations of the guard on a kernel, at least.
const SITUATIONS: u64 = 40;

/// Storage on which the jobs run on a kernel, at least.
const STORAGES: u64 = 12;

/// Power cuts with a setting.
const CUTS: u64 = 30;

/// The guard on the real stacks of two kernels.
pub const GUARD: Experiment = Experiment {
    name: "elsewhere-guard",
    command: &[
        "cargo",
        "--config",
        super::WITH_DISTRIBUTED,
        "--config",
        "env.DISKPERF_ELSEWHERE=\"1\"",
        "test",
        "--quiet",
        "--workspace",
        "--test",
        "guests",
        "devices_in_use",
        "--",
        "--nocapture",
        "--test-threads=1",
    ],
    figures: 2,
    judge: guard,
};

/// The jobs on the storage of two kernels.
pub const JOBS: Experiment =
    Experiment { name: "elsewhere-jobs", command: &benchmark("jobs"), figures: 2, judge: jobs };

/// Guests that are killed, with a file system that flushes and with one that does not.
pub const POWER: Experiment =
    Experiment { name: "elsewhere-power", command: &benchmark("power"), figures: 2, judge: power };

/// The command that runs a part of the benchmark.
const fn benchmark(part: &'static str) -> [&'static str; 10] {
    [
        "cargo",
        "--config",
        super::WITH_DISTRIBUTED,
        "bench",
        "--quiet",
        "--workspace",
        "--bench",
        "elsewhere",
        "--",
        part,
    ]
}

/// The line of a kernel.
fn guard(line: &Value) -> Option<Figure> {
    let (situations, wrong) = (line["situations"].as_u64()?, line["wrong"].as_u64()?);
    Some(Figure {
        what: format!("the guard on the stacks of Linux {} (emulated)", line["kernel"].as_str()?),
        asked: format!("at least {SITUATIONS} situations, 0 wrong, no byte changed"),
        measured: format!("{situations} situations, {wrong} wrong"),
        reached: situations >= SITUATIONS && wrong == 0,
    })
}

/// The line of a kernel.
fn jobs(line: &Value) -> Option<Figure> {
    let (storages, wrong) = (line["storages"].as_u64()?, line["wrong"].as_u64()?);
    Some(Figure {
        what: format!("the jobs on the storage of Linux {} (emulated)", line["kernel"].as_str()?),
        asked: format!(
            "at least {STORAGES} kinds of storage, 0 false names, states, warnings, bottlenecks and choices"
        ),
        measured: format!("{storages} kinds, {wrong} false"),
        reached: storages >= STORAGES && wrong == 0,
    })
}

/// The line of a setting. Without flushes, losses must be found.
fn power(line: &Value) -> Option<Figure> {
    let options = line["options"].as_str()?;
    let [cuts, promised, lost, ruined] = ["cuts", "promised", "lost", "ruined"].map(|key| line[key].as_u64());
    let (cuts, promised, lost, ruined) = (cuts?, promised?, lost?, ruined?);
    let must_last = options == "barrier=1";
    Some(Figure {
        what: format!("killed guests, ext4 with {options} (emulated)"),
        asked: format!("{CUTS} cuts, {}", if must_last { "0 records lost" } else { "losses found" }),
        measured: format!("{cuts} cuts, {promised} records, {lost} lost, {ruined} file systems ruined"),
        reached: cuts >= CUTS && promised > 0 && must_last == (lost + ruined == 0),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_answer_or_few_situations_are_missed() {
        let reached = |situations: u64, wrong: u64| {
            let line = json!({"elsewhere": "guard", "kernel": "6.1", "situations": situations, "wrong": wrong});
            guard(&line).expect("a figure").reached
        };
        assert!(reached(74, 0) && !reached(74, 1) && !reached(39, 0));
        assert_eq!(guard(&json!({"elsewhere": "power"})), None);
    }

    #[test]
    fn a_false_document_or_little_storage_is_missed() {
        let reached = |storages: u64, wrong: u64| {
            let line = json!({"elsewhere": "jobs", "kernel": "6.1", "storages": storages, "wrong": wrong});
            jobs(&line).expect("a figure").reached
        };
        assert!(reached(18, 0) && !reached(18, 1) && !reached(11, 0));
    }

    #[test]
    fn losses_are_wanted_without_barriers_only() {
        let reached = |options: &str, cuts: u64, lost: u64| {
            let line = json!({"options": options, "cuts": cuts, "promised": 900, "lost": lost, "ruined": 0});
            power(&line).expect("a figure").reached
        };
        assert!(reached("barrier=1", 30, 0) && !reached("barrier=1", 30, 1) && !reached("barrier=1", 29, 0));
        assert!(reached("barrier=0", 30, 5) && !reached("barrier=0", 30, 0));
    }
}
