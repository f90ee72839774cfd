//! The settings in which the targets of a run differ, as lines of the header: mount options, and the queues of their
//! devices.

use stats::TargetInfo;
use stats::compare::environment_diff::{Change, settings};

use crate::compare::run_comparison::or_none;

/// Returns a line about the targets with the same settings as the first one, and a line for each other target: its
/// settings that differ. Empty for one target, and for simulated ones, whose settings are their parts.
pub fn lines(targets: &[TargetInfo]) -> Vec<String> {
    let real: Vec<&TargetInfo> = targets.iter().filter(|target| is_recorded(target)).collect();
    let Some((first, others)) = real.split_first() else { return Vec::new() };
    let (mut identical, mut lines) = (vec![first.name.as_str()], Vec::new());
    for other in others {
        let changes = settings(first, other);
        if !changes.is_empty() {
            let said: Vec<String> = changes.iter().map(change).collect();
            lines.push(format!("settings of {} that differ from {}: {}", other.name, first.name, said.join("; ")));
        } else if first.queue.is_empty() == other.queue.is_empty() {
            identical.push(&other.name);
        }
        if first.queue.is_empty() != other.queue.is_empty() {
            let unseen = if first.queue.is_empty() { first } else { other };
            lines.push(format!("settings of {}: no device queue is visible", unseen.name));
        }
    }
    let identical = (identical.len() > 1).then(|| format!("identical settings: {}", identical.join(", ")));
    identical.into_iter().chain(lines).collect()
}

/// True if the settings of the target are known. Earlier versions did not record the queue of a device.
fn is_recorded(target: &TargetInfo) -> bool {
    !target.queue.is_empty() || target.device.is_none() && !target.mount_options.is_empty()
}

/// `nomerges 2, not 0`, or `mount options noatime` if the first target lacks that option.
fn change(change: &Change) -> String {
    let [now, then] = [&change.now, &change.then].map(|value| or_none(value.as_ref()));
    let is_lack = then == format!("no {now}") || now == format!("no {then}");
    let instead = if is_lack { String::new() } else { format!(", not {then}") };
    format!("{} {now}{instead}", change.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, options: &str, queue: &[(&str, &str)]) -> TargetInfo {
        TargetInfo {
            name: name.to_owned(),
            mount_options: vec![options.to_owned()],
            device: (!queue.is_empty()).then(|| "loop0".to_owned()),
            queue: queue.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..TargetInfo::default()
        }
    }

    #[test]
    fn targets_with_other_settings_are_listed() {
        let usual = [("max_sectors_kb", "1280"), ("nomerges", "0")];
        let (a, b) = (target("a", "rw", &usual), target("b", "rw", &usual));
        let c = target("c", "ro", &[("max_sectors_kb", "64"), ("nomerges", "2")]);
        let expected = [
            "identical settings: a, b",
            "settings of c that differ from a: mount options ro, not rw; max_sectors_kb 64, not 1280; nomerges 2, not \
             0",
        ];
        assert_eq!(lines(&[a.clone(), b, c]), expected);
        assert_eq!(lines(std::slice::from_ref(&a)), [""; 0]);
        // An option that only one of them has.
        let (mut d, mut e) = (target("d", "rw", &usual), target("e", "rw", &usual));
        e.mount_options.push("noatime".to_owned());
        assert_eq!(lines(&[d.clone(), e.clone()]), ["settings of e that differ from d: mount options noatime"]);
        (d.name, e.name) = (e.name, d.name);
        assert_eq!(lines(&[e, d]), ["settings of e that differ from d: mount options no noatime"]);
        // A FUSE mount has no queue.
        let unseen = target("d", "rw", &[]);
        assert_eq!(lines(&[a.clone(), unseen.clone()]), ["settings of d: no device queue is visible"]);
        assert_eq!(lines(&[unseen.clone(), unseen]), ["identical settings: d, d"]);
        // Results of earlier versions have a device without its queue.
        let early = TargetInfo { queue: Default::default(), ..a };
        assert_eq!(lines(&[early.clone(), early]), [""; 0]);
    }
}
