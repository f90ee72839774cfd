//! Leaves out rows and rounds of a plan whose sizes are given, if they take too long. The cost of a row is its work
//! times the unit costs that quick trials measured on the target: the rows themselves may take hours. Decides only; the
//! caller runs the trials.

use super::cost::Cost;
use super::size_choice::{Fitted, Item, Limits, fit};
use super::sizes::{SizeKind, Sizes};
use super::unit_costs::UnitCosts;
use crate::plan::{Alternative, Plan};

/// Minimum number of rows of each program on each target within a budget. Of the copies of `tlpi`, the cheapest five
/// are three plain ones and two with fsync. Its fit needs three plain ones.
const FEWEST_ROWS: usize = 5;

/// Minimum number of rounds within a budget: one round has no spread.
const FEWEST_ROUNDS: u32 = 2;

/// Makes the plan fit its budget, with the unit costs of each target. `None` unless the work of every row is known.
pub fn fit_rows(plan: &mut Plan, unit_costs: &[UnitCosts]) -> Option<Fitted> {
    let items = plan.alternatives.iter().map(|alternative| item(plan, alternative, unit_costs));
    let limits = Limits {
        fewest_rounds: FEWEST_ROUNDS,
        fewest_rows: FEWEST_ROWS,
        ..Limits::fixed(Sizes::LARGEST, plan.budget, plan.rounds)
    };
    let fitted = fit(&items.collect::<Option<Vec<Item>>>()?, &limits);
    plan.rounds = fitted.rounds;
    leave_out(&mut plan.alternatives, &fitted);
    Some(fitted)
}

/// Sets the reason of each row that did not fit.
pub fn leave_out(alternatives: &mut [Alternative], fitted: &Fitted) {
    for (alternative, omitted) in alternatives.iter_mut().zip(&fitted.omitted) {
        alternative.row.omitted = alternative.row.omitted.take().or_else(|| omitted.clone());
    }
}

/// A row whose cost does not depend on any size. The rows of a program on a target are a group.
fn item(plan: &Plan, alternative: &Alternative, unit_costs: &[UnitCosts]) -> Option<Item> {
    let Alternative { targets, row } = alternative;
    let work = row.work?;
    // Targets that run at the same time share the machine: at worst, each waits for the others.
    let fixed = targets.iter().map(|&target| unit_costs[target].seconds(&work)).sum();
    let is_peer = |other: &Alternative| other.targets == *targets && other.row.program.name == row.program.name;
    Some(Item {
        size_kind: SizeKind::Large,
        cost: Cost { fixed, ..Cost::default() },
        operations: 0,
        writes: 0,
        group: plan.alternatives.iter().position(is_peer)?,
        omitted: row.omitted.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runner::execution::{ClaimedClock, MeasureOptions};
    use units::Nanos;
    use workload::programs::tlpi::{self, Sync};

    use super::*;
    use crate::fit::announcement::announcement;
    use crate::fit::unit_costs::Work;
    use crate::plan::Row;
    use crate::presets::MIB_PER_SECOND;
    use crate::request::schedule::Schedule;

    const UNIT_COSTS: UnitCosts = UnitCosts { execution: 0.0, call: 1.0, byte: 0.0, sync_write: 0.0 };

    /// Rows that cost these numbers of seconds, on one target.
    fn plan(seconds: &[u64], rounds: u32, budget: Option<Nanos>) -> Plan {
        let row = |seconds: &u64| {
            let work = Work { calls: *seconds, ..Work::default() };
            let program = tlpi::copy(*seconds, 1, Sync::None);
            Alternative { targets: vec![0], row: Row::new(program, MIB_PER_SECOND).doing(work) }
        };
        let options = MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false };
        let alternatives = seconds.iter().map(row).collect();
        Plan { budget, ..Plan::fixed(("test", options), Schedule::fixed(rounds), 1, alternatives) }
    }

    fn fit_rows(plan: &mut Plan) -> Fitted {
        super::fit_rows(plan, &[UNIT_COSTS]).expect("every row says what it does")
    }

    fn omitted(plan: &Plan) -> Vec<usize> {
        let is_omitted = |index: &usize| plan.alternatives[*index].row.omitted.is_some();
        (0..plan.alternatives.len()).filter(is_omitted).collect()
    }

    #[test]
    fn the_most_expensive_rows_are_omitted_first_with_a_reason() {
        let rows = [780, 60, 30, 20, 8, 2];
        assert_eq!(fit_rows(&mut plan(&rows, 2, None)).time, Nanos::from_secs(1800));
        let mut plan = plan(&rows, 2, Some(Nanos::from_secs(300)));
        let fitted = fit_rows(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 2));
        let reason = plan.alternatives[0].row.omitted.as_deref();
        assert_eq!(reason, Some("needs about 26 min of the budget of 5 min"));
        assert_eq!(announcement(&plan, &fitted), "about 4 min: 5 of 6 tests, 2 rounds");
    }

    #[test]
    fn the_later_of_two_equally_expensive_rows_is_omitted() {
        let mut plan = plan(&[5; 7], 2, Some(Nanos::from_secs(65)));
        fit_rows(&mut plan);
        assert_eq!(omitted(&plan), [6]);
    }

    #[test]
    fn rounds_are_cut_once_five_rows_remain() {
        let mut plan = plan(&[40, 30, 20, 7, 2, 1], 20, Some(Nanos::from_secs(250)));
        let fitted = fit_rows(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 4));
        assert_eq!(announcement(&plan, &fitted), "about 4 min: 5 of 6 tests, 4 of 20 rounds");
        plan.budget = Some(Nanos::from_secs(1));
        fit_rows(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 2));
    }

    #[test]
    fn long_runs_without_a_budget_are_announced_and_not_cut() {
        let mut plan = plan(&[140, 30, 20, 5], 20, None);
        let fitted = fit_rows(&mut plan);
        let text = announcement(&plan, &fitted);
        assert_eq!(
            text,
            "about 65 min: 4 tests, 20 rounds; --rounds 3 or --budget 5min make it shorter\n\
             longest: copy buffer_bytes=1 file_bytes=140 sync=none (47 min), \
             copy buffer_bytes=1 file_bytes=30 sync=none (10 min), \
             copy buffer_bytes=1 file_bytes=20 sync=none (7 min)"
        );
    }

    proptest! {
        #[test]
        fn remaining_rows_fit_unless_only_the_minimum_remains(
            seconds in prop::collection::vec(1u64..1000, 1..12),
            rounds in 1u32..30,
            budget in 1u64..100_000,
        ) {
            let mut plan = plan(&seconds, rounds, Some(Nanos::from_secs(budget)));
            let fitted = fit_rows(&mut plan);
            let left = plan.order(1).len();
            let is_least = left <= FEWEST_ROWS && plan.rounds <= FEWEST_ROUNDS;
            prop_assert!(fitted.time <= Nanos::from_secs(budget) || is_least);
            prop_assert!(left >= FEWEST_ROWS.min(seconds.len()) && plan.rounds >= FEWEST_ROUNDS.min(rounds));
        }
    }
}
