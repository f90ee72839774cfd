//! The goal of a comparison of targets: margin, use, needs and prices. Decides whether the results so far answer it,
//! and draws the conclusion. Runs nothing.

mod goal;
mod least_load;
mod matching;
mod prices;
mod requirements;
mod shared_devices;
mod stages;
mod stop_rule;
mod test_weight;
mod weights;

use stats::compare::stages::steps;
use stats::compare::target_comparison::{Compared, Row, Weighed, compare, every_two, rows};
use stats::{Cell, Choice, Comparison, OperationKind, Purpose, Stage, TargetInfo};
use units::Nanos;
use workload::RateBase;

use crate::error::CampaignError;
use crate::plan::Plan;
use crate::rounds::Convergence;
use matching::TestOperation;

pub use goal::Goal;
pub use matching::{matching, with_operation};
pub use prices::{Price, parse_price};
pub use requirements::{Condition, PERCENTILES, parse_conditions};
pub use shared_devices::shared_devices;
pub use stages::{announcement, stages};
pub use stop_rule::StopRule;
pub use weights::{Use, parse_use};

/// Default time limit of a comparison of real targets.
pub const USUAL: Nanos = Nanos::from_secs(300);

impl Goal {
    /// The comparisons of these rows: each pair of targets, or each stage with the one before.
    fn compare(&self, rows: &[Row], targets: usize) -> Vec<Compared> {
        let weighed = self.weighed(rows);
        let pairs: Vec<(usize, usize)> =
            if self.in_stages { steps(targets).map(|(_, pair)| pair).collect() } else { every_two(targets).collect() };
        compare(rows, pairs, weighed.as_ref(), self.margin)
    }

    /// The progress of the comparison with these cells.
    pub fn convergence(&self, cells: &[Cell], names: &[&str]) -> Convergence {
        let rows = rows(cells, names);
        let all = self.compare(&rows, names.len());
        let needed = |one: &Compared| {
            let needed = one.pairs.needed(one.judged.estimate.confidence, self.margin)?;
            // At least one more round, as long as the interval is too wide.
            Some(needed.saturating_sub(one.pairs.count()).max(1) as u32)
        };
        // Results that lack rounds may get enough.
        let lacks_rounds = |cell: &Cell| cell.below_floor.is_some_and(|lack| lack.needs_rounds());
        let is_short = |one: &Compared| {
            let (first, second) = one.targets;
            let cells = one.row.map(|row| [rows[row].cells[first], rows[row].cells[second]]);
            cells.into_iter().flatten().flatten().any(lacks_rounds)
        };
        let open = || all.iter().filter(|one| !one.judged.is_narrow || is_short(one));
        let more = open().map(needed).try_fold(0, |most, needed| Some(most.max(needed?)));
        // Rounds before a step do not show how many rounds are still needed.
        let has_step = all.iter().any(|one| one.has_step);
        let more = more.filter(|_| !has_step);
        Convergence { decided: all.len() - open().count(), all: all.len(), more, is_loaded: true, has_step }
    }

    /// The answer of the comparison, with its stages if it has any. `operations` are those of the plan. `round_s` is
    /// the mean time of a round in seconds.
    pub fn choice(
        &self,
        cells: &[Cell],
        (targets, stages): (&[TargetInfo], &[Stage]),
        operations: &[TestOperation],
        round_s: Option<f64>,
    ) -> Choice {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let rows = rows(cells, &names);
        let all = self.compare(&rows, names.len());
        let compare = |one: &Compared, name: String| one.comparison(&rows, &names, name, self.margin);
        let cell_name = report::cell_names(cells);
        let of_rows = all.iter().filter_map(|one| {
            let cell = rows[one.row?].cells.iter().flatten().next()?;
            Some(compare(one, cell_name(cell)))
        });
        let purpose = self.purpose.as_ref().map(|purpose| Purpose {
            name: purpose.name.clone(),
            weights: purpose.weights.iter().cloned().collect(),
            missing: purpose.missing(&rows).into_iter().map(|(word, _)| word).collect(),
            comparisons: all
                .iter()
                .filter(|one| one.row.is_none())
                .map(|one| compare(one, purpose.name.clone()))
                .collect::<Vec<Comparison>>(),
        });
        let mut remarks = shared_devices(targets);
        remarks.extend(prices::remarks(&self.prices, &names, purpose.as_ref()));
        Choice {
            margin: self.margin,
            decided: !all.is_empty() && all.iter().all(|one| one.judged.is_narrow && !one.is_open()),
            round_s,
            comparisons: of_rows.collect(),
            stages: stages.to_vec(),
            purpose,
            needs: self.needs.iter().flat_map(|need| need.judge(&rows, &names, operations)).collect(),
            prices: self.prices.iter().map(Price::stored).collect(),
            remarks,
        }
    }

    /// Returns an error if a word of the user's weights or requirements matches no test of the plan. Also if a test
    /// that it matches can never meet the requirement.
    pub fn check(&self, plan: &Plan) -> Result<(), CampaignError> {
        let programs = || plan.alternatives.iter().map(|alternative| &alternative.row.program);
        let phases: Vec<((&'static str, &'static str), RateBase)> =
            programs().flat_map(|program| program.keys().zip(program.phases.iter().map(|phase| phase.base))).collect();
        let keys: Vec<(&'static str, &'static str)> = phases.iter().map(|(key, _)| *key).collect();
        let weights = self.purpose.iter().filter(|purpose| purpose.is_own).flat_map(|purpose| &purpose.weights);
        let operations = operations(plan);
        let is_unknown_need = |word: &&String| {
            let has = |row: usize, kind| operations.contains(&(keys[row], kind));
            with_operation(word, &keys, has).0.is_empty()
        };
        let unknown = weights.map(|(word, _)| word).find(|word| matching(word, &keys).is_empty());
        let mut needs = self.needs.iter().map(|need| &need.program);
        if let Some(name) = unknown.or_else(|| needs.find(is_unknown_need)) {
            if let Some(group) = programs().find(|program| program.is_group() && program.name == *name) {
                let known = group.keys().map(|(name, _)| name).collect();
                return Err(CampaignError::SumIsNoTest { name: name.clone(), known });
            }
            let mut known: Vec<&'static str> =
                programs().flat_map(|program| program.keys().map(|(name, _)| name)).collect();
            known.sort_unstable();
            known.dedup();
            // The preset may have the test, but this run leaves it out.
            return Err(CampaignError::UnknownProgram { name: name.clone(), preset: "this run", known });
        }
        for need in &self.needs {
            let meant = matching(&need.program, &keys);
            let (typed, program) = (need.typed.clone(), need.program.clone());
            if meant.is_empty() && !need.can_be_asked_of_operations() {
                return Err(CampaignError::NeedsOperations { typed, program });
            }
            if meant.into_iter().any(|place| !need.can_be_asked(phases[place].1)) {
                return Err(CampaignError::NeedsFiles { typed, program });
            }
        }
        Ok(())
    }

    fn weighed(&self, rows: &[Row]) -> Option<Weighed> {
        self.purpose.as_ref().map(|purpose| purpose.weighed(rows))
    }
}

/// The kinds of operations of all tests of a plan, measured or not.
fn operations(plan: &Plan) -> Vec<TestOperation> {
    let programs = plan.alternatives.iter().map(|alternative| &alternative.row.program);
    let phases = programs.flat_map(|program| program.keys().zip(&program.phases));
    phases.flat_map(|(key, phase)| phase.op_kinds().map(move |kind| (key, OperationKind::of(kind)))).collect()
}

#[cfg(test)]
mod tests {
    use stats::figures::rate::{Average, rate};
    use stats::figures::summary::RateUnit;
    use stats::{ClockKind, Provenance, Round, TargetVerdict};

    use super::*;

    /// Twelve rounds of nearly the same rate.
    fn cell(target: &str) -> Cell {
        let round = |number: u32| Round {
            round: number,
            ops: 1000 + u64::from(number % 2),
            returned_s: 1.0,
            ..Round::default()
        };
        let rounds: Vec<Round> = (1..=12).map(round).collect();
        let of = (RateBase::Ops, ClockKind::Returned);
        let rate = rate(&rounds, false, of, RateUnit { name: "ops/sec", size: 1.0 }, Average::Trimmed);
        Cell { rate, rounds, ..Cell::named(Provenance::Measured, "quick", "commit", "commit", target) }
    }

    #[test]
    fn results_that_decide_nothing_leave_a_choice_undecided() {
        let goal = Goal { margin: 0.05, purpose: None, needs: Vec::new(), prices: Vec::new(), in_stages: false };
        let targets = ["a", "b"].map(|name| TargetInfo { name: name.to_owned(), ..TargetInfo::default() });
        let choice = |cells: &[Cell]| goal.choice(cells, (&targets, &[]), &[], None);
        let decided = choice(&[cell("a"), cell("b")]);
        assert!(decided.decided && decided.comparisons[0].verdict == TargetVerdict::Same, "{decided:#?}");
        let mut unverified = cell("b");
        unverified.state.unverified = Some("no device".to_owned());
        let open = choice(&[cell("a"), unverified]);
        assert!(!open.decided && open.comparisons[0].verdict == TargetVerdict::Undecided, "{open:#?}");
    }
}
