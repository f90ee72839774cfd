//! The words of a comparison: ratio, interval, and the number of further rounds that would decide it.

use stats::{Choice, Comparison, Verdict};
use units::Nanos;

use stats::digits::significant;

/// `, maybe by less than 5 %`: the interval excludes 1 but not the margin.
pub fn maybe_little(margin: f64, pair: &Comparison) -> String {
    if pair.matters { String::new() } else { format!(", maybe by less than {}", percent(margin)) }
}

/// `(1.12-1.23)`; empty if there were fewer than two rounds.
pub fn interval(pair: &Comparison) -> String {
    ends(pair.low, pair.high).trim_start().to_owned()
}

/// ` (1.12-1.23)`; empty if there were fewer than two rounds.
pub fn ends(low: Option<f64>, high: Option<f64>) -> String {
    low.zip(high).map_or_else(String::new, |(low, high)| format!(" ({}-{})", figure(low), figure(high)))
}

/// Formats a ratio with two decimals; larger ratios get three digits, smaller ones two.
pub fn figure(ratio: f64) -> String {
    match ratio {
        small if small < 0.1 => significant(small, 2),
        usual if usual < 10.0 => format!("{usual:.2}"),
        large => significant(large, 3),
    }
}

/// An estimate of more than this many times the rounds done is not useful.
pub const PATIENCE: u32 = 10;

/// True if an undecided comparison needs more rounds than is practical. False for a result that is not trusted: it is
/// undecided for another reason.
pub fn is_too_noisy(pair: &Comparison) -> bool {
    let is_open = pair.verdict == Verdict::Undecided && pair.low.is_some() && pair.why.is_none();
    is_open && pair.more_rounds.is_none_or(|rounds| rounds > PATIENCE.saturating_mul(pair.pairs))
}

/// `, about 34 more rounds (5.7 min)`; empty if the estimate is not useful.
pub fn more(choice: &Choice, pair: &Comparison) -> String {
    let Some(rounds) = pair.more_rounds.filter(|_| !is_too_noisy(pair)) else { return String::new() };
    let s = if rounds == 1 { "" } else { "s" };
    // The estimate is too rough for more digits.
    let count = if rounds < 100 { rounds.to_string() } else { significant(f64::from(rounds), 2) };
    let time = choice.round_s.map(|round_s| Nanos((round_s * f64::from(rounds) * 1e9) as u64));
    let time = time.map_or_else(String::new, |time| format!(" ({})", about(time)));
    format!(", about {count} more round{s}{time}")
}

/// Formats a time span with two digits, because it is an estimate.
fn about(span: Nanos) -> String {
    match span.as_secs_f64() {
        seconds if seconds < 100.0 => format!("{} s", significant(seconds, 2)),
        seconds if seconds < 6000.0 => format!("{} min", significant(seconds / 60.0, 2)),
        seconds => format!("{} h", significant(seconds / 3600.0, 2)),
    }
}

/// A margin in percent: `5 %`.
pub fn percent(margin: f64) -> String {
    let percent = 100.0 * margin;
    if (percent - percent.round()).abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
