//! `cargo xtask prove`: measures the promised figures. Takes minutes, on a machine that should be idle otherwise.
//!
//! Policy:
//!   1. an experiment runs a command and reads the lines of JSON that it prints;
//!   2. results are stored under `target/prove` with the commit at which they were measured. They are not measured
//!      again until the code changes or `--again` is given, so an interrupted proof continues. Names select
//!      experiments. A long experiment continues within itself: it keeps its own state in the folder that [`STATE`]
//!      names, which is removed when it ends. The state of another commit is removed before a measurement;
//!   3. for each figure, the table shows the requirement, the measurement and the command;
//!   4. an experiment that is not possible on this machine gives the reason instead of figures. The table shows it as
//!      n.m., neither reached nor missed, and the next call tries again.

mod bursts;
mod ceiling;
mod comparisons;
mod distributed;
mod elsewhere;
mod figures;
mod fio;
mod hosts;
mod known_disks;
mod main_job;
mod predict;
mod queue_depth;
mod queueing_law;
mod races;
mod steady_tests;
mod throttled_disk;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{bridge, dist, guests, process};

/// A command whose output holds figures.
struct Experiment {
    name: &'static str,
    command: &'static [&'static str],
    /// The number of figures that it must give. A missing figure counts as not reached.
    figures: usize,
    /// Turns a line of its output into a figure. `None` if the line has none.
    judge: fn(&Value) -> Option<Figure>,
}

/// One figure of the table.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    what: String,
    asked: String,
    measured: String,
    reached: bool,
}

/// Stored results, and their commit.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    commit: String,
    lines: Vec<Value>,
}

/// The setting of cargo with which tests use the distributed program.
const WITH_DISTRIBUTED: &str = "env.DISKPERF_DIST=\"../../target/dist\"";

/// All experiments.
const EXPERIMENTS: [Experiment; 48] = [
    comparisons::EXPERIMENT,
    comparisons::THROTTLED,
    comparisons::TASKS,
    comparisons::EQUAL,
    comparisons::FILE_SYSTEMS,
    bursts::EXPERIMENT,
    throttled_disk::EXPERIMENT,
    main_job::EXPERIMENT,
    ceiling::EXPERIMENT,
    queueing_law::EXPERIMENT,
    queueing_law::OPEN_LOOP,
    fio::EXPERIMENT,
    fio::SYNCS,
    known_disks::EXPERIMENT,
    predict::EXPERIMENT,
    queue_depth::EXPERIMENT,
    queue_depth::MEMORY,
    Experiment {
        name: "runner-over-bare-loop-on-tmpfs",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "loops", "--", "tmpfs"],
        figures: 4,
        judge: |line| figures::ratio(line, (0.97, 1.03), "runner / bare loop, time of 8 MiB on tmpfs"),
    },
    Experiment {
        name: "small-files-over-bare-loop",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "loops", "--", "smallfb"],
        figures: 3,
        // A rate of 0.95 corresponds to a time of 1 / 0.95.
        judge: |line| {
            figures::ratio(line, (0.0, 1.0 / 0.95), "runner / bare loop, time of 10,000 files of 1 KiB on tmpfs")
        },
    },
    Experiment {
        name: "instructions",
        command: &[
            "cargo",
            "test",
            "--quiet",
            "--release",
            "--workspace",
            "--test",
            "instructions",
            "--",
            "--nocapture",
        ],
        figures: 12,
        judge: figures::instructions,
    },
    Experiment {
        name: "commands",
        command: &[
            "cargo",
            "--config",
            WITH_DISTRIBUTED,
            "test",
            "--quiet",
            "--workspace",
            "--test",
            "commands",
            "--",
            "--nocapture",
        ],
        figures: 2,
        judge: figures::instructions,
    },
    distributed::EXPERIMENT,
    Experiment {
        name: "simulations",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "simulations"],
        figures: 5,
        judge: figures::simulations,
    },
    Experiment {
        name: "sweeps",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "sweeps"],
        figures: 2,
        judge: figures::swept,
    },
    Experiment {
        name: "report-10000",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "results"],
        figures: 4,
        judge: figures::printed,
    },
    Experiment {
        name: "bottlenecks",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "bottlenecks"],
        figures: 22,
        judge: figures::bottleneck,
    },
    Experiment {
        name: "charged",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "charged_cpu_time"],
        figures: 4,
        judge: figures::charged,
    },
    Experiment {
        name: "own",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "timing_cost"],
        figures: 2,
        judge: figures::own,
    },
    Experiment {
        name: "together",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "together"],
        figures: 1,
        judge: figures::together,
    },
    Experiment {
        name: "clean-images",
        command: &["cargo", "bench", "--quiet", "--workspace", "--bench", "clean"],
        figures: 4,
        judge: figures::clean,
    },
    Experiment {
        name: "kills",
        command: &[
            "cargo",
            "--config",
            "env.DISKPERF_KILLS=\"200\"",
            "test",
            "--quiet",
            "--workspace",
            "--test",
            "kills",
            "--",
            "--nocapture",
        ],
        figures: 1,
        judge: figures::kills,
    },
    Experiment {
        name: "power",
        command: &[
            "cargo",
            "--config",
            "env.DISKPERF_POWER_CUTS=\"100\"",
            "test",
            "--quiet",
            "--workspace",
            "--test",
            "power",
            "--",
            "--nocapture",
        ],
        figures: 1,
        judge: figures::power,
    },
    Experiment {
        name: "verify",
        command: &[
            "cargo",
            "--config",
            "env.DISKPERF_VERIFY_CUTS=\"100\"",
            "test",
            "--quiet",
            "--workspace",
            "--test",
            "cli_verify",
            "--",
            "--nocapture",
        ],
        figures: 3,
        judge: figures::verify,
    },
    Experiment {
        name: "fuzz",
        // The release build, because it is fast. Overflows panic in it too.
        command: &[
            "cargo",
            "--config",
            "env.DISKPERF_FUZZ_SECONDS=\"60\"",
            "--config",
            "profile.release.overflow-checks=true",
            "--config",
            "profile.release.debug-assertions=true",
            "test",
            "--quiet",
            "--release",
            "--package",
            "diskperf-kernel",
            "--package",
            "diskperf-store",
            "--package",
            "diskperf-jobs",
            "--package",
            "diskperf-campaign",
            "--package",
            "diskperf",
            "--lib",
            "--test",
            "fuzz",
            "fuzz_",
            "--",
            "--nocapture",
        ],
        figures: 15,
        judge: figures::fuzzed,
    },
    races::EXPERIMENT,
    elsewhere::GUARD,
    elsewhere::JOBS,
    elsewhere::POWER,
    hosts::START,
    hosts::DISKS,
    hosts::BRIDGE,
    hosts::CHOOSE,
    hosts::FAILURE,
    hosts::GUESTS,
    steady_tests::QUIET,
    steady_tests::BUSY,
    steady_tests::ONE_PROCESSOR,
    steady_tests::SLOW_DISK,
];

/// Runs the experiments without results at this commit, prints the table and stores it. `names` selects experiments; if
/// it is empty, all are run.
pub fn run(names: &[String], again: bool) -> Result<(), String> {
    let chosen = chosen(names)?;
    let commit = commit()?;
    // The benches of `overhead` start the program, and cargo does not build it for another package.
    process::run(&mut process::cargo(&["build", "--release", "--quiet", "--workspace", "--bin", "diskperf"]))?;
    if chosen.iter().any(|experiment| uses_distributed(experiment)) {
        // Otherwise the experiments are not measured, with the reason.
        if dist::possible().is_ok() {
            dist::make()?;
        }
    }
    let needs_guests = |name: &str| name.starts_with("elsewhere") || name == hosts::GUESTS.name;
    if chosen.iter().any(|experiment| needs_guests(experiment.name)) {
        guests::provide()?;
    }
    if chosen.iter().any(|experiment| experiment.name.starts_with("hosts")) {
        bridge::provide()?;
    }
    let mut rows = Vec::new();
    let (mut missed, mut asked, mut not_measured) = (0, 0, 0);
    for experiment in chosen {
        let lines = match kept(experiment, &commit).filter(|_| !again) {
            Some(kept) => {
                println!("{}: kept from before", experiment.name);
                kept.lines
            }
            None => measure(experiment, &commit, again)?,
        };
        // 4
        if let Some(reason) = reason(&lines) {
            not_measured += experiment.figures;
            rows.push(format!("| {} | {} figures | n.m.: {reason} | n.m. | |", experiment.name, experiment.figures));
            continue;
        }
        let figures: Vec<Figure> = lines.iter().filter_map(experiment.judge).collect();
        asked += experiment.figures.max(figures.len());
        if figures.len() != experiment.figures {
            missed += experiment.figures.saturating_sub(figures.len()).max(1);
            let (name, found, all) = (experiment.name, figures.len(), experiment.figures);
            rows.push(format!("| {name} | {all} figures | {found} figures | **missed** | |"));
        }
        for figure in figures {
            missed += usize::from(!figure.reached);
            rows.push(row(&figure, experiment.command));
        }
    }
    let table = format!(
        "measured at {commit}: {} of {asked} figures are reached, {not_measured} could not be measured here\n\n\
         | what | asked | measured | | command |\n| --- | --- | --- | --- | --- |\n{}\n",
        asked.saturating_sub(missed),
        rows.join("\n")
    );
    println!("\n{table}");
    write(&folder()?.join("table.md"), &table)?;
    if missed == 0 { Ok(()) } else { Err(format!("{missed} figures are not reached")) }
}

/// The environment variable by which `prove --again` asks `steady-tests` for new results.
pub const ANEW: &str = "DISKPERF_STEADY_ANEW";

/// The environment variable with the folder in which an experiment of one commit keeps its state.
const STATE: &str = "DISKPERF_PROVE_STATE";

/// The key by which an experiment gives the reason why it is not possible here (4).
pub const NOT_MEASURED: &str = "not_measured";

/// True if the experiment measures the distributed program.
fn uses_distributed(experiment: &Experiment) -> bool {
    experiment.command.contains(&WITH_DISTRIBUTED)
}

/// The reason why an experiment is not possible here, if there is one.
fn reason(lines: &[Value]) -> Option<&str> {
    lines.iter().find_map(|line| line[NOT_MEASURED].as_str())
}

/// The experiments with these names; all, if no name is given. `steady-tests` selects all whose names begin with it.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, String> {
    let known = || EXPERIMENTS.map(|experiment| experiment.name).join(", ");
    if let Some(name) = names.iter().find(|name| !EXPERIMENTS.iter().any(|known| is_named(known, name))) {
        return Err(format!("no experiment is called {name}; there are {}", known()));
    }
    let is_chosen = |experiment: &&Experiment| names.is_empty() || names.iter().any(|name| is_named(experiment, name));
    Ok(EXPERIMENTS.iter().filter(is_chosen).collect())
}

/// Returns whether this is the name of the experiment, or the prefix of several names including it.
fn is_named(experiment: &Experiment, name: &str) -> bool {
    experiment.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn row(figure: &Figure, command: &[&str]) -> String {
    let verdict = if figure.reached { "reached" } else { "**missed**" };
    format!("| {} | {} | {} | {verdict} | `{}` |", figure.what, figure.asked, figure.measured, command.join(" "))
}

fn measure(experiment: &Experiment, commit: &str, again: bool) -> Result<Vec<Value>, String> {
    // Otherwise it would measure a program of another commit, if there is one.
    if let Some(reason) = dist::possible().err().filter(|_| uses_distributed(experiment)) {
        return Ok(vec![json!({ NOT_MEASURED: reason })]);
    }
    println!("{}: measuring", experiment.name);
    let mut command = process::cargo(&experiment.command[1..]);
    if again {
        command.env(ANEW, "true");
    }
    let state = folder()?.join(state_name(experiment.name, commit));
    remove_old_states(&folder()?, experiment.name, commit)?;
    if again {
        remove(&state)?;
    }
    if !commit.ends_with(CHANGED) {
        command.env(STATE, &state);
    }
    // An experiment that fails may have printed figures before. The others are missed, unless it can continue.
    let (succeeded, text) = process::answer(&mut command)?;
    let lines: Vec<Value> = text.lines().filter_map(json_in).collect();
    if !succeeded && state.exists() {
        return Ok(lines);
    }
    let kept = Kept { commit: commit.to_owned(), lines };
    let text = serde_json::to_string_pretty(&kept).expect("plain data");
    write(&path(experiment)?, &text)?;
    remove(&state)?;
    Ok(kept.lines)
}

/// The name of the folder with the state of an experiment.
fn state_name(experiment: &str, commit: &str) -> String {
    format!("{experiment}-{commit}")
}

/// Removes the states of an experiment that are of other commits.
fn remove_old_states(folder: &Path, experiment: &str, commit: &str) -> Result<(), String> {
    let cannot_list = |error: io::Error| format!("cannot list {}: {error}", folder.display());
    let current = state_name(experiment, commit.trim_end_matches(CHANGED));
    for entry in fs::read_dir(folder).map_err(cannot_list)? {
        let entry = entry.map_err(cannot_list)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && name != current && is_state(&name, experiment) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// True if a folder of this name has the state of the experiment. Other experiments may have longer names.
fn is_state(name: &str, experiment: &str) -> bool {
    let commit = name.strip_prefix(experiment).and_then(|rest| rest.strip_prefix('-'));
    commit.is_some_and(|commit| !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Removes the state of an experiment, if there is one.
fn remove(state: &Path) -> Result<(), String> {
    match fs::remove_dir_all(state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", state.display()))
        }
        _ => Ok(()),
    }
}

/// The JSON in a line. The test harness may have begun the line with text of its own.
fn json_in(line: &str) -> Option<Value> {
    serde_json::from_str(line.get(line.find('{')?..)?.trim()).ok()
}

/// The stored results of this commit. A tree with uncommitted changes is not a commit, and its results are not used
/// again.
fn kept(experiment: &Experiment, commit: &str) -> Option<Kept> {
    let text = fs::read_to_string(path(experiment).ok()?).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    (kept.commit == commit && !commit.ends_with(CHANGED) && reason(&kept.lines).is_none()).then_some(kept)
}

/// The suffix of a commit's name if the tree differs from it.
pub const CHANGED: &str = " with changes";

/// The commit of the tree, with [`CHANGED`] if the tree differs from it.
pub fn commit() -> Result<String, String> {
    let git = |words: &[&str]| process::output(Command::new("git").args(words).current_dir(process::root()));
    let commit = git(&["rev-parse", "--short", "HEAD"])?.trim().to_owned();
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Ok(if changes.is_empty() { commit } else { commit + CHANGED })
}

/// The folder of the stored results.
pub fn folder() -> Result<PathBuf, String> {
    let folder = process::root().join("target/prove");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make target/prove: {error}"))?;
    Ok(folder)
}

fn path(experiment: &Experiment) -> Result<PathBuf, String> {
    Ok(folder()?.join(experiment.name).with_extension("json"))
}

fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_selects_one_experiment_or_all_with_its_prefix() {
        let count = |name: &str| chosen(&[name.to_owned()]).map_or(0, |all| all.len());
        assert_eq!((count("steady-tests"), count("steady-tests-busy"), count("steady"), count("law")), (4, 1, 4, 1));
        assert_eq!((count("steady-tests-"), count("la"), count("no-such")), (0, 0, 0));
        assert_eq!(chosen(&[]).map(|all| all.len()), Ok(EXPERIMENTS.len()));
    }

    #[test]
    fn only_the_states_of_other_commits_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = ["predict-12ab34cd", "predict-99ff00aa", "predict-disks-99ff00aa", "predict-notes", "power-99ff00aa"];
        all.iter().for_each(|name| fs::create_dir(folder.path().join(name)).expect("a folder"));
        fs::write(folder.path().join("predict-88ee"), "a file").expect("a file");
        for commit in ["12ab34cd", "12ab34cd with changes"] {
            remove_old_states(folder.path(), "predict", commit).expect("it can be removed");
            let left = testkit::names_in(folder.path());
            let kept = ["power-99ff00aa", "predict-12ab34cd", "predict-88ee"];
            assert_eq!(left[..3], kept, "{commit}");
            assert_eq!(left[3..], ["predict-disks-99ff00aa", "predict-notes"], "{commit}");
        }
    }

    #[test]
    fn impossible_experiments_give_their_reason() {
        let lines = [json_in("{\"steady_tests\": \"slow-disk\", \"not_measured\": \"no blkio\"}").expect("JSON")];
        assert_eq!(reason(&lines), Some("no blkio"));
        assert_eq!(reason(&[json_in("{\"race\": \"device node\"}").expect("JSON")]), None);
    }

    #[test]
    fn five_experiments_need_the_distributed_program() {
        let names: Vec<&str> = EXPERIMENTS.iter().filter(|one| uses_distributed(one)).map(|one| one.name).collect();
        assert_eq!(names, ["commands", "dist", "elsewhere-guard", "elsewhere-jobs", "elsewhere-power"]);
    }
}
