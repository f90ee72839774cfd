//! Whether fresh file systems get marks that they do not deserve: presets at small sizes on images of ext4, xfs and
//! btrfs, over and over. Prints a line of JSON for each preset; `cargo xtask prove` judges them. Nothing is timed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

/// How often each preset runs.
const RUNS: u32 = 20;

/// What runs: all of it small, so that journals and metadata weigh as much as they ever do.
const PRESETS: [&[&str]; 3] =
    [&["quick", "--size", "8MiB"], &["lfs", "--size", "8MiB"], &["classic1983", "--size", "8MiB", "--solo"]];

/// Where.
const TARGETS: [&str; 3] = ["a=image:ext4,size=128MiB", "b=image:xfs,size=320MiB", "c=image:btrfs,size=256MiB"];

fn main() {
    // Asked for by name only: `cargo test --all-targets` comes by here too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let program: PathBuf = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let folder = tempfile::tempdir().expect("a scratch folder");
    for preset in PRESETS {
        let mut marks: BTreeMap<String, u64> = BTreeMap::new();
        for seed in 1..=RUNS {
            let seed = seed.to_string();
            let arguments = [&["run"], preset, &["--seed", &seed, "--json"], &TARGETS].concat();
            let ended = testkit::run(&program, folder.path(), &arguments);
            assert_eq!(ended.status, Some(0), "{}", ended.err);
            let document: Value = serde_json::from_str(&ended.out).expect("one document");
            let cells = document["cells"].as_array().expect("cells");
            for mark in cells.iter().flat_map(|cell| cell["marks"].as_array().expect("marks")) {
                *marks.entry(mark["code"].as_str().expect("a code").to_owned()).or_default() += 1;
            }
        }
        println!("{}", json!({"clean": preset[0], "runs": RUNS, "marks": marks}));
    }
}
