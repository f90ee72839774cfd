//! A reader of charts for tests: it checks that the XML is well-formed, and collects its elements.

/// The content of a chart, in document order.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Elements with their attributes, unescaped.
    pub(super) elements: Vec<(String, Vec<(String, String)>)>,
    /// Texts of elements `text`, unescaped.
    pub(super) texts: Vec<String>,
}

impl Checked {
    /// Returns the elements of a class.
    pub(super) fn of_class<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a [(String, String)]> {
        let has = move |attributes: &&Vec<(String, String)>| {
            attributes.iter().any(|(name, value)| name == "class" && value.split(' ').any(|one| one == class))
        };
        self.elements.iter().map(|(_, attributes)| attributes).filter(has).map(Vec::as_slice)
    }

    /// Returns the number of elements of a class.
    pub(super) fn count(&self, class: &str) -> usize {
        self.of_class(class).count()
    }
}

/// Returns the value of an attribute; empty if it is missing.
pub(super) fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> &'a str {
    attributes.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
}

/// Parses a text as XML. The error says where it is not well-formed.
pub(super) fn checked(text: &str) -> Result<Checked, String> {
    let mut checked = Checked::default();
    let mut open: Vec<String> = Vec::new();
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap_or(text);
    loop {
        let (words, tag) = rest.split_once('<').unwrap_or((rest, ""));
        let words = unescaped(words)?;
        match open.last().map(String::as_str) {
            None if !words.trim().is_empty() => return Err(format!("words outside of all elements: {words}")),
            Some("text") if !words.is_empty() => checked.texts.push(words),
            _ => {}
        }
        if tag.is_empty() {
            return if open.is_empty() { Ok(checked) } else { Err(format!("never closed: {open:?}")) };
        }
        let (inside, after) = tag.split_once('>').ok_or("a tag without an end")?;
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
            continue;
        }
        let is_empty = inside.ends_with('/');
        let inside = inside.trim_end_matches('/');
        let (name, attributes) = inside.split_once(' ').unwrap_or((inside, ""));
        if name.is_empty() || !name.chars().all(|character| character.is_ascii_lowercase()) {
            return Err(format!("no name of an element: {name}"));
        }
        checked.elements.push((name.to_owned(), self::attributes(attributes)?));
        if !is_empty {
            open.push(name.to_owned());
        }
    }
}

fn attributes(mut text: &str) -> Result<Vec<(String, String)>, String> {
    let mut all: Vec<(String, String)> = Vec::new();
    while !text.trim().is_empty() {
        let (name, rest) = text.trim_start().split_once("=\"").ok_or(format!("no attribute: {text}"))?;
        let (value, rest) = rest.split_once('"').ok_or(format!("an attribute without an end: {text}"))?;
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '-';
        if !name.chars().all(is_name)
            || all.iter().any(|(other, _)| other == name)
            || !(rest.is_empty() || rest.starts_with(' '))
        {
            return Err(format!("no attribute: {text}"));
        }
        all.push((name.to_owned(), unescaped(value)?));
        text = rest;
    }
    Ok(all)
}

fn unescaped(text: &str) -> Result<String, String> {
    let is_forbidden = |character: char| {
        (character.is_control() && character != '\n') || matches!(character, '\u{fffe}' | '\u{ffff}' | '<' | '>')
    };
    if let Some(character) = text.chars().find(|character| is_forbidden(*character)) {
        return Err(format!("{character:?} in {text:?}"));
    }
    let mut parts = text.split('&');
    let mut unescaped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').ok_or(format!("a bare & in {text:?}"))?;
        unescaped.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => return Err(format!("unknown &{other};")),
        });
        unescaped += rest;
    }
    Ok(unescaped)
}

#[test]
fn what_is_not_well_formed_is_found() {
    for wrong in
        ["<a>", "<a></b>", "<a b=\"<\"/>", "<a>&</a>", "<a b=\"1\" b=\"2\"/>", "<a>\u{1b}</a>", "a", "<a", "<a b/>"]
    {
        assert!(checked(wrong).is_err(), "{wrong}");
    }
    let right = checked("<a b=\"&lt;\"><text c-d=\"\">x&amp;y</text></a>").expect("well-formed");
    assert_eq!((right.elements.len(), right.texts[0].as_str()), (2, "x&y"));
}
