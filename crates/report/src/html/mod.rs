//! Runs as one self-contained HTML page: no server, no network, and complete without its script. It suits screens,
//! phones, printers and screen readers.
//!
//! `maud` escapes all text from others in the page. The documents at its end are JSON in script elements that do not
//! run; every `<` in them is escaped, so that a name cannot end the element.

mod cards;
mod choice_summary;
mod choice_table;
mod history;
mod parts;
mod raw_data;
mod replication;
mod results_table;
mod run;
mod side_by_side;
mod target_letters;
mod verification;

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use stats::compare::history::History;
use stats::compare::replication::PaperDocument;
use stats::{Document, Verification};
use units::DateTime;

use crate::chart;
use crate::presentation::Presentation;

/// A run to be shown on the page.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The identifier of the run.
    pub name: &'a str,
    /// The measured document, without terminal control characters, as for every table.
    pub document: &'a Document,
    /// The presentation of its preset.
    pub presentation: Presentation,
    /// The published figures with the simulated ones, if the run simulated a machine of the paper without changes.
    pub published: &'a [stats::compare::replication::Comparison],
    /// Returns the document as JSON, in the given detail.
    pub json: &'a dyn Fn(Detail) -> String,
}

/// A result file that is not a run.
#[derive(Clone, Copy)]
pub struct Other<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// The content, without terminal control characters.
    pub found: Found<'a>,
    /// The document as JSON.
    pub json: &'a str,
}

/// The content of a result file that is not a run.
#[derive(Clone, Copy)]
pub enum Found<'a> {
    /// Tests over all stored runs.
    History(&'a History),
    /// The result of a power-cut test.
    Verification(&'a Verification),
}

impl Other<'_> {
    fn title(&self) -> String {
        match self.found {
            Found::History(history) => history::title(history),
            Found::Verification(verification) => verification::title(verification),
        }
    }

    /// Returns the section. The tables of a history are left out if the page has no room for them.
    fn section(&self, title: &str, place: parts::Place, has_tables: bool) -> Markup {
        match self.found {
            Found::History(history) => history::section(history, title, place, has_tables),
            Found::Verification(verification) => verification::section(verification, title, place),
        }
    }
}

/// The amount of a document that the page contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The whole document.
    Whole,
    /// Without the intervals (quarters of a second) of each round.
    WithoutIntervals,
    /// Without the rounds; the page has their rates as a table.
    WithoutRounds,
    /// Without the rounds, and the page has no table of their rates.
    WithoutRates,
    /// No documents.
    Nothing,
}

impl Detail {
    const ALL: [Detail; 5] =
        [Detail::Whole, Detail::WithoutIntervals, Detail::WithoutRounds, Detail::WithoutRates, Detail::Nothing];

    /// True if the page has a table with the rate of each round.
    const fn has_rates(self) -> bool {
        !matches!(self, Detail::WithoutRates | Detail::Nothing)
    }

    /// The part of a saved document's file name that says what is missing.
    const fn suffix(self) -> &'static str {
        match self {
            Detail::WithoutIntervals => "-without-intervals",
            Detail::WithoutRounds | Detail::WithoutRates => "-without-rounds",
            Detail::Whole | Detail::Nothing => "",
        }
    }

    /// A sentence about the parts that are left out.
    const fn remark(self) -> &'static str {
        match self {
            Detail::Whole => "",
            Detail::WithoutIntervals => {
                "To keep the page small, this document lacks the figures of each quarter of a second. "
            }
            Detail::WithoutRounds => {
                "To keep the page small, this document lacks the rounds. Their rates are in the table above. "
            }
            Detail::WithoutRates => {
                "To keep the page small, this document lacks the rounds, and the tables lack their rates. "
            }
            Detail::Nothing => {
                "To keep the page small, it contains neither the JSON document nor the rate of each round. "
            }
        }
    }
}

/// The most bytes of a page: people send pages by mail and keep many of them. If the documents exceed it, the page
/// contains them in less detail.
pub const LARGEST: usize = 300_000;

/// Returns the page: a section for each run, for each other result file, and for the tables of the paper if they are
/// requested.
pub fn page(runs: &[Run], others: &[Other], paper: Option<&PaperDocument>) -> String {
    let mut titles = titles(runs);
    titles.extend(others.iter().map(Other::title));
    titles.extend(paper.map(|_| replication::TITLE.to_owned()));
    let is_one = titles.len() == 1;
    let sections = |has_rates: bool| {
        let mut titled = titles.iter().zip((1..).map(|number| parts::Place { number, is_one }));
        let mut sections: Vec<Markup> = Vec::new();
        let of_runs = runs.iter().zip(titled.by_ref());
        sections.extend(of_runs.map(|(run, (title, place))| run::section(run, title, place, has_rates)));
        let of_others = others.iter().zip(titled.by_ref());
        sections.extend(of_others.map(|(other, (title, place))| other.section(title, place, has_rates)));
        sections.extend(paper.zip(titled.next()).map(|(paper, (_, place))| replication::section(paper, place)));
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
    let documents =
        |detail| html! { (raw_data::documents(runs, detail)) (raw_data::others(others, runs.len(), detail)) };
    // The long sections are not built if even the short ones do not fit, and no document is serialised only to be
    // discarded.
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

/// Returns the title of each section. Runs with the same title also get their identifiers and start times.
fn titles(runs: &[Run]) -> Vec<String> {
    let titles: Vec<String> = runs.iter().map(|run| run::title(run.document)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    titles.iter().for_each(|title| *counts.entry(title).or_default() += 1);
    let unique = runs.iter().zip(&titles).map(|(run, title)| {
        if counts[title.as_str()] > 1 {
            format!("{title}: {}, {} UTC", run.name, DateTime::from_unix(run.document.run.started_unix_s))
        } else {
            title.clone()
        }
    });
    unique.collect()
}

/// Returns the sections with everything around them: head, navigation and documents.
fn framed(title: &str, titles: &[String], side_by_side: &Markup, sections: &[Markup], documents: Markup) -> Markup {
    // The page of the paper has no separate section of figures: the whole page is figures.
    let figures = sections.first().filter(|section| section.0.contains("id=\"r1-figures\""));
    let figures = figures.map_or("#page", |_| "#r1-figures");
    // The style of the page comes last, so that its colours take precedence.
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
                // Without this link, browsers request an icon from the server.
                link rel="icon" href="data:,";
                title { (title) " - diskperf" }
                style { (PreEscaped(style)) }
            }
            body {
                a class="skip" href=(figures) { "Skip to the figures" }
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
                    ". This page loads nothing from the network."
                }
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    }
}

/// Content security policy: the page loads nothing from anywhere. It may use its own style, its own script, and images
/// embedded as `data:` URLs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
