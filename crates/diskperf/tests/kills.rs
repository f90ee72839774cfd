//! A run that is killed at any moment: what was finished is stored once, `resume` finishes the rest, and nothing is
//! left behind. `cargo xtask prove` does it more often.

mod broken_off;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use broken_off::{Diskperf, Rounds, Tally};
use serde_json::json;
use tempfile::TempDir;
use testkit::names_in;
use units::Prng;

/// The environment variable that says how often.
const KILLS: &str = "DISKPERF_KILLS";

/// How often, if nobody says.
const USUAL: u64 = 8;

/// Rounds of the preset `smoke`.
const ROUNDS: usize = 2;

/// A folder to measure, and a store beside it.
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

    fn diskperf(&self) -> Diskperf<'_> {
        Diskperf { folder: self.folder.path(), store: &self.store }
    }
}

/// Kills a run after a while, goes on with it, and adds up what became of it; gives back how many files and folders
/// nobody removed.
fn kill(parent: &Path, after: Duration, tally: &mut Tally) -> u64 {
    let scratch = Scratch::inside(parent);
    let mut run = scratch.diskperf().command(&["run", "smoke", "--json"]);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("diskperf starts");
    std::thread::sleep(after);
    child.kill().expect("it is killed, or has ended");
    child.wait().expect("its end");

    let expected: &[&str] = if scratch.store.exists() { &["store.sqlite"] } else { &[] };
    tally.add(&scratch.diskperf(), &Rounds::new(), ROUNDS);
    let data = names_in(scratch.data.path());
    let others = data.iter().filter(|name| !expected.contains(&name.as_str()));
    (names_in(scratch.folder.path()).len() + others.count()) as u64
}

#[test]
fn what_was_finished_when_it_was_killed_is_there_once_and_the_rest_is_gone_on_with() {
    let kills: u64 = std::env::var(KILLS).map_or(USUAL, |kills| kills.parse().expect("a number"));
    let mut random = Prng::new(kills);
    let (mut tally, mut left_behind) = (Tally::default(), 0);
    let mut places = vec![std::env::temp_dir()];
    // In memory everything is quicker, so that others of its moments are hit.
    places.extend(Some(PathBuf::from("/dev/shm")).filter(|memory| tempfile::tempdir_in(memory).is_ok()));
    for (index, place) in places.iter().enumerate() {
        let began = Instant::now();
        Scratch::inside(place).diskperf().json(&["run", "smoke", "--json"]);
        let whole = began.elapsed().as_millis() as u64;
        for _ in (index as u64..kills).step_by(places.len()) {
            left_behind += kill(place, Duration::from_millis(random.below(whole)), &mut tally);
        }
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
