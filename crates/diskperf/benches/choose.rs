//! `diskperf choose` between two disks that are limited to so much, so that the right answer is known. Prints a line of
//! JSON for each pair of limits.

#[path = "../tests/throttle/mod.rs"]
mod throttle;

use std::path::Path;

use serde_json::{Value, json};
use throttle::{Limits, SLOW, SlowDisks};
use units::Bytes;

/// Limits of both, in MiB/s.
const PAIRS: [(u64, u64); 2] = [(20, 24), (20, 20)];

fn main() {
    if let Some(reason) = SlowDisks::impossible() {
        println!("skipped: {reason}");
        return;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_diskperf"));
    for (first, second) in PAIRS {
        // Bytes are what is scarce.
        let limits = [first, second].map(|bytes| Limits { bytes: bytes << 20, operations: 20 * SLOW.operations });
        let disks = SlowDisks::new(Bytes::mib(512), &limits);
        let targets: Vec<String> =
            disks.paths().iter().zip(["a", "b"]).map(|(path, name)| format!("{name}={}", path.display())).collect();
        // In its first second a limited device lets through what it was not asked for before: files of several seconds.
        // What is read is charged to who reads; what is written in the background to nobody, and not limited.
        let words = ["--only", "read_8192", "--size", "64MiB", "--budget", "10min", "--json"];
        let words: Vec<&str> = ["choose"].into_iter().chain(targets.iter().map(String::as_str)).chain(words).collect();
        let document = disks.document(program, &words);
        let choice = &document["run"]["choice"];
        for pair in choice["comparisons"].as_array().expect("comparisons") {
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
                    "not_decided": choice["decided"] == Value::Bool(false),
                })
            );
        }
    }
}
