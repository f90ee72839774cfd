//! `diskperf proof [DIRECTORY]`: writes one file that the owner of a disk can send to others. It contains a run of the
//! preset quick, the checks of `diskperf doctor`, and power cuts of an image.
//!
//! Policy:
//!   1. the checks come first, because the directory may be wrong;
//!   2. if the run ends early, there is no power-cut test, and the file has what is finished;
//!   3. a power-cut test that is not possible is not a failure: the file contains the reason;
//!   4. lost records are findings: the exit status is that of the run, or that of Ctrl-C.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use campaign::request::RunRequest;
use campaign::targets::{Site, Target, TargetArgument, TargetKind};
use clap::Args;
use kernel::sys::name::Shown;
use stats::{PROOF_SCHEMA, Problem, Proof, Verification};
use units::{Exit, Nanos};

use crate::cli::values::{MOST_ROUNDS, parse_time};
use crate::commands::{doctor, run};
use crate::documents::redact::anonymous_proof;
use crate::documents::store_arguments::RunStoreArguments;
use crate::error::Error;
use crate::session::Call;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, RunFormat, json};
use crate::verification::{self, POWER_CUTS, SEED, image_power_cut};

/// The file systems of images that `diskperf verify` knows well.
const FILE_SYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

#[derive(Clone, Debug, Args)]
pub struct ProofArguments {
    /// Directory on the disk.
    #[arg(default_value = ".", value_name = "DIRECTORY")]
    directory: PathBuf,
    /// Remove the name of the machine, its paths and serial numbers.
    #[arg(long)]
    anonymous: bool,
    /// Time for the tests of quick, as in 2min [default: 1min].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    budget: Option<Nanos>,
    /// Number of power cuts.
    #[arg(long, default_value_t = POWER_CUTS, value_name = "COUNT", allow_negative_numbers = true,
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
    let directory = plain_path(&arguments.directory);
    let request =
        RunRequest { targets: vec![directory.clone().into()], budget: arguments.budget, ..RunRequest::main_job() };
    let output = OutputArguments::<RunFormat>::default().output();
    let call = Call { words, store: &arguments.store, output, dry_run: false, live: false };
    let (run, ended) = run::measured(&request.resolve()?, &call);
    if run.cells.is_empty() {
        // Nothing was measured, so there is no file to send, only the error.
        ended?;
        return Ok(Exit::Interrupted);
    }
    let (is_interrupted, has_failed) = (run.run.interrupted, !run.errors.is_empty());
    let below = run.run.targets.first().and_then(|target| target.file_system.as_deref());
    let file_system = FILE_SYSTEMS.into_iter().find(|one| below == Some(one)).unwrap_or(FILE_SYSTEMS[0]);
    let image = TargetArgument::from(format!("image:{file_system},dir={directory}"));
    // 2
    let verification = (!is_interrupted && ended.is_ok()).then(|| cut_power(&image, &directory, arguments.cuts));
    let proof = Proof { schema: PROOF_SCHEMA.to_owned(), anonymous: false, checkup, run, verification };
    let proof = if arguments.anonymous { anonymous_proof(&proof) } else { proof };
    output::deliver(&json(&proof), Some(&arguments.file))?;
    ended?;
    let was_cut_short = proof.verification.is_some_and(|found| found.interrupted);
    Ok(match (is_interrupted || was_cut_short, has_failed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

/// The directory as a target that cannot be read as anything else: `./a=b` for `a=b`.
fn plain_path(directory: &Path) -> String {
    let shown = directory.shown().into_owned();
    match TargetArgument::from(shown.clone()).kind {
        TargetKind::Directory(path) if path == directory => shown,
        _ => format!("./{shown}"),
    }
}

/// Cuts the power of an image. 3 and 4: the findings have the losses, and the error that ended the test.
fn cut_power(image: &TargetArgument, directory: &str, cuts: u32) -> Verification {
    let mut found = verification::document(&image.typed, SEED);
    if directory.contains(',') {
        found.errors.push(Problem {
            target: Some(image.typed.clone()),
            program: None,
            phase: None,
            message: format!("an image cannot be in {directory}, because a comma ends the path"),
            hint: Some("name the directory through a symbolic link without a comma".to_owned()),
        });
    } else {
        let ended = match Target::resolve(image) {
            Ok(target) => {
                let Site::Image { image, .. } = &target.site else { unreachable!("the argument names an image") };
                let ended;
                (found, ended) = image_power_cut::test(&target, image, (SEED, cuts));
                ended
            }
            Err(error) => Err(error.into()),
        };
        verification::record_error(&mut found, &ended);
    }
    let what = if found.cuts.is_empty() { "no power-cut test" } else { "the power-cut test ended early" };
    found.errors.iter().for_each(|problem| output::remark(&format!("{what}: {}", problem.message)));
    if found.control.as_ref().is_some_and(|control| control.lost() == 0) {
        output::remark("the power-cut test is inconclusive: without flushes, no record was lost either");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_with_the_names_of_other_targets_stay_directories() {
        let of = |path: &str| plain_path(Path::new(path));
        assert_eq!([of("."), of("/mnt/a"), of("data")], [".", "/mnt/a", "data"]);
        assert_eq!([of("a=b"), of("sim:flat"), of("file:x")], ["./a=b", "./sim:flat", "./file:x"]);
    }
}
