//! Text that others chose - names of targets and devices, labels, what mkfs said, what a stored run says - without what
//! a terminal would take for a command.
//!
//! What is taken out is shown as Rust writes it in a string (`\u{1b}`, `\n`), so that two names stay two names. Bytes
//! of a name that are not UTF-8 (`units::name`) are shown as `\xFF`.

use std::borrow::Cow;

use units::name;

pub use units::name::is_command;

/// What is shown in its place.
pub fn escape(character: char) -> String {
    match name::byte(character) {
        Some(byte) => format!("\\x{byte:02X}"),
        None => character.escape_default().to_string(),
    }
}

/// A text of one line.
pub fn line(text: &str) -> Cow<'_, str> {
    without(text, is_command)
}

/// A text of many lines, whose columns may be made by tabs.
pub fn lines(text: &str) -> Cow<'_, str> {
    without(text, |character| is_command(character) && !matches!(character, '\n' | '\t'))
}

fn without(text: &str, is_command: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_command(character) {
            plain += &escape(character);
        } else {
            plain.push(character);
        }
    }
    Cow::Owned(plain)
}

/// What stands before what a command said that failed.
pub const SAID: &str = "; it said: ";

/// Of what it said people are shown so many characters: two lines of a terminal and a half.
const LONGEST_SAID: usize = 200;

/// The same, with the end only of what a failed command said at length: what it says last tells why.
pub fn brief(text: &str) -> Cow<'_, str> {
    let Some((before, said)) = text.split_once(SAID) else { return Cow::Borrowed(text) };
    match said.char_indices().rev().nth(LONGEST_SAID - 1) {
        Some((at, _)) if at > 0 => Cow::Owned(format!("{before}{SAID}...{}", &said[at..])),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_saying_the_end_is_shown() {
        assert_eq!(brief("short; it said: why"), "short; it said: why");
        let long = format!("short{SAID}{}why", "é".repeat(300));
        assert_eq!(brief(&long), format!("short{SAID}...{}why", "é".repeat(197)));
    }

    #[test]
    fn what_a_terminal_obeys_is_shown_instead() {
        assert_eq!(line("größe 8 KiB – ok"), "größe 8 KiB – ok");
        assert_eq!(line("\u{1b}[2Ja\nb\t\u{9b}31m\r"), "\\u{1b}[2Ja\\nb\\t\\u{9b}31m\\r");
        assert_eq!(lines("a\tb\nc\r\u{7f}\u{202e}d"), "a\tb\nc\\r\\u{7f}\\u{202e}d");
        assert!(matches!(lines("a\tb\n"), Cow::Borrowed(_)));
        assert_eq!(line(&name::text(b"a\xff\xc3\n")), "a\\xFF\\xC3\\n");
    }
}
