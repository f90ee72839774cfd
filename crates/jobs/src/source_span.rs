//! A text of the user, and places in it that errors point to.

use std::fmt;
use std::ops::Range;

/// Characters of a line in an excerpt: with its indentation, they fit on a terminal of 100 columns.
const SHOWN: usize = 96;

/// A text and its name.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name in errors.
    pub name: String,
    /// The text.
    pub text: String,
    /// Offsets of all lines but the first. Counting lines again for each place would take quadratic time.
    lines: Vec<usize>,
}

impl Source {
    /// A text with this name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let (name, text) = (name.into(), text.into());
        let lines = text.match_indices('\n').map(|(newline, _)| newline + 1).collect();
        Source { name, text, lines }
    }

    /// The span of these bytes.
    pub fn span(&self, bytes: Range<usize>) -> SourceSpan {
        let text = self.text.as_str();
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (start, end) = (floor(bytes.start), floor(bytes.end.max(bytes.start)));
        let before = self.lines.partition_point(|begin| *begin <= start);
        let begin = before.checked_sub(1).map_or(0, |last| self.lines[last]);
        let line = text[begin..].lines().next().unwrap_or_default();
        let column = text[begin..start].chars().count();
        // A span of several lines is marked to the end of the first.
        let rest = line.get(start - begin..).unwrap_or_default();
        let width = text[start..end].chars().count().min(rest.chars().count());
        let shown = line.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        let words = Box::new((self.name.clone(), shown));
        SourceSpan { line: 1 + before, words, column: column + 1, width: width.max(1) }
    }
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// Number of its line, from 1.
    pub line: usize,
    /// The name of the text, and the line.
    words: Box<(String, String)>,
    /// Its column, from 1.
    column: usize,
    /// Number of its characters.
    width: usize,
}

impl SourceSpan {
    /// The line, and a second one that marks the place.
    pub fn excerpt(&self) -> [String; 2] {
        // A long line is cut on both sides of the place.
        let first = (self.column - 1).saturating_sub(SHOWN / 2);
        let line: String = self.words.1.chars().skip(first).take(SHOWN).collect();
        let before = self.column - 1 - first;
        let marks = self.width.min(SHOWN.saturating_sub(before)).max(1);
        [format!("    {line}"), format!("    {}{}", " ".repeat(before), "^".repeat(marks))]
    }
}

/// Formats as `jobs.toml:3:5`.
impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.words.0, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_line_column_and_excerpt() {
        let text = Source::new("x", "one\n\tzwölf = 12\n");
        let span = text.span(5..11);
        assert_eq!(span.to_string(), "x:2:2");
        assert_eq!(span.excerpt(), ["     zwölf = 12", "     ^^^^^"]);
        // Behind the end, and over several lines.
        assert_eq!(text.span(90..99).to_string(), "x:3:1");
        assert_eq!(text.span(0..14).excerpt(), ["    one", "    ^^^"]);
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let span = Source::new("x", "x".repeat(1000) + "y" + &"z".repeat(1000)).span(1000..1001);
        let [line, mark] = span.excerpt();
        assert_eq!((line.chars().count(), mark.find('^')), (4 + SHOWN, line.find('y')));
    }
}
