//! The comparison of two runs, one measured after the other: their common cells, the differences in their environments,
//! and the rates of the second run relative to the first.
//!
//! Policy:
//!   1. If each run has one target, both are the same target, whatever their names. Otherwise targets with equal names
//!      are the same.
//!   2. Cells of one preset, program and phase are the same cell if all their settings are equal. Next, cells without a
//!      partner are matched if they differ only in settings of the target; of several equal cells, the first is matched
//!      with the first. At last, cells may differ in amounts too, if each run has only one such cell. The differences
//!      are reported.
//!   3. Rates are compared in the base of the first run's rate, whatever unit each run printed. Both are geometric
//!      means of their rounds, so that they have the ratio that is printed next to them.
//!   4. Rounds of different runs are not paired: the comparison is one of separate rounds (`ratio_test`), and all are
//!      corrected together. Simulated rounds differ too, by the rotational position of the platters and by the seed.
//!      The rates are exact only if the rounds of each run are equal and both runs have the same seed.
//!   5. Changes on the machine between the runs affect every ratio, and no statistic removes them: the whole comparison
//!      has the mark `order`. If a setting that affects every rate changed, it has the mark `env`, too. A simulated
//!      machine changes only with its settings: it gets no `order` mark.
//!   6. A result that is not the one its label names (`Cell::undeciding`) decides nothing in either run. Nor does a
//!      cell that is unverified in one run only.
//!   7. A rate that changed its level is compared by the rounds of its last level; the others are discarded. If these
//!      are too few, it is a mean of several levels, and decides nothing. Rounds are not forecast across a change.

mod fail_conditions;
mod latency_conditions;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::Serialize;
use workload::{ParameterValue, RateBase};

use crate::compare::environment_diff::{self, Change, is_of_ground};
use crate::compare::reason::Reason;
use crate::compare::target_comparison::why_of;
use crate::figures::rate::beside_ratio;
use crate::figures::summary::rate_of;
use crate::inference::ratio_test::{Judged, LEAST_APART, LogRatio, Series, judge_estimates};
use crate::inference::verdict::{Estimate, Verdict};
use crate::judge::marks::{Mark, MarkCode, codes};
use crate::name::Name;
use crate::results::cell::{Cell, Provenance, Rate};
use crate::results::document::{Document, RunInfo, TargetInfo};

pub use fail_conditions::{Guarded, Outcome, Unguarded};
pub use latency_conditions::{CellPair, LatencyOutcome, Percentile, cell_pairs, latency_outcomes};

/// The name and version of the format.
pub const COMPARED_SCHEMA: &str = "diskperf-compare/1";

/// The names of the two runs in texts.
pub const NAMES: [&str; 2] = ["base", "new"];

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// `diskperf-compare/1`.
    pub schema: String,
    /// The first run.
    pub then: Side,
    /// The second run.
    pub now: Side,
    /// Largest difference of rates that counts as the same, as a share.
    pub margin: f64,
    /// Differences between the environments of the two runs.
    pub environment: Vec<Change>,
    /// Cells of both runs, in the order of the second run. Their intervals are corrected for all of them (Holm): at
    /// most 5 of 100 comparisons report a cell as faster or slower that is not.
    pub cells: Vec<ComparedCell>,
    /// Cells of the first run only.
    pub only_then: Vec<Lone>,
    /// Cells of the second run only.
    pub only_now: Vec<Lone>,
    /// Warnings about the comparison as a whole.
    pub marks: Vec<Mark>,
    /// The conditions of `--fail-if`, and their results.
    pub fail_if: Vec<Guarded>,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Id of the run, or its result file.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub name: String,
    /// Start of the run, in seconds since 1970.
    pub started_unix_s: f64,
    /// The command line, as a list of words.
    #[serde(with = "crate::name")]
    #[schemars(with = "Vec<Name>")]
    pub command: Vec<String>,
    /// The preset.
    pub preset: Option<String>,
    /// The targets of the run.
    #[serde(with = "crate::name")]
    #[schemars(with = "Vec<Name>")]
    pub targets: Vec<String>,
    /// True if the run was stopped before its end, by Ctrl-C or another signal.
    pub interrupted: bool,
    /// The main kind of background load, as in `CPU steal`; missing if there was none, or if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<String>,
}

/// A cell that both runs have.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparedCell {
    /// Program and phase, with the settings that distinguish it from others of that name.
    pub name: String,
    /// The preset of the program.
    pub preset: String,
    /// The program.
    pub program: String,
    /// The phase.
    pub phase: String,
    /// The target, by its name in the second run.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// Rate in the first run, as the geometric mean of its rounds; null if it is `n.m.`
    pub then: Option<Rate>,
    /// Rate in the second run, as the geometric mean of its rounds, in the unit of the first.
    pub now: Option<Rate>,
    /// Reason why the cell was not measured in the first run.
    pub reason_then: Option<String>,
    /// Reason why the cell was not measured in the second run.
    pub reason_now: Option<String>,
    /// CPU load by the program in the first run, in percent of one processor.
    pub cpu_then: Option<f64>,
    /// CPU load by the program in the second run, in percent of one processor.
    pub cpu_now: Option<f64>,
    /// Rate of the second run divided by that of the first, each as the geometric mean of its rounds.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval; null if a run has fewer than two rounds.
    pub low: Option<f64>,
    /// Upper end of the confidence interval.
    pub high: Option<f64>,
    /// Confidence level of this interval by itself; 1 if the rounds of each run are equal, as on a simulated machine.
    pub confidence: Option<f64>,
    /// The finding.
    pub finding: Verdict,
    /// True if the whole interval is outside the margin.
    pub matters: bool,
    /// Number of rounds that the run with fewer rounds lacks before anything can be decided.
    pub missing_rounds: u32,
    /// Estimated number of rounds of each run that would decide it, from the spread of these rounds; null if it is
    /// decided, if more rounds cannot decide it, or if the number is too large to report.
    pub needed_rounds: Option<u32>,
    /// Explanation by the bottlenecks and devices of both runs, or the reason why nothing can be decided; null if there
    /// is none.
    pub why: Option<String>,
    /// Warnings about the two results.
    pub marks: Vec<MarkCode>,
    /// Reason why no condition of `--fail-if` could fail for this cell; null if one could.
    #[schemars(with = "Option<String>")]
    pub unguarded: Option<Reason>,
}

impl ComparedCell {
    /// Returns the ratio of the second rate to the first; `None` if one of both is not measured.
    pub fn estimate(&self) -> Option<Estimate> {
        Some(Estimate { ratio: self.ratio, low: self.low, high: self.high, confidence: self.confidence? })
    }
}

/// A cell that only one run has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lone {
    /// Program and phase, with the settings that distinguish it from others of that name.
    pub name: String,
    /// The program.
    pub program: String,
    /// The phase.
    pub phase: String,
    /// The target.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// True if the cell was measured.
    pub measured: bool,
}

/// Returns a function that names each cell of a list.
pub type Naming = for<'a> fn(&'a [Cell]) -> Box<dyn Fn(&Cell) -> String + 'a>;

/// Compares two runs. Each is given with its name.
pub fn compare(then: (&str, &Document), now: (&str, &Document), margin: f64, naming: Naming) -> Compared {
    let (first, second) = (then.1, now.1);
    let Paired { pairs, only_then, only_now } = paired(&first.cells, &second.cells, has_one_target(first, second));
    let is_one_seed = first.run.seed == second.run.seed;
    let estimates: Vec<Option<Found>> = pairs.iter().map(|(then, now)| found(then, now, is_one_seed)).collect();
    let judged = judge_found(&estimates, margin);
    let [names_then, names_now] = [first, second].map(|document| naming(&document.cells));
    let cells = pairs.iter().zip(estimates.iter().zip(judged)).map(|((then, now), (found, judged))| {
        let unguarded = fail_conditions::obstacle(then, now, found.as_ref(), second.run.interrupted);
        let cell = compared_cell((then, now), names_now(now), found.as_ref().zip(judged), margin);
        ComparedCell { unguarded, ..cell }
    });
    let cells: Vec<ComparedCell> = cells.collect();
    let lone = |cells: &[&Cell], names: &dyn Fn(&Cell) -> String| -> Vec<Lone> {
        cells.iter().map(|cell| lone(cell, names(cell))).collect()
    };
    let named: Vec<(String, &Cell, &Cell)> = pairs.iter().map(|(then, now)| (names_now(now), *then, *now)).collect();
    // 5
    let is_real = pairs.iter().any(|(then, now)| !(then.is_simulated() && now.is_simulated()));
    let environment = around(&first.run, &second.run, &named);
    let changed = environment_diff::suspicion(&environment);
    let has_order = is_real && !is_same_run(&first.run, &second.run);
    Compared {
        schema: COMPARED_SCHEMA.to_owned(),
        then: side(then.0, &first.run),
        now: side(now.0, &second.run),
        margin,
        environment,
        cells,
        only_then: lone(&only_then, &names_then),
        only_now: lone(&only_now, &names_now),
        marks: has_order.then(|| order(&first.run, &second.run)).into_iter().chain(changed).collect(),
        fail_if: Vec::new(),
    }
}

/// True if both are the same run, so that a comparison is meaningless.
pub fn is_same_run(one: &RunInfo, other: &RunInfo) -> bool {
    let stored = one.store.as_ref().zip(other.store.as_ref());
    let is_one_id = stored.is_some_and(|(one, other)| one.run == other.run);
    is_one_id || (one.started_unix_s == other.started_unix_s && one.host == other.host)
}

fn side(name: &str, run: &RunInfo) -> Side {
    Side {
        name: name.to_owned(),
        started_unix_s: run.started_unix_s,
        command: run.command.clone(),
        preset: run.preset.clone(),
        targets: run.targets.iter().map(|target| target.name.clone()).collect(),
        interrupted: run.interrupted,
        noise: run.noise.as_ref().and_then(|noise| noise.kind.clone()),
    }
}

fn lone(cell: &Cell, name: String) -> Lone {
    let Cell { program, phase, target, measured, .. } = cell;
    Lone { name, program: program.clone(), phase: phase.clone(), target: target.clone(), measured: *measured }
}

/// Returns the differences between the environments of two runs. Simulated cells do not depend on the host machine.
fn around(then: &RunInfo, now: &RunInfo, pairs: &[(String, &Cell, &Cell)]) -> Vec<Change> {
    let is_real = |(_, then, now): &(String, &Cell, &Cell)| [then, now].iter().any(|cell| !cell.is_simulated());
    let mut changes = if pairs.iter().any(is_real) { environment_diff::machine(then, now) } else { Vec::new() };
    changes.extend(environment_diff::run(then, now));
    if pairs.iter().any(|(_, then, now)| then.is_simulated() || now.is_simulated()) {
        changes.extend(environment_diff::seed(then, now));
    }
    for (one, other) in same_targets(then, now) {
        changes.extend(environment_diff::target(one, other));
    }
    changes.extend(environment_diff::sizes(pairs));
    changes
}

fn has_one_target(then: &Document, now: &Document) -> bool {
    [then, now].iter().all(|document| document.run.targets.len() == 1)
}

fn same_targets<'a>(then: &'a RunInfo, now: &'a RunInfo) -> Vec<(&'a TargetInfo, &'a TargetInfo)> {
    // 1
    if let ([one], [other]) = (&then.targets[..], &now.targets[..]) {
        return vec![(one, other)];
    }
    let of_name = |other: &TargetInfo| then.targets.iter().find(|one| one.name == other.name);
    now.targets.iter().filter_map(|other| Some((of_name(other)?, other))).collect()
}

/// Settings that are amounts of work, not kinds of work.
const AMOUNTS: [&str; 8] =
    ["file_bytes", "device_bytes", "files", "directories", "commits", "reads", "within_ms", "seed"];

/// The identity of a cell in any run: its target if that counts, its names, whether targets were busy together, and its
/// settings without amounts.
type Identity<'a> = (&'a str, [&'a str; 3], bool, Vec<(&'a str, &'a ParameterValue)>);

/// The settings that must be equal for two cells to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// All settings.
    InAll,
    /// The settings of the workload, amounts included.
    InAmount,
    /// The settings of the workload without amounts.
    InKind,
}

/// Returns the identity of the cell by these settings. `place` distinguishes equal cells on different targets.
pub fn identity<'a>(cell: &'a Cell, place: &'a str, likeness: Likeness) -> Identity<'a> {
    // Another machine may need another engine.
    let is_of_machine = |key: &str| matches!(key, "engine" | "seed") || is_of_ground(key);
    let counts = |key: &str| match likeness {
        Likeness::InAll => true,
        Likeness::InAmount => !is_of_machine(key),
        Likeness::InKind => !is_of_machine(key) && !AMOUNTS.contains(&key),
    };
    let settings = cell.parameters.iter().filter(|(key, _)| counts(key)).map(|(key, value)| (key.as_str(), value));
    (place, [&cell.preset, &cell.program, &cell.phase], cell.together, settings.collect())
}

/// The common cells of two runs, in the order of the second run, and the cells of only one run.
struct Paired<'a> {
    pairs: Vec<(&'a Cell, &'a Cell)>,
    only_then: Vec<&'a Cell>,
    only_now: Vec<&'a Cell>,
}

fn paired<'a>(then: &'a [Cell], now: &'a [Cell], has_one_target: bool) -> Paired<'a> {
    let is_ours = |cell: &&Cell| cell.provenance != Provenance::Published;
    let (then, now): (Vec<&Cell>, Vec<&Cell>) =
        (then.iter().filter(is_ours).collect(), now.iter().filter(is_ours).collect());
    let place = |cell: &'a Cell| if has_one_target { "" } else { cell.target.as_str() };
    let mut partners: Vec<Option<usize>> = vec![None; now.len()];
    let mut is_taken = vec![false; then.len()];
    // 2
    for likeness in [Likeness::InAll, Likeness::InAmount, Likeness::InKind] {
        let mut left: BTreeMap<Identity, VecDeque<usize>> = BTreeMap::new();
        for (index, cell) in then.iter().enumerate().filter(|(index, _)| !is_taken[*index]) {
            left.entry(identity(cell, place(cell), likeness)).or_default().push_back(index);
        }
        if likeness == Likeness::InKind {
            let mut alike: BTreeMap<Identity, usize> = BTreeMap::new();
            for (cell, _) in now.iter().zip(&partners).filter(|(_, partner)| partner.is_none()) {
                *alike.entry(identity(cell, place(cell), likeness)).or_default() += 1;
            }
            left.retain(|identity, then| then.len() == 1 && alike.get(identity) == Some(&1));
        }
        for (cell, partner) in now.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            *partner = left.get_mut(&identity(cell, place(cell), likeness)).and_then(VecDeque::pop_front);
        }
        partners.iter().flatten().for_each(|&index| is_taken[index] = true);
    }
    let pairs = now.iter().zip(&partners).filter_map(|(cell, partner)| Some((then[(*partner)?], *cell)));
    Paired {
        pairs: pairs.collect(),
        only_then: then.iter().zip(&is_taken).filter(|(_, is_taken)| !**is_taken).map(|(cell, _)| *cell).collect(),
        only_now: now.iter().zip(&partners).filter(|(_, partner)| partner.is_none()).map(|(cell, _)| *cell).collect(),
    }
}

/// The result of two cells' rounds.
pub struct Found {
    /// The ratio of the second rate to the first.
    pub estimate: LogRatio,
    /// True if chance has no effect on the rounds.
    pub is_exact: bool,
    /// The reason why the ratio decides nothing, whatever the rounds.
    pub void: Option<Reason>,
    series: [Series; 2],
}

/// Estimates the ratio of two cells' rates from their rounds. Returns `None` if a cell has no rate.
pub fn found(then: &Cell, now: &Cell, is_one_seed: bool) -> Option<Found> {
    let base = then.rate.as_ref()?.base;
    let series = [then, now].map(|cell| rates(cell, base).collect::<Series>().with_excess(cell.rest_excess(|_| true)));
    now.rate.as_ref()?;
    // 4
    let are_simulated = then.is_simulated() && now.is_simulated();
    let is_exact = is_one_seed && are_simulated && series.iter().all(Series::is_constant);
    let estimate = series[0].against(&series[1])?;
    let estimate = if is_exact { estimate.without_chance() } else { estimate };
    Some(Found { estimate, is_exact, void: void(then, now), series })
}

/// Returns the reason why two results decide nothing.
fn void(then: &Cell, now: &Cell) -> Option<Reason> {
    // 6, 7
    let warned = |(run, cell): (_, &Cell)| Some(Reason::WarnedIn(run, cell.undeciding().next()?));
    NAMES.into_iter().zip([then, now]).find_map(warned).or_else(|| unverified_once(then, now))
}

/// Returns the reason if the cell is unverified in one run only.
fn unverified_once(then: &Cell, now: &Cell) -> Option<Reason> {
    match [then, now].map(|cell| cell.state.unverified.clone()) {
        [Some(reason), None] => Some(Reason::UnverifiedIn(NAMES[0], reason)),
        [None, Some(reason)] => Some(Reason::UnverifiedIn(NAMES[1], reason)),
        [Some(_), Some(_)] | [None, None] => None,
    }
}

/// Judges all estimates. All of them that chance affects are corrected together.
pub fn judge_found(all: &[Option<Found>], margin: f64) -> Vec<Option<Judged>> {
    // 4
    let of_chance = all.iter().flatten().filter(|found| !found.is_exact).map(|found| found.estimate);
    let mut judged = judge_estimates(&of_chance.collect::<Vec<LogRatio>>(), margin).into_iter();
    let mut one = |found: &Found| {
        let judged = if found.is_exact { found.estimate.judged(1.0, margin) } else { judged.next()? };
        Some(if found.void.is_some() { judged.undecided() } else { judged })
    };
    all.iter().map(|found| found.as_ref().and_then(&mut one)).collect()
}

fn rates(cell: &Cell, base: RateBase) -> impl Iterator<Item = f64> {
    cell.kept().filter_map(move |round| rate_of(cell, round, base))
}

fn compared_cell(
    (then, now): (&Cell, &Cell),
    name: String,
    found: Option<(&Found, Judged)>,
    margin: f64,
) -> ComparedCell {
    let finding = found.as_ref().map_or(Verdict::NotMeasured, |(_, judged)| judged.verdict);
    // More rounds do not make a result trusted.
    let is_open = finding == Verdict::Undecided && found.as_ref().is_some_and(|(found, _)| found.void.is_none());
    // Nor do they rule out burst credits.
    let is_masked = found.as_ref().is_some_and(|(_, judged)| judged.is_masked);
    let needed = |(found, judged): &(&Found, Judged)| {
        found.series[0].needed(&found.series[1], judged.estimate.confidence, margin).map(|rounds| rounds as u32)
    };
    let fewest = |(found, _): &(&Found, Judged)| found.series.iter().map(Series::count).min();
    let has_step = [then, now].iter().any(|cell| !cell.regimes.is_empty());
    let missing = found.as_ref().filter(|_| is_open).and_then(fewest).map_or(0, |few| LEAST_APART.saturating_sub(few));
    let estimate = found.as_ref().map(|(_, judged)| judged.estimate);
    ComparedCell {
        name,
        preset: now.preset.clone(),
        program: now.program.clone(),
        phase: now.phase.clone(),
        target: now.target.clone(),
        // 3
        now: then.rate.as_ref().or(now.rate.as_ref()).and_then(|unit| beside_ratio(now, unit, |_| true)),
        then: then.rate.as_ref().and_then(|unit| beside_ratio(then, unit, |_| true)),
        reason_then: then.reason.clone(),
        reason_now: now.reason.clone(),
        cpu_then: then.cpu_percent.map(|cpu| cpu.process),
        cpu_now: now.cpu_percent.map(|cpu| cpu.process),
        ratio: estimate.and_then(|estimate| estimate.ratio),
        low: estimate.and_then(|estimate| estimate.low),
        high: estimate.and_then(|estimate| estimate.high),
        confidence: estimate.map(|estimate| estimate.confidence),
        finding,
        matters: found.as_ref().is_some_and(|(_, judged)| judged.matters),
        missing_rounds: missing as u32,
        needed_rounds: found.as_ref().filter(|_| is_open && !has_step && !is_masked).and_then(needed),
        why: found.as_ref().and_then(|(found, judged)| why(found, judged, then, now)),
        marks: codes(then.marks.iter().chain(&now.marks)),
        unguarded: None,
    }
}

/// Returns the explanation of a finding, or the reason why nothing can be decided.
fn why(found: &Found, judged: &Judged, then: &Cell, now: &Cell) -> Option<String> {
    if let Some(reason) = &found.void {
        return Some(reason.to_string());
    }
    let is_blind = then.is_unverified() && now.is_unverified();
    let because = if judged.verdict.is_difference() {
        why_of(NAMES, then, now)
    } else {
        let idle = Reason::idle(found.series.iter().map(Series::idle).sum());
        idle.or(judged.is_masked.then_some(Reason::Credits)).map(|reason| reason.to_string())
    };
    let parts: Vec<String> = is_blind.then(|| "unverified in both".to_owned()).into_iter().chain(because).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the mark of every comparison of runs that were not interleaved.
fn order(then: &RunInfo, now: &RunInfo) -> Mark {
    let apart = match (now.started_unix_s - then.started_unix_s).abs() {
        few if few < 120.0 => format!("{few:.0} s"),
        few if few < 7200.0 => format!("{:.0} min", few / 60.0),
        few if few < 172_800.0 => format!("{:.0} h", few / 3600.0),
        many => format!("{:.0} days", many / 86_400.0),
    };
    let text =
        format!("the runs were not interleaved and began {apart} apart: other changes between them affect every ratio");
    Mark { code: MarkCode::Order, value: None, text }
}
