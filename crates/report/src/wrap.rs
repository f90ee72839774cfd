//! Paragraphs that stand behind a label, broken into lines.

/// Columns of a terminal that has not been made smaller.
pub const COLUMNS: usize = 80;

/// The words behind the label, beginning at a column and going on there in the next line. A word that is longer than a line is not broken. A label that reaches so far
/// gets a line of its own.
pub fn hanging(label: &str, indent: usize, words: &str) -> String {
    let length = label.chars().count();
    let mut text = label.to_owned();
    if length >= indent {
        text.push('\n');
    }
    text += &" ".repeat(if length >= indent { indent } else { indent - length });
    let mut column = indent;
    for (index, word) in words.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && column + 1 + length > COLUMNS {
            text += &format!("\n{:indent$}", "");
            column = indent;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_paragraph_hangs_and_a_long_label_stands_alone() {
        assert_eq!(hanging("  a", 6, "b c"), "  a   b c\n");
        assert_eq!(hanging("  label", 4, "b"), "  label\n    b\n");
        let text = hanging("x", 2, &"word ".repeat(40));
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= COLUMNS));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  word")));
        assert_eq!(hanging("x", 4, ""), "x\n");
    }
}
