//! `diskperf io PATTERN TARGET...`: one workload of the user, from options.

use clap::Args;
use units::{Exit, Nanos};

use crate::cli::values::parse_time;
use crate::documents::stored::KeepArguments;
use crate::error::Error;
use crate::load_spec::LoadSpec;
use crate::target::TargetArgument;
use crate::ui::consent::ConsentArguments;
use crate::ui::layout::{OutputArguments, RunFormat};
use crate::ui::output;

/// Arguments of `diskperf io`.
#[derive(Clone, Debug, Args)]
pub struct IoArguments {
    #[command(flatten)]
    pub load: LoadSpec,
    /// Targets, as in `diskperf run`; every round runs them in random order [default: the current directory].
    #[arg(value_name = "TARGET")]
    pub targets: Vec<TargetArgument>,
    /// Start no round that would end later than this, as in 2min [default: no limit].
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    pub budget: Option<Nanos>,
    /// Print the workload as a job file, with all defaults written out, and measure nothing.
    #[arg(long, conflicts_with_all = ["dry_run", "format", "json", "file"])]
    pub print_job: bool,
    /// Print the plan of the run, and write nothing.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    pub consent: ConsentArguments,
    #[command(flatten)]
    pub store: KeepArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

impl IoArguments {
    /// Prints the workload as a job file, or refuses it.
    pub fn print(&self) -> Result<Exit, Error> {
        self.load.check()?;
        let targets: Vec<&str> = self.targets.iter().map(|target| target.typed.as_str()).collect();
        output::print(&self.load.job(&targets, self.budget))?;
        Ok(Exit::Done)
    }
}
