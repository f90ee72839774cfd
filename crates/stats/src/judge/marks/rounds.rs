//! Judges the rounds of a cell: too few rounds, rounds that disagree, outliers, programs that did not overlap, missing
//! interleaving.

use super::{Mark, MarkCode};
use crate::inference::outlier::{outliers, trimmed_mean};

/// The largest permitted difference of the kept rounds, as a share of their mean: our interpretation of "stabilized and
/// repeatable" in Kridle & McKusick 1983, section 4, which gives no number.
pub const AGREEMENT: f64 = 0.10;

/// Returns a mark if there are too few kept rounds, or if they disagree and the preset requires agreement.
pub fn few(rates: &[f64], promised: u32, must_agree: bool) -> Option<Mark> {
    let kept = rates.len() as u32;
    if kept < promised {
        let text = format!("{kept} of {promised} rounds");
        return Some(Mark { code: MarkCode::Few, value: Some(f64::from(kept)), text });
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let spread = rates.iter().fold(0.0_f64, |widest, rate| widest.max((rate - mean).abs() / mean));
    // If two rounds differ by a share of their mean, each is half of that share away from the mean.
    let apart = 2.0 * spread;
    (must_agree && apart > AGREEMENT).then(|| Mark {
        code: MarkCode::Few,
        value: Some(apart),
        text: format!("the kept rounds differ by {:.0} %", 100.0 * apart),
    })
}

/// Returns a mark if a few of these rounds would determine the mean. Each round is given with its number and its rate
/// or time. `in_words` prints such a figure, for example `6,725`, and `unit` follows it.
pub fn outlier(rounds: &[(u32, f64)], in_words: impl Fn(f64) -> String, unit: &str) -> Option<Mark> {
    let figures: Vec<f64> = rounds.iter().map(|(_, figure)| *figure).collect();
    let found = outliers(&figures);
    let (typical, _) = trimmed_mean(&figures);
    let times = |place: &usize| (figures[*place] / typical).max(typical / figures[*place]);
    let value = found.iter().map(times).max_by(f64::total_cmp)?;
    let others = (0..figures.len()).filter(|place| !found.contains(place)).map(|place| figures[place]);
    let (lowest, highest) = others.fold((f64::INFINITY, 0.0_f64), |(low, high), one| (low.min(one), high.max(one)));
    let named: Vec<String> =
        found.iter().map(|place| format!("round {}: {}{unit}", rounds[*place].0, in_words(figures[*place]))).collect();
    let text = format!("{}, others {} to {}", named.join(", "), in_words(lowest), in_words(highest));
    Some(Mark { code: MarkCode::Outlier, value: Some(value), text })
}

/// Programs that run at once must overlap for this share of the longest program's time. Otherwise the sum of their
/// rates does not show both at work.
pub const OVERLAP: f64 = 0.9;

/// Returns a mark if the programs overlapped for too small a share of the time.
pub fn uneven(overlap: f64) -> Option<Mark> {
    (overlap < OVERLAP).then(|| Mark {
        code: MarkCode::Uneven,
        value: Some(overlap),
        text: format!("the shortest test ran for {:.0} % of the longest one's time", 100.0 * overlap),
    })
}

/// Returns a mark if the rounds of a cell were not interleaved with those of the cells to compare it with. Each round
/// has its own random order, so cells in the same rounds take turns. They need at least two common rounds, and more
/// common rounds than rounds of only one of them. A run that was stopped early can have such a round at its end.
pub fn order(rounds: &[u32], compared: &[&[u32]]) -> Option<Mark> {
    let common = |others: &[u32]| rounds.iter().filter(|round| others.contains(round)).count();
    let alone = |others: &[u32]| rounds.len() + others.len() - 2 * common(others);
    let takes_turns = |others: &&&[u32]| common(others) >= 2 && common(others) > alone(others);
    let shared = compared.iter().filter(|others| !takes_turns(others)).map(|others| common(others)).min()?;
    let text = match (rounds.len(), shared) {
        (1, _) => "it ran once, so it was not interleaved with the other targets".to_owned(),
        (all, shared) => format!("only {shared} of {all} rounds were interleaved with the other targets"),
    };
    Some(Mark { code: MarkCode::Order, value: Some(shared as f64), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rounds_agree_within_a_tenth_of_their_mean() {
        assert_eq!(few(&[100.0, 109.0], 2, true), None);
        assert_eq!(few(&[100.0, 120.0], 2, true).map(|mark| mark.code), Some(MarkCode::Few));
        assert_eq!(few(&[100.0, 120.0], 2, false), None);
        assert_eq!(few(&[100.0], 2, false).map(|mark| mark.text), Some("1 of 2 rounds".to_owned()));
    }

    #[test]
    fn an_outlier_is_named_with_the_range_of_the_others() {
        let said = |rates: &[f64]| {
            let rounds: Vec<(u32, f64)> = (1..).zip(rates.iter().copied()).collect();
            outlier(&rounds, |rate| format!("{rate:.0}"), " files/s")
        };
        let mark = said(&[50_171.0, 6707.0, 6373.0, 6725.0, 6500.0]).expect("a mark");
        assert_eq!(mark.text, "round 1: 50171 files/s, others 6373 to 6725");
        assert!(mark.value.is_some_and(|times| (7.0..8.0).contains(&times)), "{mark:?}");
        let stall = said(&[100.0, 101.0, 99.0, 10.0, 100.0]).expect("a mark");
        assert_eq!(stall.text, "round 4: 10 files/s, others 99 to 101");
        assert_eq!(said(&[100.0, 120.0, 90.0, 110.0, 80.0]), None);
        assert_eq!(said(&[]), None);
    }

    #[test]
    fn what_is_compared_takes_turns() {
        assert_eq!(order(&[1, 2], &[&[1, 2], &[1, 2]]), None);
        assert_eq!(order(&[1], &[]), None);
        assert_eq!(order(&[1], &[&[1]]).map(|mark| mark.code), Some(MarkCode::Order));
        // One more round at the end does not make it a separate series.
        assert_eq!(order(&[1, 2], &[&[1, 2], &[1, 2, 3]]), None);
        let mark = order(&[1, 2, 3], &[&[1], &[1, 2, 3]]).expect("a mark");
        assert!(mark.text.starts_with("only 1 of 3 rounds "), "{}", mark.text);
        assert!(order(&[1, 2], &[&[1, 2, 3, 4]]).is_some());
    }

    #[test]
    fn programs_at_once_overlap_for_nine_tenths() {
        assert_eq!(uneven(0.91), None);
        assert_eq!(uneven(0.5).map(|mark| (mark.code, mark.value)), Some((MarkCode::Uneven, Some(0.5))));
    }
}
