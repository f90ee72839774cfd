//! The time breakdown of a simulated result, by program and by resource, and the resource that would help most.

use std::collections::BTreeMap;

use stats::{Breakdown, ResourceTime};
use units::Nanos;

use super::{Part, Widths, bars, owner_in_words, quantum, shared_out, tenths};

/// The meaning of each part of a program's time.
const MEANINGS: [(&str, &str); 23] = [
    ("call", "system calls, and the program's loop around them"),
    ("block_read", "finding blocks to read"),
    ("block_write", "finding blocks to write"),
    ("allocate", "allocating new blocks"),
    ("clear", "filling new blocks with zeros"),
    ("names", "searching directories, updating inodes, freeing blocks"),
    ("copy", "copying between program and kernel"),
    ("start", "handing requests to the driver"),
    ("switch", "context switches"),
    ("slowed", "waiting for memory that a transfer uses"),
    ("interrupt", "serving interrupts of the controller"),
    ("clock", "serving interrupts of the clock"),
    ("interrupted", "delayed by interrupts"),
    ("ready", "runnable, but another program had the processor"),
    ("pause", "sleeping on purpose before the next operation"),
    ("waiting_idle", "waiting while its drive was idle"),
    ("waiting_host", "waiting while its drive waited for the processor"),
    ("waiting_controller", "waiting while the controller worked on a command"),
    ("waiting_path", "waiting while its drive waited for a data path"),
    ("waiting_seek", "waiting for a seek"),
    ("waiting_rotation", "waiting while the platter turned to the sector"),
    ("waiting_transfer", "waiting for the data transfer"),
    ("waiting_lost_turn", "waiting for a lost revolution"),
];

/// Returns the meaning of a part; empty if it is unknown.
fn meaning(owner: &str) -> &'static str {
    MEANINGS.iter().find(|(known, _)| *known == owner).map_or("", |(_, meaning)| meaning)
}

/// Returns the width of the longest meaning of a part that has any time, in characters.
pub(super) fn longest_meaning(breakdown: &Breakdown) -> usize {
    let owners = breakdown.owners().into_iter().filter(|(_, nanos)| *nanos > 0);
    owners.map(|(owner, _)| meaning(&owner).chars().count()).max().unwrap_or(0)
}

/// Returns the breakdown by program, by resource, and the conclusion.
pub(super) fn lines(breakdown: &Breakdown, widths: Widths) -> Vec<String> {
    let mut parts: Vec<Part> = breakdown.owners().into_iter().map(|(owner, nanos)| Part { owner, nanos }).collect();
    // The largest part first; equal parts stay in alphabetical order.
    parts.sort_by_key(|part| std::cmp::Reverse(part.nanos));
    let mut lines = vec![match breakdown.programs.len() {
        1 => "  by program".to_owned(),
        count => format!("  by program, all {count} together"),
    }];
    lines.extend(bars(&parts, widths, meaning));
    lines.push("  by resource".to_owned());
    lines.extend(breakdown.resources.iter().map(resource));
    lines.push(format!("  {}", sentence(breakdown)));
    lines
}

/// `  cpu  1,234.5 ms: 71.2 % busy (copy 40.1, call 3.2), 3.1 % blocked (memory 3.1), 25.7 % idle`
fn resource(one: &ResourceTime) -> String {
    let parts: Vec<u64> = one.busy.values().chain(one.blocked.values()).chain([&one.idle]).map(|time| time.0).collect();
    let shares = shared_out(&parts, 1000);
    let (busy, rest) = shares.split_at(one.busy.len());
    let (blocked, idle) = rest.split_at(one.blocked.len());
    let quantum = quantum(one.elapsed.0);
    format!(
        "  {:<18} {:>12} ms: {} busy{}, {} blocked{}, {} idle",
        one.resource,
        quantum.text(one.elapsed.0.div_ceil(quantum.nanos)),
        percent(busy.iter().sum()),
        causes(&one.busy, busy),
        percent(blocked.iter().sum()),
        causes(&one.blocked, blocked),
        percent(idle.iter().sum()),
    )
}

/// ` (copy 40.1, call 3.2)`: the causes with a share above zero, the largest first.
fn causes(times: &BTreeMap<String, Nanos>, shares: &[u64]) -> String {
    let mut shown: Vec<(&String, u64)> =
        times.keys().zip(shares.iter().copied()).filter(|(_, share)| *share > 0).collect();
    shown.sort_by_key(|(_, share)| std::cmp::Reverse(*share));
    let texts: Vec<String> =
        shown.iter().map(|(name, share)| format!("{} {}", owner_in_words(name), tenths(*share))).collect();
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
}

fn percent(share: u64) -> String {
    format!("{} %", tenths(share))
}

/// Returns the largest part of the time, and the resource that would help most.
fn sentence(breakdown: &Breakdown) -> String {
    let owner = breakdown.largest_owner().map_or_else(
        || "no time passed".to_owned(),
        |(owner, share)| {
            format!("most of it, {:.0} %: {} ({})", 100.0 * share, owner_in_words(&owner), meaning(&owner))
        },
    );
    let helpful = breakdown.helpful();
    let helps = match (&breakdown.faster, helpful.split_first()) {
        (None, _) => format!("n.m. ({})", breakdown.faster_reason.as_deref().unwrap_or("not simulated again")),
        (Some(_), None) => "none gains 1 % or more".to_owned(),
        (Some(_), Some(((first, gain), rest))) => {
            let rest: Vec<String> = rest.iter().map(|(name, gain)| format!("{name} {gain:+.1} %")).collect();
            let then = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
            format!("the {first} helps most, {gain:+.1} %{then}")
        }
    };
    format!("{owner}; if one resource is 10 % faster, by simulation: {helps}")
}

#[cfg(test)]
mod tests {
    use stats::{Faster, ProgramTime};

    use super::*;

    fn times(of: &[(&str, u64)]) -> BTreeMap<String, Nanos> {
        of.iter().map(|(name, nanos)| ((*name).to_owned(), Nanos(*nanos))).collect()
    }

    fn breakdown() -> Breakdown {
        let owners = times(&[("copy", 300_000_000), ("waiting_rotation", 700_000_000), ("pause", 0)]);
        let cpu = ResourceTime {
            resource: "cpu".to_owned(),
            elapsed: Nanos::from_secs(1),
            busy: times(&[("copy", 300_000_000), ("call", 1_000_000)]),
            blocked: times(&[("memory", 0)]),
            idle: Nanos(699_000_000),
        };
        Breakdown {
            resources: vec![cpu],
            programs: vec![ProgramTime { elapsed: Nanos::from_secs(1), owners }],
            ..Breakdown::default()
        }
    }

    #[test]
    fn both_breakdowns_are_printed_with_the_largest_part_first() {
        let lines = lines(&breakdown(), Widths { bar: 20, has_meanings: true });
        assert!(lines[1].contains("waiting rotation") && lines[1].contains("700.0 ms"), "{lines:#?}");
        let cpu = "  cpu                     1,000.0 ms: 30.1 % busy (copy 30.0, call 0.1), 0.0 % blocked, 69.9 % idle";
        assert!(lines.contains(&cpu.to_owned()), "{lines:#?}");
    }

    #[test]
    fn the_sentence_names_the_resource_that_helps_most() {
        let mut breakdown = breakdown();
        assert!(sentence(&breakdown).ends_with("by simulation: n.m. (not simulated again)"));
        let faster = |resource: &str, gain| Faster {
            resource: resource.to_owned(),
            per_second: Some(1.0),
            gain_percent: Some(gain),
        };
        breakdown.faster = Some(vec![faster("bus", 0.1), faster("processor", 2.0), faster("spindle", 6.25)]);
        let said = sentence(&breakdown);
        assert!(said.starts_with("most of it, 70 %: waiting rotation (waiting while the platter"), "{said}");
        assert!(said.ends_with("the spindle helps most, +6.2 %; processor +2.0 %"), "{said}");
        breakdown.faster = Some(vec![faster("bus", 0.1)]);
        assert!(sentence(&breakdown).ends_with("none gains 1 % or more"));
    }
}
