//! `diskperf io PATTERN TARGET...`: one workload of the user, from options.

use campaign::request::host;
use campaign::request::resolved::{Resolved, Tests};
use campaign::request::{Environment, RunRequest, Workload, or_here};
use campaign::targets::{TargetArgument, TargetKind};
use clap::Args;
use jobs::LoadSpec;
use units::{Exit, Nanos};

use crate::cli::floor::FloorArguments;
use crate::cli::sustained::SustainedArguments;
use crate::cli::values::parse_time;
use crate::documents::store_arguments::KeepArguments;
use crate::error::Error;
use crate::ui::consent::ConsentArguments;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat};

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
    #[command(flatten)]
    sustained: SustainedArguments,
    /// Print the workload as a job file, with all defaults written out, and measure nothing.
    #[arg(long, conflicts_with_all = ["dry_run", "format", "json", "file"])]
    pub print_job: bool,
    /// Print the plan of the run, and write nothing.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    floor: FloorArguments,
    #[command(flatten)]
    consent: ConsentArguments,
    #[command(flatten)]
    pub store: KeepArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

impl IoArguments {
    /// Resolves the arguments into a request and its tests, on this machine.
    pub fn resolve(&self) -> Result<Resolved, Error> {
        let tests = Tests::of_load(&self.load)?;
        let LoadSpec { rounds, seed, .. } = self.load;
        let new = RunRequest::new(Workload::Load(self.load.clone()));
        let request = RunRequest {
            targets: or_here(self.targets.clone()),
            schedule: new.schedule.with_rounds(rounds),
            budget: self.budget,
            no_floor: self.floor.is_off(),
            sustained: self.sustained.time(),
            environment: Environment { seed: seed.unwrap_or(new.environment.seed), ..new.environment },
            consent: self.consent.consent(),
            ..new
        };
        Ok(Resolved { request, tests })
    }

    /// Prints the workload as a job file. An error if the workload is not valid.
    pub fn print(&self) -> Result<Exit, Error> {
        self.load.check(host::LIMITS)?;
        let mut load = self.load.explicit();
        // The default size does not apply to an existing file, which is read to its end.
        if self.targets.iter().any(|target| matches!(target.kind, TargetKind::File(_))) {
            load.size = self.load.size;
        }
        let targets: Vec<&str> = self.targets.iter().map(|target| target.typed.as_str()).collect();
        output::print(&load.job_file(&targets, self.budget, self.sustained.time()))?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use crate::cli;

    /// Options that a job file cannot set, because you decide them for each run.
    const OF_THE_CALL: [&str; 12] = [
        "confirm",
        "destroy_data",
        "dry_run",
        "floor",
        "format",
        "help",
        "json",
        "no_store",
        "output",
        "print_job",
        "store",
        "yes",
    ];

    #[test]
    fn options_and_job_file_keys_are_the_same() {
        let mut command = cli::command();
        command.build();
        let io = command.find_subcommand("io").expect("the command");
        let name = |option: &clap::Arg| {
            option.get_long().map_or_else(|| option.get_id().to_string(), |long| long.replace('-', "_"))
        };
        let mut options: BTreeSet<String> = io.get_arguments().map(name).collect();
        for option in OF_THE_CALL {
            assert!(options.remove(option), "{option} is not an option of io");
        }
        let schema = jobs::schema().to_value();
        let names = |value: &Value| value["properties"].as_object().expect("keys").keys().cloned().collect::<Vec<_>>();
        let of_loads = names(&schema["properties"]["load"]["items"]);
        let mut keys: BTreeSet<String> = names(&schema).into_iter().chain(of_loads).collect();
        // `load` is the list of workloads. One has a name; several have a place beside each other.
        assert!(["load", "name", "together", "group", "start"].iter().all(|key| keys.remove(*key)));
        assert_eq!(keys, options);
    }
}
