//! What options take: presets, sizes, times.

use std::ffi::OsStr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, TypedValueParser};
use units::{Bytes, Nanos};

use crate::presets::{self, Preset};

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Bytes that nothing can compress; the default.
    #[default]
    Random,
    /// Zeros, but for 16 bytes in 4096 that say where they belong.
    Zeros,
}

/// What a schema can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentKind {
    /// What `diskperf run --json` prints.
    Run,
    /// What `diskperf doctor --json` prints.
    Doctor,
    /// What `diskperf paper --json` prints.
    Paper,
    /// What `diskperf verify --json` prints.
    Verify,
    /// What `diskperf compare --json` prints.
    Compare,
    /// What `diskperf history --json` prints.
    History,
    /// A job file, which `diskperf run` takes.
    Job,
}

/// What `diskperf run` runs.
#[derive(Clone, Debug)]
pub enum What {
    /// A preset.
    Preset(&'static Preset),
    /// The loads of a job file.
    Job(PathBuf),
}

/// Takes a preset by its name, or a job file by its path: what ends in .toml or has a slash in it.
#[derive(Clone)]
pub struct WhatParser;

impl TypedValueParser for WhatParser {
    type Value = What;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let bytes = value.as_encoded_bytes();
        if bytes.ends_with(b".toml") || bytes.contains(&b'/') {
            return Ok(What::Job(value.into()));
        }
        // It stands there where a command line without a preset has a command.
        if value == presets::COMMAND.name {
            return Ok(What::Preset(presets::COMMAND));
        }
        PresetParser.parse_ref(command, argument, value).map(What::Preset)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        PresetParser.possible_values()
    }
}

/// Takes a preset by its name.
#[derive(Clone)]
pub struct PresetParser;

impl TypedValueParser for PresetParser {
    type Value = &'static Preset;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let names = clap::builder::PossibleValuesParser::new(presets::ALL.map(|preset| preset.name));
        let name = names.parse_ref(command, argument, value)?;
        Ok(presets::ALL.into_iter().find(|preset| preset.name == name).expect("one of the possible values"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(presets::ALL.into_iter().map(|preset| PossibleValue::new(preset.name).help(preset.about))))
    }
}

/// A run is ended by the kernel in a memory of 4 MiB, and was well in one of 16 (tried with `smoke`).
const LEAST_MEMORY: Bytes = Bytes::mib(16);

/// How much memory a run may have.
pub fn parse_memory(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(memory) if memory < LEAST_MEMORY => Err(format!("diskperf itself needs at least {LEAST_MEMORY}")),
        Ok(memory) => Ok(memory),
        Err(error) => Err(error.to_string()),
    }
}

/// The most rounds. Ours: a round of the shortest program takes a few hundredths of a second with all that is looked at around
/// it, so that these take most of a day; the figures of every round are kept until the end.
pub const MOST_ROUNDS: u32 = 1_000_000;

/// The most runs of which a simulated figure is the mean. A platter that stands in ten thousand ways moves by less than two
/// microseconds of a revolution (3,600 a minute) from one to the next, and no part of `machines/` is known as exactly.
const MOST_PHASES: u32 = 10_000;

/// How many runs a simulated figure is the mean of. Their results are kept until the last has ended.
pub fn parse_phases(text: &str) -> Result<NonZeroU32, String> {
    whole(text, MOST_PHASES)
}

/// The most threads of simulations. Ours: a few times as many as there are processors in a machine of today. Each takes
/// address space for its stack.
const MOST_THREADS: u32 = 1024;

/// How many simulations run in parallel.
pub fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    Ok(whole(text, MOST_THREADS)?.try_into().expect("as few as that"))
}

/// A whole number from 1.
fn whole(text: &str, most: u32) -> Result<NonZeroU32, String> {
    let number = text.parse().ok().filter(|number: &NonZeroU32| number.get() <= most);
    number.ok_or_else(|| format!("not a whole number from 1 to {most}"))
}

/// A size, as an option takes it.
pub fn parse_bytes(text: &str) -> Result<Bytes, units::ParseBytesError> {
    text.parse()
}

/// A time, as an option takes it.
pub fn parse_time(text: &str) -> Result<Nanos, units::ParseNanosError> {
    text.parse()
}

/// How long a program of `device` may run in a round: a tenth of a second tells a rate, and a day is a typing error.
const ROUND_TIMES: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(24 * 60 * 60));

/// How long a program runs in a round.
pub fn parse_round_time(text: &str) -> Result<Nanos, String> {
    let (least, most) = ROUND_TIMES;
    match text.parse::<Nanos>() {
        Ok(time) if time < least || time > most => Err(format!("a program runs from {least} to {most} in a round")),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}
