//! Values of options: presets, sizes, times.

use std::ffi::OsStr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, TypedValueParser};
pub use jobs::MOST_ROUNDS;
use units::{Bytes, Nanos};

use campaign::presets::{self, Preset};

/// The data that tests write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// Incompressible bytes
    #[default]
    Random,
    /// Zeros, except for 16 bytes in 4096 that identify their place
    Zeros,
}

/// The kinds of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentKind {
    /// JSON of `diskperf run --json`
    Run,
    /// JSON of `diskperf doctor --json`
    Doctor,
    /// JSON of `diskperf paper --json`
    Paper,
    /// JSON of `diskperf verify --json`
    Verify,
    /// JSON of `diskperf compare --json`
    Compare,
    /// JSON of `diskperf history --json`
    History,
    /// JSON of `diskperf probe --json`
    Probe,
    /// JSON of `diskperf predict --json`
    Predict,
    /// Job file of `diskperf run`
    Job,
}

/// The first argument of `diskperf run`: a preset or a job file.
#[derive(Clone, Debug)]
pub enum What {
    Preset(&'static Preset),
    /// The path of a job file.
    Job(PathBuf),
}

/// Reads the name of a preset, or the path of a job file, which ends in .toml or has a slash in it.
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
        // `parse` puts this name into a command line that has a command instead of a preset.
        if value == presets::COMMAND.name {
            return Ok(What::Preset(presets::COMMAND));
        }
        PresetParser.parse_ref(command, argument, value).map(What::Preset)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        PresetParser.possible_values()
    }
}

/// Reads the name of a preset.
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
        let names = clap::builder::PossibleValuesParser::new(presets::ALL.iter().map(|preset| preset.name));
        let name = names.parse_ref(command, argument, value)?;
        Ok(presets::ALL.iter().copied().find(|preset| preset.name == name).expect("one of the possible values"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(presets::ALL.iter().map(|preset| PossibleValue::new(preset.name).help(preset.about))))
    }
}

/// The least value of `--cache`. The kernel kills a run in 4 MiB; 16 MiB was enough (tried with `smoke`).
const LEAST_MEMORY: Bytes = Bytes::mib(16);

/// Reads the value of --cache.
pub fn parse_memory(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(memory) if memory < LEAST_MEMORY => Err(format!("diskperf itself needs at least {LEAST_MEMORY}")),
        Ok(memory) => Ok(memory),
        Err(error) => Err(error.to_string()),
    }
}

/// Limit of `--phases`. Ten thousand rotational positions are less than two microseconds apart at 3600 turns a minute,
/// and no part of `machines/` is known as exactly.
const MOST_PHASES: u32 = 10_000;

/// Reads the value of --phases. The results of all positions stay in memory until the last has ended.
pub fn parse_phases(text: &str) -> Result<NonZeroU32, String> {
    whole(text, MOST_PHASES)
}

/// Limit of `--threads`. Chosen: a few times the processors of a machine of today. Each thread needs address space for
/// its stack.
const MOST_THREADS: u32 = 1024;

/// Reads the value of --threads.
pub fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    Ok(whole(text, MOST_THREADS)?.try_into().expect("as few as that"))
}

/// Reads a whole number from 1 to `most`.
fn whole(text: &str, most: u32) -> Result<NonZeroU32, String> {
    let number = text.parse().ok().filter(|number: &NonZeroU32| number.get() <= most);
    number.ok_or_else(|| format!("not a whole number from 1 to {most}"))
}

pub fn parse_bytes(text: &str) -> Result<Bytes, units::ParseBytesError> {
    text.parse()
}

pub fn parse_time(text: &str) -> Result<Nanos, units::ParseNanosError> {
    text.parse()
}

/// Limits of `--time`, the time of a test of `device` in a round: a tenth of a second is enough for a rate, and more
/// than a day is a typing error.
const ROUND_TIMES: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(24 * 60 * 60));

/// Reads the value of --time.
pub fn parse_round_time(text: &str) -> Result<Nanos, String> {
    let (least, most) = ROUND_TIMES;
    match text.parse::<Nanos>() {
        Ok(time) if time < least || time > most => Err(format!("a test runs from {least} to {most} in a round")),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a percentage of 0.1 % to 50 %, and returns it as a fraction.
pub fn parse_margin(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim_end().parse::<f64>();
    match percent {
        Ok(percent) if (0.1..=50.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a margin is 0.1% to 50%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_percentage() {
        assert_eq!(parse_margin("5%"), Ok(0.05));
        assert_eq!(parse_margin("2.5 %"), Ok(0.025));
        assert_eq!(parse_margin("10"), Ok(0.1));
        for refused in ["0", "-1%", "51%", "x", "", "NaN"] {
            assert!(parse_margin(refused).is_err(), "{refused}");
        }
    }
}
