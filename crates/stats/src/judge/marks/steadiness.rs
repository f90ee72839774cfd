//! Judges a rate over time: rates that are not steady, rates that changed their level, throttled rates.

use units::Nanos;
use workload::RateBase;

use super::{Mark, MarkCode};
use crate::digits::significant;
use crate::inference::steady_state::{EXCURSION, MOST_ROUNDS, RANGE, Spread};
use crate::judge::regimes::TargetStep;
use crate::results::regime::Regime;

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

/// The rounds from which the figure of a rate with several levels is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Those after this round.
    After(u32),
    /// Those of the last level, because the rounds before were discarded anyway.
    OfLast,
    /// Those of several levels: too few belong to the last one.
    OfSeveral,
}

/// Returns the mark of a rate whose level changed, with the bytes or units of work of each regime. A mean of the levels
/// does not show which one is the device's. `of_target` is the change of all tests of the target. Without regimes there
/// is no mark.
pub fn step(regimes: &[Regime], base: RateBase, figure: Figure, of_target: Option<&TargetStep>) -> Option<Mark> {
    let (first, last) = (regimes.first()?, regimes.last()?);
    let amount = |one: &Regime| match base {
        RateBase::Bytes => bytes(one.bytes as f64),
        RateBase::Files => format!("{} files", significant(one.ops as f64, 3)),
        RateBase::Ops => format!("{} operations", significant(one.ops as f64, 3)),
    };
    let rate = |one: &Regime| match base {
        RateBase::Bytes => format!("{}/s", bytes(one.per_second)),
        RateBase::Files => format!("{} files/s", significant(one.per_second, 3)),
        RateBase::Ops => format!("{}/s", significant(one.per_second, 3)),
    };
    let words = |(index, one): (usize, &Regime)| match index {
        0 => format!("{} for the first {} ({})", rate(one), amount(one), seconds(one.seconds)),
        _ => format!("then {} for {} ({})", rate(one), amount(one), seconds(one.seconds)),
    };
    let mut parts: Vec<String> = vec![regimes.iter().enumerate().map(words).collect::<Vec<String>>().join(", ")];
    parts.extend(of_target.map(|step| {
        format!("all tests of the target changed after {} and {}", bytes(step.bytes as f64), seconds(step.seconds))
    }));
    parts.push(match figure {
        Figure::After(1) => "round 1 is left out".to_owned(),
        Figure::After(round) => format!("rounds 1 to {round} are left out"),
        Figure::OfLast => "the figure is that of the last level".to_owned(),
        Figure::OfSeveral => "the figure is a mean of these, because too few rounds follow".to_owned(),
    });
    let value = Some((last.per_second / first.per_second - 1.0).abs()).filter(|value| value.is_finite());
    Some(Mark { code: MarkCode::Step, value, text: parts.join("; ") })
}

/// Prints bytes with three digits, in MiB up to 10 GiB: two levels of a rate are easier to compare in one unit.
fn bytes(bytes: f64) -> String {
    let units = [("GiB", 1_073_741_824.0, 10.0), ("MiB", 1_048_576.0, 1.0), ("KiB", 1024.0, 1.0)];
    let unit = units.into_iter().find(|(_, size, least)| bytes >= size * least);
    let (unit, size) = unit.map_or(("B", 1.0), |(unit, size, _)| (unit, size));
    format!("{} {unit}", significant(bytes / size, 3))
}

fn seconds(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
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
    fn a_step_names_every_regime_with_its_amount() {
        let mib = |mib: u64| mib << 20;
        let regime = |bytes: u64, seconds: f64| Regime {
            first_round: 1,
            from_s: 0.0,
            last_round: 2,
            bytes,
            ops: bytes >> 12,
            seconds,
            per_second: bytes as f64 / seconds,
        };
        let both = [regime(mib(700), 0.424_242), regime(mib(3200), 160.0)];
        let mark = step(&both, RateBase::Bytes, Figure::After(4), None).expect("a mark");
        assert_eq!(
            mark.text,
            "1,650 MiB/s for the first 700 MiB (424 ms), then 20.0 MiB/s for 3,200 MiB (2 min 40 s); rounds 1 to 4 are \
             left out"
        );
        assert!(mark.value.is_some_and(|value| (value - 0.988).abs() < 0.001), "{mark:?}");
        let per_second = [Regime { per_second: 4000.0, ..both[0] }, Regime { per_second: 400.0, ..both[1] }];
        let of_target = TargetStep { round: 2, rises: false, bytes: mib(20_480), seconds: 3.0 };
        let mark = step(&per_second, RateBase::Ops, Figure::OfSeveral, Some(&of_target)).expect("a mark");
        assert_eq!(
            mark.text,
            "4,000/s for the first 179,000 operations (424 ms), then 400/s for 819,000 operations (2 min 40 s); all \
             tests of the target changed after 20.0 GiB and 3.00 s; the figure is a mean of these, because too few \
             rounds follow"
        );
        let mark = step(&both, RateBase::Bytes, Figure::OfLast, None).expect("a mark");
        assert!(mark.text.ends_with("(2 min 40 s); the figure is that of the last level"), "{}", mark.text);
        assert_eq!(step(&[], RateBase::Bytes, Figure::OfLast, None), None);
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
