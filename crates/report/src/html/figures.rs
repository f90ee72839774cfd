//! All cells as a table, and what is said below it: what the marks mean, and the words that stand in it.

use std::collections::BTreeSet;

use maud::{Markup, html};
use stats::{Cell, Document, MarkCode, Provenance};

use super::parts::{Place, side, wide};
use crate::glossary::{Entry, Topic};
use crate::header;
use crate::layouts::rows::{Rows, groups, state};

/// A row of the table: the cell, and the words of all columns.
type Row<'a> = (&'a Cell, Vec<String>);

/// A row for each cell, in the order and the words of the table on a terminal, and behind it the marks. The rate stands
/// first, where a phone shows it; a name stands once for the targets below each other.
pub fn table(document: &Document, place: Place) -> Markup {
    let rows = Rows::of(document);
    let columns = rows.columns();
    let mut bodies: Vec<(String, Vec<Row>)> = Vec::new();
    for (title, cells) in groups(&document.cells) {
        bodies.push((title, cells.into_iter().map(|cell| (cell, row(&rows, cell))).collect()));
    }
    let says_anything =
        |column: usize| bodies.iter().flat_map(|(_, rows)| rows).any(|(_, row)| !row[column].is_empty());
    let is_late = |column: usize| columns[column].heading() == "state";
    let is_early = |column: usize| column == 0 || ["target", "rate", "±95 %"].contains(&columns[column].heading());
    let mut shown: Vec<usize> = (0..columns.len()).filter(|&column| column == 0 || says_anything(column)).collect();
    shown.sort_by_key(|&column| (!is_early(column), !is_late(column)));
    let rate = columns.iter().position(|column| column.heading() == "rate");
    let has_marks = document.cells.iter().any(|cell| !cell.marks.is_empty());
    let all = shown.len() + usize::from(has_marks);
    let line = |(cell, row): &Row, others: &[Row]| {
        html! {
            @for &column in &shown {
                @let (text, class) = (&row[column], side(columns[column].is_right()));
                @if column == 0 {
                    @if let Some(rows) = named(row, others) {
                        th scope="row" rowspan=[(rows > 1).then_some(rows)] { (text) }
                    }
                }
                @else if Some(column) == rate {
                    td class=[class] { (text.trim_end_matches('*')) (star(cell, place)) }
                }
                @else { td class=[class] { (text) } }
            }
            @if has_marks {
                td {
                    @for mark in &cell.marks {
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
                        th scope="col" class=[side(columns[column].is_right())] { (heading(columns[column].heading())) }
                    }
                    @if has_marks { th scope="col" { "marks" } }
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

/// A heading for the ear too: what a terminal leaves empty above the names has one.
fn heading(heading: &str) -> String {
    if heading.is_empty() { "program".to_owned() } else { heading.replace('\n', " ") }
}

/// For so many rows the name of this one stands: those of that name from here on; nothing where it stood before.
fn named(row: &[String], from_here: &[Row]) -> Option<usize> {
    let same = from_here.iter().take_while(|(_, other)| other[0] == row[0]).count();
    (same > 0).then_some(same)
}

/// The row of the cell; of what others published it says so, and where.
fn row(rows: &Rows, cell: &Cell) -> Vec<String> {
    let mut row = rows.row(cell);
    if cell.provenance == Provenance::Published {
        row[0] += &format!(", published in {}", cell.target);
    }
    row
}

/// The star of a suspect figure leads to the first reason for it.
pub fn star(cell: &Cell, place: Place) -> Markup {
    let codes = cell.marks.iter().map(|mark| mark.code).filter(|code| *code != MarkCode::Nested);
    let names: Vec<&str> = codes.map(MarkCode::name).collect();
    html! {
        @if let Some(first) = names.first() {
            a class="star" href={ "#" (place.id(first)) } aria-label={ "suspect: " (names.join(", ")) } { "*" }
        }
    }
}

/// How it was run, what each mark and each remark says here and in general, why something is missing, and the words of
/// the table.
pub fn notes(document: &Document, place: Place) -> Markup {
    let marks = header::marks(document);
    let (remarks, reasons) = (header::remarks(document), header::reasons(document));
    html! {
        p { (header::how(document).replace("+-", "±")) "." }
        @if let Some(noise) = &document.run.noise {
            p id=[(!marks.iter().any(|(code, _)| code.name() == "noise")).then(|| place.id("noise"))] {
                "Noise in all of it: " (noise.text) "."
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

/// What the words in the columns `state` and `limited by` mean, and the owners of time in the charts.
fn words(document: &Document) -> Markup {
    let mut words: Vec<&'static Entry> = Vec::new();
    let mut owners: BTreeSet<&str> = BTreeSet::new();
    for cell in &document.cells {
        let state = state(cell);
        let limit = cell.limited_by.as_ref().map_or("", |limit| limit.what.as_str());
        let state = Topic::State.entry(state).or_else(|| Topic::Clock.entry(&state.replace(' ', "-")));
        for entry in [state, Topic::Limit.entry(limit)].into_iter().flatten() {
            if !words.iter().any(|known| known.word == entry.word) {
                words.push(entry);
            }
        }
        // As the charts: of simulated machines the kinds of owners are drawn, which are plain words.
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
                summary { "The words of the table" }
                dl class="words" { @for Entry { word, brief, .. } in words { dt { (word) } dd { (brief) } } }
            }
        }
    }
}
