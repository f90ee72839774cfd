//! The table of fio's example jobs in `docs/reference/fio-examples.md`: each row is what `diskperf import` makes of the
//! file.

use std::fs;
use std::path::Path;

use testkit::skip;

use crate::common::{Cli, text};

/// The folder of Debian's package `fio-examples`.
const EXAMPLES: &str = "/usr/share/doc/fio/examples";

/// The rows of the table: the name of the file, and the line that is the reason for a refusal.
fn rows() -> Vec<(String, Option<String>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/fio-examples.md");
    let page = fs::read_to_string(page).expect("the page");
    let quoted = |cell: &str| cell.split('`').nth(1).map(str::to_owned);
    let row = |line: &str| {
        let (name, result) = line.strip_prefix("| `")?.split_once("` | ")?;
        Some((name.to_owned(), quoted(result).filter(|_| result.starts_with("refused: "))))
    };
    page.lines().filter_map(row).collect()
}

/// The names of the example jobs here.
fn names() -> Vec<String> {
    let names = fs::read_dir(EXAMPLES).into_iter().flatten().flatten();
    let mut names: Vec<String> = names.filter_map(|file| file.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".fio"));
    names.sort();
    names
}

#[test]
fn the_table_says_what_import_makes_of_each_example() {
    let (rows, names) = (rows(), names());
    if names.is_empty() {
        return skip!("the package fio-examples is not installed");
    }
    let mut listed: Vec<&String> = rows.iter().map(|(name, _)| name).collect();
    listed.sort();
    if listed != names.iter().collect::<Vec<_>>() {
        return skip!("the examples are those of another fio than 3.33");
    }
    let cli = Cli::new();
    for (name, reason) in &rows {
        let ended = cli.run(&["import", text(&Path::new(EXAMPLES).join(name))]);
        match reason {
            None => assert_eq!(ended.status, Some(0), "{name}: {}", ended.err),
            Some(reason) => {
                assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{name}: {}", ended.err);
                let shown = ended.err.lines().any(|line| line.trim() == reason);
                assert!(shown, "{name} is not refused because of {reason}: {}", ended.err);
            }
        }
    }
}
