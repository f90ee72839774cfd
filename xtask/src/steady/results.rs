//! The results of tests on disk: a file of lines of JSON to which the tests of a file are added when it has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a test did in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// The run, from 1.
    pub run: u32,
    /// The test file.
    pub file: String,
    /// The test, with its crate: `cli::a_test`.
    pub test: String,
    /// What it did.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What a test can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Kind {
    /// It returned.
    Passed,
    /// It could not run here.
    Skipped {
        /// Why.
        reason: String,
    },
    /// It panicked.
    Failed {
        /// How often it failed when it ran again.
        failed_again: u32,
        /// How often it ran again.
        of: u32,
        /// What it printed the first time.
        output: String,
    },
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// The first.
    Commit { commit: String },
    /// A test.
    Test(Tested),
    /// The last line of a test file.
    Ended { run: u32, ended: String },
}

/// All that is known.
pub struct Results {
    out: File,
    tested: Vec<Tested>,
    ended: BTreeSet<(u32, String)>,
}

impl Results {
    /// Opens the file: what it has of this commit stays, if that is wanted. The tests of a file that had not ended go.
    pub fn open(path: &Path, commit: &str, goes_on: bool) -> Result<Results, String> {
        let failed = |error: std::io::Error| format!("cannot keep results in {}: {error}", path.display());
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            text => text.unwrap_or_default(),
        };
        let (tested, ended) = if goes_on { finished(&text, commit) } else { Default::default() };
        // Written beside it and renamed: a kill loses nothing.
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

    /// Whether the test file has ended in this run.
    pub fn has(&self, run: u32, file: &str) -> bool {
        self.ended.contains(&(run, file.to_owned()))
    }

    /// Adds the tests of a file that has ended; they are durable afterwards.
    pub fn add(&mut self, run: u32, file: &str, tested: Vec<Tested>) -> Result<(), String> {
        let mut lines: Vec<Line> = tested.iter().cloned().map(Line::Test).collect();
        lines.push(Line::Ended { run, ended: file.to_owned() });
        self.write(&lines).map_err(|error| format!("cannot keep the results of {file}: {error}"))?;
        self.tested.extend(tested);
        self.ended.insert((run, file.to_owned()));
        Ok(())
    }

    fn write(&mut self, lines: &[Line]) -> std::io::Result<()> {
        let text = |line: &Line| serde_json::to_string(line).expect("plain data") + "\n";
        self.out.write_all(lines.iter().map(text).collect::<String>().as_bytes())?;
        self.out.sync_data()
    }

    /// A run in one line: how many tests passed, which failed and how often again, which could run nowhere.
    pub fn summary(&self, run: u32, condition: &str) -> Value {
        let of_run = || self.tested.iter().filter(|one| one.run == run);
        let ran: BTreeSet<&str> =
            of_run().filter(|one| !matches!(one.kind, Kind::Skipped { .. })).map(|one| one.test.as_str()).collect();
        let failed: Vec<Value> = of_run()
            .filter_map(|one| match &one.kind {
                Kind::Failed { failed_again, of, .. } => {
                    Some(json!({"test": one.test, "file": one.file, "failed_again": failed_again, "of": of}))
                }
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

/// The tests of the files that have ended, and these; none of another commit.
fn finished(text: &str, commit: &str) -> (Vec<Tested>, BTreeSet<(u32, String)>) {
    let mut lines = text.lines().map_while(|line| serde_json::from_str::<Line>(line).ok());
    if !matches!(lines.next(), Some(Line::Commit { commit: of }) if of == commit) {
        return Default::default();
    }
    let (mut tested, mut ended) = (Vec::new(), BTreeSet::new());
    for line in lines {
        match line {
            Line::Test(test) => tested.push(test),
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
    fn after_a_kill_what_had_ended_is_there_and_the_rest_runs_again() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("results.jsonl");
        let mut results = Results::open(&path, "abc", true).expect("a new file");
        let failed = Kind::Failed { failed_again: 3, of: 20, output: "because\nof".to_owned() };
        results.add(1, "one", vec![test("one", "a", Kind::Passed), test("one", "b", failed)]).expect("durable");
        drop(results);
        // The kill came while the second test file was written.
        let mut file = File::options().append(true).open(&path).expect("the file");
        file.write_all(b"{\"run\":1,\"file\":\"two\",\"test\":\"c\",\"outcome\":\"passed\"}\n{\"run\":1,\"fi")
            .expect("a part");
        let mut results = Results::open(&path, "abc", true).expect("the file");
        assert!(results.has(1, "one") && !results.has(1, "two") && !results.has(2, "one"));
        results.add(1, "two", vec![test("two", "c", Kind::Passed)]).expect("durable");
        let summary = Results::open(&path, "abc", true).expect("the file").summary(1, "busy");
        assert_eq!((&summary["passed"], &summary["tests"], &summary["files"]), (&json!(2), &json!(3), &json!(2)));
        assert_eq!(summary["failed"], json!([{"test": "b", "file": "one", "failed_again": 3, "of": 20}]));
        // Another commit, and results that are not wanted.
        for (commit, goes_on) in [("abd", true), ("abd", false)] {
            assert!(!Results::open(&path, commit, goes_on).expect("the file").has(1, "one"));
        }
    }

    #[test]
    fn a_test_that_ran_as_another_user_was_not_skipped() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut results = Results::open(&folder.path().join("results.jsonl"), "abc", true).expect("a new file");
        let ours = vec![test("cli", "cli::a", skipped()), test("cli", "cli::b", skipped())];
        results.add(1, "cli", ours).expect("durable");
        let others = vec![test("cli without rights", "cli::a", Kind::Passed)];
        results.add(1, "cli without rights", others).expect("durable");
        assert_eq!(results.summary(1, "quiet")["skipped"], json!({"cli::b": "needs root"}));
    }
}
