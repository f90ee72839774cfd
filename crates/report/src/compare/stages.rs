//! Stages of a setup, in the form of table 5 of Kridle & McKusick 1983 for the stages of a controller. Each stage has a
//! column with its changes as the heading. Under each rate is the ratio to the previous stage.

use std::collections::BTreeMap;

use stats::compare::stages::{Step, steps};
use stats::compare::target_comparison::{Row, rows};
use stats::{Cell, Choice, Comparison, Document, Purpose, Rate, Stage, Verdict};

use crate::cell_names::{CellNames, grouped};
use crate::compare::verdict::{
    interval, is_too_noisy, largest_first, maybe_little, more, percent, ratio, times, without_difference,
};
use crate::display_names::unit;
use crate::rate_format::value_beside_ratio;
use crate::table::{Column, Grid};

/// The heading for all changes together.
const TOGETHER: &str = "all stages together";

/// The heading of a stage without a change from the previous one.
const NOTHING: &str = "nothing changed";

/// Returns a line for each stage and one for all stages together: the tests that became faster or slower. `cause` is
/// that of noise.
pub fn verdict(choice: &Choice, cause: &str) -> Vec<String> {
    let line = |(step, pair)| {
        let gave = gave(choice, &of_pair(choice, &choice.comparisons, pair), cause);
        match step {
            Step::At(place) => format!("Stage {}, {}: {gave}.", place + 1, changed(choice, place)),
            Step::All => format!("All stages together: {gave}."),
        }
    };
    steps(choice.stages.len()).map(line).collect()
}

/// Returns the gain of each stage for a use.
pub fn for_use(choice: &Choice, purpose: &Purpose) -> String {
    let part = |(step, pair)| {
        let pair = *of_pair(choice, &purpose.comparisons, pair).first()?;
        let more = match (pair.verdict(), &pair.why) {
            (Verdict::Undecided, Some(why)) => format!(", {why}"),
            (Verdict::Undecided, None) => more(choice, pair),
            _ => String::new(),
        };
        let label = match step {
            Step::At(place) => changed(choice, place),
            Step::All => TOGETHER.to_owned(),
        };
        Some(format!("{label} {}{more}", short(choice, pair)))
    };
    let parts: Vec<String> = steps(choice.stages.len()).filter_map(part).collect();
    format!("For {}: {}.", purpose.name, parts.join("; "))
}

/// Returns the comparisons of two stages, given by their indexes.
fn of_pair<'a>(choice: &Choice, all: &'a [Comparison], (first, second): (usize, usize)) -> Vec<&'a Comparison> {
    let is_of = |name: &str, place: usize| choice.stages.get(place).is_some_and(|stage| stage.target == name);
    all.iter().filter(|pair| is_of(&pair.first, first) && is_of(&pair.second, second)).collect()
}

/// The comparisons of a choice by program and the two stages; the first one if there are several.
struct StageComparisons<'a> {
    choice: &'a Choice,
    comparisons: BTreeMap<[&'a str; 3], &'a Comparison>,
}

impl<'a> StageComparisons<'a> {
    fn from_choice(choice: &'a Choice) -> StageComparisons<'a> {
        let mut comparisons = BTreeMap::new();
        for pair in &choice.comparisons {
            comparisons.entry([&*pair.program, &pair.first, &pair.second]).or_insert(pair);
        }
        StageComparisons { choice, comparisons }
    }

    fn find_comparison(&self, program: &str, (first, second): (usize, usize)) -> Option<&'a Comparison> {
        let stage = |place: usize| Some(self.choice.stages.get(place)?.target.as_str());
        self.comparisons.get(&[program, stage(first)?, stage(second)?]).copied()
    }
}

/// Returns the changes of a stage.
fn changed(choice: &Choice, place: usize) -> String {
    let changed = &choice.stages[place].changed;
    if changed.is_empty() { NOTHING.to_owned() } else { changed.join(", ") }
}

/// Returns the tests that are faster or slower, the largest difference first, and the number of the others.
fn gave(choice: &Choice, pairs: &[&Comparison], cause: &str) -> String {
    let (mut differing, others): (Vec<&Comparison>, Vec<&Comparison>) =
        pairs.iter().copied().partition(|pair| pair.verdict().is_difference());
    largest_first(&mut differing);
    if pairs.is_empty() {
        return "n.m., no test was measured on both in the same round".to_owned();
    }
    let open = || others.iter().filter(|pair| pair.verdict() == Verdict::Undecided);
    let longest = open().filter(|pair| !is_too_noisy(choice, pair)).max_by_key(|pair| pair.more_rounds);
    let more = longest.map_or_else(String::new, |pair| more(choice, pair));
    let rest = without_difference(choice, &others, [&more, cause]).join(", ");
    if differing.is_empty() && open().next().is_none() {
        let tests = if pairs.len() == 1 { "the only test" } else { "all tests" };
        return format!("same within {} in {tests}", percent(choice.margin));
    }
    if differing.is_empty() {
        return format!("no difference proven ({rest})");
    }
    let said = |pair: &&Comparison| {
        format!("{} {}{}", pair.program, times(pair.estimate()), maybe_little(choice.margin, pair.matters))
    };
    let said = differing.iter().map(said).collect::<Vec<String>>().join("; ");
    if rest.is_empty() { said } else { format!("{said}; {rest}") }
}

/// `x1.17 (1.12-1.23)`: the ratio of the later stage to the earlier one, even if it is slower.
fn short(choice: &Choice, pair: &Comparison) -> String {
    let (estimate, verdict) = (pair.estimate(), pair.verdict());
    let words = match verdict {
        _ if verdict.is_difference() => format!("x{}", ratio(estimate)),
        _ if is_too_noisy(choice, pair) => "too noisy".to_owned(),
        _ => verdict.name().to_owned(),
    };
    let perhaps = if verdict.is_difference() { maybe_little(choice.margin, pair.matters) } else { String::new() };
    words + &interval(estimate) + &perhaps
}

/// Returns two rows for each test: the rate of each stage, and its gain.
pub fn grid(document: &Document, choice: &Choice) -> Grid {
    let stages = &choice.stages;
    let names: Vec<&str> = stages.iter().map(|stage| stage.target.as_str()).collect();
    let mut columns = vec![Column::words("")];
    columns.extend(stages.iter().enumerate().map(|(place, stage)| Column::figures(heading(document, place, stage))));
    columns.push(Column::figures(TOGETHER.replacen(' ', "\n", 1)));
    let mut grid = Grid::new(columns);
    let (cell_names, pairs) = (CellNames::from_cells(&document.cells), StageComparisons::from_choice(choice));
    for row in rows(&document.cells, &names) {
        let Some(any) = row.cells.iter().flatten().next() else { continue };
        let name = cell_names.name(any);
        grid.row([name.clone()].into_iter().chain(reached(&row)));
        let step = |(_, pair)| pairs.find_comparison(&name, pair).map_or_else(String::new, |pair| short(choice, pair));
        let unit = any.rate.as_ref().map_or_else(String::new, |rate| format!("  {}", unit(&rate.unit)));
        // The first stage has no previous stage, so it has no gain.
        grid.row([unit, String::new()].into_iter().chain(steps(stages.len()).map(step)));
    }
    grid
}

/// Returns a row for each test, for HTML pages, which break lines themselves: the rate of each stage, and its gain.
pub fn page_grid(document: &Document, choice: &Choice) -> Grid {
    let stages = &choice.stages;
    let names: Vec<&str> = stages.iter().map(|stage| stage.target.as_str()).collect();
    let heading = |(place, stage)| {
        let [number, settings @ ..] = &headings(document, place, stage)[..] else { return String::new() };
        [number.clone()]
            .into_iter()
            .chain(Some(settings.join(", ")).filter(|text| !text.is_empty()))
            .collect::<Vec<_>>()
            .join(": ")
    };
    let mut columns = vec![Column::words("")];
    columns.extend(stages.iter().enumerate().map(heading).map(Column::figures));
    columns.extend((stages.len() > 2).then(|| Column::figures(TOGETHER)));
    let mut grid = Grid::new(columns);
    let (cell_names, pairs) = (CellNames::from_cells(&document.cells), StageComparisons::from_choice(choice));
    for row in rows(&document.cells, &names) {
        let Some(any) = row.cells.iter().flatten().next() else { continue };
        let name = cell_names.name(any);
        let step = |(_, pair)| pairs.find_comparison(&name, pair).map(|pair| short(choice, pair));
        let mut gave: Vec<Option<String>> = [None].into_iter().chain(steps(stages.len()).map(step)).collect();
        // With two stages, the only step is the whole change.
        let all = (stages.len() > 2).then(|| gave.pop().flatten().unwrap_or_default());
        let unit = any.rate.as_ref().map_or_else(String::new, |rate| format!(", {}", unit(&rate.unit)));
        let joined = reached(&row)
            .into_iter()
            .zip(gave)
            .map(|(reached, gave)| [Some(reached), gave].into_iter().flatten().collect::<Vec<String>>().join(", "));
        grid.row([format!("{name}{unit}")].into_iter().chain(joined).chain(all));
    }
    grid
}

/// Returns the heading of a stage: its number, its name and its changes.
fn heading(document: &Document, place: usize, stage: &Stage) -> String {
    headings(document, place, stage).iter().flat_map(|line| broken(line)).collect::<Vec<String>>().join("\n")
}

/// Returns the lines of the heading: the number of the stage, its name, and each setting that changed.
fn headings(document: &Document, place: usize, stage: &Stage) -> Vec<String> {
    let info = document.run.targets.iter().find(|info| info.name == stage.target);
    let is_named = info.is_some_and(|info| info.argument != info.name);
    let mut lines = vec![(place + 1).to_string()];
    if place == 0 || is_named {
        lines.push(stage.target.clone());
    }
    if place > 0 {
        lines.extend(stage.changed.iter().cloned());
        lines.extend(stage.changed.is_empty().then(|| NOTHING.to_owned()));
    }
    lines
}

/// Width of a heading in columns: three stages and the column of all stages fit into 100 columns.
const HEADING: usize = 18;

/// Breaks a setting into lines of at most [`HEADING`] columns, after the separators of its parts.
fn broken(typed: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in typed.split_inclusive([',', '.', '=', ':', '/', '-']) {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && line.chars().count() + part.trim_end().chars().count() > HEADING {
            lines.push(String::new());
        }
        lines.last_mut().expect("there is one").push_str(part);
    }
    lines
}

/// Returns the figure of each stage: `1,240 (38%)`; the unit is under the program.
fn reached(row: &Row) -> Vec<String> {
    let of_stage = |(cell, rate): (&Cell, &Rate)| {
        let cpu = cell.cpu_percent.map_or_else(String::new, |cpu| format!(" ({:.0}%)", cpu.process));
        let star = if cell.is_suspect() { "*" } else { "" };
        format!("{}{cpu}{star}", value_beside_ratio(rate))
    };
    let figures = row.figures();
    let stages = row.cells.iter().zip(&figures).map(|(cell, figure)| cell.zip(figure.as_ref()));
    stages.map(|stage| stage.map_or_else(|| "n.m.".to_owned(), of_stage)).collect()
}

/// Returns the reasons for the gains of each stage, each reason with all its tests.
pub fn reasons(choice: &Choice) -> Vec<String> {
    let line = |(step, pair)| {
        let Step::At(place) = step else { return None };
        let pairs = of_pair(choice, &choice.comparisons, pair);
        let reasons = pairs.into_iter().filter_map(|pair| Some((pair.why.as_deref()?, pair.program.as_str())));
        let reasons = grouped(reasons);
        let said = reasons.iter().map(|(why, programs)| format!("{}: {why}", programs.join(", ")));
        let said = said.collect::<Vec<String>>().join("; ");
        (!said.is_empty()).then(|| format!("why, stage {}: {said}", place + 1))
    };
    steps(choice.stages.len()).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{choice, comparison};

    /// Three stages; the second one changed a setting without effect.
    fn stages(comparisons: Vec<Comparison>) -> Choice {
        let stage = |target: &str, changed: &[&str]| Stage {
            target: target.to_owned(),
            changed: changed.iter().map(|word| (*word).to_owned()).collect(),
        };
        let stages = vec![stage("a", &[]), stage("b", &["mount=noatime"]), stage("c", &["tune=read_ahead_kb:4096"])];
        Choice { stages, ..choice(comparisons) }
    }

    const SAME: [f64; 3] = [0.98, 1.0, 1.02];

    #[test]
    fn each_stage_names_its_gains() {
        let choice = stages(vec![
            comparison("read_8192", ["a", "b"], Verdict::Same, SAME),
            comparison("commit", ["a", "b"], Verdict::Undecided, [0.93, 1.03, 1.15]),
            comparison("read_8192", ["b", "c"], Verdict::Faster, [1.3, 1.4, 1.5]),
            comparison("commit", ["b", "c"], Verdict::Slower, [0.4, 0.5, 0.6]),
            comparison("read_8192", ["a", "c"], Verdict::Faster, [1.3, 1.4, 1.5]),
        ]);
        let expected = [
            "Stage 2, mount=noatime: no difference proven (same within 5 % in 1, undecided in 1, about 34 more rounds \
             (5.7 min)).",
            "Stage 3, tune=read_ahead_kb:4096: commit 0.50x (0.40-0.60); read_8192 1.40x (1.30-1.50).",
            "All stages together: read_8192 1.40x (1.30-1.50).",
        ];
        assert_eq!(verdict(&choice, ""), expected);
        let same = ["read_8192", "commit"].map(|program| comparison(program, ["a", "b"], Verdict::Same, SAME));
        let all_same = stages(same.into());
        assert_eq!(verdict(&all_same, "")[0], "Stage 2, mount=noatime: same within 5 % in all tests.");
        assert!(verdict(&all_same, "")[1].contains("n.m."));
    }

    #[test]
    fn a_reason_of_several_tests_is_printed_once() {
        let faster = |program: &str, why: &str| {
            let why = Some(why.to_owned());
            Comparison { why, ..comparison(program, ["b", "c"], Verdict::Faster, [1.3, 1.4, 1.5]) }
        };
        let choice =
            stages(vec![faster("read", "both: device"), faster("copy", "b: cpu"), faster("x", "both: device")]);
        assert_eq!(reasons(&choice), ["why, stage 3: read, x: both: device; copy: b: cpu"]);
    }

    #[test]
    fn long_headings_are_broken_after_their_parts() {
        assert_eq!(broken("tune=read_ahead_kb:4096"), ["tune=", "read_ahead_kb:4096"]);
        assert_eq!(broken("sim:vax780-sc780-inadequate-lead"), ["sim:vax780-sc780-", "inadequate-lead"]);
        assert_eq!(broken("file_system.rotational_delay=4 ms"), ["file_system.", "rotational_delay=", "4 ms"]);
    }

    #[test]
    fn a_use_has_a_factor_for_each_stage() {
        let comparisons = vec![
            comparison("mail", ["a", "b"], Verdict::Same, SAME),
            comparison("mail", ["b", "c"], Verdict::Faster, [1.01, 1.04, 1.07]),
        ];
        let purpose =
            Purpose { name: "mail".to_owned(), weights: Default::default(), missing: Vec::new(), comparisons };
        let said = for_use(&stages(Vec::new()), &purpose);
        assert_eq!(
            said,
            "For mail: mount=noatime same (0.98-1.02); tune=read_ahead_kb:4096 x1.04 (1.01-1.07), maybe by less than 5 \
             %."
        );
    }
}
