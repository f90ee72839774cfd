//! The raw data behind all figures: the rounds as a table, and the documents for other programs.

use maud::{Markup, PreEscaped, html};
use stats::digits::{plain, significant};
use stats::figures::summary::rate_of;
use stats::{Cell, Document, Rate, Round};
use units::whole;

use super::parts::{rows, wide};
use super::{Detail, Other, Run};
use crate::cell_names::CellNames;
use crate::csv::number;
use crate::rate_format::in_unit_of;
use crate::shell;
use crate::table::{Column, Field, Line, texts};

/// Returns the figures of each cell that no other table has, then the rate of each of its rounds.
pub fn rounds(run: &Run, has_rates: bool) -> Markup {
    let document = run.document;
    if document.cells.len() > MOST_RAW {
        return html! {
            p class="why" {
                "To keep the page small, the raw figures of "
                (whole(document.cells.len() as u64)) " results are left out. "
                code { "diskperf show " (shell::word(run.name)) " --format csv" } " prints them."
            }
        };
    }
    let most = document.cells.iter().map(|cell| cell.rounds.len()).max().unwrap_or(0);
    let numbers = (1..=most).map(|round| Column::figures(round.to_string()));
    let rates = [Column::words("unit")].into_iter().chain(numbers).collect();
    let rates = table(document, rates, |cell| {
        let unit = cell.rate.as_ref().map_or("n.m.", |rate| &rate.unit).to_owned();
        [unit].into_iter().chain(cell.rounds.iter().map(|round| rate_in(cell, round))).collect()
    });
    let figures = figures();
    let headings = figures.iter().map(|(heading, _)| Column::figures(*heading)).collect();
    let cells = table(document, headings, |cell| texts(&figures, cell).collect());
    html! {
        details class="screen" {
            summary { @if has_rates { "Raw figures, and the rate of each round" } @else { "Raw figures" } }
            p class="why" {
                "Rates are in bytes, files or operations per second, times in nanoseconds. Bytes are those of all \
                 kept rounds. An empty field means n.m."
                @if has_rates { " Rounds in parentheses were discarded." }
            }
            (wide("Raw figures", cells))
            @if has_rates { (wide("The rate of each round", rates)) }
        }
    }
}

/// The most results whose raw cells are in the page. Each has 17 figures. Browsers lay out a table of 17,000 figures
/// within a second, and the page is not much larger than with the figures alone. A choice.
const MOST_RAW: usize = 1000;

/// Returns a table with a row for each cell: its name, its target if there are several, and these columns.
fn table(document: &Document, columns: Vec<Column>, texts: impl Fn(&Cell) -> Vec<String>) -> Markup {
    let names = CellNames::from_cells(&document.cells);
    let has_targets = document.run.targets.len() > 1;
    let leading = [Column::words("")].into_iter().chain(has_targets.then(|| Column::words("target")));
    let columns: Vec<Column> = leading.chain(columns).collect();
    let line = |cell: &Cell| {
        let leading = [names.name(cell)].into_iter().chain(has_targets.then(|| cell.target.clone()));
        Line::Row(leading.chain(texts(cell)).collect())
    };
    let lines: Vec<Line> = document.cells.iter().map(line).collect();
    rows(Some("raw"), &columns.iter().collect::<Vec<_>>(), &lines)
}

/// Returns the rate of a round in the unit of the cell's rate, in parentheses if the round was discarded.
fn rate_in(cell: &Cell, round: &Round) -> String {
    let of_unit = |rate: &Rate| Some(in_unit_of(rate, rate_of(cell, round, rate.base)?));
    let value = cell.rate.as_ref().and_then(of_unit).map_or_else(String::new, |value| significant(value, 4));
    if round.discarded { format!("({value})") } else { value }
}

/// Returns the columns of the table of raw cells; a text is empty if it is not measured.
fn figures() -> [Field<Cell>; 17] {
    [
        ("per second", |cell| figure(cell.rate.as_ref().map(|rate| rate.per_second))),
        ("low", |cell| figure(cell.rate.as_ref().and_then(|rate| rate.low))),
        ("high", |cell| figure(cell.rate.as_ref().and_then(|rate| rate.high))),
        ("rounds", |cell| cell.kept().count().to_string()),
        ("CPU %", |cell| figure(cell.cpu_percent.map(|cpu| cpu.process))),
        ("kernel %", |cell| figure(cell.cpu_percent.and_then(|cpu| cpu.kernel_workers))),
        ("machine %", |cell| figure(cell.cpu_percent.and_then(|cpu| cpu.machine))),
        ("p50", |cell| number(cell.latency_ns.map(|latency| latency.p50))),
        ("p90", |cell| number(cell.latency_ns.and_then(|latency| latency.p90))),
        ("p99", |cell| number(cell.latency_ns.and_then(|latency| latency.p99))),
        ("p99.9", |cell| number(cell.latency_ns.and_then(|latency| latency.p999))),
        ("max", |cell| number(cell.latency_ns.map(|latency| latency.max))),
        ("bytes", |cell| number(cell.io.and_then(|io| io.program_bytes))),
        ("read", |cell| number(cell.io.map(|io| io.device_read))),
        ("written", |cell| number(cell.io.map(|io| io.device_written))),
        ("flushes", |cell| number(cell.io.map(|io| io.flushes))),
        ("effect", |cell| cell.effect.clone().unwrap_or_default()),
    ]
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| plain(value, 6, 6))
}

/// Returns every document as JSON, for programs that extract it, with a button that saves it.
pub fn documents(runs: &[Run], detail: Detail) -> Markup {
    html! {
        @for (place, run) in runs.iter().enumerate() {
            @let id = if place == 0 { "document".to_owned() } else { format!("document-{}", place + 1) };
            @let file = file_name(run.name);
            @let has_it = detail != Detail::Nothing;
            p class="document" data-for=[has_it.then_some(&id)]
                data-name={ "diskperf-" (file) (detail.suffix()) ".json" } {
                @if has_it { "This page contains the JSON document of " (run.name) ". " }
                @if detail != Detail::Whole {
                    (detail.remark()) code { "diskperf show " (shell::word(run.name)) " --format json" }
                    " prints the complete document"
                    @if has_it {
                        "; the document here is saved as " code { "diskperf-" (file) (detail.suffix()) ".json" }
                    }
                    "."
                }
            }
            @if has_it {
                script type="application/json" id=(id) { (PreEscaped((run.json)(detail).replace('<', "\\u003c"))) }
            }
        }
    }
}

/// Returns the documents that are not runs, if there is room for them.
pub fn others(others: &[Other], runs: usize, detail: Detail) -> Markup {
    html! {
        @for (place, other) in others.iter().enumerate().filter(|_| detail == Detail::Whole) {
            @let id = if runs + place == 0 { "document".to_owned() } else { format!("document-{}", runs + place + 1) };
            @let file = file_name(other.name);
            p class="document" data-for=(id) data-name={ "diskperf-" (file) ".json" } {
                "This page contains the JSON document of " (other.name) ". "
            }
            script type="application/json" id=(id) { (PreEscaped(other.json.replace('<', "\\u003c"))) }
        }
    }
}

/// Returns the name of a result file, without its folders and its extension.
fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name).trim_end_matches(".json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_saved_under_the_name_of_its_file_only() {
        for name in ["base.json", "results/base.json", "/tmp/results/base.json", "base"] {
            assert_eq!(file_name(name), "base", "{name}");
        }
    }
}
