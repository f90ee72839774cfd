//! Runs as one page of HTML that needs nothing else: no server, no network, no script to be complete. For a screen, a
//! phone, paper, and a program that reads aloud.
//!
//! What others wrote is escaped by `maud` wherever it stands in the page; the document behind it is JSON in a script
//! that is no program, with every `<` escaped, so that no name in it ends that script.

mod cards;
mod figures;
mod key;
mod lead;
mod matrix;
mod parts;
mod past;
mod raw;
mod replicated;
mod run;
mod side_by_side;
mod verified;

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use stats::compare::history::History;
use stats::compare::replication::PaperDocument;
use stats::{Document, Verification};
use units::Civil;

use crate::chart;

/// A run as the page shows it.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// How it is called.
    pub name: &'a str,
    /// What was measured: without what a terminal would obey, as for every table.
    pub document: &'a Document,
    /// The published figures beside those that this run simulated, where it simulated a machine of the paper as it is.
    pub published: &'a [stats::compare::replication::Comparison],
    /// The document as JSON, in this detail.
    pub json: &'a dyn Fn(Detail) -> String,
}

/// A result file that is not a run.
#[derive(Clone, Copy)]
pub struct Other<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it has, without what a terminal would obey.
    pub found: Found<'a>,
    /// The document as JSON.
    pub json: &'a str,
}

/// What such a file has.
#[derive(Clone, Copy)]
pub enum Found<'a> {
    /// Tests over all stored runs.
    History(&'a History),
    /// The records that power cuts left.
    Verification(&'a Verification),
}

impl Other<'_> {
    fn title(&self) -> String {
        match self.found {
            Found::History(history) => past::title(history),
            Found::Verification(verification) => verified::title(verification),
        }
    }

    /// Without the tables of a history if the page has no room for them.
    fn section(&self, title: &str, place: parts::Place, has_tables: bool) -> Markup {
        match self.found {
            Found::History(history) => past::section(history, title, place, has_tables),
            Found::Verification(verification) => verified::section(verification, title, place),
        }
    }
}

/// How much of a document stands in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All of it.
    Whole,
    /// Without what returned in each quarter of a second.
    WithoutIntervals,
    /// Without the rounds, whose rates stand in the page as a table.
    WithoutRounds,
    /// Without the rounds, whose rates do not stand in the page either.
    WithoutRates,
    /// Nothing of it.
    Nothing,
}

impl Detail {
    const ALL: [Detail; 5] =
        [Detail::Whole, Detail::WithoutIntervals, Detail::WithoutRounds, Detail::WithoutRates, Detail::Nothing];

    /// Whether the rate of each round stands in the page as a table.
    const fn has_rates(self) -> bool {
        !matches!(self, Detail::WithoutRates | Detail::Nothing)
    }

    /// What the name of a saved document says of what it lacks.
    const fn suffix(self) -> &'static str {
        match self {
            Detail::WithoutIntervals => "-without-intervals",
            Detail::WithoutRounds | Detail::WithoutRates => "-without-rounds",
            Detail::Whole | Detail::Nothing => "",
        }
    }

    /// What is said of what is left out.
    const fn remark(self) -> &'static str {
        match self {
            Detail::Whole => "",
            Detail::WithoutIntervals => {
                "Left out of it, so that the page stays small: what returned in each quarter of a second. "
            }
            Detail::WithoutRounds => {
                "Left out of it, so that the page stays small: the rounds, whose rates the table above has. "
            }
            Detail::WithoutRates => "Left out of it and of the tables, so that the page stays small: the rounds. ",
            Detail::Nothing => {
                "So that the page stays small, neither the document nor the rate of each round stands in it. "
            }
        }
    }
}

/// The most bytes of a page: it is sent in letters and kept beside others. Where the documents make it larger, they
/// stand there in less detail.
pub const LARGEST: usize = 300_000;

/// The page: a section for each run, for each other result file, and for the tables of the paper if they are asked for.
pub fn page(runs: &[Run], others: &[Other], paper: Option<&PaperDocument>) -> String {
    let mut titles = titles(runs);
    titles.extend(others.iter().map(Other::title));
    titles.extend(paper.map(|_| replicated::TITLE.to_owned()));
    let is_one = titles.len() == 1;
    let sections = |has_rates: bool| {
        let mut titled = titles.iter().zip((1..).map(|number| parts::Place { number, is_one }));
        let mut sections: Vec<Markup> = Vec::new();
        let of_runs = runs.iter().zip(titled.by_ref());
        sections.extend(of_runs.map(|(run, (title, place))| run::section(run, title, place, has_rates)));
        let of_others = others.iter().zip(titled.by_ref());
        sections.extend(of_others.map(|(other, (title, place))| other.section(title, place, has_rates)));
        sections.extend(paper.zip(titled.next()).map(|(paper, (_, place))| replicated::section(paper, place)));
        sections
    };
    let short = sections(false);
    let title = match (&titles[..], others, paper) {
        ([title], ..) => title.clone(),
        (_, [], None) => format!("{} runs", runs.len()),
        (_, [], Some(_)) => format!("{} and the paper of 1983", if runs.len() == 1 { "A run" } else { "Runs" }),
        _ => format!("{} reports", titles.len()),
    };
    let chart = if runs.len() > 1 {
        side_by_side::side_by_side(runs)
    } else {
        html! {}
    };
    let page = |sections: &[Markup], documents| framed(&title, &titles, &chart, sections, documents).into_string();
    let length = |sections: &[Markup]| sections.iter().map(|section| section.0.len()).sum::<usize>();
    let frame = page(&[], html! {}).len();
    let fits = |sections: &[Markup], documents: usize| frame + length(sections) + documents <= LARGEST;
    let documents = |detail| html! { (raw::documents(runs, detail)) (raw::others(others, runs.len(), detail)) };
    // What is too long without any document is made once, and no document is written out to be thrown away.
    let whole = if fits(&short, 0) { sections(true) } else { Vec::new() };
    let with = |detail: Detail| {
        let sections = if detail.has_rates() { &whole } else { &short };
        let sections = fits(&short, 0).then_some(sections).filter(|sections| fits(sections, 0))?;
        let documents = documents(detail);
        fits(sections, documents.0.len()).then_some((sections, documents))
    };
    let fitting = Detail::ALL.into_iter().find_map(with);
    let (sections, documents) = fitting.unwrap_or_else(|| (&short, documents(Detail::Nothing)));
    page(sections, documents)
}

/// What each section is called: runs that would be called the same, by their ids and when they began too.
fn titles(runs: &[Run]) -> Vec<String> {
    let titles: Vec<String> = runs.iter().map(|run| run::title(run.document)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    titles.iter().for_each(|title| *counts.entry(title).or_default() += 1);
    let unique = runs.iter().zip(&titles).map(|(run, title)| {
        if counts[title.as_str()] > 1 {
            format!("{title}: {}, {} UTC", run.name, Civil::from_unix(run.document.run.started_unix_s))
        } else {
            title.clone()
        }
    });
    unique.collect()
}

/// What stands around the sections.
fn framed(title: &str, titles: &[String], side_by_side: &Markup, sections: &[Markup], documents: Markup) -> Markup {
    // Of the paper the figures are the page.
    let figures = sections.first().filter(|section| section.0.contains("id=\"r1-figures\""));
    let figures = figures.map_or("#page", |_| "#r1-figures");
    // What the page says of colours comes last, and holds.
    let style = [chart::STYLE, include_str!("style.css")].concat();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "diskperf " (env!("CARGO_PKG_VERSION")) };
                // A browser asks a server for a picture of the page where none is named.
                link rel="icon" href="data:,";
                title { (title) " - diskperf" }
                style { (PreEscaped(style)) }
            }
            body {
                a class="skip" href=(figures) { "To the figures" }
                main id="page" {
                    @if titles.len() != 1 {
                        h1 { (title) }
                        nav aria-label="Sections" {
                            ol {
                                @for (place, title) in titles.iter().enumerate() {
                                    li { a href={ "#r" (place + 1) } { (title) } }
                                }
                            }
                        }
                    }
                    (side_by_side)
                    @for section in sections { (section) }
                    (documents)
                }
                footer {
                    "Made by diskperf " (env!("CARGO_PKG_VERSION"))
                    ". This page holds all it shows and asks nobody for anything."
                }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    }
}

/// Nothing is fetched from anywhere. What is in the page itself may be used: its own style and script, and pictures
/// whose bytes stand in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
