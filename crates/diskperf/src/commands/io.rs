//! `diskperf io PATTERN TARGET...`: one load of a person's own, from options.

use clap::Args;
use units::Nanos;

use crate::cli::values::parse_time;
use crate::consent::ConsentArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::layout::{OutputArguments, RunFormat};
use crate::load_spec::LoadSpec;
use crate::output;
use crate::runs::KeepArguments;
use crate::target::TargetArgument;

/// What `diskperf io` takes.
#[derive(Clone, Debug, Args)]
pub struct IoArguments {
    #[command(flatten)]
    pub load: LoadSpec,
    /// Where, as of `diskperf run`; the directory you stand in, where none is named. Of several, each in turn.
    #[arg(value_name = "TARGET")]
    pub targets: Vec<TargetArgument>,
    /// Begin no round that would probably end later than this, as in 2min.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    pub budget: Option<Nanos>,
    /// Print the load as a job file, with all that was not said, and write nothing.
    #[arg(long, conflicts_with_all = ["dry_run", "format", "json", "file"])]
    pub print_job: bool,
    /// Say what would be run, and write nothing.
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
    /// Prints the load as a job file; says what of it makes no sense.
    pub fn print(&self) -> Result<Exit, Error> {
        self.load.check()?;
        let targets: Vec<&str> = self.targets.iter().map(|target| target.typed.as_str()).collect();
        output::print(&self.load.job(&targets, self.budget))?;
        Ok(Exit::Done)
    }
}
