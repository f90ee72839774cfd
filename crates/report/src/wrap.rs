//! Paragraphs after a label, and long lines, broken into lines that fit the page.

use crate::page::Page;

/// Longest line in columns, even on a wider page: longer lines are tiring to read. It is the usual width of a terminal.
pub const COLUMNS: usize = 80;

/// Returns the label and the words, which begin at column `indent` in every line. A word longer than a line is not
/// broken. A label that reaches column `indent` gets its own line.
pub fn hanging(page: Page, label: &str, indent: usize, words: &str) -> String {
    let columns = page.columns.map_or(COLUMNS, |columns| columns.min(COLUMNS));
    let length = label.chars().count();
    let mut text = label.to_owned();
    if length >= indent {
        text.push('\n');
    }
    text += &" ".repeat(if length >= indent { indent } else { indent - length });
    text += &flowing(words, indent, indent, columns);
    text.trim_end().to_owned() + "\n"
}

/// Breaks each line that is longer than the page; its continuation is indented by two more columns.
pub fn wrapped(text: &str, page: Page) -> String {
    let columns = page.width();
    let line = |line: &str| {
        let words = line.trim_start();
        let begins = line.chars().count() - words.chars().count();
        match line.chars().count() {
            length if length <= columns => format!("{line}\n"),
            _ => format!("{:begins$}{}\n", "", flowing(words, begins, begins + 2, columns)),
        }
    };
    text.lines().map(line).collect()
}

/// Returns the words as lines. The first word begins at column `begins`; later lines begin at column `indent`.
fn flowing(words: &str, begins: usize, indent: usize, columns: usize) -> String {
    let mut text = String::new();
    let mut column = begins;
    // Several spaces between two words are kept, except at a line break.
    let mut spaces = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if length == 0 {
            spaces += 1;
            continue;
        }
        if spaces > 0 && column + spaces + length > columns {
            text += &format!("\n{:indent$}", "");
            column = indent;
        } else {
            text += &" ".repeat(spaces);
            column += spaces;
        }
        text += word;
        column += length;
        spaces = 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_paragraph_hangs_and_a_long_label_stands_alone() {
        assert_eq!(hanging(Page::ENDLESS, "  a", 6, "b c"), "  a   b c\n");
        assert_eq!(hanging(Page::ENDLESS, "  label", 4, "b"), "  label\n    b\n");
        let text = hanging(Page::ENDLESS, "x", 2, &"word ".repeat(40));
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= COLUMNS));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
        assert_eq!(hanging(Page { columns: Some(40) }, "x", 4, ""), "x\n");
    }

    #[test]
    fn a_line_longer_than_the_page_goes_on_below() {
        let page = |columns| Page { columns: Some(columns) };
        assert_eq!(wrapped("a bc  d\n\n e\n", page(4)), "a bc\n  d\n\n e\n");
        assert_eq!(wrapped("a bc  d\n\n e\n", page(7)), "a bc  d\n\n e\n");
        assert_eq!(wrapped("a  b cd\n", page(5)), "a  b\n  cd\n");
        let long = "word ".repeat(40);
        assert!(wrapped(&long, Page::ENDLESS).lines().all(|line| line.len() <= Page::ENDLESS.width()));
        assert_eq!(wrapped(&long, Page::ENDLESS).split_whitespace().count(), 40);
        assert_eq!(wrapped("  unbreakable word", page(5)), "  unbreakable\n    word\n");
    }
}
