//! Finds the regimes of a result in its rounds, and those of a target in the rounds of all its results.
//!
//! Policy:
//!   1. A level changes between two rounds, or inside a round that lasts at least a second. A change between rounds is
//!      sought in the rates of whole rounds: rounds differ more than the quarters of a second inside a round do.
//!   2. A change inside a round is sought in the quarters of a second of all rounds. If the last call returned long
//!      before the data were durable, the quarters show only the page cache, and only the whole round counts.
//!   3. A credit is shared by all tests of a device. So the rounds of all its results are judged together, too, by the
//!      time that each round took, compared with the usual time for the same work. Copies of memory do not count.

use std::collections::BTreeMap;

use workload::RateBase;

use crate::figures::summary::{median, rate_of, round_rate};
use crate::inference::regimes::{self, Point};
use crate::results::cell::Cell;
use crate::results::clock::ClockKind;
use crate::results::rate_interval::{INTERVAL, RateInterval};
use crate::results::regime::Regime;
use crate::results::round::Round;

/// The fewest intervals of a round that is judged by them: a second.
const LONG: usize = 4;

/// The smallest share of a round's time in which its calls ran, if its quarters of a second show the device. Guess.
const RETURNED: f64 = 0.9;

/// The fewest units of work in a point. With fewer, chance changes the count by more than a third.
const LEAST_OPS: u64 = 8;

/// The fewest points of a round before and after a change inside it. With fewer, the change is between rounds.
const INSIDE: usize = 2;

/// The fewest whole rounds of the last regime that make a result without the others: an interval needs two.
const LEAST_ROUNDS: usize = 2;

/// The quantity that a result's rate counts, and its clock.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The quantity.
    pub base: RateBase,
    /// The clock.
    pub clock: ClockKind,
    /// True if several targets were busy together.
    pub together: bool,
}

/// A change of level in a list of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// Index of the round.
    index: usize,
    /// Intervals of that round before the change.
    intervals: usize,
}

/// A change in the rates of most results of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetStep {
    /// The first round afterwards.
    pub round: u32,
    /// True if the rates rose.
    pub rises: bool,
    /// Bytes that all results moved before.
    pub bytes: u64,
    /// Seconds that this took.
    pub seconds: f64,
}

/// Returns the regimes of these rounds, in the order of time, or an empty list if there is only one. Only the rounds
/// for which `is_judged` returns true are judged. All rounds count towards the amounts.
pub fn regimes_of(rounds: &[Round], measure: Measure, is_judged: impl Fn(&Round) -> bool) -> Vec<Regime> {
    let judged: Vec<usize> = (0..rounds.len()).filter(|&index| is_judged(&rounds[index])).collect();
    let inside = changes_inside(rounds, &judged, measure);
    let changes = if inside.is_empty() { changes_between(rounds, &judged, measure) } else { inside };
    divided(rounds, &changes, measure)
}

/// Returns the regimes of these rounds if their rates changed together with those of their target.
pub fn regimes_at(rounds: &[Round], measure: Measure, step: &TargetStep) -> Vec<Regime> {
    let Some(index) = rounds.iter().position(|round| round.round >= step.round) else { return Vec::new() };
    let logs = |rounds: &[Round]| -> Vec<f64> {
        let rates = rounds.iter().filter_map(|round| round_rate(round, measure.together, measure.base, measure.clock));
        rates.map(f64::ln).filter(|log| log.is_finite()).collect()
    };
    match regimes::apart(&logs(&rounds[..index]), &logs(&rounds[index..])) {
        Some(change) if (change > 0.0) == step.rises => divided(rounds, &[Change { index, intervals: 0 }], measure),
        _ => Vec::new(),
    }
}

/// Returns the first round of the last regime that is whole, if enough rounds follow it to make a result of them.
pub fn sustained_from(regimes: &[Regime], rounds: &[Round]) -> Option<u32> {
    let from = regimes.last()?.first_whole_round();
    let kept = rounds.iter().filter(|round| !round.discarded && round.round >= from).count();
    (kept >= LEAST_ROUNDS).then_some(from)
}

/// Returns the last change in the rates of a device's results (policy 3), which are given by its cells.
pub fn target_step<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Option<TargetStep> {
    let mut rounds: BTreeMap<u32, (Point, u64)> = BTreeMap::new();
    for cell in cells.into_iter().filter(|cell| !cell.together && cell.loads_device()) {
        let Some(base) = cell.rate.as_ref().map(|rate| rate.base) else { continue };
        let rates = cell.rounds.iter().filter_map(|round| Some((round, rate_of(cell, round, base)?)));
        let rates: Vec<(&Round, f64)> = rates.filter(|(_, rate)| *rate > 0.0).collect();
        let Some(usual) = median(&rates.iter().map(|(_, rate)| *rate).collect::<Vec<f64>>()) else { continue };
        for (round, rate) in rates {
            let seconds = round.elapsed_s(cell.state.clock);
            let (point, bytes) = rounds.entry(round.round).or_insert((Point { amount: 0.0, seconds: 0.0 }, 0));
            point.amount += seconds * rate / usual;
            point.seconds += seconds;
            *bytes += round.bytes;
        }
    }
    let points: Vec<Point> = rounds.values().map(|(point, _)| *point).collect();
    let at = *regimes::changes(&points).last()?;
    let speed = |points: &[Point]| {
        let sum = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>();
        sum(|point| point.amount) / sum(|point| point.seconds)
    };
    Some(TargetStep {
        round: *rounds.keys().nth(at)?,
        rises: speed(&points[at..]) > speed(&points[..at]),
        bytes: rounds.values().take(at).map(|(_, bytes)| bytes).sum(),
        seconds: points[..at].iter().map(|point| point.seconds).sum(),
    })
}

/// The amount of a round in the quantity of the rate, and its time.
fn whole(round: &Round, measure: Measure) -> Point {
    let seconds = round.elapsed_s(measure.clock);
    let rate = round_rate(round, measure.together, measure.base, measure.clock).unwrap_or(0.0);
    Point { amount: rate * seconds, seconds }
}

fn changes_between(rounds: &[Round], judged: &[usize], measure: Measure) -> Vec<Change> {
    let points: Vec<Point> = judged.iter().map(|&index| whole(&rounds[index], measure)).collect();
    regimes::changes(&points).into_iter().map(|at| Change { index: judged[at], intervals: 0 }).collect()
}

fn changes_inside(rounds: &[Round], judged: &[usize], measure: Measure) -> Vec<Change> {
    let mut points: Vec<Point> = Vec::new();
    let mut places: Vec<Change> = Vec::new();
    for &index in judged {
        let before = points.len();
        points.extend(quarters(&rounds[index], measure).into_iter().map(|(intervals, point)| {
            places.push(Change { index, intervals });
            point
        }));
        if points.len() == before {
            points.push(whole(&rounds[index], measure));
            places.push(Change { index, intervals: 0 });
        }
    }
    let is_inside = |at: usize| {
        let of_round = |place: &&Change| place.index == places[at].index;
        let before = places[..at].iter().rev().take_while(of_round).count();
        before >= INSIDE && places[at..].iter().take_while(of_round).count() >= INSIDE
    };
    let changes = regimes::changes(&points);
    if changes.iter().all(|&at| is_inside(at)) {
        changes.into_iter().map(|at| places[at]).collect()
    } else {
        Vec::new()
    }
}

/// Returns the quarters of a second of a long round, each with the number of intervals before it. Neighbours with few
/// units of work are one point. A round whose calls returned early has none (policy 2).
fn quarters(round: &Round, measure: Measure) -> Vec<(usize, Point)> {
    let mut all = Vec::new();
    if round.intervals.len() < LONG || round.returned_s < RETURNED * round.elapsed_s(measure.clock) {
        return all;
    }
    let mut open = (0, 0, Point { amount: 0.0, seconds: 0.0 });
    for (index, interval) in round.intervals.iter().enumerate() {
        open.1 += interval.ops;
        open.2.amount += amount(interval, measure.base) as f64;
        open.2.seconds += INTERVAL.as_secs_f64();
        if open.1 >= LEAST_OPS {
            all.push((open.0, open.2));
            open = (index + 1, 0, Point { amount: 0.0, seconds: 0.0 });
        }
    }
    all
}

fn amount(interval: &RateInterval, base: RateBase) -> u64 {
    match base {
        RateBase::Bytes => interval.bytes,
        RateBase::Files | RateBase::Ops => interval.ops,
    }
}

/// Divides the rounds at these changes. Without changes there are no regimes to tell apart.
fn divided(rounds: &[Round], changes: &[Change], measure: Measure) -> Vec<Regime> {
    if changes.is_empty() {
        return Vec::new();
    }
    let begin = Change { index: 0, intervals: 0 };
    let end = Change { index: rounds.len(), intervals: 0 };
    let places: Vec<Change> = [begin].into_iter().chain(changes.iter().copied()).chain([end]).collect();
    places.windows(2).map(|pair| between(rounds, pair[0], pair[1], measure)).collect()
}

/// The regime between two places.
fn between(rounds: &[Round], from: Change, to: Change, measure: Measure) -> Regime {
    let last = if to.intervals > 0 { to.index } else { to.index - 1 };
    let mut regime = Regime {
        first_round: rounds[from.index].round,
        from_s: from.intervals as f64 * INTERVAL.as_secs_f64(),
        last_round: rounds[last].round,
        bytes: 0,
        ops: 0,
        seconds: 0.0,
        per_second: 0.0,
    };
    let mut amount = 0.0;
    for (index, round) in rounds.iter().enumerate().take(last + 1).skip(from.index) {
        let until = part(round, (index == to.index).then_some(to.intervals), measure);
        let before = part(round, Some(if index == from.index { from.intervals } else { 0 }), measure);
        regime.bytes += until.bytes.saturating_sub(before.bytes);
        regime.ops += until.ops.saturating_sub(before.ops);
        regime.seconds += until.point.seconds - before.point.seconds;
        amount += until.point.amount - before.point.amount;
    }
    regime.per_second = if regime.seconds > 0.0 { amount / regime.seconds } else { 0.0 };
    regime
}

/// A part of a round, from its beginning.
struct Part {
    bytes: u64,
    ops: u64,
    point: Point,
}

/// Returns the first intervals of a round, or all of it. A phase that reads and writes has more bytes
/// in its intervals than in the round, which counts only the larger amount.
fn part(round: &Round, intervals: Option<usize>, measure: Measure) -> Part {
    let Some(count) = intervals else {
        return Part { bytes: round.bytes, ops: round.ops, point: whole(round, measure) };
    };
    let sum = |intervals: &[RateInterval], of: fn(&RateInterval) -> u64| intervals.iter().map(of).sum::<u64>();
    let first = &round.intervals[..count.min(round.intervals.len())];
    let bytes = (sum(first, |interval| interval.bytes) as f64 * counted_once(round)) as u64;
    let ops = sum(first, |interval| interval.ops);
    let amount = match measure.base {
        RateBase::Bytes => bytes,
        RateBase::Files | RateBase::Ops => ops,
    };
    Part { bytes, ops, point: Point { amount: amount as f64, seconds: count as f64 * INTERVAL.as_secs_f64() } }
}

/// Returns the share of the intervals' bytes that the round counts. The rest of the round after its last whole interval
/// is taken to be as fast as that interval.
fn counted_once(round: &Round) -> f64 {
    let moved: u64 = round.intervals.iter().map(|interval| interval.bytes).sum();
    let Some(last) = round.intervals.last().filter(|_| moved > round.bytes) else { return 1.0 };
    let rest = round.returned_s / INTERVAL.as_secs_f64() - round.intervals.len() as f64;
    round.bytes as f64 / (moved as f64 + last.bytes as f64 * rest.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests;
