//! Test results on disk: a file with lines of JSON. The tests of a test file are added when it has ended, and each of
//! its failures again after its repetitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The result of a test in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// The run, from 1.
    pub run: u32,
    /// The test file.
    pub file: String,
    /// The name of the test, with its crate: `cli::a_test`.
    pub test: String,
    /// Its outcome.
    #[serde(flatten)]
    pub kind: Kind,
}

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Kind {
    /// It returned.
    Passed,
    /// It could not run here.
    Skipped {
        /// The test's reason.
        reason: String,
    },
    /// It panicked.
    Failed {
        /// The number of repetitions that failed.
        failed_again: u32,
        /// The number of repetitions; 0 until they have run.
        of: u32,
        /// True if it timed out; its repetitions then have less time.
        #[serde(default)]
        timed_out: bool,
        /// The time limit of each repetition in seconds, if it is less than that of the first run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within_s: Option<u32>,
        /// The output of the first run.
        output: String,
    },
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// The first line.
    Commit { commit: String },
    /// A test.
    Test(Tested),
    /// The last line of a test file.
    Ended { run: u32, ended: String },
}

/// All results known so far.
pub struct Results {
    out: File,
    tested: Vec<Tested>,
    ended: BTreeSet<(u32, String)>,
}

impl Results {
    /// Opens the file. Results of this commit are kept if `goes_on` is true, except those of test files that had not
    /// ended.
    pub fn open(path: &Path, commit: &str, goes_on: bool) -> Result<Results, String> {
        let failed = |error: std::io::Error| format!("cannot keep results in {}: {error}", path.display());
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            text => text.unwrap_or_default(),
        };
        let (tested, ended) = if goes_on { finished(&text, commit) } else { Default::default() };
        // The new file is written separately and renamed, so that a kill loses nothing.
        let beside = path.with_extension("new");
        let out = File::create(&beside).map_err(failed)?;
        let mut results = Results { out, tested: Vec::new(), ended: BTreeSet::new() };
        results.write(&[Line::Commit { commit: commit.to_owned() }]).map_err(failed)?;
        for (run, file) in ended {
            let of_file = tested.iter().filter(|one| one.run == run && one.file == file).cloned().collect();
            results.add(run, &file, of_file)?;
        }
        fs::rename(&beside, path).map_err(failed)?;
        Ok(results)
    }

    /// Returns whether the test file has ended in this run.
    pub fn has(&self, run: u32, file: &str) -> bool {
        self.ended.contains(&(run, file.to_owned()))
    }

    /// Adds the tests of a test file that has ended. They are durable on return.
    pub fn add(&mut self, run: u32, file: &str, tested: Vec<Tested>) -> Result<(), String> {
        let mut lines: Vec<Line> = tested.iter().cloned().map(Line::Test).collect();
        lines.push(Line::Ended { run, ended: file.to_owned() });
        self.write(&lines).map_err(|error| format!("cannot keep the results of {file}: {error}"))?;
        self.tested.extend(tested);
        self.ended.insert((run, file.to_owned()));
        Ok(())
    }

    /// The failures of a test file in this run whose repetitions are missing because of a kill.
    pub fn to_run_again(&self, run: u32, file: &str) -> Vec<Tested> {
        let is_it =
            |one: &&Tested| one.run == run && one.file == file && matches!(one.kind, Kind::Failed { of: 0, .. });
        self.tested.iter().filter(is_it).cloned().collect()
    }

    /// Replaces a failure by the same failure after its repetitions. It is durable on return.
    pub fn ran_again(&mut self, failure: Tested) -> Result<(), String> {
        let file = failure.file.clone();
        let line = Line::Test(failure.clone());
        self.write(&[line]).map_err(|error| format!("cannot keep the results of {file}: {error}"))?;
        replace(&mut self.tested, failure);
        Ok(())
    }

    fn write(&mut self, lines: &[Line]) -> std::io::Result<()> {
        let text = |line: &Line| serde_json::to_string(line).expect("plain data") + "\n";
        self.out.write_all(lines.iter().map(text).collect::<String>().as_bytes())?;
        self.out.sync_data()
    }

    /// The summary of a run: the number of passed tests, the failures with their repetitions, and the tests that were
    /// skipped everywhere.
    pub fn summary(&self, run: u32, condition: &str) -> Value {
        let of_run = || self.tested.iter().filter(|one| one.run == run);
        let ran: BTreeSet<&str> =
            of_run().filter(|one| !matches!(one.kind, Kind::Skipped { .. })).map(|one| one.test.as_str()).collect();
        let failed: Vec<Value> = of_run()
            .filter_map(|one| match &one.kind {
                Kind::Failed { failed_again, of, timed_out, within_s, .. } => Some(json!({
                    "test": one.test, "file": one.file, "failed_again": failed_again, "of": of,
                    "timed_out": timed_out, "within_s": within_s,
                })),
                _ => None,
            })
            .collect();
        let skipped: BTreeMap<&str, &str> = of_run()
            .filter_map(|one| match &one.kind {
                Kind::Skipped { reason } => Some((one.test.as_str(), reason.as_str())),
                _ => None,
            })
            .filter(|(test, _)| !ran.contains(test))
            .collect();
        let passed = of_run().filter(|one| one.kind == Kind::Passed).count();
        let files = self.ended.iter().filter(|(of, _)| *of == run).count();
        let (condition, all) = (condition.to_owned(), passed + failed.len());
        json!({"steady_tests": condition, "run": run, "files": files, "tests": all, "passed": passed, "failed": failed,
               "skipped": skipped})
    }
}

/// Adds a test, or replaces the same failure before its repetitions.
fn replace(tested: &mut Vec<Tested>, test: Tested) {
    let is_failure = |one: &Tested| matches!(one.kind, Kind::Failed { .. });
    let is_same = |one: &&mut Tested| {
        is_failure(one) && is_failure(&test) && (one.run, &one.file, &one.test) == (test.run, &test.file, &test.test)
    };
    match tested.iter_mut().find(is_same) {
        Some(before) => *before = test,
        None => tested.push(test),
    }
}

/// The tests of the files that have ended, and the names of these files; empty if the text is of another commit.
fn finished(text: &str, commit: &str) -> (Vec<Tested>, BTreeSet<(u32, String)>) {
    let mut lines = text.lines().map_while(|line| serde_json::from_str::<Line>(line).ok());
    if !matches!(lines.next(), Some(Line::Commit { commit: of }) if of == commit) {
        return Default::default();
    }
    let (mut tested, mut ended) = (Vec::new(), BTreeSet::new());
    for line in lines {
        match line {
            Line::Test(test) => replace(&mut tested, test),
            Line::Ended { run, ended: file } => {
                ended.insert((run, file));
            }
            Line::Commit { .. } => {}
        }
    }
    tested.retain(|test| ended.contains(&(test.run, test.file.clone())));
    (tested, ended)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn test(file: &str, test: &str, kind: Kind) -> Tested {
        Tested { run: 1, file: file.to_owned(), test: test.to_owned(), kind }
    }

    fn skipped() -> Kind {
        Kind::Skipped { reason: "needs root".to_owned() }
    }

    #[test]
    fn finished_results_survive_a_kill_and_the_rest_runs_again() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("results.jsonl");
        let mut results = Results::open(&path, "abc", true).expect("a new file");
        let failed = failure(3, 20);
        results.add(1, "one", vec![test("one", "a", Kind::Passed), test("one", "b", failed)]).expect("durable");
        drop(results);
        // The kill came during the write of the second test file.
        let mut file = File::options().append(true).open(&path).expect("the file");
        file.write_all(b"{\"run\":1,\"file\":\"two\",\"test\":\"c\",\"outcome\":\"passed\"}\n{\"run\":1,\"fi")
            .expect("a part");
        let mut results = Results::open(&path, "abc", true).expect("the file");
        assert!(results.has(1, "one") && !results.has(1, "two") && !results.has(2, "one"));
        results.add(1, "two", vec![test("two", "c", Kind::Passed)]).expect("durable");
        let summary = Results::open(&path, "abc", true).expect("the file").summary(1, "busy");
        assert_eq!((&summary["passed"], &summary["tests"], &summary["files"]), (&json!(2), &json!(3), &json!(2)));
        let failed = json!({"test": "b", "file": "one", "failed_again": 3, "of": 20, "timed_out": false,
                            "within_s": null});
        assert_eq!(summary["failed"], json!([failed]));
        // Another commit, and results that are not to be kept.
        for (commit, goes_on) in [("abd", true), ("abd", false)] {
            assert!(!Results::open(&path, commit, goes_on).expect("the file").has(1, "one"));
        }
    }

    fn failure(failed_again: u32, of: u32) -> Kind {
        Kind::Failed { failed_again, of, timed_out: false, within_s: None, output: "because\nof".to_owned() }
    }

    #[test]
    fn a_failure_survives_a_kill_before_its_repeats_and_counts_once() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("results.jsonl");
        let open = || Results::open(&path, "abc", true).expect("the file");
        let [first, second] = ["a", "b"].map(|name| test("one", name, failure(0, 0)));
        open().add(1, "one", vec![first.clone(), second.clone()]).expect("durable");
        let mut results = open();
        assert!(results.has(1, "one"));
        assert_eq!(results.to_run_again(1, "one"), [first.clone(), second.clone()]);
        assert_eq!((results.to_run_again(2, "one"), results.to_run_again(1, "two")), (vec![], vec![]));
        let first = Tested { kind: failure(7, 20), ..first };
        results.ran_again(first.clone()).expect("durable");
        for results in [results, open(), open()] {
            assert_eq!(results.tested, [first.clone(), second.clone()]);
            assert_eq!(results.to_run_again(1, "one"), std::slice::from_ref(&second));
        }
    }

    #[test]
    fn tests_that_ran_as_another_user_are_not_skipped() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut results = Results::open(&folder.path().join("results.jsonl"), "abc", true).expect("a new file");
        let ours = vec![test("cli", "cli::a", skipped()), test("cli", "cli::b", skipped())];
        results.add(1, "cli", ours).expect("durable");
        let others = vec![test("cli without rights", "cli::a", Kind::Passed)];
        results.add(1, "cli without rights", others).expect("durable");
        assert_eq!(results.summary(1, "quiet")["skipped"], json!({"cli::b": "needs root"}));
    }
}
