//! `diskperf choose A B [C...]`: compares targets. It is a run whose rounds continue until the comparison is decided.

use std::path::PathBuf;

use campaign::choose::{Condition, Goal, Price, Use, parse_conditions, parse_price, parse_use};
use campaign::presets::{self, Preset};
use campaign::request::host;
use campaign::request::resolved::{Resolved, Tests};
use campaign::request::schedule::Schedule;
use campaign::request::{CacheWish, Environment, RunRequest, Together, Workload};
use campaign::targets::TargetArgument;
use clap::Args;
use jobs::{LoadSpec, LoadSweep};
use stats::inference::ratio_test::LEAST_PAIRS;
use units::{Bytes, Nanos};

use crate::cli::aging::AgingArguments;
use crate::cli::floor::{FloorArguments, check_max_write, parse_max_write};
use crate::cli::hosts::HostArguments;
use crate::cli::own_command::CommandArguments;
use crate::cli::own_load;
use crate::cli::own_sweep::{self, Texts};
use crate::cli::sustained::SustainedArguments;
use crate::cli::values::{MOST_ROUNDS, PresetParser, parse_bytes, parse_margin, parse_time};
use crate::documents::job_files;
use crate::documents::store_arguments::RunStoreArguments;
use crate::error::{ArgumentError, Error};
use crate::ui::consent::ConsentArguments;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat};

/// Arguments of `diskperf choose`.
#[derive(Clone, Debug, Args)]
pub struct ChooseArguments {
    /// Two or more targets, as in `diskperf run`. diskperf re-creates the file system of image: and new: before each
    /// test.
    #[arg(value_name = "TARGET")]
    targets: Vec<TargetArgument>,
    /// Treat the targets as stages, each a change of the one before. diskperf compares each stage with the one before
    /// it, and the last with the first. Each column shows the change and its effect.
    #[arg(long)]
    stages: bool,
    /// Preset to run, or a command of your own after two dashes.
    #[arg(long, value_name = "PRESET", value_parser = PresetParser, default_value = presets::ALL[0].name,
          hide_possible_values = true, conflicts_with = "command")]
    preset: &'static Preset,
    /// Measure the workloads of a job file instead of a preset, as in `diskperf run JOB.toml`. For one workload, write
    /// its options after io: `choose A B io randrw --fsync 16`. Options with several values compare the targets at each
    /// combination: `choose A B io randread --bs 4k..64k*4`.
    #[arg(long, value_name = "JOB.toml", conflicts_with_all = ["preset", "command"])]
    load: Option<PathBuf>,
    /// Workload after `io`, as JSON.
    #[arg(long = own_load::OPTION, hide = true, value_parser = own_load::parse_load,
          conflicts_with_all = ["preset", "command", "load"])]
    io_load: Option<LoadSpec>,
    /// Options of that workload with several values, as JSON. See `cli::own_sweep`.
    #[arg(long = own_sweep::OPTION, hide = true, value_parser = own_sweep::parse, requires = "io_load")]
    io_sweep: Option<Texts>,
    /// Run only this test of the preset, as in commit; can be repeated.
    #[arg(long, value_name = "TEST", conflicts_with = "command")]
    only: Vec<String>,
    /// Treat targets that differ by less than this as the same, in percent.
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_negative_numbers = true,
          value_parser = parse_margin)]
    margin: f64,
    /// End after this time, decided or not [default: 5min; none if all targets are simulated].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    budget: Option<Nanos>,
    #[command(flatten)]
    sustained: SustainedArguments,
    #[command(flatten)]
    hosts: HostArguments,
    /// Stop after N rounds, decided or not; at least 6 [default: until decided, or --budget].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(LEAST_PAIRS as i64..=i64::from(MOST_ROUNDS)))]
    rounds: Option<u32>,
    /// Weigh the tests for a use: database, mail, build, media, image (disks of virtual machines) or 1983; or with
    /// weights of your own, as in commit=60,randread=40 [default: no weights].
    #[arg(long = "use", value_name = "USE", value_parser = parse_use)]
    purpose: Option<Use>,
    /// Require rates or latencies (p50, p90, p99, p999, max), as in 'read>=200MiB/s,commit.p99<=5ms'. If no target
    /// clearly meets all requirements, the exit status is 5: not met and not known are the same.
    #[arg(long = "need", value_name = "CONDITIONS", value_parser = parse_needs, conflicts_with = "floor")]
    needs: Vec<Needs>,
    /// Price of a target, as in fast=0.10/GiB-month; can be repeated, once for each target.
    #[arg(long = "price", value_name = "NAME=AMOUNT/UNIT", value_parser = parse_price)]
    prices: Vec<Price>,
    /// Size of large files, as in 64MiB [default: as large as the budget allows; 8MiB if all targets are simulated].
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    size: Option<Bytes>,
    /// Write at most this to each target, with all rounds, as in 4GiB [default: no limit; the sizes are chosen for
    /// 16GiB in ten rounds].
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_max_write)]
    max_write: Option<Bytes>,
    #[command(flatten)]
    aging: AgingArguments,
    /// Seed of every random order [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    /// Start every phase with a cold page cache for its files. Phases that read start cold anyway, if diskperf can
    /// prove it.
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    floor: FloorArguments,
    #[command(flatten)]
    command: CommandArguments,
    /// Print the plan and write nothing: the tests in the order of the first round, and how much they write. If known,
    /// also the time limit or a rough duration.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    consent: ConsentArguments,
    #[command(flatten)]
    pub store: RunStoreArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

/// The conditions of one `--need`.
#[derive(Clone, Debug)]
struct Needs(Vec<Condition>);

fn parse_needs(text: &str) -> Result<Needs, String> {
    parse_conditions(text).map(Needs)
}

impl ChooseArguments {
    /// Resolves the arguments into a request and its tests, on this machine.
    pub fn resolve(&self) -> Result<Resolved, Error> {
        let goal = self.goal()?;
        let (workload, tests) = match self.command.find(self.cold)? {
            Some((words, command)) => (Workload::Command(words), Tests::Command(command)),
            None => self.tests()?,
        };
        check_max_write(self.max_write, workload.preset())?;
        let new = RunRequest::new(workload);
        let job = if let Tests::Job(job) = &tests { Some(job) } else { None };
        let seed = self.seed.or(job.and_then(|job| job.seed)).unwrap_or(new.environment.seed);
        let request = RunRequest {
            targets: self.targets.clone(),
            only: self.only.clone(),
            together: Together::Never,
            schedule: Schedule::UntilDecided {
                rounds: self.rounds,
                discard_first: new.schedule.discards_first(),
                goal,
            },
            budget: self.budget.or(job.and_then(|job| job.budget)),
            size: self.size,
            max_write: self.max_write,
            no_floor: self.floor.is_off(),
            sustained: self.sustained.time().or(job.and_then(|job| job.sustained)),
            read_others: self.hosts.read_others,
            environment: Environment {
                memory: new.environment.memory.filter(|_| self.size.is_none()),
                cache: self.cold.then_some(CacheWish::Cold),
                seed,
                aging: self.aging.aging(seed),
                ..new.environment
            },
            consent: self.consent.consent(),
            ..new
        };
        Ok(Resolved { request, tests })
    }

    /// The workload of your own if there is one, or the preset.
    fn tests(&self) -> Result<(Workload, Tests), Error> {
        if let Some((load, texts)) = self.io_load.as_ref().zip(self.io_sweep.as_ref()) {
            let sweep = LoadSweep { load: load.clone(), axes: texts.axes()? };
            let tests = Tests::of_sweep(&sweep)?;
            return Ok((Workload::Sweep(sweep), tests));
        }
        if let Some(load) = &self.io_load {
            return Ok((Workload::Load(load.clone()), Tests::of_load(load)?));
        }
        let Some(path) = &self.load else { return Ok(self.preset()) };
        let text = job_files::open_own(path)?;
        let mut job = host::read(&text)?;
        // Those of the command line count.
        job.targets.clear();
        if let Some(rounds) = job.rounds.filter(|_| self.rounds.is_none()) {
            let why = "`choose` runs until it has decided; --rounds sets a limit";
            output::remark(&format!("{}: rounds = {rounds} is not used: {why}", text.name));
        }
        Ok((Workload::Job { name: text.name, text: text.text }, Tests::Job(Box::new(job))))
    }

    fn preset(&self) -> (Workload, Tests) {
        if self.preset.is_of_devices() {
            (Workload::Device { time: None, overwrite: None }, Tests::Device(None))
        } else {
            (Workload::Preset(self.preset), Tests::Preset(self.preset))
        }
    }

    /// The goal of the comparison. An error if there is a single target, or if a price has no target or is given twice.
    fn goal(&self) -> Result<Goal, Error> {
        if self.targets.len() < 2 {
            return Err(ArgumentError::NoChoice.into());
        }
        if let Some(price) =
            self.prices.iter().find(|price| self.targets.iter().all(|target| target.name != price.target))
        {
            let known = self.targets.iter().map(|target| target.name.clone()).collect();
            return Err(ArgumentError::UnknownPrice { target: price.target.clone(), known }.into());
        }
        let is_again =
            |place: usize| self.prices[..place].iter().any(|price| price.target == self.prices[place].target);
        if let Some(place) = (0..self.prices.len()).find(|place| is_again(*place)) {
            return Err(ArgumentError::PriceTwice(self.prices[place].target.clone()).into());
        }
        Ok(Goal {
            margin: self.margin,
            purpose: self.purpose.clone(),
            needs: self.needs.iter().flat_map(|Needs(needs)| needs.clone()).collect(),
            prices: self.prices.clone(),
            in_stages: self.stages,
        })
    }
}
