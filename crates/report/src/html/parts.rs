//! Parts that all sections of the page use: headings, tables, charts.

use maud::{Markup, PreEscaped, html};

use crate::chart::{Chart, Subject};
use crate::table::{Column, Grid, Line};

/// The position of a section in the page.
#[derive(Clone, Copy)]
pub struct Place {
    /// The number of the section, from 1.
    pub number: usize,
    /// True if it is the only section: its title is then the title of the page.
    pub is_one: bool,
}

impl Place {
    /// Returns an element id in the section, unique in the page: `r1-noise`.
    pub fn id(self, word: &str) -> String {
        format!("r{}-{word}", self.number)
    }

    /// Returns the title of the section.
    pub fn title(self, title: &str) -> Markup {
        html! {
            @if self.is_one { h1 { (title) } } @else { h2 class="run" { (title) } }
        }
    }

    /// Returns the title of a part of the section.
    pub fn heading(self, title: &str) -> Markup {
        html! {
            @if self.is_one { h2 { (title) } } @else { h3 { (title) } }
        }
    }
}

/// Returns a box that scrolls by itself if its content is wider than a phone. The keyboard can focus it.
pub fn wide(label: &str, inside: Markup) -> Markup {
    html! {
        div class="wide" role="region" aria-label=(label) tabindex="0" { (inside) }
    }
}

/// Returns the CSS class of a column: words are aligned left, figures right.
pub fn side(is_right: bool) -> Option<&'static str> {
    is_right.then_some("n")
}

/// Returns a table with the columns of the terminal table. The first column names the row.
pub fn table(label: &str, grid: &Grid) -> Markup {
    let (columns, lines) = grid.contents();
    wide(label, rows(None, &columns, &lines))
}

/// Returns the rows of a table under their columns, whether a column has any text or not.
pub fn rows(class: Option<&str>, columns: &[&Column], lines: &[Line]) -> Markup {
    html! {
        table class=[class] {
            thead {
                tr {
                    @for column in columns {
                        th scope="col" class=[side(column.is_right())] {
                            @if column.heading().is_empty() { "test" } @else { (column.heading()) }
                        }
                    }
                }
            }
            tbody {
                @for line in lines {
                    @match line {
                        Line::Row(row) => tr {
                            @for (place, (text, column)) in row.iter().zip(columns).enumerate() {
                                @let class = side(column.is_right());
                                @if place == 0 { th scope="row" class=[class] { (text) } }
                                @else { td class=[class] { (text) } }
                            }
                        },
                        Line::Title(title) => tr class="group" {
                            th colspan=(columns.len()) scope="colgroup" { (title) }
                        },
                    }
                }
            }
        }
    }
}

/// Returns the charts of a subject. Small charts are side by side if there is room.
pub fn charts(charts: &[Chart], subject: Subject) -> Markup {
    let charts = || charts.iter().filter(|chart| chart.subject == subject);
    let small = [Subject::Hosts, Subject::OverTime, Subject::Sweep, Subject::Setting];
    let is_small = small.contains(&subject) && charts().count() > 1;
    html! {
        div class=(if is_small { "charts multiples" } else { "charts" }) { @for chart in charts() { (figure(chart)) } }
    }
}

/// Returns a chart and the names of its series, which the script turns into buttons. The chart itself contains a
/// description in words, for readers who cannot see it.
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
