//! `cargo xtask docs`: checks that the documents show the program's output; `--write` updates them. The work is done by
//! the test `docs` of the program.

use crate::process;

/// Compares the documents. `writes` updates differing blocks, `measures` all measured blocks too.
pub fn run(writes: bool, measures: bool) -> Result<(), String> {
    let mut cargo = process::cargo(&["test", "--package", "diskperf", "--test", "docs", "--", "--nocapture"]);
    match (writes, measures) {
        (_, true) => cargo.env("DISKPERF_DOCS", "measure"),
        (true, false) => cargo.env("DISKPERF_DOCS", "write"),
        (false, false) => &mut cargo,
    };
    process::run(&mut cargo)
}
