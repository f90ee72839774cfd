//! The maximum length of lines, including strings and comments, which rustfmt does not break.

use super::Finding;
use super::source::File;

/// Maximum characters per line of Rust: the `max_width` of rustfmt.toml.
const COLUMNS: usize = 120;

/// Finds lines that are too long.
pub fn check(files: &[File]) -> Vec<Finding> {
    let message = format!("is longer than {COLUMNS} columns: break it");
    let of_rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    let places = of_rust.flat_map(|file| {
        let long = file.text.lines().enumerate().filter(|(_, line)| line.chars().count() > COLUMNS);
        long.map(move |(index, _)| format!("{}:{}", file.path, index + 1))
    });
    places.map(|place| Finding::new(place, &message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_found_in_comments_and_strings_too() {
        for line in ["// a".to_owned() + &"ü".repeat(COLUMNS - 4), format!("\"{}\"", "a".repeat(COLUMNS - 2))] {
            assert_eq!(check(&[File::new("crates/new/src/a.rs", &line)]), []);
            let found = check(&[File::new("crates/new/src/a.rs", format!("\n{line}a\n"))]);
            let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
            assert_eq!(places, ["crates/new/src/a.rs:2"]);
        }
        assert_eq!(check(&[File::new("machines/a.tsv", "a".repeat(COLUMNS + 1))]), []);
    }
}
