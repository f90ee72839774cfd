//! The project's own tasks, run as `cargo xtask TASK`.
//!
//! `test` is what continuous integration runs; `tidy` enforces the rules that no compiler enforces. `docs` checks that
//! the documents show the program's output; `picture` makes the picture of a report. `prove` measures the promised
//! figures and takes longer; it uses `steady-tests` to run all tests under load. `dist` builds the distributed files;
//! `calibrate` fits the machines, and `golden` stores their results. No task changes anything outside the target folder
//! and the temporary folder, with these exceptions: packages that `test` installs, documents that `docs` writes, the
//! picture, `calibrate --write` (machines/) and `golden` (golden/).

mod bridge;
mod deny;
mod dist;
mod docs;
mod executables;
mod golden;
mod guests;
mod libtest;
mod packages;
mod picture;
mod process;
mod prove;
mod rust_targets;
mod skipped_tests;
mod steady_tests;
mod test;
mod test_jobs;
mod tidy;
mod tools;
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
    /// Run all checks that a change must pass before it is merged, at smoke size.
    ///
    /// Installs missing tools of the tests with apt, as root or if sudo asks for no password; otherwise it names the
    /// packages. Downloads two kernels and the tools of guests to target/guests. Then it runs these steps in order, up
    /// to the first that fails: formatting, tidy, all tests, and the command-line tests again as an unprivileged user
    /// (if root runs this). Tests run side by side, and next to clippy and the build of the documentation, except for
    /// those that need the machine for themselves.
    ///
    /// Ends with the slowest test files, and a line "N passed, N failed, N skipped". With CI=true, a skipped test is a
    /// failure.
    Test,
    /// Check the rules of the project that no compiler checks.
    ///
    /// The rules cover dependencies between crates, crates that need no operating system, the places of unsafe code, of
    /// deletion and of other programs, unused dependencies, lengths of files and lines, full folders, import
    /// circles, and code that prints. Each rule is a file in xtask/src/tidy, with its exceptions.
    Tidy,
    /// Build the program for distribution: one static file, and a Debian package with manual pages, completions and
    /// licences, both in target/dist. Installs no program.
    ///
    /// Needs musl-gcc (package musl-tools) and the Rust target x86_64-unknown-linux-musl. If the target is missing, it
    /// asks rustup for it. Checks all dependencies as `deny` does. Compiles cargo-deny and cargo-deb into target/tools
    /// for the first package, which takes minutes.
    Dist,
    /// Check licences and sources of all dependencies with cargo-deny, as deny.toml says. Compiles it into target/tools
    /// for the first check, which takes minutes.
    Deny,
    /// Check that README.md, CONTRIBUTING.md and docs/ show the program's output.
    ///
    /// Runs every command in their blocks. Computed output must be identical; measured output must have the same rows,
    /// columns and words.
    Docs {
        /// Update the blocks that differ. Check the changes: the text around a block may have to follow.
        #[arg(long)]
        write: bool,
        /// Update the blocks, and measure again those with measured output; needs a machine with nothing else to do.
        #[arg(long)]
        measure: bool,
    },
    /// Make the picture of a report for README.md: docs/report.png, of the first part of the page.
    ///
    /// Needs chromium and chromedriver. Look at the picture before you commit it.
    Picture {
        /// Result file to make the page of, relative to the root of the project.
        #[arg(default_value = picture::DOCUMENT)]
        document: PathBuf,
    },
    /// Measure the promised figures; takes up to hours and needs a machine with nothing else to do.
    ///
    /// Keeps measurements under target/prove, and continues there after an interruption. Prints a table of promised and
    /// measured figures, and writes it to target/prove/table.md. Fails if a figure is not reached.
    Prove {
        /// Experiments to run [default: all].
        names: Vec<String>,
        /// Repeat measurements that were kept from before.
        #[arg(long)]
        again: bool,
    },
    /// Run all tests several times on a machine that is quiet or busy, on one processor, or with a slow disk.
    ///
    /// A failed test runs 20 more times. Keeps the results of each test file under target/prove, and continues there
    /// after an interruption. `prove steady-tests` runs this under all conditions. The slow disk needs root.
    SteadyTests(steady_tests::Arguments),
    /// Fit the constants of machines/ to the published tables, from the guesses in crates/calibration/priors.toml;
    /// takes a quarter of an hour. `calibrate --help` lists the options.
    ///
    /// Continues after an interruption. Without --write, it writes only under target/calibrate.
    #[command(disable_help_flag = true)]
    Calibrate {
        /// Options of the calibration.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Write the published tables with the simulated ones to golden/. Fails if an error has grown.
    Golden {
        /// Write the tables even if an error has grown; give the reason in the commit.
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
        Task::SteadyTests(arguments) => steady_tests::run(&arguments),
        Task::Deny => deny::run(),
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
