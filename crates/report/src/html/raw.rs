//! The raw data behind all figures: the rounds as a table, and the documents for other programs.

use maud::{Markup, PreEscaped, html};
use stats::Cell;
use stats::digits::{plain, significant};
use stats::figures::summary::rate_of;
use units::whole;

use super::parts::wide;
use super::{Detail, Other, Run};
use crate::names::CellNames;
use crate::shell;

/// Returns the figures of each cell that no other table has, then the rate of each of its rounds.
pub fn rounds(run: &Run, has_rates: bool) -> Markup {
    let document = run.document;
    if document.cells.len() > MOST_RAW {
        return html! {
            p class="why" {
                "Left out, so that the page stays small: the raw cells of "
                (whole(document.cells.len() as u64)) " results. "
                code { "diskperf show " (shell::word(run.name)) " --format csv" } " prints them."
            }
        };
    }
    let names = CellNames::of(&document.cells);
    let several = document.run.targets.len() > 1;
    let most = document.cells.iter().map(|cell| cell.rounds.len()).max().unwrap_or(0);
    let cells = html! {
        table class="raw" {
            thead {
                tr {
                    th scope="col" { "program" }
                    @if several { th scope="col" { "target" } }
                    @for heading in HEADINGS { th scope="col" class="n" { (heading) } }
                }
            }
            tbody {
                @for cell in &document.cells {
                    tr {
                        th scope="row" { (names.name(cell)) }
                        @if several { td { (cell.target) } }
                        @for figure in figures(cell) { td class="n" { (figure) } }
                    }
                }
            }
        }
    };
    let rounds = html! {
        table class="raw" {
            thead {
                tr {
                    th scope="col" { "program" }
                    @if several { th scope="col" { "target" } }
                    th scope="col" { "a second" }
                    @for round in 1..=most { th scope="col" class="n" { (round) } }
                }
            }
            tbody {
                @for cell in &document.cells {
                    tr {
                        th scope="row" { (names.name(cell)) }
                        @if several { td { (cell.target) } }
                        @let rate = cell.rate.as_ref();
                        td { (rate.map_or("n.m.", |rate| rate.unit.as_str())) }
                        @for round in &cell.rounds {
                            @let value = rate.and_then(|rate| {
                                let of_round = rate_of(cell, round, rate.base)?;
                                Some(significant(of_round * rate.value / rate.per_second, 4))
                            });
                            td class="n" {
                                @let value = value.unwrap_or_default();
                                @if round.discarded { "(" (value) ")" } @else { (value) }
                            }
                        }
                    }
                }
            }
        }
    };
    html! {
        details class="screen" {
            summary { @if has_rates { "Raw cells, and the rate of each round" } @else { "Raw cells" } }
            p class="why" {
                "Rates are bytes, files or operations per second, times are nanoseconds, bytes are those of all kept \
                 rounds. An empty field is n.m."
                @if has_rates { " Of the rounds those in parentheses were discarded." }
            }
            (wide("Raw cells", cells))
            @if has_rates { (wide("The rate of each round", rounds)) }
        }
    }
}

/// The most results whose raw cells are in the page. Each has 17 figures. Browsers lay out a table of 17,000 figures
/// within a second, and the page is not much larger than with the figures alone. A choice.
const MOST_RAW: usize = 1000;

/// The columns of the table of raw cells.
const HEADINGS: [&str; 17] = [
    "per second",
    "low",
    "high",
    "rounds",
    "CPU %",
    "kernel %",
    "machine %",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "max",
    "bytes",
    "read",
    "written",
    "flushes",
    "effect",
];

/// Returns the figures in the order of the headings; empty if they are not measured.
fn figures(cell: &Cell) -> [String; 17] {
    let figure = |value: Option<f64>| value.map_or_else(String::new, |value| plain(value, 6, 6));
    let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let (rate, cpu, latency, io) = (cell.rate.as_ref(), cell.cpu_percent, cell.latency_ns, cell.io);
    [
        figure(rate.map(|rate| rate.per_second)),
        figure(rate.and_then(|rate| rate.low)),
        figure(rate.and_then(|rate| rate.high)),
        cell.kept().count().to_string(),
        figure(cpu.map(|cpu| cpu.process)),
        figure(cpu.and_then(|cpu| cpu.kernel_workers)),
        figure(cpu.and_then(|cpu| cpu.machine)),
        count(latency.map(|latency| latency.p50)),
        count(latency.and_then(|latency| latency.p90)),
        count(latency.and_then(|latency| latency.p99)),
        count(latency.and_then(|latency| latency.p999)),
        count(latency.map(|latency| latency.max)),
        count(io.and_then(|io| io.program_bytes)),
        count(io.map(|io| io.device_read)),
        count(io.map(|io| io.device_written)),
        count(io.map(|io| io.flushes)),
        cell.effect.clone().unwrap_or_default(),
    ]
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
                    (detail.remark()) code { "diskperf show " (shell::word(run.name)) " --format json" } " has it all"
                    @if has_it {
                        "; what is saved here is called " code { "diskperf-" (file) (detail.suffix()) ".json" }
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
