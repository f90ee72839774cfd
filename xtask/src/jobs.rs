//! Test files, several at once, because most of them wait for devices longer than they compute.
//!
//! Policy:
//!   1. the name of a job is printed when it begins, so that you know which one hangs; its output is printed in one
//!      piece when it has ended;
//!   2. all jobs run, whatever fails;
//!   3. builds run beside the jobs. The jobs that a build makes are next in the queue.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::built::TestFile;
use crate::libtest::Totals;
use crate::process::{self, Ended};

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
    /// Its CPU time in seconds, if the kernel told it.
    pub cpu_s: Option<f64>,
    /// All it printed.
    pub output: String,
    /// What its tests did.
    pub totals: Totals,
    /// Why it is no success.
    pub failure: Option<String>,
}

/// Work beside the queue that makes more of what is in it.
pub type Build<'a, T> = Box<dyn FnOnce() -> Vec<T> + Send + 'a>;

/// Runs N jobs at once, in this order, and hands over each that has ended.
pub fn run(jobs: Vec<Job>, builds: Vec<Build<Job>>, at_once: usize, ended: impl FnMut(Done)) {
    let work = |job: Job| {
        println!("   {} begins", job.name);
        job.run()
    };
    side_by_side(jobs, builds, at_once, work, ended);
}

/// What is still to be done.
struct Queue<T> {
    /// What is ready, and how many builds are not.
    state: Mutex<(VecDeque<T>, usize)>,
    changed: Condvar,
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, (VecDeque<T>, usize)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one; waits for builds if there is none yet.
    fn next(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            match (state.0.pop_front(), state.1) {
                (None, 1..) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                (next, _) => return next,
            }
        }
    }

    fn add_first(&self, more: Vec<T>) {
        let mut state = self.state();
        more.into_iter().rev().for_each(|one| state.0.push_front(one));
    }
}

/// A build that has not ended; it ends also if it panics, so that nothing waits for it in vain.
struct Building<'a, T>(&'a Queue<T>);

impl<T> Drop for Building<'_, T> {
    fn drop(&mut self) {
        self.0.state().1 -= 1;
        self.0.changed.notify_all();
    }
}

/// Does the same work on each of these, N at once and in this order, and hands over each result.
pub fn side_by_side<T: Send, R: Send>(
    all: Vec<T>,
    builds: Vec<Build<T>>,
    at_once: usize,
    work: impl Fn(T) -> R + Sync,
    ended: impl FnMut(R),
) {
    let queue = Queue { state: Mutex::new((all.into(), builds.len())), changed: Condvar::new() };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let queue = &queue;
        for build in builds {
            scope.spawn(move || {
                let _building = Building(queue);
                queue.add_first(build());
            });
        }
        for _ in 0..at_once {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || {
                while let Some(one) = queue.next() {
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
        run(jobs, Vec::new(), 2, |one| done.push(one));
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
        run(vec![wait("a", "b"), wait("b", "a")], Vec::new(), 2, |done| failures += u32::from(done.failure.is_some()));
        assert_eq!(failures, 0);
    }

    #[test]
    fn jobs_of_a_build_run_and_a_build_that_panics_is_not_waited_for() {
        let more: Build<u32> = Box::new(|| vec![3, 4]);
        let broken: Build<u32> = Box::new(|| panic!("a mistake"));
        let mut done = Vec::new();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            side_by_side(vec![1, 2], vec![more, broken], 2, |number| number * 10, |number| done.push(number));
        }));
        assert!(outcome.is_err(), "the panic of a build is not swallowed");
        done.sort_unstable();
        assert_eq!(done, [10, 20, 30, 40]);
    }
}
