//! Only the program's `ui` writes to the terminal: other code returns its results, or reports events.

use super::Finding;
use super::source::{File, has_word};

/// The folder that may print.
const UI: &str = "crates/diskperf/src/ui/";

/// Crates of tests and of tools that are not installed: they print as they like.
const TOOLS: [&str; 4] = ["calibration", "overhead", "testkit", "xtask"];

/// Code that prints, or that opens the terminal to print.
const WORDS: [&str; 8] = ["print!", "println!", "eprint!", "eprintln!", "dbg!", "remark!", "io::stdout", "io::stderr"];

/// Files outside `ui` that still print.
const PRINTING: [&str; 25] = [
    "crates/diskperf/src/aging.rs",
    "crates/diskperf/src/choose/conductor.rs",
    "crates/diskperf/src/cli/command.rs",
    "crates/diskperf/src/cli/mix.rs",
    "crates/diskperf/src/commands/clean.rs",
    "crates/diskperf/src/commands/compare.rs",
    "crates/diskperf/src/commands/copy.rs",
    "crates/diskperf/src/commands/delete.rs",
    "crates/diskperf/src/commands/list.rs",
    "crates/diskperf/src/commands/report.rs",
    "crates/diskperf/src/commands/run.rs",
    "crates/diskperf/src/commands/simulate.rs",
    "crates/diskperf/src/conditioning.rs",
    "crates/diskperf/src/documents/stored.rs",
    "crates/diskperf/src/error/mod.rs",
    "crates/diskperf/src/keeper.rs",
    "crates/diskperf/src/load_spec.rs",
    "crates/diskperf/src/memory.rs",
    "crates/diskperf/src/remains.rs",
    "crates/diskperf/src/session.rs",
    "crates/diskperf/src/sized.rs",
    "crates/diskperf/src/verification/image.rs",
    "crates/diskperf/src/verification/mod.rs",
    "crates/diskperf/src/verification/steps.rs",
    "crates/diskperf/src/worlds.rs",
];

/// Files that print and are not on the list, and lines of the list that no file needs.
pub fn check(files: &[File]) -> Vec<Finding> {
    printing(files, &PRINTING)
}

fn printing(files: &[File], known: &[&str]) -> Vec<Finding> {
    let is_program = |file: &&File| file.crate_name().is_some_and(|name| !TOOLS.contains(&name)) && !file.is_test();
    let of_program = files.iter().filter(|file| file.path.ends_with(".rs") && !file.path.starts_with(UI));
    let mut found: Vec<(&str, &str)> = Vec::new();
    for file in of_program.filter(is_program) {
        found.extend(WORDS.iter().find(|word| has_word(&file.code, word)).map(|word| (file.path.as_str(), *word)));
    }
    let unknown = found.iter().filter(|(path, _)| !known.contains(path));
    let message = |word: &str| format!("{word} outside {UI}: return the text, or report an event");
    let mut findings: Vec<Finding> = unknown.map(|(path, word)| Finding::new(*path, message(word))).collect();
    let unneeded = known.iter().filter(|path| !found.iter().any(|(printing, _)| printing == *path));
    findings.extend(unneeded.map(|path| Finding::new(*path, "is on the list PRINTING and does not print")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        printing(&[File::new(path, text)], &[]).len()
    }

    #[test]
    fn a_file_outside_ui_that_prints_is_found() {
        for word in WORDS {
            assert_eq!(count("crates/kernel/src/a.rs", &format!("fn f() {{ {word}(\"\") }}")), 1, "{word}");
            assert_eq!(count("crates/diskperf/src/ui/a.rs", &format!("fn f() {{ {word}(\"\") }}")), 0, "{word}");
            assert_eq!(count("crates/kernel/src/a.rs", &format!("// {word}\nfn f() {{}}")), 0, "{word}");
        }
        assert_eq!(count("crates/kernel/src/a.rs", "fn f() { fingerprint!(); command.stdout(io::Stdio) }"), 0);
        assert_eq!(count("crates/kernel/tests/a.rs", "println!()"), 0);
        assert_eq!(count("xtask/src/a.rs", "println!()"), 0);
    }

    #[test]
    fn a_file_that_no_longer_prints_leaves_the_list() {
        let known = ["crates/kernel/src/a.rs"];
        assert_eq!(printing(&[File::new(known[0], "println!()")], &known), []);
        assert_eq!(printing(&[File::new(known[0], "")], &known).len(), 1);
    }
}
