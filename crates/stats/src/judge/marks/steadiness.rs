//! Judges a rate over time: rates that are not steady, rates that changed their level, throttled rates.

use super::{Mark, MarkCode};
use crate::inference::change_point::{LEVEL_WINDOW, Step};
use crate::inference::steady_state::{EXCURSION, MOST_ROUNDS, RANGE, Spread};

/// Returns a mark if the last rounds of a rate differ too much to be steady.
pub fn unsteady(spread: &Spread) -> Option<Mark> {
    if spread.is_steady() {
        return None;
    }
    let percent = |share: f64| 100.0 * share;
    let (range, excursion) = (percent(spread.range), percent(spread.excursion));
    let text = format!(
        "the last five rounds differ by {range:.0} % of their mean and their trend moves by {excursion:.0} %; steady \
         is up to {:.0} % and {:.0} %",
        percent(RANGE),
        percent(EXCURSION),
    );
    Some(Mark { code: MarkCode::Unsteady, value: Some(spread.range.max(spread.excursion)), text })
}

/// Returns the mark of a rate whose level changed. The mean of the two levels does not show which one is the device's.
/// `in_words` prints a rate, for example `20.3 MiB/s`. `round` is the round in which the new level began.
pub fn step(step: &Step, in_words: impl Fn(f64) -> String, round: u32) -> Mark {
    let way = if step.after < step.before { "fell" } else { "rose" };
    let (from, to) = (in_words(step.before), in_words(step.after));
    let window = LEVEL_WINDOW.0 / 1_000_000;
    Mark {
        code: MarkCode::Step,
        value: Some(step.change().abs()),
        text: format!("the rate {way} from {from} to {to} in round {round} and stayed there (windows of {window} ms)"),
    }
}

/// A limit counts as reached from this share on. The kernel releases requests in slices of 100 ms, which leaves up to a
/// tenth of a second unused.
pub const REACHED: f64 = 0.9;

/// A limit that a control group sets on a device, and its use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupLimit<'a> {
    /// The limited quantity, for example `reads`, `bytes read`.
    pub what: &'static str,
    /// The name of the device.
    pub device: &'a str,
    /// Allowed amount per second.
    pub allowed: u64,
    /// Used amount per second.
    pub done: f64,
}

/// Returns a mark if a control group limits a rate that is reported as the device's. If several limits were reached,
/// the mark names the most used one.
pub fn throttle_by_group(limits: &[GroupLimit]) -> Option<Mark> {
    let used = |limit: &GroupLimit| limit.done / limit.allowed as f64;
    let reached = limits.iter().filter(|limit| limit.allowed > 0 && used(limit) >= REACHED);
    let most = reached.max_by(|a, b| used(a).total_cmp(&used(b)))?;
    let GroupLimit { what, device, allowed, .. } = most;
    let share = 100.0 * used(most);
    let text =
        format!("a control group limits {device} to {allowed} {what} per second; {share:.0} % of that were used");
    Some(Mark { code: MarkCode::Throttle, value: Some(used(most)), text })
}

/// Returns the mark of a device that reached its temperature limit. It slows down there. `rounds` counts these
/// readings.
pub fn throttle_by_heat(device: &str, rounds: usize) -> Mark {
    let text = format!("{device} was at its temperature limit in {rounds} readings, and slows down there");
    Mark { code: MarkCode::Throttle, value: Some(rounds as f64), text }
}

/// Returns the reason why steadiness is unknown, or `None` if there are enough rounds.
pub fn too_few(rounds: usize) -> Option<String> {
    let window = crate::inference::steady_state::WINDOW;
    (rounds < window).then(|| format!("{rounds} of the {window} rounds that it needs (it may take {MOST_ROUNDS})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settled_has_no_mark() {
        let spread = |range, excursion| Spread { mean: 1.0, range, excursion };
        assert_eq!(unsteady(&spread(0.2, 0.1)), None);
        let mark = unsteady(&spread(0.4, 0.1)).expect("a mark");
        assert_eq!((mark.code, mark.value), (MarkCode::Unsteady, Some(0.4)));
        assert!(mark.text.contains("40 %") && mark.text.contains("moves by 10 %"), "{}", mark.text);
        assert!(unsteady(&spread(0.19, 0.11)).is_some());
    }

    #[test]
    fn a_step_says_from_where_to_where() {
        let mark = step(&Step { at: 7, before: 60.0, after: 20.0 }, |value| format!("{value} MiB/s"), 3);
        assert_eq!(
            mark.text,
            "the rate fell from 60 MiB/s to 20 MiB/s in round 3 and stayed there (windows of 500 ms)"
        );
        assert!(mark.value.is_some_and(|value| (value - 2.0 / 3.0).abs() < 1e-9));
    }

    #[test]
    fn a_limit_marks_where_it_is_reached() {
        let limit = |what, allowed, done| GroupLimit { what, device: "loop3", allowed, done };
        assert_eq!(throttle_by_group(&[]), None);
        assert_eq!(throttle_by_group(&[limit("bytes read", 1000, 899.0), limit("reads", 0, 5.0)]), None);
        let both = [limit("bytes read", 1000, 950.0), limit("reads", 100, 99.0)];
        let mark = throttle_by_group(&both).expect("a mark");
        assert_eq!(mark.text, "a control group limits loop3 to 100 reads per second; 99 % of that were used");
    }

    #[test]
    fn a_window_needs_five_rounds() {
        assert_eq!(too_few(5), None);
        assert!(too_few(2).is_some_and(|text| text.starts_with("2 of the 5 rounds")));
    }
}
