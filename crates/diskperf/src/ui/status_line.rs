//! A status line on standard error, which is erased afterwards. Silent if there is no terminal.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use report::sanitize;
use report::wrap::COLUMNS;
use unicode_width::UnicodeWidthChar;

/// Moves to the beginning of the line and erases it.
const CLEARED: &str = "\r\u{1b}[2K";

/// Columns that stay free: a terminal shows ^C behind the line. If ^C does not fit, the line is not erased.
const FREE: usize = 3;

/// The sequences that begin and end a colour: cyan, which is readable on light and dark backgrounds.
const COLOUR: (&str, &str) = ("\u{1b}[36m", "\u{1b}[0m");

/// A line that shows the current step. Several threads may share it.
#[derive(Debug)]
pub struct StatusLine {
    is_seen: bool,
    is_coloured: bool,
    /// The text that is shown now, with its colours.
    text: Mutex<String>,
}

/// A part of the line, and whether it has a colour.
pub type Part<'a> = (&'a str, bool);

impl StatusLine {
    /// An empty line. It is shown on a terminal, unless TERM is `dumb` or not set: such a terminal cannot clear a line.
    pub fn new() -> StatusLine {
        let can_clear = env::var_os("TERM").is_some_and(|term| term != "dumb");
        // https://no-color.org: an empty value does not count.
        let is_coloured = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        StatusLine { is_seen: can_clear && io::stderr().is_terminal(), is_coloured, text: Mutex::default() }
    }

    /// True if the line is shown.
    pub fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Shows another text, cut at the width of the terminal. The same text is not written again.
    pub fn say(&self, text: &str) {
        self.say_parts(&[(text, false)]);
    }

    /// Does the same for a text of several parts.
    pub fn say_parts(&self, parts: &[Part]) {
        let columns = kernel::sys::terminal::columns(io::stderr()).unwrap_or(COLUMNS);
        let new = cut(parts, columns.saturating_sub(FREE), self.is_coloured);
        let mut text = self.text();
        if new != *text {
            self.write(&format!("{CLEARED}{new}"));
            *text = new;
        }
    }

    /// Prints something above the line.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let text = self.text();
        if text.is_empty() {
            return print();
        }
        self.write(CLEARED);
        let printed = print();
        self.write(&text);
        printed
    }

    pub fn clear(&self) {
        let mut text = self.text();
        if !text.is_empty() {
            text.clear();
            self.write(CLEARED);
        }
    }

    fn text(&self) -> MutexGuard<'_, String> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Failures are ignored: the reader may be gone.
    fn write(&self, text: &str) {
        if self.is_seen {
            let mut err = io::stderr().lock();
            let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
        }
    }
}

/// The message of an error begins on an empty line.
impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The parts in one line of at most this many columns. Control characters are escaped.
fn cut(parts: &[Part], columns: usize, is_coloured: bool) -> String {
    let (mut line, mut left) = (String::new(), columns);
    for (text, has_colour) in parts {
        let text: String = sanitize::line(text).chars().take_while(|letter| has_room(&mut left, *letter)).collect();
        match *has_colour && is_coloured && !text.is_empty() {
            true => line.extend([COLOUR.0, &text, COLOUR.1]),
            false => line += &text,
        }
    }
    line
}

/// Takes the columns of a character from those that are left: Chinese letters have two, combining marks none. If they
/// do not suffice, none are left, so that nothing follows.
fn has_room(left: &mut usize, letter: char) -> bool {
    let rest = left.checked_sub(letter.width().unwrap_or(0));
    *left = rest.unwrap_or(0);
    rest.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_count_as_columns() {
        let parts = [("rate ", false), ("▁▂▃▄", true), (" (round)", false)];
        assert_eq!(cut(&parts, 80, false), "rate ▁▂▃▄ (round)");
        assert_eq!(cut(&parts, 80, true), "rate \u{1b}[36m▁▂▃▄\u{1b}[0m (round)");
        assert_eq!(cut(&parts, 7, true), "rate \u{1b}[36m▁▂\u{1b}[0m");
        assert_eq!(cut(&parts, 5, true), "rate ");
        assert_eq!(cut(&[("a\u{1b}b", false)], 80, true), "a\\u{1b}b".to_owned());
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        let parts = [("磁盘 ", false), ("e\u{301}x", false)];
        for (columns, expected) in [(7, "磁盘 e\u{301}x"), (6, "磁盘 e\u{301}"), (5, "磁盘 "), (3, "磁"), (1, "")]
        {
            assert_eq!(cut(&parts, columns, false), expected);
        }
    }
}
