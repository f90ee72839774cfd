//! `cargo xtask steady-tests CONDITION`: all tests, several times, on a machine that is busy, small or has a slow disk.
//! A test that passes only on a quiet machine fails here.
//!
//! Policy:
//!   1. everything is built first; then the condition is made, and this program runs the tests inside it;
//!   2. test files run as in `cargo xtask test`: side by side, and those that need the machine for themselves alone;
//!   3. a test that failed runs 20 more times in the same condition;
//!   4. the results of a test file are durable when it has ended: after a kill, the next call goes on with the first test
//!      file that has none, if the commit is still the same;
//!   5. standard output has one line of JSON per run. A failed test is a result, not a failure of this task.

mod condition;
mod outcomes;
mod results;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use clap::Args;
use tempfile::TempDir;

use crate::built::{self, Built, TestFile};
use crate::unprivileged::Repetition;
use crate::{jobs, process, prove, skips, test};
pub use condition::Condition;
use condition::Surroundings;
use outcomes::{Failure, Outcomes};
use results::{Kind, Results, Tested};

/// How often a test runs again that has failed once.
const AGAIN: u32 = 20;

/// The environment variable by which `prove --again` asks for new results.
pub const ANEW: &str = "DISKPERF_STEADY_ANEW";

/// What the task takes.
#[derive(Args)]
pub struct Arguments {
    /// The condition of the machine.
    #[arg(value_enum)]
    condition: Condition,
    /// How often all tests run.
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Only these test files: `cli_command`, `kernel`. Without the release build, unless they need it.
    #[arg(long, value_delimiter = ',')]
    files: Vec<String>,
    /// The condition has been made by the caller.
    #[arg(long, hide = true)]
    inside: bool,
}

/// Runs the tests under the condition and prints what they did.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.inside { test_all(arguments) } else { surround(arguments) }
}

/// 1. Builds, makes the condition, and has this program run inside it.
fn surround(arguments: &Arguments) -> Result<(), String> {
    built::tests(&["--workspace"])?;
    let mut release = None;
    if arguments.wants(test::INSTRUCTIONS) {
        test::build_instructions()?;
    }
    if arguments.wants(test::DIST) {
        release = test::make_dist()?;
    }
    let surroundings = Surroundings::make(arguments.condition, &prove::folder()?)?;
    let program = env::current_exe().map_err(|error| format!("cannot name this program: {error}"))?;
    let mut command = surroundings.command(&program);
    command.arg("steady-tests").args(env::args_os().skip(2)).arg("--inside");
    if let Some(folder) = release.as_ref().and_then(|made| made.program.parent()) {
        command.env(testkit::DIST, folder);
    }
    process::run(&mut command)
}

impl Arguments {
    fn wants(&self, file: &str) -> bool {
        self.files.is_empty() || self.files.iter().any(|name| name == file)
    }
}

/// A test file, and as whom it runs.
enum Case<'a> {
    /// As this user.
    Ours(&'a TestFile, bool),
    /// As a user without rights.
    Unprivileged(&'a Repetition, String),
}

impl Case<'_> {
    fn shown(&self) -> String {
        match self {
            Case::Ours(test, is_release) => test.shown() + if *is_release { " in release" } else { "" },
            Case::Unprivileged(_, name) => format!("{name} without rights"),
        }
    }

    /// The crate of its tests, as the compiler names them.
    fn name(&self) -> &str {
        match self {
            Case::Ours(test, _) => &test.name,
            Case::Unprivileged(_, name) => name,
        }
    }

    fn is_alone(&self) -> bool {
        matches!(self, Case::Ours(test, _) if test::is_alone(test))
    }

    /// The command that runs its tests, and the file of this run to which they add their skips.
    fn command(&self, run: u32, scratch: &Path) -> (Command, PathBuf) {
        let skips = format!("skips-{run}-{}", self.shown().replace([':', ' '], "-"));
        match self {
            Case::Ours(test, _) => {
                let (mut command, skips) = (test.command(), scratch.join(skips));
                command.env(testkit::SKIPS, &skips);
                (command, skips)
            }
            Case::Unprivileged(repetition, name) => repetition.command(name, &skips),
        }
    }
}

fn test_all(arguments: &Arguments) -> Result<(), String> {
    let built = built::tests(&["--workspace"])?;
    let release = if arguments.wants(test::INSTRUCTIONS) { test::build_instructions()? } else { Vec::new() };
    let repetition = repetition(&built)?;
    let path = prove::folder()?.join(format!("steady-tests-{}.jsonl", arguments.condition));
    let commit = prove::commit()?;
    // 4
    let goes_on = !commit.ends_with(prove::CHANGED) && env::var_os(ANEW).is_none();
    let mut results = Results::open(&path, &commit, goes_on)?;
    for run in 1..=arguments.runs {
        let ours = built.tests.iter().map(|test| Case::Ours(test, false));
        let ours = ours.chain(release.iter().map(|test| Case::Ours(test, true)));
        let unprivileged = |of| Repetition::files(of).into_iter().map(move |name| Case::Unprivileged(of, name));
        let others = repetition.iter().flat_map(unprivileged);
        let is_left = |case: &Case| arguments.wants(case.name()) && !results.has(run, &case.shown());
        let (alone, beside): (Vec<Case>, Vec<Case>) = ours.chain(others).filter(is_left).partition(Case::is_alone);
        // 2
        let at_once = thread::available_parallelism().map_or(1, usize::from);
        for (cases, at_once) in [(beside, at_once), (alone, 1)] {
            let mut kept = Ok(());
            let scratch = scratch()?;
            let work = |case: Case| perform(&case, run, scratch.path());
            jobs::side_by_side(cases, at_once, work, |done| {
                let added = done.and_then(|(file, tested)| results.add(run, &file, tested));
                kept = std::mem::replace(&mut kept, Ok(())).and(added);
            });
            kept?;
        }
    }
    // 5
    for run in 1..=arguments.runs {
        println!("{}", results.summary(run, &arguments.condition.to_string()));
    }
    Ok(())
}

fn scratch() -> Result<TempDir, String> {
    TempDir::with_prefix("diskperf-steady-").map_err(|error| format!("no temporary folder: {error}"))
}

/// The tests of the command line as another user, if there is another.
fn repetition(built: &Built) -> Result<Option<Repetition>, String> {
    if testkit::is_root() && testkit::has_tool("setpriv") { Repetition::of(built).map(Some) } else { Ok(None) }
}

/// Runs a test file; 3. what failed runs again.
fn perform(case: &Case, run: u32, scratch: &Path) -> Result<(String, Vec<Tested>), String> {
    let file = case.shown();
    eprintln!("   run {run}: {file} begins");
    let began = Instant::now();
    let (mut command, skips) = case.command(run, scratch);
    let (status, output) = process::all_of(&mut command)?;
    let outcomes = Outcomes::of(&output, status.success());
    let skipped = skips::parse(&skips::read(&skips)?);
    let name = |test: &str| format!("{}::{test}", case.name().replace('-', "_"));
    let tested = |test: String, kind: Kind| Tested { run, file: file.clone(), test, kind };
    let mut all: Vec<Tested> = Vec::new();
    for test in outcomes.passed.iter().map(|test| name(test)).filter(|test| !skipped.contains_key(test)) {
        all.push(tested(test, Kind::Passed));
    }
    for (test, reason) in skipped {
        all.push(tested(test, Kind::Skipped { reason }));
    }
    for Failure { test, output } in outcomes.failed {
        let (filter, test) = match &test {
            Some(test) => (vec!["--exact", test.as_str()], name(test)),
            None => (Vec::new(), format!("{file}: the whole file, {status}")),
        };
        eprintln!("   run {run}: {test} failed, and runs {AGAIN} times more\n{output}");
        let mut failed_again = 0;
        for _ in 0..AGAIN {
            let (status, _) = process::all_of(case.command(run, scratch).0.args(&filter))?;
            failed_again += u32::from(!status.success());
        }
        all.push(tested(test, Kind::Failed { failed_again, of: AGAIN, output }));
    }
    let failed = all.iter().filter(|one| matches!(one.kind, Kind::Failed { .. })).count();
    eprintln!("-- run {run}: {file}: {:.1} s, {failed} failed", began.elapsed().as_secs_f64());
    Ok((file, all))
}
