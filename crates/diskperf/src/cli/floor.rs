//! `--floor` and `--max-write`: the data that results need, and the bytes that a run may write for them.

use campaign::presets::{Preset, Sizing};
use clap::Args;
use units::Bytes;

use super::values::parse_bytes;
use crate::error::{ArgumentError, Error};

/// The least value of `--max-write`: a round of one sequential test (`stats::judge::floor::ROUND_BYTES`).
const LEAST: Bytes = Bytes::mib(64);

/// An option for tests of diskperf.
#[derive(Clone, Debug, Default, Args)]
pub struct FloorArguments {
    /// Least data of a result. Only 0: results of any size count.
    #[arg(long, hide = true, value_parser = ["0"])]
    floor: Option<String>,
}

impl FloorArguments {
    /// True if results need no floor.
    pub fn is_off(&self) -> bool {
        self.floor.is_some()
    }
}

/// Reads the value of --max-write.
pub fn parse_max_write(text: &str) -> Result<Bytes, String> {
    match parse_bytes(text) {
        Ok(bytes) if bytes < LEAST => Err(format!("a test needs at least {LEAST}")),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// Refuses `--max-write` for a preset whose sizes are given.
pub fn check_max_write(max_write: Option<Bytes>, preset: &Preset) -> Result<(), Error> {
    match (max_write, preset.sizing) {
        (Some(_), Sizing::Fixed | Sizing::Thin) => Err(ArgumentError::GivenSizes(preset.name).into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use campaign::presets;

    use super::*;

    #[test]
    fn only_presets_of_chosen_sizes_have_a_limit_of_bytes() {
        assert_eq!(parse_max_write("1GiB"), Ok(Bytes(1 << 30)));
        assert!(parse_max_write("63MiB").is_err_and(|error| error.contains("64 MiB")));
        for preset in presets::ALL {
            assert_eq!(check_max_write(Some(LEAST), preset).is_ok(), preset.name == "quick", "{}", preset.name);
            assert!(check_max_write(None, preset).is_ok());
        }
    }
}
