//! Text for Markdown.

/// Escapes the characters that Markdown interprets. A word joiner (U+2060) follows `@` and `://`, so that a page that
/// shows text from a run makes no mention and no link of it.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if "\\`*_[]<>|&~$#".contains(character) {
            escaped.push('\\');
        }
        escaped.push(if character == '\n' { ' ' } else { character });
        if character == '@' || escaped.ends_with("://") {
            escaped.push('\u{2060}');
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_markdowns_own_is_escaped() {
        assert_eq!(escaped("&lt; ~~a~~ $b$ #3"), "\\&lt; \\~\\~a\\~\\~ \\$b\\$ \\#3");
        assert_eq!(escaped("@who https://a.b"), "@\u{2060}who https://\u{2060}a.b");
        assert_eq!(escaped("a|b *c* read_8192\n<d>"), "a\\|b \\*c\\* read\\_8192 \\<d\\>");
    }
}
