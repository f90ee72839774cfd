//! Whether another round is of use: asked between rounds of a run that is to find something out.

use std::time::Instant;

use stats::inference::comparison::LEAST_PAIRS;
use stats::{Cell, Choice, Stage, TargetInfo};
use units::Nanos;

use super::{Goal, Standing, stages};
use crate::deadline::{Deadline, mean, since};
use crate::error::Error;
use crate::plan::Plan;
use crate::target::Target;

/// The most rounds, of which nobody waits for the end: the budget ends a run.
const MOST_ROUNDS: u32 = 10_000;

/// What is asked between rounds.
pub struct Conductor<'a> {
    goal: &'a Goal,
    infos: Vec<TargetInfo>,
    /// What changed from each to the next, where they are stages.
    stages: Vec<Stage>,
    /// The fewest rounds that decide anything.
    least: u32,
    /// The most that there will be.
    most: u32,
    budget: Option<Nanos>,
    deadline: Option<Deadline>,
    began: Instant,
    /// How many rounds this process ran, as far as it was told.
    ran: std::cell::Cell<u32>,
}

impl<'a> Conductor<'a> {
    /// Of a run that begins now, which from now on has as many rounds as are of use, at most so many where somebody said.
    /// Says what is to be said first.
    pub fn new(
        goal: &'a Goal,
        (plan, most): (&mut Plan, Option<u32>),
        (targets, infos): (&[Target], &[TargetInfo]),
        deadline: Option<Deadline>,
    ) -> Conductor<'a> {
        super::shared_devices(infos).iter().for_each(|line| remark!("{line}"));
        let least = LEAST_PAIRS as u32 + u32::from(plan.discard_first);
        // One that does not count is none of the six that somebody may have asked for.
        plan.rounds = most.unwrap_or(MOST_ROUNDS).max(least);
        Conductor {
            goal,
            infos: infos.to_vec(),
            stages: if goal.in_stages { stages(targets) } else { Vec::new() },
            least,
            most: plan.rounds,
            budget: plan.budget,
            deadline,
            began: Instant::now(),
            ran: std::cell::Cell::new(0),
        }
    }

    /// How far it is, after so many rounds of this process.
    pub fn standing(&self, cells: &[Cell], ran: u32) -> Standing {
        self.ran.set(ran);
        let names: Vec<&str> = self.infos.iter().map(|info| info.name.as_str()).collect();
        self.goal.standing(cells, &names)
    }

    /// How many rounds there will be, this one included: as many as the spread asks for and the time allows.
    pub fn foretold(&self, round: u32, standing: Standing) -> Option<u32> {
        let before = round - 1;
        let wanted = standing.more.map_or(self.most, |more| before.saturating_add(more));
        // Before there is a pair, nothing is known.
        let wanted = if before < 2 { self.least } else { wanted.max(self.least).min(self.most) };
        Some(self.allowed(before).map_or(wanted, |allowed| wanted.min(allowed)).max(round))
    }

    /// How many rounds the time allows, as long as those before.
    fn allowed(&self, before: u32) -> Option<u32> {
        let ran = self.ran.get();
        let left = match (self.deadline, self.budget) {
            (Some(deadline), _) => deadline.rest(),
            (None, Some(budget)) => budget.saturating_sub(since(self.began)),
            (None, None) => return None,
        };
        let each = if ran == 0 { return None } else { mean(self.began, ran).0.max(1) };
        Some(before.saturating_add((left.0 / each).try_into().unwrap_or(u32::MAX)))
    }

    /// Whether so many rounds are enough to decide anything.
    pub fn has_enough(&self, ran: u32) -> bool {
        ran >= self.least
    }

    /// Refuses to go on where the first round shows that there is no time for as many as decide anything, and nobody made
    /// the programs smaller for it.
    pub fn check_time(&self, ran: u32) -> Result<(), Error> {
        let Some(budget) = self.budget.filter(|_| self.deadline.is_none() && ran == 1) else { return Ok(()) };
        let needs = Nanos(since(self.began).0.saturating_mul(u64::from(self.least)));
        if needs <= budget { Ok(()) } else { Err(Error::ShortBudget { budget, needs, pairs: LEAST_PAIRS }) }
    }

    /// What came out.
    pub fn choice(&self, cells: &[Cell]) -> Choice {
        let ran = self.ran.get();
        let round_s = (ran > 0).then(|| mean(self.began, ran).as_secs_f64());
        self.goal.choice(cells, (&self.infos, &self.stages), round_s)
    }
}
