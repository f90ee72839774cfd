//! The table of all cells, and the notes below it: meanings of the warnings and of the words in the table.

use std::collections::BTreeSet;

use maud::{Markup, html};
use stats::{Cell, Document, MarkCode, Provenance};

use super::parts::{Place, side, wide};
use crate::glossary::{Entry, Topic};
use crate::header;
use crate::layouts::plain::{Row, Rows, groups, state};
use crate::presentation::Presentation;
use crate::table::{Column, Field, texts};

/// Returns a row for each cell, in the order and with the words of the terminal table, followed by its warnings. The
/// rate is the first column, so that a phone shows it. A name is printed once for all targets of a test.
pub fn table(document: &Document, presentation: Presentation, place: Place) -> Markup {
    let rows = Rows::from_document(document);
    let columns = rows.columns();
    let bodies: Vec<(String, Vec<Texts>)> = groups(&document.cells, presentation)
        .into_iter()
        .map(|(title, cells)| (title, cells.into_iter().flat_map(|cell| lines(&rows, &columns, cell)).collect()))
        .collect();
    let says_anything =
        |column: usize| bodies.iter().flat_map(|(_, rows)| rows).any(|(_, row, _)| !row[column].is_empty());
    let heading_of = |column: usize| columns[column].0.heading();
    let is_early = |column: usize| column == 0 || ["target", "rate", "±95 %"].contains(&heading_of(column));
    let mut shown: Vec<usize> = (0..columns.len()).filter(|&column| column == 0 || says_anything(column)).collect();
    shown.sort_by_key(|&column| !is_early(column));
    let has_marks = document.cells.iter().any(|cell| !cell.marks.is_empty());
    let all = shown.len() + usize::from(has_marks);
    let line = |(cell, row, is_part): &Texts, others: &[Texts]| {
        html! {
            @for &column in &shown {
                @let (text, class) = (&row[column], side(columns[column].0.is_right()));
                @if column == 0 {
                    @if let Some(rows) = named(row, others) {
                        th scope="row" rowspan=[(rows > 1).then_some(rows)] { (text) }
                    }
                }
                @else if heading_of(column) == "rate" {
                    td class=[class] { (text.trim_end_matches('*')) @if !is_part { (star(cell, place)) } }
                }
                @else { td class=[class] { (text) } }
            }
            @if has_marks {
                td {
                    @for mark in cell.marks.iter().filter(|_| !is_part) {
                        a href={ "#" (place.id(mark.code.name())) } { (mark.code.name()) } " "
                    }
                }
            }
        }
    };
    let inside = html! {
        table class="figures" {
            thead {
                tr {
                    @for &column in &shown {
                        th scope="col" class=[side(columns[column].0.is_right())] { (heading(heading_of(column))) }
                    }
                    @if has_marks { th scope="col" { "warnings" } }
                }
            }
            @for (title, rows) in &bodies {
                tbody {
                    @if bodies.len() > 1 { tr class="group" { th scope="rowgroup" colspan=(all) { (title) } } }
                    @for (place, one) in rows.iter().enumerate() {
                        @let is_first = place == 0 || rows[place - 1].1[0] != one.1[0];
                        tr { (line(one, if is_first { &rows[place..] } else { &[] })) }
                    }
                }
            }
        }
    };
    html! { div id=(place.id("figures")) { (wide("All figures", inside)) } }
}

/// The texts of a cell or of one kind of its operations, one for each column of the table. True for operations.
type Texts<'a> = (&'a Cell, Vec<String>, bool);

/// Returns the heading of a column. The column of names, which has no heading on a terminal, gets one for screen
/// readers.
fn heading(heading: &str) -> String {
    if heading.is_empty() { "test".to_owned() } else { heading.replace('\n', " ") }
}

/// Returns the number of rows, from this one on, that have the same name. `None` if the name was already printed above.
fn named(row: &[String], from_here: &[Texts]) -> Option<usize> {
    let same = from_here.iter().take_while(|(_, other, _)| other[0] == row[0]).count();
    (same > 0).then_some(same)
}

/// Returns the texts of a cell, and of each kind of its operations.
fn lines<'a>(rows: &Rows<'a>, columns: &[Field<Row<'a>, Column>], cell: &'a Cell) -> Vec<Texts<'a>> {
    let parts = rows.parts(cell).map(|part| (cell, texts(columns, &part).collect(), true));
    std::iter::once((cell, row(rows, columns, cell), false)).chain(parts).collect()
}

/// Returns the texts of a cell. A published result is named with its publication.
fn row<'a>(rows: &Rows<'a>, columns: &[Field<Row<'a>, Column>], cell: &'a Cell) -> Vec<String> {
    let mut row = rows.row(cell);
    if cell.provenance == Provenance::Published {
        row.name += &format!(", published in {}", cell.target);
    }
    texts(columns, &row).collect()
}

/// Returns a star that links to the first reason why the figure is suspect.
pub fn star(cell: &Cell, place: Place) -> Markup {
    let codes = cell.marks.iter().map(|mark| mark.code).filter(|code| *code != MarkCode::Nested);
    let names: Vec<&str> = codes.map(MarkCode::name).collect();
    html! {
        @if let Some(first) = names.first() {
            a class="star" href={ "#" (place.id(first)) } aria-label={ "warning: " (names.join(", ")) } { "*" }
        }
    }
}

/// Returns the notes: how the run was done, each warning and remark with its general meaning, the reasons for missing
/// results, and the words of the table.
pub fn notes(document: &Document, place: Place) -> Markup {
    let marks = header::marks(document);
    let (remarks, reasons) = (header::remarks(document), header::reasons(document));
    html! {
        p { (header::how(document).replace("+-", "±")) "." }
        @if let Some(not_tested) = header::not_tested(document) {
            p { (not_tested) "." }
        }
        @if let Some(noise) = &document.run.noise {
            p id=[(!marks.iter().any(|(code, _)| code.name() == "noise")).then(|| place.id("noise"))] {
                (header::describe_noise(noise)) "."
            }
        }
        @if !marks.is_empty() {
            dl class="marks" {
                @for (code, here) in &marks {
                    dt id=(place.id(code.name())) { (header::star(*code)) (code.name()) }
                    dd {
                        p { (here) }
                        @if let Some(Entry { says, when, advice, .. }) = Topic::Mark.entry(code.name()) {
                            p class="why" { (says) " " b { "When: " } (when) " " b { "What to do: " } (advice) }
                        }
                    }
                }
            }
        }
        @if !remarks.is_empty() {
            dl class="marks" {
                @for (kind, here) in &remarks {
                    dt { (kind) }
                    dd {
                        p { (here) }
                        @if let Some(Entry { says, advice, .. }) = Topic::Remark.entry(kind) {
                            p class="why" { (says) " " b { "What to do: " } (advice) }
                        }
                    }
                }
            }
        }
        @if !reasons.is_empty() {
            ul { @for reason in reasons.lines() { li { (reason) } } }
        }
        (words(document))
    }
}

/// Returns the meanings of the words in the columns `state` and `limited by`, and of the owners of time in the charts.
fn words(document: &Document) -> Markup {
    let mut words: Vec<&'static Entry> = Vec::new();
    let mut owners: BTreeSet<&str> = BTreeSet::new();
    for cell in &document.cells {
        let state = state(cell);
        let limit = cell.limited_by.as_ref().and_then(|limit| Topic::Limit.entry(limit.what.name()));
        let state = Topic::State.entry(state).or_else(|| Topic::Clock.entry(&state.replace(' ', "-")));
        for entry in [state, limit].into_iter().flatten() {
            if !words.iter().any(|known| known.word == entry.word) {
                words.push(entry);
            }
        }
        // This follows the charts: simulated machines show kinds of owners there, whose names need no explanation.
        let time = cell.time.as_ref().filter(|_| cell.breakdown.is_none() && cell.provenance != Provenance::Published);
        owners.extend(time.into_iter().flatten().filter(|(_, nanos)| **nanos > 0).map(|(owner, _)| owner.as_str()));
    }
    for entry in owners.into_iter().filter_map(|owner| Topic::Owner.entry(owner)) {
        if !words.iter().any(|known| known.word == entry.word) {
            words.push(entry);
        }
    }
    html! {
        @if !words.is_empty() {
            details class="screen" {
                summary { "Words of the table" }
                dl class="words" { @for Entry { word, brief, .. } in words { dt { (word) } dd { (brief) } } }
            }
        }
    }
}
