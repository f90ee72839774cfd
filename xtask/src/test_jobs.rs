//! Runs test files, several at once, because most of them wait for devices longer than they compute.
//!
//! Policy:
//!   1. the name of a job is printed when it begins, so that you can identify one that hangs. Its output is printed in
//!      one piece when it has ended;
//!   2. all jobs run, even if some fail;
//!   3. queues run side by side.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use std::{thread, vec};

use crate::executables::TestFile;
use crate::libtest::Totals;
use crate::process::{self, Ended};

/// A test file to be run.
pub struct Job {
    /// Its display name.
    pub name: String,
    /// The command that runs it.
    pub command: Command,
}

/// The result of a test file.
pub struct Done {
    /// Its display name.
    pub name: String,
    /// Its elapsed time.
    pub took: Duration,
    /// Its CPU time in seconds; `None` if the kernel did not report it.
    pub cpu_s: Option<f64>,
    /// Its output.
    pub output: String,
    /// The counts of its tests.
    pub totals: Totals,
    /// The reason for its failure; `None` if it succeeded.
    pub failure: Option<String>,
}

/// Runs the jobs of each queue in order, with the given number of them at once, and passes each result to `ended`.
pub fn run(queues: Vec<(Vec<Job>, usize)>, ended: impl FnMut(Done)) {
    let work = |job: Job| {
        println!("   {} begins", job.name);
        job.run()
    };
    side_by_side(queues, work, ended);
}

/// Does `work` on all members of each queue, in order and with the given number of them at once, and passes each result
/// to `ended`.
pub fn side_by_side<T: Send, R: Send>(
    queues: Vec<(Vec<T>, usize)>,
    work: impl Fn(T) -> R + Sync,
    ended: impl FnMut(R),
) {
    let queues: Vec<(Mutex<vec::IntoIter<T>>, usize)> =
        queues.into_iter().map(|(members, at_once)| (Mutex::new(members.into_iter()), at_once)).collect();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for (queue, at_once) in &queues {
            for _ in 0..*at_once {
                let (sender, work) = (sender.clone(), &work);
                let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                scope.spawn(move || {
                    while let Some(one) = next() {
                        // The receiver exists until all senders have ended.
                        let _ = sender.send(work(one));
                    }
                });
            }
        }
        drop(sender);
        receiver.into_iter().for_each(ended);
    });
}

impl Job {
    /// A job for a test file, whose tests write their skips to the file `skips`.
    pub fn from_test(test: &TestFile, skips: &Path) -> Job {
        let mut command = test.command(None, process::LONGEST);
        command.env(testkit::SKIPS, skips);
        Job { name: test.shown(), command }
    }

    fn run(mut self) -> Done {
        let began = Instant::now();
        let (output, cpu_s, failure) = match process::all_of(&mut self.command) {
            Ok(Ended { status, output, cpu_s }) if status.success() => (output, cpu_s, None),
            Ok(Ended { status, output, cpu_s }) => (output, cpu_s, Some(format!("its tests failed: {status}"))),
            Err(message) => (String::new(), None, Some(message)),
        };
        let mut totals = Totals::default();
        output.lines().for_each(|line| totals.add_line(line));
        Done { name: self.name, took: began.elapsed(), cpu_s, output, totals, failure }
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
    fn all_jobs_run_despite_failures_and_their_lines_count() {
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
        run(vec![(jobs, 2)], |one| done.push(one));
        done.sort_by(|a, b| a.name.cmp(&b.name));
        let of = |name: &str| done.iter().find(|one| one.name == name).expect("it was run");
        assert_eq!(done.len(), 4);
        assert_eq!((of("two").totals.passed, of("three").totals.passed), (2, 3));
        assert!(of("two").failure.is_none() && of("two").output.ends_with("ignored\nbad\n"));
        assert!(of("fails").failure.is_some());
        assert!(of("missing").failure.as_ref().is_some_and(|message| message.contains("cannot run")));
    }

    /// Each of the two jobs waits for the other.
    #[test]
    fn jobs_and_queues_run_concurrently() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let wait = |mine: &str, other: &str| {
            let [mine, other] = [mine, other].map(|name| folder.path().join(name).display().to_string());
            job(
                "one",
                &format!("touch {mine}; for i in $(seq 6000); do test -e {other} && exit 0; sleep 0.01; done; exit 1"),
            )
        };
        let mut failures = 0;
        let mut run_all = |queues| run(queues, |done| failures += u32::from(done.failure.is_some()));
        run_all(vec![(vec![wait("a", "b"), wait("b", "a")], 2)]);
        run_all(vec![(vec![wait("c", "d")], 1), (vec![wait("d", "c")], 1)]);
        assert_eq!(failures, 0);
    }
}
