//! The page of a power-cut test: the verdict, a table of checks, the records of each kind, and the power cuts that lost
//! any.

use maud::{Markup, html};
use stats::Verification;

use super::parts::{Place, table, wide};
use crate::verification::{Check, Outcome, checks, cuts_grid, grid, sentences};

/// The title of the section: `Power cuts: image:ext4`
pub fn title(verification: &Verification) -> String {
    format!("Power cuts: {}", verification.target)
}

/// Returns the whole section of a verification.
pub fn section(verification: &Verification, title: &str, place: Place) -> Markup {
    let Verification { kernel, seed, version, cuts, errors, interrupted, .. } = verification;
    let all = checks(verification);
    let said = sentences(verification);
    html! {
        section id={ "r" (place.number) } {
            (place.title(title))
            @if *interrupted {
                p class="lead" { b { "Interrupted after " (cuts.len()) " power cuts." } }
            }
            @if let (Some(first), Some(check)) = (said.first(), all.first()) {
                @let (class, words) = shown(check.outcome);
                p class="lead" { b class=(class) { (words) } " " (first) }
            }
            @if !errors.is_empty() {
                ul class="wrong" {
                    @for problem in errors {
                        li { (problem.message) @if let Some(hint) = &problem.hint { span class="why" { " " (hint) } } }
                    }
                }
            }
            p class="when" { (kernel) ", seed " (seed) ", by diskperf " (version) }
            (place.heading("Checks"))
            div id=(place.id("figures")) { (wide("Checks", rows(&all))) }
            @if cuts.iter().any(|cut| cut.acknowledged() > 0) {
                (place.heading("Records by kind"))
                (table("Records by kind", &grid(verification, "records")))
            }
            @if let Some(cuts) = cuts_grid(verification) {
                (place.heading("Power cuts with losses"))
                (table("Power cuts with losses", &cuts))
            }
            (place.heading("Notes"))
            @for line in said.iter().skip(1).filter(|line| !line.starts_with(' ')) { p class="why" { (line) } }
            p class="why" {
                "Acknowledged: fsync had returned. Missing: the record is gone. Torn: only a part of the record is \
                 right. Stale: an older version of the record is there."
            }
        }
    }
}

fn rows(all: &[Check]) -> Markup {
    html! {
        table class="checks" {
            thead { tr { th scope="col" { "check" } th scope="col" { "result" } th scope="col" { "found" } } }
            tbody {
                @for check in all {
                    @let (class, words) = shown(check.outcome);
                    tr { th scope="row" { (check.name) } td class=(class) { b { (words) } } td { (check.found) } }
                }
            }
        }
    }
}

fn shown(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Pass => ("pass", "✓ pass"),
        Outcome::Fail => ("fail", "✗ fail"),
        Outcome::NotKnown => ("unknown", "? not known"),
    }
}
