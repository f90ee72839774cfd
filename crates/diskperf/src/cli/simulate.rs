//! Arguments of `diskperf simulate`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use campaign::presets::{self, Preset};
use clap::Args;
use machines::Sweep;
use units::Bytes;

use super::values::{PresetParser, parse_bytes, parse_phases, parse_threads};
use crate::cli::mix::MixArguments;
use crate::documents::store_arguments::RunStoreArguments;
use crate::ui::output_format::{OutputArguments, RunFormat};

/// Arguments of `diskperf simulate`.
#[derive(Clone, Debug, Args)]
pub struct SimulateArguments {
    /// Name of a machine, or a file of yours as ./mine.toml; without it, diskperf lists the machines
    pub machine: Option<String>,
    /// Preset to run; that of 1983 uses files of 8 MiB
    #[arg(value_parser = PresetParser, default_value = presets::CLASSIC.name, hide_possible_values = true)]
    pub preset: &'static Preset,
    /// Set a field, as in drive.rpm=3600 or kernel.call=0.5ms; exchange a part, as in drive=ra81; or choose a file
    /// system, as in file_system=8k-1k. A number without a unit has the unit of the machine's file. Can be repeated.
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub settings: Vec<String>,
    /// Print a row for each value of a field: controller.buffer_sectors=1..256*2 doubles,
    /// file_system.rotational_delay=0..8+1ms adds, controller.queue=fifo,disksort is a list. If repeated, diskperf
    /// prints a row for each combination.
    #[arg(long = "sweep", value_name = "FIELD=VALUES")]
    pub sweeps: Vec<Sweep>,
    /// Number of drives used at once, with one test on each; as in 1,2 for both [default: that of the preset].
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..))]
    drives: Vec<u8>,
    /// Run only this test of the preset, as in read_8192; can be repeated.
    #[arg(long = "program", value_name = "NAME")]
    pub programs: Vec<String>,
    /// Simulate N rotational positions of the platters and print the mean.
    #[arg(long, value_name = "N", default_value = "10", allow_negative_numbers = true, value_parser = parse_phases)]
    pub phases: NonZeroU32,
    /// Size of large files, as in 4MiB [default: that of the preset].
    #[arg(long, allow_negative_numbers = true, value_parser = parse_bytes)]
    pub size: Option<Bytes>,
    /// Seed of every random time.
    #[arg(long, default_value = "1983")]
    pub seed: u64,
    /// Simulations to run in parallel [default: one per processor]. Does not change results.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_threads)]
    pub threads: Option<NonZeroUsize>,
    /// Write a timeline of the parts in the first run to FILE. A .json file is a trace for chrome://tracing or
    /// Perfetto; an .svg file is a picture of the longest wait for the platter. --program, --drives and --set
    /// file_system=NAME choose the first run.
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Print the parts of the machine: every number with its unit and its source.
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub parts: bool,
    #[command(flatten)]
    pub mixing: MixArguments,
    #[command(flatten)]
    pub store: RunStoreArguments,
    #[command(flatten)]
    pub output: OutputArguments<RunFormat>,
}

impl SimulateArguments {
    /// The numbers of drives, ascending: those of `--drives`. Default: one, and also two if the preset runs tests on
    /// all targets at once.
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
