//! The first sentences of the page of a choice: which alternative is faster in how many tests, and which alternatives
//! meet the requirements. The details are below the table.

use maud::{Markup, html};
use stats::{Choice, Comparison, Document, Verdict};

use super::choice_table::is_fastest;
use crate::cell_names::grouped;
use crate::chart::colour;
use crate::compare::target_comparison;
use crate::compare::target_comparison::enough;
use crate::compare::verdict::{cause_of_noise, figure, percent};

/// Returns the sentence about speed, and one about the requirements if there are any.
pub fn lead(document: &Document, choice: &Choice) -> Markup {
    let names: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    let cause = cause_of_noise(&document.run);
    html! {
        p class="lead" {
            @if let (Some(purpose), [_, _]) = (&choice.purpose, &names[..]) {
                @for pair in &purpose.comparisons {
                    "For " (purpose.name) ": " (target_comparison::short(choice, pair, false)) ". "
                }
            }
            @match &choice.stages[..] {
                [first, .., last] => {
                    @let is_meant = |pair: &&Comparison| pair.first == first.target && pair.second == last.target;
                    @let pairs = choice.comparisons.iter().filter(is_meant);
                    "Last stage compared with the first: "
                    (fastest(choice, pairs, (&names, &[&first.target, &last.target]), &cause))
                },
                _ => (fastest(choice, choice.comparisons.iter(), (&names, &names), &cause)),
            }
            @if !choice.needs.is_empty() { " " (required(choice, &names)) }
        }
    }
}

/// Returns the result of the tests between some targets: between all of them, or between the first and the last stage.
/// `cause` is that of noise.
fn fastest<'a>(
    choice: &'a Choice,
    pairs: impl Iterator<Item = &'a Comparison>,
    (all_names, names): (&[&str], &[&str]),
    cause: &str,
) -> Markup {
    let tests = grouped(pairs.map(|pair| (pair.program.as_str(), pair)));
    if let ([_, _], [(_, pairs)]) = (names, &tests[..])
        && let [pair] = pairs[..]
    {
        return html! { (target_comparison::only(choice, pair, cause)) };
    }
    let all = tests.len();
    if all == 0 {
        return html! { "No test was measured on two alternatives in the same round." };
    }
    let mut won: Vec<(usize, Vec<&Comparison>)> = Vec::new();
    for (place, name) in all_names.iter().enumerate().filter(|(_, name)| names.contains(name)) {
        let own = tests.iter().filter(|(_, pairs)| is_fastest(name, pairs, names.len()));
        won.push((place, own.map(|(_, pairs)| least(name, pairs)).collect()));
    }
    won.retain(|(_, pairs)| !pairs.is_empty());
    won.sort_by_key(|(_, pairs)| std::cmp::Reverse(pairs.len()));
    let of = |verdict| tests.iter().filter(|(_, pairs)| pairs.iter().all(|pair| pair.verdict() == verdict)).count();
    let same = of(Verdict::Same);
    let decided: usize = won.iter().map(|(_, pairs)| pairs.len()).sum();
    let open = all.saturating_sub(decided + same);
    let comparative = if names.len() > 2 { "fastest" } else { "faster" };
    html! {
        @for (index, (place, pairs)) in won.iter().enumerate() {
            b class=(colour(*place)) { (all_names[*place]) }
            " is " (comparative) " in " (pairs.len())
            @if index == 0 { " of " (all) @if all == 1 { " test" } @else { " tests" } }
            (most(pairs)) ". "
        }
        @if won.is_empty() { "No alternative is proven " (comparative) " in any test. " }
        @if same > 0 { "In " (counted(same)) " they are within " (percent(choice.margin)) " of each other. " }
        @if open > 0 && !won.is_empty() {
            // Two of several alternatives may both be faster than the rest: that is a result too.
            @if names.len() > 2 { "None is proven fastest in " (counted(open)) "." }
            @else { (counted(open)) @if open == 1 { " is" } @else { " are" } " not decided." }
        }
    }
}

/// Returns the comparison of the fastest alternative with the next one.
fn least<'a>(name: &str, pairs: &[&'a Comparison]) -> &'a Comparison {
    let own = pairs.iter().filter(|pair| target_comparison::is_won(pair, name));
    own.min_by(|one, other| one.estimate().distance().total_cmp(&other.estimate().distance()))
        .expect("it is faster than one")
}

/// The test with the largest difference: `, most in create (9.0×)`
fn most(pairs: &[&Comparison]) -> String {
    let Some(most) =
        pairs.iter().max_by(|one, other| one.estimate().distance().total_cmp(&other.estimate().distance()))
    else {
        return String::new();
    };
    let ratio = figure(most.estimate().distance().exp());
    match pairs {
        [_] => format!(": {} ({ratio}×)", most.program),
        _ => format!(", most in {} ({ratio}×)", most.program),
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

/// Returns the alternatives that are known to meet all requirements.
fn required(choice: &Choice, names: &[&str]) -> Markup {
    let enough = enough(&choice.needs, names);
    html! {
        @match &enough[..] {
            [] => "No alternative is known to meet all requirements.",
            [one] => { b class=(colour_of(names, one)) { (one) } " meets all requirements." },
            [first @ .., last] => {
                @for (place, name) in first.iter().enumerate() {
                    @if place > 0 { ", " }
                    b class=(colour_of(names, name)) { (name) }
                }
                " and " b class=(colour_of(names, last)) { (last) } " meet all requirements."
            },
        }
    }
}

fn colour_of(names: &[&str], name: &str) -> String {
    names.iter().position(|known| *known == name).map_or_else(String::new, colour)
}
