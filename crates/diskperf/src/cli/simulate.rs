//! What `diskperf simulate` takes.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use units::Bytes;

use super::values::{PresetParser, parse_bytes, parse_phases, parse_threads};
use crate::commands::mix::MixArguments;
use crate::layout::{OutputArguments, RunFormat};
use crate::machines::Sweep;
use crate::presets::{self, Preset};
use crate::runs::KeepArguments;

/// What `diskperf simulate` takes.
#[derive(Clone, Debug, Args)]
pub struct SimulateArguments {
    /// Which: a name, or a file of yours as ./mine.toml; without it, lists them.
    pub machine: Option<String>,
    /// What to run: the programs of 1983 on files of 8 MiB, if nothing is said.
    #[arg(value_parser = PresetParser, default_value = presets::CLASSIC.name, hide_possible_values = true)]
    pub preset: &'static Preset,
    /// Set a field, as in drive.rpm=3600 or kernel.call=0.5ms; a number without a unit has that of the file. Swap a
    /// part, as in drive=ra81. Choose from the file systems: file_system=8k-1k.
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub settings: Vec<String>,
    /// A row for each value of a field: controller.buffer_sectors=1..256*2 doubles,
    /// file_system.rotational_delay=0..8+1ms goes in steps, controller.queue=fifo,disksort is a list. Given more
    /// than once, a row for each combination.
    #[arg(long = "sweep", value_name = "FIELD=VALUES")]
    pub sweeps: Vec<Sweep>,
    /// On how many drives at once, as in 1,2: one program on each. What the preset does, if nothing is said.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..))]
    drives: Vec<u8>,
    /// Only this program of the preset; can be given more than once.
    #[arg(long = "program", value_name = "NAME")]
    pub programs: Vec<String>,
    /// Simulate N rotational positions of the platters and print the mean.
    #[arg(long, value_name = "N", default_value = "10", allow_negative_numbers = true, value_parser = parse_phases)]
    pub phases: NonZeroU32,
    /// The size of large files, as in 4MiB.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    pub size: Option<Bytes>,
    /// The seed of everything that jitters.
    #[arg(long, default_value = "1983")]
    pub seed: u64,
    /// Simulations to run in parallel [default: one per processor]. Does not change results.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_threads)]
    pub threads: Option<NonZeroUsize>,
    /// Draw what every part did in the first run into FILE: a trace for chrome://tracing or Perfetto where its name
    /// ends in .json, in .svg a picture of the place where a platter turned longest for nothing. --program, --drives
    /// and --set file_system=NAME say which run is the first.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Print what the machine is made of: every number with its unit and its source.
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub parts: bool,
    #[command(flatten)]
    pub mixing: MixArguments,
    #[command(flatten)]
    pub store: KeepArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

impl SimulateArguments {
    /// On how many drives at once: as asked, or one, and two where the preset's programs run on all at once.
    pub fn drives(&self) -> Vec<usize> {
        match (self.drives.as_slice(), self.preset.together) {
            ([], true) => vec![1, 2],
            ([], false) => vec![1],
            (drives, _) => {
                let mut drives: Vec<usize> = drives.iter().map(|&drives| usize::from(drives)).collect();
                drives.sort_unstable();
                drives.dedup();
                drives
            }
        }
    }
}
