//! The key figures of a run as cards: rate, interval and bottleneck of sequential and random access, commits and small
//! files. A choice has a table instead.

use std::collections::BTreeSet;

use maud::{Markup, html};
use stats::{Cell, Document, Latency, Provenance, RateBase};
use units::Nanos;

use super::parts::Place;
use super::results_table::star;
use crate::cell_names::{CellNames, different, grouped};
use crate::chart::colour;
use crate::display_names::conditions;
use crate::layouts::plain;
use crate::presentation::Presentation;

/// A card: its title, and the results in it.
struct Card<'a> {
    title: String,
    /// The first cells are printed large; another phase of the same program becomes a line below.
    main: Vec<&'a Cell>,
    others: Vec<&'a Cell>,
}

/// The most cards: they fit on one screen. A choice.
const MOST: usize = 6;

/// The fewest cards of [`usual`] that are used. A run with fewer of them gets a card for each of its programs.
const LEAST: usize = 3;

/// Returns the cards; empty if nothing was measured.
pub fn cards(document: &Document, presentation: Presentation, place: Place) -> Markup {
    let is_own = |cell: &&Cell| cell.rate.is_some() && !cell.together && cell.provenance != Provenance::Published;
    let own: Vec<&Cell> = document.cells.iter().filter(is_own).collect();
    let mut cards = usual(&own);
    if cards.len() < LEAST {
        cards = any(document, presentation, &own);
    }
    let names = different(document.run.targets.iter().map(|target| target.name.as_str()));
    html! {
        @if !cards.is_empty() {
            ul class="cards" { @for card in &cards { li { (card.shown(&names, place)) } } }
        }
    }
}

/// Returns the cards of the usual questions, from the tests of `quick`.
fn usual<'a>(cells: &[&'a Cell]) -> Vec<Card<'a>> {
    let of = |program: &str| cells.iter().copied().filter(|cell| cell.program == program).collect::<Vec<&Cell>>();
    let depth = |cell: &&Cell| cell.number("iodepth").unwrap_or(1);
    let (alone, deep): (Vec<&Cell>, Vec<&Cell>) = of("randread").into_iter().partition(|cell| depth(cell) == 1);
    let deepest = deep.iter().map(depth).max().unwrap_or_default();
    let deep = deep.into_iter().filter(|cell| depth(cell) == deepest).collect();
    let (created, others): (Vec<&Cell>, Vec<&Cell>) = of("smallfb").into_iter().partition(|cell| cell.phase == "creat");
    let card = |title: &str, main| Card { title: title.to_owned(), main, others: Vec::new() };
    let cards = [
        card("Sequential read", of("read_8192")),
        card("Sequential write", of("write_8192")),
        card("Random read, queue depth 1", alone),
        card(&format!("Random read, queue depth {deepest}"), deep),
        card("Commit", of("commit")),
        Card { others, ..card("Small files, create", created) },
    ];
    cards.into_iter().filter(|card| !card.main.is_empty()).collect()
}

/// Returns a card for each result if there are few, else for the first result of each kind if there are several kinds.
fn any<'a>(document: &'a Document, presentation: Presentation, own: &[&'a Cell]) -> Vec<Card<'a>> {
    let names = CellNames::from_cells(&document.cells);
    let mut named = grouped(own.iter().map(|cell| (names.name(cell), *cell)));
    if named.len() > MOST {
        let groups = plain::groups(&document.cells, presentation);
        let firsts: BTreeSet<String> =
            groups.iter().filter_map(|(_, cells)| Some(names.name(cells.first()?))).collect();
        named.retain(|(name, _)| groups.len() > 1 && firsts.contains(name));
        named.truncate(MOST);
    }
    named.into_iter().map(|(title, main)| Card { title, main, others: Vec::new() }).collect()
}

impl Card<'_> {
    fn shown(&self, names: &[&str], place: Place) -> Markup {
        let first = self.main[0];
        let program = format!("{} {}", first.program, conditions(self.main.iter().copied()));
        html! {
            p class="name" { (self.title) }
            @for cell in &self.main { (self.figure(cell, names, place)) }
            @for cell in &self.others {
                p {
                    (cell.phase) " " b { (plain::rate(cell).trim_end_matches('*')) } (star(cell, place))
                    " " (half(cell))
                }
            }
            p class="why" { (program) }
        }
    }

    /// Returns the rate with its interval, and the bottleneck.
    fn figure(&self, cell: &Cell, names: &[&str], place: Place) -> Markup {
        let whose = names.iter().position(|name| names.len() > 1 && *name == cell.target);
        let times = cell.latency_ns.filter(|_| cell.rate.as_ref().is_some_and(|rate| rate.base == RateBase::Ops));
        let rate = plain::rate(cell);
        let (number, unit) = rate.trim_end_matches('*').split_once(' ').unwrap_or((&rate, ""));
        html! {
            p class="rate" {
                @if let Some(whose) = whose { span class=(colour(whose)) { (cell.target) } " " }
                b { (number) } " " (unit) (star(cell, place))
            }
            p { (half(cell)) }
            @if let Some(times) = times { p { (percentiles(times)) } }
            @if let Some(limit) = &cell.limited_by {
                p { "bottleneck " b { (limit.what.title()) } " (" (limit.evidence) ")" }
            }
        }
    }
}

/// `± 3 %`; empty if there is no interval.
fn half(cell: &Cell) -> String {
    let half = plain::interval(cell);
    if half.is_empty() { half } else { format!("± {half}") }
}

/// The latencies of a cell: `p50 439 us, p99 1.19 ms`
fn percentiles(times: Latency) -> String {
    let p99 = times.p99.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string());
    format!("p50 {}, p99 {p99}", Nanos(times.p50))
}
