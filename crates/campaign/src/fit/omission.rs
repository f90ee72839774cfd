//! Leaves out rows and rounds of a plan whose sizes are given, if they take too long. The cost of a row is its work
//! times the unit costs that quick trials measured on the target: the rows themselves may take hours. Decides only; the
//! caller runs the trials.

use units::Nanos;

use super::duration_words::about;
use super::size_choice::Fitted;
use super::sizes::Sizes;
use super::unit_costs::UnitCosts;
use crate::plan::{Alternative, Plan};

/// Minimum number of rows of each program on each target within a budget. Of the copies of `tlpi`, the cheapest five
/// are three plain ones and two with fsync. Its fit needs three plain ones.
const FEWEST_ROWS: usize = 5;

/// Minimum number of rounds within a budget: one round has no spread.
const FEWEST_ROUNDS: u32 = 2;

/// A row, reduced to the seconds of an execution.
struct Item {
    seconds: f64,
    /// The group of rows of which a minimum stays: those of a program on a target.
    group: usize,
    is_omitted: bool,
}

/// Makes the plan fit its budget, with the unit costs of each target. Leaves out the most expensive rows first; of two
/// with the same cost, the later one. Then it reduces the rounds. `None` unless the work of every row is known.
pub fn fit_rows(plan: &mut Plan, unit_costs: &[UnitCosts]) -> Option<Fitted> {
    let items = plan.alternatives.iter().map(|alternative| item(plan, alternative, unit_costs));
    let mut items = items.collect::<Option<Vec<Item>>>()?;
    let budget = plan.budget.map_or(f64::INFINITY, Nanos::as_secs_f64);
    let mut omitted = vec![None; items.len()];
    let mut rounds = plan.rounds;
    while seconds(&items, rounds) > budget {
        let Some(index) = dearest(&items) else { break };
        let needs = about(nanos(items[index].seconds * f64::from(rounds)));
        omitted[index] = Some(format!("needs about {needs} of the budget of {}", about(nanos(budget))));
        items[index].is_omitted = true;
    }
    if seconds(&items, rounds) > budget {
        rounds = rounds.min(((budget / seconds(&items, 1)) as u32).max(FEWEST_ROUNDS));
    }
    let fitted = Fitted {
        sizes: Sizes::SMALLEST,
        rounds,
        omitted,
        times: items.iter().map(|item| nanos(seconds(std::slice::from_ref(item), rounds))).collect(),
        time: nanos(seconds(&items, rounds)),
        written: 0,
        needed: None,
    };
    plan.rounds = rounds;
    leave_out(&mut plan.alternatives, &fitted);
    Some(fitted)
}

/// Sets the reason of each row that did not fit.
pub fn leave_out(alternatives: &mut [Alternative], fitted: &Fitted) {
    for (alternative, omitted) in alternatives.iter_mut().zip(&fitted.omitted) {
        alternative.row.omitted = alternative.row.omitted.take().or_else(|| omitted.clone());
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

/// Seconds of these rows in all rounds.
fn seconds(items: &[Item], rounds: u32) -> f64 {
    items.iter().filter(|item| !item.is_omitted).map(|item| item.seconds).sum::<f64>() * f64::from(rounds)
}

/// The most expensive row that may be left out: enough rows of its group stay.
fn dearest(items: &[Item]) -> Option<usize> {
    let peers = |group| items.iter().filter(|item| !item.is_omitted && item.group == group).count();
    let may_go = |index: &usize| !items[*index].is_omitted && peers(items[*index].group) > FEWEST_ROWS;
    (0..items.len()).filter(may_go).max_by(|a, b| items[*a].seconds.total_cmp(&items[*b].seconds))
}

/// A row, if its work is known.
fn item(plan: &Plan, alternative: &Alternative, unit_costs: &[UnitCosts]) -> Option<Item> {
    let Alternative { targets, row } = alternative;
    let work = row.work?;
    // Targets that run at the same time share the machine: at worst, each waits for the others.
    let seconds = targets.iter().map(|&target| unit_costs[target].seconds(&work)).sum();
    let is_peer = |other: &Alternative| other.targets == *targets && other.row.program.name == row.program.name;
    let group = plan.alternatives.iter().position(is_peer)?;
    Some(Item { seconds, group, is_omitted: row.omitted.is_some() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runner::execution::{ClaimedClock, MeasureOptions};
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
        let options = MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None };
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
