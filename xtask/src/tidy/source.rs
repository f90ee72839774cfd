//! Source files, with code separated from comments and strings.

/// A file of the tree.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path from the root of the workspace.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The text with comments, strings and characters blanked; the whole text if the file is not Rust.
    pub code: String,
    /// The text with only comments blanked.
    pub uncommented: String,
}

impl File {
    /// A file with this path and text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> File {
        let (path, text) = (path.into(), text.into());
        let (code, uncommented) = match path.ends_with(".rs") {
            true => (blanked(&text, true), blanked(&text, false)),
            false => (text.clone(), text.clone()),
        };
        File { path, text, code, uncommented }
    }

    /// The crate of the file: `kernel` for a file under `crates/kernel`, `xtask` for one under `xtask`, otherwise
    /// `None`.
    pub fn crate_name(&self) -> Option<&str> {
        match self.path.strip_prefix("crates/") {
            Some(rest) => rest.split('/').next(),
            None => self.path.starts_with("xtask/").then_some("xtask"),
        }
    }

    /// Returns whether the file is compiled only into tests or benchmarks, judging by its folder.
    pub fn is_test(&self) -> bool {
        let mut parts = self.path.split('/').skip(1);
        parts.next() == Some("testkit") || matches!(parts.next(), Some("tests" | "benches"))
    }
}

/// Returns whether the code contains the whole word, not only as part of a longer one.
pub fn has_word(code: &str, word: &str) -> bool {
    line_of_word(code, word).is_some()
}

/// The first line, from 1, that contains the whole word.
pub fn line_of_word(code: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).find_map(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(is_part);
        let after = code[at + word.len()..].chars().next().is_some_and(is_part);
        (!before && !after).then(|| code[..at].matches('\n').count() + 1)
    })
}

/// Rust text with its comments blanked, and also its strings and characters if `strings_too`. Lines and columns do not
/// change.
fn blanked(text: &str, strings_too: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (length, blank) = match token(rest) {
            (length, Token::Code) => (length, false),
            (length, Token::Comment) => (length, true),
            (length, Token::Literal) => (length, strings_too),
        };
        let (piece, after) = rest.split_at(length);
        match blank {
            true => out.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
            false => out.push_str(piece),
        }
        rest = after;
    }
    out
}

enum Token {
    Code,
    Comment,
    Literal,
}

/// The first token of the text: its length in bytes, and its kind.
fn token(text: &str) -> (usize, Token) {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'/' if text.starts_with("//") => (text.find('\n').unwrap_or(text.len()), Token::Comment),
        b'/' if text.starts_with("/*") => (nested_comment(text), Token::Comment),
        b'"' => (quoted(text, 0), Token::Literal),
        b'\'' => match character(text) {
            Some(length) => (length, Token::Literal),
            None => (1, Token::Code),
        },
        first if first.is_ascii_alphabetic() || first == b'_' => {
            let word = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            match (&text[..word], &text[word..]) {
                ("b" | "c", after) if after.starts_with('"') => (quoted(text, word), Token::Literal),
                ("b", after) if after.starts_with('\'') => (word + character(after).unwrap_or(1), Token::Literal),
                ("r" | "br" | "cr", after) => match raw(after) {
                    Some(length) => (word + length, Token::Literal),
                    None => (word, Token::Code),
                },
                _ => (word, Token::Code),
            }
        }
        _ => (text.chars().next().map_or(1, char::len_utf8), Token::Code),
    }
}

fn nested_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of a string whose opening quote is at `start`.
fn quoted(text: &str, start: usize) -> usize {
    let mut bytes = text.bytes().enumerate().skip(start + 1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `#"..."#` with any number of marks; `None` if the text is not a raw string.
fn raw(text: &str) -> Option<usize> {
    let marks = text.bytes().take_while(|&byte| byte == b'#').count();
    text[marks..].starts_with('"').then(|| {
        let end = format!("\"{}", &text[..marks]);
        text[marks + 1..].find(&end).map_or(text.len(), |at| marks + 1 + at + end.len())
    })
}

/// The length of a character literal; `None` if the quote begins a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
        return chars.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1);
    }
    chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        File::new("a.rs", text).code
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        for text in [
            "a // unsafe\n",
            "a /* unsafe /* unsafe */ unsafe */ b",
            "let a = \"unsafe \\\" unsafe\";",
            "let a = r#\"unsafe \" unsafe\"#;",
            "let a = br\"unsafe\\\";",
            "let a = c\"unsafe\";",
            "/// unsafe\nfn a() {}",
        ] {
            assert!(!has_word(&code(text), "unsafe"), "{text}");
            assert_eq!(code(text).len(), text.len());
        }
    }

    #[test]
    fn code_after_a_quote_is_still_code() {
        for text in [
            "fn a<'a>(b: &'a str) { unsafe {} }",
            "let quote = '\"'; unsafe {}",
            "let quote = b'\\''; unsafe {}",
            "let quote = '\\u{22}'; unsafe {}",
            "let a = \"\\\\\"; unsafe {}",
            "let a = r\"\\\"; unsafe {}",
            "let r = 1; r; unsafe {}",
            "/* */ unsafe {}",
            "let a = \"ü\"; 'ü'; unsafe {}",
        ] {
            assert!(has_word(&code(text), "unsafe"), "{text}: {}", code(text));
        }
    }

    #[test]
    fn a_part_of_a_word_is_not_the_word() {
        assert_eq!(line_of_word("#![forbid(unsafe_code)]\nlet a;\nunsafe {}", "unsafe"), Some(3));
        assert!(!has_word("not_unsafe unsafe2", "unsafe"));
    }

    #[test]
    fn the_crate_of_a_file_follows_from_its_path() {
        let file = File::new("crates/kernel/tests/a.rs", "");
        assert_eq!((file.crate_name(), file.is_test()), (Some("kernel"), true));
        assert_eq!(File::new("xtask/src/main.rs", "").crate_name(), Some("xtask"));
        assert_eq!(File::new("examples/a.rs", "").crate_name(), None);
    }
}
