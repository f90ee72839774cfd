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

/// A run of some tests.
#[derive(Clone, Debug)]
pub enum Run {
    /// The run has ended, and these tests skipped themselves.
    Ended(Scope, Skips),
    /// The run did not start, for this reason.
    Never(Scope, String),
}

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

/// The tests that ran in no run:
///   1. a test runs in a run that has ended, unless it skips itself there;
///   2. if a run with the test did not start, the reason for that replaces the test's own reason, because the test
///      would have run there.
pub fn never_run(runs: &[Run]) -> Skips {
    let mut all = Skips::new();
    for run in runs {
        if let Run::Ended(_, skips) = run {
            all.extend(skips.clone());
        }
    }
    // 1
    let ran = |test: &str| {
        runs.iter()
            .any(|run| matches!(run, Run::Ended(scope, skips) if scope.contains(test) && !skips.contains_key(test)))
    };
    all.retain(|test, _| !ran(test));
    // 2
    for (test, reason) in &mut all {
        let never = runs.iter().find_map(|run| match run {
            Run::Never(scope, why) if scope.contains(test) => Some(why),
            _ => None,
        });
        if let Some(why) = never {
            reason.clone_from(why);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_ran_once_are_not_skipped() {
        let first = parse("cli::refuses_without_rights\tneeds a user without rights\ncli::mounts\tno mkfs.xfs\n");
        let second = parse("cli::mounts\tneeds root\ncli::drops_caches\tneeds root\n");
        let runs =
            [Run::Ended(Scope::Everything, first.clone()), Run::Ended(Scope::Files(vec!["cli".to_owned()]), second)];
        assert_eq!(never_run(&runs).into_keys().collect::<Vec<_>>(), ["cli::mounts"]);
        assert_eq!(never_run(&runs[..1]), first);
    }

    #[test]
    fn runs_of_other_binaries_do_not_count() {
        let first = parse("cli::mounts\tno mkfs.xfs\n");
        let runs =
            [Run::Ended(Scope::Everything, first), Run::Ended(Scope::Files(vec!["cl".to_owned()]), Skips::new())];
        assert_eq!(never_run(&runs).len(), 1);
    }

    #[test]
    fn runs_of_other_modules_do_not_count() {
        let first = parse("cli::all::help::mounts\tno mkfs.xfs\n");
        let of = |file: &str| {
            let again = Run::Ended(Scope::Files(vec![file.to_owned()]), Skips::new());
            never_run(&[Run::Ended(Scope::Everything, first.clone()), again]).len()
        };
        assert_eq!(
            [of("cli"), of("cli::all::help"), of("cli::all"), of("cli::store"), of("cli::all::he")],
            [0, 0, 0, 1, 1]
        );
    }

    /// Tests of the static program, which could not be built.
    #[test]
    fn a_run_that_did_not_start_is_the_reason_for_its_skips() {
        let first = parse("dist::prints\tno static program\ncli::mounts\tno mkfs.xfs\n");
        let of_dist = || Scope::Files(vec!["dist".to_owned()]);
        let never = Run::Never(of_dist(), "there is no linker".to_owned());
        let skips = never_run(&[Run::Ended(Scope::Everything, first.clone()), never]);
        let expected = [("cli::mounts", "no mkfs.xfs"), ("dist::prints", "there is no linker")];
        assert_eq!(skips.iter().map(|(test, why)| (test.as_str(), why.as_str())).collect::<Vec<_>>(), expected);
        let ended = Run::Ended(of_dist(), Skips::new());
        let skips = never_run(&[Run::Ended(Scope::Everything, first), ended]);
        assert_eq!(skips.into_keys().collect::<Vec<_>>(), ["cli::mounts"]);
    }
}
