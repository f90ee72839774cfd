//! Prints the error of a wrong command line as JSON, if the line asks for JSON: in the same document as a run.

use std::ffi::OsString;

use stats::Problem;

use crate::error::Error;
use crate::session;
use crate::ui::output;
use crate::ui::output_format;

/// True if these words ask for JSON. They need not be a valid command line.
pub fn asks_for_json(words: &[OsString]) -> bool {
    let own: Vec<&OsString> = words.iter().take_while(|word| *word != "--").collect();
    own.iter().any(|word| *word == "--json" || *word == "--format=json")
        || own.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Prints the document of a clap error, if the words ask for JSON.
pub fn print_clap_error(words: &[OsString], error: &clap::Error) {
    print(words, || problem(&error.to_string()));
}

/// Prints the document of an error, unless the command has delivered one, and returns the error for the caller to
/// print.
pub fn print_error(words: &[OsString], error: Error) -> Error {
    print(words, || session::problem(&error));
    error
}

fn print(words: &[OsString], problem: impl FnOnce() -> Problem) {
    if asks_for_json(words) && !output::has_delivered() {
        // Ignore a failure to print: the error itself follows, and tells more.
        let _ = output::print(&output_format::json(&session::of_nothing(words, problem())));
    }
}

/// Converts a message of clap. Its first paragraph is the mistake; the others are tips, the usage, and a pointer to the
/// help.
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
    fn only_json_options_before_the_dashes_count() {
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
