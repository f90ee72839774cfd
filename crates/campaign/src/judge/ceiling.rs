//! The ceilings of a result's rounds: converts the observations of the runner for `stats::judge::ceiling`.

use runner::ceiling::CeilingResult;
use runner::execution::PhaseResult;
use stats::figures::summary;
use stats::judge::ceiling::{CeilingRound, of_limit};
use stats::{ClockKind, OfLimit, RateBase, Round};

/// The rate of a phase as a share of its ceiling, over the kept rounds. `None` if ceilings were not to be measured.
pub fn gather<'a>(
    rounds: impl Iterator<Item = (&'a Round, &'a PhaseResult)>,
    together: bool,
    base: RateBase,
    clock: ClockKind,
) -> Option<OfLimit> {
    let ceiling = |(round, run): (&Round, &PhaseResult)| {
        let own = summary::round_rate(round, together, base, clock);
        Some(ceiling_round(run.ceiling.as_ref()?, own, base))
    };
    of_limit(&rounds.filter_map(ceiling).collect::<Vec<CeilingRound>>())
}

/// The ceiling of a round in which the result has this rate.
fn ceiling_round(ceiling: &CeilingResult, own: Option<f64>, base: RateBase) -> CeilingRound {
    match (ceiling, own) {
        (CeilingResult::NotMeasured(reason), _) => CeilingRound::NotMeasured(reason.clone()),
        (_, None) => CeilingRound::NotMeasured("the round took no time".to_owned()),
        (&CeilingResult::Measured { layer, bytes, ops, elapsed }, Some(own)) => {
            let amount = match base {
                RateBase::Bytes => bytes,
                RateBase::Files | RateBase::Ops => ops,
            };
            CeilingRound::Measured { layer, limit: amount as f64 / elapsed.as_secs_f64(), own }
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::LimitLayer;
    use units::Nanos;

    use super::*;

    #[test]
    fn a_rate_is_compared_in_its_own_unit() {
        let elapsed = Nanos::from_millis(500);
        let measured = CeilingResult::Measured { layer: LimitLayer::Device, bytes: 1 << 20, ops: 256, elapsed };
        let limit = |base| match ceiling_round(&measured, Some(7.0), base) {
            CeilingRound::Measured { limit, own, .. } => (limit, own),
            other @ CeilingRound::NotMeasured(_) => panic!("{other:?}"),
        };
        assert_eq!(limit(RateBase::Bytes), (2_097_152.0, 7.0));
        assert_eq!(limit(RateBase::Ops), (512.0, 7.0));
        let reason = |ceiling: &CeilingResult, own| match ceiling_round(ceiling, own, RateBase::Ops) {
            CeilingRound::NotMeasured(reason) => reason,
            other @ CeilingRound::Measured { .. } => panic!("{other:?}"),
        };
        assert_eq!(reason(&CeilingResult::NotMeasured("no ring".to_owned()), Some(7.0)), "no ring");
        assert_eq!(reason(&measured, None), "the round took no time");
    }
}
