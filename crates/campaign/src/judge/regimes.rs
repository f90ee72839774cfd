//! The regimes of a cell, and the change that all cells of a device share. Only the last regime counts. If it is lower,
//! earlier ones show a credit or a cache, and no later run would reach their rate. If it is higher, a cache may have
//! warmed up, so the cell decides nothing (`Cell::undeciding`).

use std::collections::BTreeMap;

use stats::judge::regimes::{Measure, TargetStep, regimes_at, regimes_of, sustained_from, target_step};
use stats::{Cell, Regime, Round, TargetInfo};
use workload::Phase;

use crate::plan::Plan;

/// The regimes of one cell.
#[derive(Debug, Default)]
pub struct CellRegimes<'a> {
    /// The regimes; none if the rate kept one level.
    pub regimes: Vec<Regime>,
    /// The last round that is left out.
    pub left_out: Option<u32>,
    /// The change of all cells of the target, if the cell's own rounds do not show the regimes.
    pub target_step: Option<&'a TargetStep>,
}

/// Finds the regimes of a cell, and discards the rounds before the last one if enough rounds follow.
///
/// A plan that runs until its rates are steady has discarded the rounds before. There, reads are judged in all rounds,
/// because they need no time to become steady. Writes are judged in the rounds that count.
pub fn leave_out_earlier<'a>(
    rounds: &mut [Round],
    (plan, phase): (&Plan, &Phase),
    measure: Measure,
    step: Option<&'a TargetStep>,
) -> CellRegimes<'a> {
    let until_steady = plan.schedule.is_until_steady();
    let is_judged = |round: &Round| !round.discarded || until_steady && !phase.changes();
    let own = regimes_of(rounds, measure, is_judged);
    let (regimes, target_step) = match step {
        Some(step) if own.is_empty() => (regimes_at(rounds, measure, step), Some(step)),
        _ => (own, None),
    };
    // Before the load was held, credits came back between the rounds.
    let held = rounds.iter().filter(|round| round.rested_s.is_some()).map(|round| round.round).min();
    let from = sustained_from(&regimes, rounds).max(held).filter(|_| !until_steady);
    if let Some(from) = from {
        rounds.iter_mut().filter(|round| round.round < from).for_each(|round| round.discarded = true);
    }
    let left_out = from.and_then(|from| rounds.iter().map(|round| round.round).filter(|round| *round < from).max());
    CellRegimes { target_step: target_step.filter(|_| !regimes.is_empty()), regimes, left_out }
}

/// The changes of all cells of a device, by the name of the target. Targets on one device share its credits.
pub fn target_steps(plan: &Plan, infos: &[TargetInfo], cells: &[Cell]) -> BTreeMap<String, TargetStep> {
    if plan.schedule.is_until_steady() {
        return BTreeMap::new();
    }
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for info in infos {
        groups.entry(info.device.as_deref().unwrap_or(&info.name)).or_default().push(&info.name);
    }
    let step = |targets: Vec<&str>| {
        let step = target_step(cells.iter().filter(|cell| targets.contains(&cell.target.as_str())))?;
        Some(targets.into_iter().map(move |target| (target.to_owned(), step)).collect::<Vec<_>>())
    };
    groups.into_values().filter_map(step).flatten().collect()
}
