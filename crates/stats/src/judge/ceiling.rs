//! Judges a rate by its ceiling: the rate of the layer below for the same pattern, measured in the same rounds.
//!
//! Policy:
//!   1. the rounds in which both were measured are pairs, so a disturbance of a whole round cancels out;
//!   2. the ratio is n.m. if less than half of the rounds have a ceiling, or if its interval is too wide: an unstable
//!      ceiling is not a limit;
//!   3. a rate that is certainly above its ceiling gets a warning: a cache below the file had the data;
//!   4. a rate near a ceiling of another pattern is limited by that layer. A ceiling of the same calls says nothing
//!      about the limit, because both wait in the same way. If the limit is unknown for a known reason, such as kernel
//!      threads that may serve the device, the ceiling has the same reason and says nothing either.

use crate::figures::summary::{self, CONFIDENCE};
use crate::inference::ratio_test::{MARGIN, Pairs};
use crate::inference::verdict::Estimate;
use crate::judge::bottleneck::{Rule, percent};
use crate::judge::marks::{Mark, MarkCode};
use crate::results::bottleneck::{Bottleneck, LimitedBy};
use crate::results::of_limit::{LimitLayer, OfLimit};

/// A ratio is n.m. if an end of its interval is farther from it than by this factor. Our choice: 80 % and 56 % lead to
/// different decisions.
const STABLE: f64 = 1.25;

/// A rate of more than this share of its ceiling did not come from the layer below.
const ABOVE: f64 = 1.05;

/// A rate of at least this share of the ceiling is limited by it. A resource of which nine tenths are used can do at
/// most a ninth more.
const REACHED: f64 = 0.9;

/// The ceiling of a result in one round, or the reason why it is not known.
#[derive(Clone, Debug, PartialEq)]
pub enum CeilingRound {
    /// The layer, its rate, and the rate of the result.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Measured { layer: LimitLayer, limit: f64, own: f64 },
    /// The reason.
    NotMeasured(String),
}

/// Returns the rates of a result as a share of its ceiling. `None` if it was not asked for in any round.
pub fn of_limit(rounds: &[CeilingRound]) -> Option<OfLimit> {
    let first_reason = rounds.iter().find_map(|round| match round {
        CeilingRound::NotMeasured(reason) => Some(reason.clone()),
        CeilingRound::Measured { .. } => None,
    });
    let measured = |round: &CeilingRound| match *round {
        CeilingRound::Measured { layer, limit, own } => Some((layer, limit, own)),
        CeilingRound::NotMeasured(_) => None,
    };
    let measured: Vec<(LimitLayer, f64, f64)> = rounds.iter().filter_map(measured).collect();
    let count = measured.len();
    let not_measured = |reason: String| OfLimit {
        layer: None,
        per_second: None,
        estimate: None,
        rounds: count as u32,
        reason: Some(reason),
    };
    // 2
    if 2 * count < rounds.len() {
        return Some(not_measured(first_reason.unwrap_or_default()));
    }
    let &(layer, ..) = measured.first()?;
    if count < 2 {
        return Some(not_measured("one round has no interval".to_owned()));
    }
    // 1
    let pairs: Pairs = measured.iter().map(|&(_, limit, own)| (limit, own)).collect();
    let estimate = pairs.estimate().judged(CONFIDENCE, MARGIN).estimate;
    Some(match unstable(estimate) {
        Some(reason) => not_measured(reason),
        None => OfLimit {
            layer: Some(layer),
            per_second: Some(summary::mean_and_half_width(&limits(&measured)).0),
            estimate: Some(estimate),
            rounds: count as u32,
            reason: None,
        },
    })
}

fn limits(measured: &[(LimitLayer, f64, f64)]) -> Vec<f64> {
    measured.iter().map(|&(_, limit, _)| limit).collect()
}

/// Returns the reason if the interval of the ratio is too wide.
fn unstable(estimate: Estimate) -> Option<String> {
    let (Some(ratio), Some(low), Some(high)) = (estimate.ratio, estimate.low, estimate.high) else {
        return Some("a round did no work".to_owned());
    };
    (high > ratio * STABLE || low < ratio / STABLE)
        .then(|| format!("unstable: between {} and {} of the layer below", percent(low), percent(high)))
}

/// 3. Returns a mark if the rate is certainly above its ceiling.
pub fn above(of_limit: &OfLimit) -> Option<Mark> {
    let (ratio, low, layer) = (of_limit.estimate?.ratio?, of_limit.estimate?.low?, of_limit.layer?);
    (low > ABOVE).then(|| Mark {
        code: MarkCode::Above,
        value: Some(ratio),
        text: format!(
            "{} of the rate of {} in the same rounds: a cache below had part of the data, or a limit slows only \
             direct I/O",
            percent(ratio),
            layer.in_words()
        ),
    })
}

/// 4. Returns the verdict of a rule with the share of the limit as further evidence. `is_other_pattern` is true if the
///    ceiling has other calls than the result.
pub fn confirmed((limited_by, rule): (LimitedBy, Rule), of_limit: &OfLimit, is_other_pattern: bool) -> LimitedBy {
    let (Some(layer), Some(Estimate { ratio: Some(ratio), low: Some(low), high: Some(high), .. })) =
        (of_limit.layer, of_limit.estimate)
    else {
        return limited_by;
    };
    let share = format!("{} of {}", percent(ratio), layer.in_words());
    let is_reached = is_other_pattern && low >= REACHED && high <= 1.0 / REACHED;
    let what = match (rule, layer) {
        (Rule::Open, LimitLayer::Device) if is_reached => Bottleneck::Device,
        (Rule::Open, LimitLayer::Flush) if is_reached => Bottleneck::Flush,
        _ => limited_by.what,
    };
    LimitedBy { what, evidence: format!("{}, {share}", limited_by.evidence) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(limit: f64, own: f64) -> CeilingRound {
        CeilingRound::Measured { layer: LimitLayer::Device, limit, own }
    }

    fn missing(reason: &str) -> CeilingRound {
        CeilingRound::NotMeasured(reason.to_owned())
    }

    fn shares(own: &[f64]) -> OfLimit {
        of_limit(&own.iter().map(|own| round(200.0, 200.0 * own)).collect::<Vec<_>>()).expect("rounds")
    }

    #[test]
    fn the_ratio_is_that_of_paired_rounds() {
        // The whole second round was twice as slow.
        let found = of_limit(&[round(200.0, 142.0), round(100.0, 71.0), round(200.0, 142.0)]).expect("rounds");
        let estimate = found.estimate.expect("a ratio");
        assert!((estimate.ratio.expect("a ratio") - 0.71).abs() < 1e-12);
        assert!(estimate.high.expect("an end") - estimate.low.expect("an end") < 1e-9);
        assert_eq!((found.layer, found.rounds, found.reason), (Some(LimitLayer::Device), 3, None));
        assert!((found.per_second.expect("a rate") - 500.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn unstable_and_missing_ceilings_are_not_measured() {
        let reason = |rounds: &[CeilingRound]| {
            let found = of_limit(rounds).expect("rounds");
            assert!(found.estimate.is_none() && found.layer.is_none() && found.per_second.is_none());
            found.reason.expect("a reason")
        };
        assert!(reason(&[round(1.0, 0.5), round(1.0, 0.9), round(1.0, 0.7)]).starts_with("unstable: between"));
        assert_eq!(reason(&[round(1.0, 0.5), missing("too short"), missing("too short")]), "too short");
        assert_eq!(reason(&[round(1.0, 0.5)]), "one round has no interval");
        assert_eq!(reason(&[round(1.0, 0.5), round(1.0, 0.0)]), "a round did no work");
        assert_eq!(of_limit(&[]), None);
        let half = [round(1.0, 0.5), missing("too short"), round(1.0, 0.51), round(1.0, 0.5), missing("too short")];
        assert_eq!(of_limit(&half).expect("rounds").rounds, 3);
    }

    #[test]
    fn only_what_is_certainly_above_its_limit_gets_a_warning() {
        assert_eq!(above(&shares(&[1.04, 1.05, 1.04, 1.05])), None);
        assert_eq!(above(&shares(&[1.0, 1.2, 1.0, 1.2])), None);
        let mark = above(&shares(&[1.3, 1.31, 1.3, 1.31])).expect("a mark");
        assert_eq!(mark.code, MarkCode::Above);
        assert!(mark.text.starts_with("130 % of the rate of the device"), "{}", mark.text);
    }

    #[test]
    fn a_reached_limit_of_another_pattern_is_the_bottleneck() {
        let unknown = || LimitedBy { what: Bottleneck::NotMeasured, evidence: "45 % unattributed".to_owned() };
        let what = |own: &[f64], is_other| confirmed((unknown(), Rule::Open), &shares(own), is_other).what;
        assert_eq!(what(&[0.96, 0.97, 0.96], true), Bottleneck::Device);
        let refused = confirmed((unknown(), Rule::Decided), &shares(&[0.96, 0.97, 0.96]), true);
        assert_eq!(refused.what, Bottleneck::NotMeasured);
        assert_eq!(refused.evidence, "45 % unattributed, 96 % of the device");
        assert_eq!(what(&[0.96, 0.97, 0.96], false), Bottleneck::NotMeasured);
        assert_eq!(what(&[0.7, 0.71, 0.7], true), Bottleneck::NotMeasured);
        assert_eq!(what(&[1.3, 1.31, 1.3], true), Bottleneck::NotMeasured);
        let cpu = LimitedBy { what: Bottleneck::Cpu, evidence: "96 % computing".to_owned() };
        let known = (cpu.clone(), Rule::Decided);
        let said = confirmed(known.clone(), &shares(&[0.7, 0.71, 0.7]), true);
        assert_eq!((said.what, said.evidence.as_str()), (Bottleneck::Cpu, "96 % computing, 70 % of the device"));
        let nothing = of_limit(&[missing("too short")]).expect("rounds");
        assert_eq!(confirmed(known, &nothing, true), cpu);
    }
}
