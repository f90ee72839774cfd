//! What `diskperf run` takes; `io` and `choose` are runs too.

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
use crate::commands::choose::ChooseArguments;
use crate::commands::io::IoArguments;
use crate::commands::mix::MixArguments;
use crate::consent::ConsentArguments;
use crate::error::{CommandFault, Error};
use crate::jobs::{self, Job, Text};
use crate::layout::{OutputArguments, RunFormat};
use crate::load_spec::{LoadSpec, SEED};
use crate::presets::{self, Preset, Settings};
use crate::runs::KeepArguments;
use crate::target::{Conditioning, Target, TargetArgument};

/// What `diskperf run` takes.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// What to run: a preset, or a job file, whose name ends in .toml.
    ///
    /// A job file holds a `[[load]]` for each load, with the options of `diskperf io` as its keys (pattern = "randread",
    /// iodepth = 32, direct = true), and above them, for the whole run, targets, rounds, budget and seed. What the
    /// command line says holds before that. `diskperf schema job` prints all keys, `diskperf import` makes such a file
    /// of a job of fio.
    #[arg(value_name = "PRESET|JOB.toml", value_parser = WhatParser)]
    what: What,
    /// Where: PATH, DEVICE, image:FSTYPE, new:FSTYPE@DEVICE, file:PATH or sim:MACHINE; the directory you stand in, where
    /// none is named.
    ///
    /// PATH: a directory, in which a private folder is made and removed.
    ///
    /// DEVICE: a block device, with the preset device. It is only read, unless --write overwrites all of it.
    ///
    /// image:FSTYPE[,KEY=VALUE]...: a fresh file system on an image that nobody else sees and that is gone
    /// afterwards (needs root). FSTYPE is ext4, xfs, btrfs or any other with a mkfs; the keys are size, dir
    /// (where the image lies), block, mount and mkfs (options for them).
    ///
    /// new:FSTYPE[,KEY=VALUE]...@DEVICE: a fresh file system on a device (needs root), erased afterwards; the keys
    /// are block, mount and mkfs. A device that is in use is refused, and one that holds anything: then
    /// --destroy-data and --confirm say that it may go.
    ///
    /// file:PATH: an existing file, for programs that only read.
    ///
    /// sim:MACHINE[,KEY=VALUE]...: a simulated machine; `diskperf simulate` lists them. The keys are fields
    /// (drive.rpm=3600), parts (drive=ra81) and file_system. Two of the same machine are two of its drives.
    ///
    /// Each can have a NAME= before it, and ,tune=ATTRIBUTE:VALUE behind it for the queue of its device, as
    /// in tune=scheduler:none+read_ahead_kb:4096, restored afterwards. In a value, + stands for a comma.
    #[arg(value_name = "TARGET")]
    targets: Vec<TargetArgument>,
    /// Run only this program of the preset; can be given several times.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "command")]
    pub only: Vec<String>,
    /// How many rounds, the discarded one included; the preset's own number where not given. With one round
    /// targets are measured one after the other and not in turns: where there are several, their cells are
    /// marked `order`.
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROUNDS)))]
    pub rounds: Option<u32>,
    /// The size of large files, as in 64M; the preset's own where not given. k, M, G and KiB, MiB, GiB are powers of 1024;
    /// kB, MB, GB are powers of 1000. Of tlpi it is the copied
    /// file, and a hundredth of it is written, as in the book. In quick it lifts the limits on what is written. Of a
    /// command of your own it is the room that it needs.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    pub size: Option<Bytes>,
    /// Keep no more than this of files in memory, by a control group; classic1983 takes 64MiB unless --size
    /// says that the letter is meant.
    #[arg(long = "cache", value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_memory)]
    room_for_files: Option<Bytes>,
    /// Begin no round that would probably end later than this, as in 2min. tlpi first leaves its dearest rows
    /// out, as n.m., and then rounds, down to two. quick makes its files as large as fits; more than the
    /// minute it has of its own also lifts its limits on what is written.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    pub budget: Option<Nanos>,
    /// How long each program of device runs in a round, from 0.1 s to a day; 10s where not given.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_round_time)]
    pub time: Option<Nanos>,
    /// Overwrite all of the DEVICE, with the preset device: it is discarded, written in order (--precondition), and then
    /// written to in every round. What is in use is refused; --destroy-data and --confirm say that it is meant.
    #[arg(long)]
    pub write: bool,
    /// How often a device is written over before the first round: 2x where not given, none, or any number of times.
    #[arg(long, value_name = "TIMES", allow_negative_numbers = true, requires = "write")]
    pub precondition: Option<Conditioning>,
    #[command(flatten)]
    pub wear: WearArguments,
    /// The seed of every random order.
    #[arg(long)]
    seed: Option<u64>,
    /// What is written: bytes that nothing can compress, or zeros, to see what is made of those.
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    pub data: Data,
    /// Run every program also on all targets at once: the "2 Drives" of 1983, and classic1983's default.
    #[arg(long, conflicts_with_all = ["solo", "command"])]
    together: bool,
    /// Run every program on one target at a time only.
    #[arg(long)]
    solo: bool,
    /// Begin every phase with none of its files in memory; phases that read do so anyway, where that can be
    /// proven.
    #[arg(long, conflicts_with = "warm")]
    pub cold: bool,
    /// Begin every phase with all of its files in memory.
    #[arg(long, conflicts_with = "drop_caches")]
    pub warm: bool,
    /// Drop the caches of the whole machine before every phase that begins cold, so that names and
    /// directories are cold too. Slows down everybody on this machine; needs root.
    #[arg(long)]
    pub drop_caches: bool,
    /// Give the images a name in their directories, and leave them there; leave file systems on devices too.
    #[arg(long)]
    pub keep: bool,
    /// Say what would be run, in which order and about how long, and write nothing.
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
    /// The command of a person's own, once it is found.
    #[arg(skip)]
    pub own: Option<OwnCommand>,
    /// The mix that is asked for.
    #[arg(skip)]
    pub mix: Option<Mix>,
    /// What stands in the job file, once it is read.
    #[arg(skip)]
    pub job: Option<Box<Job>>,
    /// What `choose` is to find out.
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

    /// With the mix that is asked for, and with what its job file says, where it is one, and nothing else was said. A run
    /// that is gone on with has the text and the derived mix that were stored with it.
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
            None => jobs::open(path)?,
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

    /// The preset that stands where the first target should, where no file has its name.
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

    /// What its preset needs to know.
    pub fn settings(&self, memory: Option<Bytes>, sizes: Sizes) -> Settings {
        let command = self.own.as_ref().map(|own| own.program);
        let (size, seed, load, mix, time) = (self.size, self.seed(), self.load, self.mix, self.time);
        Settings { size, memory, seed, sizes, load, command, mix, time }
    }

    /// Whether to run every program also on all targets at once: as asked, or as the preset does where the
    /// targets can be.
    pub fn together(&self, targets: &[Target]) -> bool {
        targets.len() > 1 && (self.together || (self.preset().together && !self.solo && Target::share_a_world(targets)))
    }

    /// How much memory the run may have: as asked, or the preset's own where its file is too.
    pub fn memory(&self) -> Option<Bytes> {
        self.room_for_files.or(self.preset().memory.filter(|_| self.size.is_none()))
    }

    /// The seed of every random order.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(SEED)
    }

    /// How file systems of our own are used before they are measured, where they are.
    pub fn wear(&self) -> Option<Wear> {
        self.wear.wear(self.seed())
    }

    /// What of their files is in memory before all phases, where it was said.
    pub fn cache(&self) -> Option<Cache> {
        match (self.cold, self.warm) {
            (true, _) => Some(Cache::Cold),
            (_, true) => Some(Cache::Warm),
            _ => None,
        }
    }

    /// By what means files may be removed from memory.
    pub fn means(&self) -> Means {
        Means { given: self.cold, drop_caches: self.drop_caches }
    }

    /// Where to run; the directory one stands in, where none is named.
    pub fn targets(&self) -> Vec<TargetArgument> {
        if self.targets.is_empty() {
            let Ok(here) = ".".parse();
            return vec![here];
        }
        self.targets.clone()
    }
}
