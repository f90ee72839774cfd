//! The output of the Rust test harness, as numbers.

/// The numbers of tests with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Tests that returned, including those that skipped themselves.
    pub passed: u64,
    /// Tests that panicked.
    pub failed: u64,
}

impl Totals {
    /// Adds the counts of an output line, if it is the last line of a test file: `test result: ok. 10 passed; 0 failed;
    /// ...`
    pub fn add_line(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_of_all_files_are_summed() {
        let output = "running 2 tests\n\
            test a ... ok\n\
            test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
            test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
        let mut totals = Totals::default();
        output.lines().for_each(|line| totals.add_line(line));
        assert_eq!(totals, Totals { passed: 13, failed: 2 });
    }
}
