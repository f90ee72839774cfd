//! `diskperf proof [DIRECTORY]`: what the owner of a disk sends to others, in one file. It has the preset quick, the
//! checks of `diskperf doctor`, and power cuts of an image.
//!
//! Policy:
//!   1. the checks come first, because the directory may be wrong;
//!   2. after Ctrl-C, there is no power-cut test, and the file has what is finished;
//!   3. a power-cut test that is not possible is no failure: the file has the reason;
//!   4. lost records are findings, not failures.

use std::ffi::OsString;
use std::path::PathBuf;

use campaign::presets;
use campaign::request::{RunRequest, Workload};
use campaign::targets::{Site, Target, TargetArgument};
use clap::Args;
use kernel::sys::name::Shown;
use stats::{PROOF_SCHEMA, Proof, Verification};
use units::{Exit, Nanos};

use crate::cli::values::{MOST_ROUNDS, parse_time};
use crate::commands::{doctor, run};
use crate::documents::redact::anonymous_proof;
use crate::documents::store_arguments::RunStoreArguments;
use crate::error::Error;
use crate::session::Call;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat, json};
use crate::verification::{self, image_power_cut};

/// The file systems of images that `diskperf verify` knows well.
const FILE_SYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// The seed of the power cuts, as of `diskperf verify`.
const SEED: u64 = 1;

#[derive(Clone, Debug, Args)]
pub struct ProofArguments {
    /// Directory on the disk.
    #[arg(default_value = ".", value_name = "DIRECTORY")]
    directory: PathBuf,
    /// Remove the name of the machine, its paths and serial numbers.
    #[arg(long)]
    anonymous: bool,
    /// Time for the tests of quick, as in 2min [default: 1min].
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = parse_time)]
    budget: Option<Nanos>,
    /// Number of power cuts.
    #[arg(long, default_value_t = 20, value_name = "COUNT", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ROUNDS)))]
    cuts: u32,
    /// Write the JSON to FILE; - means standard output.
    #[arg(short = 'o', long = "output", value_name = "FILE", default_value = "-")]
    file: PathBuf,
    #[command(flatten)]
    store: RunStoreArguments,
}

/// Runs the command.
pub fn run(arguments: &ProofArguments, words: &[OsString]) -> Result<Exit, Error> {
    output::check(Some(&arguments.file))?;
    // 1
    let checkup = doctor::checkup(&arguments.directory)?;
    let directory = arguments.directory.shown().to_string();
    let request = RunRequest {
        targets: vec![TargetArgument::from(directory.clone())],
        budget: arguments.budget,
        ..RunRequest::new(Workload::Preset(presets::ALL[0]))
    };
    let output = OutputArguments::<RunFormat>::default().output();
    let call = Call { words, store: &arguments.store, output, dry_run: false, live: false };
    let run = run::measured(&request.resolve()?, &call)?;
    let (is_interrupted, has_failed) = (run.run.interrupted, !run.errors.is_empty());
    let below = run.run.targets.first().and_then(|target| target.file_system.as_deref());
    let file_system = FILE_SYSTEMS.into_iter().find(|one| below == Some(one)).unwrap_or(FILE_SYSTEMS[0]);
    let image = TargetArgument::from(format!("image:{file_system},dir={directory}"));
    // 2
    let verification = (!is_interrupted).then(|| cut_power(&image, arguments.cuts));
    let proof = Proof { schema: PROOF_SCHEMA.to_owned(), anonymous: false, checkup, run, verification };
    let proof = if arguments.anonymous { anonymous_proof(&proof) } else { proof };
    output::deliver(&json(&proof), Some(&arguments.file))?;
    let was_cut_short = proof.verification.is_some_and(|found| found.interrupted);
    Ok(match (is_interrupted || was_cut_short, has_failed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

/// Cuts the power of an image. 3 and 4: the findings have the losses, and the error that ended the test.
fn cut_power(image: &TargetArgument, cuts: u32) -> Verification {
    let resolved = Target::resolve(image).map_err(Error::from);
    let (mut found, ended) = match &resolved {
        Ok(target) => match &target.site {
            Site::Image { image, .. } => image_power_cut::test(target, image, (SEED, cuts)),
            _ => unreachable!("the argument names an image"),
        },
        Err(_) => (verification::document(&image.typed, SEED), Ok(())),
    };
    verification::record_error(&mut found, &ended.and(resolved.map(drop)));
    found.errors.iter().for_each(|problem| output::remark(&format!("no power-cut test: {}", problem.message)));
    found
}
