//! Ignored tests and examples in comments are forbidden. A test that is not run is not counted. A test that cannot run
//! uses `skip!`. The attribute is only for the halves of tests that run themselves again under another program. `cargo
//! xtask test` would not run an example in a comment.

use super::Finding;
use super::source::File;

/// The beginning of the name of such a half.
const HALF: &str = "fn child_";

/// The beginning of a block in a doc comment that is not an example.
const TEXT: &str = "```text";

/// Finds ignored tests that are not such a half, and examples.
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
        findings.extend(examples(file));
    }
    findings
}

/// Finds blocks of doc comments that would be compiled and run.
fn examples(file: &File) -> impl Iterator<Item = Finding> {
    let said = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(rest.trim().to_owned())
    };
    let mut is_open = false;
    file.text.lines().enumerate().filter_map(move |(index, line)| {
        let said = said(line).filter(|said| said.starts_with("```"))?;
        is_open = !is_open;
        let message = format!("is an example that no test runs; begin it with {TEXT}");
        (is_open && said != TEXT).then(|| Finding::new(format!("{}:{}", file.path, index + 1), message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_child_tests_may_be_ignored() {
        let half = "#[test]\n#[ignore = \"run by another test\"]\nfn child_reads() {}\n";
        assert_eq!(check(&[File::new("a.rs", half)]), []);
        assert_eq!(check(&[File::new("a.rs", half.replace("child_reads", "reads"))])[0].place, "a.rs:2");
        assert_eq!(check(&[File::new("a.rs", "// #[ignore]\nfn reads() {}")]), []);
    }

    #[test]
    fn code_blocks_in_docs_must_be_text() {
        let drawing = "//! A drawing:\n//! ```text\n//! a -> b\n//! ```\n";
        assert_eq!(check(&[File::new("a.rs", drawing)]), []);
        let example = drawing.replace("text", "");
        assert_eq!(check(&[File::new("a.rs", example)])[0].place, "a.rs:2");
    }
}
