//! `cargo xtask test`: everything that must hold before a change is merged, one step after the other, up
//! to the first that fails.

use std::env;
use std::fs;
use std::time::Instant;

use tempfile::TempDir;

use crate::libtest::Totals;
use crate::skips::{self, Scope, Skips};
use crate::{dist, packages, process, tidy, unprivileged};

/// A step: its heading, and what it does.
type Step = (&'static str, fn(&mut Results) -> Result<(), String>);

/// The steps, cheap ones first.
const STEPS: [Step; 11] = [
    ("packages", |_| packages::provide()),
    ("formatting", |_| process::run(&mut process::cargo(&["fmt", "--all", "--check"]))),
    ("clippy", |_| {
        process::run(&mut process::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    }),
    ("documentation", documentation),
    ("tidy", tidy),
    ("tests", |results| results.test(&["--workspace", "--no-fail-fast"], Scope::Everything)),
    ("planted mistakes", |results| {
        let name = "faults";
        let arguments = ["--package", "simulator", "--features", name, "--lib", name];
        results.test(&arguments, Scope::Files(vec![name.to_owned()]))
    }),
    ("release build", |_| process::run(&mut process::cargo(&["build", "--release"]))),
    ("instruction counts", |results| {
        let file = "instructions";
        results.test(&["--release", "--package", "overhead", "--test", file], Scope::Files(vec![file.to_owned()]))
    }),
    ("program to hand out", handed_out),
    ("command line without rights", without_rights),
];

/// Runs them, and says what came out.
pub fn run() -> Result<(), String> {
    let scratch = TempDir::with_prefix("diskperf-xtask-").map_err(|error| format!("no temporary folder: {error}"))?;
    let mut results = Results { scratch, totals: Totals::default(), runs: Vec::new() };
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
    totals: Totals,
    runs: Vec<(Scope, Skips)>,
}

impl Results {
    /// Runs `cargo test` with these arguments, which select `scope`.
    fn test(&mut self, arguments: &[&str], scope: Scope) -> Result<(), String> {
        let path = self.scratch.path().join(format!("skips-{}", self.runs.len()));
        let mut totals = Totals::default();
        let mut command = process::cargo(&[&["test"], arguments].concat());
        let outcome = process::listen(command.env(testkit::SKIPS, &path), |line| totals.add_line(line));
        self.add(totals, scope, &fs::read_to_string(path).unwrap_or_default());
        outcome
    }

    /// A test that skipped itself has not passed.
    fn add(&mut self, totals: Totals, scope: Scope, skips: &str) {
        let skips = skips::parse(skips);
        self.totals.passed += totals.passed.saturating_sub(skips.len() as u64);
        self.totals.failed += totals.failed;
        self.runs.push((scope, skips));
    }

    /// Prints skips, failure and the last line. A step that failed without a failed test counts as one.
    fn summarise(self, failure: Option<String>, all_must_run: bool) -> Result<(), String> {
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
    let arguments = ["doc", "--no-deps", "--workspace", "--document-private-items"];
    process::run(process::cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn tidy(results: &mut Results) -> Result<(), String> {
    let report = tidy::check()?;
    let lines: String = report.skips.iter().map(|(rule, reason)| format!("tidy::{rule}\t{reason}\n")).collect();
    results.add(Totals::default(), Scope::Files(vec!["tidy".to_owned()]), &lines);
    report.verdict()
}

/// Its tests skip themselves above, where there is none yet: what was not run here was not run at all.
fn handed_out(results: &mut Results) -> Result<(), String> {
    if let Err(reason) = dist::possible() {
        println!("cannot be made here: {reason}");
        return Ok(());
    }
    let made = dist::make()?;
    let folder = made.program.parent().expect("it lies in a folder").display().to_string();
    let given = format!("env.{}={folder:?}", testkit::DIST);
    // Of the whole workspace, as above: of one package alone some crates would be built anew.
    let arguments = ["--config", &given, "--workspace", "--test", "dist"];
    results.test(&arguments, Scope::Files(vec!["dist".to_owned()]))
}

fn without_rights(results: &mut Results) -> Result<(), String> {
    if !testkit::is_root() {
        println!("nothing to repeat: the tests above ran without rights");
        return Ok(());
    }
    if !testkit::has_tool("setpriv") {
        let skip = "tests::command_line_without_rights\tsetpriv is not installed\n";
        results.add(Totals::default(), Scope::Files(Vec::new()), skip);
        return Ok(());
    }
    let Some(report) = unprivileged::run()? else {
        println!("there are no command-line tests");
        return Ok(());
    };
    results.add(report.totals, Scope::Files(report.files), &report.skips);
    if report.failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", report.failed.join(", "))) }
}
