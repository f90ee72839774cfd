//! The history of a program on a target: its rate in all stored runs, and the changes of the environment between them.
//!
//! Policy:
//!   1. Cells that would be the same in a comparison of two runs (`run_comparison`) form a series: one program, phase
//!      and target of one preset, with equal settings except for amounts and settings of the target.
//!   2. Each run is compared with the last measured run before it, as separate rounds. Each step is judged by itself,
//!      so the verdict on a run does not depend on the number of runs in the list. So of 100 steps without a change, 5
//!      may look like one. A result that is not the one its label names decides nothing (`run_comparison`).
//!   3. The changes of the environment are those since the run of the comparison. If there is none, they are those
//!      since the run before.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::environment_diff::{self, Change};
use crate::compare::run_comparison::{Likeness, Naming, found, identity, judge_found};
use crate::figures::rate::beside_ratio;
use crate::inference::ratio_test::Judged;
use crate::inference::verdict::{Estimate, Verdict};
use crate::judge::marks::MarkCode;
use crate::name::Name;
use crate::results::cell::{Cell, Rate};
use crate::results::document::RunInfo;

/// The name and version of the format.
pub const HISTORY_SCHEMA: &str = "diskperf-history/1";

/// The history of a program in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// `diskperf-history/1`.
    pub schema: String,
    /// Largest difference of rates that counts as the same, as a share.
    pub margin: f64,
    /// The history of each phase on each target.
    pub series: Vec<Past>,
}

/// The history of one phase of a program on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// Program and phase, with the settings that distinguish it from others of that name.
    pub name: String,
    /// The preset of the program.
    pub preset: String,
    /// The program.
    pub program: String,
    /// The phase.
    pub phase: String,
    /// The target: its path, if it has no name of its own.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// True if all runs were simulated; then the machine did not change between them.
    pub simulated: bool,
    /// All runs, the oldest first.
    pub runs: Vec<Time>,
}

/// One run in a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// Id of the run.
    pub run: String,
    /// Start of the run, in seconds since 1970.
    pub started_unix_s: f64,
    /// True if the run was stopped before its end, by Ctrl-C or another signal.
    pub interrupted: bool,
    /// The rate, as the geometric mean of the rounds, because ratios are beside it; null if it is `n.m.`
    pub rate: Option<Rate>,
    /// Reason why the phase was not measured.
    pub reason: Option<String>,
    /// CPU load by the program, in percent of one processor.
    pub cpu: Option<f64>,
    /// Warnings about the result.
    pub marks: Vec<MarkCode>,
    /// Comparison with the last measured run before; null if there is none.
    pub step: Option<Step>,
    /// Differences from the environment of the compared run; if there is none, from that of the run before.
    pub environment: Vec<Change>,
}

impl Time {
    /// True if the run is proven faster or slower than the one that it is compared with.
    pub fn is_step(&self) -> bool {
        self.step.is_some_and(|step| step.finding.is_difference())
    }
}

/// The change of a rate from an earlier run to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The rate divided by the earlier rate; null if one of the runs did no work in a round.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval; null if one of the runs has fewer than two rounds.
    pub low: Option<f64>,
    /// Upper end of the confidence interval.
    pub high: Option<f64>,
    /// Confidence level of this interval by itself; 1 if the rounds of each run are equal, as on a simulated machine.
    pub confidence: f64,
    /// The finding about the later run.
    pub finding: Verdict,
}

impl Step {
    /// Returns the ratio of the rate to the one before.
    pub fn estimate(&self) -> Estimate {
        Estimate { ratio: self.ratio, low: self.low, high: self.high, confidence: self.confidence }
    }
}

/// A cell of a stored run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The id of the run.
    pub run: String,
    /// The name of the target in all runs.
    pub place: String,
    /// The description of the run.
    pub info: RunInfo,
    /// The cell.
    pub cell: Cell,
}

/// Arranges the cells into series. The oldest sample comes first. Each series has the last `limit` runs.
pub fn history(samples: &[Sample], margin: f64, limit: usize, naming: Naming) -> History {
    let mut series: Vec<Vec<&Sample>> = Vec::new();
    let mut places = BTreeMap::new();
    let mut seen: BTreeMap<_, usize> = BTreeMap::new();
    for sample in samples {
        // 1
        let identity = identity(&sample.cell, &sample.place, Likeness::InKind);
        let number = seen.entry((&sample.run, identity.clone())).or_default();
        let place = *places.entry((identity, *number)).or_insert(series.len());
        *number += 1;
        if place == series.len() {
            series.push(Vec::new());
        }
        series[place].push(sample);
    }
    // A series has the name of its latest cell, among the latest cells of all series.
    let latest: Vec<Cell> = series.iter().filter_map(|samples| Some(samples.last()?.cell.clone())).collect();
    let names = naming(&latest);
    let past = |(samples, latest_cell): (&Vec<&Sample>, &Cell)| Past {
        name: names(latest_cell),
        preset: latest_cell.preset.clone(),
        program: latest_cell.program.clone(),
        phase: latest_cell.phase.clone(),
        target: samples.last().map_or_else(String::new, |sample| sample.place.clone()),
        simulated: samples.iter().all(|sample| sample.cell.is_simulated()),
        runs: times(samples, margin, limit),
    };
    let series = series.iter().zip(&latest).map(past).collect();
    History { schema: HISTORY_SCHEMA.to_owned(), margin, series }
}

fn times(samples: &[&Sample], margin: f64, limit: usize) -> Vec<Time> {
    let first = samples.len().saturating_sub(limit);
    let (mut times, mut before, mut measured) = (Vec::new(), None, None);
    for (place, sample) in samples.iter().enumerate() {
        if place >= first {
            times.push(time(sample, (before, measured), margin));
        }
        before = Some(*sample);
        measured = if sample.cell.rate.is_some() { before } else { measured };
    }
    times
}

/// Describes a run, given the run before it and the last measured run before it.
fn time(sample: &Sample, (before, measured): (Option<&Sample>, Option<&Sample>), margin: f64) -> Time {
    let Sample { run, info, cell, .. } = sample;
    // 2
    let found = measured.and_then(|then| found(&then.cell, cell, then.info.seed == info.seed));
    let judged = judge_found(&[found], margin).pop().flatten();
    Time {
        run: run.clone(),
        started_unix_s: info.started_unix_s,
        interrupted: info.interrupted,
        rate: cell.rate.as_ref().and_then(|unit| beside_ratio(cell, unit, |_| true)),
        reason: cell.reason.clone(),
        cpu: cell.cpu_percent.map(|cpu| cpu.process),
        marks: cell.marks.iter().map(|mark| mark.code).collect(),
        step: judged.map(|Judged { estimate: Estimate { ratio, low, high, confidence }, verdict, .. }| Step {
            ratio,
            low,
            high,
            confidence,
            finding: verdict,
        }),
        // 3
        environment: measured.or(before).map_or_else(Vec::new, |then| around(then, sample)),
    }
}

fn around(then: &Sample, now: &Sample) -> Vec<Change> {
    let is_real = [then, now].iter().any(|sample| !sample.cell.is_simulated());
    let mut changes = if is_real { environment_diff::machine(&then.info, &now.info) } else { Vec::new() };
    // If several targets were busy at once, the cell belongs to no single target.
    let [one, other] =
        [then, now].map(|sample| sample.info.targets.iter().find(|info| info.name == sample.cell.target));
    if let (Some(one), Some(other)) = (one, other) {
        changes.extend(environment_diff::target(one, other));
    }
    if !is_real {
        changes.extend(environment_diff::seed(&then.info, &now.info));
    }
    changes.extend(environment_diff::sizes(&[(String::new(), &then.cell, &now.cell)]));
    changes.into_iter().map(|change| Change { of: None, ..change }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures;
    use crate::judge::marks::Mark;

    fn naming<'a>(_: &'a [Cell]) -> Box<dyn Fn(&Cell) -> String + 'a> {
        Box::new(|cell| cell.program.clone())
    }

    /// Returns the findings of runs with these cells, in the order of time.
    fn findings(cells: &[Cell]) -> Vec<Option<Verdict>> {
        let sample = |(cell, run): (&Cell, usize)| Sample {
            run: run.to_string(),
            place: "a".to_owned(),
            info: RunInfo::default(),
            cell: cell.clone(),
        };
        let samples: Vec<Sample> = cells.iter().zip(0..).map(sample).collect();
        let history = history(&samples, 0.05, samples.len(), naming);
        assert_eq!(history.series.len(), 1);
        history.series[0].runs.iter().map(|time| time.step.map(|step| step.finding)).collect()
    }

    #[test]
    fn a_run_without_a_visible_device_is_no_step() {
        let plain = fixtures::cell("a", "read", &[100, 101, 99, 100, 102]);
        let fast = fixtures::cell("a", "read", &[200, 202, 198, 200, 204]);
        let mut blind = fast.clone();
        blind.state.unverified = Some("no device".to_owned());
        assert_eq!(findings(&[plain.clone(), fast.clone()]), [None, Some(Verdict::Faster)]);
        let open = Some(Verdict::Undecided);
        assert_eq!(findings(&[plain.clone(), blind.clone(), plain.clone()]), [None, open, open]);
        let mut slow = plain.clone();
        slow.state.unverified.clone_from(&blind.state.unverified);
        assert_eq!(findings(&[slow, blind])[1], Some(Verdict::Faster));
        let cached = Mark { code: MarkCode::Cache, value: None, text: String::new() };
        assert_eq!(findings(&[plain, Cell { marks: vec![cached], ..fast }])[1], open);
    }
}
