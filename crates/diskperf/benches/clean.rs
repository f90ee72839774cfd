//! Tests that fresh file systems get no undeserved marks: runs presets at small sizes on images of ext4, xfs and btrfs
//! in turn, over and over. Prints a line of JSON for each preset, and the text of each mark on standard error; `cargo
//! xtask prove` judges them. Nothing is timed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

/// Presets and their numbers of runs. All are small, so that journals and metadata have their largest share. The
/// exception is `classic1983`, whose rounds must agree: its files take more than a few milliseconds to write.
const PRESETS: [(u32, &[&str]); 4] = [
    (20, &["smoke"]),
    (20, &["quick", "--size", "8MiB"]),
    (3, &["lfs", "--size", "8MiB"]),
    (3, &["classic1983", "--size", "256MiB", "--solo"]),
];

/// Targets, in turn.
const TARGETS: [&str; 3] = ["image:ext4,size=700MiB", "image:xfs,size=700MiB", "image:btrfs,size=1GiB"];

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let program: PathBuf = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (runs, preset) in PRESETS {
        let mut marks: BTreeMap<String, u64> = BTreeMap::new();
        for (seed, target) in (1..=runs).zip(TARGETS.iter().cycle()) {
            let seed = seed.to_string();
            let arguments = [&["run"], preset, &["--seed", &seed, "--json", target]].concat();
            let ended = testkit::run(&program, folder.path(), &arguments);
            assert_eq!(ended.status, Some(0), "{}", ended.err);
            let document: Value = serde_json::from_str(&ended.out).expect("one document");
            for cell in document["cells"].as_array().expect("cells") {
                for mark in cell["marks"].as_array().expect("marks") {
                    eprintln!("{} {target} {} {}: {mark}", preset[0], cell["program"], cell["phase"]);
                    *marks.entry(mark["code"].as_str().expect("a code").to_owned()).or_default() += 1;
                }
            }
        }
        println!("{}", json!({"clean": preset[0], "runs": runs, "marks": marks}));
    }
}
