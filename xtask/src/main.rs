//! The project's own tasks, run as `cargo xtask TASK`.
//!
//! `test` is what continuous integration runs; `tidy` enforces the rules that no compiler enforces. `docs` checks that
//! the documents show the program's output; `picture` makes the picture of a report. `prove` measures the promised
//! figures and takes longer; it uses `steady-tests` to run all tests under load. `dist` builds the distributed files;
//! `calibrate` fits the machines, and `golden` stores their results. No task changes anything outside the target folder
//! and the temporary folder, with these exceptions: packages that `test` installs, documents that `docs` writes, the
//! picture, `calibrate --write` (machines/) and `golden` (golden/).

mod built;
mod dist;
mod docs;
mod golden;
mod jobs;
mod libtest;
mod packages;
mod picture;
mod process;
mod prove;
mod skips;
mod steady;
mod targets;
mod test;
mod tidy;
mod unprivileged;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The tasks of the diskperf project.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold before a change is merged, at smoke size.
    ///
    /// Installs through apt what the tests need and what is missing, as root or where sudo asks for no
    /// password; otherwise names the packages. Then, in order and up to the first step that fails:
    /// formatting, clippy, documentation, tidy, all tests, as root those of the command line once more as an
    /// unprivileged user, and what is counted in release, and of the program to hand out. Tests run
    /// side by side and beside those builds, but for the ones that must have the machine for themselves.
    ///
    /// Ends with the test files that took longest, and a line "N passed, N failed, N skipped". With CI=true a skipped
    /// test is a failure.
    Test,
    /// The rules of the project that no compiler holds.
    ///
    /// Which crate may depend on which, which may not need an operating system, where unsafe code,
    /// deletion and other programs are allowed, licences, unused dependencies, lengths of files and lines, full
    /// folders, import circles, and which code prints. Each rule is a file in xtask/src/tidy, with its exceptions.
    Tidy,
    /// The program as it is handed out: one static file, and a package for Debian with manual pages, completions and
    /// licences, both in target/dist. The program is installed nowhere.
    ///
    /// Needs musl-gcc (of the package musl-tools), and the Rust target x86_64-unknown-linux-musl, which rustup is asked
    /// for where it is missing.
    Dist,
    /// Whether the documents show what the program prints: README.md, CONTRIBUTING.md and docs/.
    ///
    /// Runs every command that stands in a block of theirs. What is computed is compared letter by letter, what is
    /// measured by its rows, columns and words.
    Docs {
        /// Write anew what is no longer so. Look at what changed: the words around a block may have to follow.
        #[arg(long)]
        write: bool,
        /// The same, and measure again what was measured: on a machine with nothing else to do.
        #[arg(long)]
        measure: bool,
    },
    /// The picture of a report that README.md shows: docs/report.png, of the first part of the page.
    ///
    /// Needs chromium and chromedriver. Look at it before it is committed.
    Picture {
        /// The document that the page is made of, from the root of the project.
        #[arg(default_value = picture::DOCUMENT)]
        document: PathBuf,
    },
    /// The figures that are promised, measured; takes up to hours and wants a machine with nothing else to do.
    ///
    /// Keeps what was measured under target/prove and goes on there where it was interrupted. Prints a table
    /// of what was asked and what was measured, and writes it to target/prove/table.md. Fails where a figure
    /// is not reached.
    Prove {
        /// Only these experiments.
        names: Vec<String>,
        /// Measure again what is kept from before.
        #[arg(long)]
        again: bool,
    },
    /// All tests, several times, on a machine that is quiet or busy, on one processor, or with a slow disk.
    ///
    /// A test that failed runs 20 more times. Keeps the results of each test file under target/prove and goes on there
    /// if it was interrupted. `prove steady-tests` runs it under all conditions. The slow disk needs root.
    SteadyTests(steady::Arguments),
    /// The constants of machines/, fitted to the published tables from the guesses in
    /// crates/calibration/priors.toml; takes a quarter of an hour. `calibrate --help` tells the rest.
    ///
    /// Goes on where it was interrupted. Writes nothing but what it keeps under target/calibrate, without --write.
    #[command(disable_help_flag = true)]
    Calibrate {
        /// What the task takes.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The published tables beside the simulated ones, written to golden/. Refuses where an error has grown.
    Golden {
        /// Write them although an error has grown: say why in the commit.
        #[arg(long)]
        worse: bool,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Test => test::run(),
        Task::Tidy => tidy::run(),
        Task::Docs { write, measure } => docs::run(write, measure),
        Task::Picture { document } => picture::run(&document),
        Task::Prove { names, again } => prove::run(&names, again),
        Task::SteadyTests(arguments) => steady::run(&arguments),
        Task::Dist => dist::run(),
        Task::Calibrate { arguments } => {
            let command = ["run", "--release", "--quiet", "--package", "calibration", "--"];
            process::run(process::cargo(&command).args(arguments))
        }
        Task::Golden { worse } => golden::run(worse),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
