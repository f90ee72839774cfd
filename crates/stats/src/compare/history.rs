//! A program on a target in all the runs that there are: how fast it was each time, and what had changed since the time
//! before.
//!
//! Policy:
//!   1. what is the same in two runs that are compared (`compared`) stands in one series: one program, phase and place,
//!      in one preset, with the same settings but for amounts and what stands under them;
//!   2. each time is compared with the last one before it that was measured, as runs that were apart are, each step by
//!      itself: what is said of one run is the same however many others are told with it. So of 100 steps that change
//!      nothing, 5 may look like a change;
//!   3. what changed around it is told since the time that it is compared with; where there is none, since the one
//!      before.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::compared::{Finding, Likeness, Naming, finding, found, identity, is_simulated, judge_found};
use crate::compare::environment::{self, Change};
use crate::judge::marks::MarkCode;
use crate::name::Name;
use crate::results::cell::{Cell, Rate};
use crate::results::document::RunInfo;

/// The name and version of the format.
pub const HISTORY_SCHEMA: &str = "diskperf-history/1";

/// A program in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// `diskperf-history/1`.
    pub schema: String,
    /// The part by which two may differ and be the same.
    pub margin: f64,
    /// Each phase on each target by itself.
    pub series: Vec<Past>,
}

/// One phase of a program on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// Program and phase, and what tells it from others of that name.
    pub name: String,
    /// The list of programs that it is part of.
    pub preset: String,
    /// The program.
    pub program: String,
    /// The phase.
    pub phase: String,
    /// The target: its path where it is one without a name of its own.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// Whether every run of it was computed: then no machine changed between them.
    pub simulated: bool,
    /// Every run, the oldest first.
    pub runs: Vec<Time>,
}

/// One run of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The run's id.
    pub run: String,
    /// Seconds since 1970 when it began.
    pub started_unix_s: f64,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
    /// How fast; null where it is `n.m.`
    pub rate: Option<Rate>,
    /// Why it was not measured.
    pub reason: Option<String>,
    /// What the program took of a processor, in percent.
    pub cpu: Option<f64>,
    /// Why it is suspect.
    pub marks: Vec<MarkCode>,
    /// How it compares with the last one before that was measured; null where there is none.
    pub step: Option<Step>,
    /// What differs around it since the one that it is compared with, or else the one before.
    pub environment: Vec<Change>,
}

/// From one time to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The rate divided by the one before; null where one of both did nothing in a round.
    pub ratio: Option<f64>,
    /// The lower end of its interval; null where one of both has fewer than two rounds.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How sure the interval is, by itself; 1 where no round of either differs from another, as of a simulated machine.
    pub confidence: f64,
    /// What is to be said.
    pub finding: Finding,
}

/// A cell of a stored run.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The run's id.
    pub run: String,
    /// What the target is called in all runs.
    pub place: String,
    /// What was run, where and how.
    pub info: RunInfo,
    /// The cell.
    pub cell: Cell,
}

/// The history that these cells are, the oldest first; of each series the last so many are told.
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
    // Each is named as the latest of it is, among the latest of all.
    let latest: Vec<Cell> = series.iter().filter_map(|samples| Some(samples.last()?.cell.clone())).collect();
    let names = naming(&latest);
    let past = |(samples, latest_cell): (&Vec<&Sample>, &Cell)| Past {
        name: names(latest_cell),
        preset: latest_cell.preset.clone(),
        program: latest_cell.program.clone(),
        phase: latest_cell.phase.clone(),
        target: samples.last().map_or_else(String::new, |sample| sample.place.clone()),
        simulated: samples.iter().all(|sample| is_simulated(&sample.cell)),
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

/// A time, with the one before, and the last one before that was measured.
fn time(sample: &Sample, (before, measured): (Option<&Sample>, Option<&Sample>), margin: f64) -> Time {
    let Sample { run, info, cell, .. } = sample;
    // 2
    let found = measured.and_then(|then| found(&then.cell, cell, then.info.seed == info.seed));
    let judged = judge_found(&[found], margin).pop().flatten();
    Time {
        run: run.clone(),
        started_unix_s: info.started_unix_s,
        interrupted: info.interrupted,
        rate: cell.rate.clone(),
        reason: cell.reason.clone(),
        cpu: cell.cpu_percent.map(|cpu| cpu.process),
        marks: cell.marks.iter().map(|mark| mark.code).collect(),
        step: judged.map(|judged| Step {
            ratio: judged.ratio,
            low: judged.low,
            high: judged.high,
            confidence: judged.confidence,
            finding: finding(judged.verdict),
        }),
        // 3
        environment: measured.or(before).map_or_else(Vec::new, |then| around(then, sample)),
    }
}

fn around(then: &Sample, now: &Sample) -> Vec<Change> {
    let is_real = [then, now].iter().any(|sample| !is_simulated(&sample.cell));
    let mut changes = if is_real { environment::machine(&then.info, &now.info) } else { Vec::new() };
    // Where several were busy at once, none of them is that target.
    let [one, other] =
        [then, now].map(|sample| sample.info.targets.iter().find(|info| info.name == sample.cell.target));
    if let (Some(one), Some(other)) = (one, other) {
        changes.extend(environment::target(one, other));
    }
    if !is_real {
        changes.extend(environment::seed(&then.info, &now.info));
    }
    changes.extend(environment::sizes(&[(String::new(), &then.cell, &now.cell)]));
    changes.into_iter().map(|change| Change { of: None, ..change }).collect()
}
