//! An ignored test is one that nobody counts. A test that cannot run says `skip!`; the attribute is only
//! for the halves of tests that run themselves again under another program.

use super::Finding;
use super::source::File;

/// How the names of such halves begin.
const HALF: &str = "fn child_";

/// Ignored tests that are no such half.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        for (at, _) in file.code.match_indices("#[ignore") {
            let function = file.code[at..].lines().map(str::trim).find(|line| line.starts_with("fn "));
            if !function.is_some_and(|line| line.starts_with(HALF)) {
                let line = file.code[..at].matches('\n').count() + 1;
                let message = "ignores a test; use testkit::skip!, which is counted";
                findings.push(Finding::new(format!("{}:{line}", file.path), message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_of_tests_are_ignored() {
        let half = "#[test]\n#[ignore = \"run by another test\"]\nfn child_reads() {}\n";
        assert_eq!(check(&[File::new("a.rs", half)]), []);
        assert_eq!(check(&[File::new("a.rs", half.replace("child_reads", "reads"))])[0].place, "a.rs:2");
        assert_eq!(check(&[File::new("a.rs", "// #[ignore]\nfn reads() {}")]), []);
    }
}
