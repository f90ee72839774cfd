//! `cargo xtask test`: everything that must hold before a change is merged, one step after the other, up
//! to the first that fails.
//!
//! Policy of the tests:
//!   1. as many test files at once as there are processors, for they wait more than they compute; beside them is built
//!      what later steps need;
//!   2. those that the rest would disturb, or that would disturb the rest, run afterwards, each alone;
//!   3. all are run, whatever fails.

use std::env;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::built::{self, Built, TestFile};
use crate::dist::Made;
use crate::jobs::{self, Done, Job};
use crate::libtest::Totals;
use crate::skips::{self, Scope, Skips};
use crate::unprivileged::Repetition;
use crate::{dist, packages, process, tidy};

/// A step: its heading, and what it does.
type Step = (&'static str, fn(&mut Results) -> Result<(), String>);

/// The steps, cheap ones first.
const STEPS: [Step; 8] = [
    ("packages", |_| packages::provide()),
    ("formatting", |_| process::run(&mut process::cargo(&["fmt", "--all", "--check"]))),
    ("clippy", |_| {
        let arguments = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
        process::run(&mut process::cargo(&arguments))
    }),
    ("documentation", documentation),
    ("tidy", tidy),
    ("tests, built", build),
    ("tests", tests),
    ("tests of what was built beside them", of_what_was_built_beside),
];

/// Tests that need the machine for themselves (2), and why: they change what all have, or look at what all use. To
/// measure is no reason, as a test must pass on a busy machine (`cargo xtask steady-tests busy`).
const ALONE: [(&str, &str); 3] = [
    ("bottlenecks", "limits what the whole machine may keep in memory"),
    ("marks_devices", "counts what the machine's own disk does meanwhile"),
    ("marks_machine", "keeps all processors busy, and tells noise from none"),
];

/// The test file that counts instructions, which only the release build does.
pub const INSTRUCTIONS: &str = "instructions";

/// The test file of the program that is handed out; it skips itself where there is none yet.
pub const DIST: &str = "dist";

/// How many of the test files that took longest are named at the end.
const SLOWEST: usize = 10;

/// Runs them, and says what came out.
pub fn run() -> Result<(), String> {
    let scratch = TempDir::with_prefix("diskperf-xtask-").map_err(|error| format!("no temporary folder: {error}"))?;
    let mut results =
        Results { scratch, built: None, later: None, totals: Totals::default(), runs: Vec::new(), took: Vec::new() };
    let began = Instant::now();
    let mut failure = None;
    for (heading, step) in STEPS {
        println!("\n== {heading}");
        let step_began = Instant::now();
        let outcome = step(&mut results);
        println!("-- {heading}: {:.1} s", step_began.elapsed().as_secs_f64());
        if let Err(message) = outcome {
            failure = Some(format!("{heading}: {message}"));
            break;
        }
    }
    println!("\n{:.0} s in all", began.elapsed().as_secs_f64());
    results.summarise(failure, env::var("CI").is_ok_and(|value| value == "true"))
}

/// What the tests have done so far.
struct Results {
    scratch: TempDir,
    /// All tests, once they are built.
    built: Option<Built>,
    /// What was built beside them.
    later: Option<Later>,
    totals: Totals,
    runs: Vec<(Scope, Skips)>,
    took: Vec<(Duration, String)>,
}

/// What is built while tests run.
struct Later {
    /// The tests that count instructions, in the release build.
    instructions: Vec<TestFile>,
    /// What is handed out, where it can be made.
    made: Option<Made>,
}

impl Results {
    /// The test files of which this holds, as jobs that leave their skips there.
    fn jobs(&self, skips: &Path, holds: impl Fn(&TestFile) -> bool) -> Vec<Job> {
        let tests = self.built.iter().flat_map(|built| &built.tests).filter(|test| holds(test));
        tests.map(|test| Job::of(test, skips)).collect()
    }

    /// Runs so many at once; fails where one does.
    fn run(&mut self, jobs: Vec<Job>, at_once: usize) -> Result<(), String> {
        let mut failed = Vec::new();
        jobs::run(jobs, at_once, |Done { name, took, output, totals, failure }| {
            println!("\n-- {name}: {:.1} s\n{output}", took.as_secs_f64());
            self.totals.passed += totals.passed;
            self.totals.failed += totals.failed;
            if let Some(message) = failure {
                failed.push(format!("{name}: {message}"));
            }
            self.took.push((took, name));
        });
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }

    /// A new file for the skips of a run.
    fn skips(&self) -> PathBuf {
        self.scratch.path().join(format!("skips-{}", self.runs.len()))
    }

    /// Counts the skips of what has run: a test that skipped itself has not passed.
    fn skipped(&mut self, scope: Scope, skips: &str) {
        let skips = skips::parse(skips);
        self.totals.passed = self.totals.passed.saturating_sub(skips.len() as u64);
        self.runs.push((scope, skips));
    }

    /// The same, of a file.
    fn skipped_in(&mut self, scope: Scope, path: &Path) -> Result<(), String> {
        self.skipped(scope, &skips::read(path)?);
        Ok(())
    }

    /// Prints what took longest, skips, failure and the last line. A step that failed without a failed test counts as one.
    fn summarise(mut self, failure: Option<String>, all_must_run: bool) -> Result<(), String> {
        self.took.sort_unstable_by(|a, b| b.cmp(a));
        for (took, name) in self.took.iter().take(SLOWEST) {
            println!("{:>6.1} s  {name}", took.as_secs_f64());
        }
        let skips = skips::never_run(&self.runs);
        for (test, reason) in &skips {
            println!("skipped: {test}: {reason}");
        }
        let failed = self.totals.failed.max(u64::from(failure.is_some()));
        if let Some(message) = &failure {
            println!("failed: {message}");
        }
        println!("{} passed, {failed} failed, {} skipped", self.totals.passed, skips.len());
        match failure {
            Some(message) => Err(message),
            None if all_must_run && !skips.is_empty() => {
                Err(format!("{} skipped, and CI=true promises that everything can run here", skips.len()))
            }
            None => Ok(()),
        }
    }
}

fn documentation(_: &mut Results) -> Result<(), String> {
    let arguments = ["doc", "--no-deps", "--workspace", "--all-features", "--document-private-items"];
    process::run(process::cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn tidy(results: &mut Results) -> Result<(), String> {
    let report = tidy::check()?;
    let lines: String = report.skips.iter().map(|(rule, reason)| format!("tidy::{rule}\t{reason}\n")).collect();
    results.skipped(Scope::Files(vec!["tidy".to_owned()]), &lines);
    report.verdict()
}

fn build(results: &mut Results) -> Result<(), String> {
    results.built = Some(built::tests(&["--workspace"])?);
    Ok(())
}

fn tests(results: &mut Results) -> Result<(), String> {
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let path = results.skips();
    let repetition = without_rights(results)?;
    let mut jobs = results.jobs(&path, |test| !is_alone(test));
    jobs.extend(repetition.iter().flat_map(Repetition::jobs));
    // 1
    let (instructions, made, beside) = thread::scope(|scope| {
        // Each for itself: either compiles our crates one after the other.
        let instructions = scope.spawn(|| in_the_gaps(build_instructions));
        let made = scope.spawn(|| in_the_gaps(make_dist));
        let beside = results.run(jobs, at_once);
        (instructions.join(), made.join(), beside)
    });
    // 2
    let alone = results.run(results.jobs(&path, is_alone), 1);
    let skipped = results.skipped_in(Scope::Everything, &path);
    if let Some(repetition) = repetition {
        results.skipped(Scope::Files(repetition.files()), &repetition.skips()?);
    }
    // 3
    let instructions = instructions.unwrap_or_else(|_| Err("the release build could not be made".to_owned()));
    let made = made.unwrap_or_else(|_| Err("what is handed out could not be made".to_owned()));
    let later = instructions.and_then(|instructions| Ok(Later { instructions, made: made? }));
    let later = later.map(|later| results.later = Some(later));
    let failed: Vec<String> = [beside, alone, later, skipped].into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// Whether a test file needs the machine for itself (2).
pub fn is_alone(test: &TestFile) -> bool {
    test.is_integration && ALONE.iter().any(|(name, _)| *name == test.name)
}

/// The command-line tests as another user, where that is another.
fn without_rights(results: &mut Results) -> Result<Option<Repetition>, String> {
    if !testkit::is_root() {
        println!("nothing to repeat without rights: there are none");
        return Ok(None);
    }
    if !testkit::has_tool("setpriv") {
        let skip = "tests::command_line_without_rights\tsetpriv is not installed\n";
        results.skipped(Scope::Files(Vec::new()), skip);
        return Ok(None);
    }
    results.built.as_ref().map(Repetition::of).transpose()
}

/// Does this so that what it starts computes only when nobody else wants to: tests that take part of their time from a
/// clock are not to wait for a compiler.
fn in_the_gaps<T>(work: fn() -> T) -> T {
    // Of this thread, and the highest number there is. Where it is refused, the builds are in the way a little more.
    let _ = rustix::process::nice(19);
    work()
}

/// The program in release, and the tests that count its instructions.
pub fn build_instructions() -> Result<Vec<TestFile>, String> {
    process::run(&mut process::cargo(&["build", "--release", "--quiet"]))?;
    let arguments = ["--release", "--quiet", "--package", "overhead", "--test", INSTRUCTIONS];
    Ok(built::tests(&arguments)?.tests)
}

/// What is handed out, where it can be made.
pub fn make_dist() -> Result<Option<Made>, String> {
    match dist::possible() {
        Ok(()) => dist::make().map(Some),
        Err(reason) => {
            println!("what is handed out cannot be made here: {reason}");
            Ok(None)
        }
    }
}

/// Its tests skip themselves above, where there is none yet: what was not run here was not run at all.
fn of_what_was_built_beside(results: &mut Results) -> Result<(), String> {
    let Some(Later { instructions, made }) = results.later.take() else { return Ok(()) };
    let path = results.skips();
    let mut jobs: Vec<Job> = instructions.iter().map(|test| Job::of(test, &path)).collect();
    let mut scope = vec![INSTRUCTIONS.to_owned()];
    if let Some(made) = made {
        let folder = made.program.parent().expect("it lies in a folder");
        let mut of_dist = results.jobs(&path, |test| test.name == DIST);
        of_dist.iter_mut().for_each(|job| {
            job.command.env(testkit::DIST, folder);
        });
        jobs.extend(of_dist);
        scope.push(DIST.to_owned());
    }
    let outcome = results.run(jobs, 2);
    results.skipped_in(Scope::Files(scope), &path).and(outcome)
}
