//! Tests that did not run, with their reasons. A test writes its reason to a file that an environment variable names
//! (see `testkit`).
//!
//! Some tests run several times: as root and as an unprivileged user, unoptimised and optimised. A test that skipped
//! itself in one of these runs and not in another has run.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The reason of each skipped test, by its name.
pub type Skips = BTreeMap<String, String>;

/// The tests of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All tests.
    Everything,
    /// The tests of these binaries, or of these modules of binaries: `kernel`, `cli::store`.
    Files(Vec<String>),
}

impl Scope {
    fn contains(&self, test: &str) -> bool {
        match self {
            Scope::Everything => true,
            Scope::Files(all) => all.iter().any(|file| {
                let rest = test.strip_prefix(file.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            }),
        }
    }
}

/// A run of some tests, of which these skipped themselves.
#[derive(Clone, Debug)]
pub struct Run(pub Scope, pub Skips);

/// The skips that tests have written to a file; empty if none has skipped itself.
pub fn read(path: &Path) -> Result<String, String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("cannot read the skips of tests: {error}")),
        text => Ok(text.unwrap_or_default()),
    }
}

/// Parses lines of the form: the test, a tab, the reason.
pub fn parse(text: &str) -> Skips {
    text.lines().filter_map(|line| line.split_once('\t')).map(|(test, why)| (test.to_owned(), why.to_owned())).collect()
}

/// The tests that skipped themselves in every run that contains them.
pub fn never_run(runs: &[Run]) -> Skips {
    let mut all: Skips = runs.iter().flat_map(|Run(_, skips)| skips.clone()).collect();
    let ran = |test: &str| runs.iter().any(|Run(scope, skips)| scope.contains(test) && !skips.contains_key(test));
    all.retain(|test, _| !ran(test));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_ran_once_are_not_skipped() {
        let first = parse("cli::refuses_without_rights\tneeds a user without rights\ncli::mounts\tno mkfs.xfs\n");
        let second = parse("cli::mounts\tneeds root\ncli::drops_caches\tneeds root\n");
        let runs = [Run(Scope::Everything, first.clone()), Run(Scope::Files(vec!["cli".to_owned()]), second)];
        assert_eq!(never_run(&runs).into_keys().collect::<Vec<_>>(), ["cli::mounts"]);
        assert_eq!(never_run(&runs[..1]), first);
    }

    #[test]
    fn runs_of_other_binaries_do_not_count() {
        let first = parse("cli::mounts\tno mkfs.xfs\n");
        let runs = [Run(Scope::Everything, first), Run(Scope::Files(vec!["cl".to_owned()]), Skips::new())];
        assert_eq!(never_run(&runs).len(), 1);
    }

    #[test]
    fn runs_of_other_modules_do_not_count() {
        let first = parse("cli::all::help::mounts\tno mkfs.xfs\n");
        let of = |file: &str| {
            let again = Run(Scope::Files(vec![file.to_owned()]), Skips::new());
            never_run(&[Run(Scope::Everything, first.clone()), again]).len()
        };
        assert_eq!(
            [of("cli"), of("cli::all::help"), of("cli::all"), of("cli::store"), of("cli::all::he")],
            [0, 0, 0, 1, 1]
        );
    }
}
