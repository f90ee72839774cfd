//! Plain English in README, docs and help: no phrase of `PHRASES`, and no sentence of more than `WORDS` words. Help and
//! glossary are checked on the two pages that `cargo xtask docs --write` generates from the program.
//!
//! The output of commands in ```` ```console ```` blocks is ignored, except that of `diskperf help`.

use super::Finding;

/// Pages outside of `docs`.
pub const PAGES: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "machines/README.md"];

/// The maximum number of words in a sentence.
const WORDS: usize = 35;

/// Phrases, and their replacements.
const PHRASES: [(&str, &str); 12] = [
    ("that is said", "name the program: diskperf warns you"),
    ("is told", "say who reports it, or: is known"),
    ("nobody", "use \"you\", or name the program"),
    ("somebody", "use \"you\", or name the program"),
    ("whoever", "use \"you\", or name the program"),
    ("anew", "again; re-created"),
    ("in an order of its own", "in random order"),
    ("where not given", "[default: X]"),
    ("nothing where", "use \"if\""),
    ("so many", "say N, or name the quantity"),
    ("so much", "say N, or name the quantity"),
    ("of each it", "for each test, diskperf reports"),
];

/// Words after `is no` that make the phrase acceptable.
const AFTER_IS_NO: [&str; 6] = ["longer", "more", "less", "faster", "slower", "larger"];

/// Finds violations on these pages, given as paths and texts.
pub fn check(pages: &[(String, String)]) -> Vec<Finding> {
    pages.iter().flat_map(|(path, text)| findings(path, text)).collect()
}

fn findings(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Paragraph { line, words } in paragraphs(text) {
        let place = format!("{path}:{line}");
        findings.extend(phrases(&words).into_iter().map(|message| Finding::new(&place, message)));
        for sentence in sentences(&words).into_iter().filter(|sentence| sentence.len() > WORDS) {
            let begin = sentence.iter().take(6).copied().collect::<Vec<_>>().join(" ");
            let message = format!("a sentence of {} words, at most {WORDS}: {begin} ...", sentence.len());
            findings.push(Finding::new(&place, message));
        }
    }
    findings
}

/// The words of a paragraph, without code and markup.
#[derive(Debug, PartialEq)]
struct Paragraph {
    /// The line where it begins, from 1.
    line: usize,
    words: Vec<String>,
}

/// The paragraphs of a page:
///   1. an empty line, a heading, a list item, a table cell and a change of indentation begin a new one;
///   2. code in backquotes is one word, and a link counts as its text;
///   3. blocks count only if they are the output of `diskperf help`, without the lines that are commands or options.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut block = Block::None;
    let mut indentation = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            block = if block == Block::None { Block::Other } else { Block::None };
            indentation = None;
            continue;
        }
        if trimmed.starts_with("$ diskperf help") && block != Block::None {
            block = Block::Help;
            continue;
        }
        let is_command = ["diskperf ", "sudo ", "-", "Usage:"].iter().any(|begin| trimmed.starts_with(begin));
        let here = line.len() - line.trim_start().len();
        let is_code = block == Block::None && here >= 4 && !is_item(trimmed) && indentation.is_none();
        if trimmed.is_empty() || block == Block::Other || is_code || (block == Block::Help && is_command) {
            indentation = None;
            continue;
        }
        // 1
        let begins = indentation != Some(here) && block == Block::Help
            || indentation.is_none()
            || is_item(trimmed)
            || ["#", "|", "<!--"].iter().any(|begin| trimmed.starts_with(begin));
        indentation = Some(here);
        let cells: Vec<&str> = if trimmed.starts_with('|') { trimmed.split('|').collect() } else { vec![trimmed] };
        for cell in cells {
            // 2
            let words = plain(cell);
            match paragraphs.last_mut() {
                Some(last) if !begins => last.words.extend(words),
                _ => paragraphs.push(Paragraph { line: index + 1, words }),
            }
        }
    }
    paragraphs
}

/// The kind of block around a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    None,
    Help,
    Other,
}

/// Returns whether a line begins a list item.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || (number.len() < line.len() && number.starts_with(". "))
}

/// The words of a line, without link targets. Code is one word.
fn plain(line: &str) -> Vec<String> {
    let mut text = String::new();
    for (index, part) in line.split('`').enumerate() {
        text += if index % 2 == 1 { "CODE" } else { part };
    }
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        shown += before;
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    shown += rest;
    let words = shown.split_whitespace().map(|word| word.trim_matches(['[', ']', '*', '!', '(', ')']).to_owned());
    words.filter(|word| word.contains(|c: char| c.is_alphanumeric())).collect()
}

/// The sentences of a paragraph. A sentence ends with a full stop or a question mark.
fn sentences(words: &[String]) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    for word in words {
        sentences.last_mut().expect("there is one").push(word.as_str());
        if word.trim_end_matches(['"', '\'', ')', '*']).ends_with(['.', '?']) {
            sentences.push(Vec::new());
        }
    }
    sentences
}

/// The messages about forbidden phrases in a paragraph.
fn phrases(words: &[String]) -> Vec<String> {
    let bare: Vec<String> =
        words.iter().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()).collect();
    let text = format!(" {} ", bare.join(" "));
    let found = PHRASES.iter().filter(|(phrase, _)| text.contains(&format!(" {phrase} ")));
    let mut messages: Vec<String> = found.map(|(phrase, instead)| format!("\"{phrase}\": {instead}")).collect();
    let is_no = bare.windows(4).any(|words| {
        words[1] == "is" && words[2] == "no" && words[0] != "there" && !AFTER_IS_NO.contains(&words[3].as_str())
    });
    if is_no {
        messages.push("\"is no\" before a noun: \"is not a\"".to_owned());
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_in(text: &str) -> Vec<String> {
        findings("a.md", text).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn phrases_are_found_across_lines() {
        for (phrase, instead) in PHRASES {
            let text = format!("# Title\n\nIt begins {phrase} and ends.\n");
            assert_eq!(findings_in(&text), [format!("a.md:3: \"{phrase}\": {instead}")]);
            let upper = text.to_uppercase();
            assert_eq!(findings_in(&upper).len(), 1, "{phrase}");
            let broken = text.replace(' ', "\n");
            assert_eq!(findings_in(&broken).len(), 1, "{phrase}");
            assert_eq!(findings_in(&text.replace(phrase, &format!("`{phrase}`"))), [""; 0], "code is no prose");
        }
        assert_eq!(findings_in("A renewed manewver, not so.\n\nMany of them.\n"), [""; 0]);
    }

    #[test]
    fn is_no_before_a_noun_is_found() {
        assert_eq!(findings_in("The file is no regular file.\n"), ["a.md:1: \"is no\" before a noun: \"is not a\""]);
        assert_eq!(findings_in("There is no release, and the file is no longer there.\n"), [""; 0]);
    }

    #[test]
    fn long_sentences_are_found_and_short_ones_are_not() {
        let words = |count: usize| vec!["word"; count].join(" ");
        assert_eq!(findings_in(&format!("{}.\n", words(WORDS))), [""; 0]);
        let long = findings_in(&format!("{}\n{}.\n", words(WORDS), words(1)));
        assert_eq!(long, [format!("a.md:1: a sentence of 36 words, at most 35: {} ...", words(6))]);
        assert_eq!(findings_in(&format!("{}. {}.\n", words(WORDS), words(WORDS))), [""; 0]);
        for apart in ["\n\n", "\n- ", "\n2. ", "\n# "] {
            assert_eq!(findings_in(&format!("{}{apart}{}\n", words(WORDS), words(WORDS))), [""; 0], "{apart:?}");
        }
        assert_eq!(findings_in(&format!("| {} | {} |\n", words(WORDS), words(WORDS))), [""; 0]);
        assert_eq!(findings_in(&format!("| {} |\n", words(WORDS + 1))).len(), 1);
    }

    #[test]
    fn help_is_read_and_other_output_is_not() {
        let block = |command: &str| format!("```console\n$ {command}\nNobody knows.\n```\n");
        assert_eq!(findings_in(&block("diskperf list")), [""; 0]);
        assert_eq!(findings_in(&block("diskperf help run")).len(), 1);
        assert_eq!(findings_in(&format!("{}\nNobody knows.\n", block("diskperf list"))).len(), 1);
        assert_eq!(findings_in("Text:\n\n    somebody --option\n"), [""; 0], "code is no prose");
        assert_eq!(findings_in("- An item\n  that somebody wrote.\n").len(), 1);
    }
}
