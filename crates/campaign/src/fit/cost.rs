//! The cost of an alternative at a size: from its own trials, from the trials of other rows, or from unit costs.

use crate::fit::sizes::{SizeKind, Sizes};

/// The cost of one execution of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds that do not depend on the size.
    pub fixed: f64,
    /// Seconds per unit of the size.
    pub each: f64,
    /// Seconds per operation of a timed row; `each` excludes them.
    pub operation: f64,
    /// True if there was only one trial, which cannot tell what grows: then `each` is an upper bound.
    pub is_bound: bool,
}

/// The duration of one trial, in seconds, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The size of the trial.
    pub amount: u64,
    /// The whole time, including cleaning up and waiting for idle devices.
    pub all: f64,
    /// The time of its own work: preparing, and the phases.
    pub work: f64,
    /// The timed part of that work, with the operations in it.
    pub timed: f64,
    /// The number of operations in the timed part.
    pub operations: u64,
}

impl Cost {
    /// The cost of a row from its trials, the smallest first. One trial cannot tell what grows with the size, so all
    /// work is assumed to grow. `None` without trials.
    pub fn from_trials(size_kind: SizeKind, trials: &[Sample]) -> Option<Cost> {
        let (first, last) = (trials.first()?, trials.last()?);
        let operation = if last.operations > 0 { last.timed / last.operations as f64 } else { 0.0 };
        // The waiting time is nearly the same in all trials, and sometimes longer.
        let waiting = trials.iter().map(|trial| (trial.all - trial.work).max(0.0)).fold(f64::MAX, f64::min);
        let sized = |sample: &Sample| (sample.work - sample.timed).max(0.0);
        if size_kind == SizeKind::Records {
            return Some(Cost { fixed: waiting + sized(last), each: 0.0, operation, is_bound: false });
        }
        let each = match trials {
            [only] => sized(only) / only.amount as f64,
            _ => (sized(last) - sized(first)) / (last.amount - first.amount) as f64,
        };
        let each = each.max(0.0);
        let fixed = (sized(first) - each * first.amount as f64).max(0.0);
        Some(Cost { fixed: waiting + fixed, each, operation, is_bound: trials.len() == 1 })
    }

    /// Seconds of an execution at these sizes. A timed row does at most `operations` operations.
    pub fn seconds(&self, size_kind: SizeKind, sizes: &Sizes, operations: u64) -> f64 {
        let timed =
            if size_kind.is_timed() { sizes.random.as_secs_f64().min(self.operation * operations as f64) } else { 0.0 };
        self.fixed + self.each * size_kind.amount(sizes) as f64 + timed
    }
}

/// The cost of each row of one target. Each row comes with its size, the bytes that it moves per unit of the size, and
/// its cost, if tried.
///
/// The cost per byte is the median of the rows that move bytes and have several trials; without such rows, the lowest
/// bound. It is used for rows without trials or with one. For all others it is the minimum, because a trial is so short
/// that noise may hide the cost.
pub fn complete(rows: &[(SizeKind, u64, Option<Cost>)]) -> Vec<Cost> {
    let moves_bytes = |size_kind: SizeKind| matches!(size_kind, SizeKind::Large | SizeKind::Spots | SizeKind::Copied);
    let tried = || rows.iter().filter_map(|(size_kind, moved, cost)| Some((*size_kind, *moved, (*cost)?)));
    // The tried copies cost CPU time, which does not grow with the bytes alone.
    let bytes = |is_bound: bool| {
        let told = tried().filter(move |(size_kind, _, cost)| {
            moves_bytes(*size_kind) && *size_kind != SizeKind::Copied && cost.is_bound == is_bound
        });
        told.map(|(_, moved, cost)| cost.each / moved as f64)
    };
    let byte = median(bytes(false)).or_else(|| bytes(true).min_by(f64::total_cmp)).unwrap_or(0.0);
    let fixed =
        median(tried().filter(|(size_kind, ..)| moves_bytes(*size_kind)).map(|(.., cost)| cost.fixed)).unwrap_or(0.0);
    let complete = |(size_kind, moved, cost): &(SizeKind, u64, Option<Cost>)| {
        let least = if moves_bytes(*size_kind) { byte * *moved as f64 } else { 0.0 };
        let cost = cost.unwrap_or(Cost { fixed, each: least, ..Cost::default() });
        let each = if cost.is_bound && moves_bytes(*size_kind) { least } else { cost.each.max(least) };
        Cost { each, ..cost }
    };
    rows.iter().map(complete).collect()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::figures::summary::median(&values.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_separate_fixed_costs_from_growing_ones() {
        let sample = |amount, all, work| Sample { amount, all, work, timed: 0.0, operations: 0 };
        let cost = |trials: &[Sample]| Cost::from_trials(SizeKind::Large, trials).expect("there are trials");
        let two = cost(&[sample(100, 0.35, 0.02), sample(1100, 0.09, 0.05)]);
        assert!((two.each - 0.03 / 1000.0).abs() < 1e-12 && (two.fixed - (0.04 + 0.017)).abs() < 1e-9, "{two:?}");
        // With one trial, all work may grow with the size.
        let one = cost(&[sample(100, 0.35, 0.2)]);
        assert!((one.each - 0.002).abs() < 1e-12 && (one.fixed - 0.15).abs() < 1e-9, "{one:?}");
        assert_eq!(Cost::from_trials(SizeKind::Large, &[]), None);
        // A timed row costs its time, or less if its operations are finished sooner.
        let commits = Sample { amount: 16, all: 0.25, work: 0.2, timed: 0.16, operations: 16 };
        let cost = Cost::from_trials(SizeKind::Records, &[commits]).expect("a trial");
        assert!((cost.seconds(SizeKind::Records, &Sizes::LARGEST, 1024) - 1.09).abs() < 1e-9, "{cost:?}");
        assert!((cost.seconds(SizeKind::Records, &Sizes::LARGEST, 20) - 0.29).abs() < 1e-9, "{cost:?}");
    }

    #[test]
    fn untried_rows_are_priced_by_the_bytes_of_other_rows() {
        let cost = |each| Some(Cost { fixed: 0.1, each, ..Cost::default() });
        let bound = |each| Some(Cost { fixed: 0.1, each, is_bound: true, ..Cost::default() });
        let rows = [
            (SizeKind::Large, 2, cost(4e-9)),
            (SizeKind::Large, 1, cost(2e-9)),
            // Noise has hidden the cost of this row.
            (SizeKind::Large, 2, cost(0.0)),
            // One trial, slow because the machine was busy.
            (SizeKind::Large, 1, bound(5e-6)),
            (SizeKind::Copied, 3, cost(4e-8)),
            (SizeKind::Copied, 3, None),
            (SizeKind::Files, 4096, cost(1e-3)),
        ];
        let each: Vec<u64> = complete(&rows).iter().map(|cost| (cost.each * 1e9).round() as u64).collect();
        assert_eq!(each, [4, 2, 4, 2, 40, 6, 1_000_000]);
        assert_eq!(complete(&rows)[5].fixed, 0.1);
        // If all rows have one trial, the lowest bound is the best estimate.
        let rows = [(SizeKind::Large, 1, bound(5e-6)), (SizeKind::Large, 2, bound(6e-8)), (SizeKind::Copied, 3, None)];
        let each: Vec<u64> = complete(&rows).iter().map(|cost| (cost.each * 1e9).round() as u64).collect();
        assert_eq!(each, [30, 60, 90]);
    }
}
