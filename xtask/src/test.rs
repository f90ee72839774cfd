//! `cargo xtask test`: everything that must hold before a change is merged, one step after the other, up to the first
//! that fails. Clippy and the build of the documentation run next to the tests, in the time in which the tests wait.
//!
//! Policy of the tests:
//!   1. two test files per processor run at once, because they wait more than they compute. The longest begin first;
//!   2. afterwards, tests that would disturb others or be disturbed run one at a time. Tests that boot guests, also one
//!      at a time, and test files that only compute run next to these. Clippy and the build of the documentation run
//!      next to (1) and (2), and end before (3);
//!   3. then tests that share the disks with no other, such as those that count what disks do, run one at a time. A
//!      test file that computes in memory runs next to them;
//!   4. at the end, tests that even a computation would disturb run one at a time;
//!   5. all tests run, even if some fail.

use std::cmp::Reverse;
use std::env;
use std::panic;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::executables::{self, Built, TestFile};
use crate::libtest::Totals;
use crate::skipped_tests::{self, Run, Scope};
use crate::test_jobs::{self, Done, Job};
use crate::unprivileged::{self, Repetition};
use crate::{bridge, guests, packages, process, tidy};

/// A step: its heading and its function.
type Step = (&'static str, fn(&mut Results) -> Result<(), String>);

/// The steps, cheap ones first.
const STEPS: [Step; 6] = [
    ("packages", |_| packages::provide()),
    ("guests", |_| guests::provide()),
    ("formatting", |_| process::run(&mut process::cargo(&["fmt", "--all", "--check"]))),
    ("tidy", tidy),
    ("build of tests and bridge", build),
    ("tests", tests),
];

/// Test files that run one at a time (2), each with the reason. Most change or inspect something that all tests share.
/// Measuring is not a reason, because a test must pass on a busy machine (`cargo xtask steady-tests busy`).
const ALONE: [(&str, &str); 5] = [
    ("bottlenecks", "limits what the whole machine may keep in memory"),
    ("cli_clean", "leaves a queue tuned, which any run restores before `clean` does"),
    ("guard", "refuses its disks if an image of another test that it cannot see has their size"),
    ("ambiguous_files", "its loop devices could show any disk of their size"),
    ("volumes", "other tests that look at all mounts delay the end of its mount namespaces"),
];

/// Test files that boot guests (2): one at a time, because a guest on a crowded machine looks as if it hangs. The files
/// in [`ALONE`] run next to them, because those wait for disks longer than they compute.
const IN_GUESTS: [&str; 2] = ["guests_guard", "guest"];

/// Test files that run one at a time, and share the disks with no other (3), each with the reason.
const ALONE_ON_DISKS: [(&str, &str); 2] = [
    ("blind_spots", "counts what all disks of the machine do meanwhile"),
    ("marks_devices", "counts what the machine's own disk does meanwhile"),
];

/// Test files that use no disk (3): these count the instructions of the program on files in memory.
const IN_MEMORY: [&str; 1] = ["commands"];

/// Test files that run with nothing next to them (4), each with the reason.
const LAST: [(&str, &str); 1] = [("marks_machine", "keeps all processors busy, and tells noise from none")];

/// Test files that only compute, on memory or on small files that are in the page cache. They fill the processors while
/// others run one at a time (2). None starts `diskperf run`, which would restore the queue that `cli_clean` tests.
const COMPUTING: [&str; 12] = [
    "calibration",
    "instructions",
    "diskperf",
    "simulator",
    "cli_paper",
    "diskperf_machines",
    "program_golden",
    "diskperf_campaign",
    "stats",
    "diskperf_classic1983",
    "cli_machines",
    "diskperf_jobs",
];

/// The slowest test files, which begin first (1): if one began last, it would keep one processor busy and leave the
/// others idle. A guess from runs of single files. The list at the end of `cargo xtask test` corrects it.
const LONGEST: [&str; 15] = [
    "program_page",
    "docs",
    "images",
    "program_names",
    "cli_all_limits",
    "devices_resume",
    "cli_all_words",
    "faults",
    "kills",
    "cli_store",
    "cli_run",
    "law",
    "hosts_runs",
    "slow_disk",
    "cli_io",
];

/// The number of slowest test files that are printed at the end.
const SLOWEST: usize = 10;

/// Runs all steps and prints the results.
pub fn run() -> Result<(), String> {
    let scratch = TempDir::with_prefix("diskperf-xtask-").map_err(|error| format!("no temporary folder: {error}"))?;
    let mut results = Results { scratch, built: None, totals: Totals::default(), runs: Vec::new(), took: Vec::new() };
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

/// The results of the tests so far.
struct Results {
    scratch: TempDir,
    /// All tests, after they were built.
    built: Option<Built>,
    totals: Totals,
    runs: Vec<Run>,
    took: Vec<(Duration, Option<f64>, String)>,
}

impl Results {
    /// Jobs for the test files for which `holds` is true. Their tests write their skips to the file `skips`.
    fn jobs(&self, skips: &Path, holds: impl Fn(&TestFile) -> bool) -> Vec<Job> {
        let tests = self.built.iter().flat_map(|built| &built.tests).filter(|test| holds(test));
        tests.map(|test| Job::from_test(test, skips)).collect()
    }

    /// Runs the jobs of each queue, with the given number of them at once. Fails if a job fails.
    fn run(&mut self, queues: Vec<(Vec<Job>, usize)>) -> Result<(), String> {
        let mut failed = Vec::new();
        test_jobs::run(queues, |Done { name, took, cpu_s, output, totals, failure }| {
            println!("\n-- {name}: {}\n{output}", times(took, cpu_s));
            self.totals.passed += totals.passed;
            self.totals.failed += totals.failed;
            if let Some(message) = failure {
                failed.push(format!("{name}: {message}"));
            }
            self.took.push((took, cpu_s, name));
        });
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }

    /// The file for the skips of these tests.
    fn skips(&self, tests: &str) -> PathBuf {
        self.scratch.path().join(format!("skips-{tests}"))
    }

    /// Counts the skips of a run that has ended. A test that skipped itself has not passed.
    fn skipped(&mut self, scope: Scope, skips: &str) {
        let skips = skipped_tests::parse(skips);
        self.totals.passed = self.totals.passed.saturating_sub(skips.len() as u64);
        self.runs.push(Run(scope, skips));
    }

    /// As `skipped`, with the skips in a file.
    fn skipped_in(&mut self, scope: Scope, path: &Path) -> Result<(), String> {
        self.skipped(scope, &skipped_tests::read(path)?);
        Ok(())
    }

    /// Prints the slowest test files, the skips, the failure and the totals. A step that failed without a failed test
    /// counts as one failed test.
    fn summarise(mut self, failure: Option<String>, all_must_run: bool) -> Result<(), String> {
        self.took.sort_unstable_by_key(|(took, ..)| Reverse(*took));
        for (took, cpu_s, name) in self.took.iter().take(SLOWEST) {
            println!("{:>24}  {name}", times(*took, *cpu_s));
        }
        let skips = skipped_tests::never_run(&self.runs);
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

fn clippy() -> Result<(), String> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    timed("clippy", || process::run(&mut process::cargo(&arguments)))
}

fn documentation() -> Result<(), String> {
    let arguments = ["doc", "--no-deps", "--workspace", "--all-features", "--document-private-items"];
    timed("documentation", || process::run(process::cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings")))
}

/// Does this and prints its time and its failure.
fn timed(what: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let began = Instant::now();
    let outcome = work().map_err(|message| format!("{what}: {message}"));
    println!("-- {what}: {:.1} s", began.elapsed().as_secs_f64());
    outcome
}

fn tidy(results: &mut Results) -> Result<(), String> {
    let report = tidy::check()?;
    let lines: String = report.skips.iter().map(|(rule, reason)| format!("tidy::{rule}\t{reason}\n")).collect();
    results.skipped(Scope::Files(vec!["tidy".to_owned()]), &lines);
    report.verdict()
}

/// Builds the tests and the bridge at the same time, because neither build keeps all processors busy.
fn build(results: &mut Results) -> Result<(), String> {
    let (built, bridge) = thread::scope(|scope| {
        let bridge = scope.spawn(bridge::provide);
        (executables::tests(&["--workspace"]), bridge.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    let built = match (built, bridge) {
        (Ok(built), Ok(())) => built,
        (built, bridge) => {
            let failed: Vec<String> = [built.err(), bridge.err()].into_iter().flatten().collect();
            return Err(failed.join("; "));
        }
    };
    let named =
        ALONE.iter().chain(&ALONE_ON_DISKS).chain(&LAST).map(|(name, _)| *name).chain(IN_GUESTS).chain(IN_MEMORY);
    let listed = named.chain(COMPUTING).chain(LONGEST).chain(unprivileged::NOT_REPEATED);
    let unknown: Vec<&str> = listed.filter(|name| !built.tests.iter().any(|test| test.name == *name)).collect();
    results.built = Some(built);
    if unknown.is_empty() { Ok(()) } else { Err(format!("no test file is called {}", unknown.join(" or "))) }
}

fn tests(results: &mut Results) -> Result<(), String> {
    let repetition = without_rights(results)?;
    let all = results.skips("all");
    let mut jobs = results.jobs(&all, |test| turn(test) == Turn::Beside);
    jobs.extend(repetition.iter().flat_map(Repetition::jobs));
    longest_first(&mut jobs, |job| &job.name);
    let stripped = results.built.as_ref().map_or_else(|| Err("nothing is built".to_owned()), Built::stripped);
    let group = |results: &mut Results, turns: &[Turn]| {
        let queue = |group: &Turn| {
            let mut jobs = results.jobs(&all, |test| turn(test) == *group);
            if let Ok(folder) = &stripped {
                jobs.iter_mut().for_each(|job| {
                    job.command.env(testkit::DIST, folder);
                });
            }
            (jobs, 1)
        };
        results.run(turns.iter().map(queue).collect())
    };
    let [with_guests, later @ ..] = &LATER;
    let (first, checked) = thread::scope(|scope| {
        let checks = scope.spawn(|| in_the_gaps(|| [clippy(), documentation()]));
        // 1, 2
        let first = [results.run(vec![(jobs, at_once())]), group(results, with_guests)];
        (first, checks.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    // 3, 4
    let later: Vec<Result<(), String>> = later.iter().map(|turns| group(results, turns)).collect();
    let skipped = results.skipped_in(Scope::Everything, &all);
    if let Some(repetition) = repetition {
        let files = repetition.files().iter().map(TestFile::path).collect();
        results.skipped(Scope::Files(files), &repetition.skips()?);
    }
    // 5
    let all = [stripped.map(drop), skipped].into_iter().chain(first).chain(checked).chain(later);
    let failed: Vec<String> = all.filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// The number of test files that run at once (1).
pub fn at_once() -> usize {
    2 * thread::available_parallelism().map_or(1, usize::from)
}

/// Moves the slowest test files to the front (1), by their display names: `kernel::images`, `cli without rights`.
pub fn longest_first<T>(all: &mut [T], name: impl Fn(&T) -> &str) {
    let place = |one: &T| {
        let words = name(one).split([':', ' ']);
        words.filter_map(|word| LONGEST.iter().position(|long| *long == word)).min().unwrap_or(LONGEST.len())
    };
    all.sort_by_key(place);
}

/// Elapsed time and CPU time.
fn times(took: Duration, cpu_s: Option<f64>) -> String {
    let cpu = cpu_s.map(|seconds| format!(", CPU {seconds:.1} s")).unwrap_or_default();
    format!("{:.1} s{cpu}", took.as_secs_f64())
}

/// The group in which a test file runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Next to others of its kind (1).
    Beside,
    /// One at a time, next to those in guests and those that only compute (2).
    Alone,
    /// In guests, one at a time, next to the two other groups of (2).
    InGuests,
    /// Next to those that run alone and those in guests (2).
    Computing,
    /// One at a time, next to those in memory (3).
    AloneOnDisks,
    /// Next to those that are alone on the disks (3).
    InMemory,
    /// One at a time, with nothing next to it (4).
    Last,
}

/// The groups after [`Turn::Beside`]: those of a row run next to each other, one test file of each at a time.
pub const LATER: [&[Turn]; 3] =
    [&[Turn::InGuests, Turn::Alone, Turn::Computing], &[Turn::AloneOnDisks, Turn::InMemory], &[Turn::Last]];

/// The group of this test file.
pub fn turn(test: &TestFile) -> Turn {
    let is_in = |list: &[(&str, &str)]| test.is_integration && list.iter().any(|(name, _)| *name == test.name);
    if is_in(&ALONE) {
        Turn::Alone
    } else if test.is_integration && IN_GUESTS.contains(&test.name.as_str()) {
        Turn::InGuests
    } else if is_in(&ALONE_ON_DISKS) {
        Turn::AloneOnDisks
    } else if test.is_integration && IN_MEMORY.contains(&test.name.as_str()) {
        Turn::InMemory
    } else if is_in(&LAST) {
        Turn::Last
    } else if COMPUTING.contains(&test.name.as_str()) {
        Turn::Computing
    } else {
        Turn::Beside
    }
}

/// The command-line tests as another user; `None` if we are not root or a tool is missing.
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
    results.built.as_ref().map(Repetition::prepare).transpose()
}

/// Does this at low priority, so that its child processes compute only when no other process wants to. Tests that
/// depend on the clock must not wait for a compiler.
fn in_the_gaps<T>(work: impl FnOnce() -> T) -> T {
    // This sets the lowest priority for this thread and its children. If it is refused, the builds disturb the tests a
    // little more.
    let _ = rustix::process::nice(19);
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_test_files_start_first_with_and_without_rights() {
        let mut names = ["kernel::blank", "cli_io without rights", "diskperf::program_page", "kernel::images"];
        longest_first(&mut names, |name| name);
        assert_eq!(names, ["diskperf::program_page", "kernel::images", "cli_io without rights", "kernel::blank"]);
    }
}
