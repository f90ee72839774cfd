//! The rule that ends the rounds of a comparison: the decision about another round.

use stats::{Cell, Choice, Stage, TargetInfo};
use units::Nanos;

use super::least_load::LeastLoad;
use super::matching::TestOperation;
use super::{Goal, operations, stages};
use crate::plan::Plan;
use crate::rounds::Convergence;
use crate::targets::Target;

/// Maximum rounds of a comparison. Usually its budget or the decision ends it long before.
const MOST_ROUNDS: u32 = 10_000;

/// Maximum rounds of a comparison without a budget: all of its targets are simulated. Chosen: intervals narrow with the
/// square root of the rounds.
const MOST_SIMULATED: u32 = 100;

/// The goal of a comparison on the targets of a run.
pub struct StopRule<'a> {
    goal: &'a Goal,
    infos: Vec<TargetInfo>,
    /// The change from each target to the next, if they are stages.
    stages: Vec<Stage>,
    /// The load of each target before an early end.
    least_load: LeastLoad,
    /// The kinds of operations of the tests.
    operations: Vec<TestOperation>,
}

impl<'a> StopRule<'a> {
    /// Makes the rule, and sets the rounds of the plan to the useful maximum, or to `most`, within the bytes that the
    /// user allows.
    pub fn new(
        goal: &'a Goal,
        (plan, most): (&mut Plan, Option<u32>),
        (targets, infos): (&[Target], &[TargetInfo]),
    ) -> StopRule<'a> {
        // The discarded round comes in addition, even if the user requested only the six that decide.
        let usual = if plan.budget.is_some() { MOST_ROUNDS } else { MOST_SIMULATED };
        let affordable = plan.affordable_rounds().unwrap_or(u32::MAX);
        plan.rounds = most.unwrap_or(usual).min(affordable).max(plan.schedule.least_to_decide());
        let stages = if goal.in_stages { stages(targets) } else { Vec::new() };
        let least_load = if plan.has_floor { LeastLoad::USUAL } else { LeastLoad::default() };
        StopRule { goal, infos: infos.to_vec(), stages, least_load, operations: operations(plan) }
    }

    /// The progress of the comparison with these results.
    pub fn convergence(&self, cells: &[Cell]) -> Convergence {
        let names: Vec<&str> = self.infos.iter().map(|info| info.name.as_str()).collect();
        let is_loaded = self.least_load.is_reached(cells, &names);
        Convergence { is_loaded, ..self.goal.convergence(cells, &names) }
    }

    /// The answer, with the mean time of a round if there was one.
    pub fn choice(&self, cells: &[Cell], round: Option<Nanos>) -> Choice {
        let round_s = round.map(Nanos::as_secs_f64);
        self.goal.choice(cells, (&self.infos, &self.stages), &self.operations, round_s)
    }
}
