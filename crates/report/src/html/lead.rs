//! The sentence that a page of a choice begins with: which alternative is faster in how many tests, and which of them
//! meet what is required. All of it in more words is below the table.

use maud::{Markup, html};
use stats::{Choice, Comparison, Document, Verdict};

use super::matrix::is_fastest;
use crate::chart::colour;
use crate::choice::{enough, figure, percent};
use crate::names::grouped;
use crate::{choice, stages};

/// The sentence, and one more if anything is required.
pub fn lead(document: &Document, choice: &Choice) -> Markup {
    let names: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    html! {
        p class="lead" {
            @if !choice.stages.is_empty() { (stages::verdict(choice).pop().unwrap_or_default()) }
            @else { (fastest(choice, &names)) }
            @if !choice.needs.is_empty() { " " (required(choice, &names)) }
        }
    }
}

/// What the tests came to.
fn fastest(choice: &Choice, names: &[&str]) -> Markup {
    let tests = grouped(choice.comparisons.iter().map(|pair| (pair.program.as_str(), pair)));
    if let ([_, _], [(_, pairs)]) = (names, &tests[..])
        && let [pair] = pairs[..]
    {
        return html! { (choice::only(choice, pair)) };
    }
    let all = tests.len();
    let mut won: Vec<(usize, Vec<&Comparison>)> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let own = tests.iter().filter(|(_, pairs)| is_fastest(name, pairs, names.len()));
        won.push((place, own.map(|(_, pairs)| least(name, pairs)).collect()));
    }
    won.retain(|(_, pairs)| !pairs.is_empty());
    won.sort_by_key(|(_, pairs)| std::cmp::Reverse(pairs.len()));
    let of = |verdict| tests.iter().filter(|(_, pairs)| pairs.iter().all(|pair| pair.verdict == verdict)).count();
    let same = of(Verdict::Same);
    let decided: usize = won.iter().map(|(_, pairs)| pairs.len()).sum();
    let open = all.saturating_sub(decided + same);
    let comparative = if names.len() > 2 { "fastest" } else { "faster" };
    html! {
        @for (index, (place, pairs)) in won.iter().enumerate() {
            b class=(colour(*place)) { (names[*place]) }
            " is " (comparative) " in " (pairs.len())
            @if index == 0 { " of " (all) @if all == 1 { " test" } @else { " tests" } }
            (most(pairs)) ". "
        }
        @if won.is_empty() { "No alternative is proven " (comparative) " in any of " (all) " tests. " }
        @if same > 0 { (counted(same)) " within " (percent(choice.margin)) " of each other. " }
        @if open > 0 && !won.is_empty() { (counted(open)) " not decided." }
    }
}

/// The comparison of the fastest with the next.
fn least<'a>(name: &str, pairs: &[&'a Comparison]) -> &'a Comparison {
    let own = pairs.iter().filter(|pair| pair.faster.as_deref() == Some(name));
    own.min_by(|one, other| size(one).total_cmp(&size(other))).expect("it is faster than one")
}

fn size(pair: &Comparison) -> f64 {
    pair.ratio.map_or(0.0, |ratio| ratio.ln().abs())
}

/// `, most in create (9.0×)`
fn most(pairs: &[&Comparison]) -> String {
    let Some(most) = pairs.iter().max_by(|one, other| size(one).total_cmp(&size(other))) else { return String::new() };
    let ratio = figure(size(most).exp());
    match pairs {
        [_] => format!(": {} ({ratio}×)", most.program),
        _ => format!(", most in {} ({ratio}×)", most.program),
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 test is".to_owned() } else { format!("{count} tests are") }
}

/// Which alternatives are known to meet all that is required.
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
