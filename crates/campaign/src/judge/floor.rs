//! The data that a cell lacks: passes its rounds to `stats::judge::floor`.

use stats::judge::floor::{self, Kind, Shortfall};
use workload::OpKind;

use super::CellFacts;

/// The data that the cell lacks. `None` if it has enough, if it has no figure, or if its run or its world has no floor.
pub fn shortfall(facts: &CellFacts) -> Option<Shortfall> {
    let CellFacts { plan, phase, clock, base, rounds, .. } = *facts;
    if !plan.has_floor || facts.simulated || !facts.measured || facts.failure.is_some() {
        return None;
    }
    let kind = Kind::new(base, phase.unit.first == OpKind::Run);
    // An extent that diskperf chose is the floor, or what the writing time allows.
    let span = phase.steps.span().filter(|span| plan.chosen_span() != Some(*span));
    let span = span.map(|span| span.saturating_mul(facts.files));
    floor::shortfall(kind, rounds, clock, span)
}
