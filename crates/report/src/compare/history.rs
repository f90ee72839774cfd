//! One test in all stored runs: a line for each run, the oldest first.

use std::collections::BTreeSet;

use stats::compare::compared::Finding;
use stats::compare::environment::Change;
use stats::compare::history::{History, Past, Step, Time};
use stats::{MarkCode, Rate};
use units::Civil;

use crate::compare::compared::finding;
use crate::compare::verdict::{figure, percent};
use crate::csv::field;
use crate::escape::escaped;
use crate::grid::{Column, Grid};
use crate::numbers;
use crate::page::Page;
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

/// The note at a run that was interrupted.
const INTERRUPTED: &str = "interrupted";

/// The columns of the CSV output.
const COLUMNS: [&str; 22] = [
    "preset",
    "program",
    "phase",
    "target",
    "name",
    "run",
    "started_unix_s",
    "per_second",
    "value",
    "unit",
    "low",
    "high",
    "rounds",
    "cpu_percent",
    "marks",
    "reason",
    "ratio",
    "ratio_low",
    "ratio_high",
    "finding",
    "changed",
    "interrupted",
];

/// Returns a row per run, in CSV (RFC 4180). A field is empty if it is `n.m.`, or if it compares with an earlier run
/// and there is none.
pub fn csv(history: &History) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    for past in &history.series {
        for time in &past.runs {
            let (rate, step) = (time.rate.as_ref(), time.step);
            let marks: Vec<&str> = time.marks.iter().map(|mark| mark.name()).collect();
            let fields = [
                field(&past.preset),
                field(&past.program),
                field(&past.phase),
                field(&past.target),
                field(&past.name),
                field(&time.run),
                time.started_unix_s.to_string(),
                number(rate.map(|rate| rate.per_second)),
                number(rate.map(|rate| rate.value)),
                field(rate.map_or("", |rate| &rate.unit)),
                number(rate.and_then(|rate| rate.low)),
                number(rate.and_then(|rate| rate.high)),
                rate.map_or_else(String::new, |rate| rate.rounds.to_string()),
                number(time.cpu),
                marks.join(" "),
                field(time.reason.as_deref().unwrap_or_default()),
                number(step.and_then(|step| step.ratio)),
                number(step.and_then(|step| step.low)),
                number(step.and_then(|step| step.high)),
                step.map_or("", |step| finding(step.finding)).to_owned(),
                field(&changes(time)),
                time.interrupted.to_string(),
            ];
            text += &(fields.join(",") + "\n");
        }
    }
    text
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

/// Returns the table with the columns at these indexes.
fn grid_of<const N: usize>(past: &Past, places: [usize; N]) -> Grid {
    let columns = [
        Column::words("run"),
        Column::words("began (UTC)").left_out(0),
        Column::figures("rate"),
        Column::figures("±95 %").left_out(1),
        Column::figures("CPU").left_out(3),
        Column::words("trend").left_out(4),
        Column::words("since the run before"),
        Column::words("warnings").left_out(2),
        Column::words("changed"),
    ];
    let mut grid = Grid::new(places.map(|place| columns[place].clone()).into());
    let highest = past.runs.iter().filter_map(per_second).fold(0.0, f64::max);
    for time in &past.runs {
        let row = row(time, highest);
        grid.row(places.map(|place| row[place].clone()));
    }
    grid
}

fn row(time: &Time, highest: f64) -> [String; 9] {
    let bar = per_second(time).map(|rate| "#".repeat((BAR * rate / highest).round() as usize));
    let marks: Vec<&str> =
        time.marks.iter().filter(|mark| **mark != MarkCode::Nested).map(|mark| mark.name()).collect();
    let star = if marks.is_empty() { "" } else { "*" };
    [
        time.run.clone(),
        Civil::from_unix(time.started_unix_s).to_string(),
        time.rate.as_ref().map_or_else(|| "n.m.".to_owned(), |rate| numbers::figure(rate) + star),
        time.rate.as_ref().and_then(half).unwrap_or_default(),
        time.cpu.map_or_else(String::new, |cpu| format!("{cpu:.0}%")),
        bar.unwrap_or_default(),
        time.step.as_ref().map_or_else(String::new, step),
        marks.join(" "),
        match (time.interrupted, changes(time)) {
            (false, changes) => changes,
            (true, changes) if changes.is_empty() => INTERRUPTED.to_owned(),
            (true, changes) => format!("{INTERRUPTED}; {changes}"),
        },
    ]
}

fn per_second(time: &Time) -> Option<f64> {
    time.rate.as_ref().map(|rate| rate.per_second).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Returns half the width of the interval, in percent of the rate.
fn half(rate: &Rate) -> Option<String> {
    let half = 100.0 * (rate.high? - rate.per_second) / rate.per_second;
    // A rate of zero has no relative interval.
    if !half.is_finite() {
        return None;
    }
    Some(if half > 100.0 { ">100 %".to_owned() } else { format!("{half:.0} %") })
}

/// Returns the finding of a change: `faster 1.17x (1.12-1.23)`.
pub(crate) fn step(step: &Step) -> String {
    let interval = if step.confidence < 1.0 { step.low.zip(step.high) } else { None };
    let interval = interval.map_or_else(String::new, |(low, high)| format!(" ({}-{})", figure(low), figure(high)));
    match step.finding {
        Finding::Faster | Finding::Slower => {
            let ratio = step.ratio.map_or_else(|| "n.m.".to_owned(), figure);
            format!("{} {ratio}x{interval}", finding(step.finding))
        }
        Finding::Same => "same".to_owned(),
        Finding::Undecided => "undecided".to_owned(),
        Finding::NotMeasured => "n.m.".to_owned(),
    }
}

/// The changes before a run: `kernel Linux 6.17 -> Linux 6.18; mount options relatime -> noatime`.
fn changes(time: &Time) -> String {
    let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "n.m.".to_owned());
    let change = |change: &Change| format!("{} {} -> {}", change.what, or(&change.then), or(&change.now));
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
        let alone = "; each step is judged by itself, at 95 %";
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
