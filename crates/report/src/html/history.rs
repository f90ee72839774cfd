//! Tests over all stored runs: the runs that differ from the previous run, one chart, and a table for each test.

use std::collections::BTreeMap;

use maud::{Markup, html};
use stats::compare::history::{History, Past, Time};
use units::DateTime;

use super::parts::{Place, figure, table};
use crate::chart;
use crate::compare::history::{below, heading, page_grid, step, tests};
use crate::compare::verdict::figure as ratio;

/// The most tests that get a line above the chart.
const MOST_LINES: usize = 6;

/// The title of the section: `read_8192 of quick on /data: 5 runs`, `3 tests over 12 runs`
pub fn title(history: &History) -> String {
    let runs = began(history).len();
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    match &history.series[..] {
        [past] => format!("{}: {runs}", heading(past)),
        many => format!("{} tests over {runs}", many.len()),
    }
}

/// Returns the whole section of a history.
pub fn section(history: &History, title: &str, place: Place, has_tables: bool) -> Markup {
    let names = tests(history);
    html! {
        section id={ "r" (place.number) } {
            (place.title(title))
            (lead(history, &names))
            (span(history))
            @let charts = chart::history(history);
            @if !charts.is_empty() {
                div class="charts" { @for chart in &charts { (figure(chart)) } }
            }
            @if has_tables {
                div id=(place.id("figures")) {
                    @for past in &history.series {
                        (place.heading(&heading(past)))
                        (table(&heading(past), &page_grid(past)))
                    }
                }
            } @else {
                p class="why" {
                    "To keep the page small, the tables of " (history.series.len()) " tests are left out. "
                    code { "diskperf history" } " prints them."
                }
            }
            (place.heading("Notes"))
            @for line in below(history) { p class="why" { (line) } }
        }
    }
}

/// Returns the start time of each run, in seconds since 1970.
fn began(history: &History) -> BTreeMap<&str, f64> {
    let times = history.series.iter().flat_map(|past| &past.runs);
    times.map(|time| (time.run.as_str(), time.started_unix_s)).collect()
}

/// Returns the dates of the first and the last run.
fn span(history: &History) -> Markup {
    let began = began(history);
    let (first, last) =
        began.values().fold((f64::INFINITY, f64::NEG_INFINITY), |(first, last), at| (first.min(*at), last.max(*at)));
    html! {
        @if !began.is_empty() {
            p class="when" { (DateTime::from_unix(first)) " to " (DateTime::from_unix(last)) " UTC" }
        }
    }
}

/// Returns the latest step of each test, and the last run compared with the first.
fn lead(history: &History, names: &[String]) -> Markup {
    let stepped: Vec<(&String, &Past)> =
        names.iter().zip(&history.series).filter(|(_, past)| past.runs.iter().any(Time::is_step)).collect();
    let still = history.series.len() - stepped.len();
    html! {
        @if stepped.is_empty() {
            p class="lead" { "No run is proven faster or slower than the run before it." }
        } @else {
            @for (name, past) in stepped.iter().take(MOST_LINES) {
                p class="lead" { b { (name) } " " (changes(past)) }
            }
            @if stepped.len() > MOST_LINES {
                p { (stepped.len() - MOST_LINES) " more tests changed." }
            }
            @if still > 0 {
                p { "No change is proven in " (still) @if still == 1 { " other test." } @else { " other tests." } }
            }
        }
    }
}

/// The steps of a test in words: `is slower 0.80x (0.78-0.82) since k3pv-261121; the last run is 0.81x the first.`
fn changes(past: &Past) -> String {
    let latest = past.runs.iter().rev().find(|time| time.is_step());
    let said = latest.and_then(|time| Some(format!("is {} since {}", step(&time.step?), time.run))).unwrap_or_default();
    let steps = past.runs.iter().filter(|time| time.is_step()).count();
    let steps = if steps > 1 {
        format!(", after {} earlier changes", steps - 1).replace(" 1 earlier changes", " 1 earlier change")
    } else {
        String::new()
    };
    let mut rates = past.runs.iter().filter_map(|time| time.rate.as_ref()).map(|rate| rate.per_second);
    let ends = rates.next().zip(rates.next_back()).filter(|(first, _)| *first > 0.0);
    let overall = ends.map_or_else(String::new, |(first, last)| {
        format!(" The last run is {}x as fast as the first.", ratio(last / first))
    });
    format!("{said}{steps}.{overall}")
}
