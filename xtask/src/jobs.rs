//! Test files, several at once: most of them wait for devices longer than they compute.
//!
//! Policy:
//!   1. who begins is said at once, so that one that hangs is known; what it prints is printed when it has ended, in one
//!      piece;
//!   2. all are run, whatever fails.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::built::TestFile;
use crate::libtest::Totals;
use crate::process;

/// A test file that is to be run.
pub struct Job {
    /// What it is called.
    pub name: String,
    /// What runs it.
    pub command: Command,
}

/// A test file that has ended.
pub struct Done {
    /// What it is called.
    pub name: String,
    /// How long it took.
    pub took: Duration,
    /// All it printed.
    pub output: String,
    /// What its tests did.
    pub totals: Totals,
    /// Why it is no success.
    pub failure: Option<String>,
}

/// Runs so many at once, in this order, and hands over each that has ended.
pub fn run(jobs: Vec<Job>, at_once: usize, ended: impl FnMut(Done)) {
    let work = |job: Job| {
        println!("   {} begins", job.name);
        job.run()
    };
    side_by_side(jobs, at_once, work, ended);
}

/// Does the same work on each of these, N at once and in this order, and hands over each result.
pub fn side_by_side<T: Send, R: Send>(all: Vec<T>, at_once: usize, work: impl Fn(T) -> R + Sync, ended: impl FnMut(R)) {
    let queue = Mutex::new(VecDeque::from(all));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let (queue, sender, work) = (&queue, sender.clone(), &work);
            scope.spawn(move || {
                let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some(one) = next() {
                    // The receiver listens until all have ended.
                    let _ = sender.send(work(one));
                }
            });
        }
        drop(sender);
        receiver.into_iter().for_each(ended);
    });
}

impl Job {
    /// A file of tests, which leave their skips there.
    pub fn of(test: &TestFile, skips: &Path) -> Job {
        let mut command = test.command(process::LONGEST);
        command.env(testkit::SKIPS, skips);
        Job { name: test.shown(), command }
    }

    fn run(mut self) -> Done {
        let began = Instant::now();
        let (output, failure) = match process::all_of(&mut self.command) {
            Ok((status, output)) if status.success() => (output, None),
            Ok((status, output)) => (output, Some(format!("its tests failed: {status}"))),
            Err(message) => (String::new(), Some(message)),
        };
        let mut totals = Totals::default();
        output.lines().for_each(|line| totals.add_line(line));
        Done { name: self.name, took: began.elapsed(), output, totals, failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.to_owned(), command }
    }

    #[test]
    fn all_are_run_whatever_fails_and_every_line_counts() {
        let line = |passed: u64| format!("echo 'test result: ok. {passed} passed; 0 failed; 0 ignored'; echo bad >&2");
        let mut command = Command::new("/no/such/program");
        command.arg("x");
        let jobs = vec![
            job("fails", "exit 1"),
            Job { name: "missing".to_owned(), command },
            job("two", &line(2)),
            job("three", &line(3)),
        ];
        let mut done = Vec::new();
        run(jobs, 2, |one| done.push(one));
        done.sort_by(|a, b| a.name.cmp(&b.name));
        let of = |name: &str| done.iter().find(|one| one.name == name).expect("it was run");
        assert_eq!(done.len(), 4);
        assert_eq!((of("two").totals.passed, of("three").totals.passed), (2, 3));
        assert!(of("two").failure.is_none() && of("two").output.ends_with("ignored\nbad\n"));
        assert!(of("fails").failure.is_some());
        assert!(of("missing").failure.as_ref().is_some_and(|message| message.contains("cannot run")));
    }

    /// Each of two waits for the other.
    #[test]
    fn two_run_at_once() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let wait = |mine: &str, other: &str| {
            let [mine, other] = [mine, other].map(|name| folder.path().join(name).display().to_string());
            job(
                "one",
                &format!("touch {mine}; for i in $(seq 6000); do test -e {other} && exit 0; sleep 0.01; done; exit 1"),
            )
        };
        let mut failures = 0;
        run(vec![wait("a", "b"), wait("b", "a")], 2, |done| failures += u32::from(done.failure.is_some()));
        assert_eq!(failures, 0);
    }
}
