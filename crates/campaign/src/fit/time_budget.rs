//! Fits a run into its time: runs trials, chooses the largest sizes that fit, and records what was left out.

use std::time::Instant;

use stats::inference::ratio_test::LEAST_PAIRS;
use units::Nanos;

use crate::error::CampaignError;
use crate::events::Event;
use crate::executions::Executions;
use crate::fit::cost::Cost;
use crate::fit::duration_words::about;
use crate::fit::size_choice::Limits;
use crate::fit::size_trials::{self, Costs};
use crate::fit::sizes::Sizes;
use crate::plan::{Alternative, Plan, Row};
use crate::request::planning::alternatives;
use crate::request::resolved::Resolved;
use crate::rounds::deadline::{Clock, Deadline};
use crate::signals::Stop;
use crate::targets::Target;
use crate::worlds::Worlds;

/// Measures the cost of the rows on the targets, and chooses the largest sizes that fit. Returns the deadline of the
/// run; `None` if the run has no time limit or was stopped.
pub fn make_fit(
    resolved: &Resolved,
    plan: &mut Plan,
    targets: &[Target],
    worlds: &mut Worlds,
    (stop, clock, started): (&Stop, Clock, Nanos),
    limits: &Limits,
    notify: &mut dyn FnMut(Event),
) -> Result<Option<Deadline>, CampaignError> {
    let Some(time) = limits.time else { return Ok(None) };
    let trials = size_trials::trials(limits).into_iter();
    let trials = trials.map(|sizes| Ok((sizes, alternatives(resolved, targets, sizes)?)));
    let trials: Vec<(Sizes, Vec<Alternative>)> = trials.collect::<Result<_, CampaignError>>()?;
    let mut tried: Vec<(Vec<&Row>, Vec<Option<Cost>>)> = vec![Default::default(); targets.len()];
    let smallest = trials[0].0;
    let began = Instant::now();
    for (index, alternative) in plan.alternatives.iter().enumerate() {
        let [target] = alternative.targets[..] else { continue };
        // A simulated machine does not count towards the time.
        let is_timed = !targets[target].is_simulated();
        let is_run = is_timed && alternative.row.omitted.is_none() && !stop.requested();
        let cost = if is_run {
            let world = worlds.open(plan, &alternative.targets, targets, stop)?;
            let rows: Vec<(Sizes, &Row)> = trials.iter().map(|(sizes, all)| (*sizes, &all[index].row)).collect();
            // A program that fails here fails again when it is measured. That failure is reported.
            size_trials::price(&rows, began, |row| {
                world.perform(&row.program, plan.options, &targets[target].name, notify).ok()
            })
        } else {
            None
        };
        tried[target].0.push(&trials[0].1[index].row);
        tried[target].1.push(cost);
    }
    let costs: Costs = tried.iter().map(|(rows, costs)| size_trials::complete(rows, &smallest, costs)).collect();
    if stop.requested() {
        return Ok(None);
    }
    let left = size_trials::left(limits, clock().saturating_sub(started));
    let rows = |sizes| alternatives(resolved, targets, sizes);
    let (mut fitting, mut fitted) = size_trials::fitted(&left, targets, &costs, &rows)?;
    // A comparison leaves out no test for lack of time. It first reduces the rounds to the minimum, and then fails.
    if plan.schedule.goal().is_some() && fitted.needed.is_some() {
        let least = Limits { rounds: plan.schedule.least_to_decide(), ..left };
        (fitting, fitted) = size_trials::fitted(&least, targets, &costs, &rows)?;
        if let Some(needs) = fitted.needed {
            let needs = size_trials::with_room(needs) + clock().saturating_sub(started);
            return Err(CampaignError::ShortBudget { budget: time, needs, pairs: LEAST_PAIRS });
        }
        plan.rounds = least.rounds;
    }
    for (new, old) in fitting.iter_mut().zip(&mut plan.alternatives) {
        new.row.omitted = old.row.omitted.take().or(new.row.omitted.take());
    }
    plan.alternatives = fitting;
    plan.set_sizes(fitted.sizes);
    notify(Event::Fitted { fitted: &fitted, plan });
    Ok(Some(Deadline::new(started, time)))
}

/// Sets the reason of rows that were never run because the time was over.
pub fn record_omissions(plan: &mut Plan, limits: &Limits, executions: &[Executions]) {
    let Some(time) = limits.time else { return };
    for (alternative, executions) in plan.alternatives.iter_mut().zip(executions) {
        if executions.is_empty() && alternative.row.omitted.is_none() {
            alternative.row.omitted = Some(format!("the {} were over before it came to its turn", about(time)));
        }
    }
}
