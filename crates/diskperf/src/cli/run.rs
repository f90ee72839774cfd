//! Arguments of `diskperf run`; `io` and `choose` are runs too.

use std::path::Path;

use clap::Args;
use kernel::name::Shown;
use kernel::{Means, NoCommand};
use units::{Bytes, Nanos};
use workload::programs::load::Load;
use workload::{Cache, Mix};

use super::command::{CommandArguments, OwnCommand};
use super::values::{Data, MOST_ROUNDS, What, WhatParser, parse_bytes, parse_memory, parse_round_time, parse_time};
use crate::aging::{Wear, WearArguments};
use crate::budget::Sizes;
use crate::choose::Goal;
use crate::cli::mix::MixArguments;
use crate::commands::choose::ChooseArguments;
use crate::commands::io::IoArguments;
use crate::documents::stored::KeepArguments;
use crate::error::{CommandFault, Error};
use crate::jobs::{self, Job, Text};
use crate::load_spec::{LoadSpec, SEED};
use crate::presets::{self, Preset, Settings};
use crate::schedule::Schedule;
use crate::target::{Conditioning, Target, TargetArgument};
use crate::ui::consent::ConsentArguments;
use crate::ui::layout::{OutputArguments, RunFormat};

/// Arguments of `diskperf run`.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// Preset, or job file (its name ends in .toml).
    ///
    /// A job file holds one `[[load]]` per workload. Its keys are the options of `diskperf io` (pattern = "randread",
    /// iodepth = 32, direct = true). Above the workloads it can set targets, rounds, budget and seed of the run; the command
    /// line overrides these. `diskperf schema job` prints all keys, and `diskperf import` converts a fio job.
    #[arg(value_name = "PRESET|JOB.toml", value_parser = WhatParser)]
    what: What,
    /// PATH, DEVICE, image:FSTYPE, new:FSTYPE@DEVICE, file:PATH or sim:MACHINE [default: the current directory].
    ///
    /// PATH: a directory. diskperf creates a private folder in it and removes it.
    ///
    /// DEVICE: a block device, for the preset device. diskperf only reads it, unless --write overwrites all of it.
    ///
    /// image:FSTYPE[,KEY=VALUE]...: a new file system on a private loop image, removed afterwards (needs root). FSTYPE is
    /// ext4, xfs, btrfs or any other with a mkfs. Keys: size, dir (directory of the image), block, mount and mkfs (options
    /// for mount and mkfs).
    ///
    /// new:FSTYPE[,KEY=VALUE]...@DEVICE: a new file system on a device, erased afterwards (needs root). Keys: block, mount
    /// and mkfs. diskperf refuses a device that is in use. It overwrites data only with --destroy-data and --confirm.
    ///
    /// file:PATH: an existing file, for tests that only read.
    ///
    /// sim:MACHINE[,KEY=VALUE]...: a simulated machine; `diskperf simulate` lists them. Keys: fields (drive.rpm=3600), parts
    /// (drive=ra81) and file_system. The same machine twice means two of its drives.
    ///
    /// NAME= before a target names it in the tables. ,tune=ATTRIBUTE:VALUE after it changes block-queue settings of its
    /// device during the run, as in tune=scheduler:none+read_ahead_kb:4096. In a value, + stands for a comma.
    #[arg(value_name = "TARGET")]
    targets: Vec<TargetArgument>,
    /// Run only this test of the preset, as in read_8192; can be repeated.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "command")]
    pub only: Vec<String>,
    /// Number of rounds, with a discarded first one [default: that of the preset]. A single round cannot measure several
    /// targets in turns: their results then have the warning `order`.
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROUNDS)))]
    pub rounds: Option<u32>,
    /// Size of large files, as in 64M [default: that of the preset]. k, M, G and KiB, MiB, GiB are powers of 1024; kB, MB, GB
    /// are powers of 1000. In tlpi, the size of the copied file; a hundredth of it is written, as in the book. In quick, it
    /// lifts the limits on the bytes written. For your own command, the space that it needs.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    pub size: Option<Bytes>,
    /// Limit the page cache of the run, as in 64MiB, by a control group [default: no limit; classic1983 without --size:
    /// 64MiB].
    #[arg(long = "cache", value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_memory)]
    room_for_files: Option<Bytes>,
    /// Start no round that would end later than this, as in 2min [default: quick 1min, others no limit]. quick makes its
    /// files as large as fits into the budget; above 1min it also lifts its limits on the bytes written. tlpi first skips its
    /// slowest rows (n.m.), and then rounds, down to two.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    pub budget: Option<Nanos>,
    /// Time of each test of device in a round, from 0.1s to 24h [default: 10s].
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_round_time)]
    pub time: Option<Nanos>,
    /// Overwrite the whole DEVICE, with the preset device: discard it, write it sequentially (--precondition), and measure
    /// writes in every round. Needs --destroy-data and --confirm; a device in use is refused.
    #[arg(long)]
    pub write: bool,
    /// Overwrite the whole device this many times before the first round, as in 1x, or none [default: 2x].
    #[arg(long, value_name = "TIMES", allow_negative_numbers = true, requires = "write")]
    pub precondition: Option<Conditioning>,
    #[command(flatten)]
    pub wear: WearArguments,
    /// Seed of every random order [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    /// Data to write: incompressible bytes, or zeros to see the effect of compression [default: random].
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    pub data: Data,
    /// Run every test also on all targets at once, as in the "2 Drives" of 1983 [default with classic1983].
    #[arg(long, conflicts_with_all = ["solo", "command"])]
    together: bool,
    /// Run every test on one target at a time only.
    #[arg(long)]
    solo: bool,
    /// Start every phase with a cold page cache for its files. Phases that read start cold anyway, if diskperf can prove it.
    #[arg(long, conflicts_with = "warm")]
    pub cold: bool,
    /// Start every phase with all of its files in the page cache.
    #[arg(long, conflicts_with = "drop_caches")]
    pub warm: bool,
    /// Drop the caches of the whole machine before every cold phase, so that metadata is cold too. Slows down everything
    /// else on this machine; needs root.
    #[arg(long)]
    pub drop_caches: bool,
    /// Keep the loop images, under a name in their directories, and the file systems on devices; `diskperf clean` removes
    /// them.
    #[arg(long)]
    pub keep: bool,
    /// Print the plan and write nothing: the tests in the order of the first round, and how much they write. If known, also
    /// the time limit or a rough duration.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    command: CommandArguments,
    #[command(flatten)]
    pub mixing: MixArguments,
    #[command(flatten)]
    pub consent: ConsentArguments,
    #[command(flatten)]
    pub store: KeepArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
    /// The load of `io`, which no option of `run` gives.
    #[arg(skip)]
    pub load: Option<Load>,
    /// The user's own command, once it is found.
    #[arg(skip)]
    pub own: Option<OwnCommand>,
    /// The mix of --mix or --from-trace.
    #[arg(skip)]
    pub mix: Option<Mix>,
    /// The job file, once it is read.
    #[arg(skip)]
    pub job: Option<Box<Job>>,
    /// The goal of `choose`.
    #[arg(skip)]
    pub goal: Option<Goal>,
}

impl RunArguments {
    /// The main job: `run quick .`
    pub(super) fn main_job(store: KeepArguments, output: OutputArguments<RunFormat>) -> RunArguments {
        RunArguments {
            what: What::Preset(presets::ALL[0]),
            targets: Vec::new(),
            only: Vec::new(),
            rounds: None,
            size: None,
            room_for_files: None,
            budget: None,
            time: None,
            write: false,
            precondition: None,
            wear: WearArguments::default(),
            seed: None,
            data: Data::default(),
            together: false,
            solo: false,
            cold: false,
            warm: false,
            drop_caches: false,
            keep: false,
            dry_run: false,
            command: CommandArguments::default(),
            mixing: MixArguments::default(),
            consent: ConsentArguments::default(),
            store,
            output,
            load: None,
            goal: None,
            own: None,
            mix: None,
            job: None,
        }
    }

    /// Adds the mix, the command and the job file. The command line overrides the job file. A resumed run uses the job file
    /// and the derived mix that were stored with it.
    pub(super) fn complete(mut self, stored: Option<&str>, mix: Option<&str>) -> Result<RunArguments, Error> {
        self.mix = self.mixing.mix(self.preset(), mix)?;
        self.own = self.command.find()?;
        self.own.iter().for_each(|own| own.say_of_cold(self.cold && !self.drop_caches));
        if self.own.is_none() && self.preset().name == presets::COMMAND.name {
            return Err(CommandFault::from(NoCommand::Nothing).into());
        }
        if let Some(name) = self.own.as_ref().and_then(|_| self.preset_for_target()) {
            return Err(CommandFault::Preset(name.to_owned()).into());
        }
        let What::Job(path) = &self.what else { return Ok(self) };
        let text = match stored {
            Some(text) => Text::new(path.shown().to_string(), text),
            None => jobs::open_own(path)?,
        };
        let mut job = Job::read(&text)?;
        if self.targets.is_empty() {
            self.targets.clone_from(&job.targets);
        } else {
            job.targets.clear();
        }
        self.rounds = self.rounds.or(job.rounds);
        self.budget = self.budget.or(job.budget);
        self.seed = self.seed.or(job.seed);
        self.job = Some(Box::new(job));
        Ok(self)
    }

    /// The first target that was typed.
    pub(super) fn first_target(&self) -> Option<&TargetArgument> {
        self.targets.first()
    }

    /// The first target, if it is the name of a preset and not of a file.
    fn preset_for_target(&self) -> Option<&'static str> {
        let first = &self.targets.first()?.typed;
        let name = presets::ALL.into_iter().map(|preset| preset.name).find(|name| name == first)?;
        (!Path::new(name).exists()).then_some(name)
    }

    /// The preset; of a job file, that of its loads.
    pub fn preset(&self) -> &'static Preset {
        match self.what {
            What::Preset(preset) => preset,
            What::Job(_) => &presets::JOB,
        }
    }

    /// The run by which `choose` finds out what is asked.
    pub(super) fn of_choice(choice: ChooseArguments) -> Result<RunArguments, Error> {
        let (goal, budget) = (Some(choice.goal()?), Some(choice.budget));
        let own = choice.command.find()?;
        let preset = if own.is_some() { presets::COMMAND } else { choice.preset };
        own.iter().for_each(|own| own.say_of_cold(choice.cold));
        let ChooseArguments { targets, only, rounds, size, wear, seed, cold, dry_run, consent, .. } = choice;
        let main_job = RunArguments::main_job(choice.store, choice.output);
        Ok(RunArguments {
            what: What::Preset(preset),
            targets,
            only,
            rounds,
            budget,
            size,
            wear,
            seed,
            solo: true,
            cold,
            dry_run,
            consent,
            goal,
            own,
            ..main_job
        })
    }

    /// The one load that `io` asks for, in the place of a preset.
    pub(super) fn of_load(io: IoArguments) -> Result<RunArguments, Error> {
        let load = Some(io.load.load()?);
        let IoArguments { targets, budget, dry_run, consent, .. } = io;
        let LoadSpec { rounds, seed, .. } = io.load;
        let main_job = RunArguments::main_job(io.store, io.output);
        let what = What::Preset(presets::LOAD);
        Ok(RunArguments { what, targets, rounds, budget, seed, dry_run, consent, load, ..main_job })
    }

    /// Its rounds.
    pub fn schedule(&self) -> Schedule {
        let schedule = &self.preset().schedule;
        match &self.goal {
            Some(goal) => Schedule::UntilDecided {
                rounds: self.rounds,
                discard_first: schedule.discards_first(),
                goal: goal.clone(),
            },
            None => schedule.with_rounds(self.rounds),
        }
    }

    /// The settings of its preset.
    pub fn settings(&self, memory: Option<Bytes>, sizes: Sizes) -> Settings {
        let command = self.own.as_ref().map(|own| own.program);
        let (size, seed, load, mix, time) = (self.size, self.seed(), self.load, self.mix, self.time);
        Settings { size, memory, seed, sizes, load, command, mix, time }
    }

    /// Whether to run every test also on all targets at once: if asked, or if the preset does and the targets share a world.
    pub fn together(&self, targets: &[Target]) -> bool {
        targets.len() > 1 && (self.together || (self.preset().together && !self.solo && Target::share_a_world(targets)))
    }

    /// The memory limit of the run: as asked, or that of the preset if its file has the preset's size too.
    pub fn memory(&self) -> Option<Bytes> {
        self.room_for_files.or(self.preset().memory.filter(|_| self.size.is_none()))
    }

    /// The seed of every random order.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(SEED)
    }

    /// How file systems of our own are aged before the first round.
    pub fn wear(&self) -> Option<Wear> {
        self.wear.wear(self.seed())
    }

    /// The state of the page cache before all phases, if --cold or --warm sets it.
    pub fn cache(&self) -> Option<Cache> {
        match (self.cold, self.warm) {
            (true, _) => Some(Cache::Cold),
            (_, true) => Some(Cache::Warm),
            _ => None,
        }
    }

    /// How files may be removed from the page cache.
    pub fn means(&self) -> Means {
        Means { given: self.cold, drop_caches: self.drop_caches }
    }

    /// The targets [default: the current directory].
    pub fn targets(&self) -> Vec<TargetArgument> {
        if self.targets.is_empty() {
            let Ok(here) = ".".parse();
            return vec![here];
        }
        self.targets.clone()
    }
}
