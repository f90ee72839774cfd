//! Text for Markdown.

/// What Markdown would take for its own is said to be none. Behind `@` and `://` stands a joint of no width: no page
/// that shows this makes a mention of a name, or a link of an address, that somebody wrote into a run.
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
