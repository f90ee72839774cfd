//! `cargo xtask docs`: checks that the documents show the program's output, and that the schemas match the structs;
//! `--write` updates them. Two tests of the program do the work.

use crate::process;

/// The tests. The schemas come first because the program prints them.
const TESTS: [&[&str]; 2] = [&["--lib", "commands::schema"], &["--test", "docs"]];

/// Compares the documents. `writes` updates differing blocks; `measures` also updates all measured blocks.
pub fn run(writes: bool, measures: bool) -> Result<(), String> {
    for test in TESTS {
        let mut cargo = process::cargo(&["test", "--package", "diskperf"]);
        cargo.args(test).args(["--", "--nocapture"]);
        match (writes, measures) {
            (_, true) => cargo.env("DISKPERF_DOCS", "measure"),
            (true, false) => cargo.env("DISKPERF_DOCS", "write"),
            (false, false) => cargo.env("DISKPERF_DOCS", "all"),
        };
        process::run(&mut cargo)?;
    }
    Ok(())
}
