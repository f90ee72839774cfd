//! A run on the page: the verdict, targets and machine, charts, all figures with their meanings, and the command to
//! repeat it.

use maud::{Markup, html};
use stats::digits::significant;
use stats::{Cell, Choice, Document, Provenance, RunInfo};
use units::DateTime;

use super::cards::cards;
use super::choice_summary::lead;
use super::choice_table::matrix;
use super::parts::{Place, charts, table, wide};
use super::target_letters::ShownDocument;
use super::{Run, raw_data, replication, results_table};
use crate::chart::{self, Chart, Subject};
use crate::compare::stages;
use crate::compare::target_comparison;
use crate::devices::predict::check_grid;
use crate::layouts::classic1983;
use crate::layouts::hosts;
use crate::layouts::lfs;
use crate::layouts::simulated;
use crate::layouts::tlpi;
use crate::page::Page;
use crate::presentation::{Layout, Presentation};
use crate::{header, shell};

/// The titles of the charts of each subject, in the order of the page.
const SUBJECTS: [(Subject, &str); 9] = [
    (Subject::Rates, "Rates"),
    (Subject::Hosts, "Rate of each host"),
    (Subject::Paper, "Published and measured"),
    (Subject::Together, "Alone and together"),
    (Subject::Sweep, "Buffer size"),
    (Subject::Setting, "Rate by setting"),
    (Subject::Latency, "Latency"),
    (Subject::OverTime, "Rate over time"),
    (Subject::Time, "Time breakdown"),
];

/// `ext4 or xfs?`, `quick on .`; a run of stages is `plain, then tuned`.
pub fn title(document: &Document) -> String {
    let RunInfo { targets, preset, choice, .. } = &document.run;
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let listed = |word: &str| match &names[..] {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    };
    if document.cells.is_empty() && document.errors.is_empty() {
        return "Nothing was run".to_owned();
    }
    if let Some(choice) = choice {
        return if choice.stages.is_empty() { format!("{}?", listed("or")) } else { names.join(", then ") };
    }
    let is_simulated = document.cells.iter().any(Cell::is_simulated)
        && document.cells.iter().all(|cell| cell.provenance != Provenance::Measured);
    let simulated = if is_simulated { ", simulated" } else { "" };
    format!("{} on {}{simulated}", preset.as_deref().unwrap_or("A run"), listed("and"))
}

/// Returns the whole section of a run: the answer, the table, then the rest.
pub fn section(run: &Run, title: &str, place: Place, has_rates: bool) -> Markup {
    let shown = ShownDocument::from_document(run.document);
    let document = shown.document();
    let all = chart::charts(document, run.presentation.layout);
    let is_lettered = place.is_one && shown.is_lettered() && document.run.choice.is_some();
    let title = if is_lettered { &self::title(document) } else { title };
    html! {
        section id={ "r" (place.number) } {
            (place.title(title))
            (verdict(document, run.presentation, &all, place))
            (shown.lines(run.presentation.layout))
            p class="when" { (when(run)) }
            @if let Some(choice) = &document.run.choice { (compared(&shown, choice, run.presentation, &all, place)) }
            // The curves of a sweep show at a glance what its table shows in many rows, so they come first.
            (subjects(&all, place, is_of_sweep))
            @if document.run.choice.is_none() { (table_of(document, run.presentation, place)) }
            (subjects(&all, place, |subject| !is_of_sweep(subject)))
            @if !run.published.is_empty() {
                (place.heading("Published and simulated figures"))
                (replication::tables(run.published))
            }
            @if !document.run.checks.is_empty() {
                (place.heading("Predicted and measured"))
                (table("Predicted and measured", &check_grid(&document.run.checks)))
            }
            @if document.run.choice.is_some() { (table_of(document, run.presentation, place)) }
            @if let Some(figures) = hosts::page_grid(document) {
                details {
                    summary { "Figures of each host" }
                    (table("Figures of each host", &figures))
                }
            }
            @if let Some(table) = source_table(run.document, run.presentation.layout) {
                details {
                    summary { "The table in the layout of its source" }
                    (wide("The table in the layout of its source", html! { pre { (table) } }))
                }
            }
            (place.heading("Notes"))
            (results_table::notes(document, place))
            (place.heading("Repeat this run"))
            (commands(&run.document.run, !document.cells.is_empty()))
            @if !document.cells.is_empty() { (raw_data::rounds(&Run { document, ..*run }, has_rates)) }
        }
    }
}

/// True for the curves of a sweep.
fn is_of_sweep(subject: Subject) -> bool {
    matches!(subject, Subject::Sweep | Subject::Setting)
}

/// Returns the charts of some subjects, each under its title. Rates over time have many charts, so they are not printed
/// on paper.
fn subjects(all: &[Chart], place: Place, is_meant: impl Fn(Subject) -> bool) -> Markup {
    let is_there = |subject| is_meant(subject) && all.iter().any(|chart| chart.subject == subject);
    html! {
        div class="subjects" {
            @for (subject, heading) in SUBJECTS.iter().filter(|(subject, _)| is_there(*subject)) {
                div class=[(*subject == Subject::OverTime).then_some("screen")] {
                    (place.heading(heading))
                    (charts(all, *subject))
                }
            }
        }
    }
}

/// Returns the table of all figures.
fn table_of(document: &Document, presentation: Presentation, place: Place) -> Markup {
    html! {
        @if !document.cells.is_empty() {
            (place.heading("All figures"))
            (results_table::table(document, presentation, place))
        }
    }
}

/// Returns a comparison: for stages the table of 1983 and a chart of each step, else one table; then the reasons.
fn compared(shown: &ShownDocument, choice: &Choice, presentation: Presentation, all: &[Chart], place: Place) -> Markup {
    let document = shown.document();
    html! {
        (place.heading("Comparison"))
        @if choice.stages.is_empty() { (matrix(shown, choice, presentation, place)) }
        @else {
            (table("Comparison", &target_comparison::page_grid(document, choice)))
            (charts(all, Subject::Choice))
        }
        (place.heading("Reasons"))
        @for line in target_comparison::verdict(document, choice).lines() {
            @if line.starts_with(' ') { p class="why" { (line.trim_start()) } } @else { p { (line) } }
        }
        @for line in stages::reasons(choice) { p class="why" { (line) } }
        p class="why" { (target_comparison::not_asked(&document.run.targets)) }
    }
}

/// Returns the answer: a sentence for a choice, else the key figures and the sentences of the preset. A note about an
/// interruption is above it, errors are below it.
fn verdict(document: &Document, presentation: Presentation, all: &[Chart], place: Place) -> Markup {
    let run = &document.run;
    let is_swept = all.iter().any(|chart| is_of_sweep(chart.subject));
    let is_together = document.cells.iter().any(|cell| cell.together);
    html! {
        @if let Some(interrupted) = header::interrupted(document) {
            p class="lead" { b { (interrupted) } }
        }
        @if let Some(choice) = &run.choice {
            (lead(document, choice))
        } @else if presentation.layout == Layout::Trial {
            @if document.errors.is_empty() && !run.interrupted {
                p class="lead" {
                    "Each test ran at its smallest size, and all of them work here. Their speed was not measured."
                }
            }
        } @else {
            @if run.targets.len() > 1 {
                p class="lead" {
                    @if is_together { "The targets were measured alone and together." }
                    @else { "The targets were measured in turn." }
                    " " code { "diskperf choose" } " decides which is faster."
                }
            }
            @if !is_swept { (cards(document, presentation, place)) }
            @for line in run.findings.iter().flat_map(|finding| finding.lines()) {
                p class=[line.starts_with(' ').then_some("why")] { (line.trim_start()) }
            }
        }
        @if !document.errors.is_empty() {
            ul class="wrong" {
                @for problem in &document.errors {
                    li {
                        b { (header::place(problem)) " " }
                        (problem.message)
                        @if let Some(hint) = &problem.hint { span class="why" { " " (hint) } }
                    }
                }
            }
        }
    }
}

/// Returns preset, host, start time, duration, version and identifier of a run, as a line.
fn when(run: &Run) -> String {
    let RunInfo { started_unix_s, elapsed_s, host, version, preset, .. } = &run.document.run;
    let began = DateTime::from_unix(*started_unix_s);
    let preset = preset.as_deref().unwrap_or("nothing");
    let took = significant(*elapsed_s, 3);
    format!("{preset} on {host}, {began} UTC, {took} s, by diskperf {version}; run {}", run.name)
}

/// Returns the table of a preset that reproduces a publication, in the layout of that publication.
fn source_table(document: &Document, layout: Layout) -> Option<String> {
    match layout {
        _ if document.run.choice.is_some() => None,
        Layout::Plain | Layout::Trial | Layout::Device => None,
        Layout::Classic1983 if document.run.phases.is_some() => Some(simulated::table(document, Page::ENDLESS)),
        Layout::Classic1983 => Some(classic1983::table(document, Page::ENDLESS)),
        Layout::Lfs => Some(lfs::table(document, Page::ENDLESS)),
        Layout::Tlpi => Some(tlpi::table(document, Page::ENDLESS)),
    }
}

/// Returns the command that repeats the run, and the job file if there was one.
fn commands(run: &RunInfo, has_order: bool) -> Markup {
    html! {
        div class="command" { pre { code { (shell::line(&run.command)) } } }
        @if has_order {
            p class="why" { "The seed of all random orders was " (run.seed) "; --seed " (run.seed) " repeats them." }
        }
        @if let Some(job) = &run.job {
            details { summary { "Job file" } pre { (job) } }
        }
        @if let Some(mix) = &run.mix {
            p { "Mix of accesses: " code { (mix) } }
        }
    }
}
