//! A run as Markdown: what the plain table says, for a page that others read.

use stats::Document;

use crate::{choice, header, rows};

/// The run under a heading, with the machine above its cells and the marks below.
pub fn markdown(name: &str, document: &Document) -> String {
    let mut text = format!("## {}\n\n", escaped(name));
    for line in header::lines(document).lines() {
        text += &format!("- {}\n", escaped(line));
    }
    if let Some(choice) = &document.run.choice {
        let verdict = choice::verdict(document, choice);
        let lines: String = verdict.lines().map(|line| format!("- {}\n", escaped(line.trim_start()))).collect();
        text = text.replacen("\n\n", &format!("\n\n{lines}\n"), 1);
    }
    let columns = rows::columns(document);
    let line = |words: Vec<String>| format!("| {} |\n", words.join(" | "));
    text += "\n";
    text += &line(columns.iter().map(|column| column.heading().to_owned()).collect());
    text += &line(columns.iter().map(|column| if column.is_right() { "---:" } else { "---" }.to_owned()).collect());
    for cell in &document.cells {
        text += &line(rows::row(document, cell).iter().map(|word| escaped(word)).collect());
    }
    text += "\n";
    for line in document.run.findings.iter().map(String::as_str).chain(header::footnotes(document).lines()) {
        if !line.is_empty() {
            text += &format!("- {}\n", escaped(line.strip_prefix("* ").unwrap_or(line)));
        }
    }
    text
}

/// What Markdown would take for its own is said to be none.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if "\\`*_[]<>|".contains(character) {
            escaped.push('\\');
        }
        escaped.push(if character == '\n' { ' ' } else { character });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_markdowns_own_is_escaped() {
        assert_eq!(escaped("a|b *c* read_8192\n<d>"), "a\\|b \\*c\\* read\\_8192 \\<d\\>");
    }
}
