//! The words of all comparisons: estimates, verdicts, and the rounds that would decide something. Documents contain
//! reasons in words; `stats::compare::reason` has them.

use stats::digits::significant;
use stats::{Choice, Comparison, Estimate, RunInfo, Verdict};
use units::Nanos;

/// `1.12-1.23`; `None` if there were fewer than two rounds.
pub fn range(estimate: Estimate) -> Option<String> {
    estimate.low.zip(estimate.high).map(|(low, high)| format!("{}-{}", figure(low), figure(high)))
}

/// ` (1.12-1.23)`; empty if there were fewer than two rounds, or if chance has no effect.
pub fn interval(estimate: Estimate) -> String {
    let range = range(estimate).filter(|_| estimate.confidence < 1.0);
    range.map_or_else(String::new, |range| format!(" ({range})"))
}

/// `1.17`, or `n.m.`
pub fn ratio(estimate: Estimate) -> String {
    estimate.ratio.map_or_else(|| "n.m.".to_owned(), figure)
}

/// `1.17x (1.12-1.23)`, or `n.m.`
pub fn times(estimate: Estimate) -> String {
    estimate.ratio.map_or_else(|| "n.m.".to_owned(), |ratio| format!("{}x{}", figure(ratio), interval(estimate)))
}

/// `faster 1.17x (1.12-1.23)`, `same`
pub fn change(verdict: Verdict, estimate: Estimate) -> String {
    if verdict.is_difference() { format!("{} {}", verdict.name(), times(estimate)) } else { verdict.name().to_owned() }
}

/// `, maybe by less than 5 %`: the interval excludes 1 but not the margin.
pub fn maybe_little(margin: f64, matters: bool) -> String {
    if matters { String::new() } else { format!(", maybe by less than {}", percent(margin)) }
}

/// Sorts comparisons by their difference, the largest first.
pub fn largest_first(pairs: &mut [&Comparison]) {
    pairs.sort_by(|one, other| other.estimate().distance().total_cmp(&one.estimate().distance()));
}

/// The numbers of comparisons without a difference: `same within 5 % in 2`, `undecided in 1`, `too noisy to decide here
/// in 1`. `more` follows the second, `cause` the third.
pub fn without_difference(choice: &Choice, pairs: &[&Comparison], [more, cause]: [&str; 2]) -> Vec<String> {
    let count = |verdict: Verdict| pairs.iter().filter(|pair| pair.verdict() == verdict).count();
    let noisy = pairs.iter().filter(|pair| is_too_noisy(choice, pair)).count();
    let (same, open) = (count(Verdict::Same), count(Verdict::Undecided) - noisy);
    let counted = [
        (same, format!("same within {} in {same}", percent(choice.margin))),
        (open, format!("undecided in {open}{more}")),
        (noisy, format!("{TOO_NOISY} in {noisy}{cause}")),
    ];
    counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect()
}

/// Formats a ratio with two decimals; larger ratios get three digits, smaller ones two.
pub fn figure(ratio: f64) -> String {
    match ratio {
        small if small < 0.1 => significant(small, 2),
        usual if usual < 10.0 => format!("{usual:.2}"),
        large => significant(large, 3),
    }
}

/// The verdict of a comparison that more rounds cannot decide in a useful time.
pub const TOO_NOISY: &str = "too noisy to decide here";

/// An estimate of more than this many times the rounds done is not useful.
const PATIENCE: u32 = 10;

/// An estimate of a longer time than this, in seconds, is not useful: a choice.
const LONGEST_WAIT_S: f64 = 3600.0;

/// True if a number of rounds is practical, after this number of rounds.
pub fn is_practical(rounds: u32, done: u32) -> bool {
    rounds <= PATIENCE.saturating_mul(done)
}

/// True if an undecided comparison needs more rounds or more time than is practical. False for a result that is not
/// trusted: it is undecided for another reason.
pub fn is_too_noisy(choice: &Choice, pair: &Comparison) -> bool {
    let is_open = pair.verdict() == Verdict::Undecided && pair.low.is_some() && pair.why.is_none();
    let is_short = |rounds: u32| choice.round_s.is_none_or(|round_s| round_s * f64::from(rounds) <= LONGEST_WAIT_S);
    is_open && !pair.more_rounds.is_some_and(|rounds| is_practical(rounds, pair.pairs) && is_short(rounds))
}

/// The main cause of noise in the run: `; mostly CPU steal`; empty if it is unknown.
pub fn cause_of_noise(run: &RunInfo) -> String {
    let kind = run.noise.as_ref().and_then(|noise| noise.kind.as_ref());
    kind.map_or_else(String::new, |kind| format!("; mostly {kind}"))
}

/// `, about 34 more rounds (5.7 min)`; empty if the estimate is not useful.
pub fn more(choice: &Choice, pair: &Comparison) -> String {
    let Some(rounds) = pair.more_rounds.filter(|_| !is_too_noisy(choice, pair)) else { return String::new() };
    let s = if rounds == 1 { "" } else { "s" };
    // The estimate is too rough for more digits.
    let count = if rounds < 100 { rounds.to_string() } else { significant(f64::from(rounds), 2) };
    let time = choice.round_s.map(|round_s| Nanos((round_s * f64::from(rounds) * 1e9) as u64));
    let time = time.map_or_else(String::new, |time| format!(" ({})", about(time)));
    format!(", about {count} more round{s}{time}")
}

/// Formats a time span with two digits, because it is an estimate. It is at most [`LONGEST_WAIT_S`].
fn about(span: Nanos) -> String {
    match span.as_secs_f64() {
        seconds if seconds < 100.0 => format!("{} s", significant(seconds, 2)),
        seconds => format!("{} min", significant(seconds / 60.0, 2)),
    }
}

/// A margin in percent: `5 %`.
pub fn percent(margin: f64) -> String {
    let percent = 100.0 * margin;
    if (percent - percent.round()).abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
