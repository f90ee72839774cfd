//! `diskperf io PATTERN TARGET...`: one workload of the user, from options.

use campaign::request::host;
use campaign::request::resolved::{Resolved, Tests};
use campaign::request::{CacheWish, Environment, RunRequest, Workload, or_here};
use campaign::targets::{TargetArgument, TargetKind};
use clap::{Args, ValueEnum};
use jobs::{Axis, LoadError, LoadSpec, LoadSweep, Time};
use units::{Exit, Nanos};

use crate::cli::floor::FloorArguments;
use crate::cli::hosts::HostArguments;
use crate::cli::own_sweep::{self, Texts};
use crate::cli::sustained::SustainedArguments;
use crate::cli::values::parse_time;
use crate::documents::store_arguments::RunStoreArguments;
use crate::error::Error;
use crate::ui::consent::ConsentArguments;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat};
use crate::ui::status_line::StatusLine;

/// Arguments of `diskperf io`.
#[derive(Clone, Debug, Args)]
pub struct IoArguments {
    #[command(flatten)]
    load: LoadSpec,
    /// Options with several values, as JSON. See `cli::own_sweep`.
    #[arg(long = own_sweep::OPTION, hide = true, value_parser = own_sweep::parse)]
    io_sweep: Option<Texts>,
    /// Start every round with a cold page cache for the files, also for file:PATH. Reads of other files start cold
    /// anyway, if diskperf can prove it.
    #[arg(long, conflicts_with = "warm")]
    cold: bool,
    /// Targets, as in `diskperf run`; every round runs them in random order [default: the current directory].
    #[arg(value_name = "TARGET")]
    targets: Vec<TargetArgument>,
    /// Start no round that would end later than this, as in 2min [default: no limit].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    budget: Option<Nanos>,
    #[command(flatten)]
    sustained: SustainedArguments,
    #[command(flatten)]
    hosts: HostArguments,
    /// Show rate, p50 and p99 of the last second while a test runs, if standard error is a terminal [default: on].
    #[arg(long, value_name = "WHEN", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    live: Option<Live>,
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
    pub store: RunStoreArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

/// The live line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Live {
    /// Shown on a terminal
    On,
    /// Not shown
    Off,
}

impl IoArguments {
    /// True if a terminal shows figures while a test runs. If you ask for them without a terminal, diskperf says so.
    pub fn shows_live(&self) -> bool {
        if self.live == Some(Live::On) && !self.dry_run && !StatusLine::new().is_seen() {
            output::remark("--live has no effect: standard error is not a terminal that can clear a line");
        }
        self.live != Some(Live::Off)
    }

    /// The workload, and its tests on this machine: one, or one for each combination of the swept values.
    fn tests(&self) -> Result<(Workload, Tests), Error> {
        let axes = self.io_sweep.as_ref().map(Texts::axes).transpose()?.unwrap_or_default();
        let mut load = self.load.clone();
        if load.is_endless() {
            self.check_endless(&axes)?;
            load.rounds = load.rounds.or(Some(1));
        }
        if axes.is_empty() {
            let tests = Tests::of_load(&load)?;
            return Ok((Workload::Load(load), tests));
        }
        let sweep = LoadSweep { load, axes };
        let tests = Tests::of_sweep(&sweep)?;
        Ok((Workload::Sweep(sweep), tests))
    }

    /// Only one test on one target can run until Ctrl-C.
    fn check_endless(&self, axes: &[Axis]) -> Result<(), LoadError> {
        let given = [
            ("a sweep needs rounds that end", !axes.is_empty()),
            ("several targets need rounds that end", self.targets.len() > 1),
            ("--budget needs rounds that end", self.budget.is_some()),
            ("--sustained needs rounds that end", self.sustained.time().is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((why, _)) => Err(LoadError::new("time", Time::FOREVER, *why, "give a time, as in --time 10s")),
            None => Ok(()),
        }
    }

    /// Resolves the arguments into a request and its tests, on this machine.
    pub fn resolve(&self) -> Result<Resolved, Error> {
        let (workload, tests) = self.tests()?;
        let rounds = match &workload {
            Workload::Load(load) => load.rounds,
            _ => self.load.rounds,
        };
        let seed = self.load.seed;
        let new = RunRequest::new(workload);
        let request = RunRequest {
            targets: or_here(self.targets.clone()),
            schedule: new.schedule.with_rounds(rounds),
            budget: self.budget,
            no_floor: self.floor.is_off(),
            sustained: self.sustained.time(),
            read_others: self.hosts.read_others,
            environment: Environment {
                cache: self.cold.then_some(CacheWish::Cold),
                seed: seed.unwrap_or(new.environment.seed),
                ..new.environment
            },
            consent: self.consent.consent(),
            ..new
        };
        Ok(Resolved { request, tests })
    }

    /// Prints the workload as a job file. An error if it is not valid.
    pub fn print(&self) -> Result<Exit, Error> {
        let axes = self.io_sweep.as_ref().map(Texts::axes).transpose()?.unwrap_or_default();
        for point in (LoadSweep { load: self.load.clone(), axes }).points()? {
            point.check(host::LIMITS)?;
        }
        let mut load = self.load.explicit();
        // The default size does not apply to an existing file, which is read to its end.
        if self.targets.iter().any(|target| matches!(target.kind, TargetKind::File(_))) {
            load.size = self.load.size;
        }
        if self.cold {
            output::remark("a job file has no key for --cold: diskperf run JOB.toml --cold");
        }
        let targets: Vec<&str> = self.targets.iter().map(|target| target.typed.as_str()).collect();
        let swept = self.io_sweep.as_ref().map_or(&[][..], Texts::all);
        output::print(&load.job_file(swept, &targets, self.budget, self.sustained.time()))?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use crate::cli;

    /// Options that a job file cannot set, because you decide them for each run.
    const OF_THE_CALL: [&str; 17] = [
        "cold",
        "confirm",
        "destroy_data",
        "dry_run",
        "floor",
        "format",
        "help",
        "io_sweep",
        "json",
        "live",
        "name",
        "no_store",
        "output",
        "print_job",
        "read_others",
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
