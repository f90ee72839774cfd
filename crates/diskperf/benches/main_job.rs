//! The main job as a user starts it, on the disk with the build folder, over and over: its duration, its rows, and the
//! warnings on results that nothing disturbs. The machine must be idle otherwise. Prints a line of JSON for each run
//! and one for all. Takes 40 minutes.
//!
//! ```text
//!   cargo bench --package diskperf --bench main_job [-- RUNS]
//! ```

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};

/// Number of runs: 39 of 13 rows are 507 results.
const RUNS: u64 = 39;

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().all(|word| word != "--bench") {
        return;
    }
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(RUNS);
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on the disk");
    let mut warnings: BTreeMap<String, u64> = BTreeMap::new();
    let mut results = 0;
    for run in 1..=runs {
        let began = Instant::now();
        let ended = testkit::run(&program, folder.path(), &["--json"]);
        let elapsed_s = began.elapsed().as_secs_f64();
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let document: Value = serde_json::from_str(&ended.out).expect("one document");
        let cells = document["cells"].as_array().expect("cells");
        let measured: Vec<&Value> = cells.iter().filter(|cell| cell["measured"] == true).collect();
        results += measured.len();
        for cell in &measured {
            for mark in cell["marks"].as_array().expect("marks") {
                eprintln!("{run}: {} {}: {mark}", cell["program"], cell["phase"]);
                *warnings.entry(mark["code"].as_str().expect("a code").to_owned()).or_default() += 1;
            }
        }
        let unexplained = |cell: &&&Value| cell["limited_by"]["what"].as_str().is_none_or(|what| what == "n.m.");
        for cell in cells.iter().filter(|cell| cell["measured"] != true) {
            eprintln!("{run}: {} {}: n.m.: {}", cell["program"], cell["phase"], cell["reason"]);
        }
        for cell in measured.iter().filter(unexplained) {
            eprintln!("{run}: {} {}: {}", cell["program"], cell["phase"], cell["limited_by"]);
        }
        println!(
            "{}",
            json!({
                "main_job": run,
                "elapsed_s": elapsed_s,
                "rows": cells.len(),
                "measured": measured.len(),
                "explained": measured.len() - measured.iter().filter(unexplained).count(),
            })
        );
    }
    println!("{}", json!({"main_job_results": results, "runs": runs, "warnings": warnings}));
}
