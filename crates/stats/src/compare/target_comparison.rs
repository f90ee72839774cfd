//! The comparison of targets: each program on two targets at a time, and the weighted programs of a use.
//!
//! Policy:
//!   1. Two targets are compared by the same cell: the same program and phase. All targets run the same rows in the
//!      same order. So if a target has several cells of one name, the first is compared with the first, the second with
//!      the second.
//!   2. Of more than two targets, every pair is compared, and Holm's procedure corrects for all of them, because the
//!      fastest target is known only afterwards. Of stages, only the pairs of `stages` are compared.
//!   3. A result that is not the one its label names (`MarkCode::decides_nothing`) decides nothing, neither for its
//!      program nor for a use that includes it. Nor does a result that is unverified on one of the two targets only.
//!   4. A use is one more comparison. Its figure in each round is the weighted mean of the logarithms of its programs'
//!      ratios. So it has its own pairs and its own interval, and is not a score.
//!   5. A use is undecided if tests with more than half of its weight are missing or undecided (`majority`).
//!   6. If a rate changed its level, only the rounds of the last level are compared; the others are discarded. There is
//!      no forecast, and more rounds are useful until all kept rounds have one level.
//!   7. Two targets are compared in the rounds that both kept. The figure of a target is the geometric mean of the
//!      rounds that all targets of the row kept. So the figures of two targets have the ratio that is printed next to
//!      them, unless a third one lacks rounds, because it changed its level or was not reached in the last round.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::reason::Reason;
use crate::compare::stages::Stage;
use crate::figures::rate::beside_ratio;
use crate::figures::summary::rate_of;
use crate::inference::ratio_test::{Bias, Judged, Pairs, judge};
use crate::inference::verdict::{Estimate, Verdict};
use crate::judge::marks::{MarkCode, codes};
use crate::name::Name;
use crate::results::cell::{Cell, Provenance, Rate};

mod majority;
mod reason_finder;
#[cfg(test)]
mod tests;

use majority::ask_majority;
pub use reason_finder::why_of;
use reason_finder::{unverified, warned, why};

/// The result of a comparison of targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Largest difference of rates that counts as the same, as a share.
    pub margin: f64,
    /// True if every comparison is decided, or so narrow that more rounds are useless. False if the budget, the number
    /// of rounds or the user ended the run before.
    pub decided: bool,
    /// Mean time of a round, in seconds.
    pub round_s: Option<f64>,
    /// For each program, the comparison of every two targets. For stages, the comparison of each with the one before,
    /// and of the last of three or more with the first. The intervals are corrected for all of them and those of the
    /// use (Holm).
    pub comparisons: Vec<Comparison>,
    /// The stages in their order, if the targets are stages; otherwise missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// The use that was stated; null if none was.
    pub purpose: Option<Purpose>,
    /// The requirements, for each target.
    pub needs: Vec<Need>,
    /// Prices of the targets, as they were typed; missing if none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<Price>,
    /// Sentences about prices, and about devices that the targets share.
    pub remarks: Vec<String>,
}

/// The comparison of two targets by one program or for a use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Program and phase, with the settings that distinguish it from others of that name; for a use, its name.
    pub program: String,
    /// The first target.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub first: String,
    /// The second target.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub second: String,
    /// Number of rounds that both targets kept.
    pub pairs: u32,
    /// Rate of the second target divided by that of the first, as the geometric mean of the rounds; null if there is no
    /// pair of rounds.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval; null for fewer than two pairs.
    pub low: Option<f64>,
    /// Upper end of the confidence interval.
    pub high: Option<f64>,
    /// Confidence level of this interval by itself, chosen so that at most 5 of 100 runs report a false difference.
    pub confidence: f64,
    /// The verdict.
    pub verdict: TargetVerdict,
    /// The faster target; null for other verdicts.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub faster: Option<String>,
    /// True if the whole interval is outside the margin, so that the difference is a reason to choose.
    pub matters: bool,
    /// Estimated number of further rounds that would decide it, from the spread so far. Null if it is decided, if more
    /// rounds cannot decide it, or if the number is too large to report.
    pub more_rounds: Option<u32>,
    /// Explanation by the bottlenecks and devices of both targets, or the reason why it is not decided; null if there
    /// is none.
    pub why: Option<String>,
    /// Warnings about the two results.
    pub marks: Vec<MarkCode>,
}

/// A target that is proven faster than another one.
pub struct Winner<'a> {
    /// The name of the faster target.
    pub name: &'a str,
    /// The name of the slower target.
    pub other: &'a str,
    /// The ratio of the faster rate to the slower one.
    pub estimate: Estimate,
}

impl Comparison {
    /// Returns the ratio of the second rate to the first.
    pub fn estimate(&self) -> Estimate {
        Estimate { ratio: self.ratio, low: self.low, high: self.high, confidence: self.confidence }
    }

    /// Returns the verdict on the second target.
    pub fn verdict(&self) -> Verdict {
        match (self.verdict, &self.faster) {
            (TargetVerdict::Faster, Some(faster)) if *faster == self.first => Verdict::Slower,
            (TargetVerdict::Faster, Some(_)) => Verdict::Faster,
            (TargetVerdict::Same, _) => Verdict::Same,
            (TargetVerdict::Faster | TargetVerdict::Undecided, _) => Verdict::Undecided,
        }
    }

    /// Returns the faster target, if one is proven faster.
    pub fn winner(&self) -> Option<Winner<'_>> {
        match self.verdict() {
            Verdict::Faster => Some(Winner { name: &self.second, other: &self.first, estimate: self.estimate() }),
            Verdict::Slower => {
                Some(Winner { name: &self.first, other: &self.second, estimate: self.estimate().inverse() })
            }
            _ => None,
        }
    }
}

// A document names the faster target in another key. The name is part of the JSON schema.
/// The verdict of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Verdict")]
pub enum TargetVerdict {
    /// One target is faster.
    Faster,
    /// They differ by less than the margin.
    Same,
    /// Not decided.
    Undecided,
}

impl TargetVerdict {
    /// Returns the form of a verdict on the second of two targets in a document, and the faster target.
    pub fn from_verdict(verdict: Verdict, [first, second]: [&str; 2]) -> (TargetVerdict, Option<String>) {
        match verdict {
            Verdict::Faster => (TargetVerdict::Faster, Some(second.to_owned())),
            Verdict::Slower => (TargetVerdict::Faster, Some(first.to_owned())),
            Verdict::Same => (TargetVerdict::Same, None),
            Verdict::Undecided | Verdict::NotMeasured => (TargetVerdict::Undecided, None),
        }
    }
}

/// A use, and the comparisons of the targets for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Purpose {
    /// Name of the use.
    pub name: String,
    /// Weight of each program; the weights sum to 1.
    pub weights: BTreeMap<String, f64>,
    /// Programs with a weight that were not measured on all targets. The others have larger weights instead.
    pub missing: Vec<String>,
    /// Comparisons for the use, of the same pairs of targets as for the programs.
    pub comparisons: Vec<Comparison>,
}

/// A requirement on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The requirement, as it was typed.
    pub condition: String,
    /// The target.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// The measured figure in words; null if it was not measured.
    pub measured: Option<String>,
    /// True if the requirement is met; null if it was not measured.
    pub met: Option<bool>,
}

/// The price of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The target.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// The amount.
    pub amount: f64,
    /// Unit that the amount is for, as in `GiB-month`; empty if it is for the whole target.
    pub per: String,
}

impl Price {
    /// Prints the price, for example `0.08/GiB-month`.
    pub fn words(&self) -> String {
        if self.per.is_empty() { self.amount.to_string() } else { format!("{}/{}", self.amount, self.per) }
    }
}

/// The cells of all targets that are the same cell, in the order of the targets; `None` if a target has no such cell.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Program, phase, and the index among the cells of that name, from 0.
    pub key: (&'a str, &'a str, usize),
    /// The cell of each target; `None` if the target has no such cell.
    pub cells: Vec<Option<&'a Cell>>,
}

impl Row<'_> {
    /// Returns the figure of each target to print next to the ratios: the geometric mean of the rounds that all of them
    /// kept. `None` if the target was not measured.
    pub fn figures(&self) -> Vec<Option<Rate>> {
        // 7
        let common = self.common_rounds();
        let figure = |cell: &Cell| beside_ratio(cell, cell.rate.as_ref()?, |round| common.contains(&round));
        self.cells.iter().map(|cell| cell.and_then(figure)).collect()
    }

    /// Returns the rounds that every measured target of the row kept.
    fn common_rounds(&self) -> BTreeSet<u32> {
        let measured = self.cells.iter().flatten().filter(|cell| cell.rate.is_some());
        let numbers = |cell: &&Cell| -> BTreeSet<u32> { cell.kept().map(|round| round.round).collect() };
        measured.map(numbers).reduce(|one, other| &one & &other).unwrap_or_default()
    }

    /// Returns the logarithms of the ratio of two targets' rates by round, in the rounds that both kept. They are not
    /// finite if a target did no work in the round.
    fn logs(&self, first: usize, second: usize) -> Option<BTreeMap<u32, f64>> {
        // 7
        let (first, second) = (rates(self.cells[first]?), rates(self.cells[second]?));
        Some(first.iter().filter_map(|(round, rate)| Some((*round, (second.get(round)? / rate).ln()))).collect())
    }

    /// Returns the bounds of the error of these logarithms. A rate is too high by at most the credit that came back
    /// while its target rested.
    fn bias(&self, first: usize, second: usize) -> Bias {
        let common = self.common_rounds();
        let of = |index: usize| self.cells[index].map_or(0.0, |cell| cell.rest_excess(|round| common.contains(&round)));
        Bias { below: of(second), above: of(first) }
    }

    /// Returns the name, for example `commit` or `smallfb.creat`.
    fn name(&self) -> String {
        let (program, phase, _) = self.key;
        if program == phase { program.to_owned() } else { format!("{program}.{phase}") }
    }
}

/// Collects the cells to compare: those of a single target that were not published.
pub fn rows<'a>(cells: &'a [Cell], targets: &[&str]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut of_targets: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| !cell.together && cell.provenance != Provenance::Published) {
        of_targets.entry(&cell.target).or_default().push(cell);
    }
    let mut places: BTreeMap<(&str, &str, usize), usize> = BTreeMap::new();
    for (place, target) in targets.iter().enumerate() {
        let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for cell in of_targets.get(target).into_iter().flatten() {
            let name = (cell.program.as_str(), cell.phase.as_str());
            let number = seen.entry(name).or_default();
            let key = (name.0, name.1, *number);
            *number += 1;
            let row = *places.entry(key).or_insert(rows.len());
            if row == rows.len() {
                rows.push(Row { key, cells: vec![None; targets.len()] });
            }
            rows[row].cells[place] = Some(cell);
        }
    }
    rows
}

/// Returns all pairs of indices below `count`.
pub fn every_two(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| (first, second)))
}

/// Returns the rates of a cell by round, without discarded rounds.
fn rates(cell: &Cell) -> BTreeMap<u32, f64> {
    let Some(rate) = &cell.rate else { return BTreeMap::new() };
    cell.kept().filter_map(|round| Some((round.round, rate_of(cell, round, rate.base)?))).collect()
}

/// A use with the weight of every row.
#[derive(Clone, Debug, Default)]
pub struct Weighed {
    /// The name of the use.
    pub name: String,
    /// The weight of each row, in the order of the rows; 0 for the rows of other tests.
    pub weights: Vec<f64>,
    /// Tests that were not measured on all targets, and their weights.
    pub missing: Vec<(String, f64)>,
}

/// A comparison of two targets, in a row or for the use.
pub struct Compared {
    /// Indices of the two targets.
    pub targets: (usize, usize),
    /// Index of the row; `None` for the use.
    pub row: Option<usize>,
    /// The paired rounds.
    pub pairs: Pairs,
    /// The verdict; undecided if a result is untrusted.
    pub judged: Judged,
    /// True if a rate changed its level, so that the spread of the rounds forecasts nothing.
    pub has_step: bool,
    /// The reasons why it is undecided, although its interval may decide.
    reasons: Vec<Reason>,
}

/// Compares each of these pairs of targets in every row, and for the use if there is one.
pub fn compare(
    rows: &[Row],
    targets: impl IntoIterator<Item = (usize, usize)>,
    purpose: Option<&Weighed>,
    margin: f64,
) -> Vec<Compared> {
    let mut all: Vec<((usize, usize), Option<usize>, Pairs)> = Vec::new();
    for (first, second) in targets {
        let logs: Vec<Option<BTreeMap<u32, f64>>> = rows.iter().map(|row| row.logs(first, second)).collect();
        let bias: Vec<Bias> = rows.iter().map(|row| row.bias(first, second)).collect();
        for (place, (logs, bias)) in logs.iter().zip(&bias).enumerate() {
            let pairs = logs.iter().flatten().map(|(_, log)| *log).collect();
            all.push(((first, second), Some(place), Pairs::of_logs(pairs).with_bias(*bias)));
        }
        if let Some(purpose) = purpose {
            let widest = |end: fn(&Bias) -> f64| bias.iter().map(end).fold(0.0, f64::max);
            let bias = Bias { below: widest(|bias| bias.below), above: widest(|bias| bias.above) };
            all.push(((first, second), None, weighed(&logs, &purpose.weights).with_bias(bias)));
        }
    }
    // A row that has no common round is not a comparison.
    all.retain(|(_, _, pairs)| pairs.count() > 0);
    let pairs: Vec<Pairs> = all.iter().map(|(_, _, pairs)| pairs.clone()).collect();
    let judged = judge(&pairs, margin).into_iter();
    let compared = |(first, second): (usize, usize), row: Option<usize>, pairs: Pairs, judged: Judged| {
        let weighs = |place: usize| match row {
            Some(row) => row == place,
            None => purpose.is_some_and(|purpose| purpose.weights.get(place).is_some_and(|weight| *weight > 0.0)),
        };
        let weighing = rows.iter().enumerate().filter(|(place, _)| weighs(*place)).map(|(_, row)| row);
        // 3
        let both = [first, second];
        let reasons = warned(weighing.clone(), both).into_iter().chain(unverified(weighing.clone(), both));
        let reasons: Vec<Reason> = reasons.collect();
        let judged = if reasons.is_empty() { judged } else { judged.undecided() };
        // 6
        let cells: Vec<&Cell> = weighing.flat_map(|row| [row.cells[first], row.cells[second]]).flatten().collect();
        let has_step = cells.iter().any(|cell| !cell.regimes.is_empty());
        let is_open = cells.iter().any(|cell| !cell.is_of_one_regime());
        let judged = Judged { is_narrow: judged.is_narrow && !is_open, ..judged };
        Compared { targets: (first, second), row, pairs, judged, has_step, reasons }
    };
    let mut all: Vec<Compared> = all
        .into_iter()
        .zip(judged)
        .map(|((targets, row, pairs), judged)| compared(targets, row, pairs, judged))
        .collect();
    if let Some(purpose) = purpose {
        ask_majority(&mut all, rows, purpose);
    }
    all
}

/// Returns the pairs of a use: for each round that all weighted rows have, the weighted mean of their logarithms.
fn weighed(logs: &[Option<BTreeMap<u32, f64>>], weights: &[f64]) -> Pairs {
    let is_there = |logs: &&BTreeMap<u32, f64>| !logs.is_empty();
    let part = |(logs, weight): (&'_ Option<BTreeMap<u32, f64>>, &f64)| {
        logs.as_ref().filter(is_there).filter(|_| *weight > 0.0).map(|logs| (logs.clone(), *weight))
    };
    let parts: Vec<(BTreeMap<u32, f64>, f64)> = logs.iter().zip(weights).filter_map(part).collect();
    let whole: f64 = parts.iter().map(|(_, weight)| weight).sum();
    let Some((first, _)) = parts.first() else { return Pairs::default() };
    let of_round = |round: &u32| {
        let sum: Option<f64> = parts.iter().map(|(logs, weight)| Some(logs.get(round)? * weight)).sum();
        sum.map(|sum| sum / whole)
    };
    Pairs::of_logs(first.keys().filter_map(of_round).collect())
}

impl Compared {
    /// True if a reason keeps it undecided, however narrow its interval is.
    pub fn is_open(&self) -> bool {
        !self.reasons.is_empty()
    }

    /// Converts the comparison into its form for a document, with this name.
    pub fn comparison(&self, rows: &[Row], names: &[&str], name: String, margin: f64) -> Comparison {
        let Compared { targets: (first, second), row, pairs, judged, has_step, reasons } = self;
        let cells = row.and_then(|row| Some((rows[row].cells[*first]?, rows[row].cells[*second]?)));
        let (verdict, faster) = TargetVerdict::from_verdict(judged.verdict, [names[*first], names[*second]]);
        let estimate = judged.estimate;
        let needed =
            || pairs.needed(estimate.confidence, margin).map(|needed| needed.saturating_sub(pairs.count()) as u32);
        let is_trusted = verdict == TargetVerdict::Undecided && reasons.is_empty();
        Comparison {
            program: name,
            first: names[*first].to_owned(),
            second: names[*second].to_owned(),
            pairs: pairs.count() as u32,
            ratio: estimate.ratio,
            low: estimate.low,
            high: estimate.high,
            confidence: estimate.confidence,
            verdict,
            faster,
            matters: judged.matters,
            // More rounds do not make a result trusted, nor measure a missing test, nor rule out burst credits.
            more_rounds: if is_trusted && !has_step && !judged.is_masked { needed() } else { None },
            why: match verdict {
                TargetVerdict::Faster => cells.and_then(|(first, second)| why(first, second)),
                _ => {
                    let step = (is_trusted && *has_step).then_some(Reason::Step);
                    let credits = (is_trusted && judged.is_masked).then_some(Reason::Credits);
                    let reasons = reasons.iter().cloned().chain(step).chain(credits).chain(Reason::idle(pairs.idle()));
                    let reasons: Vec<String> = reasons.map(|reason| reason.to_string()).collect();
                    (!reasons.is_empty()).then(|| reasons.join("; "))
                }
            },
            marks: codes(cells.iter().flat_map(|(first, second)| first.marks.iter().chain(&second.marks))),
        }
    }
}
