//! What is wrong with a command line, as a document, where the line asks for JSON: the same that a run prints.

use std::ffi::OsString;

use stats::Problem;

use crate::error::Error;
use crate::session;
use crate::ui::layout;
use crate::ui::output;

/// Whether these words ask for JSON. They may make no sense otherwise.
pub fn asks_for_json(words: &[OsString]) -> bool {
    let own: Vec<&OsString> = words.iter().take_while(|word| *word != "--").collect();
    own.iter().any(|word| *word == "--json" || *word == "--format=json")
        || own.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Prints the document of words that do not follow the grammar.
pub fn document(words: &[OsString], error: &clap::Error) {
    print(words, || problem(&error.to_string()));
}

/// The same for an error, unless the command has delivered a document with it. The error is still to be printed.
pub fn told(words: &[OsString], error: Error) -> Error {
    print(words, || session::problem(&error));
    error
}

fn print(words: &[OsString], problem: impl FnOnce() -> Problem) {
    if asks_for_json(words) && !output::has_delivered() {
        // The error itself follows, and tells more than that nothing could be printed.
        let _ = output::print(&layout::json(&session::of_nothing(words, problem())));
    }
}

/// What the library says: paragraphs, of which the first is the mistake, and others are tips, the usage, where to read
/// on.
fn problem(said: &str) -> Problem {
    let mut paragraphs =
        said.trim().split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let mistake = paragraphs.next().unwrap_or_default();
    let message = mistake.strip_prefix("error: ").unwrap_or(&mistake).to_owned();
    let rest: Vec<String> = paragraphs.collect();
    let tip = rest.iter().find_map(|paragraph| paragraph.strip_prefix("tip: "));
    let hint = tip.or_else(|| rest.iter().find(|paragraph| paragraph.starts_with("Usage: ")).map(String::as_str));
    Problem { target: None, program: None, phase: None, message, hint: hint.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_asked_for_before_the_dashes() {
        let asks = |line: &str| asks_for_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(asks("diskperf run --bogus --json") && asks("diskperf --format=json") && asks("d list --format json"));
        assert!(!asks("diskperf run . -- ls --json") && !asks("diskperf --format csv json"));
    }

    #[test]
    fn the_mistake_and_the_tip_are_found() {
        let said = "error: unexpected argument '--bogus' found\n\n  tip: a similar\n  one\n\nUsage: diskperf\n";
        let found = problem(said);
        assert_eq!(found.message, "unexpected argument '--bogus' found");
        assert_eq!(found.hint.as_deref(), Some("a similar one"));
        let found = problem("error: these are missing:\n  <FILE>\n\nUsage: diskperf copy <OLD>\n");
        assert_eq!(
            (found.message.as_str(), found.hint.as_deref()),
            ("these are missing: <FILE>", Some("Usage: diskperf copy <OLD>"))
        );
    }
}
