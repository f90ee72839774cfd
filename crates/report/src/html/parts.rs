//! What sections of the page share: headings, tables, charts.

use maud::{Markup, PreEscaped, html};

use crate::chart::{Chart, Subject};
use crate::grid::{Grid, Line};

/// Where a section stands.
#[derive(Clone, Copy)]
pub struct Place {
    /// Which, from 1.
    pub number: usize,
    /// Whether it is the only one: its title is then that of the page.
    pub is_one: bool,
}

impl Place {
    /// The name of a place in the section, unique in the page: `r1-noise`.
    pub fn id(self, word: &str) -> String {
        format!("r{}-{word}", self.number)
    }

    /// The title of the section.
    pub fn title(self, title: &str) -> Markup {
        html! {
            @if self.is_one { h1 { (title) } } @else { h2 class="run" { (title) } }
        }
    }

    /// The title of a part of it.
    pub fn heading(self, title: &str) -> Markup {
        html! {
            @if self.is_one { h2 { (title) } } @else { h3 { (title) } }
        }
    }
}

/// What is wider than a phone moves in a box of its own, which a keyboard reaches.
pub fn wide(label: &str, inside: Markup) -> Markup {
    html! {
        div class="wide" role="region" aria-label=(label) tabindex="0" { (inside) }
    }
}

/// Words begin at the left, figures end at the right.
pub fn side(is_right: bool) -> Option<&'static str> {
    is_right.then_some("n")
}

/// A table as a terminal would print it, by its columns; the first names the row.
pub fn table(label: &str, grid: &Grid) -> Markup {
    let (columns, lines) = grid.contents();
    let rights: Vec<bool> = columns.iter().map(|column| column.is_right()).collect();
    let cells = |row: &[String]| {
        html! {
            @for (place, (text, is_right)) in row.iter().zip(&rights).enumerate() {
                @if place == 0 { th scope="row" class=[side(*is_right)] { (text) } }
                @else { td class=[side(*is_right)] { (text) } }
            }
        }
    };
    let inside = html! {
        table {
            thead {
                tr {
                    @for column in &columns {
                        th scope="col" class=[side(column.is_right())] {
                            @if column.heading().is_empty() { "program" } @else { (column.heading()) }
                        }
                    }
                }
            }
            tbody {
                @for line in &lines {
                    @match line {
                        Line::Row(row) => tr { (cells(row)) },
                        Line::Title(title) => tr class="group" {
                            th colspan=(columns.len()) scope="colgroup" { (title) }
                        },
                    }
                }
            }
        }
    };
    wide(label, inside)
}

/// The charts about a subject; small ones side by side if there is room.
pub fn charts(charts: &[Chart], subject: Subject) -> Markup {
    let charts = || charts.iter().filter(|chart| chart.subject == subject);
    let is_small = [Subject::OverTime, Subject::Sweep].contains(&subject) && charts().count() > 1;
    html! {
        div class=(if is_small { "charts multiples" } else { "charts" }) { @for chart in charts() { (figure(chart)) } }
    }
}

/// A chart, and the names of its series, which the script makes buttons of. What it says in words stands in the chart
/// itself, for who does not see it.
pub fn figure(chart: &Chart) -> Markup {
    html! {
        figure {
            figcaption { (chart.title) }
            @if chart.series.len() > 1 {
                ul class="legend" {
                    @for (place, series) in chart.series.iter().enumerate() {
                        li class=(chart.class(place)) data-series=(series) {
                            svg aria-hidden="true" width="24" height="8" { line x2="24" y1="4" y2="4" {} } (series)
                        }
                    }
                }
            }
            div class="plot" { (PreEscaped(&chart.svg)) }
        }
    }
}
