//! `cargo xtask steady-tests CONDITION`: runs all tests several times on a machine that is busy, small or has a slow
//! disk. A test that passes only on a quiet machine fails here.
//!
//! Policy:
//!   1. everything is built first. Then the condition is created, and this program runs the tests inside it;
//!   2. test files run in the groups and the order of `cargo xtask test`;
//!   3. a failed test runs 20 more times in the same condition; with a tenth of the time if it timed out;
//!   4. the results of a test file are durable when it has ended, and those of a repeated failure after its
//!      repetitions. After a kill, the next call continues with the first missing result, if the commit is still the
//!      same;
//!   5. standard output has one line of JSON per run. A failed test is a result, not a failure of this task;
//!   6. if the condition cannot be created here, the only line has the reason: nothing was measured.

mod condition;
mod outcomes;
mod results;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use serde_json::json;
use tempfile::TempDir;

use crate::executables::{self, Built, TestFile};
use crate::test::Turn;
use crate::unprivileged::Repetition;
use crate::{process, prove, skipped_tests, test, test_jobs};
pub use condition::Condition;
use condition::Surroundings;
use outcomes::{Failure, Outcomes};
use results::{Kind, Results, Tested};

/// The number of repetitions of a failed test.
const AGAIN: u32 = 20;

/// The divisor of the time limit for repetitions of a test that timed out. 20 more hangs then take 40 minutes instead
/// of 7 hours. A choice.
const LESS: u32 = 10;

/// The text after the name of a test file that ended without a list of its tests.
const WHOLE: &str = ": the whole file, ";

#[derive(Args)]
pub struct Arguments {
    /// Condition of the machine.
    #[arg(value_enum)]
    condition: Condition,
    /// Number of runs of all tests.
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Test files to run, as in cli_command,kernel [default: all].
    #[arg(long, value_delimiter = ',')]
    files: Vec<String>,
    /// The caller has created the condition.
    #[arg(long, hide = true)]
    inside: bool,
}

/// Runs the tests under the condition and prints their results.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.inside { test_all(arguments) } else { surround(arguments) }
}

/// 1. Builds, creates the condition, and runs this program inside it.
fn surround(arguments: &Arguments) -> Result<(), String> {
    // 6
    if let Some(reason) = arguments.condition.impossible() {
        println!("{}", json!({ "steady_tests": arguments.condition.to_string(), prove::NOT_MEASURED: reason }));
        return Ok(());
    }
    let stripped = executables::tests(&["--workspace"])?.stripped()?;
    let surroundings = Surroundings::make(arguments.condition, &prove::folder()?)?;
    let this = env::current_exe().map_err(|error| format!("cannot name this program: {error}"))?;
    let mut command = surroundings.command(&this);
    command.arg("steady-tests").args(env::args_os().skip(2)).arg("--inside");
    process::run(command.env(testkit::DIST, stripped))
}

impl Arguments {
    fn wants(&self, file: &str) -> bool {
        self.files.is_empty() || self.files.iter().any(|name| name == file)
    }
}

/// A test file, and the user who runs it.
enum Case<'a> {
    /// As this user.
    Ours(&'a TestFile),
    /// As an unprivileged user.
    Unprivileged(&'a Repetition, &'a TestFile),
}

impl Case<'_> {
    fn shown(&self) -> String {
        match self {
            Case::Ours(test) => test.shown(),
            Case::Unprivileged(_, test) => format!("{} without rights", test.name),
        }
    }

    fn test(&self) -> &TestFile {
        let (Case::Ours(test) | Case::Unprivileged(_, test)) = self;
        test
    }

    /// The prefix of the full name of each of its tests: the crate.
    fn prefix(&self) -> String {
        format!("{}::", self.test().target.replace('-', "_"))
    }

    fn turn(&self) -> Turn {
        match self {
            Case::Ours(test) => test::turn(test),
            Case::Unprivileged(..) => Turn::Beside,
        }
    }

    /// The command that runs its tests (or only the test `only`), with a time limit in seconds. Also returns the file
    /// of this run to which they add their skips.
    fn command(&self, only: Option<&str>, run: u32, scratch: &Path, seconds: u32) -> (Command, PathBuf) {
        let skips = format!("skips-{run}-{}", self.shown().replace([':', ' '], "-"));
        match self {
            Case::Ours(test) => {
                let (mut command, skips) = (test.command(only, seconds), scratch.join(skips));
                command.env(testkit::SKIPS, &skips);
                (command, skips)
            }
            Case::Unprivileged(repetition, test) => repetition.command(test, only, &skips, seconds),
        }
    }
}

fn test_all(arguments: &Arguments) -> Result<(), String> {
    let built = executables::tests(&["--workspace"])?;
    let repetition = repetition(&built)?;
    let path = prove::folder()?.join(format!("steady-tests-{}.jsonl", arguments.condition));
    let commit = prove::commit()?;
    // 4
    let goes_on = !commit.ends_with(prove::CHANGED) && env::var_os(prove::ANEW).is_none();
    let results = Mutex::new(Results::open(&path, &commit, goes_on)?);
    for run in 1..=arguments.runs {
        let ours = built.tests.iter().map(Case::Ours);
        let unprivileged = |of| Repetition::files(of).iter().map(move |test| Case::Unprivileged(of, test));
        let others = repetition.iter().flat_map(unprivileged);
        let is_left = |case: &Case| {
            let (file, results) = (case.shown(), known(&results));
            arguments.wants(&case.test().name)
                && (!results.has(run, &file) || !results.to_run_again(run, &file).is_empty())
        };
        let mut left: Vec<Case> = ours.chain(others).filter(is_left).collect();
        test::longest_first(&mut left, |case| &case.test().name);
        let mut of = |turn| left.extract_if(.., |case| case.turn() == turn).collect();
        // 2
        let mut all = vec![vec![(of(Turn::Beside), test::at_once())]];
        all.extend(test::LATER.map(|turns| turns.iter().map(|turn| (of(*turn), 1)).collect()));
        for queues in all {
            let mut kept = Ok(());
            let scratch = scratch()?;
            let work = |case: Case| perform(&case, run, scratch.path(), &results);
            test_jobs::side_by_side(queues, work, |done| kept = std::mem::replace(&mut kept, Ok(())).and(done));
            kept?;
        }
    }
    // 5
    for run in 1..=arguments.runs {
        println!("{}", known(&results).summary(run, &arguments.condition.to_string()));
    }
    Ok(())
}

fn scratch() -> Result<TempDir, String> {
    TempDir::with_prefix("diskperf-steady-").map_err(|error| format!("no temporary folder: {error}"))
}

/// The command-line tests as another user; `None` if that is not possible.
fn repetition(built: &Built) -> Result<Option<Repetition>, String> {
    if testkit::is_root() && testkit::has_tool("setpriv") { Repetition::prepare(built).map(Some) } else { Ok(None) }
}

fn known(results: &Mutex<Results>) -> std::sync::MutexGuard<'_, Results> {
    results.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test file unless it has already ended; 3. repeats its failures.
fn perform(case: &Case, run: u32, scratch: &Path, results: &Mutex<Results>) -> Result<(), String> {
    let file = case.shown();
    eprintln!("   run {run}: {file} begins");
    let began = Instant::now();
    let has_ended = known(results).has(run, &file);
    if !has_ended {
        let tested = perform_first(case, run, scratch)?;
        // 4: a kill during the long repetitions that follow does not lose the failures.
        known(results).add(run, &file, tested)?;
    }
    let failures = known(results).to_run_again(run, &file);
    let failed = failures.len();
    for failure in failures {
        let failure = perform_again(case, run, scratch, failure)?;
        known(results).ran_again(failure)?;
    }
    eprintln!("-- run {run}: {file}: {:.1} s, {failed} failed", began.elapsed().as_secs_f64());
    Ok(())
}

/// Runs all tests of a file.
fn perform_first(case: &Case, run: u32, scratch: &Path) -> Result<Vec<Tested>, String> {
    let file = case.shown();
    let (mut command, skips) = case.command(None, run, scratch, process::LONGEST);
    let process::Ended { status, output, .. } = process::all_of(&mut command)?;
    let outcomes = Outcomes::parse(&output, status.success());
    let skipped = skipped_tests::parse(&skipped_tests::read(&skips)?);
    let name = |test: &str| format!("{}{test}", case.prefix());
    let tested = |test: String, kind: Kind| Tested { run, file: file.clone(), test, kind };
    let mut all: Vec<Tested> = Vec::new();
    for test in outcomes.passed.iter().map(|test| name(test)).filter(|test| !skipped.contains_key(test)) {
        all.push(tested(test, Kind::Passed));
    }
    for (test, reason) in skipped {
        all.push(tested(test, Kind::Skipped { reason }));
    }
    for Failure { test, output } in outcomes.failed {
        let test = test.map_or_else(|| format!("{file}{WHOLE}{status}"), |test| name(&test));
        let timed_out = process::is_timeout(status);
        all.push(tested(test, Kind::Failed { failed_again: 0, of: 0, timed_out, within_s: None, output }));
    }
    Ok(all)
}

/// Repeats a failed test.
fn perform_again(case: &Case, run: u32, scratch: &Path, failure: Tested) -> Result<Tested, String> {
    let Kind::Failed { timed_out, output, .. } = failure.kind else { return Ok(failure) };
    let test = &failure.test;
    let only = if test.starts_with(&(case.shown() + WHOLE)) { None } else { test.strip_prefix(&case.prefix()) };
    let within_s = timed_out.then_some(process::LONGEST / LESS);
    let time = within_s.map(|seconds| format!(", for {seconds} s each time as it took too long")).unwrap_or_default();
    eprintln!("   run {run}: {test} failed, and runs {AGAIN} times more{time}\n{output}");
    let mut failed_again = 0;
    for _ in 0..AGAIN {
        let (mut command, _) = case.command(only, run, scratch, within_s.unwrap_or(process::LONGEST));
        failed_again += u32::from(!process::all_of(&mut command)?.status.success());
    }
    Ok(Tested { kind: Kind::Failed { failed_again, of: AGAIN, timed_out, within_s, output }, ..failure })
}
