//! Only the program's `ui` writes to the terminal. Other code returns its results or reports events.

use super::Finding;
use super::source::{File, has_word};

/// The folder that may print.
const UI: &str = "crates/diskperf/src/ui/";

/// Crates of tests and of tools that are not installed. They may print.
const TOOLS: [&str; 4] = ["calibration", "overhead", "testkit", "xtask"];

/// Words of code that prints or opens the terminal to print.
const WORDS: [&str; 8] = ["print!", "println!", "eprint!", "eprintln!", "dbg!", "remark!", "io::stdout", "io::stderr"];

/// Finds files outside `ui` that print.
pub fn check(files: &[File]) -> Vec<Finding> {
    let is_program = |file: &&File| file.crate_name().is_some_and(|name| !TOOLS.contains(&name)) && !file.is_test();
    let of_program = files.iter().filter(|file| file.path.ends_with(".rs") && !file.path.starts_with(UI));
    let finding = |file: &File| {
        let word = WORDS.iter().find(|word| has_word(&file.code, word))?;
        Some(Finding::new(&*file.path, format!("{word} outside {UI}: return the text, or report an event")))
    };
    of_program.filter(is_program).filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&[File::new(path, text)]).len()
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
}
