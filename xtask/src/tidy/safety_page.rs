//! The table of `docs/safety.md`: each situation names the test that checks it, and that test exists. `cargo xtask
//! test` shows whether it passes.

use super::Finding;
use super::source::File;

/// The page.
pub const PAGE: &str = "docs/safety.md";

/// The minimum number of situations, as required when the page was written.
const LEAST: usize = 60;

/// Finds rows without a test, tests that do not exist, and too few rows.
pub fn check(page: &str, files: &[File]) -> Vec<Finding> {
    let rows: Vec<(usize, &str)> = page.lines().enumerate().filter(|(_, line)| is_row(line)).collect();
    let mut findings: Vec<Finding> = rows
        .iter()
        .filter_map(|(index, row)| {
            let place = format!("{PAGE}:{}", index + 1);
            let Some((test, path)) = named(row) else {
                return Some(Finding::new(place, "names no test; end the row with | `test` in `file` |"));
            };
            let is_there = files.iter().any(|file| file.path == path && has_test(&file.code, test));
            (!is_there).then(|| Finding::new(place, format!("names the test {test}, which {path} does not have")))
        })
        .collect();
    if rows.len() < LEAST {
        let message = format!("has {} situations; {LEAST} are promised", rows.len());
        findings.push(Finding::new(PAGE, message));
    }
    findings
}

/// Returns whether the line is a table row, other than the head and the line below it.
fn is_row(line: &str) -> bool {
    line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| situation |")
}

/// The test that a row names, and the test's file.
fn named(row: &str) -> Option<(&str, &str)> {
    let cell = row.strip_suffix(" |")?.rsplit(" | ").next()?;
    let (test, path) = cell.split_once(" in ")?;
    let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    Some((quoted(test).filter(is_name)?, quoted(path)?))
}

/// The text between two backquotes.
fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('`')?.strip_suffix('`')
}

/// Returns whether Rust code has this test: the function has the attribute, with only other attributes between them.
fn has_test(code: &str, test: &str) -> bool {
    let head = format!("fn {test}(");
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let functions = lines.iter().enumerate().filter(|(_, line)| line.starts_with(&head));
    functions.into_iter().any(|(index, _)| {
        let above = lines[..index].iter().rev().take_while(|line| line.starts_with("#["));
        above.into_iter().any(|line| *line == "#[test]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: &[&str]) -> String {
        let filled = "| a | b | `holds` in `a.rs` |\n".repeat(LEAST);
        format!("# Title\n\n| situation | rule | test |\n| --- | --- | --- |\n{filled}{}\n", rows.join("\n"))
    }

    fn files() -> Vec<File> {
        vec![File::new("a.rs", "#[test]\nfn holds() {}\n\nfn helper() {}\n"), File::new("b.rs", "")]
    }

    #[test]
    fn rows_must_name_existing_tests() {
        assert_eq!(check(&page(&[]), &files()), []);
        for row in ["| a | b | `gone` in `a.rs` |", "| a | b | `helper` in `a.rs` |", "| a | b | `holds` in `b.rs` |"] {
            let found = check(&page(&[row]), &files());
            assert_eq!(found.len(), 1, "{row}");
            assert!(found[0].place == format!("{PAGE}:{}", 5 + LEAST) && found[0].message.contains("does not have"));
        }
        for row in ["| a | b | holds |", "| a | b | |", "| a | b | `holds` |"] {
            assert!(check(&page(&[row]), &files())[0].message.contains("names no test"), "{row}");
        }
    }

    #[test]
    fn the_number_of_rows_must_not_shrink() {
        let fewer = page(&[]).replacen("| a | b | `holds` in `a.rs` |\n", "", 1);
        assert!(check(&fewer, &files())[0].message.contains("has 59 situations"));
    }
}
