//! How many source files a folder may have. With more, its list of files no longer shows what belongs together.

use std::collections::BTreeMap;

use super::Finding;
use super::source::File;

/// Files of Rust directly in a folder. Chosen: a list of 20 names is read at one glance.
const FILES: usize = 20;

/// Folders that are still to be divided, and the number of their files.
const FULL: [(&str, usize); 1] = [("crates/diskperf/src/commands", 25)];

/// Folders with too many files, or with another number than the list says.
pub fn check(files: &[File]) -> Vec<Finding> {
    too_full(files, &FULL)
}

fn too_full(files: &[File], known: &[(&str, usize)]) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        *counts.entry(file.path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    counts.retain(|_, count| *count > FILES);
    let unknown = counts.iter().filter(|(folder, _)| !known.iter().any(|(full, _)| full == *folder));
    let mut findings: Vec<Finding> = unknown
        .map(|(folder, count)| Finding::new(*folder, format!("has {count} source files, more than {FILES}: divide it")))
        .collect();
    for (folder, number) in known {
        match counts.get(folder) {
            Some(count) => findings.extend(super::ratchet(folder, "source files", *number, *count, "FULL")),
            None => findings.push(Finding::new(*folder, "is on the list of full folders and is not full")),
        }
    }
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
        assert_eq!(too_full(&folder(FILES + 1), &[("crates/new/src", FILES + 1)]), []);
    }

    #[test]
    fn a_folder_that_is_full_no_more_leaves_the_list() {
        assert_eq!(too_full(&folder(FILES), &[("crates/new/src", FILES + 1)]).len(), 1);
    }

    #[test]
    fn a_full_folder_may_only_lose_files() {
        let known = [("crates/new/src", FILES + 2)];
        let found = |count| too_full(&folder(count), &known).len();
        assert_eq!((found(FILES + 1), found(FILES + 2), found(FILES + 3)), (1, 0, 1));
    }
}
