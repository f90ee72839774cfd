//! A run on the page: the verdict, where it ran, charts, all figures, what they mean, and how to repeat it.

use maud::{Markup, html};
use stats::{Cell, Document, Provenance, RunInfo};
use units::Civil;

use super::figures::star;
use super::parts::{Place, charts, table, wide};
use super::{Run, figures, raw, replicated};
use crate::Page;
use crate::chart::{self, Subject};
use crate::names::CellNames;
use crate::numbers::significant;
use crate::{book, choice, header, lfs, paper, rows, simulated, stages};

/// What the subjects of charts are called, in the order in which a person asks; before them is which one is faster.
const SUBJECTS: [(Subject, &str); 7] = [
    (Subject::Rates, "How fast"),
    (Subject::Paper, "Published beside measured"),
    (Subject::Together, "Alone and together"),
    (Subject::Sweep, "What the size of the buffer does"),
    (Subject::Latency, "How long one operation takes"),
    (Subject::OverTime, "Rate over time"),
    (Subject::Time, "Where each millisecond went"),
];

/// `ext4 or xfs?`, `quick on .`, of stages `plain, then tuned`
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
    let is_simulated = document.cells.iter().any(|cell| cell.provenance == Provenance::Simulated)
        && document.cells.iter().all(|cell| cell.provenance != Provenance::Measured);
    let simulated = if is_simulated { ", simulated" } else { "" };
    format!("{} on {}{simulated}", preset.as_deref().unwrap_or("A run"), listed("and"))
}

/// All of a run.
pub fn section(run: &Run, title: &str, place: Place, has_rates: bool) -> Markup {
    let document = run.document;
    let all = chart::charts(document);
    let layout = layout(document);
    html! {
        section id={ "r" (place.number) } {
            (place.title(title))
            (verdict(document, place))
            p class="when" { (when(run)) }
            (place.heading("What was run where"))
            ul class="where" { @for line in header::lines(document).lines() { (target(line)) } }
            @if let Some(choice) = &document.run.choice {
                (place.heading("Which is faster"))
                (charts(&all, Subject::Choice))
                (table("Which is faster", &choice::page_grid(document, choice)))
                @for line in stages::reasons(choice) { p class="why" { (line) } }
            }
            @for (subject, heading) in &SUBJECTS {
                @if all.iter().any(|chart| chart.subject == *subject) {
                    (place.heading(heading))
                    (charts(&all, *subject))
                }
            }
            @if !run.published.is_empty() {
                (place.heading("Published beside simulated"))
                (replicated::tables(run.published))
            }
            @if !document.cells.is_empty() {
                (place.heading("All figures"))
                (figures::table(document, place))
            }
            @if let Some(layout) = layout {
                details {
                    summary { "As its source prints it" }
                    (wide("As its source prints it", html! { pre { (layout) } }))
                }
            }
            (place.heading("Notes"))
            (figures::notes(document, place))
            (place.heading("The same again"))
            (commands(&document.run, !document.cells.is_empty()))
            @if !document.cells.is_empty() { (raw::rounds(run, has_rates)) }
        }
    }
}

/// What was found out, first of all; and what went wrong. Where nothing was concluded, the first figure of each kind.
fn verdict(document: &Document, place: Place) -> Markup {
    let run = &document.run;
    let said = match &run.choice {
        Some(choice) => choice::verdict(document, choice),
        None => run.findings.join("\n"),
    };
    let is_together = document.cells.iter().any(|cell| cell.together);
    html! {
        @if let Some(interrupted) = header::interrupted(document) {
            p class="verdict" { b { (interrupted) } }
        }
        @if !said.is_empty() {
            div class="verdict" {
                @for line in said.lines() {
                    @if line.starts_with(' ') { p class="why" { (line.trim_start()) } } @else { p { (line) } }
                }
                @if run.choice.is_some() { p class="why" { (choice::not_asked(&run.targets)) } }
            }
        } @else if run.targets.len() > 1 {
            p class="verdict" { @if is_together { "Measured alone and together." } @else { "Measured in turn." } " Which is faster, and how sure that is, was not asked: " code { "diskperf choose" } " says it." }
        } @else if run.preset.as_deref() == Some("smoke") {
            p class="verdict" { "Every program ran at its smallest: that shows that they work here, and not how fast anything is." }
        } @else {
            (headlines(document, place))
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

/// So many figures are read at a glance.
const HEADLINES: usize = 6;

fn headlines(document: &Document, place: Place) -> Markup {
    let is_own = |cell: &&Cell| cell.rate.is_some() && cell.provenance != Provenance::Published;
    let groups = rows::groups(&document.cells);
    let mut cells: Vec<&Cell> = match &groups[..] {
        // All are of one kind: then of each program.
        [(_, cells)] => cells.iter().copied().filter(is_own).collect(),
        groups => groups.iter().filter_map(|(_, cells)| cells.iter().copied().find(is_own)).collect(),
    };
    cells.dedup_by_key(|cell| (&cell.program, &cell.phase));
    cells.truncate(HEADLINES);
    let names = CellNames::of(&document.cells);
    html! {
        @if !cells.is_empty() {
            ul class="headlines" {
                @for cell in cells {
                    li { b { (rows::rate(cell).trim_end_matches('*')) (star(cell, place)) } (plus_minus(cell)) " " span { (names.name(cell)) ", " (rows::state(cell)) } }
                }
            }
        }
    }
}

/// Half the width of its interval, as the table has it.
fn plus_minus(cell: &Cell) -> Markup {
    let half = rows::interval(cell);
    html! { @if !half.is_empty() { span { "± " (half) } } }
}

/// A line about a target, which begins with its name.
fn target(line: &str) -> Markup {
    html! {
        li { @if let Some((name, rest)) = line.split_once("  ") { b { (name) } "  " (rest) } @else { (line) } }
    }
}

/// When, on which machine, how long, under which name.
fn when(run: &Run) -> String {
    let RunInfo { started_unix_s, elapsed_s, host, version, preset, .. } = &run.document.run;
    let began = Civil::from_unix(*started_unix_s);
    let preset = preset.as_deref().unwrap_or("nothing");
    let took = significant(*elapsed_s, 3);
    format!("{preset} on {host}, {began} UTC, {took} s, by diskperf {version}; run {}", run.name)
}

/// The table of a preset that answers to a publication, in the layout of that.
fn layout(document: &Document) -> Option<String> {
    Some(match document.run.preset.as_deref()? {
        _ if document.run.choice.is_some() => return None,
        "classic1983" if document.run.phases.is_some() => simulated::table(document, Page::ENDLESS),
        "classic1983" => paper::table(document, Page::ENDLESS),
        "lfs" => lfs::table(document, Page::ENDLESS),
        "tlpi" => book::table(document, Page::ENDLESS),
        _ => return None,
    })
}

/// What to type to have it again, and the job file where it was one.
fn commands(run: &RunInfo, has_order: bool) -> Markup {
    html! {
        div class="command" { pre { code { (line(&run.command)) } } }
        @if has_order { p class="why" { "The seed of every order was " (run.seed) "; --seed " (run.seed) " takes it again." } }
        @if let Some(job) = &run.job {
            details { summary { "Its job file" } pre { (job) } }
        }
        @if let Some(mix) = &run.mix {
            p { "The mix that it drew from: " code { (mix) } }
        }
    }
}

/// Words as a shell takes them. The program is called by its name, wherever it lay.
pub fn line(words: &[String]) -> String {
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let words = words.iter().enumerate().map(|(place, one)| word(&if place == 0 { name(one) } else { one.clone() }));
    words.collect::<Vec<String>>().join(" ")
}

/// A word as a shell takes it.
pub fn word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%".contains(&byte);
    if !word.is_empty() && !word.starts_with('=') && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_the_words_as_they_were_given() {
        let words = ["/opt/diskperf", "choose", "a=image:ext4,size=1GiB", "--need", "read>=5/s", "it's", ""];
        assert_eq!(
            line(&words.map(str::to_owned)),
            "diskperf choose a=image:ext4,size=1GiB --need 'read>=5/s' 'it'\\''s' ''"
        );
    }
}
