//! Conditions on the latencies of two runs (`--fail-if commit.p99:slower:10%`): a percentile of each round of one run
//! against those of the other.
//!
//! Policy:
//!   1. The figures are the percentiles of the single rounds, compared like rates (`ratio_test`); all cells of a
//!      condition are corrected together. A percentile over all rounds would have no interval.
//!   2. A cell fails if its confidence interval excludes 1 and its percentile, in the middle of the interval, is longer
//!      by at least the given share.
//!   3. The reasons for which a cell is missing, new or not guarded are those of rates. Besides, each round of both
//!      runs must have enough operations for the percentile.

use super::fail_conditions::{Outcome, obstacle};
use super::{Found, NAMES, Naming, Paired, paired, void};
use crate::compare::reason::Reason;
use crate::inference::ratio_test::{Judged, Series, judge_estimates};
use crate::results::cell::Cell;
use crate::results::document::Document;
use crate::results::operation::OperationKind;

/// A percentile of the latencies of a cell: of its units of work, or of a kind of operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The kind; `None` for units of work.
    pub kind: Option<OperationKind>,
    /// The percentile in thousandths; 1000 is the maximum.
    pub thousandths: u32,
}

/// A cell of the first run, and the same cell of the second run if it has it.
#[derive(Clone, Copy, Debug)]
pub struct CellPair<'a> {
    /// The cell of the first run.
    pub then: &'a Cell,
    /// The cell of the second run.
    pub now: Option<&'a Cell>,
}

impl<'a> CellPair<'a> {
    /// Returns the cell whose names are printed: that of the second run if it has it.
    pub fn shown(&self) -> &'a Cell {
        self.now.unwrap_or(self.then)
    }

    /// True if one of both is true for a cell. A condition must not overlook a cell because the second run lacks it.
    pub fn any(&self, is: impl Fn(&Cell) -> bool) -> bool {
        is(self.then) || self.now.is_some_and(is)
    }
}

/// Returns the cells of the first run with those of the second.
pub fn cell_pairs<'a>(then: &'a Document, now: &'a Document) -> Vec<CellPair<'a>> {
    let Paired { pairs, only_then, .. } = paired(&then.cells, &now.cells, super::has_one_target(then, now));
    let of_both = pairs.into_iter().map(|(then, now)| CellPair { then, now: Some(now) });
    of_both.chain(only_then.into_iter().map(|then| CellPair { then, now: None })).collect()
}

/// A cell under a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyOutcome {
    /// Program, phase and target.
    pub key: (String, String, String),
    /// The name of the cell.
    pub name: String,
    /// The percentile of the second run divided by that of the first; `None` if a run lacks it.
    pub ratio: Option<f64>,
    /// The result.
    pub outcome: Outcome,
}

/// Compares a percentile in these cells of two runs.
pub fn latency_outcomes(
    (then, now): (&Document, &Document),
    pairs: &[CellPair],
    percentile: Percentile,
    part: f64,
    naming: Naming,
) -> Vec<LatencyOutcome> {
    let [names_then, names_now] = [then, now].map(|document| naming(&document.cells));
    // 3
    let found: Vec<Result<(Found, &Cell), Outcome>> = pairs.iter().map(|pair| compared(*pair, percentile)).collect();
    // 1
    let estimates: Vec<_> = found.iter().flatten().map(|(found, _)| found.estimate).collect();
    let mut judged = judge_estimates(&estimates, 0.0).into_iter();
    let outcome = |(pair, found): (&CellPair, Result<(Found, &Cell), Outcome>)| {
        let (outcome, ratio) = match found {
            Ok((found, cell)) => {
                let judged = judged.next().expect("one for each estimate");
                let longer = judged.estimate.ratio.map(f64::recip);
                match obstacle(pair.then, cell, Some(&found), now.run.interrupted) {
                    Some(reason) => (Outcome::Unguarded(reason), longer),
                    None => (slower(&judged, part), longer),
                }
            }
            Err(outcome) => (outcome, None),
        };
        let shown = pair.shown();
        let name = pair.now.map_or_else(|| names_then(shown), &names_now);
        LatencyOutcome { key: (shown.program.clone(), shown.phase.clone(), shown.target.clone()), name, ratio, outcome }
    };
    pairs.iter().zip(found).map(outcome).collect()
}

/// The ratio of the speeds of two cells, which is the inverse of their percentiles, with the cell of the second run. An
/// error is the outcome if there is none.
fn compared<'a>(pair: CellPair<'a>, percentile: Percentile) -> Result<(Found, &'a Cell), Outcome> {
    if !pair.then.measured {
        return Err(Outcome::New);
    }
    match pair.now.filter(|now| now.measured) {
        Some(now) => estimated(pair.then, now, percentile).map(|found| (found, now)).map_err(Outcome::Unguarded),
        None => Err(Outcome::Missing),
    }
}

/// The ratio of two measured cells. An error is the reason why there is none.
fn estimated(then: &Cell, now: &Cell, percentile: Percentile) -> Result<Found, Reason> {
    let series = |when: &'static str, cell: &Cell| -> Result<Series, Reason> {
        let speeds = cell.kept().map(|round| {
            let all = round.latencies(percentile.kind).ok_or(Reason::NoLatencies(when))?;
            let nanos = match percentile.thousandths {
                1000 => all.longest(),
                part => all.percentile(f64::from(part) / 10.0),
            };
            // 3
            nanos.map(|nanos| 1.0 / nanos.max(1) as f64).ok_or(Reason::FewOperations(when))
        });
        let speeds = speeds.collect::<Result<Vec<f64>, Reason>>();
        speeds.map(|speeds| speeds.into_iter().collect())
    };
    let series = [series(NAMES[0], then)?, series(NAMES[1], now)?];
    let estimate = series[0].against(&series[1]).ok_or(Reason::NotMeasured(NAMES[1]))?;
    Ok(Found { estimate, is_exact: false, void: void(then, now), series })
}

/// 2
fn slower(judged: &Judged, part: f64) -> Outcome {
    let limit = 1.0 / (1.0 + part);
    match (judged.estimate.ratio, judged.estimate.low, judged.estimate.high) {
        (Some(ratio), _, Some(high)) if high < 1.0 && ratio <= limit => Outcome::Slower,
        (_, Some(low), Some(high)) if high >= 1.0 && low <= limit => Outcome::Undecided,
        (Some(_), Some(_), Some(_)) => Outcome::Well,
        _ => Outcome::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::results::cell::Provenance;
    use crate::results::document::{RunInfo, SCHEMA};
    use crate::results::latency::Latencies;
    use crate::results::operation::RoundOperation;
    use crate::results::round::Round;

    /// A run of five rounds, whose fsyncs take about this long.
    fn run(micros: u64, operations: u64) -> Document {
        let round = |number: u32| {
            let mut latencies = Latencies::default();
            (0..operations).for_each(|n| latencies.record(Nanos(1000 * micros + n % 7 + u64::from(number))));
            let fsync = RoundOperation::new(OperationKind::Fsync, false, &latencies);
            let ops = operations;
            Round { round: number, ops, returned_s: 1.0, operations: vec![fsync], ..Round::default() }
        };
        let named = Cell::named(Provenance::Measured, "io", "randwrite", "randwrite", "a");
        let cell = Cell { measured: true, rounds: (1..=5).map(round).collect(), ..named };
        Document { schema: SCHEMA.to_owned(), run: RunInfo::default(), cells: vec![cell], errors: Vec::new() }
    }

    fn outcome(then: &Document, now: &Document, kind: OperationKind) -> Outcome {
        let percentile = Percentile { kind: Some(kind), thousandths: 990 };
        let naming: Naming = |_| Box::new(|cell: &Cell| cell.program.clone());
        let outcomes = latency_outcomes((then, now), &cell_pairs(then, now), percentile, 0.1, naming);
        assert_eq!(outcomes.len(), 1);
        outcomes[0].outcome.clone()
    }

    #[test]
    fn a_percentile_is_guarded_by_its_rounds() {
        let fsync = OperationKind::Fsync;
        assert_eq!(outcome(&run(100, 2000), &run(130, 2000), fsync), Outcome::Slower);
        assert_eq!(outcome(&run(100, 2000), &run(105, 2000), fsync), Outcome::Well);
        assert_eq!(outcome(&run(130, 2000), &run(100, 2000), fsync), Outcome::Well);
        let few = outcome(&run(100, 2000), &run(130, 500), fsync);
        assert_eq!(few, Outcome::Unguarded(Reason::FewOperations("new")));
        let none = outcome(&run(100, 2000), &run(130, 2000), OperationKind::Read);
        assert_eq!(none, Outcome::Unguarded(Reason::NoLatencies("base")));
    }

    #[test]
    fn a_cell_that_the_second_run_lacks_is_missing_and_one_without_a_base_is_new() {
        let measured = run(100, 2000);
        let mut failed = measured.clone();
        failed.cells[0] = Cell { measured: false, rounds: Vec::new(), ..failed.cells[0].clone() };
        let without = Document { cells: Vec::new(), ..measured.clone() };
        let fsync = OperationKind::Fsync;
        assert_eq!(outcome(&measured, &failed, fsync), Outcome::Missing);
        assert_eq!(outcome(&measured, &without, fsync), Outcome::Missing);
        assert_eq!(outcome(&failed, &measured, fsync), Outcome::New);
        let pairs = cell_pairs(&measured, &without);
        assert!(pairs[0].any(|cell| cell.measured) && !cell_pairs(&failed, &without)[0].any(|cell| cell.measured));
    }
}
