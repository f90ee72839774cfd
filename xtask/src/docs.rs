//! `cargo xtask docs`: checks that the documents show the program's output, and that the schemas are those of the
//! structs; `--write` updates them. The work is done by two tests of the program.

use crate::process;

/// The tests, schemas first: the program prints them.
const TESTS: [&[&str]; 2] = [&["--lib", "commands::schema"], &["--test", "docs"]];

/// Compares the documents. `writes` updates differing blocks, `measures` all measured blocks too.
pub fn run(writes: bool, measures: bool) -> Result<(), String> {
    for test in TESTS {
        let mut cargo = process::cargo(&["test", "--package", "diskperf"]);
        cargo.args(test).args(["--", "--nocapture"]);
        match (writes, measures) {
            (_, true) => cargo.env("DISKPERF_DOCS", "measure"),
            (true, false) => cargo.env("DISKPERF_DOCS", "write"),
            (false, false) => &mut cargo,
        };
        process::run(&mut cargo)?;
    }
    Ok(())
}
