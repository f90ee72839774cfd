//! A run that is killed at any moment: what was finished is stored once, `resume` finishes the rest, and nothing is
//! left behind. `cargo xtask prove` does it more often.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::names_in;
use units::Prng;

/// The environment variable that says how often.
const KILLS: &str = "DISKPERF_KILLS";

/// How often, if nobody says.
const USUAL: u64 = 20;

/// Rounds of the preset `smoke`.
const ROUNDS: usize = 2;

/// What became of the runs that were killed.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    /// Killed before anything was written down, or made.
    not_begun: u64,
    /// Killed when all was done.
    finished: u64,
    /// Gone on with.
    resumed: u64,
    /// Executions of phases that were stored when they were killed.
    stored: u64,
    /// Of those, what was there no more, or changed, in the end.
    lost: u64,
    /// What was there twice.
    doubled: u64,
    /// Cells that were not measured in the end.
    unmeasured: u64,
    /// Files and folders that nobody removed.
    left_behind: u64,
}

/// A folder to measure, and a store beside it.
struct Scratch {
    folder: TempDir,
    data: TempDir,
}

impl Scratch {
    fn inside(parent: &Path) -> Scratch {
        let folder = || tempfile::tempdir_in(parent).expect("a scratch folder");
        Scratch { folder: folder(), data: folder() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = testkit::command(&testkit::program(env!("CARGO_BIN_EXE_diskperf")));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env(testkit::STORE, self.data.path().join("store.sqlite"));
        command
    }

    /// The JSON that a command prints, which must end well.
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().expect("diskperf starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

/// Every round of every cell, by the cell's key and the round's number.
fn rounds(document: &Value) -> Vec<(String, Value)> {
    let cells = document["cells"].as_array().expect("cells").iter();
    let rounds = cells.flat_map(|cell| {
        let key = ["program", "phase", "target", "parameters"].map(|name| cell[name].to_string()).join(" ");
        let rounds = cell["rounds"].as_array().expect("rounds").clone();
        rounds.into_iter().map(move |round| (format!("{key} {}", round["round"]), round))
    });
    rounds.collect()
}

/// Kills a run after a while, goes on with it, and adds up what became of it.
fn kill(parent: &Path, after: Duration, tally: &mut Tally) {
    let scratch = Scratch::inside(parent);
    let mut run = scratch.command(&["run", "smoke", "--json"]);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("diskperf starts");
    std::thread::sleep(after);
    child.kill().expect("it is killed, or has ended");
    child.wait().expect("its end");

    let began = scratch.data.path().join("store.sqlite").exists();
    let runs = if began { scratch.json(&["list", "--json"]) } else { Value::Array(Vec::new()) };
    let expected: &[&str] = if began { &["store.sqlite"] } else { &[] };
    match runs.as_array().map(Vec::as_slice) {
        Some([]) => tally.not_begun += 1,
        Some([run]) => {
            let before = rounds(&scratch.json(&["show", "last", "--json"]));
            let after = if run["state"] == "killed" {
                tally.resumed += 1;
                scratch.json(&["resume"])
            } else {
                assert_eq!(run["state"], "finished");
                tally.finished += 1;
                scratch.json(&["show", "last", "--json"])
            };
            let all = rounds(&after);
            let by_key: BTreeMap<&String, &Value> = all.iter().map(|(key, round)| (key, round)).collect();
            tally.stored += before.len() as u64;
            tally.lost += before.iter().filter(|(key, round)| by_key.get(key) != Some(&round)).count() as u64;
            tally.doubled += (all.len() - by_key.len()) as u64;
            let unmeasured = after["cells"].as_array().expect("cells").iter().filter(|cell| {
                // A file system in memory has nothing to read past the page cache.
                let in_memory = cell["reason"].as_str().is_some_and(|reason| reason.contains("memory only"));
                !in_memory && (cell["measured"] != true || cell["rounds"].as_array().map(Vec::len) != Some(ROUNDS))
            });
            tally.unmeasured += unmeasured.count() as u64;
            assert_eq!(scratch.json(&["show", "last", "--json"]), after);
            assert_eq!(scratch.json(&["list", "--json"]).as_array().map(Vec::len), Some(1));
        }
        _ => panic!("one run was begun: {runs}"),
    }
    let data = names_in(scratch.data.path());
    tally.left_behind += names_in(scratch.folder.path()).len() as u64;
    tally.left_behind += data.iter().filter(|name| !expected.contains(&name.as_str())).count() as u64;
}

#[test]
fn what_was_finished_when_it_was_killed_is_there_once_and_the_rest_is_gone_on_with() {
    let kills: u64 = std::env::var(KILLS).map_or(USUAL, |kills| kills.parse().expect("a number"));
    let mut random = Prng::new(kills);
    let mut tally = Tally::default();
    let mut places = vec![std::env::temp_dir()];
    // In memory everything is quicker, so that others of its moments are hit.
    places.extend(Some(PathBuf::from("/dev/shm")).filter(|memory| memory.is_dir()));
    for (index, place) in places.iter().enumerate() {
        let began = Instant::now();
        Scratch::inside(place).json(&["run", "smoke", "--json"]);
        let whole = began.elapsed().as_millis() as u64;
        for _ in (index as u64..kills).step_by(places.len()) {
            kill(place, Duration::from_millis(random.below(whole)), &mut tally);
        }
    }
    let Tally { not_begun, finished, resumed, stored, lost, doubled, unmeasured, left_behind } = tally;
    println!(
        "{}",
        json!({
            "kills": kills, "not_begun": not_begun, "finished": finished, "resumed": resumed, "stored": stored,
            "lost": lost, "doubled": doubled, "unmeasured": unmeasured, "left_behind": left_behind,
        })
    );
    assert_eq!((lost, doubled, unmeasured, left_behind), (0, 0, 0, 0));
    assert_eq!(not_begun + finished + resumed, kills);
    assert!(resumed >= kills / 2 && stored > 0, "most were killed while they measured: {resumed} of {kills}");
}
