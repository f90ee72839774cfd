//! Tests that did not run, and why. A test says so in a file that the environment names (see `testkit`).
//!
//! Some tests run more than once: as root and as an unprivileged user, unoptimised and optimised. One that
//! skipped itself in one of these runs and not in another has run.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Test and reason.
pub type Skips = BTreeMap<String, String>;

/// Which tests a run consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All there are.
    Everything,
    /// Those of these test files.
    Files(Vec<String>),
}

impl Scope {
    fn contains(&self, test: &str) -> bool {
        match self {
            Scope::Everything => true,
            Scope::Files(files) => files.iter().any(|file| Some(file.as_str()) == test.split("::").next()),
        }
    }
}

/// What tests have left in a file; nothing where none has skipped itself.
pub fn read(path: &Path) -> Result<String, String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("cannot read the skips of tests: {error}")),
        text => Ok(text.unwrap_or_default()),
    }
}

/// Reads the lines that tests have left: the test, a tab, the reason.
pub fn parse(text: &str) -> Skips {
    text.lines().filter_map(|line| line.split_once('\t')).map(|(test, why)| (test.to_owned(), why.to_owned())).collect()
}

/// The tests that ran nowhere.
pub fn never_run(runs: &[(Scope, Skips)]) -> Skips {
    let all = runs.iter().flat_map(|(_, skips)| skips);
    let ran = |test: &str| runs.iter().any(|(scope, skips)| scope.contains(test) && !skips.contains_key(test));
    all.filter(|(test, _)| !ran(test)).map(|(test, reason)| (test.clone(), reason.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_ran_once_is_not_skipped() {
        let first = parse("cli::refuses_without_rights\tneeds a user without rights\ncli::mounts\tno mkfs.xfs\n");
        let second = parse("cli::mounts\tneeds root\ncli::drops_caches\tneeds root\n");
        let runs = [(Scope::Everything, first.clone()), (Scope::Files(vec!["cli".to_owned()]), second)];
        assert_eq!(never_run(&runs).into_keys().collect::<Vec<_>>(), ["cli::mounts"]);
        assert_eq!(never_run(&runs[..1]), first);
    }

    #[test]
    fn a_run_of_other_files_excuses_nothing() {
        let first = parse("cli::mounts\tno mkfs.xfs\n");
        let runs = [(Scope::Everything, first), (Scope::Files(vec!["cl".to_owned()]), Skips::new())];
        assert_eq!(never_run(&runs).len(), 1);
    }
}
