//! The tables of the paper as they were last simulated: `golden/`, written by `cargo xtask golden`. A change that moves
//! a figure moves these files, so that it is seen.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_tables_are_those_that_were_kept() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let output = Command::new(env!("CARGO_BIN_EXE_diskperf"))
        .args(["paper", "T1", "T2", "T3", "T4", "T5"])
        .output()
        .expect("diskperf starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("plain text");
    let mut rest = printed.as_str();
    for table in ["T1", "T2", "T3", "T4", "T5"] {
        let path = golden.join(table).with_extension("txt");
        let kept = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        rest = rest.trim_start_matches('\n').strip_prefix(kept.trim_end_matches('\n')).unwrap_or_else(|| {
            panic!("{table} is not as kept; `cargo xtask golden` writes it anew. Simulated now:\n{rest}")
        });
    }
    // What is left is the summary: the errors that are kept beside the tables.
    let errors = fs::read_to_string(golden.join("errors.txt")).expect("the errors that are kept");
    let mean = errors.lines().find_map(|line| line.strip_prefix("rate-mean ")).expect("the mean of the rates' errors");
    let mean: f64 = mean.parse().expect("a number");
    assert!(rest.contains(&format!("mean {mean:.1} %")), "{mean}: {rest}");
}
