//! One test in all stored runs: a line for each run, the oldest first.

use std::collections::BTreeSet;

use stats::MarkCode;
use stats::compare::environment_diff::Change;
use stats::compare::history::{History, Past, Step, Time};
use units::DateTime;

use crate::compare::run_comparison::{or_none, rate, star};
use crate::compare::verdict::{change, percent};
use crate::csv::{self, field, number};
use crate::markdown_escape::escaped;
use crate::page::Page;
use crate::rate_format;
use crate::table::{Column, Field, Grid};
use crate::wrap::wrapped;

/// Width of the bar for the highest rate of a series, in characters.
const BAR: f64 = 20.0;

/// Returns the history as text.
pub fn table(history: &History, page: Page) -> String {
    let text = |past: &Past| wrapped(&format!("{}\n", heading(past)), page) + &grid(past).lines(page).join("\n") + "\n";
    let mut parts: Vec<String> = history.series.iter().map(text).collect();
    let below = below(history);
    if !below.is_empty() {
        parts.push(wrapped(&format!("{}\n", below.join("\n")), page));
    }
    parts.join("\n")
}

/// Returns the history in Markdown.
pub fn markdown(history: &History) -> String {
    let text = |past: &Past| format!("## {}\n\n{}\n", escaped(&heading(past)), grid(past).markdown());
    let below = below(history).into_iter().map(|line| format!("- {}\n", escaped(&line)));
    history.series.iter().map(text).chain(below).collect()
}

/// Returns a row per run, in CSV (RFC 4180). A field is empty if it is `n.m.`, or if it compares with an earlier run
/// and there is none.
pub fn csv(history: &History) -> String {
    let rows = history.series.iter().flat_map(|past| past.runs.iter().map(move |time| (time, past)));
    csv::table(
        rows,
        &[
            ("preset", |(_, past)| field(&past.preset)),
            ("program", |(_, past)| field(&past.program)),
            ("phase", |(_, past)| field(&past.phase)),
            ("target", |(_, past)| field(&past.target)),
            ("name", |(_, past)| field(&past.name)),
            ("run", |(time, _)| field(&time.run)),
            ("started_unix_s", |(time, _)| time.started_unix_s.to_string()),
            ("per_second", |(time, _)| number(time.rate.as_ref().map(|rate| rate.per_second))),
            ("value", |(time, _)| number(time.rate.as_ref().map(|rate| rate.value))),
            ("unit", |(time, _)| field(time.rate.as_ref().map_or("", |rate| &rate.unit))),
            ("low", |(time, _)| number(time.rate.as_ref().and_then(|rate| rate.low))),
            ("high", |(time, _)| number(time.rate.as_ref().and_then(|rate| rate.high))),
            ("rounds", |(time, _)| number(time.rate.as_ref().map(|rate| rate.rounds))),
            ("cpu_percent", |(time, _)| number(time.cpu)),
            ("marks", |(time, _)| csv::marks(time.marks.iter().copied())),
            ("reason", |(time, _)| field(time.reason.as_deref().unwrap_or_default())),
            ("ratio", |(time, _)| number(time.step.and_then(|step| step.ratio))),
            ("ratio_low", |(time, _)| number(time.step.and_then(|step| step.low))),
            ("ratio_high", |(time, _)| number(time.step.and_then(|step| step.high))),
            ("finding", |(time, _)| time.step.map_or("", |step| step.finding.name()).to_owned()),
            ("changed", |(time, _)| field(&changes(time))),
            ("interrupted", |(time, _)| time.interrupted.to_string()),
        ],
    )
}

/// Returns a name for each test of the history, built from the parts that differ: program, target, or both.
pub(crate) fn tests(history: &History) -> Vec<String> {
    let forms: [fn(&Past) -> String; 3] =
        [|past| past.name.clone(), |past| past.target.clone(), |past| format!("{} on {}", past.name, past.target)];
    let named = |form: &fn(&Past) -> String| history.series.iter().map(form).collect::<Vec<String>>();
    let is_told_apart = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let names = forms.iter().map(named).find(is_told_apart);
    names.unwrap_or_else(|| history.series.iter().map(heading).collect())
}

pub(crate) fn heading(past: &Past) -> String {
    format!("{} of {} on {}", past.name, past.preset, past.target)
}

/// Returns a row per run, with a bar for its rate.
fn grid(past: &Past) -> Grid {
    grid_of(past, [0, 1, 2, 3, 4, 5, 6, 7, 8])
}

/// Returns the same table for HTML pages. They have a chart instead of the bars; a phone shows only the first columns.
pub(crate) fn page_grid(past: &Past) -> Grid {
    grid_of(past, [0, 2, 3, 6, 7, 4, 1, 8])
}

/// Returns the table with the columns at these indexes. A row is a run, and the highest rate of the test.
fn grid_of<const N: usize>(past: &Past, places: [usize; N]) -> Grid {
    let columns: [Field<(&Time, f64), Column>; 9] = [
        (Column::words("run"), |(time, _)| time.run.clone()),
        (Column::words("began (UTC)").left_out(0), |(time, _)| DateTime::from_unix(time.started_unix_s).to_string()),
        (Column::figures("rate"), |(time, _)| figure_of(time)),
        (Column::figures("±95 %").left_out(1), |(time, _)| {
            time.rate.as_ref().and_then(rate_format::interval).unwrap_or_default()
        }),
        (Column::figures("CPU").left_out(3), |(time, _)| time.cpu.map_or_else(String::new, |cpu| format!("{cpu:.0}%"))),
        (Column::words("trend").left_out(4), |(time, highest)| bar(time, *highest)),
        (Column::words("since the run before"), |(time, _)| time.step.as_ref().map_or_else(String::new, step)),
        (Column::words("warnings").left_out(2), |(time, _)| csv::marks(warnings(time))),
        (Column::words("changed"), |(time, _)| noted(time)),
    ];
    let highest = past.runs.iter().filter_map(per_second).fold(0.0, f64::max);
    let rows = past.runs.iter().map(|time| (time, highest));
    Grid::filled(&places.map(|place| columns[place].clone()), rows)
}

/// The rate of a run, with a star if it is suspect.
pub(crate) fn figure_of(time: &Time) -> String {
    rate(time.rate.as_ref()) + if time.rate.is_some() { star(&time.marks) } else { "" }
}

/// A bar whose length is the rate, as a part of the highest one.
fn bar(time: &Time, highest: f64) -> String {
    per_second(time).map_or_else(String::new, |rate| "#".repeat((BAR * rate / highest).round() as usize))
}

/// The warnings that make a rate suspect.
fn warnings(time: &Time) -> impl Iterator<Item = MarkCode> {
    time.marks.iter().copied().filter(|mark| *mark != MarkCode::Nested)
}

/// The changes before a run, after a note if it was interrupted.
fn noted(time: &Time) -> String {
    let interrupted = time.interrupted.then(|| "interrupted".to_owned());
    let parts = interrupted.into_iter().chain(Some(changes(time)).filter(|changes| !changes.is_empty()));
    parts.collect::<Vec<String>>().join("; ")
}

fn per_second(time: &Time) -> Option<f64> {
    time.rate.as_ref().map(|rate| rate.per_second).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Returns the finding of a change: `faster 1.17x (1.12-1.23)`.
pub(crate) fn step(step: &Step) -> String {
    change(step.finding, step.estimate())
}

/// The changes before a run: `kernel Linux 6.17 -> Linux 6.18; mount options relatime -> noatime`.
fn changes(time: &Time) -> String {
    let change = |change: &Change| {
        format!("{} {} -> {}", change.what, or_none(change.then.as_ref()), or_none(change.now.as_ref()))
    };
    time.environment.iter().map(change).collect::<Vec<String>>().join("; ")
}

/// The legend, and the reasons why something was not measured.
pub(crate) fn below(history: &History) -> Vec<String> {
    let mut lines = Vec::new();
    let times = || history.series.iter().flat_map(|past| &past.runs);
    let mut steps = times().filter_map(|time| time.step);
    if let Some(first) = steps.next() {
        let is_by_chance = first.confidence < 1.0 || steps.any(|step| step.confidence < 1.0);
        // Simulated runs have no real machine that could have changed.
        let is_real = history.series.iter().any(|past| !past.simulated);
        let order = "; the runs were not interleaved: other changes between two runs affect their ratio \
                     (diskperf help order)";
        let alone = "; each step is tested separately, at 95 %";
        let said = [(is_by_chance, alone), (is_real, order)];
        let said = said.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words);
        lines.push(format!("same: within {}", percent(history.margin)) + &said.collect::<String>());
    }
    for time in times().filter(|time| time.rate.is_none()) {
        let reason = time.reason.as_deref().unwrap_or("no reason recorded");
        lines.push(format!("n.m. {reason} ({})", time.run));
    }
    lines
}
