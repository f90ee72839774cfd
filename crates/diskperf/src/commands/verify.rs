//! `diskperf verify TARGET`: looks for acknowledged records after a power cut.
//!
//! On an image, `powercut::cuts` cuts the power. In a directory, you cut it yourself: `--write` prints a line for each
//! acknowledged record, to a place that survives the power cut. Afterwards, `--check` compares the records with these
//! lines.

use std::path::PathBuf;

use campaign::targets::{Site, Target, TargetArgument};
use clap::Args;
use units::Exit;

use crate::cli::values::MOST_ROUNDS;
use crate::error::{Error, VerifyError};
use crate::ui::consent::{self, YesArguments};
use crate::ui::output_format::OutputArguments;
use crate::verification::{POWER_CUTS, SEED, image_power_cut, manual_power_cut};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  sudo diskperf verify image:ext4                   20 power cuts
  sudo diskperf verify image:ext4,mount=barrier=0   without barriers
  sudo diskperf verify 'image:xfs,tune=write_cache:write through'
A real disk, with its controller and hypervisor:
  ssh HOST diskperf verify /mnt/disk --write > log  until you cut its power
  ssh HOST diskperf verify /mnt/disk --check - < log")]
pub struct VerifyArguments {
    /// image:FSTYPE with the keys of `diskperf run`, a file system whose power diskperf cuts (needs root); or a
    /// directory, for --write and --check
    #[arg(value_name = "TARGET")]
    target: TargetArgument,
    /// Number of power cuts.
    #[arg(long, default_value_t = POWER_CUTS, value_name = "COUNT", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROUNDS)))]
    rounds: u32,
    /// Seed of the moments and of the data [default: 1; with --write a new one each time].
    #[arg(long)]
    seed: Option<u64>,
    /// Write records in a directory until you cut the power, and print each record that is durable. Save the output on
    /// another machine. Ctrl-C ends it, withdraws the records, and removes them.
    #[arg(long, conflicts_with_all = ["check", "rounds", "format", "json", "file"])]
    write: bool,
    /// Look in a directory for every record in FILE, the output of --write, after the power is back; - means standard
    /// input. diskperf removes the records, if none is lost.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rounds", "seed"])]
    check: Option<PathBuf>,
    /// Count all records as lost if the folder of --write is missing. Without this option that is an error, as the disk
    /// may not be mounted.
    #[arg(long, requires = "check")]
    lost_folder: bool,
    #[command(flatten)]
    place: YesArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Runs the command. With `--format json` one document is printed, also after an error in mid-test.
pub fn run(arguments: &VerifyArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let target = match arguments.check {
        // The kernel may have mounted the file system read-only after the power cut.
        Some(_) => Target::resolve_to_read(&arguments.target)?,
        None => Target::resolve(&arguments.target)?,
    };
    match (&target.site, arguments.write, &arguments.check) {
        (Site::Image { image, host }, false, None) => {
            consent::ask_place(arguments.place.yes, image.directory(), host)?;
            let (seed, rounds) = (arguments.seed.unwrap_or(SEED), arguments.rounds);
            image_power_cut::run(&target, image, (seed, rounds), &arguments.output)
        }
        (Site::Directory { path, place }, true, None) => {
            manual_power_cut::write(path, place, arguments.seed, arguments.place.yes)
        }
        (Site::Directory { path, .. }, false, Some(log)) => {
            manual_power_cut::check(&target, path, (log, arguments.lost_folder), &arguments.output)
        }
        (Site::Directory { path, .. }, ..) => Err(VerifyError::TwoSteps(path.clone()).into()),
        _ => Err(VerifyError::NotVerified(target.typed.clone()).into()),
    }
}
