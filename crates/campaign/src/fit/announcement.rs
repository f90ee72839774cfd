//! The lines printed before a run: how long it takes, and what fits into that time.

use std::cmp::Reverse;

use units::{Bytes, Nanos};

use crate::fit::duration_words::about;
use crate::fit::size_choice::Fitted;
use crate::fit::sizes::{SizeKind, Sizes};
use crate::plan::Plan;

/// For longer plans of given sizes, the longest tests are named.
const LONG: Nanos = Nanos::from_secs(5 * 60);

/// The number of longest tests that are named.
const NAMED: usize = 3;

/// The expected time of the plan, and what was chosen to fit: the sizes, or the tests and rounds. If a plan of given
/// sizes takes long, also the longest tests and how to make it shorter.
pub fn announcement(plan: &Plan, fitted: &Fitted) -> String {
    let (running, all) = (plan.order(1).len(), plan.alternatives.len());
    let time = about(fitted.time);
    if let Some(sizes) = plan.sizes() {
        if running == 0 {
            return "no test gets enough data in that time".to_owned();
        }
        let tests = if running == all { String::new() } else { part(running, all, "test") + ", " };
        let rounds = part(plan.rounds as usize, plan.rounds as usize, "round");
        return format!("about {time}: {tests}{rounds}; {}", in_words(plan, &sizes));
    }
    let rounds = part(plan.rounds as usize, plan.schedule.rounds() as usize, "round");
    let mut text = format!("about {time}: {}, {rounds}", part(running, all, "test"));
    if fitted.time <= LONG {
        return text;
    }
    if plan.budget.is_none() {
        text += if plan.rounds > 3 { "; --rounds 3 or --budget 5min make" } else { "; --budget 5min makes" };
        text += " it shorter";
    }
    text + "\nlongest: " + &longest(plan, &fitted.times).join(", ")
}

/// `5 rounds`, `4 of 20 rounds`
fn part(is: usize, of: usize, what: &str) -> String {
    let s = if of == 1 { "" } else { "s" };
    if is == of { format!("{is} {what}{s}") } else { format!("{is} of {of} {what}{s}") }
}

/// The sizes that matter: `files of 128 MiB, copies of 64 MiB, 8192 small files, random reads in 256 MiB, 1 s of each
/// timed test`.
fn in_words(plan: &Plan, sizes: &Sizes) -> String {
    let rows = || plan.alternatives.iter().map(|alternative| &alternative.row).filter(|row| row.omitted.is_none());
    let is_used = |kind: SizeKind| rows().any(|row| row.size_kind == Some(kind));
    let timed = [(SizeKind::Spots, "random reads"), (SizeKind::Records, "commits")];
    let timed: Vec<&str> = timed.into_iter().filter(|(kind, _)| is_used(*kind)).map(|(_, words)| words).collect();
    let words = [
        is_used(SizeKind::Large).then(|| format!("files of {}", Bytes(sizes.large))),
        is_used(SizeKind::Copied).then(|| format!("copies of {}", Bytes(sizes.copied))),
        is_used(SizeKind::Files).then(|| format!("{} small files", sizes.files)),
        is_used(SizeKind::Spots).then(|| format!("random reads in {}", Bytes(sizes.spots))),
        (!timed.is_empty()).then(|| format!("up to {} of {}", about(sizes.random), timed.join(" and of "))),
    ];
    words.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

/// The longest tests, with their settings and times.
fn longest(plan: &Plan, times: &[Nanos]) -> Vec<String> {
    let mut running = plan.order(1);
    running.sort_unstable_by_key(|&index| (Reverse(times[index]), index));
    let named = running.iter().take(NAMED);
    named.map(|&index| format!("{} ({})", plan.alternatives[index].row.label(), about(times[index]))).collect()
}
