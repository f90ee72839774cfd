//! The crates that need no operating system. Their results cannot depend on a clock, a file or a thread, because they
//! have none.

use super::Finding;
use super::source::{File, has_word};
use crate::{process, rust_targets};

/// The crates without an operating system.
const BARE: [&str; 3] = ["units", "workload", "simulator"];

/// A target without an operating system.
const TARGET: &str = "x86_64-unknown-none";

/// Checks that each of these crates is `no_std`.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in BARE {
        let path = format!("crates/{name}/src/lib.rs");
        let says_so = |file: &File| file.path == path && file.code.lines().any(|line| line.trim() == "#![no_std]");
        if !files.iter().any(says_so) {
            findings.push(Finding::new(path, "must begin with #![no_std]"));
        }
    }
    for file in files {
        let bare = file.crate_name().is_some_and(|name| BARE.contains(&name)) && !file.is_test();
        let lines: Vec<&str> = file.code.lines().map(str::trim).collect();
        let brought_in = |pair: &[&str]| pair[1] == "extern crate std;" && pair[0] != "#[cfg(test)]";
        if bare && (lines.windows(2).any(brought_in) || lines.first() == Some(&"extern crate std;")) {
            findings.push(Finding::new(&file.path, "may bring in std only under #[cfg(test)]"));
        }
        if bare && has_word(&file.code, "cfg_attr") && has_word(&file.code, "no_std") {
            findings.push(Finding::new(&file.path, "must be no_std under every configuration"));
        }
    }
    findings
}

/// The outcome of the build for a target without an operating system.
pub enum Outcome {
    /// All crates build.
    Built,
    /// The build failed.
    Failed(Finding),
    /// The target is not available here, for this reason.
    NoTarget(String),
}

/// Compiles all these crates for the target, up to the point where code is generated: a use of the standard library is
/// an error before that.
pub fn build() -> Result<Outcome, String> {
    if let Err(reason) = rust_targets::provide(TARGET) {
        return Ok(Outcome::NoTarget(reason));
    }
    let mut command = process::cargo(&["check", "--quiet", "--target", TARGET]);
    command.args(BARE.iter().flat_map(|name| ["--package".to_owned(), format!("diskperf-{name}")]));
    Ok(match process::run(&mut command) {
        Ok(()) => Outcome::Built,
        Err(message) => Outcome::Failed(Finding::new(BARE.join(", "), format!("for {TARGET}: {message}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_with(path: &str, text: &str) -> usize {
        let mut files: Vec<File> =
            BARE.iter().map(|name| File::new(format!("crates/{name}/src/lib.rs"), "//! Doc\n#![no_std]\n")).collect();
        files.retain(|file| file.path != path);
        files.push(File::new(path, text));
        check(&files).len()
    }

    #[test]
    fn bare_crates_must_be_no_std() {
        assert_eq!(check_with("crates/units/src/lib.rs", "#![no_std]\n#[cfg(test)]\nextern crate std;\n"), 0);
        assert_eq!(check_with("crates/units/src/lib.rs", "// #![no_std]\n"), 1);
        assert_eq!(check_with("crates/units/src/lib.rs", "#![no_std]\nextern crate std;\n"), 1);
        assert_eq!(check_with("crates/units/src/time.rs", "extern crate std;\n"), 1);
        assert_eq!(check_with("crates/units/src/lib.rs", "#![cfg_attr(not(test), no_std)]\n"), 2);
        assert_eq!(check_with("crates/stats/src/lib.rs", "extern crate std;\n"), 0);
    }
}
