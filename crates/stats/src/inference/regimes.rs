//! Regimes of a rate over time: stretches at one level, each of which lasts. Causes of a new regime are a used-up
//! credit, a limit that comes into force, or a full cache. Finds one or two changes of level.
//!
//! Policy for a change between two stretches. Figures are the logarithms of the rates:
//!   1. The median rates differ by more than a fifth of the higher one.
//!   2. Both stretches last: each has three points, and a tenth of all time or of all work. Two points are enough if
//!      the rates differ threefold, at the beginning or for a fifth of all points. One point is an outlier.
//!   3. Nine tenths of the points of each stretch are nearer to their own median than to the other one.
//!   4. Chance does not explain it. Either the difference of the medians is too large for the spread around them
//!      (Student's t). Neighbours resemble each other, so the test counts only as many points as are independent. Or
//!      the jump between the two stretches is too large for all other steps. This holds for a random walk too, whose
//!      spread says nothing. A slow slope passes neither.
//!   5. Of two changes, both are in the same direction. A rate that returns was disturbed by something else.

use std::ops::Range;

use statrs::distribution::ContinuousCDF;

use crate::figures::summary::median;
use crate::inference::sample::student;

/// The smallest change of level, as a share of the higher level. Guess: several times the spread of quiet rounds.
pub const STEP: f64 = 0.20;

/// The smallest ratio of two levels that a burst credit must have to show in two points. Guess: a cache or a credit is
/// at least this much faster than the device below it.
const LARGE: f64 = 3.0;

/// The fewest points of a stretch.
const LEAST: usize = 3;

/// The fewest points of a stretch whose level is far from the other one.
const LEAST_OF_LARGE: usize = 2;

/// The smallest share of the points for which so few are enough away from the beginning. Guess.
const SHARE_OF_LARGE: f64 = 0.2;

/// The smallest share of time or of work that a stretch needs. Guess: a shorter one hardly changes the mean.
const SHARE: f64 = 0.1;

/// The smallest share of the points of a stretch that are nearer to its median. The rest may be stalls.
const AGREE: f64 = 0.9;

/// The probability at which each of both tests excludes chance, for all places of a change together: half of 1 in 100.
const CHANCE: f64 = 0.005;

/// With fewer points, an outlier cannot be distinguished from a level.
const ROBUST: usize = 10;

/// From this number of points on, steps are those between the medians of [`SIDE`] points, and the correlation is
/// estimated without the effect of smoothing.
const MANY: usize = 20;

/// The points on each side of such a step.
const SIDE: usize = 3;

/// The smallest ratio of a change to the largest other step. Guess: with heavy tails, the largest of many steps is
/// seldom twice the next one.
const OUTSTANDING: f64 = 2.0;

/// Residuals are clipped at this many standard deviations, so that a stall does not hide a change.
const CLIP: f64 = 3.0;

/// The standard deviation divided by the median absolute deviation, for normal residuals.
const PER_DEVIATION: f64 = 1.4826;

/// The correlation of neighbours among smoothed independent values, from 300,000 normal ones. With a correlation of 0.5
/// before, it is 0.77; with 0.9, it is 0.95: nearly a straight line.
const SMOOTHED: f64 = 0.55;

/// The standard error of a median divided by that of a mean, for normal values: the square root of π/2.
const OF_MEDIAN: f64 = 1.2533;

/// The amount of work that was done in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Amount of work, in any unit.
    pub amount: f64,
    /// Its time.
    pub seconds: f64,
}

/// Returns the index of the first point of each regime after the first one: none, one or two. A point without work is
/// a stall, and belongs to the next point with work.
pub fn changes(points: &[Point]) -> Vec<usize> {
    let series = Series::from_points(points);
    let all = 0..series.logs.len();
    let Some((first, _)) = series.best_split(&all) else { return Vec::new() };
    let sides = [0..first, first..all.end];
    let second = sides.iter().filter_map(|side| series.best_split(side)).max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((second, _)) = second {
        let (one, two) = (first.min(second), first.max(second));
        // 5
        let rises = |at: Range<usize>, and: Range<usize>| series.level(&and) > series.level(&at);
        let is_monotone = rises(0..one, one..two) == rises(one..two, two..all.end);
        if is_monotone && series.is_change(0..one, one..two) && series.is_change(one..two, two..all.end) {
            return vec![series.starts[one], series.starts[two]];
        }
    }
    if series.is_change(0..first, first..all.end) { vec![series.starts[first]] } else { Vec::new() }
}

/// Returns the difference of the medians of two lists of logarithms of rates. `None` if the rates differ by no more
/// than [`STEP`], or if more than a tenth of a list is nearer to the other median.
pub fn apart(before: &[f64], after: &[f64]) -> Option<f64> {
    let (own, other) = (median(before)?, median(after)?);
    let is_large = (other - own).abs() > -(1.0 - STEP).ln();
    let agree = |values: &[f64], own: f64, other: f64| {
        let near = values.iter().filter(|value| (**value - own).abs() < (**value - other).abs()).count();
        near as f64 >= AGREE * values.len() as f64
    };
    (is_large && agree(before, own, other) && agree(after, other, own)).then_some(other - own)
}

/// The points with work, as logarithms of their rates.
struct Series {
    /// Index of the first point that belongs to each.
    starts: Vec<usize>,
    points: Vec<Point>,
    logs: Vec<f64>,
    /// The same without single outliers: each is the median of three neighbours.
    smooth: Vec<f64>,
}

impl Series {
    fn from_points(all: &[Point]) -> Series {
        let mut series = Series { starts: Vec::new(), points: Vec::new(), logs: Vec::new(), smooth: Vec::new() };
        let mut open: Option<(usize, f64)> = None;
        for (index, point) in all.iter().enumerate() {
            let (start, waited) = open.take().unwrap_or((index, 0.0));
            let seconds = waited + point.seconds;
            let log = (point.amount / seconds).ln();
            if log.is_finite() {
                series.starts.push(start);
                series.points.push(Point { amount: point.amount, seconds });
                series.logs.push(log);
            } else {
                open = Some((start, seconds));
            }
        }
        series.smooth = if series.logs.len() < ROBUST { series.logs.clone() } else { smoothed(&series.logs) };
        series
    }

    fn level(&self, range: &Range<usize>) -> f64 {
        median(&self.logs[range.clone()]).unwrap_or(0.0)
    }

    /// Returns the place that divides a range best, and the part of the squares that this removes.
    fn best_split(&self, range: &Range<usize>) -> Option<(usize, f64)> {
        let values = &self.smooth[range.clone()];
        let (count, sum) = (values.len(), values.iter().sum::<f64>());
        let mut before = 0.0;
        let mut best: Option<(usize, f64)> = None;
        for (index, value) in values.iter().enumerate() {
            if index >= LEAST_OF_LARGE && index + LEAST_OF_LARGE <= count {
                let (left, right) = (index as f64, (count - index) as f64);
                let gain = left * right / count as f64 * (before / left - (sum - before) / right).powi(2);
                if best.is_none_or(|(_, most)| gain > most) {
                    best = Some((range.start + index, gain));
                }
            }
            before += value;
        }
        best
    }

    /// True if the level changes between two neighbouring stretches.
    fn is_change(&self, before: Range<usize>, after: Range<usize>) -> bool {
        let [own, other] = [&before, &after].map(|range| &self.logs[range.clone()]);
        // 1, 3
        let Some(change) = apart(own, other) else { return false };
        // 2
        [&before, &after].into_iter().all(|range| self.lasts(range, change.abs()))
            // 4
            && (is_beyond_spread(own, other, change.abs()) || self.is_jump(before.start..after.end, after.start))
    }

    fn lasts(&self, range: &Range<usize>, change: f64) -> bool {
        let all = self.points.len() as f64;
        let is_few_enough = range.start == 0 || range.len() as f64 >= SHARE_OF_LARGE * all;
        let least = if change >= LARGE.ln() && is_few_enough { LEAST_OF_LARGE } else { LEAST };
        let share = |of: fn(&Point) -> f64| {
            self.points[range.clone()].iter().map(of).sum::<f64>() / self.points.iter().map(of).sum::<f64>()
        };
        range.len() >= least && (share(|point| point.seconds) >= SHARE || share(|point| point.amount) >= SHARE)
    }

    /// True if the step at `at` is too large for the other steps.
    fn is_jump(&self, range: Range<usize>, at: usize) -> bool {
        let places = range.len() as f64 - 1.0;
        if range.len() < MANY {
            let step = |index: usize| self.logs[index] - self.logs[index - 1];
            let others = (range.start + 1..range.end).filter(|&index| index != at).map(step);
            let (usual, _, count) = sizes(others);
            return is_unlikely(step(at).abs() / usual, count, places);
        }
        // Steps are between the medians of three points before and after. So a single stall is not a step, and two
        // stalls also make a step back.
        let level = |from: usize, to: usize| self.level(&(from.max(range.start)..to.min(range.end)));
        let step = |index: usize| level(index, index + SIDE) - level(index.saturating_sub(SIDE), index);
        let others = (range.start + SIDE..=range.end - SIDE).filter(|&index| index.abs_diff(at) >= SIDE).map(step);
        let (usual, largest, count) = sizes(others);
        // Neighbouring steps share their points.
        let step = step(at).abs();
        step >= OUTSTANDING * largest && is_unlikely(step / usual, count / SIDE as f64, places)
    }
}

/// Returns the root mean square of these steps, the size of the largest, and their number.
fn sizes(steps: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let steps: Vec<f64> = steps.collect();
    let count = steps.len() as f64;
    let squares: f64 = steps.iter().map(|step| step.powi(2)).sum();
    ((squares / count).sqrt(), steps.iter().fold(0.0, |most, step| step.abs().max(most)), count)
}

/// True if two medians differ too much for the spread around them.
fn is_beyond_spread(before: &[f64], after: &[f64], change: f64) -> bool {
    let residuals = |values: &[f64]| -> Vec<f64> {
        let middle = median(values).unwrap_or(0.0);
        values.iter().map(|value| value - middle).collect()
    };
    let mut sides = [residuals(before), residuals(after)];
    let count = (before.len() + after.len()) as f64;
    if before.len() + after.len() >= ROBUST {
        let sizes: Vec<f64> = sides.iter().flatten().map(|residual| residual.abs()).collect();
        let most = CLIP * PER_DEVIATION * median(&sizes).unwrap_or(0.0);
        if most > 0.0 {
            sides.iter_mut().flatten().for_each(|residual| *residual = residual.clamp(-most, most));
        }
    }
    let squares: f64 = sides.iter().flatten().map(|residual| residual.powi(2)).sum();
    let spread = (squares / (count - 2.0)).sqrt();
    if spread == 0.0 {
        return true;
    }
    let share = independent_share(correlation(sides), count);
    let error = OF_MEDIAN * spread * ((1.0 / before.len() as f64 + 1.0 / after.len() as f64) / share).sqrt();
    is_unlikely(change / error, (count * share - 2.0).max(1.0), count - 1.0)
}

/// Returns the correlation of neighbouring residuals. From [`ROBUST`] on, it is that of their smoothed values: stalls
/// resemble nothing, and would hide that the rest resembles its neighbours. Smoothing itself relates neighbours; with
/// fewer than [`MANY`], this stays, which makes the test stricter.
fn correlation(sides: [Vec<f64>; 2]) -> f64 {
    let count = sides.iter().map(Vec::len).sum::<usize>();
    let sides = sides.map(|side| if count >= ROBUST && side.len() >= SIDE { smoothed(&side) } else { side });
    let products: f64 = sides.iter().flat_map(|side| side.windows(2)).map(|pair| pair[0] * pair[1]).sum();
    let squares: f64 = sides.iter().flatten().map(|residual| residual.powi(2)).sum();
    let found = if squares > 0.0 { products / squares } else { 1.0 };
    if count >= MANY { (found - SMOOTHED) / (1.0 - SMOOTHED) } else { found }
}

/// Returns the share of the points that count as independent, from the correlation of neighbours. The correlation of a
/// few residuals is too low by about `(1 + 3ρ) / n` for each of both levels (Marriott and Pope 1954). Its standard
/// error, `1 / √n`, is added; it is larger if the effect of smoothing was removed.
fn independent_share(correlation: f64, count: f64) -> f64 {
    let error = if count < MANY as f64 { 1.0 } else { 1.0 / (1.0 - SMOOTHED) } / count.sqrt();
    let corrected = (correlation + 2.0 / count) / (1.0 - 6.0 / count).max(0.4) + error;
    let corrected = corrected.clamp(0.0, 0.98);
    (1.0 - corrected) / (1.0 + corrected)
}

/// True if chance reaches such a `t` in fewer than [`CHANCE`] of all series with this number of places.
fn is_unlikely(t: f64, degrees: f64, places: f64) -> bool {
    let Some(student) = student(degrees) else { return false };
    // Zero divided by zero is a step of zero.
    !t.is_nan() && (t.is_infinite() || 2.0 * student.sf(t) * places < CHANCE)
}

/// Returns the median of each value and its two neighbours; at an end, of the first three or the last three.
fn smoothed(values: &[f64]) -> Vec<f64> {
    let middle = |index: usize| {
        let from = index.saturating_sub(1).min(values.len() - 3);
        median(&values[from..from + 3]).unwrap_or(values[index])
    };
    (0..values.len()).map(middle).collect()
}

#[cfg(test)]
pub(crate) mod tests;
