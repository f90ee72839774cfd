//! Checks of a broken-off run: its finished executions are stored once, and `resume` finishes the rest.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Rounds of cells, each by the cell's key and the round's number.
pub type Rounds = Vec<(String, Value)>;

/// The state in which a run was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing was stored yet.
    NotBegun,
    /// The run was finished.
    Finished,
    /// Some executions were stored, and the run was resumed.
    Resumed,
}

/// Counts over broken-off runs.
#[derive(Debug, Default, PartialEq)]
pub struct Tally {
    /// Runs broken off before anything was stored or made.
    pub not_begun: u64,
    /// Runs broken off after their end.
    pub finished: u64,
    /// Resumed runs.
    pub resumed: u64,
    /// Executions of phases that were finished by then.
    pub stored: u64,
    /// Stored executions that were missing or changed in the end.
    pub lost: u64,
    /// Executions that were stored twice.
    pub doubled: u64,
    /// Cells that were not measured in the end.
    pub unmeasured: u64,
}

impl Tally {
    /// Reads a store that should hold one run of `of` rounds, resumes the run, and adds the counts. The `promised`
    /// rounds must be there, and the rounds found before resuming must stay.
    pub fn add(&mut self, diskperf: &Diskperf, promised: &Rounds, of: usize) -> Found {
        let runs = if diskperf.store.exists() { diskperf.json(&["list", "--json"]) } else { Value::Array(Vec::new()) };
        let (before, after, found) = match runs.as_array().map(Vec::as_slice) {
            Some([]) => (Rounds::new(), Value::Null, Found::NotBegun),
            Some([run]) => {
                let before = rounds(&diskperf.json(&["show", "last", "--json"]));
                if run["state"] == "killed" {
                    (before, diskperf.json(&["resume"]), Found::Resumed)
                } else {
                    assert_eq!(run["state"], "finished");
                    (before, diskperf.json(&["show", "last", "--json"]), Found::Finished)
                }
            }
            _ => panic!("one run was begun: {runs}"),
        };
        match found {
            Found::NotBegun => self.not_begun += 1,
            Found::Finished => self.finished += 1,
            Found::Resumed => self.resumed += 1,
        }
        let all = rounds(&after);
        let by_key: BTreeMap<&String, &Value> = all.iter().map(|(key, round)| (key, round)).collect();
        let mut kept = before;
        kept.extend(promised.iter().cloned());
        kept.sort_by(|a, b| a.0.cmp(&b.0));
        // A changed round stays in the list next to the promised one, and counts as lost.
        kept.dedup();
        self.stored += kept.len() as u64;
        self.lost += kept.iter().filter(|(key, round)| by_key.get(key) != Some(&round)).count() as u64;
        self.doubled += (all.len() - by_key.len()) as u64;
        let unmeasured = after["cells"].as_array().into_iter().flatten().filter(|cell| {
            let in_memory = testkit::is_of_memory_only(cell["reason"].as_str());
            !in_memory && (cell["measured"] != true || cell["rounds"].as_array().map(Vec::len) != Some(of))
        });
        self.unmeasured += unmeasured.count() as u64;
        if found != Found::NotBegun {
            assert_eq!(diskperf.json(&["show", "last", "--json"]), after);
            assert_eq!(diskperf.json(&["list", "--json"]).as_array().map(Vec::len), Some(1));
        }
        found
    }
}

/// Runs the program in a folder, with a store.
pub struct Diskperf<'a> {
    /// Its current directory.
    pub folder: &'a Path,
    /// The path of its results database.
    pub store: &'a Path,
}

impl Diskperf<'_> {
    /// A command to run.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = testkit::command(&testkit::program(env!("CARGO_BIN_EXE_diskperf")));
        command.args(arguments).current_dir(self.folder).stdin(Stdio::null()).env(testkit::STORE, self.store);
        command
    }

    /// The JSON that a command prints. The command must succeed.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).output().expect("diskperf starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

/// Every round of every cell of a document.
pub fn rounds(document: &Value) -> Rounds {
    let cells = document["cells"].as_array().into_iter().flatten();
    let rounds = cells.flat_map(|cell| {
        let key = ["program", "phase", "target", "parameters"].map(|name| cell[name].to_string()).join(" ");
        let rounds = cell["rounds"].as_array().expect("rounds").clone();
        rounds.into_iter().map(move |round| (format!("{key} {}", round["round"]), round))
    });
    rounds.collect()
}
