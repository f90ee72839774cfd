//! Widths of texts, and texts shortened to fit. The reader's fonts are unknown, so widths are those of DejaVu Sans, the
//! widest common font, at twelve pixels.

/// The font size in pixels.
const SIZE: f64 = 12.0;

/// Bold text is wider by this factor: DejaVu Sans Bold, in English words.
pub(super) const BOLD: f64 = 1.14;

/// The least distance between labels, in pixels.
const APART: f64 = 8.0;

/// Returns the approximate width of a text in pixels, rather too large than too small.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(|character| SIZE * of_size(character)).sum()
}

/// A character's width as a part of the font's size, by kind.
fn of_size(character: char) -> f64 {
    match character {
        ' ' | 'i' | 'j' | 'l' | 'I' | '\'' | '.' | ',' | ':' | ';' | '|' | '-' | '/' | '(' | ')' | '[' | ']' | 'f'
        | 't' | 'r' | '!' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '+' | '=' | '<' | '>' | '~' | '#' => 0.98,
        'A'..='Z' | '&' => 0.78,
        '\u{0}'..='\u{7f}' => 0.64,
        // Letters of other alphabets; the characters beyond them may be full squares.
        '\u{80}'..='\u{10ff}' => 0.8,
        _ => 1.05,
    }
}

/// Returns the text, shortened in its middle if necessary: names often differ only at their ends.
pub(super) fn fitted(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let room = room - width("…");
    let (mut head, mut tail, mut taken) = (0, characters.len(), 0.0);
    while head < tail {
        let is_head = head <= characters.len() - tail;
        let next = if is_head { characters[head] } else { characters[tail - 1] };
        taken += SIZE * of_size(next);
        if taken > room {
            break;
        }
        if is_head { head += 1 } else { tail -= 1 }
    }
    characters[..head].iter().chain(['…'].iter()).chain(&characters[tail..]).collect()
}

/// Breaks a text into lines that fit.
pub(super) fn lines(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, room)),
        }
    }
    lines
}

/// A label on an axis: its position as a share of the axis, and its text.
pub(super) type Label = (f64, String);

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The first letter.
    Start,
    /// The middle.
    Middle,
    /// The last letter.
    End,
}

impl Anchor {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Anchor::Start => "",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A label with its position: the share of the axis, the anchor, and an offset in pixels.
pub(super) struct Placed {
    pub(super) share: f64,
    pub(super) anchor: Anchor,
    pub(super) moved: f64,
    pub(super) label: String,
}

/// Returns the labels of a horizontal axis of this width that do not touch each other, the more important first. They
/// do not touch on a wider axis either, because their distances grow. A label that would extend beyond an end is moved
/// by just enough.
pub(super) fn apart(labels: impl IntoIterator<Item = Label>, room: f64) -> Vec<Placed> {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut kept = Vec::new();
    for (share, label) in labels {
        let (middle, half) = (share * room, width(&label) / 2.0);
        let (anchor, moved) = match middle {
            _ if share <= 0.0 => (Anchor::Start, 0.0),
            _ if share >= 1.0 => (Anchor::End, 0.0),
            middle if middle < half => (Anchor::Middle, half - middle),
            middle if middle + half > room => (Anchor::Middle, room - half - middle),
            _ => (Anchor::Middle, 0.0),
        };
        let from = (middle - half).min(room - 2.0 * half).max(0.0);
        let to = from + 2.0 * half;
        if taken.iter().all(|(other_from, other_to)| to + APART <= *other_from || other_to + APART <= from) {
            taken.push((from, to));
            kept.push(Placed { share, anchor, moved, label });
        }
    }
    kept
}

/// Removes the settings that all names of programs share, and returns them once for a title: `; drives 1, file_system
/// 8K/1K`. A single name keeps its settings.
pub(super) fn shared<'a>(names: impl IntoIterator<Item = &'a mut String>) -> String {
    let mut names: Vec<&mut String> = names.into_iter().collect();
    let [first, others @ ..] = &names[..] else { return String::new() };
    if others.is_empty() {
        return String::new();
    }
    let has = |name: &str, setting: &str| name.split(", ").skip(1).any(|other| other == setting);
    let in_all = |setting: &&str| others.iter().all(|name| has(name, setting));
    let shared: Vec<String> = first.split(", ").skip(1).filter(in_all).map(str::to_owned).collect();
    if shared.is_empty() {
        return String::new();
    }
    for name in &mut names {
        let is_own = |place: usize, part: &str| place == 0 || !shared.iter().any(|shared| shared == part);
        let own = name.split(", ").enumerate().filter(|(place, part)| is_own(*place, part)).map(|(_, part)| part);
        **name = own.collect::<Vec<_>>().join(", ");
    }
    format!("; {}", shared.join(", "))
}

/// Returns the first `most` items, and the number of the others.
pub(super) fn listed(items: &[String], most: usize, between: &str) -> String {
    let first = items.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(between);
    match items.len().saturating_sub(most) {
        0 => first,
        more => format!("{first}{between}and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_loses_its_middle_and_keeps_its_ends() {
        assert_eq!(fitted("ext4", 100.0), "ext4");
        let one = fitted("new:ext4,block=4KiB@/dev/loop10", 100.0);
        assert!(one.starts_with("new:") && one.contains('…') && one.ends_with("p10"), "{one}");
    }

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let labels = |count: usize| (0..=count).map(move |at| (at as f64 / count as f64, "1,000".to_owned()));
        let kept = |count, room| apart(labels(count), room).len();
        assert_eq!([kept(4, 264.0), kept(4, 1000.0), kept(1, 50.0)], [5, 5, 1]);
        let ends: Vec<Anchor> = apart(labels(2), 264.0).iter().map(|placed| placed.anchor).collect();
        assert_eq!(ends, [Anchor::Start, Anchor::Middle, Anchor::End]);
    }

    #[test]
    fn what_all_names_share_is_said_once() {
        let shared = |names: [&str; 2]| {
            let mut names = names.map(str::to_owned);
            let shared = shared(&mut names);
            (names.to_vec(), shared)
        };
        let names = ["read, drives 1, file_system 8K/1K", "write, drives 1, size 2, file_system 8K/1K"];
        let (own, said) = shared(names);
        assert_eq!(
            (own[0].as_str(), own[1].as_str(), said.as_str()),
            ("read", "write, size 2", "; drives 1, file_system 8K/1K")
        );
        assert_eq!(shared(["a, b", "b, a"]).1, "");
        assert_eq!(super::shared([&mut "read, drives 1".to_owned()]), "");
    }

    #[test]
    fn a_label_moves_by_what_reaches_over_the_end_only() {
        let half = width("64 KiB") / 2.0;
        let labels = [(0.55, "16 KiB".to_owned()), (1.0 - half / 400.0, "64 KiB".to_owned())];
        let kept = apart(labels, 200.0);
        assert_eq!((kept.len(), kept[1].anchor), (2, Anchor::Middle));
        assert!((kept[1].moved + half / 2.0).abs() < 1e-9, "{}", kept[1].moved);
    }

    proptest! {
        #[test]
        fn what_fits_fits(text in "\\PC{0,60}", room in 20.0..300.0f64) {
            let fitted = fitted(&text, room);
            prop_assert!(width(&fitted) <= room + 1e-6, "{:?}", fitted);
            for line in lines(&text, room) {
                prop_assert!(width(&line) <= room + 1e-6, "{:?}", line);
            }
        }
    }
}
