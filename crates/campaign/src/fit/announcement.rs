//! The lines printed before a run: how long it takes, and what fits into that time.

use std::cmp::Reverse;

use units::{Bytes, Nanos};

use crate::fit::duration_words::about;
use crate::fit::size_choice::Fitted;
use crate::fit::sizes::Sizes;
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
        let tests = if running == all { String::new() } else { part(running, all, "test") + ", " };
        let rounds = part(plan.rounds as usize, plan.rounds as usize, "round");
        return format!("about {time}: {tests}{rounds}; {}", in_words(sizes));
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

/// `files of 128 MiB, copies of 16 MiB, 8192 small files, 1 s of random reads and of commits`
fn in_words(Sizes { large, copied, files, random, .. }: Sizes) -> String {
    let (large, copied, random) = (Bytes(large), Bytes(copied), about(random));
    format!("files of {large}, copies of {copied}, {files} small files, {random} of random reads and of commits")
}

/// The longest tests, with their settings and times.
fn longest(plan: &Plan, times: &[Nanos]) -> Vec<String> {
    let mut running = plan.order(1);
    running.sort_unstable_by_key(|&index| (Reverse(times[index]), index));
    let named = running.iter().take(NAMED);
    named.map(|&index| format!("{} ({})", plan.alternatives[index].row.label(), about(times[index]))).collect()
}
