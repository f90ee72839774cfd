//! Fits the constants of `machines/` to the published tables (`cargo xtask calibrate`).
//!
//! ```text
//!   priors.toml ──> search (CMA-ES, then constant by constant) ──> log ──> machines/*.toml and log.txt (--write)
//! ```

mod additive;
mod log;
mod loss;
mod priors;
mod search;
mod written;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use diskperf::fitting::{Cell, Machines};

use crate::log::Log;
use crate::priors::Priors;
use crate::search::{Effort, PHASES, Search};

/// Fits the constants of machines/ to the published tables, from the guesses in priors.toml.
#[derive(Parser)]
#[command(name = "cargo xtask calibrate")]
struct Arguments {
    /// The seed of the search.
    #[arg(long, default_value_t = 1983)]
    seed: u64,
    /// Evaluations of the search, before constants are moved one by one.
    #[arg(long, default_value_t = 1200)]
    evaluations: usize,
    /// Rounds of moving constants one by one, at most.
    #[arg(long, default_value_t = 8)]
    rounds: usize,
    /// Fit some cells and tell how far the others lie: one drive for two, 8K for 4K, one VAX for the other.
    #[arg(long)]
    holdouts: bool,
    /// Write the constants into machines/, and the log beside the guesses.
    #[arg(long, conflicts_with_all = ["holdouts", "check"])]
    write: bool,
    /// Fit nothing: look whether any constant in machines/, moved by 5 %, improves the loss by more than 1 %.
    #[arg(long, conflicts_with = "holdouts")]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let (machines, priors, cells) = (Machines::new(), Priors::read(), Cell::all());
    let effort = Effort { seed: arguments.seed, evaluations: arguments.evaluations, rounds: arguments.rounds };
    if arguments.check {
        return check(&machines, &priors, &cells);
    }
    if arguments.holdouts {
        return log::holdouts(&machines, &priors, &cells, effort, &journal);
    }
    let search = Search::new(&machines, &priors, &cells, &journal(&format!("all-{}", effort.seed)))?;
    let values = search.run(effort);
    let simulated = machines.simulate(&cells, &priors.changes(&values), PHASES)?;
    let sensitivity = log::sensitivity(&search, &values);
    let log = Log { priors: &priors, cells: &cells, values: &values, simulated: &simulated, sensitivity, effort };
    let text = log.text();
    println!("{text}");
    if arguments.write { written::write(&root(), &log, &text) } else { Ok(()) }
}

/// Prints one line of JSON: how much a constant moved by 5 % improves the loss, of the loss.
fn check(machines: &Machines, priors: &Priors, cells: &[Cell]) -> Result<(), String> {
    let search = Search::new(machines, priors, cells, &journal("check"))?;
    let values = written::values(&root(), priors)?;
    let best = log::sensitivity(&search, &values).into_iter().zip(&priors.constant);
    let (gain, field) =
        best.fold(
            (0.0f64, ""),
            |most, (moved, constant)| {
                if moved.gain() > most.0 { (moved.gain(), constant.field.as_str()) } else { most }
            },
        );
    println!("{{\"calibration\":{},\"gain\":{gain:.5},\"field\":\"{field}\"}}", priors.constant.len());
    Ok(())
}

/// The root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where a search keeps what it has found out.
fn journal(name: &str) -> PathBuf {
    root().join("target/calibrate").join(name).with_extension("journal")
}
