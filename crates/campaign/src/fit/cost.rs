//! The cost of an alternative at a size: from its own trials, from the trials of other rows, or from unit costs.

use stats::figures::summary::median;

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
    /// Seconds per unit of the size in its phase; per operation of a timed row. A round is at least as long as this
    /// predicts. 0 if unknown.
    pub pace: f64,
    /// Seconds of the phase in the largest trial; 0 for a timed row.
    pub lasted: f64,
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
    /// The time of its phase, as its results count it. Of several phases, the middle one: a size at which the quickest
    /// phase reaches the floor would make the others long.
    pub phase: f64,
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
        // All trials wait for about the same time, and some are delayed. So the shortest wait counts.
        let waiting = trials.iter().map(|trial| (trial.all - trial.work).max(0.0)).fold(f64::MAX, f64::min);
        let sized = |sample: &Sample| (sample.work - sample.timed).max(0.0);
        if size_kind == SizeKind::Records {
            let fixed = waiting + sized(last);
            return Some(Cost { fixed, each: 0.0, operation, pace: operation, lasted: 0.0, is_bound: false });
        }
        let each = match trials {
            [only] => sized(only) / only.amount as f64,
            _ => (sized(last) - sized(first)) / (last.amount - first.amount) as f64,
        };
        // `complete` bounds the cost of rows that move bytes by the price of a byte. Small files have no such bound.
        let least = if size_kind == SizeKind::Files { sized(last) / last.amount.max(1) as f64 / QUICKER } else { 0.0 };
        let each = each.max(least);
        let fixed = (sized(first) - each * first.amount as f64).max(0.0);
        let pace = if size_kind.is_timed() { operation } else { pace(first, last) };
        let is_bound = trials.len() == 1;
        let lasted = if size_kind.is_timed() { 0.0 } else { last.phase };
        Some(Cost { fixed: waiting + fixed, each, operation, pace, lasted, is_bound })
    }

    /// Seconds of an execution at these sizes.
    pub fn seconds(&self, size_kind: SizeKind, sizes: &Sizes) -> f64 {
        let timed = size_kind.operations(sizes).map_or(0.0, |operations| {
            let all = self.operation * operations as f64;
            all.min(sizes.random.as_secs_f64())
        });
        self.fixed + self.each * size_kind.amount(sizes) as f64 + timed
    }
}

/// A phase, and all work on small files, is at most this many times as quick as in the largest trial. This bounds the
/// effect of noise, which may hide the difference between two trials. Chosen.
const QUICKER: f64 = 4.0;

/// A trial of this many seconds shows the sustained rate: a throttled disk catches up for at most as long (`ROUND`).
pub const SUSTAINED: f64 = 0.1;

/// Seconds per unit of the size in the phase of two trials, without its fixed part.
fn pace(first: &Sample, last: &Sample) -> f64 {
    let whole = last.phase / last.amount as f64;
    let slope = (last.phase - first.phase) / last.amount.saturating_sub(first.amount).max(1) as f64;
    if last.amount > first.amount { slope.clamp(whole / QUICKER, whole) } else { whole }
}

/// The cost of each row of one target. Each row comes with its size, the bytes that it moves per unit of the size, and
/// its cost, if tried.
///
/// The cost per byte is the median of the rows that move bytes and have several trials, of those with a sustained rate
/// if there are any; without such rows, the lowest bound. It is used for rows without trials or with one. For all
/// others it is the minimum, because a trial is so short that noise may hide the cost. Rows without trials or with one
/// are as quick as the quickest row that moves bytes. No row is quicker than a sustained rate.
pub fn complete(rows: &[(SizeKind, u64, Option<Cost>)]) -> Vec<Cost> {
    let moves_bytes = |size_kind: SizeKind| matches!(size_kind, SizeKind::Large | SizeKind::Spots | SizeKind::Copied);
    let tried = || rows.iter().filter_map(|(size_kind, moved, cost)| Some((*size_kind, *moved, (*cost)?)));
    // Tried copies are left out: they also cost CPU time, which depends on more than the bytes.
    let is_sustained = |cost: &Cost| !cost.is_bound && cost.lasted >= SUSTAINED;
    let bytes = |is_meant: &dyn Fn(&Cost) -> bool| -> Vec<f64> {
        let told = tried()
            .filter(|(size_kind, _, cost)| moves_bytes(*size_kind) && *size_kind != SizeKind::Copied && is_meant(cost));
        told.map(|(_, moved, cost)| cost.each / moved as f64).collect()
    };
    let byte = median(&bytes(&is_sustained))
        .or_else(|| median(&bytes(&|cost| !cost.is_bound)))
        .or_else(|| bytes(&|_| true).into_iter().min_by(f64::total_cmp))
        .unwrap_or(0.0);
    let fixed = median(
        &tried().filter(|(size_kind, ..)| moves_bytes(*size_kind)).map(|(.., cost)| cost.fixed).collect::<Vec<f64>>(),
    )
    .unwrap_or(0.0);
    let is_paced = |size_kind: &SizeKind| moves_bytes(*size_kind) && !size_kind.is_timed();
    let quickest = |is_meant: &dyn Fn(&Cost) -> bool| {
        let rows = tried().filter(|(size_kind, _, cost)| is_paced(size_kind) && cost.pace > 0.0 && is_meant(cost));
        rows.map(|(.., cost)| cost.pace).min_by(f64::total_cmp)
    };
    let sustained = quickest(&is_sustained).unwrap_or(0.0);
    let quickest = quickest(&|cost| !cost.is_bound);
    let complete = |(size_kind, moved, cost): &(SizeKind, u64, Option<Cost>)| {
        let least = if moves_bytes(*size_kind) { byte * *moved as f64 } else { 0.0 };
        let is_guess = cost.is_none_or(|cost| cost.is_bound) && is_paced(size_kind);
        let cost = cost.unwrap_or(Cost { fixed, each: least, pace: least, ..Cost::default() });
        let pace = quickest.filter(|_| is_guess).unwrap_or(cost.pace);
        let pace = if is_paced(size_kind) { pace.max(sustained) } else { pace };
        let each = if cost.is_bound && moves_bytes(*size_kind) { least } else { cost.each.max(least) };
        Cost { each, pace, ..cost }
    };
    rows.iter().map(complete).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_separate_fixed_costs_from_growing_ones() {
        let sample = |amount, all, work| Sample { amount, all, work, phase: work / 2.0, timed: 0.0, operations: 0 };
        let cost = |trials: &[Sample]| Cost::from_trials(SizeKind::Large, trials).expect("there are trials");
        let two = cost(&[sample(100, 0.35, 0.02), sample(1100, 0.09, 0.05)]);
        assert!((two.each - 0.03 / 1000.0).abs() < 1e-12 && (two.fixed - (0.04 + 0.017)).abs() < 1e-9, "{two:?}");
        assert!((two.pace - 0.015 / 1000.0).abs() < 1e-12, "{two:?}");
        // With one trial, all work may grow with the size.
        let one = cost(&[sample(100, 0.35, 0.2)]);
        assert!((one.each - 0.002).abs() < 1e-12 && (one.fixed - 0.15).abs() < 1e-9, "{one:?}");
        assert!((one.pace - 0.001).abs() < 1e-12, "{one:?}");
        assert_eq!(Cost::from_trials(SizeKind::Large, &[]), None);
        // Noise in the small trial hides the growth: at most four times as quick as the large one.
        let noisy = cost(&[sample(100, 0.35, 0.05), sample(1100, 0.09, 0.044)]);
        assert!((noisy.pace - 0.022 / 1100.0 / 4.0).abs() < 1e-12, "{noisy:?}");
        // A cold journal or an emptied bucket may also hide the cost of a small file.
        let files = |work: [f64; 2]| {
            let [small, large] = [(16, work[0]), (64, work[1])].map(|(amount, work)| sample(amount, work + 0.1, work));
            Cost::from_trials(SizeKind::Files, &[small, large]).expect("there are trials")
        };
        for small in [0.40, 0.45, 9.0] {
            let cost = files([small, 0.40]);
            assert!((cost.each - 0.40 / 64.0 / 4.0).abs() < 1e-12, "{cost:?}");
            let [least, most] = [Sizes::SMALLEST, Sizes::LARGEST].map(|sizes| cost.seconds(SizeKind::Files, &sizes));
            assert!(least >= small && most > 400.0, "{cost:?}");
        }
        assert!((files([0.1, 0.4]).each - 0.3 / 48.0).abs() < 1e-12);
        // A row that moves bytes has no such bound here: `complete` bounds it by the price of a byte.
        assert_eq!(cost(&[sample(100, 0.35, 0.05), sample(1100, 0.09, 0.044)]).each, 0.0);
        // A timed row costs its time, or less if its operations are finished sooner.
        let commits = Sample { amount: 16, all: 0.25, work: 0.2, phase: 0.16, timed: 0.16, operations: 16 };
        let cost = Cost::from_trials(SizeKind::Records, &[commits]).expect("a trial");
        let second = |records| Sizes { records, random: units::Nanos::from_secs(1), ..Sizes::SMALLEST };
        assert!((cost.seconds(SizeKind::Records, &second(1024)) - 1.09).abs() < 1e-9, "{cost:?}");
        assert!((cost.seconds(SizeKind::Records, &second(20)) - 0.29).abs() < 1e-9, "{cost:?}");
        assert!((cost.pace - 0.01).abs() < 1e-9, "{cost:?}");
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
        // Rows without trials of their own are as quick as the quickest with some.
        let paced = |pace, is_bound| Some(Cost { pace, is_bound, ..Cost::default() });
        let rows = [
            (SizeKind::Large, 1, paced(3e-9, false)),
            (SizeKind::Large, 1, paced(2e-9, false)),
            (SizeKind::Large, 1, paced(9e-9, true)),
            (SizeKind::Copied, 1, None),
            (SizeKind::Files, 1, paced(1e-3, true)),
        ];
        let paces = |rows: &[_]| complete(rows).iter().map(|cost| cost.pace).collect::<Vec<f64>>();
        assert_eq!(paces(&rows), [3e-9, 2e-9, 2e-9, 2e-9, 1e-3]);
        // A trial of a tenth of a second saw the limit of a throttled disk, and the others its burst.
        let limit = Some(Cost { each: 4e-8, pace: 2e-8, lasted: SUSTAINED, ..Cost::default() });
        let rows = [(SizeKind::Large, 2, limit), (SizeKind::Large, 1, rows[0].2), (SizeKind::Spots, 1, rows[4].2)];
        assert_eq!(paces(&rows), [2e-8, 2e-8, 1e-3]);
        assert_eq!(complete(&rows).iter().map(|cost| cost.each).collect::<Vec<f64>>(), [4e-8, 2e-8, 2e-8]);
        // If all rows have one trial, the lowest bound is the best estimate.
        let rows = [(SizeKind::Large, 1, bound(5e-6)), (SizeKind::Large, 2, bound(6e-8)), (SizeKind::Copied, 3, None)];
        let each: Vec<u64> = complete(&rows).iter().map(|cost| (cost.each * 1e9).round() as u64).collect();
        assert_eq!(each, [30, 60, 90]);
    }
}
