//! `cargo xtask docs`: whether the documents show what the program prints; with `--write`, they are made to. The test
//! `docs` of the program knows how.

use crate::process;

/// Compares, or writes anew what is no longer so, or that and all that is measured.
pub fn run(writes: bool, measures: bool) -> Result<(), String> {
    let mut cargo = process::cargo(&["test", "--package", "diskperf", "--test", "docs", "--", "--nocapture"]);
    match (writes, measures) {
        (_, true) => cargo.env("DISKPERF_DOCS", "measure"),
        (true, false) => cargo.env("DISKPERF_DOCS", "write"),
        (false, false) => &mut cargo,
    };
    process::run(&mut cargo)
}
