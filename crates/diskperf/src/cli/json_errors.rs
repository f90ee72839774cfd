//! Delivers the error of a wrong command line as JSON, if the line asks for JSON: in the same document as a run, and to
//! the same file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use stats::Problem;

use crate::documents::inputs;
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

/// Delivers the document of a clap error, if the words ask for JSON.
pub fn print_clap_error(words: &[OsString], error: &clap::Error) {
    print(words, || problem(&error.to_string()));
}

/// Delivers the document of an error, unless the command has delivered one, and returns the error for the caller to
/// print.
pub fn print_error(words: &[OsString], error: Error) -> Error {
    print(words, || session::problem(&error));
    error
}

fn print(words: &[OsString], problem: impl FnOnce() -> Problem) {
    if asks_for_json(words) && !output::has_delivered() {
        let text = output_format::json(&session::of_nothing(words, problem()));
        let delivered = results_file(words).map(|(file, others)| deliver(&text, file, &others));
        if !matches!(delivered, Some(Ok(()))) {
            // Ignore a failure to print: the error itself follows, and tells more.
            let _ = output::print(&text);
        }
    }
}

/// Writes the file of the results. Refuses a file that another word may name, and standard input: the command ended
/// before it knew all of its inputs.
fn deliver(text: &str, file: &OsStr, others: &[&OsString]) -> Result<(), Error> {
    let paths = others.iter().flat_map(|word| paths_in(word));
    paths.chain([Path::new("/dev/stdin")]).try_for_each(inputs::will_read)?;
    output::deliver(text, Some(Path::new(file)))
}

/// The paths that a word may contain: `/a`, `name=/a`, `file:/a`, `sim:./a,drive=ra81`.
fn paths_in(word: &OsStr) -> impl Iterator<Item = &Path> {
    let bytes = word.as_bytes();
    let begins = (0..bytes.len()).filter(|place| b"=:".contains(&bytes[*place])).map(|place| place + 1);
    let parts = std::iter::once(0).chain(begins).map(|begin| &bytes[begin..]);
    let cut = |part: &[u8]| part.iter().position(|byte| *byte == b',').unwrap_or(part.len());
    parts.flat_map(move |part| [part, &part[..cut(part)]]).map(|part| Path::new(OsStr::from_bytes(part)))
}

/// The FILE of `-o FILE`, and the other words. `None` if the results go to standard output, and for a command whose
/// JSON does not go to that file, such as `probe`.
fn results_file(words: &[OsString]) -> Option<(&OsStr, Vec<&OsString>)> {
    let grammar = super::command();
    let command = words.get(1).and_then(|name| grammar.find_subcommand(name)).unwrap_or(&grammar);
    // The names of the fields of `OutputArguments`.
    let has = |name: &str| command.get_arguments().any(|argument| argument.get_id() == name);
    if !has("json") || !has("file") {
        return None;
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (place, length, file) = (1..end).find_map(|place| {
        let word = words[place].as_bytes();
        if word == b"-o" || word == b"--output" {
            let is_value = |next: &&OsString| *next == "-" || !next.as_bytes().starts_with(b"-");
            return words[..end].get(place + 1).filter(is_value).map(|next| (place, 2, next.as_os_str()));
        }
        let of_short = || word.strip_prefix(b"-o").map(|file| file.strip_prefix(b"=").unwrap_or(file));
        word.strip_prefix(b"--output=").or_else(of_short).map(|file| (place, 1, OsStr::from_bytes(file)))
    })?;
    Some((file, words[..place].iter().chain(&words[place + length..]).collect()))
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
    fn the_file_of_the_results_is_found_in_a_wrong_command_line() {
        let file = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            results_file(&words).map(|(file, others)| (file.to_string_lossy().into_owned(), others.len()))
        };
        for (line, expected, others) in [
            ("d run --bogus -o x --json", "x", 4),
            ("d show a -ox --json", "x", 4),
            ("d . -o=x --json", "x", 3),
            ("d list --output x --json", "x", 3),
            ("d list --output=x=y --json", "x=y", 3),
            ("d list -o - --json", "-", 3),
        ] {
            assert_eq!(file(line), Some((expected.to_owned(), others)), "{line}");
        }
        for line in [
            "d list --json",
            "d list -o --json",
            "d list --json -o",
            "d run . --json -- cc -o x",
            "d probe a --json -o x",
            "d report a --format json -o x",
        ] {
            assert_eq!(file(line), None, "{line}");
        }
    }

    #[test]
    fn the_paths_in_a_word_are_found() {
        let has = |word: &str, path: &str| paths_in(OsStr::new(word)).any(|found| found == Path::new(path));
        for word in ["a", "name=a", "--store=a", "file:a", "old=sim:a,drive=ra81"] {
            assert!(has(word, "a"), "{word}");
        }
        assert!(!has("b/a", "a"));
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
