//! Text from others (names of targets and devices, labels, output of mkfs, stored runs) without terminal control
//! characters.
//!
//! A control character is shown as Rust writes it in a string (`\u{1b}`, `\n`), so that two different names stay
//! different. Bytes of a name that are not UTF-8 (`units::name`) are shown as `\xFF`.

use std::borrow::Cow;

use units::name;

pub use units::name::is_command;

/// Returns the text that is shown in place of a control character or a byte that is not UTF-8.
pub fn escape(character: char) -> String {
    match name::byte(character) {
        Some(byte) => format!("\\x{byte:02X}"),
        None => character.escape_default().to_string(),
    }
}

/// Escapes a text of one line.
pub fn line(text: &str) -> Cow<'_, str> {
    without(text, is_command)
}

/// Escapes a text of several lines. Line ends and tabs, which may separate columns, are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    without(text, |character| is_command(character) && !matches!(character, '\n' | '\t'))
}

/// Escapes a text of one line for an element or an attribute of XML. Terminal control characters are written as in
/// Rust, as everywhere, and so are the two characters that XML does not allow.
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in line(text).chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\u{fffe}' | '\u{ffff}' => escaped.extend(character.escape_unicode()),
            other => escaped.push(other),
        }
    }
    escaped
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

/// Separates our message from the output of a command that failed.
pub const SAID: &str = "; it said: ";

/// The most characters of that output that are shown: two and a half lines of a terminal.
const LONGEST_SAID: usize = 200;

/// Shortens the output of a failed command to its end: the last words tell the reason.
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
