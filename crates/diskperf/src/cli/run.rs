//! Arguments of `diskperf run`; `io` and `choose` are runs too.

use std::path::Path;

use campaign::presets::{self, Preset};
use campaign::request::command_fault::CommandFault;
use campaign::request::host;
use campaign::request::resolved::{Resolved, Tests};
use campaign::request::{CacheWish, Environment, RunRequest, Together, Workload, or_here};
use campaign::targets::{Conditioning, TargetArgument};
use clap::Args;
use kernel::NoCommand;
use units::{Bytes, Nanos};

use super::floor::{FloorArguments, check_max_write, parse_max_write};
use super::hosts::HostArguments;
use super::own_command::CommandArguments;
use super::sustained::SustainedArguments;
use super::values::{Data, MOST_ROUNDS, What, WhatParser, parse_bytes, parse_memory, parse_round_time, parse_time};
use crate::cli::aging::AgingArguments;
use crate::cli::mix::MixArguments;
use crate::documents::job_files;
use crate::documents::store_arguments::RunStoreArguments;
use crate::error::{ArgumentError, Error};
use crate::ui::consent::ConsentArguments;
use crate::ui::output_format::{OutputArguments, RunFormat};

/// Arguments of `diskperf run`.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// Preset, or job file (its name ends in .toml).
    ///
    /// A job file holds one `[[load]]` per workload. Its keys are the options of `diskperf io` (pattern = "randread",
    /// iodepth = 32, direct = true). Above the workloads it can set targets, rounds, budget, sustained and seed of the
    /// run; the command line overrides these. `diskperf schema job` prints all keys, and `diskperf import` converts a
    /// fio job.
    #[arg(value_name = "PRESET|JOB.toml", value_parser = WhatParser)]
    what: What,
    /// PATH, DEVICE, image:FSTYPE, new:FSTYPE@DEVICE, file:PATH or sim:MACHINE [default: the current directory].
    ///
    /// PATH: a directory. diskperf creates a private folder in it and removes it.
    ///
    /// DEVICE: a block device, for the preset device. diskperf only reads it, unless --write overwrites all of it.
    ///
    /// image:FSTYPE[,KEY=VALUE]...: a new file system on a private loop image, removed afterwards (needs root). FSTYPE
    /// is ext4, xfs, btrfs or any other with a mkfs. Keys: size, dir (directory of the image), block, mount and mkfs
    /// (options for mount and mkfs).
    ///
    /// new:FSTYPE[,KEY=VALUE]...@DEVICE: a new file system on a device, erased afterwards (needs root). Keys: block,
    /// mount and mkfs. diskperf refuses a device that is in use. It overwrites data only with --destroy-data and
    /// --confirm.
    ///
    /// file:PATH: an existing file, for tests that only read.
    ///
    /// sim:MACHINE[,KEY=VALUE]...: a simulated machine; `diskperf simulate` lists them. Keys: fields (drive.rpm=3600),
    /// parts (drive=ra81) and file_system. The same machine twice means two of its drives.
    ///
    /// NAME= before a target names it in the tables. ,tune=ATTRIBUTE:VALUE after it changes block-queue settings of its
    /// device during the run, as in tune=scheduler:none+read_ahead_kb:4096. In a value, + stands for a comma.
    #[arg(value_name = "TARGET")]
    targets: Vec<TargetArgument>,
    /// Run only this test of the preset, as in read_8192; can be repeated.
    #[arg(long, value_name = "TEST", conflicts_with = "command")]
    only: Vec<String>,
    /// Number of rounds, with a discarded first one [default: that of the preset]. A single round cannot measure
    /// several targets in turns: their results then have the warning `order`.
    #[arg(long, allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROUNDS)))]
    rounds: Option<u32>,
    /// Size of large files, as in 64M [default: that of the preset]. k, M, G and KiB, MiB, GiB are powers of 1024; kB,
    /// MB, GB are powers of 1000. In tlpi, the size of the copied file; a hundredth of it is written, as in the book.
    /// In quick, it lifts the limit on the bytes written. For your own command, the space that it needs.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    size: Option<Bytes>,
    /// Limit the page cache of the run, as in 64MiB, by a control group [default: no limit; classic1983 without --size:
    /// 64MiB].
    #[arg(long = "cache", value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_memory)]
    room_for_files: Option<Bytes>,
    /// Start no round that would end later than this, as in 2min [default: quick 1min, others no limit]. quick uses the
    /// whole budget: its files are as large as fits. If the budget is short, it skips tests (n.m.), so that the others
    /// get enough data. tlpi first skips its slowest rows (n.m.), and then rounds, down to two.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    budget: Option<Nanos>,
    /// Write at most this to each target in all rounds, for quick, as in 4GiB [default: 16GiB; no limit with --size].
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_max_write)]
    max_write: Option<Bytes>,
    #[command(flatten)]
    sustained: SustainedArguments,
    #[command(flatten)]
    hosts: HostArguments,
    /// Time of each test of device in a round, from 0.1s to 24h [default: 10s].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_round_time)]
    time: Option<Nanos>,
    /// Overwrite the whole DEVICE, with the preset device: discard it, write it sequentially (--precondition), and
    /// measure writes in every round. Needs --destroy-data and --confirm; a device in use is refused.
    #[arg(long)]
    write: bool,
    /// Overwrite the whole device this many times before the first round, as in 1x, or none [default: 2x].
    #[arg(long, value_name = "TIMES", allow_negative_numbers = true, requires = "write")]
    precondition: Option<Conditioning>,
    #[command(flatten)]
    aging: AgingArguments,
    /// Seed of every random order [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    /// Data to write: incompressible bytes, or zeros to see the effect of compression [default: random].
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    data: Data,
    /// Run every test also on all targets at once, as in the "2 Drives" of 1983 [default with classic1983].
    #[arg(long, conflicts_with_all = ["solo", "command"])]
    together: bool,
    /// Run every test on one target at a time only.
    #[arg(long)]
    solo: bool,
    /// Start every phase with a cold page cache for its files. Phases that read start cold anyway, if diskperf can
    /// prove it.
    #[arg(long, conflicts_with = "warm")]
    cold: bool,
    /// Start every phase with all of its files in the page cache.
    #[arg(long, conflicts_with = "drop_caches")]
    warm: bool,
    /// Drop the caches of the whole machine before every cold phase, so that metadata is cold too. Slows down
    /// everything else on this machine; needs root.
    #[arg(long)]
    drop_caches: bool,
    /// Keep the loop images, under a name in their directories, and the file systems on devices; `diskperf clean`
    /// removes them.
    #[arg(long)]
    keep: bool,
    /// Record the block trace of the COMMAND, for `diskperf predict`: the requests of the device below the target, also
    /// those of other processes. The device rests for 2 s before each execution, so that small burst credits are full.
    /// Files of --prepare are cold, unless --warm. Needs root.
    #[arg(long, requires = "command")]
    record: bool,
    /// Print the plan and write nothing: the tests in the order of the first round, and how much they write. If known,
    /// also the time limit or a rough duration.
    #[arg(long, conflicts_with_all = ["format", "json", "file"])]
    pub dry_run: bool,
    #[command(flatten)]
    floor: FloorArguments,
    #[command(flatten)]
    command: CommandArguments,
    #[command(flatten)]
    mixing: MixArguments,
    #[command(flatten)]
    consent: ConsentArguments,
    #[command(flatten)]
    pub store: RunStoreArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

impl RunArguments {
    /// Resolves the arguments into a request and its tests, on this machine. The command line overrides the job file.
    pub(super) fn resolve(&self) -> Result<Resolved, Error> {
        let (workload, tests) = self.workload()?;
        check_max_write(self.max_write, workload.preset())?;
        let new = RunRequest::new(workload);
        let job = if let Tests::Job(job) = &tests { Some(job) } else { None };
        let targets = match job {
            Some(job) if self.targets.is_empty() => presets::job::targets(job),
            _ => self.targets.clone(),
        };
        let seed = self.seed.or(job.and_then(|job| job.seed)).unwrap_or(new.environment.seed);
        let request = RunRequest {
            targets: or_here(targets),
            only: self.only.clone(),
            together: match (self.together, self.solo) {
                (true, _) => Together::Always,
                (_, true) => Together::Never,
                _ => new.together,
            },
            schedule: new.schedule.with_rounds(self.rounds.or(job.and_then(|job| job.rounds))),
            budget: self.budget.or(job.and_then(|job| job.budget)),
            size: self.size,
            max_write: self.max_write,
            no_floor: self.floor.is_off(),
            sustained: self.sustained.time().or(job.and_then(|job| job.sustained)),
            read_others: self.hosts.read_others,
            environment: Environment {
                // The limit of the preset is meant for a file of the preset's size.
                memory: self.room_for_files.or(new.environment.memory.filter(|_| self.size.is_none())),
                cache: match (self.cold || self.record && self.command.has_preparation(), self.warm) {
                    (true, false) => Some(CacheWish::Cold),
                    (_, true) => Some(CacheWish::Warm),
                    _ => None,
                },
                drop_caches: self.drop_caches,
                zeros: self.data == Data::Zeros,
                seed,
                aging: self.aging.aging(seed),
            },
            record: self.record,
            rest: false,
            keep: self.keep,
            consent: self.consent.consent(),
            ..new
        };
        Ok(Resolved { request, tests })
    }

    /// Reads the job file if there is one, and finds the programs of a command.
    fn workload(&self) -> Result<(Workload, Tests), Error> {
        let preset = match &self.what {
            What::Preset(preset) => *preset,
            What::Job(_) => presets::JOB,
        };
        let mix = self.mixing.mix(preset)?;
        let own = self.command.find(self.cold && !self.drop_caches)?;
        if own.is_none() && preset.name == presets::COMMAND.name {
            return Err(CommandFault::from(NoCommand::Nothing).into());
        }
        if let Some(name) = own.as_ref().and_then(|_| self.preset_for_target()) {
            return Err(CommandFault::Preset(name.to_owned()).into());
        }
        self.check_device(preset)?;
        if let Some((words, command)) = own {
            return Ok((Workload::Command(words), Tests::Command(command)));
        }
        if let Some((mix, is_derived)) = mix {
            return Ok((Workload::Mix { mix, is_derived }, Tests::Mix(mix)));
        }
        match &self.what {
            What::Job(path) => {
                let text = job_files::open_own(path)?;
                let mut job = host::read(&text)?;
                if !self.targets.is_empty() {
                    job.targets.clear();
                }
                Ok((Workload::Job { name: text.name, text: text.text }, Tests::Job(Box::new(job))))
            }
            What::Preset(preset) if preset.is_of_devices() => {
                let overwrite = self.write.then(|| self.precondition.unwrap_or_default());
                Ok((Workload::Device { time: self.time, overwrite }, Tests::Device(self.time)))
            }
            What::Preset(preset) => Ok((Workload::Preset(preset), Tests::Preset(preset))),
        }
    }

    /// Refuses options of the preset `device` with any other preset.
    fn check_device(&self, preset: &Preset) -> Result<(), Error> {
        let given =
            [("--write", self.write), ("--time", self.time.is_some()), ("--precondition", self.precondition.is_some())];
        match given.iter().find(|(_, is_given)| *is_given && !preset.is_of_devices()) {
            Some((option, _)) => Err(ArgumentError::OnlyOfDevices { option, preset: preset.name }.into()),
            None => Ok(()),
        }
    }

    /// True if the first argument is a job file.
    #[cfg(test)]
    pub(super) fn names_job(&self) -> bool {
        matches!(self.what, What::Job(_))
    }

    /// The first target on the command line.
    pub(super) fn first_target(&self) -> Option<&TargetArgument> {
        self.targets.first()
    }

    /// The first target, if it is the name of a preset and no such path exists.
    fn preset_for_target(&self) -> Option<&'static str> {
        let first = &self.targets.first()?.typed;
        let name = presets::ALL.iter().map(|preset| preset.name).find(|name| name == first)?;
        (!Path::new(name).exists()).then_some(name)
    }
}
