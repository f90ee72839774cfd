//! Judges where a measurement ran: on an image in another file system, in memory that looks like a device, or with
//! settings that changed.

use std::collections::BTreeMap;

use super::{Mark, MarkCode};

/// Returns the mark of a file system in an image. `host` is the file system of the image file, for example `ext4 on
/// vda`. The measurement includes both file systems, and the host has its own cache and other users.
pub fn nested(host: &str) -> Mark {
    Mark { code: MarkCode::Nested, value: None, text: format!("loop image on {host}") }
}

/// Returns the mark of data that are in memory although the label names a device. `what` names the memory.
pub fn memory(what: &str) -> Mark {
    let text = format!("everything is in memory ({what}): nothing is durable there, and no device is read");
    Mark { code: MarkCode::Memory, value: None, text }
}

/// The most settings that a mark names. A choice: the line stays readable.
const NAMED_SETTINGS: usize = 4;

/// Returns a mark if settings changed between rounds. Takes the round and the settings by name, in the order of time.
/// Each setting is named with its first change.
pub fn env<'a>(settings: impl IntoIterator<Item = (u32, &'a BTreeMap<String, String>)>) -> Option<Mark> {
    let mut settings = settings.into_iter();
    let (_, first) = settings.next()?;
    let mut changed: Vec<(&String, String)> = Vec::new();
    let value = |settings: &'a BTreeMap<String, String>, name: &String| {
        settings.get(name).map_or_else(|| "nothing".to_owned(), String::clone)
    };
    for (round, now) in settings.filter(|(_, now)| *now != first) {
        for name in first.keys().chain(now.keys().filter(|name| !first.contains_key(*name))) {
            if first.get(name) != now.get(name) && !changed.iter().any(|(known, _)| *known == name) {
                let text = format!("{name} went from {} to {} by round {round}", value(first, name), value(now, name));
                changed.push((name, text));
            }
        }
    }
    if changed.is_empty() {
        return None;
    }
    let named: Vec<&str> = changed.iter().take(NAMED_SETTINGS).map(|(_, text)| text.as_str()).collect();
    let others = match changed.len() - named.len() {
        0 => String::new(),
        1 => "; and one more setting".to_owned(),
        more => format!("; and {more} more settings"),
    };
    Some(Mark { code: MarkCode::Env, value: Some(changed.len() as f64), text: named.join("; ") + &others })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(settings: &[(&str, &str)]) -> BTreeMap<String, String> {
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_changed_is_named() {
        let first = settings(&[("dirty", "20"), ("scheduler of vda", "none")]);
        let changed = settings(&[("dirty", "20"), ("scheduler of vda", "bfq")]);
        assert_eq!(env([(1, &first), (1, &first), (2, &first)]), None);
        assert_eq!(env([]), None);
        let mark = env([(1, &first), (2, &first), (3, &changed), (4, &first)]).expect("a mark");
        assert_eq!(mark.text, "scheduler of vda went from none to bfq by round 3");
        let gone = settings(&[]);
        let mark = env([(1, &first), (2, &gone)]).expect("a mark");
        assert_eq!(
            mark.text,
            "dirty went from 20 to nothing by round 2; scheduler of vda went from none to nothing by round 2"
        );
    }

    #[test]
    fn a_setting_that_changes_after_another_is_named_too() {
        let first = settings(&[("dirty", "20"), ("scheduler of vda", "none")]);
        let then = settings(&[("dirty", "30"), ("scheduler of vda", "none")]);
        let last = settings(&[("dirty", "40"), ("scheduler of vda", "bfq")]);
        let mark = env([(1, &first), (2, &then), (3, &last)]).expect("a mark");
        let text = "dirty went from 20 to 30 by round 2; scheduler of vda went from none to bfq by round 3";
        assert_eq!((mark.text.as_str(), mark.value), (text, Some(2.0)));
        let many = settings(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1"), ("e", "1"), ("f", "1")]);
        let mark = env([(1, &settings(&[])), (2, &many)]).expect("a mark");
        assert!(mark.text.ends_with("d went from nothing to 1 by round 2; and 2 more settings"), "{}", mark.text);
    }

    #[test]
    fn the_host_and_the_memory_are_named() {
        assert!(nested("ext4 on vda").text.ends_with("on ext4 on vda"));
        assert!(memory("tmpfs").text.contains("(tmpfs)"));
    }
}
