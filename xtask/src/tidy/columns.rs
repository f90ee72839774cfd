//! How long a line may be, strings and comments included: rustfmt does not break those.

use std::collections::BTreeMap;

use super::Finding;
use super::source::File;

/// Characters of a line of Rust: the `max_width` of rustfmt.toml.
const COLUMNS: usize = 120;

/// Crates that still have longer lines, and how many.
const LONG: [(&str, usize); 2] = [("diskperf", 13), ("testkit", 10)];

/// Lines that are too long, and crates with another number of them than the list says.
pub fn check(files: &[File]) -> Vec<Finding> {
    too_long(files, &LONG)
}

fn too_long(files: &[File], known: &[(&str, usize)]) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines = file.text.lines().enumerate().filter(|(_, line)| line.chars().count() > COLUMNS);
        let of_crate = places.entry(file.crate_name().unwrap_or_default()).or_default();
        of_crate.extend(lines.map(|(index, _)| format!("{}:{}", file.path, index + 1)));
    }
    let unknown = places.iter().filter(|(name, _)| !known.iter().any(|(listed, _)| listed == *name));
    let message = format!("is longer than {COLUMNS} columns: break it");
    let mut findings: Vec<Finding> =
        unknown.flat_map(|(_, places)| places).map(|place| Finding::new(place, &message)).collect();
    for (name, number) in known {
        let count = places.get(name).map_or(0, Vec::len);
        let lines = format!("lines over {COLUMNS} columns");
        findings.extend(super::ratchet(name, &lines, *number, count, "LONG (xtask/src/tidy/columns.rs)"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_found_in_comments_and_strings_too() {
        for line in ["// a".to_owned() + &"ü".repeat(COLUMNS - 4), format!("\"{}\"", "a".repeat(COLUMNS - 2))] {
            assert_eq!(too_long(&[File::new("crates/new/src/a.rs", &line)], &[]), []);
            let found = too_long(&[File::new("crates/new/src/a.rs", format!("\n{line}a\n"))], &[]);
            let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
            assert_eq!(places, ["crates/new/src/a.rs:2"]);
        }
        assert_eq!(too_long(&[File::new("machines/a.tsv", "a".repeat(COLUMNS + 1))], &[]), []);
    }

    #[test]
    fn the_long_lines_of_a_crate_may_only_get_fewer() {
        let files = [File::new("crates/new/src/a.rs", format!("{0}\n{0}\n", "a".repeat(COLUMNS + 1)))];
        let found = |known| too_long(&files, &[("new", known)]).len();
        assert_eq!((found(1), found(2), found(3)), (1, 0, 1));
    }
}
