//! A choice as one table: a row for each test, a column for each alternative, the ratio as a dot with its interval. The
//! use, the requirements and the prices are above the tests, the reasons are below them.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use stats::compare::target_comparison::rows;
use stats::{Cell, Choice, Comparison, Document, Need, Rate};

use super::parts::Place;
use super::results_table::star;
use super::target_letters::ShownDocument;
use crate::cause::{NO_CAUSE, reason};
use crate::cell_names::{CellNames, different, grouped};
use crate::chart::{Axis, colour};
use crate::compare::target_comparison;
use crate::display_names::conditions;
use crate::layouts::plain::groups;
use crate::presentation::Presentation;
use crate::rate_format::beside_ratio;

/// The data that all rows of the table share.
struct Matrix<'a> {
    choice: &'a Choice,
    names: Vec<&'a str>,
    axis: Axis,
    place: Place,
}

/// A test: its name, its group, its result and figure on each alternative, its comparisons, and their reasons.
struct Test<'a> {
    name: String,
    group: String,
    cells: Vec<Option<&'a Cell>>,
    figures: Vec<Option<Rate>>,
    pairs: Vec<&'a Comparison>,
    reasons: Vec<String>,
}

/// Returns the table of a choice that has no stages.
pub fn matrix(shown: &ShownDocument, choice: &Choice, presentation: Presentation, place: Place) -> Markup {
    let document = shown.document();
    let names: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    let of_use: Vec<&Comparison> = choice.purpose.iter().flat_map(|purpose| &purpose.comparisons).collect();
    let all: Vec<&Comparison> = choice.comparisons.iter().chain(of_use.iter().copied()).collect();
    let axis = Axis::from_comparisons(&all, choice.margin);
    let matrix = Matrix { choice, names, axis, place };
    let tests = matrix.tests(document, presentation);
    let groups = grouped(tests.into_iter().map(|test| (test.group.clone(), test)));
    html! {
        div class="wide" role="region" aria-label="Comparison of all tests" tabindex="0" {
            table class="matrix" {
                (matrix.head())
                @if let Some(purpose) = &choice.purpose {
                    tbody { (matrix.use_row(&format!("For {}", purpose.name), &of_use)) }
                }
                @if !choice.needs.is_empty() || !choice.prices.is_empty() {
                    tbody {
                        (matrix.group("Requirements and prices"))
                        @for condition in different(choice.needs.iter().map(|need| need.condition.as_str())) {
                            (matrix.need(condition))
                        }
                        @if !choice.prices.is_empty() { (matrix.price()) }
                    }
                }
                @for (group, tests) in &groups {
                    tbody {
                        @if groups.len() > 1 || !choice.needs.is_empty() { (matrix.group(group)) }
                        @for test in tests { (matrix.test(test)) }
                    }
                }
            }
        }
    }
}

impl<'a> Matrix<'a> {
    /// Returns the tests, in the order of the table of all figures.
    fn tests(&self, document: &'a Document, presentation: Presentation) -> Vec<Test<'a>> {
        let cell_names = CellNames::from_cells(&document.cells);
        let mut of_tests: BTreeMap<&str, Vec<&Comparison>> = BTreeMap::new();
        for pair in &self.choice.comparisons {
            of_tests.entry(&pair.program).or_default().push(pair);
        }
        let groups = groups(&document.cells, presentation);
        let titles: BTreeMap<String, (usize, &str)> = groups
            .iter()
            .enumerate()
            .flat_map(|(place, (title, cells))| cells.iter().map(move |cell| (cell, (place, title.as_str()))))
            .map(|(cell, title)| (cell_names.name(cell), title))
            .collect();
        let mut tests: Vec<(usize, Test)> = Vec::new();
        for row in rows(&document.cells, &self.names) {
            let Some(any) = row.cells.iter().flatten().next() else { continue };
            let name = cell_names.name(any);
            let (place, group) = titles.get(&name).copied().unwrap_or_default();
            let pairs = of_tests.get(name.as_str()).cloned().unwrap_or_default();
            let reasons = different(pairs.iter().filter_map(|pair| self.reason(pair, &row.cells)));
            let (figures, cells) = (row.figures(), row.cells);
            tests.push((place, Test { name, group: group.to_owned(), cells, figures, pairs, reasons }));
        }
        tests.sort_by_key(|(place, _)| *place);
        tests.into_iter().map(|(_, test)| test).collect()
    }

    /// Returns why one alternative is faster. Most reasons name both alternatives. If there are more than two, a reason
    /// that does not name them gets their names.
    fn reason(&self, pair: &Comparison, cells: &[Option<&Cell>]) -> Option<String> {
        let reason = reason(pair, &self.names, cells)?;
        let is_plain = self.names.len() > 2 && reason == NO_CAUSE;
        Some(if is_plain { format!("{}, {}: {reason}", pair.first, pair.second) } else { reason })
    }

    fn head(&self) -> Markup {
        let sides = match &self.names[..] {
            [first, second] => [format!("◂ {first} faster"), format!("{second} faster ▸")],
            [first, ..] => [format!("◂ slower than {first}"), "faster ▸".to_owned()],
            [] => Default::default(),
        };
        html! {
            thead {
                tr {
                    th scope="col" { "test" }
                    @for (place, name) in self.names.iter().enumerate() {
                        th scope="col" class={ "n " (colour(place)) } { b { (name) } }
                    }
                    th scope="col" class="plots" {
                        span class="sides" { @for side in &sides { span { (side) } } }
                        (PreEscaped(self.axis.labels()))
                    }
                    th scope="col" { "ratio, 95 % interval" }
                    th scope="col" { "why" }
                }
            }
        }
    }

    /// The title of a group of rows.
    fn group(&self, title: &str) -> Markup {
        html! { tr class="group" { th scope="rowgroup" colspan=(self.names.len() + 4) { (title) } } }
    }

    /// Returns a table cell of an alternative. A phone shows no columns, so it prints the name in the cell.
    fn cell(&self, place: usize, class: &str, inside: Markup) -> Markup {
        html! { td class={ "n " (class) } data-name=(self.names[place]) { (inside) } }
    }

    fn test(&self, test: &Test) -> Markup {
        let claimed = conditions(test.cells.iter().flatten().copied());
        html! {
            tr {
                th scope="row" { (test.name) " " small { (claimed) } }
                @for (place, (cell, rate)) in test.cells.iter().zip(&test.figures).enumerate() {
                    @let class = if self.is_fastest(place, &test.pairs) { "best" } else { "" };
                    (self.cell(place, class, figure(cell.zip(rate.as_ref()), self.place)))
                }
                (self.ratios(&test.pairs))
                td class="why" { @for reason in &test.reasons { div { (reason) } } }
            }
        }
    }

    /// Returns the row of a use with its comparisons. A use has no rate.
    fn use_row(&self, name: &str, pairs: &[&Comparison]) -> Markup {
        html! {
            tr class="use" {
                th scope="row" colspan=(self.names.len() + 1) { (name) }
                @if pairs.is_empty() { td colspan="3" { "n.m." } } @else { (self.ratios(pairs)) td {} }
            }
        }
    }

    /// True if an alternative is proven faster than each other one in a test.
    fn is_fastest(&self, place: usize, pairs: &[&Comparison]) -> bool {
        is_fastest(self.names[place], pairs, self.names.len())
    }

    /// Returns the dots and their words. If there are more than two alternatives, each is drawn against the first one,
    /// and the others are compared in words.
    fn ratios(&self, pairs: &[&Comparison]) -> Markup {
        let is_of_many = self.names.len() > 2;
        let drawn: Vec<&&Comparison> = pairs.iter().filter(|pair| !is_of_many || pair.first == self.names[0]).collect();
        let class = |pair: &Comparison| {
            let whose = if is_of_many { Some(&pair.second) } else { pair.faster.as_ref() };
            let place = whose.and_then(|whose| self.names.iter().position(|name| name == whose));
            place.map_or_else(|| "neither".to_owned(), colour)
        };
        let winner = |pair: &Comparison| {
            let place = pair.faster.as_ref().and_then(|faster| self.names.iter().position(|name| name == faster));
            place.map_or_else(|| "neither".to_owned(), colour)
        };
        html! {
            td class="plots" { @for pair in &drawn { (PreEscaped(self.axis.strip(pair, &class(pair)))) } }
            td class="ratio" {
                @if pairs.is_empty() { "n.m." }
                @for pair in pairs {
                    div class=(winner(pair)) { (target_comparison::short(self.choice, pair, is_of_many)) }
                }
            }
        }
    }

    /// Returns the row of a requirement: for each alternative whether it passes.
    fn need(&self, condition: &str) -> Markup {
        let of = |name: &str| self.choice.needs.iter().find(|need| need.condition == condition && need.target == name);
        html! {
            tr {
                th scope="row" { (condition) }
                @for (place, name) in self.names.iter().enumerate() {
                    @let (class, words) = met(of(name));
                    @let measured = of(name).and_then(|need| need.measured.as_deref()).unwrap_or("n.m.");
                    (self.cell(place, class, html! { b { (words) } " " small { (measured) } }))
                }
                td colspan="3" {}
            }
        }
    }

    /// Returns the row of prices, as the user typed them.
    fn price(&self) -> Markup {
        html! {
            tr {
                th scope="row" { "price" }
                @for (place, name) in self.names.iter().enumerate() {
                    (self.cell(place, "", html! { (target_comparison::price(self.choice, name)) }))
                }
                td colspan="3" {}
            }
        }
    }
}

/// True if an alternative is proven faster than each of the others.
pub fn is_fastest(name: &str, pairs: &[&Comparison], alternatives: usize) -> bool {
    let won = pairs.iter().filter(|pair| target_comparison::is_won(pair, name)).count();
    won > 0 && won + 1 == alternatives
}

/// Returns the rate of a result, or `n.m.`.
fn figure(cell: Option<(&Cell, &Rate)>, place: Place) -> Markup {
    html! {
        @match cell {
            Some((cell, rate)) => { (beside_ratio(rate)) (star(cell, place)) },
            None => "n.m.",
        }
    }
}

/// Returns the CSS class and the words of a requirement.
fn met(need: Option<&Need>) -> (&'static str, &'static str) {
    match need.and_then(|need| need.met) {
        Some(true) => ("pass", "✓ pass"),
        Some(false) => ("fail", "✗ fail"),
        None => ("unknown", "? not known"),
    }
}

#[cfg(test)]
mod tests {
    use stats::Verdict;

    use super::*;
    use crate::compare::fixtures::pair;

    #[test]
    fn the_fastest_is_faster_than_each_other() {
        let faster = pair(Verdict::Faster, [1.1, 1.2, 1.3]);
        let open = pair(Verdict::Undecided, [0.9, 1.0, 1.1]);
        assert!(is_fastest("xfs", &[&faster], 2) && !is_fastest("ext4", &[&faster], 2));
        assert!(!is_fastest("xfs", &[&faster, &open], 3) && is_fastest("xfs", &[&faster, &faster, &open], 3));
        assert!(!is_fastest("xfs", &[], 1));
    }
}
