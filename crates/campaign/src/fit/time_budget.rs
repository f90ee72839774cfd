//! Fits a run into its time: runs trials, chooses the largest sizes that fit, and records what was left out.

use std::collections::BTreeSet;
use std::time::Instant;

use runner::execution::MeasureOptions;
use stats::inference::ratio_test::LEAST_PAIRS;
use units::Nanos;
use workload::Program;

use crate::error::CampaignError;
use crate::events::Event;
use crate::executions::Executions;
use crate::fit::cost::{Cost, Sample};
use crate::fit::duration_words::about;
use crate::fit::limits::Limits;
use crate::fit::size_trials::{self, Costs};
use crate::fit::sizes::Sizes;
use crate::peers::Peers;
use crate::peers::order::Task;
use crate::plan::{Alternative, Plan, Row};
use crate::request::planning::alternatives;
use crate::request::resolved::Resolved;
use crate::rounds::deadline::{Clock, Deadline, since};
use crate::signals::Stop;
use crate::targets::Target;
use crate::worlds::Worlds;

/// Measures the cost of the rows on the targets, and chooses the largest sizes that fit. Returns the deadline of the
/// run; `None` if the run has no time limit or was stopped.
pub fn make_fit(
    resolved: &Resolved,
    plan: &mut Plan,
    targets: &[Target],
    (worlds, peers): (&mut Worlds, &mut Peers),
    (stop, clock, started): (&Stop, Clock, Nanos),
    limits: &Limits,
    notify: &mut dyn FnMut(Event),
) -> Result<Option<Deadline>, CampaignError> {
    let Some(time) = limits.time else { return Ok(None) };
    let trials = size_trials::trials(limits).into_iter();
    let trials = trials.map(|sizes| Ok((sizes, alternatives(resolved, targets, sizes)?)));
    let trials: Vec<(Sizes, Vec<Alternative>)> = trials.collect::<Result<_, CampaignError>>()?;
    // A trial in which a call hangs is stopped when the run must end.
    let _timer = match planned_deadline(plan, started) {
        Some(deadline) => Some(stop.start_timer(deadline.until_stop(clock()).max(LEAST_FOR_TRIALS))?),
        None => None,
    };
    let for_trials = Nanos(time.0 / FOR_TRIALS).max(LEAST_FOR_TRIALS);
    let Trials { samples, late } = run_trials(&trials, plan, (targets, for_trials), (worlds, peers), stop, notify)?;
    let untried = untried(&plan.alternatives, &late, for_trials);
    let cost = |(index, alternative): (usize, &Alternative)| {
        let size_kind = alternative.row.size_kind?;
        Cost::from_trials(size_kind, &samples[index])
    };
    let costs = (0..targets.len()).map(|target| {
        let here = || plan.alternatives.iter().enumerate().filter(move |(_, other)| other.targets == [target]);
        let rows: Vec<&Row> = here().map(|(index, _)| &trials[0].1[index].row).collect();
        size_trials::complete(&rows, &trials[0].0, &here().map(cost).collect::<Vec<Option<Cost>>>())
    });
    let costs: Costs = costs.collect();
    let goal = plan.schedule.goal();
    if stop.requested() {
        // A comparison without any test has no answer.
        return if goal.is_some() && stop.is_late() {
            Err(CampaignError::LateTrials { budget: time })
        } else {
            Ok(None)
        };
    }
    let left = size_trials::left(limits, clock().saturating_sub(started));
    let rows = |sizes| -> Result<Vec<Alternative>, CampaignError> {
        let mut rows = alternatives(resolved, targets, sizes)?;
        for (alternative, untried) in rows.iter_mut().zip(&untried) {
            alternative.row.omitted = alternative.row.omitted.take().or_else(|| untried.clone());
        }
        Ok(rows)
    };
    let weight = |program: &Program| goal.map_or(0.0, |goal| goal.weight(program));
    let (mut fitting, fitted) = size_trials::fitted((&left, plan.options.ceiling), targets, &costs, &weight, &rows)?;
    if goal.is_some() && fitted.is_empty() {
        if let Some(needs) = fitted.needed {
            let needs = size_trials::with_room(needs) + clock().saturating_sub(started);
            return Err(CampaignError::ShortBudget { budget: time, needs, pairs: LEAST_PAIRS });
        }
        if late.contains(&true) {
            return Err(CampaignError::LateTrials { budget: time });
        }
    }
    plan.rounds = fitted.rounds;
    for (index, (new, old)) in fitting.iter_mut().zip(&mut plan.alternatives).enumerate() {
        new.row.omitted = old.row.omitted.take().or(new.row.omitted.take());
        new.row.forecast = Some(Nanos(fitted.times[index].0 / u64::from(fitted.rounds.max(1))));
    }
    plan.alternatives = fitting;
    plan.set_sizes(fitted.sizes);
    notify(Event::Fitted { fitted: &fitted, plan });
    Ok(planned_deadline(plan, started))
}

/// The part of the time for all trials. On a disk of 100 operations/s they take a few seconds of a minute. Chosen.
const FOR_TRIALS: u64 = 3;

/// Minimum time for all trials: the time that the tests need is known only afterwards. Chosen.
const LEAST_FOR_TRIALS: Nanos = Nanos::from_secs(2);

/// The reason for each row that was not tried because the time of the trials was over. A test that is left out on one
/// target is left out on all, because a comparison needs it on each.
fn untried(alternatives: &[Alternative], late: &[bool], time: Nanos) -> Vec<Option<String>> {
    let of_late = alternatives.iter().zip(late).filter(|(_, late)| **late);
    let labels: BTreeSet<String> = of_late.map(|(alternative, _)| alternative.row.label()).collect();
    let reason = format!("no time for its trial: trials start within {}", about(time));
    let omitted = |one: &Alternative| labels.contains(&one.row.label()).then(|| reason.clone());
    alternatives.iter().map(omitted).collect()
}

/// The trials of each row, and the rows that were left untried.
struct Trials {
    samples: Vec<Vec<Sample>>,
    late: Vec<bool>,
}

/// Runs the trials of every row on a single target. First all trials of one row, which tell the sustained rate of the
/// target; then the smallest of all rows, and so on. Rows on simulated machines have none, because these do not count
/// towards the time. The targets share the time evenly; after it, no trial begins.
fn run_trials(
    trials: &[(Sizes, Vec<Alternative>)],
    plan: &Plan,
    (targets, time): (&[Target], Nanos),
    (worlds, peers): (&mut Worlds, &mut Peers),
    stop: &Stop,
    notify: &mut dyn FnMut(Event),
) -> Result<Trials, CampaignError> {
    let count = plan.alternatives.len();
    let (mut samples, mut tried, mut late) = (vec![Vec::new(); count], vec![false; count], vec![false; count]);
    // A trial measures no ceiling: the forecast adds its time.
    let options = MeasureOptions { ceiling: false, ..plan.options };
    let real: Vec<usize> = (0..targets.len()).filter(|&target| !targets[target].is_simulated()).collect();
    let share = Nanos(time.0 / real.len().max(1) as u64);
    for target in real {
        let began = Instant::now();
        let here = |index: &usize| trials[0].1[*index].targets == [target];
        let mut run = |(sizes, all): &(Sizes, Vec<Alternative>), index: usize| -> Result<(), CampaignError> {
            let Alternative { targets: busy, row } = &all[index];
            if stop.requested() || !size_trials::is_tried(row, sizes, &samples[index], since(began)) {
                return Ok(());
            }
            late[index] = !tried[index] && since(began) > share;
            if since(began) <= share {
                tried[index] = true;
                let world = worlds.open(plan, busy, targets, stop)?;
                peers.order(Task { alternative: index, sizes: Some(*sizes), round: None, is_hurried: false })?;
                let performed = world.perform(&row.program, options, &targets[target].name, peers, notify);
                // A program that fails here fails again when it is measured. That failure is reported.
                let result = peers.collect(Some(performed), stop).and_then(Result::ok);
                samples[index].extend(result.and_then(|result| size_trials::slowest_sample(row, sizes, &result)));
            }
            Ok(())
        };
        if let Some(first) = (0..plan.alternatives.len()).find(here) {
            trials.iter().try_for_each(|trial| run(trial, first))?;
        }
        for trial in trials {
            (0..plan.alternatives.len()).filter(here).try_for_each(|index| run(trial, index))?;
        }
    }
    Ok(Trials { samples, late })
}

/// The deadline of a run that started at this moment; `None` if it has no time limit. Only a comparison may end later,
/// because too few rounds give no answer.
pub fn planned_deadline(plan: &Plan, started: Nanos) -> Option<Deadline> {
    let deadline = Deadline::new(started, plan.limits()?.time?);
    Some(if plan.schedule.goal().is_some() { deadline } else { deadline.strict() })
}

/// Sets the reason of rows that were never run because the time was over.
pub fn record_omissions(plan: &mut Plan, limits: &Limits, executions: &[Executions]) {
    let Some(time) = limits.time else { return };
    for (alternative, executions) in plan.alternatives.iter_mut().zip(executions) {
        if executions.is_empty() && alternative.row.omitted.is_none() {
            let reason = format!("the time limit of {} was reached before its first round", about(time));
            alternative.row.omitted = Some(reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::programs::tlpi;

    use super::*;
    use crate::presets::MIB_PER_SECOND;

    #[test]
    fn a_test_that_was_not_tried_on_one_target_is_left_out_on_all() {
        let on = |target: usize, bytes| {
            let program = tlpi::copy(bytes, 64, tlpi::Sync::None);
            Alternative::for_targets(&[target], Row::new(program, MIB_PER_SECOND))
        };
        let all = [on(0, 1), on(0, 2), on(1, 1), on(1, 2)];
        let untried = untried(&all, &[false, false, false, true], Nanos::from_secs(60));
        let reason = Some("no time for its trial: trials start within 60 s".to_owned());
        assert_eq!(untried, [None, reason.clone(), None, reason]);
    }
}
