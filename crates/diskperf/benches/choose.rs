//! `diskperf choose` on pairs with a known answer, and once on a pair without one. Prints a line of JSON for each
//! question: `cargo bench --bench choose -- limits|tasks|equal|file-systems`; all four, if none is named.
//!
//!   - *limits*: two disks limited to some MiB/s, by control groups;
//!   - *tasks*: twenty pairs of disks of our own from a seed, with equal pairs among them; the user of the command does
//!     not know which;
//!   - *equal*: two equal images, forty times;
//!   - *file-systems*: the question of a user who has five minutes.

#[allow(dead_code, reason = "what other tests share")]
#[path = "../tests/made/ground.rs"]
mod ground;
#[path = "../tests/throttle/mod.rs"]
mod throttle;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ground::Ground;
use serde_json::{Value, json};
use testkit::fuse::{Knobs, Queue};
use throttle::{Limits, SLOW, SlowDisks};
use units::{Bytes, Prng};

/// The limits of each pair, in MiB/s.
const PAIRS: [(u64, u64); 2] = [(20, 24), (20, 20)];

/// Number of made-up pairs of disks.
const TASKS: u64 = 20;

/// The variable with the first seed, for twenty other pairs.
const FIRST_TASK: &str = "DISKPERF_FIRST_TASK";

/// Number of comparisons of equal images.
const EQUAL: u64 = 40;

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    let words: Vec<String> = std::env::args().collect();
    if words.iter().all(|word| word != "--bench") {
        return;
    }
    if let Some(reason) = SlowDisks::impossible() {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    let modes: [(&str, fn()); 4] =
        [("limits", limits), ("tasks", tasks), ("equal", equal), ("file-systems", file_systems)];
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let all = !modes.iter().any(|(name, _)| is_named(name));
    modes.iter().filter(|(name, _)| all || is_named(name)).for_each(|(_, mode)| mode());
}

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

fn comparisons(document: &Value) -> &Vec<Value> {
    document["run"]["choice"]["comparisons"].as_array().expect("comparisons")
}

/// Compares two disks that are limited to this many MiB per second.
fn between(first: u64, second: u64) -> (Value, Value) {
    // Bytes are the scarce resource, not operations.
    let limits = [first, second].map(|bytes| Limits { bytes: bytes << 20, operations: 20 * SLOW.operations });
    let disks = SlowDisks::new(Bytes::mib(512), &limits);
    let named = |(path, name): (&Path, &str)| format!("{name}={}", path.display());
    let targets: Vec<String> = disks.paths().into_iter().zip(["a", "b"]).map(named).collect();
    // In its first second, a limited device makes up for earlier idle time, so use files of several seconds. Reads are
    // charged to the reader; background writes are charged to no process, and are not limited.
    let words = ["--only", "read_8192", "--size", "64MiB", "--budget", "10min", "--json", "--seed", "1"];
    let words: Vec<&str> = ["choose"].into_iter().chain(targets.iter().map(String::as_str)).chain(words).collect();
    let document = disks.document(Path::new(env!("CARGO_BIN_EXE_diskperf")), &words);
    (comparisons(&document)[0].clone(), document)
}

fn limits() {
    for (first, second) in PAIRS {
        let (pair, document) = between(first, second);
        let figure = |name: &str| pair[name].clone();
        println!(
            "{}",
            json!({
                "choose": [first, second],
                "program": figure("program"),
                "verdict": figure("verdict"),
                "faster": figure("faster"),
                "ratio": figure("ratio"),
                "low": figure("low"),
                "high": figure("high"),
                "rounds": figure("pairs"),
                "not_decided": document["run"]["choice"]["decided"] == Value::Bool(false),
            })
        );
    }
}

/// A disk that answers one request after the other. A request takes a random time between half and one and a half times
/// that of 128 KiB at `mib` MiB/s. The disk reads ahead, so that the work of the program between two requests does not
/// add to it. The limit of a control group is less exact: it works in slices of 100 ms, so a file that takes seconds
/// gets up to some percent more.
fn disk(mib: u64, chance: Prng) -> Ground {
    let service = Duration::from_nanos(1_000_000_000 / 8 / mib);
    let knobs = Knobs { service, varying: Some(chance), queue: Queue::ReadsAhead, ..Knobs::default() };
    Ground::new(knobs).unwrap_or_else(|reason| panic!("no disk: {reason}"))
}

/// A quarter of the pairs are equal; others differ by a tenth or more, either way.
fn tasks() {
    let (mut right, mut both) = (0, 0);
    let from: u64 = std::env::var(FIRST_TASK).map_or(1, |first| first.parse().expect("a number"));
    for seed in from..from + TASKS {
        let mut chance = Prng::new(seed);
        let first = 20 + chance.below(11);
        let more = first * (110 + chance.below(41)) / 100;
        let (first, second) = match chance.below(4) {
            0 => (first, first),
            1 => (more, first),
            _ => (first, more),
        };
        let disks = [first, second].map(|mib| disk(mib, Prng::new(chance.next_u64())));
        let [a, b] =
            [("a", &disks[0]), ("b", &disks[1])].map(|(name, disk)| format!("{name}={}", disk.point().display()));
        let seed = seed.to_string();
        let words = ["--only", "read_8192", "--size", "32MiB", "--budget", "10min", "--json", "--seed", &seed];
        let words = [&["choose", &a, &b], &words[..]].concat();
        let document = document(disks[0].point(), &words);
        let pair = &comparisons(&document)[0];
        let truth = second as f64 / first as f64;
        let end = |name: &str| pair[name].as_f64().unwrap_or(f64::NAN);
        let is_inside = (end("low")..=end("high")).contains(&truth);
        let is_right = match first.cmp(&second) {
            Ordering::Equal => pair["verdict"] == "same",
            Ordering::Less => pair["verdict"] == "faster" && pair["faster"] == "b",
            Ordering::Greater => pair["verdict"] == "faster" && pair["faster"] == "a",
        };
        eprintln!("{first} and {second} MiB/s, {truth:.3}: right {is_right}, inside {is_inside}: {pair}");
        right += u64::from(is_right);
        both += u64::from(is_right && is_inside);
    }
    println!("{}", json!({"tasks": TASKS, "right": right, "right_and_inside": both}));
}

/// The document that the program prints for these words.
fn document(folder: &Path, words: &[&str]) -> Value {
    let ended = testkit::run(&program(), folder, words);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    serde_json::from_str(&ended.out).expect("one document")
}

fn equal() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (mut wrong, mut all, mut rounds) = (0, 0, 0);
    for seed in 1..=EQUAL {
        let seed = seed.to_string();
        let words = "choose a=image:ext4,size=400MiB b=image:ext4,size=400MiB --only read_8192 --only commit \
                     --only smallfb --size 8MiB --rounds 8 --json --seed";
        let words: Vec<&str> = words.split_whitespace().chain([seed.as_str()]).collect();
        let document = document(folder.path(), &words);
        let faster = comparisons(&document).iter().filter(|pair| pair["verdict"] == "faster");
        faster.clone().for_each(|pair| eprintln!("seed {seed}: {pair}"));
        wrong += u64::from(faster.count() > 0);
        all += comparisons(&document).len();
        rounds += document["run"]["rounds"].as_u64().expect("rounds");
    }
    println!("{}", json!({"equal": EQUAL, "comparisons": all, "rounds": rounds, "said_faster": wrong}));
}

fn file_systems() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let words = "choose ext4=image:ext4,size=1GiB xfs=image:xfs,size=1GiB btrfs=image:btrfs,size=1GiB --json";
    let words: Vec<&str> = words.split_whitespace().collect();
    let document = document(folder.path(), &words);
    let all = comparisons(&document);
    let said = |verdict: &str| all.iter().filter(|pair| pair["verdict"] == verdict).count();
    println!(
        "{}",
        json!({
            "file_systems": 3,
            "elapsed_s": document["run"]["elapsed_s"],
            "comparisons": all.len(),
            "fewest_pairs": all.iter().filter_map(|pair| pair["pairs"].as_u64()).min(),
            "faster": said("faster"),
            "same": said("same"),
            "not_decided": said("undecided"),
        })
    );
}
