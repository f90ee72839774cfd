//! Marks about a rate over time: whether it became steady, changed its level, or was throttled from outside.

use kernel::observe::temperature::{AT_LIMIT, HEAT};
use stats::are_of_last_regime;
use stats::inference::steady_state::Settling;
use stats::judge::marks::steadiness::{Figure, GroupLimit};
use stats::judge::marks::{Mark, steadiness};

use super::CellFacts;
use super::consumption::{own_limits, used_of};

/// The marks of a cell. A simulated device is never throttled.
pub fn marks(facts: &CellFacts) -> impl Iterator<Item = Mark> {
    let of_settling = match facts.settling {
        Some(Settling::Since(_, spread) | Settling::Not(spread)) => steadiness::unsteady(&spread),
        Some(Settling::TooFew) | None => None,
    };
    let figure = match facts.left_out {
        Some(round) => Figure::After(round),
        None if are_of_last_regime(facts.regimes, facts.rounds.iter().copied()) => Figure::OfLast,
        None => Figure::OfSeveral,
    };
    let step = steadiness::step(facts.regimes, facts.base, figure, facts.target_step);
    let held = if facts.simulated { None } else { by_group(facts).or_else(|| by_heat(facts)) };
    of_settling.into_iter().chain(step).chain(held)
}

/// The mark if all kept rounds together reached a limit of the control group.
fn by_group(facts: &CellFacts) -> Option<Mark> {
    let runs = facts.runs;
    let elapsed: f64 = runs.iter().map(|run| run.counters.elapsed.as_secs_f64()).sum();
    let set = own_limits(runs, facts.phase).map(|limit| GroupLimit {
        what: limit.kind.name(),
        device: &limit.device,
        allowed: limit.allowed,
        done: if elapsed > 0.0 { used_of(runs, limit) as f64 / elapsed } else { 0.0 },
    });
    steadiness::throttle_by_group(&set.collect::<Vec<_>>())
}

/// The mark if a device was at its temperature limit before or after a round.
fn by_heat(facts: &CellFacts) -> Option<Mark> {
    let hot = facts.settings.iter().flat_map(|(_, settings)| settings.iter());
    let mut hot = hot.filter_map(|(name, value)| name.strip_prefix(HEAT).filter(|_| value == AT_LIMIT));
    let device = hot.next()?;
    Some(steadiness::throttle_by_heat(device, 1 + hot.filter(|other| *other == device).count()))
}
