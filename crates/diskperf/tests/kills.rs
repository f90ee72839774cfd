//! Runs that are killed after any number of executions: finished executions are stored once, `resume` finishes the
//! rest, and nothing is left behind. `cargo xtask prove` does it more often.

mod broken_off;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use broken_off::{Diskperf, Rounds, Tally};
use serde_json::json;
use store::Store;
use tempfile::TempDir;
use testkit::names_in;
use units::Prng;

/// The environment variable with the number of kills.
const KILLS: &str = "DISKPERF_KILLS";

/// The number of kills without the variable.
const USUAL: u64 = 8;

/// One kill in this many is of a run on a disk; the others are in memory, if possible.
const ON_DISK: u64 = 4;

/// Rounds of the preset `smoke`.
const ROUNDS: usize = 2;

/// A run of few programs, each with its own files: one file that is overwritten, small files, records that are
/// synced.
const RUN: [&str; 9] = ["run", "smoke", "--only", "write_8192", "--only", "smallfb", "--only", "commit", "--json"];

/// Its executions.
const EXECUTIONS: u64 = 3 * ROUNDS as u64;

/// A folder to measure, and a store next to it.
struct Scratch {
    folder: TempDir,
    data: TempDir,
    store: PathBuf,
}

impl Scratch {
    fn inside(parent: &Path) -> Scratch {
        let folder = || tempfile::tempdir_in(parent).expect("a scratch folder");
        let data = folder();
        Scratch { folder: folder(), store: data.path().join("store.sqlite"), data }
    }

    /// The number of stored executions of the run.
    fn stored(&self) -> usize {
        let left = Store::open_to_read(&self.store).and_then(|store| store.left(&store.find("last")?));
        left.map_or(0, |left| left.executions.len())
    }

    fn diskperf(&self) -> Diskperf<'_> {
        Diskperf { folder: self.folder.path(), store: &self.store }
    }
}

/// Kills a run once it has stored `executions`, or has ended. Then resumes it, and adds the outcome to the tally.
/// Returns the number of files and folders that the killed run left.
fn kill(parent: &Path, executions: usize, random: &mut Prng, tally: &mut Tally) -> u64 {
    let scratch = Scratch::inside(parent);
    let mut run = scratch.diskperf().command(&RUN);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("diskperf starts");
    let (mut stored, mut since, mut lasted) = (0, Instant::now(), Duration::ZERO);
    while child.try_wait().expect("whether it ended").is_none() && stored < executions {
        let now = scratch.stored();
        if now > stored {
            (stored, lasted, since) = (now, since.elapsed(), Instant::now());
        }
    }
    // At any moment of the next execution, if that takes as long as the last one.
    std::thread::sleep(lasted.mul_f64(random.below(1000) as f64 / 1000.0));
    child.kill().expect("it is killed, or has ended");
    child.wait().expect("its end");

    let expected: &[&str] = if scratch.store.exists() { &["store.sqlite"] } else { &[] };
    tally.add(&scratch.diskperf(), &Rounds::new(), ROUNDS);
    let data = names_in(scratch.data.path());
    let others = data.iter().filter(|name| !expected.contains(&name.as_str()));
    (names_in(scratch.folder.path()).len() + others.count()) as u64
}

#[test]
fn killed_runs_keep_finished_executions_and_are_resumed() {
    let kills: u64 = std::env::var(KILLS).map_or(USUAL, |kills| kills.parse().expect("a number"));
    let mut random = Prng::new(kills);
    let (mut tally, mut left_behind) = (Tally::default(), 0);
    let disk = std::env::temp_dir();
    // In memory, a sync takes hardly any time, so the kills hit more moments outside of syncs.
    let memory = Some(PathBuf::from("/dev/shm")).filter(|memory| tempfile::tempdir_in(memory).is_ok());
    for kill_number in 0..kills {
        let place = memory.as_ref().filter(|_| kill_number % ON_DISK != 0).unwrap_or(&disk);
        let executions = random.below(EXECUTIONS) as usize;
        left_behind += kill(place, executions, &mut random, &mut tally);
    }
    let Tally { not_begun, finished, resumed, stored, lost, doubled, unmeasured } = tally;
    println!(
        "{}",
        json!({
            "kills": kills, "not_begun": not_begun, "finished": finished, "resumed": resumed, "stored": stored,
            "lost": lost, "doubled": doubled, "unmeasured": unmeasured, "left_behind": left_behind,
        })
    );
    assert_eq!((lost, doubled, unmeasured, left_behind), (0, 0, 0, 0));
    assert_eq!(not_begun + finished + resumed, kills);
    assert!(resumed > 0 && stored > 0, "some were killed while they measured: {resumed} of {kills}");
}
