//! Parses the text of an attribute in /sys. Some attributes list all possible values, with the current one in
//! brackets: `none [mq-deadline]`.

/// The value of an attribute.
pub(crate) struct Value {
    /// The current value.
    pub(crate) current: String,
    /// All possible values, if the attribute lists them.
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

/// Parses the text of an attribute, and returns the current value.
pub(crate) fn chosen(text: &str) -> String {
    parse(text).current
}
