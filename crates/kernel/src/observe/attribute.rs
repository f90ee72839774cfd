//! The text of an attribute in /sys. Some list all values that they can have, the current one in brackets:
//! `none [mq-deadline]`.

/// The value of an attribute.
pub(crate) struct Value {
    /// The current one.
    pub(crate) current: String,
    /// All that it can have, if it lists them.
    pub(crate) choices: Vec<String>,
}

/// Reads the text of an attribute.
pub(crate) fn parse(text: &str) -> Value {
    let text = text.trim();
    let bare = |word: &str| word.trim_matches(['[', ']']).to_owned();
    match text.split_whitespace().find(|word| word.starts_with('[') && word.ends_with(']')) {
        Some(current) => Value { current: bare(current), choices: text.split_whitespace().map(bare).collect() },
        None => Value { current: text.to_owned(), choices: Vec::new() },
    }
}

/// The current value.
pub(crate) fn chosen(text: &str) -> String {
    parse(text).current
}
