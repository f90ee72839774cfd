//! The maximum length of a file. A longer file has a second subject, which needs its own file.

use super::Finding;
use super::source::File;

/// Lines of a Rust file, including tests. From the project's style; no file of the first commit had half as many.
const LINES: usize = 600;

/// Longer files, each with the reason why it is one subject.
const LONGER: [(&str, &str); 0] = [];

/// Finds files that are too long, and list entries that no file needs.
pub fn check(files: &[File]) -> Vec<Finding> {
    let too_long = |file: &&File| file.path.ends_with(".rs") && file.text.lines().count() > LINES;
    let known = |path: &str| LONGER.iter().any(|(longer, _)| *longer == path);
    let mut findings: Vec<Finding> = files
        .iter()
        .filter(too_long)
        .filter(|file| !known(&file.path))
        .map(|file| {
            let lines = file.text.lines().count();
            Finding::new(&file.path, format!("has {lines} lines, more than {LINES}: what is its second subject?"))
        })
        .collect();
    for (path, _) in LONGER {
        if !files.iter().filter(too_long).any(|file| file.path == path) {
            findings.push(Finding::new(path, "is on the list of long files and is none"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_found() {
        assert_eq!(check(&[File::new("a.rs", "\n".repeat(LINES))]), []);
        assert_eq!(check(&[File::new("a.rs", "\n".repeat(LINES + 1))]).len(), 1);
        assert_eq!(check(&[File::new("machines/a.tsv", "\n".repeat(LINES + 1))]), []);
    }
}
