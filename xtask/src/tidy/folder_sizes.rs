//! The maximum number of source files per folder. With more, the list of files no longer shows which ones belong
//! together.

use std::collections::BTreeMap;

use super::Finding;
use super::source::File;

/// Rust files directly in a folder. Chosen: a list of 20 names can be read at one glance.
const FILES: usize = 20;

/// Finds folders with too many files.
pub fn check(files: &[File]) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        *counts.entry(file.path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    let full = counts.iter().filter(|(_, count)| **count > FILES);
    full.map(|(folder, count)| Finding::new(*folder, format!("has {count} source files, more than {FILES}: divide it")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(count: usize) -> Vec<File> {
        let file = |number: usize| File::new(format!("crates/new/src/f{number}.rs"), "");
        // Other folders and other kinds of files do not count.
        let others = [File::new("crates/new/src/below/a.rs", ""), File::new("crates/new/src/a.tsv", "")];
        (0..count).map(file).chain(others).collect()
    }

    #[test]
    fn a_full_folder_is_found() {
        assert_eq!(check(&folder(FILES)), []);
        let found = check(&folder(FILES + 1));
        assert_eq!(found.iter().map(|finding| finding.place.as_str()).collect::<Vec<_>>(), ["crates/new/src"]);
    }
}
