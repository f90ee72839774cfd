//! `diskperf io PATTERN TARGET...`: one workload of the user, from options.

use clap::Args;
use units::{Exit, Nanos};

use crate::cli::values::parse_time;
use crate::documents::stored::KeepArguments;
use crate::error::Error;
use crate::load_spec::LoadSpec;
use crate::request::resolved::{Resolved, Tests};
use crate::request::{Environment, RunRequest, Workload, or_here};
use crate::target::TargetArgument;
use crate::ui::consent::ConsentArguments;
use crate::ui::layout::{OutputArguments, RunFormat};
use crate::ui::output;

/// Arguments of `diskperf io`.
#[derive(Clone, Debug, Args)]
pub struct IoArguments {
    #[command(flatten)]
    load: LoadSpec,
    /// Targets, as in `diskperf run`; every round runs them in random order [default: the current directory].
    #[arg(value_name = "TARGET")]
    targets: Vec<TargetArgument>,
    /// Start no round that would end later than this, as in 2min [default: no limit].
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    budget: Option<Nanos>,
    /// Print the workload as a job file, with all defaults written out, and measure nothing.
    #[arg(long, conflicts_with_all = ["dry_run", "format", "json", "file"])]
    pub print_job: bool,
    /// Print the plan of the run, and write nothing.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    consent: ConsentArguments,
    #[command(flatten)]
    pub store: KeepArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

impl IoArguments {
    /// What the run is asked to do, as this machine can do it.
    pub fn resolve(&self) -> Result<Resolved, Error> {
        let tests = Tests::Load(self.load.load()?);
        let LoadSpec { rounds, seed, .. } = self.load;
        let new = RunRequest::new(Workload::Load(self.load.clone()));
        let request = RunRequest {
            targets: or_here(self.targets.clone()),
            schedule: new.schedule.with_rounds(rounds),
            budget: self.budget,
            environment: Environment { seed: seed.unwrap_or(new.environment.seed), ..new.environment },
            consent: self.consent.consent(),
            output: self.output.output(),
            ..new
        };
        Ok(Resolved { request, tests })
    }

    /// Prints the workload as a job file, or refuses it.
    pub fn print(&self) -> Result<Exit, Error> {
        self.load.check()?;
        let targets: Vec<&str> = self.targets.iter().map(|target| target.typed.as_str()).collect();
        output::print(&self.load.job(&targets, self.budget))?;
        Ok(Exit::Done)
    }
}
