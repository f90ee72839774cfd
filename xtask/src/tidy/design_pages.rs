//! The design pages, ARCHITECTURE.md and those in `docs/design`, name only files and folders that exist. The overview
//! stays short.
//!
//! Policy:
//!   1. code in backquotes is a path if it has a slash (but not at its beginning), or the extension of one of our
//!      files. Code with characters that our paths do not have (`*`, `:`, spaces) is not a path;
//!   2. a path is relative to the last folder named before it in the same paragraph, list or table, or to the root of
//!      the project;
//!   3. the target of a link is relative to the folder of its page;
//!   4. blocks between lines of ```` ``` ```` are ignored.

use super::Finding;

/// The overview.
const OVERVIEW: &str = "ARCHITECTURE.md";

/// Its maximum length in bytes. Our choice: users do not read a longer overview to its end.
const BYTES: usize = 8_000;

/// The folder of the other pages.
const FOLDER: &str = "docs/design/";

/// The extensions of files that a page may name without their folder.
const ENDINGS: [&str; 8] = [".rs", ".md", ".toml", ".sql", ".txt", ".json", ".css", ".js"];

/// Returns whether the path is a design page.
pub fn is_page(path: &str) -> bool {
    path == OVERVIEW || path.starts_with(FOLDER) && path.ends_with(".md")
}

/// Finds paths on these pages that the tree does not have, and an overview that is too long. `tree` is a list of files.
pub fn check(pages: &[(String, String)], tree: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !pages.iter().any(|(path, _)| path == OVERVIEW) {
        findings.push(Finding::new(OVERVIEW, "is missing"));
    }
    for (path, text) in pages {
        if path == OVERVIEW && text.len() > BYTES {
            let message = format!("has {} bytes, at most {BYTES}; details belong in {FOLDER}", text.len());
            findings.push(Finding::new(path, message));
        }
        findings.extend(missing(path, text, tree));
    }
    findings
}

/// Finds the paths of one page that the tree does not have.
fn missing(page: &str, text: &str, tree: &[String]) -> Vec<Finding> {
    let here = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    let mut last: Option<&str> = None;
    let mut is_block = false;
    for (index, line) in text.lines().enumerate() {
        // 4
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            continue;
        }
        if is_block {
            continue;
        }
        if line.trim().is_empty() {
            last = None;
        }
        let place = format!("{page}:{}", index + 1);
        for named in line.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            // 2
            if last.is_some_and(|folder| exists(tree, &format!("{folder}/{named}"))) {
                continue;
            }
            let folder = named.trim_end_matches('/');
            if !exists(tree, named) {
                findings.push(Finding::new(&place, format!("names {named}, which does not exist")));
            } else if is_folder(tree, folder) {
                last = Some(folder);
            }
        }
        // 3
        for target in links(line) {
            if !resolved(here, target).is_some_and(|path| exists(tree, &path)) {
                findings.push(Finding::new(&place, format!("links to {target}, which does not exist")));
            }
        }
    }
    findings
}

/// Returns whether code in backquotes is a path. 1
fn is_path(code: &str) -> bool {
    let is_plain = code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
    let has_slash = code.contains('/') && !code.starts_with('/');
    is_plain && (has_slash || ENDINGS.iter().any(|ending| code.ends_with(ending)))
}

/// Returns whether the tree has this file or folder. A path with a final slash is a folder.
fn exists(tree: &[String], path: &str) -> bool {
    match path.strip_suffix('/') {
        Some(folder) => is_folder(tree, folder),
        None => tree.iter().any(|file| file == path) || is_folder(tree, path),
    }
}

/// Returns whether the tree has a file in this folder or below it.
fn is_folder(tree: &[String], folder: &str) -> bool {
    tree.iter().any(|file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// The targets of the links in a line, without links to other sites and to the same page.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://")).filter_map(|target| {
        let path = target.split('#').next().unwrap_or_default();
        (!path.is_empty()).then_some(path)
    })
}

/// Resolves a link in this folder to a path from the root; `None` if it leaves the tree.
fn resolved(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop()?;
            }
            "" | "." => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Vec<String> {
        ["ARCHITECTURE.md", "README.md", "crates/a/src/lib.rs", "crates/a/src/b/c.rs", "docs/design/a.md"]
            .map(str::to_owned)
            .to_vec()
    }

    /// The findings for a page in `docs/design` with this text.
    fn findings_in(text: &str) -> Vec<String> {
        let pages = [(OVERVIEW.to_owned(), String::new()), ("docs/design/a.md".to_owned(), text.to_owned())];
        check(&pages, &tree()).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn existing_paths_are_accepted() {
        for text in [
            "`crates/a/src/lib.rs`, `crates/a/src/b` and `crates/a/src/b/`\n",
            "[a page](a.md), [a part](a.md#part), [here](#part), [up](../../README.md), [a site](https://a.b/c.rs)\n",
            "| `crates/a/src/` | `lib.rs`, `b/` |\n| other | `b/c.rs` |\n",
            "`/proc/PID/fd`, `mkfs.*`, `image:a/b`, `World::run`, `--write`, `a or b.rs`, 2.rs, 1/2\n",
            "```text\n`gone.rs`\n```\n",
        ] {
            assert_eq!(findings_in(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn missing_paths_are_found() {
        for named in ["gone.rs", "crates/gone/", "crates/a/src/lib", "crates/a/src/lib.rs/", "crates/a/src/b/lib.rs"] {
            let text = format!("Title\n\nSee `{named}`.\n");
            assert_eq!(findings_in(&text), [format!("docs/design/a.md:3: names {named}, which does not exist")]);
        }
        for target in ["gone.md", "../gone.md", "../../../README.md", "/README.md"] {
            let text = format!("[a page]({target}#part)\n");
            assert_eq!(findings_in(&text), [format!("docs/design/a.md:1: links to {target}, which does not exist")]);
        }
        let overview = [(OVERVIEW.to_owned(), "`crates/gone.rs`".to_owned())];
        assert_eq!(check(&overview, &tree())[0].place, "ARCHITECTURE.md:1");
    }

    #[test]
    fn a_folder_applies_only_to_its_paragraph() {
        assert_eq!(findings_in("In `crates/a/src/b/` is\n`c.rs`.\n"), [""; 0]);
        assert_eq!(findings_in("In `crates/a/src/b/`.\n\nThere is `c.rs`.\n").len(), 1);
        assert_eq!(findings_in("`c.rs` is in `crates/a/src/b/`.\n").len(), 1);
        assert_eq!(findings_in("| `crates/a/src/b/` | `c.rs` |\n| `docs/design/` | `c.rs` |\n").len(), 1);
    }

    #[test]
    fn the_overview_exists_and_is_short() {
        let of_length = |length: usize| [(OVERVIEW.to_owned(), "a".repeat(length))];
        assert_eq!(check(&of_length(BYTES), &tree()), []);
        assert!(check(&of_length(BYTES + 1), &tree())[0].message.contains("has 8001 bytes"));
        assert_eq!(check(&[], &tree())[0].message, "is missing");
    }

    #[test]
    fn only_pages_about_the_design_are_read() {
        assert!(is_page("ARCHITECTURE.md") && is_page("docs/design/a.md"));
        assert!(!is_page("docs/safety.md") && !is_page("docs/design/a.svg"));
    }
}
