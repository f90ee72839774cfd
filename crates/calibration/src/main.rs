//! Fits the constants of `machines/` to the published tables (`cargo xtask calibrate`).
//!
//! ```text
//!   priors.toml ──> search (descent, CMA-ES, constant by constant) ──> log ──> machines/*.toml and log.txt (--write)
//! ```

mod baseline;
mod descent;
mod holdouts;
mod linear_equations;
mod log;
mod loss;
mod machine_writer;
mod mechanisms;
mod priors;
mod search;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use classic1983::fitting::{Cell, Machines};

use crate::log::Log;
use crate::priors::Priors;
use crate::search::{Effort, PHASES, Search};

/// Fit the constants of machines/ to the published tables, from the guesses in priors.toml.
#[derive(Parser)]
#[command(name = "cargo xtask calibrate")]
struct Arguments {
    /// Seed of the search.
    #[arg(long, default_value_t = 1983)]
    seed: u64,
    /// Maximum number of descent steps from the guesses.
    #[arg(long, default_value_t = 12)]
    steps: usize,
    /// Number of CMA-ES evaluations, from the end of the descent.
    #[arg(long, default_value_t = 300)]
    evaluations: usize,
    /// Maximum number of rounds that change the constants one by one.
    #[arg(long, default_value_t = 8)]
    rounds: usize,
    /// Start from the constants in machines/ instead of the guesses.
    #[arg(long, conflicts_with = "holdouts")]
    from_machines: bool,
    /// Fit some cells and select settings by them, and print the errors of the others: 8K and 4K, one drive and two.
    #[arg(long)]
    holdouts: bool,
    /// Limit --holdouts to one split: 0 is 8K for 4K, 4 and 5 are one VAX for the other.
    #[arg(long, requires = "holdouts")]
    split: Option<usize>,
    /// Print the errors without each mechanism of the model. Fits nothing.
    #[arg(long, conflicts_with = "holdouts")]
    mechanisms: bool,
    /// Write the constants to machines/, and the log next to the guesses; with --holdouts, the errors of held-out
    /// cells.
    #[arg(long, conflicts_with = "mechanisms")]
    write: bool,
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
    let Arguments { seed, steps, evaluations, rounds, .. } = *arguments;
    let effort = Effort { seed, steps, evaluations, rounds };
    if arguments.holdouts {
        let (text, headline) = holdouts::run(&machines, &priors, &cells, effort, arguments.split, &journal)?;
        println!("{text}");
        let Some(headline) = headline.filter(|_| arguments.write && arguments.split.is_none()) else { return Ok(()) };
        return machine_writer::write_holdouts(&root(), effort, &text, &holdouts::figures(&headline));
    }
    if arguments.mechanisms {
        print!("{}", mechanisms::table(&machines, &priors, &cells)?);
        return Ok(());
    }
    let search = Search::new(&machines, &priors, &cells, &journal(&format!("all-{}", effort.seed)))?;
    let start = if arguments.from_machines { machine_writer::values(&root(), &priors)? } else { priors.guesses() };
    let values = search.run(effort, &start);
    let simulated = search.simulate(&values, PHASES);
    let sensitivity = log::sensitivity(&search, &values);
    let log = Log {
        priors: &priors,
        cells: &cells,
        values: &values,
        simulated: &simulated,
        sensitivity,
        effort,
        from_machines: arguments.from_machines,
    };
    let text = log.text();
    println!("{text}");
    if arguments.write { machine_writer::write(&root(), &log, &text) } else { Ok(()) }
}

/// Root folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Path of the journal in which a search records its simulations.
fn journal(name: &str) -> PathBuf {
    root().join("target/calibrate").join(name).with_extension("journal")
}
