//! How many source files a folder may have. With more, its list of files no longer shows what belongs together.

use std::collections::BTreeMap;

use super::Finding;
use super::source::File;

/// Files of Rust directly in a folder. Chosen: a list of 20 names is read at one glance.
const FILES: usize = 20;

/// Folders of crates that are still to be divided.
const FULL: [&str; 5] = [
    "crates/diskperf/src",
    "crates/diskperf/src/commands",
    "crates/diskperf/tests",
    "crates/report/src",
    "crates/stats/src",
];

/// Folders with too many files, and lines of the list that no folder needs.
pub fn check(files: &[File]) -> Vec<Finding> {
    too_full(files, &FULL)
}

fn too_full(files: &[File], known: &[&str]) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        *counts.entry(file.path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    counts.retain(|_, count| *count > FILES);
    let unknown = counts.iter().filter(|(folder, _)| !known.contains(folder));
    let mut findings: Vec<Finding> = unknown
        .map(|(folder, count)| Finding::new(*folder, format!("has {count} source files, more than {FILES}: divide it")))
        .collect();
    let unneeded = known.iter().filter(|folder| !counts.contains_key(*folder));
    findings.extend(unneeded.map(|folder| Finding::new(*folder, "is on the list of full folders and is not full")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(count: usize) -> Vec<File> {
        let file = |number: usize| File::new(format!("crates/new/src/f{number}.rs"), "");
        // Neither another folder nor another kind of file counts.
        let others = [File::new("crates/new/src/below/a.rs", ""), File::new("crates/new/src/a.tsv", "")];
        (0..count).map(file).chain(others).collect()
    }

    #[test]
    fn a_full_folder_is_found_and_a_known_one_is_not() {
        assert_eq!(too_full(&folder(FILES), &[]), []);
        let found = too_full(&folder(FILES + 1), &[]);
        assert_eq!(found.iter().map(|finding| finding.place.as_str()).collect::<Vec<_>>(), ["crates/new/src"]);
        assert_eq!(too_full(&folder(FILES + 1), &["crates/new/src"]), []);
    }

    #[test]
    fn a_folder_that_is_full_no_more_leaves_the_list() {
        assert_eq!(too_full(&folder(FILES), &["crates/new/src"]).len(), 1);
    }
}
