//! Tests whose result does not depend on privileges: every program that they start only computes and prints.
//!
//! Such a test begins with [`compute_only!`](crate::compute_only!). `cargo xtask test` runs the tests of the command
//! line a second time without privileges; these tests are skipped then. In the first run, such a test fails if it
//! starts a program that measures.

use std::cell::Cell;
use std::env;

/// The environment variable that is set in the second run, without privileges.
pub const REPEATED: &str = "DISKPERF_REPEATED";

/// Commands that only compute, or print stored results.
const COMPUTE: [&str; 11] =
    ["compare", "completions", "explain", "export", "help", "history", "import", "man", "paper", "schema", "simulate"];

/// Options whose value is a file to write.
const TAKE_A_PATH: [&str; 3] = ["-o", "--output", "--store"];

/// Options with which no command measures.
const NOTHING_MEASURED: [&str; 3] = ["--dry-run", "--help", "--version"];

thread_local! {
    static IS_COMPUTING: Cell<bool> = const { Cell::new(false) };
}

/// Declares that the rest of the test only computes. Returns from the test in the second run, without privileges.
/// `compute_only!();` is the first line of a test.
#[macro_export]
macro_rules! compute_only {
    () => {
        let Some(_computing) = $crate::compute_only::Computing::begin() else {
            return $crate::skip!("it only computes, and has run with rights");
        };
    };
}

/// Exists while a test that only computes runs.
#[derive(Debug)]
pub struct Computing(());

impl Computing {
    /// Marks the test as one that only computes. `None` in the second run, without privileges.
    #[doc(hidden)]
    pub fn begin() -> Option<Computing> {
        if env::var_os(REPEATED).is_some() {
            return None;
        }
        IS_COMPUTING.set(true);
        Some(Computing(()))
    }
}

impl Drop for Computing {
    fn drop(&mut self) {
        IS_COMPUTING.set(false);
    }
}

/// Fails a test that only computes if it starts another program, or a command of diskperf that measures.
pub(crate) fn check(program: &str, arguments: &[&str]) {
    if IS_COMPUTING.get() {
        let is_allowed = only_computes(program, arguments);
        assert!(is_allowed, "{program} {arguments:?} does not only compute: remove `compute_only!()` from this test");
    }
}

/// Fails a test that only computes if it starts a program in a way that [`check`] cannot see.
pub(crate) fn check_nothing_unseen() {
    assert!(!IS_COMPUTING.get(), "start it by `testkit::run`, or remove `compute_only!()` from this test");
}

/// Programs that run another program, whose path follows their options.
const PREFIXES: [&str; 2] = ["prlimit", "taskset"];

fn only_computes(program: &str, arguments: &[&str]) -> bool {
    let is_diskperf = |path: &str| path.rsplit('/').next() == Some("diskperf");
    let place = arguments.iter().position(|word| is_diskperf(word)).filter(|_| PREFIXES.contains(&program));
    let words = match place {
        _ if is_diskperf(program) => arguments,
        Some(place) => &arguments[place + 1..],
        None => return false,
    };
    // Targets may also follow options.
    let is_path = |word: &str| word == "." || word.contains('/') || word.contains("image:") || word.contains("new:");
    let is_simulated = |word: &&str| word.starts_with("sim:") || word.contains("=sim:");
    words.iter().any(|word| NOTHING_MEASURED.contains(word))
        || match words {
            ["run", _, rest @ ..] => {
                let mut first = rest.iter().take_while(|word| !word.starts_with('-')).peekable();
                let may_be_target = |[before, word]: [&str; 2]| is_path(word) && !TAKE_A_PATH.contains(&before);
                first.peek().is_some()
                    && first.all(is_simulated)
                    && !rest.windows(2).any(|pair| may_be_target([pair[0], pair[1]]))
            }
            [command, ..] => COMPUTE.contains(command),
            [] => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_on_simulated_targets_only_compute() {
        let computes = |words: &[&str]| only_computes("target/debug/diskperf", words);
        assert!(computes(&["simulate", "vax780-uda50"]) && computes(&["run", "smoke", ".", "--dry-run"]));
        assert!(computes(&["run", "smoke", "sim:flat", "--rounds", "1"]) && computes(&["bw", "--help"]));
        assert!(computes(&["run", "classic1983", "a=sim:flat", "b=sim:flat"]));
        assert!(!computes(&["run", "smoke", "sim:flat", "."]) && !computes(&["run", "smoke", "--rounds", "1"]));
        assert!(!computes(&["run", "smoke", "sim:flat", "--rounds", "1", "."]));
        assert!(!computes(&["run", "smoke", "sim:flat", "--json", "/tmp"]));
        assert!(computes(&["run", "smoke", "sim:flat", "--json", "-o", "/tmp/file"]));
        assert!(!computes(&["run", "quick"]) && !computes(&["smallfb", "2", "1KiB"]) && !computes(&[]));
        assert!(only_computes("prlimit", &["--as=1", "/a/diskperf", "paper"]));
        assert!(only_computes("taskset", &["-c", "0", "/a/diskperf", "paper"]));
        assert!(!only_computes("prlimit", &["--as=1", "/a/diskperf", "doctor"]) && !only_computes("sh", &["paper"]));
    }

    #[test]
    fn starting_other_commands_fails_a_computing_test() {
        let computing = Computing::begin().expect("not repeated");
        assert!(std::panic::catch_unwind(|| check("diskperf", &["doctor"])).is_err());
        assert!(std::panic::catch_unwind(check_nothing_unseen).is_err());
        check("diskperf", &["paper"]);
        drop(computing);
        check("diskperf", &["doctor"]);
        check_nothing_unseen();
    }
}
