//! A text that somebody wrote, and where in it something stands: what an error points to.

use std::fmt;
use std::ops::Range;

/// So much of a line is shown: what stands on a terminal beside nothing else.
const SHOWN: usize = 96;

/// A text with the name that people know it by.
#[derive(Clone, Debug)]
pub struct Text {
    /// As errors name it.
    pub name: String,
    /// What it holds.
    pub text: String,
    /// Where its lines begin, but for the first. To count them for each place takes a time that grows with the square of
    /// the text.
    lines: Vec<usize>,
}

impl Text {
    /// A text of this name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Text {
        let (name, text) = (name.into(), text.into());
        let lines = text.match_indices('\n').map(|(newline, _)| newline + 1).collect();
        Text { name, text, lines }
    }

    /// Where these bytes of it stand.
    pub fn spot(&self, span: Range<usize>) -> Spot {
        let text = self.text.as_str();
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (start, end) = (floor(span.start), floor(span.end.max(span.start)));
        let before = self.lines.partition_point(|begin| *begin <= start);
        let begin = before.checked_sub(1).map_or(0, |last| self.lines[last]);
        let line = text[begin..].lines().next().unwrap_or_default();
        let column = text[begin..start].chars().count();
        // What goes on in the next line is shown to the end of the first.
        let rest = line.get(start - begin..).unwrap_or_default();
        let width = text[start..end].chars().count().min(rest.chars().count());
        let shown = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        Spot { line: 1 + before, words: Box::new((self.name.clone(), shown)), column: column + 1, width: width.max(1) }
    }
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its line, from 1.
    pub line: usize,
    /// The name of the text, and the line itself.
    words: Box<(String, String)>,
    /// Its column, from 1.
    column: usize,
    /// How many characters are meant.
    width: usize,
}

impl Spot {
    /// The line itself, and a second one below it that points.
    pub fn excerpt(&self) -> [String; 2] {
        // Of a long line, what lies around the place.
        let first = (self.column - 1).saturating_sub(SHOWN / 2);
        let line: String = self.words.1.chars().skip(first).take(SHOWN).collect();
        let before = self.column - 1 - first;
        let marks = self.width.min(SHOWN.saturating_sub(before)).max(1);
        [format!("    {line}"), format!("    {}{}", " ".repeat(before), "^".repeat(marks))]
    }
}

/// `jobs.toml:3:5`
impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.words.0, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text::new("x", text)
    }

    #[test]
    fn a_place_is_told_by_line_and_column_and_shown() {
        let text = text("one\n\tzwölf = 12\n");
        let spot = text.spot(5..11);
        assert_eq!(spot.to_string(), "x:2:2");
        assert_eq!(spot.excerpt(), ["     zwölf = 12", "     ^^^^^"]);
        // Behind the end, and over several lines.
        assert_eq!(text.spot(90..99).to_string(), "x:3:1");
        assert_eq!(text.spot(0..14).excerpt(), ["    one", "    ^^^"]);
    }

    #[test]
    fn of_a_long_line_what_lies_around_the_place_is_shown() {
        let spot = text(&("x".repeat(1000) + "y" + &"z".repeat(1000))).spot(1000..1001);
        let [line, mark] = spot.excerpt();
        assert_eq!((line.chars().count(), mark.find('^')), (4 + SHOWN, line.find('y')));
    }
}
