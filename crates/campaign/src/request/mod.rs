//! The request of a run, as plain data: made once from the command line or a job file, and stored with the run.
//! `resume` loads it.
//!
//! ```text
//!   cli ──> RunRequest ──resolve──> Resolved ──planning──> Plan
//!              │    ▲
//!              └─store (resume)
//! ```

pub mod command;
pub mod command_fault;
pub mod consent;
pub mod host;
pub mod planning;
pub mod resolved;
pub mod schedule;

use jobs::{LoadSpec, LoadSweep, SEED};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};
use workload::{Cache, Mix};

use crate::choose::USUAL;
use crate::presets::{self, Preset, Sizing};
use crate::targets::AgingSpec;
use crate::targets::{Conditioning, TargetArgument};
use consent::Consent;
use schedule::Schedule;

/// The request of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// Its workload.
    pub workload: Workload,
    /// The only tests to run; all, if empty.
    pub only: Vec<String>,
    /// Its targets.
    pub targets: Vec<TargetArgument>,
    /// The rule for running tests on all targets at the same time, too.
    pub together: Together,
    /// Its rounds.
    pub schedule: Schedule,
    /// No round starts that would end after this time.
    pub budget: Option<Nanos>,
    /// The time for which every target is loaded before the first round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustained: Option<Nanos>,
    /// The size of large files.
    pub size: Option<Bytes>,
    /// The most bytes that the run writes to a target, if the user limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_write: Option<Bytes>,
    /// True if results need no floor, as in tests of diskperf.
    #[serde(default)]
    pub no_floor: bool,
    /// The state of the machine during the run.
    pub environment: Environment,
    /// True if the requests of the devices are recorded and stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// True if the devices rest before each execution, as they do before one that is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
    /// True if each of several hosts reads the files that the next one wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_others: bool,
    /// True if images and file systems on devices are kept.
    pub keep: bool,
    /// The user's consent to writing.
    pub consent: Consent,
}

/// The workload of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Workload {
    /// A preset with its own tests.
    Preset(#[serde(with = "by_name")] &'static Preset),
    /// The preset vaxmix with another mix.
    Mix {
        /// The mix.
        #[serde(with = "as_text")]
        mix: Mix,
        /// True if it was derived from a trace.
        is_derived: bool,
    },
    /// The preset device.
    Device {
        /// The time of each test in a round, if not the preset's.
        time: Option<Nanos>,
        /// The number of times that the whole device is overwritten before the first round, if the run writes to it.
        overwrite: Option<Conditioning>,
    },
    /// One workload, from options.
    Load(LoadSpec),
    /// One workload with several values of some options.
    Sweep(LoadSweep),
    /// The workloads of a job file.
    Job {
        /// The name of the file.
        name: String,
        /// The text of the file.
        text: String,
    },
    /// A command of the user.
    Command(OwnWords),
}

/// A command of the user, in words. Each word is the text of its bytes (`units::name`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnWords {
    /// The words of the command.
    pub words: Vec<String>,
    /// The value of --prepare, if given.
    pub prepare: Option<String>,
    /// The time limit of each of the two.
    pub timeout: Option<Nanos>,
    /// The programs that were found for both. Results of other programs do not belong to one run.
    pub found: Vec<String>,
}

/// The rule for running tests on all targets at the same time, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Together {
    /// Each target alone.
    Never,
    /// If the targets share a kernel or a simulated machine.
    IfShared,
    /// Always.
    Always,
}

/// The state of the machine during a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The limit of the page cache.
    pub memory: Option<Bytes>,
    /// The state of the page cache before every phase, if not the preset's.
    pub cache: Option<CacheWish>,
    /// True if the caches of the whole machine are dropped before a cold phase.
    pub drop_caches: bool,
    /// True if tests write zeros instead of incompressible bytes.
    pub zeros: bool,
    /// The seed of all random orders.
    pub seed: u64,
    /// The aging of file systems of ours before the first round.
    #[serde(rename = "wear")]
    pub aging: Option<AgingSpec>,
}

/// The state of the page cache that the user wants before every phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheWish {
    /// The files are not in the page cache.
    Cold,
    /// The files are in the page cache.
    Warm,
}

/// Returns these targets, or the current directory if there are none.
pub fn or_here(mut targets: Vec<TargetArgument>) -> Vec<TargetArgument> {
    if targets.is_empty() {
        targets.push(".".to_owned().into());
    }
    targets
}

impl RunRequest {
    /// The main job: `run quick .`
    pub fn main_job() -> RunRequest {
        RunRequest::new(Workload::Preset(presets::ALL[0]))
    }

    /// The request for this workload with the defaults of its preset, in the current directory.
    pub fn new(workload: Workload) -> RunRequest {
        let preset = workload.preset();
        RunRequest {
            only: Vec::new(),
            targets: or_here(Vec::new()),
            together: if preset.together { Together::IfShared } else { Together::Never },
            schedule: preset.schedule.clone(),
            budget: None,
            sustained: None,
            size: None,
            max_write: None,
            no_floor: false,
            environment: Environment {
                memory: preset.memory,
                cache: None,
                drop_caches: false,
                zeros: false,
                seed: SEED,
                aging: None,
            },
            record: false,
            rest: false,
            read_others: false,
            keep: false,
            consent: Consent::default(),
            workload,
        }
    }

    /// The sizing of its tests, as the preset says. A comparison has more time by default.
    pub fn sizing(&self) -> Sizing {
        match self.workload.preset().sizing {
            Sizing::FitTime { usual } if self.schedule.goal().is_some() => Sizing::FitTime { usual: usual.max(USUAL) },
            sizing => sizing,
        }
    }
}

impl Workload {
    /// The preset that defines how it is measured.
    pub fn preset(&self) -> &'static Preset {
        match self {
            Workload::Preset(preset) => preset,
            Workload::Mix { .. } => presets::VAXMIX,
            Workload::Device { .. } => presets::DEVICE,
            Workload::Load(_) | Workload::Sweep(_) => presets::LOAD,
            Workload::Job { .. } => presets::JOB,
            Workload::Command(_) => presets::COMMAND,
        }
    }

    /// True if it runs until Ctrl-C, and then its result counts.
    pub fn is_endless(&self) -> bool {
        matches!(self, Workload::Load(load) if load.is_endless())
    }

    /// The preconditioning of whole devices, if the workload overwrites them.
    pub fn overwrites(&self) -> Option<Conditioning> {
        match self {
            Workload::Device { overwrite, .. } => *overwrite,
            _ => None,
        }
    }
}

impl Environment {
    /// The state of the page cache before every phase, if it is not the preset's.
    pub fn cache(&self) -> Option<Cache> {
        self.cache.map(|wish| match wish {
            CacheWish::Cold => Cache::Cold,
            CacheWish::Warm => Cache::Warm,
        })
    }

    /// True if every phase starts with a cold page cache.
    pub fn is_cold(&self) -> bool {
        self.cache == Some(CacheWish::Cold)
    }
}

/// Stores a preset as its name.
mod by_name {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::{Serialize, Serializer};

    use crate::presets::{self, Preset};

    pub fn serialize<S: Serializer>(preset: &&'static Preset, serializer: S) -> Result<S::Ok, S::Error> {
        preset.name.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Preset, D::Error> {
        let name = String::deserialize(deserializer)?;
        let preset = presets::ALL.iter().copied().find(|preset| preset.name == name);
        preset.ok_or_else(|| D::Error::custom(format!("no preset {name}")))
    }
}

/// Stores a value as the text that can be typed.
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::Serializer;
    use serde::de::{Deserialize, Deserializer, Error};

    pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
