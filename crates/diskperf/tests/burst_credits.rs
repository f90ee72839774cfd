//! Disks with burst credits: fast until a credit is used up, and then slow. A token bucket imitates them.

#[allow(dead_code, reason = "shared with other tests")]
#[path = "made/ground.rs"]
mod ground;

use std::path::{Path, PathBuf};

use ground::Ground;
use serde_json::Value;
use testkit::fuse::Knobs;
use testkit::skip;
use testkit::token_bucket::{Limit, Throttle};

const MB: u64 = 1_000_000;

/// A disk of this rate, in MB/s, after a burst of these MB at full speed. The burst never comes back: otherwise a pause
/// of diskperf on a busy machine would make a later round fast.
fn disk(burst: u64, sustained: u64) -> Result<Ground, String> {
    let throttle = Throttle::new(Some(Limit::new(burst * MB, sustained * MB).once()), None);
    Ground::new(Knobs { throttle: Some(throttle), ..Knobs::default() })
}

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

fn document(folder: &Path, line: &str) -> Value {
    let ended = testkit::run(&program(), folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    serde_json::from_str(&ended.out).expect("one document")
}

fn cells(document: &Value) -> Vec<stats::Cell> {
    serde_json::from_value(document["cells"].clone()).expect("cells")
}

/// Number of disks that are tried until diskperf notices the step. On a busy machine the fast rounds may differ
/// tenfold, and then the step is not certain.
const ATTEMPTS: usize = 6;

/// The result of a disk that is fast for the first rounds, and then far slower; `None` if there is no such disk.
fn stepped() -> Option<stats::Cell> {
    for _ in 0..ATTEMPTS {
        let disk = match disk(10, 1) {
            Ok(disk) => disk,
            Err(reason) => {
                skip!("{reason}");
                return None;
            }
        };
        let document = document(disk.point(), "io write . --size 2MiB --rounds 13 --json --no-store");
        let cell = cells(&document).swap_remove(0);
        if !cell.regimes.is_empty() {
            return Some(cell);
        }
        println!("no step was found in {:?}", cell.rounds);
    }
    panic!("no step was found on {ATTEMPTS} disks")
}

#[test]
fn a_rate_is_that_of_the_last_regime_and_the_warning_names_both() {
    let Some(cell) = stepped() else { return };
    // On a busy machine, the fast rounds may have two levels.
    let [fast @ .., last] = &cell.regimes[..] else { panic!("regimes: {cell:#?}") };
    let [first, ..] = fast else { panic!("two regimes: {cell:#?}") };
    // The journal, and a part of the next round, also used some of the credit of 10 MB.
    let of_fast: u64 = fast.iter().map(|regime| regime.bytes).sum();
    assert!(of_fast >= 6 * MB && first.per_second > 3.0 * last.per_second, "{fast:?} {last:?}");
    assert_eq!(of_fast + last.bytes, 13 * (2 << 20));
    assert!(cell.is_of_one_regime() && cell.kept().count() < 13, "{cell:#?}");
    let rate = cell.rate.as_ref().expect("a rate").per_second;
    assert!(3.0 * rate < first.per_second, "{rate} {first:?}");
    let step = cell.marks.iter().find(|mark| mark.code == stats::MarkCode::Step).expect("the warning");
    assert!(step.text.contains("/s for the first ") && step.text.contains("left out"), "{}", step.text);
}

/// The first disk is far faster until its credit is used up, and then has a tenth of the other's rate.
#[test]
fn a_burst_does_not_win_a_choice() {
    let disks = match disk(3, 1).and_then(|first| Ok([first, disk(0, 10)?])) {
        Ok(disks) => disks,
        Err(reason) => return skip!("{reason}"),
    };
    let [a, b] = [&disks[0], &disks[1]].map(|disk| disk.point().display());
    let line =
        format!("choose a={a} b={b} --only write_8192 --size 2MiB --floor 0 --rounds 8 --budget 1h --json --no-store");
    let document = document(disks[0].point(), &line);
    let pair = &document["run"]["choice"]["comparisons"][0];
    let cells = cells(&document);
    let rounds = |target: &str| {
        let cell = cells.iter().find(|cell| cell.target == target).expect("a result");
        cell.rounds.iter().map(|round| round.durable_s.expect("a time")).collect::<Vec<f64>>()
    };
    let slowest = rounds("b").into_iter().fold(0.0, f64::max);
    let slow = rounds("a").into_iter().filter(|seconds| *seconds > slowest).count();
    assert!(slow < 3 || pair["faster"] != "a", "{slow} slow rounds: {pair:#}");
    let has_step = cells.iter().any(|cell| !cell.regimes.is_empty());
    assert!(!has_step || pair["more_rounds"].is_null(), "no forecast across a step: {pair:#}");
}

#[test]
fn a_sustained_load_is_no_round_and_is_in_the_document() {
    let disk = match disk(8, 2) {
        Ok(disk) => disk,
        Err(reason) => return skip!("{reason}"),
    };
    let line = "io write . --size 4MiB --rounds 2 --sustained 2s --json --no-store";
    let document = document(disk.point(), line);
    let loaded = &document["run"]["targets"][0]["loaded"];
    assert_eq!(loaded["program"], "write", "{loaded}");
    // The load consists of whole executions, until its time is over.
    let bytes = loaded["bytes"].as_u64().expect("bytes");
    assert!(bytes > 0 && bytes.is_multiple_of(4 << 20) && loaded["seconds"].as_f64() > Some(0.0), "{loaded}");
    let cell = &cells(&document)[0];
    assert_eq!((cell.rounds.len(), cell.kept().map(|round| round.bytes).sum()), (2, 8_u64 << 20));
}
