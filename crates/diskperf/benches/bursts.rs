//! `diskperf choose` on pairs of disks with burst credits. Prints a line of JSON for each pair, and one for all:
//! `cargo bench --bench bursts`. Each pair takes two minutes. Finished pairs are stored, so an interrupted benchmark
//! continues; another build of the program begins again.

#[allow(dead_code, reason = "shared with tests")]
#[path = "../tests/made/ground.rs"]
mod ground;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use ground::Ground;
use serde_json::{Value, json};
use testkit::fuse::Knobs;
use testkit::token_bucket::{Limit, Throttle};
use units::{Prng, fnv1a};

/// Number of pairs.
const PAIRS: u64 = 20;

/// The margin of `choose`, within which two disks are the same.
const MARGIN: f64 = 0.05;

/// Geometric mean of the sustained rates of a pair, in bytes per second.
const SUSTAINED: f64 = 30e6;

/// Geometric mean of the rates of a pair during the bursts. The slowest is more than three times the fastest sustained
/// rate.
const FAST: f64 = 300e6;

/// Two disks. The first number of each pair belongs to the first disk.
struct Pair {
    burst: [f64; 2],
    fast: [f64; 2],
    sustained: [f64; 2],
}

impl Pair {
    /// The pair of a seed: bursts of 0.2 to 2 GB, and a ratio of the sustained rates from 0.3 to 3. In every second
    /// pair, the disk with the faster burst has the lower sustained rate.
    fn from_seed(seed: u64) -> Pair {
        let mut chance = Prng::new(seed);
        let mut between = |low: f64, high: f64| low * (high / low).powf(chance.below(1_000_001) as f64 / 1e6);
        let ratio = between(0.3, 3.0);
        let burst = [between(0.2e9, 2e9), between(0.2e9, 2e9)];
        let around = |mean: f64, ratio: f64| [mean / ratio.sqrt(), mean * ratio.sqrt()];
        let of_bursts = if seed.is_multiple_of(2) { ratio } else { 1.0 / ratio };
        Pair { burst, fast: around(FAST, of_bursts), sustained: around(SUSTAINED, ratio) }
    }

    fn ratio(&self) -> f64 {
        self.sustained[1] / self.sustained[0]
    }

    fn disk(&self, index: usize) -> Ground {
        let limit = Limit::new(self.burst[index] as u64, self.sustained[index] as u64).fast(self.fast[index] as u64);
        let throttle = Some(Throttle::new(Some(limit), None));
        Ground::new(Knobs { throttle, ..Knobs::default() }).unwrap_or_else(|reason| panic!("no disk: {reason}"))
    }

    /// Compares the disks, and judges the answer.
    fn compare(&self, seed: u64) -> Value {
        let disks = [self.disk(0), self.disk(1)];
        let [a, b] =
            [("a", &disks[0]), ("b", &disks[1])].map(|(name, disk)| format!("{name}={}", disk.point().display()));
        let seed_word = seed.to_string();
        let words = ["--only", "write_8192", "--size", "64MiB", "--budget", "2min", "--json", "--seed", &seed_word];
        let document = document(disks[0].point(), &[&["choose", &a, &b], &words[..]].concat());
        let pair = &document["run"]["choice"]["comparisons"][0];
        let end = |name: &str| pair[name].as_f64().unwrap_or(f64::NAN);
        let ratio = self.ratio();
        let is_inside = (end("low")..=end("high")).contains(&ratio);
        let judged = match pair["verdict"].as_str() {
            Some("undecided") => "not decided",
            Some("same") if is_inside || ratio.ln().abs() <= MARGIN => "right",
            Some("faster") if is_inside => "right",
            _ => "wrong",
        };
        json!({
            "pair": seed, "sustained_ratio": ratio, "burst_ratio": self.fast[1] / self.fast[0], "judged": judged,
            "verdict": pair["verdict"], "faster": pair["faster"], "ratio": pair["ratio"], "low": pair["low"],
            "high": pair["high"], "pairs": pair["pairs"], "elapsed_s": document["run"]["elapsed_s"],
        })
    }
}

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    if std::env::args().all(|word| word != "--bench") {
        return;
    }
    if let Some(reason) = testkit::loop_disk::missing_requirement(&["mkfs.ext4"]) {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    let stored = stored();
    let before = fs::read_to_string(&stored).unwrap_or_default();
    let mut lines: Vec<Value> = before.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut file = File::options().append(true).create(true).open(&stored).expect("a file for the pairs");
    for seed in 1..=PAIRS {
        if lines.iter().all(|line| line["pair"] != seed) {
            let line = Pair::from_seed(seed).compare(seed);
            writeln!(file, "{line}").expect("a stored pair");
            eprintln!("{line}");
            lines.push(line);
        }
    }
    lines.iter().for_each(|line| println!("{line}"));
    let count = |judged: &str| lines.iter().filter(|line| line["judged"] == judged).count();
    let [right, wrong, open] = ["right", "wrong", "not decided"].map(count);
    println!("{}", json!({"bursts": lines.len(), "right": right, "wrong": wrong, "not_decided": open}));
}

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

/// The file of the pairs of this build.
fn stored() -> PathBuf {
    let build = fnv1a(fs::read(program()).expect("the program"));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bursts-{build:016x}.jsonl"))
}

/// The document that the program prints for these words.
fn document(folder: &Path, words: &[&str]) -> Value {
    let ended = testkit::run(&program(), folder, words);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    serde_json::from_str(&ended.out).expect("one document")
}
