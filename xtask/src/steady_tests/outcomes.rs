//! The outcome of each test in a test file, read from the output of the Rust test harness.

/// The tests of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Tests that returned, including those that skipped themselves.
    pub passed: Vec<String>,
    /// Tests that panicked.
    pub failed: Vec<Failure>,
}

/// A failure.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The test; `None` if the program ended without a list of its tests.
    pub test: Option<String>,
    /// The output of the test.
    pub output: String,
}

/// Maximum bytes of an output that are kept: some screens. A choice.
const KEPT: usize = 16 << 10;

impl Outcomes {
    /// Parses the output. Programs that a test starts may write into the line `test NAME ... ok`, so the failures are
    /// taken from the list at the end. A program without the harness counts as one test.
    pub fn parse(output: &str, succeeded: bool) -> Outcomes {
        let named = output.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
        let ran = named.filter(|(_, rest)| !rest.trim_start().starts_with("ignored"));
        let names = ran.map(|(name, _)| name.trim_end_matches(" - should panic").to_owned());
        let is_whole = output.lines().any(|line| line.starts_with("test result: "));
        let failed = if is_whole { failures(output) } else { Vec::new() };
        let passed = names.filter(|name| is_whole && !failed.contains(name)).collect();
        let mut failed: Vec<Failure> =
            failed.into_iter().map(|test| Failure { output: end(section(output, &test)), test: Some(test) }).collect();
        if !succeeded && failed.is_empty() {
            failed.push(Failure { test: None, output: end(output) });
        }
        Outcomes { passed, failed }
    }
}

/// The names under the last heading `failures:`.
fn failures(output: &str) -> Vec<String> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    list.lines().map_while(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// The output of a test: from its heading to the next heading.
fn section<'a>(output: &'a str, test: &str) -> &'a str {
    let Some((_, rest)) = output.split_once(&format!("---- {test} stdout ----\n")) else { return "" };
    let end = ["\n---- ", "\nfailures:\n"].iter().filter_map(|heading| rest.find(heading)).min();
    &rest[..end.unwrap_or(rest.len())]
}

fn end(text: &str) -> String {
    let start = (text.len().saturating_sub(KEPT)..=text.len()).find(|at| text.is_char_boundary(*at));
    text[start.unwrap_or(0)..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 5 tests
test module::good ... ok
test child_half ... ignored, run by another test
test panics - should panic ... ok
test bad ... a program wrote this
FAILED
test worse ... FAILED

failures:

---- bad stdout ----
thread 'bad' panicked: because

---- worse stdout ----
worse said
failures:
of its own

failures:
    bad
    worse

test result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn each_test_has_its_outcome_and_failures_their_output() {
        let outcomes = Outcomes::parse(OUTPUT, false);
        assert_eq!(outcomes.passed, ["module::good", "panics"]);
        let failed: Vec<&str> = outcomes.failed.iter().filter_map(|one| one.test.as_deref()).collect();
        assert_eq!(failed, ["bad", "worse"]);
        assert!(outcomes.failed[0].output.contains("because") && !outcomes.failed[0].output.contains("worse said"));
        assert!(outcomes.failed[1].output.contains("worse said"));
    }

    #[test]
    fn a_killed_program_or_one_without_harness_is_one_test() {
        let cut = "running 2 tests\ntest a ... ok\n";
        let outcomes = Outcomes::parse(cut, false);
        assert_eq!((outcomes.passed.len(), outcomes.failed.len()), (0, 1));
        assert_eq!(outcomes.failed[0], Failure { test: None, output: cut.to_owned() });
        assert_eq!(Outcomes::parse("{\"ratio\":1}\n", true), Outcomes::default());
        // A test file that failed after its last test.
        let after = "test a ... ok\ntest result: ok. 1 passed; 0 failed\n";
        assert_eq!(Outcomes::parse(after, false).failed.len(), 1);
        assert_eq!(Outcomes::parse(after, true).passed, ["a"]);
    }

    #[test]
    fn only_the_end_of_long_output_is_kept() {
        let long = format!("{}end", "ä".repeat(KEPT));
        assert!(end(&long).len() <= KEPT && end(&long).ends_with("end"));
    }
}
