//! Forecasts the time of a plan, and leaves out rows if it is too long. The forecast multiplies the work of each row by
//! the costs that quick trials measured on the target. Decides only; the caller runs the trials.

use std::cmp::Reverse;

use units::Nanos;

use super::duration::about;
use super::unit_costs::UnitCosts;
use crate::plan::{Alternative, Plan};

/// For longer plans, the longest tests are named.
const LONG: Nanos = Nanos::from_secs(5 * 60);

/// Minimum number of rows of each program on each target within a budget. Of the copies of `tlpi`, the cheapest five
/// are three plain ones and two with fsync. Its fit needs three plain ones.
const FEWEST_ROWS: usize = 5;

/// Minimum number of rounds within a budget: one round has no spread.
const FEWEST_ROUNDS: u32 = 2;

/// The number of longest tests that are named.
const NAMED: usize = 3;

/// The cost of a plan, row by row.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The time of one execution of each alternative of the plan.
    costs: Vec<Nanos>,
    /// The requested rounds.
    rounds: u32,
}

impl Forecast {
    /// The forecast for a plan, with the unit costs of each target. `None` unless the work of every row is known.
    pub fn of(plan: &Plan, unit_costs: &[UnitCosts]) -> Option<Forecast> {
        // Targets that run at the same time share the machine: at worst, each waits for the others.
        let cost = |alternative: &Alternative| {
            let work = alternative.row.work?;
            Some(alternative.targets.iter().map(|&target| unit_costs[target].cost(&work)).sum())
        };
        let costs = plan.alternatives.iter().map(cost).collect::<Option<_>>()?;
        Some(Forecast { costs, rounds: plan.rounds })
    }

    /// The time of all rounds, without rows that are left out.
    pub fn total(&self, plan: &Plan) -> Nanos {
        times(self.round(plan), plan.rounds)
    }

    /// The time of one round, without rows that are left out.
    fn round(&self, plan: &Plan) -> Nanos {
        plan.order(1).into_iter().map(|index| self.costs[index]).sum()
    }

    /// Makes the plan fit its budget:
    ///   1. the most expensive row is left out, then the next, until the rest fits with all its rounds. Five rows of
    ///      each program on each target stay. Of two rows with the same cost, the later one goes first;
    ///   2. then the number of rounds is reduced, down to two.
    pub fn thin(&self, plan: &mut Plan) {
        let Some(budget) = plan.budget else { return };
        // 1.
        let mut dearest = plan.order(1);
        dearest.sort_unstable_by_key(|&index| (Reverse(self.costs[index]), Reverse(index)));
        for index in dearest {
            if self.total(plan) <= budget {
                return;
            }
            if peers(plan, index) > FEWEST_ROWS {
                let needs = about(times(self.costs[index], plan.rounds));
                let reason = format!("needs about {needs} of the budget of {}", about(budget));
                plan.alternatives[index].row.omitted = Some(reason);
            }
        }
        // 2.
        let fitting = budget.0.checked_div(self.round(plan).0).and_then(|rounds| rounds.try_into().ok());
        let fitting: u32 = fitting.unwrap_or(plan.rounds);
        plan.rounds = plan.rounds.min(fitting.max(FEWEST_ROUNDS));
    }

    /// The estimate before a run: `about 1 h 05 min: 40 tests, 20 rounds`. If that is long, also the longest tests and
    /// how to make it shorter.
    pub fn announcement(&self, plan: &Plan) -> String {
        let part = |is: usize, of: usize, what| {
            let s = if of == 1 { "" } else { "s" };
            if is == of { format!("{is} {what}{s}") } else { format!("{is} of {of} {what}{s}") }
        };
        let total = self.total(plan);
        let mut running = plan.order(1);
        let rows = part(running.len(), self.costs.len(), "test");
        let rounds = part(plan.rounds as usize, self.rounds as usize, "round");
        let mut text = format!("about {}: {rows}, {rounds}", about(total));
        if total <= LONG {
            return text;
        }
        if plan.budget.is_none() {
            text += if plan.rounds > 3 { "; --rounds 3 or --budget 5min make" } else { "; --budget 5min makes" };
            text += " it shorter";
        }
        running.sort_unstable_by_key(|&index| (Reverse(self.costs[index]), index));
        let named = running.iter().take(NAMED).map(|&index| {
            let alternative = &plan.alternatives[index];
            format!("{} ({})", alternative.row.label(), about(times(self.costs[index], plan.rounds)))
        });
        text + "\nlongest: " + &named.collect::<Vec<String>>().join(", ")
    }
}

/// The number of rows of the same program on the same target that are not left out, including this one.
fn peers(plan: &Plan, index: usize) -> usize {
    let this = &plan.alternatives[index];
    let is_peer = |index: &usize| {
        let other = &plan.alternatives[*index];
        other.targets == this.targets && other.row.program.name == this.row.program.name
    };
    plan.order(1).iter().filter(|index| is_peer(index)).count()
}

fn times(span: Nanos, count: u32) -> Nanos {
    Nanos(span.0.saturating_mul(u64::from(count)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runner::execution::{ClaimedClock, MeasureOptions};

    use workload::programs::tlpi::{self, Sync};

    use super::*;
    use crate::fit::unit_costs::Work;
    use crate::plan::{PlannedSizing, Row};
    use crate::presets::MIB_PER_SECOND;
    use crate::request::schedule::Schedule;

    /// Rows that cost these numbers of seconds, on one target.
    fn plan(seconds: &[u64], rounds: u32, budget: Option<Nanos>) -> (Plan, Forecast) {
        let row = |seconds: &u64| {
            let work = Work { calls: *seconds, ..Work::default() };
            let program = tlpi::copy(*seconds, 1, Sync::None);
            Alternative { targets: vec![0], row: Row::new(program, MIB_PER_SECOND).doing(work) }
        };
        let plan = Plan {
            preset: "test",
            schedule: Schedule::fixed(rounds),
            rounds,
            memory: None,
            before: crate::plan::Before::Nothing,
            options: MeasureOptions { claim: ClaimedClock::Returned, timed: false },
            methods: kernel::EvictionMethods::default(),
            seed: 1,
            zeros: false,
            budget,
            sizing: PlannedSizing::Thin,
            commands: std::sync::Arc::default(),
            alternatives: seconds.iter().map(row).collect(),
        };
        let unit_costs = UnitCosts { execution: 0.0, call: 1.0, byte: 0.0, sync_write: 0.0 };
        let forecast = Forecast::of(&plan, &[unit_costs]).expect("every row says what it does");
        (plan, forecast)
    }

    fn omitted(plan: &Plan) -> Vec<usize> {
        let is_omitted = |index: &usize| plan.alternatives[*index].row.omitted.is_some();
        (0..plan.alternatives.len()).filter(is_omitted).collect()
    }

    #[test]
    fn the_most_expensive_rows_are_omitted_first_with_a_reason() {
        let (mut plan, forecast) = plan(&[780, 60, 30, 20, 8, 2], 2, Some(Nanos::from_secs(300)));
        assert_eq!(forecast.total(&plan), Nanos::from_secs(1800));
        forecast.thin(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 2));
        let reason = plan.alternatives[0].row.omitted.as_deref();
        assert_eq!(reason, Some("needs about 26 min of the budget of 5 min"));
        assert_eq!(forecast.announcement(&plan), "about 4 min: 5 of 6 tests, 2 rounds");
    }

    #[test]
    fn the_later_of_two_equally_expensive_rows_is_omitted() {
        let (mut plan, forecast) = plan(&[5; 7], 2, Some(Nanos::from_secs(65)));
        forecast.thin(&mut plan);
        assert_eq!(omitted(&plan), [6]);
    }

    #[test]
    fn rounds_are_cut_once_five_rows_remain() {
        let (mut plan, forecast) = plan(&[40, 30, 20, 7, 2, 1], 20, Some(Nanos::from_secs(250)));
        forecast.thin(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 4));
        assert_eq!(forecast.announcement(&plan), "about 4 min: 5 of 6 tests, 4 of 20 rounds");
        plan.budget = Some(Nanos::from_secs(1));
        forecast.thin(&mut plan);
        assert_eq!((omitted(&plan), plan.rounds), (vec![0], 2));
    }

    #[test]
    fn long_runs_without_a_budget_are_announced_and_not_cut() {
        let (mut plan, forecast) = plan(&[140, 30, 20, 5], 20, None);
        forecast.thin(&mut plan);
        let text = forecast.announcement(&plan);
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
            let (mut plan, forecast) = plan(&seconds, rounds, Some(Nanos::from_secs(budget)));
            forecast.thin(&mut plan);
            let left = plan.order(1).len();
            let is_least = left <= FEWEST_ROWS && plan.rounds <= FEWEST_ROUNDS;
            prop_assert!(forecast.total(&plan) <= Nanos::from_secs(budget) || is_least);
            prop_assert!(left >= FEWEST_ROWS.min(seconds.len()) && plan.rounds >= FEWEST_ROUNDS.min(rounds));
        }
    }
}
