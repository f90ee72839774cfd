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

/// Returns a mark if settings changed between rounds. Takes the round and the settings by name, in the order of time.
pub fn env<'a>(settings: impl IntoIterator<Item = (u32, &'a BTreeMap<String, String>)>) -> Option<Mark> {
    let mut settings = settings.into_iter();
    let (_, first) = settings.next()?;
    let (round, changed) = settings.find(|(_, now)| *now != first)?;
    let names = first.keys().chain(changed.keys());
    let mut different: Vec<&String> = names.filter(|name| first.get(*name) != changed.get(*name)).collect();
    different.sort_unstable();
    different.dedup();
    let value = |settings: &'a BTreeMap<String, String>, name: &String| {
        settings.get(name).map_or_else(|| "nothing".to_owned(), String::clone)
    };
    let name = different.first()?;
    let others = match different.len() - 1 {
        0 => String::new(),
        1 => " and one more setting".to_owned(),
        more => format!(" and {more} more settings"),
    };
    Some(Mark {
        code: MarkCode::Env,
        value: Some(different.len() as f64),
        text: format!("{name} went from {} to {}{others} by round {round}", value(first, name), value(changed, name)),
    })
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
        assert_eq!(mark.text, "dirty went from 20 to nothing and one more setting by round 2");
    }

    #[test]
    fn the_host_and_the_memory_are_named() {
        assert!(nested("ext4 on vda").text.ends_with("on ext4 on vda"));
        assert!(memory("tmpfs").text.contains("(tmpfs)"));
    }
}
