//! Makes the programs of a plan as large as fits: what there is to fit into, and trials that tell what each
//! row costs. `budget` decides, this asks.

use std::time::Instant;

use runner::execution::Performance;
use units::{Bytes, Nanos};

use crate::fit::budget::{self, Cost, Dial, Fitted, Item, Limits, Sample, Sizes, fit};
use crate::fit::duration::about;
use crate::plan::{self, Alternative, Plan, Row};
use crate::targets::{Site, Target};

/// The most bytes that a run writes to a directory where nobody asked for more.
const WRITTEN: u64 = 4 << 30;

/// And the part of the free space there: a nearly full disk is slower, and somebody else's.
const PART_OF_FREE: u64 = 50;

/// The share of the time that the forecast may fill: trials are short, and what they do not see takes time
/// too.
const FILLED: f64 = 0.8;

/// After so many seconds of trials each row has one at most: a person waits for a first figure.
const IN_ALL: f64 = 2.5;

/// Where no more than this may be written, the larger trials, of 45 MiB together, are not worth it.
const LITTLE: u64 = 256 << 20;

/// The second trial follows where the first took no longer than this, in seconds of its own work; the third
/// where the second did. Together they take a few seconds on a disk of 20 MiB/s, and one on a fast one.
const QUICK: [f64; 2] = [0.5, 0.05];

/// What was asked for and what there is.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// The size of large files, where one was asked for; nothing else then limits what is written.
    pub large: Option<u64>,
    /// The time that was asked for.
    pub budget: Option<Nanos>,
    /// The time that the preset has of its own.
    pub usual: Nanos,
    /// How often everything is run.
    pub rounds: u32,
}

/// What the rows have to fit into on these targets. Simulated ones are not made to fit.
pub fn limits(wishes: &Wishes, targets: &[Target]) -> Limits {
    if targets.iter().all(Target::is_simulated) {
        let sizes = Sizes { large: wishes.large.unwrap_or(Sizes::SIMULATED.large), ..Sizes::SIMULATED };
        return Limits { time: None, written: None, largest: sizes, smallest: sizes, rounds: wishes.rounds };
    }
    let is_asked = wishes.large.is_some() || wishes.budget.is_some_and(|budget| budget > wishes.usual);
    let written = targets.iter().filter_map(|target| match &target.site {
        Site::Directory { place, .. } => Some(WRITTEN.min(place.free_bytes / PART_OF_FREE)),
        // A simulated one as much: its figures stand beside real ones.
        Site::Image { .. } | Site::Volume(_) | Site::Simulated { .. } => Some(WRITTEN),
        Site::Device(_) | Site::File { .. } => None,
    });
    let room = targets.iter().filter_map(|target| match &target.site {
        Site::Directory { place, .. } => Some(place.free_bytes / 10 * 9),
        // What a file system takes of its own on a small image, log and tables.
        Site::Image { image, .. } => image.size.map(|size| beside(target, size.0) / 3),
        Site::Volume(volume) => Some(beside(target, volume.inspected.bytes()) / 3),
        Site::Device(_) | Site::File { .. } | Site::Simulated { .. } => None,
    });
    let room = room.min().unwrap_or(u64::MAX);
    let mut largest = Sizes::LARGEST.min(&Sizes {
        large: power_of_two(room),
        copied: power_of_two(room / 2),
        files: power_of_two(room / 4096).try_into().unwrap_or(u32::MAX),
        ..Sizes::LARGEST
    });
    let mut smallest = Sizes::SMALLEST;
    if let Some(large) = wishes.large {
        (largest.large, smallest.large) = (large, large);
    }
    // What is smaller than small has no room, and that is said.
    let largest = Sizes {
        large: largest.large.max(smallest.large),
        copied: largest.copied.max(smallest.copied),
        files: largest.files.max(smallest.files),
        ..largest
    };
    Limits {
        time: Some(wishes.budget.unwrap_or(wishes.usual)),
        written: written.min().filter(|_| !is_asked),
        largest,
        smallest,
        rounds: wishes.rounds,
    }
}

/// What of a file system of so many bytes is left beside the files that it is filled with.
fn beside(target: &Target, bytes: u64) -> u64 {
    target.wear.map_or(bytes, |wear| wear.left(Bytes(bytes)).0)
}

fn power_of_two(most: u64) -> u64 {
    most.checked_ilog2().map_or(0, |log| 1 << log)
}

/// What the rows of each target cost, as far as it is known.
pub type Costs = Vec<Vec<Cost>>;

/// The rows of the plan, for `fit`. Targets that are busy at once share the machine: at worst, each waits
/// for the others. What is written is counted on the first target that is written to: all have the same rows.
fn items(alternatives: &[Alternative], targets: &[Target], costs: &Costs, sizes: &Sizes) -> Vec<Item> {
    let written_to = targets.iter().position(|target| target.refuses_writes().is_none());
    let mut next = vec![0; targets.len() + 1];
    let items = alternatives.iter().map(|Alternative { targets: busy, row }| {
        // The rows of every target alone come in the same order, and so do those of all together.
        let list = if let [target] = busy[..] { target } else { targets.len() };
        let index = next[list];
        next[list] += 1;
        let dial = row.dial.unwrap_or(Dial::Large);
        let known = |target: &usize| costs.get(*target)?.get(index).copied();
        let sum = busy.iter().filter_map(known).fold(Cost::default(), |sum, cost| Cost {
            fixed: sum.fixed + cost.fixed,
            each: sum.each + cost.each,
            operation: sum.operation.max(cost.operation),
            is_bound: sum.is_bound || cost.is_bound,
        });
        let writes = match written_to {
            Some(target) if busy.contains(&target) => plan::writes(&row.program) / dial.amount(sizes).max(1),
            _ => 0,
        };
        let is_run = row.omitted.is_none();
        let operations = if is_run { row.program.phases[0].amount } else { 0 };
        Item { dial, cost: if is_run { sum } else { Cost::default() }, operations, writes, omitted: false }
    });
    items.collect()
}

/// The largest rows that fit, made by `rows` of these sizes, and what fits.
pub fn fitted<E>(
    limits: &Limits,
    targets: &[Target],
    costs: &Costs,
    rows: &dyn Fn(Sizes) -> Result<Vec<Alternative>, E>,
) -> Result<(Vec<Alternative>, Fitted), E> {
    let fitted = fit(&items(&rows(limits.largest)?, targets, costs, &limits.largest), limits);
    let mut alternatives = rows(fitted.sizes)?;
    for (alternative, omitted) in alternatives.iter_mut().zip(&fitted.omitted) {
        alternative.row.omitted = alternative.row.omitted.take().or_else(|| omitted.clone());
    }
    Ok((alternatives, fitted))
}

/// The sizes of the trials: only the smallest where little may be written.
pub fn trials(limits: &Limits) -> Vec<Sizes> {
    let count = if limits.written.is_some_and(|written| written < LITTLE) { 1 } else { Sizes::TRIALS.len() };
    Sizes::TRIALS.into_iter().take(count).map(|sizes| sizes.min(&limits.largest)).collect()
}

/// Bytes that the trial of these rows writes.
pub fn tried<'a>(rows: impl Iterator<Item = &'a Row>) -> u64 {
    rows.filter(|row| row.omitted.is_none()).map(|row| plan::writes(&row.program)).sum()
}

/// Finds out what a row costs: runs its trials, each larger one as long as the one before was quick and those
/// of all rows, which began then, have not taken long. Nothing
/// where none reached its end, or where the row is not tried.
pub fn price(
    trials: &[(Sizes, &Row)],
    began: Instant,
    mut perform: impl FnMut(&Row) -> Option<Performance>,
) -> Option<Cost> {
    let dial = trials.first().and_then(|(_, row)| row.dial.filter(|_| row.is_tried))?;
    let mut samples: Vec<Sample> = Vec::new();
    for (number, (sizes, row)) in trials.iter().enumerate() {
        let amount = dial.amount(sizes);
        if let Some(before) = samples.last() {
            if before.work > QUICK[number - 1] || began.elapsed().as_secs_f64() > IN_ALL {
                break;
            }
            if before.amount >= amount {
                continue;
            }
        }
        let Some(performance) = perform(row) else { break };
        let all = performance.lasted.as_secs_f64();
        let Some(phase) = performance.phases.first().filter(|_| performance.stopped.is_none()) else { break };
        let phases = performance.phases.iter().map(|phase| phase.durable().unwrap_or(phase.returned()));
        let work = (performance.prepared_in + phases.sum()).as_secs_f64();
        let (timed, operations) = match dial.is_timed() {
            true => (phase.returned().as_secs_f64(), row.program.phases[0].unit.done(&phase.tally())),
            false => (0.0, 0),
        };
        samples.push(Sample { amount, all, work, timed, operations });
    }
    Cost::of(dial, &samples)
}

/// What every row of a target costs, from what its trials told.
pub fn complete(rows: &[&Row], sizes: &Sizes, costs: &[Option<Cost>]) -> Vec<Cost> {
    let rows = rows.iter().zip(costs).map(|(row, cost)| {
        let dial = row.dial.unwrap_or(Dial::Large);
        let reads = row.program.phases.iter().any(|phase| phase.unit.first.reads() && !dial.is_timed());
        let moved = plan::writes(&row.program) / dial.amount(sizes).max(1) + u64::from(reads);
        (dial, moved.max(1), *cost)
    });
    budget::complete(&rows.collect::<Vec<_>>())
}

/// The limits that are left once the trials have taken their part.
pub fn left(limits: &Limits, spent: Nanos) -> Limits {
    let left = |time: Nanos| Nanos((time.saturating_sub(spent).0 as f64 * FILLED) as u64);
    Limits { time: limits.time.map(left), ..*limits }
}

/// The time in which so much would be filled no further than a forecast may.
pub fn with_room(filled: Nanos) -> Nanos {
    Nanos((filled.0 as f64 / FILLED) as u64)
}

/// What a person should know before it runs: `about 41 s: 5 rounds, files of 128 MiB, copies of 16 MiB, 8192
/// small files`.
pub fn announcement(plan: &Plan, fitted: &Fitted) -> String {
    let Sizes { large, copied, files, random, .. } = fitted.sizes;
    let (running, all) = (plan.order(1).len(), plan.alternatives.len());
    let rows = if running == all { String::new() } else { format!("{running} of {all} rows, ") };
    let rounds = if plan.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", plan.rounds) };
    format!(
        "about {}: {rows}{rounds}; files of {}, copies of {}, {files} small files, {} of random reads and of commits",
        about(fitted.time),
        Bytes(large),
        Bytes(copied),
        about(random),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TargetArgument;

    fn targets(typed: &[&str]) -> Vec<Target> {
        let target = |typed: &&str| {
            let Ok(argument) = typed.parse::<TargetArgument>();
            Target::resolve(&argument).expect("a target")
        };
        typed.iter().map(target).collect()
    }

    #[test]
    fn only_real_targets_are_made_to_fit() {
        let time = Nanos::from_secs(300);
        let wishes = Wishes { large: None, budget: Some(time), usual: time, rounds: 10 };
        let simulated = limits(&wishes, &targets(&["sim:flat", "sim:vax780-sc780"]));
        assert_eq!((simulated.time, simulated.written, simulated.largest), (None, None, Sizes::SIMULATED));
        let large = limits(&Wishes { large: Some(1 << 16), ..wishes }, &targets(&["sim:flat"]));
        assert_eq!((large.largest.large, large.largest.files), (1 << 16, Sizes::SIMULATED.files));
        let mixed = limits(&wishes, &targets(&["sim:flat", "."]));
        assert_eq!(mixed.time, Some(time));
        assert!(mixed.written.is_some());
    }
}
