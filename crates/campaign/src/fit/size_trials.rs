//! Prepares the choice of sizes: finds the limits, and runs the trials that measure the cost of each row.
//! `size_choice` decides.

use std::time::Instant;

use runner::execution::ExecutionResult;
use units::{Bytes, Nanos};

use crate::fit::cost::{self, Cost, Sample};
use crate::fit::omission::leave_out;
use crate::fit::size_choice::{Fitted, Item, Limits, fit};
use crate::fit::sizes::{SizeKind, Sizes};
use crate::plan::{self, Alternative, Row};
use crate::targets::{Site, Target};

/// Maximum bytes that a run writes to a target, unless the user requests more.
const WRITTEN: u64 = 4 << 30;

/// And at most this part of a directory's free space: a nearly full disk is slower, and the space belongs to the user.
const PART_OF_FREE: u64 = 50;

/// The share of the time that the forecast may fill. Trials are short, and miss some of the time.
const FILLED: f64 = 0.8;

/// After this number of seconds, each row gets only one trial: the user waits for a first figure.
const IN_ALL: f64 = 2.5;

/// If fewer bytes may be written, the larger trials, which write 45 MiB together, are skipped.
const LITTLE: u64 = 256 << 20;

/// The second trial runs if the first took no longer than this, in seconds of its own work. The third runs if the
/// second did. Together they take a few seconds on a disk of 20 MiB/s, and one on a fast one.
const QUICK: [f64; 2] = [0.5, 0.05];

/// The user's requests, and the defaults of the preset.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// The requested size of large files; if given, the bytes written have no limit.
    pub large: Option<u64>,
    /// The requested time.
    pub budget: Option<Nanos>,
    /// The default time of the preset.
    pub usual: Nanos,
    /// The number of rounds.
    pub rounds: u32,
}

/// The limits for the rows on these targets. Rows on simulated targets alone are not fitted.
pub fn limits(wishes: &Wishes, targets: &[Target]) -> Limits {
    if targets.iter().all(Target::is_simulated) {
        let sizes = Sizes { large: wishes.large.unwrap_or(Sizes::SIMULATED.large), ..Sizes::SIMULATED };
        return Limits::fixed(sizes, None, wishes.rounds);
    }
    let is_asked = wishes.large.is_some() || wishes.budget.is_some_and(|budget| budget > wishes.usual);
    let written = targets.iter().filter_map(|target| match &target.site {
        Site::Directory { place, .. } => Some(WRITTEN.min(place.free_bytes / PART_OF_FREE)),
        // A simulated target has the same limit, because its figures are compared with real ones.
        Site::Image { .. } | Site::Volume(_) | Site::Simulated { .. } => Some(WRITTEN),
        Site::Device(_) | Site::File { .. } => None,
    });
    let room = targets.iter().filter_map(|target| match &target.site {
        Site::Directory { place, .. } => Some(place.free_bytes / 10 * 9),
        // A third: on a small image, the file system needs much for its log and tables.
        Site::Image { image, .. } => image.size.map(|size| usable_bytes(target, size.0) / 3),
        Site::Volume(volume) => Some(usable_bytes(target, volume.inspected.bytes()) / 3),
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
    // Never less than the smallest. If that has no room, an error reports it.
    let largest = Sizes {
        large: largest.large.max(smallest.large),
        copied: largest.copied.max(smallest.copied),
        files: largest.files.max(smallest.files),
        ..largest
    };
    let time = Some(wishes.budget.unwrap_or(wishes.usual));
    let written = written.min().filter(|_| !is_asked);
    Limits { written, smallest, ..Limits::fixed(largest, time, wishes.rounds) }
}

/// The part of a file system of `bytes` bytes that aging leaves free.
fn usable_bytes(target: &Target, bytes: u64) -> u64 {
    target.aging.map_or(bytes, |aging| aging.room(Bytes(bytes)).0)
}

fn power_of_two(most: u64) -> u64 {
    most.checked_ilog2().map_or(0, |log| 1 << log)
}

/// The costs of the rows of each target, as far as known.
pub type Costs = Vec<Vec<Cost>>;

/// The rows of the plan, for `fit`. Targets that run at the same time share the machine: at worst, each waits for the
/// others. Bytes written are counted on the first writable target, because all have the same rows.
fn items(alternatives: &[Alternative], targets: &[Target], costs: &Costs, sizes: &Sizes) -> Vec<Item> {
    let written_to = targets.iter().position(|target| target.refuses_writes().is_none());
    let mut next = vec![0; targets.len() + 1];
    let items = alternatives.iter().map(|Alternative { targets: busy, row }| {
        // The rows of each single target are in the same order, and so are the rows of all targets together.
        let list = if let [target] = busy[..] { target } else { targets.len() };
        let index = next[list];
        next[list] += 1;
        let size_kind = row.size_kind.unwrap_or(SizeKind::Large);
        let known = |target: &usize| costs.get(*target)?.get(index).copied();
        let sum = busy.iter().filter_map(known).fold(Cost::default(), |sum, cost| Cost {
            fixed: sum.fixed + cost.fixed,
            each: sum.each + cost.each,
            operation: sum.operation.max(cost.operation),
            is_bound: sum.is_bound || cost.is_bound,
        });
        let writes = match written_to {
            Some(target) if busy.contains(&target) => plan::writes(&row.program) / size_kind.amount(sizes).max(1),
            _ => 0,
        };
        let is_run = row.omitted.is_none();
        let operations = if is_run { row.program.phases[0].amount } else { 0 };
        Item {
            size_kind,
            cost: if is_run { sum } else { Cost::default() },
            operations,
            writes,
            group: 0,
            omitted: false,
        }
    });
    items.collect()
}

/// The alternatives at the largest sizes that fit, and the result of fitting. `rows` makes alternatives of a size.
pub fn fitted<E>(
    limits: &Limits,
    targets: &[Target],
    costs: &Costs,
    rows: &dyn Fn(Sizes) -> Result<Vec<Alternative>, E>,
) -> Result<(Vec<Alternative>, Fitted), E> {
    let fitted = fit(&items(&rows(limits.largest)?, targets, costs, &limits.largest), limits);
    let mut alternatives = rows(fitted.sizes)?;
    leave_out(&mut alternatives, &fitted);
    Ok((alternatives, fitted))
}

/// The sizes of the trials: only the smallest if few bytes may be written.
pub fn trials(limits: &Limits) -> Vec<Sizes> {
    let count = if limits.written.is_some_and(|written| written < LITTLE) { 1 } else { Sizes::TRIALS.len() };
    Sizes::TRIALS.into_iter().take(count).map(|sizes| sizes.min(&limits.largest)).collect()
}

/// Bytes that the trials of these rows write.
pub fn tried<'a>(rows: impl Iterator<Item = &'a Row>) -> u64 {
    rows.filter(|row| row.omitted.is_none()).map(|row| plan::writes(&row.program)).sum()
}

/// Measures the cost of a row with its trials. A larger one runs only if the one before was quick, and if the trials of
/// all rows, which started at `began`, have not taken long. Returns `None` if the row has no trials, or if the first
/// did not reach its end.
pub fn price(
    trials: &[(Sizes, &Row)],
    began: Instant,
    mut perform: impl FnMut(&Row) -> Option<ExecutionResult>,
) -> Option<Cost> {
    let size_kind = trials.first().and_then(|(_, row)| row.size_kind.filter(|_| row.is_tried))?;
    let mut samples: Vec<Sample> = Vec::new();
    for (number, (sizes, row)) in trials.iter().enumerate() {
        let amount = size_kind.amount(sizes);
        if let Some(before) = samples.last() {
            if before.work > QUICK[number - 1] || began.elapsed().as_secs_f64() > IN_ALL {
                break;
            }
            if before.amount >= amount {
                continue;
            }
        }
        let Some(result) = perform(row) else { break };
        let all = result.lasted.as_secs_f64();
        let Some(phase) = result.phases.first().filter(|_| result.stopped.is_none()) else { break };
        let phases = result.phases.iter().map(|phase| phase.durable().unwrap_or(phase.returned()));
        let work = (result.prepared_in + phases.sum()).as_secs_f64();
        let (timed, operations) = match size_kind.is_timed() {
            true => (phase.returned().as_secs_f64(), row.program.phases[0].unit.done(&phase.tally())),
            false => (0.0, 0),
        };
        samples.push(Sample { amount, all, work, timed, operations });
    }
    Cost::from_trials(size_kind, &samples)
}

/// The cost of every row of a target, from its trials.
pub fn complete(rows: &[&Row], sizes: &Sizes, costs: &[Option<Cost>]) -> Vec<Cost> {
    let rows = rows.iter().zip(costs).map(|(row, cost)| {
        let size_kind = row.size_kind.unwrap_or(SizeKind::Large);
        let reads = row.program.phases.iter().any(|phase| phase.unit.first.reads() && !size_kind.is_timed());
        let moved = plan::writes(&row.program) / size_kind.amount(sizes).max(1) + u64::from(reads);
        (size_kind, moved.max(1), *cost)
    });
    cost::complete(&rows.collect::<Vec<_>>())
}

/// The limits that remain after the trials.
pub fn left(limits: &Limits, spent: Nanos) -> Limits {
    let left = |time: Nanos| Nanos((time.saturating_sub(spent).0 as f64 * FILLED) as u64);
    Limits { time: limits.time.map(left), is_rest: true, ..*limits }
}

/// The time limit that a forecast of this length may just fill.
pub fn with_room(filled: Nanos) -> Nanos {
    Nanos((filled.0 as f64 / FILLED) as u64)
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
    fn only_real_targets_are_fitted_to_the_budget() {
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
