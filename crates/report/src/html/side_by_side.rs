//! Several runs in one chart, above the sections of the runs.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use stats::{Cell, Document, Provenance, TargetInfo};
use units::DateTime;

use super::Run;
use super::parts::figure;
use super::target_letters::ShownDocument;
use crate::cell_names::CellNames;
use crate::chart;

/// Returns the chart and its key; empty if the runs have no test in common.
pub fn side_by_side(runs: &[Run]) -> Markup {
    let Some(document) = merged(runs) else { return html! {} };
    let shown = ShownDocument::from_document(&document);
    html! {
        @if let Some(chart) = chart::runs(shown.document()) {
            h2 { "All runs" }
            (shown.key())
            (figure(&chart))
        }
    }
}

/// Returns one document with the results of all runs, the oldest run first. Each run, and each target of a run, becomes
/// a target of it.
fn merged(runs: &[Run]) -> Option<Document> {
    let mut ordered: Vec<&Run> = runs.iter().collect();
    ordered.sort_by(|one, other| one.document.run.started_unix_s.total_cmp(&other.document.run.started_unix_s));
    let mut merged = ordered.first()?.document.clone();
    merged.run.targets.clear();
    merged.cells.clear();
    for (place, run) in ordered.iter().enumerate() {
        let is_again = ordered[..place].iter().any(|other| other.name == run.name);
        let number = if is_again { format!(" ({})", place + 1) } else { String::new() };
        let is_one = run.document.run.targets.len() == 1;
        for target in &run.document.run.targets {
            let of_target = if is_one { String::new() } else { format!(" {}", target.name) };
            let name = format!("{}{number}{of_target}", run.name);
            let began = DateTime::from_unix(run.document.run.started_unix_s);
            let argument = format!("{}, {began} UTC", target.name);
            merged.run.targets.push(TargetInfo { name: name.clone(), argument, ..target.clone() });
            let own = run.document.cells.iter().filter(|cell| {
                cell.target == target.name && !cell.together && cell.provenance != Provenance::Published
            });
            merged.cells.extend(own.map(|cell| Cell { target: name.clone(), ..cell.clone() }));
        }
    }
    keep_common(&mut merged);
    Some(merged)
}

/// Keeps the tests of one preset that several runs have in common, and the runs that have any of them.
fn keep_common(document: &mut Document) {
    let names = CellNames::from_cells(&document.cells);
    let keys: Vec<(String, String)> =
        document.cells.iter().map(|cell| (cell.preset.clone(), names.name(cell))).collect();
    let mut of_tests: BTreeMap<&(String, String), BTreeSet<&str>> = BTreeMap::new();
    for (key, cell) in keys.iter().zip(&document.cells).filter(|(_, cell)| cell.rate.is_some()) {
        of_tests.entry(key).or_default().insert(&cell.target);
    }
    let is_common: Vec<bool> = keys.iter().map(|key| of_tests.get(key).is_some_and(|runs| runs.len() > 1)).collect();
    let mut is_common = is_common.into_iter();
    document.cells.retain(|cell| is_common.next() == Some(true) && cell.rate.is_some());
    let runs: BTreeSet<&str> = document.cells.iter().map(|cell| cell.target.as_str()).collect();
    document.run.targets.retain(|target| runs.contains(target.name.as_str()));
}
