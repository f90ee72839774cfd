//! A comparison of targets: the verdict first, then a row per test.

use std::collections::BTreeMap;

use crate::cause::{labelled, reason};
use crate::cell_names::CellNames;
use crate::compare::stages;
use crate::compare::verdict::{
    TOO_NOISY, cause_of_noise, interval, is_too_noisy, largest_first, maybe_little, more, percent, times,
    without_difference,
};
use crate::header;
use crate::layouts::plain;
use crate::page::Page;
use crate::presentation::Layout;
use crate::rate_format::beside_ratio;
use crate::table::{Column, Grid};
use crate::wrap::wrapped;
use stats::compare::target_comparison::{Price, Row, Winner, every_two};
use stats::digits::significant;
use stats::{Cell, Choice, Comparison, Document, Need, Rate, TargetInfo, Verdict};

/// The verdict, the machine, a row per test, and the warnings. Long target names become letters in the table.
pub fn table(document: &Document, choice: &Choice, layout: Layout, page: Page) -> String {
    let names = names(document);
    let (grid, key) = match labels(&names) {
        Some(labels) if choice.stages.is_empty() => (of_every_two(document, choice, &labels), key(&labels, &names)),
        _ => (grid(document, choice), String::new()),
    };
    let grid = grid.lines(page).join("\n");
    let mut below = format!("\n{}{}", plain::legend(&document.cells), header::not_measured(&grid));
    below += &header::footnotes(document);
    stages::reasons(choice).iter().for_each(|line| below += &format!("{line}\n"));
    below += &format!("{}\n", not_asked(&document.run.targets));
    [
        wrapped(&verdict(document, choice), page),
        wrapped(&(header::lines(document, layout) + &key), page),
        grid,
        wrapped(&below, page),
    ]
    .join("\n")
}

/// Names longer than this become letters in a table of several targets. In characters.
const LONGEST_NAME: usize = 12;

/// Returns a letter per target, A to Z, then T27 and so on; `None` if all names are short.
fn labels(names: &[&str]) -> Option<Vec<String>> {
    let is_long = names.iter().any(|name| name.chars().count() > LONGEST_NAME);
    let letter = |place: usize| match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => format!("T{}", place + 1),
    };
    is_long.then(|| (0..names.len()).map(letter).collect())
}

/// The key of the labels: `A = usual, B = ahead`
fn key(labels: &[String], names: &[&str]) -> String {
    let pairs: Vec<String> = labels.iter().zip(names).map(|(label, name)| format!("{label} = {name}")).collect();
    format!("{}\n", pairs.join(", "))
}

/// Returns the questions that a short run cannot answer: aging, reliability, support. The fill level of file systems is
/// printed if it is known.
pub(crate) fn not_asked(targets: &[TargetInfo]) -> String {
    let made = |info: &&TargetInfo| info.before_each.is_some() && info.aged.is_none() && !info.is_simulated();
    let fresh: Vec<&str> = targets.iter().filter(made).map(|info| info.name.as_str()).collect();
    let found = targets.iter().filter(|info| !made(info)).filter_map(|info| Some((&info.name, info.fill_percent?)));
    let found: Vec<String> = found.map(|(name, fill)| format!("{name} {fill:.0} % full")).collect();
    let ages = match (&fresh[..], &found[..]) {
        ([], []) => String::new(),
        (_, []) if fresh.len() == targets.len() => " (these file systems were new and empty)".to_owned(),
        (fresh, []) => format!(" (new and empty: {})", fresh.join(", ")),
        ([], found) => format!(" (as found: {})", found.join(", ")),
        (fresh, found) => format!(" (new and empty: {}; as found: {})", fresh.join(", "), found.join(", ")),
    };
    format!("Not tested: aging and fullness{ages}, reliability, support.")
}

fn names(document: &Document) -> Vec<&str> {
    document.run.targets.iter().map(|target| target.name.as_str()).collect()
}

/// Returns sentences: for the stated use, the number of tests in which each target is faster, the targets that meet the
/// needs, and the prices.
pub fn verdict(document: &Document, choice: &Choice) -> String {
    let names = names(document);
    let mut lines: Vec<String> = Vec::new();
    let cause = cause_of_noise(&document.run);
    if let Some(purpose) = &choice.purpose {
        if purpose.comparisons.is_empty() {
            lines.push(format!("For {}: n.m., none of its tests was measured on all targets.", purpose.name));
        }
        if choice.stages.is_empty() {
            let said = purpose.comparisons.iter().map(|pair| sentence(choice, &purpose.comparisons, pair, &cause));
            lines.extend(said.map(|said| format!("For {}: {said}.", purpose.name)));
        } else if !purpose.comparisons.is_empty() {
            lines.push(stages::for_use(choice, purpose));
        }
        let mut weights: Vec<(&String, f64)> = purpose.weights.iter().map(|(word, weight)| (word, *weight)).collect();
        weights.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let weights: Vec<String> =
            weights.into_iter().map(|(word, weight)| format!("{word} {} %", significant(100.0 * weight, 2))).collect();
        let missing = match &purpose.missing[..] {
            [] => String::new(),
            missing => format!("; not measured on all targets, so the others weigh more: {}", missing.join(", ")),
        };
        lines.push(format!("  weights of {}: {}{missing}; --use changes them", purpose.name, weights.join(", ")));
    }
    if choice.stages.is_empty() {
        let of_targets = of_targets(&choice.comparisons);
        for (first, second) in every_two(names.len()) {
            let pairs = of_targets.get(&[names[first], names[second]]).map_or(&[][..], Vec::as_slice);
            lines.push(counted(choice, [names[first], names[second]], pairs, &cause));
        }
    } else {
        lines.extend(stages::verdict(choice, &cause));
    }
    lines.extend(needs(&choice.needs, &names));
    if !choice.prices.is_empty() {
        let prices: Vec<String> = names.iter().map(|name| format!("{name} {}", price(choice, name))).collect();
        lines.push(format!("Price: {}.", prices.join(", ")));
    }
    lines.extend(choice.remarks.iter().map(|remark| format!("{remark}.")));
    lines.join("\n")
}

/// Groups the comparisons by their two targets.
pub(crate) fn of_targets<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison>,
) -> BTreeMap<[&'a str; 2], Vec<&'a Comparison>> {
    let mut of_targets: BTreeMap<[&str; 2], Vec<&Comparison>> = BTreeMap::new();
    for pair in comparisons {
        of_targets.entry([&pair.first, &pair.second]).or_default().push(pair);
    }
    of_targets
}

/// Returns the number of tests in which each target is faster, as words. `cause` is that of noise.
fn counted(choice: &Choice, [first, second]: [&str; 2], pairs: &[&Comparison], cause: &str) -> String {
    let all = pairs.len();
    if all == 0 {
        return format!("{first} and {second} were never measured in the same round.");
    }
    if let [pair] = pairs {
        return only(choice, pair, cause);
    }
    let mut parts: Vec<String> = Vec::new();
    let mut decided = 0;
    for name in [first, second] {
        let mut won: Vec<&Comparison> = pairs.iter().copied().filter(|pair| is_won(pair, name)).collect();
        decided += won.len();
        if !won.is_empty() {
            parts.push(format!("{name} is faster in {}: {}", won.len(), amounts(&mut won)));
        }
    }
    parts.extend(without_difference(choice, pairs, ["", cause]));
    let targets = if decided == 0 { format!(" of {first} and {second}: ") } else { ", ".to_owned() };
    let margin = percent(choice.margin);
    let reason = match (pairs.iter().filter(|pair| pair.matters).count(), decided) {
        (_, 0) => "",
        (0, _) => &format!("; maybe by less than {margin}, so no reason to choose"),
        (all, count) if all == count => "",
        (some, _) => &format!("; clearly by more than {margin} in {some}"),
    };
    format!("Of {all} tests{targets}{}{reason}.", parts.join("; "))
}

/// True if this target is the faster one.
pub(crate) fn is_won(pair: &Comparison, name: &str) -> bool {
    pair.winner().is_some_and(|winner| winner.name == name)
}

/// The most tests that are named in a sentence. A choice.
const NAMED: usize = 4;

/// `read_8192 1.62x (1.61-1.64), commit 1.17x (1.12-1.23), and 2 more`: the largest difference first.
fn amounts(won: &mut [&Comparison]) -> String {
    largest_first(won);
    let ratio = |pair: &&Comparison| Some(format!("{} {}", pair.program, times(pair.winner()?.estimate)));
    let mut named: Vec<String> = won.iter().take(NAMED).filter_map(ratio).collect();
    if won.len() > NAMED {
        named.push(format!("and {} more", won.len() - NAMED));
    }
    named.join(", ")
}

/// Returns the sentence for a choice with one test: `read_8192: xfs is 1.17x (1.12-1.23) as fast as ext4.`
pub(crate) fn only(choice: &Choice, pair: &Comparison, cause: &str) -> String {
    format!("{}: {}.", pair.program, outcome(choice, pair, ["", "so no reason to choose"], cause))
}

/// Returns the result of one comparison: `xfs is 1.17x (1.12-1.23) as fast as ext4`. `advice` follows a difference that
/// matters, and one that may be small. `cause` is that of noise.
fn outcome(choice: &Choice, pair: &Comparison, advice: [&str; 2], cause: &str) -> String {
    let Comparison { first, second, .. } = pair;
    let margin = percent(choice.margin);
    match (pair.winner(), pair.verdict()) {
        (Some(Winner { name, other, estimate }), _) => {
            let advice = match pair.matters {
                true => advice[0].to_owned(),
                false => format!("; maybe by less than {margin}, {}", advice[1]),
            };
            format!("{name} is {} as fast as {other}{advice}", times(estimate))
        }
        (None, Verdict::Same) => {
            format!("{first} and {second} are the same within {margin}{}", interval(pair.estimate()))
        }
        (None, _) => format!("{first} and {second}: {}", open(choice, pair, cause)),
    }
}

/// Returns the result of a use for one pair of targets. `pairs` are all of them: a target that is slower than a third
/// one is not recommended.
fn sentence(choice: &Choice, pairs: &[Comparison], pair: &Comparison, cause: &str) -> String {
    match (&pair.why, pair.verdict()) {
        (Some(why), Verdict::Undecided) => {
            format!("not decided between {} and {}{}: {why}", pair.first, pair.second, interval(pair.estimate()))
        }
        _ => {
            let loses = |name: &str| pairs.iter().filter_map(Comparison::winner).any(|winner| winner.other == name);
            let advice = match pair.winner() {
                Some(winner) if loses(winner.name) => "",
                _ => "; choose it, unless a requirement below fails",
            };
            outcome(choice, pair, [advice, "so no reason to choose it"], cause)
        }
    }
}

/// The conditions of --need on each target, and the targets that meet all of them.
fn needs(needs: &[Need], names: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut conditions: Vec<&str> = needs.iter().map(|need| need.condition.as_str()).collect();
    conditions.dedup();
    for condition in &conditions {
        let of_targets = needs.iter().filter(|need| need.condition == *condition).map(|need| {
            let measured = need.measured.as_deref().unwrap_or("n.m.");
            let met = match (need.met, &need.measured) {
                (Some(true), _) => "yes",
                (Some(false), _) => "no",
                (None, Some(_)) => "undecided",
                (None, None) => "n.m.",
            };
            if met == measured {
                format!("{} {met}", need.target)
            } else {
                format!("{} {met} ({measured})", need.target)
            }
        });
        lines.push(format!("Need {condition}: {}", of_targets.collect::<Vec<String>>().join(", ")));
    }
    if needs.is_empty() {
        return lines;
    }
    let enough: Vec<&str> = enough(needs, names);
    lines.push(match enough.len() {
        0 => "No target clearly meets all needs.".to_owned(),
        all if all == names.len() => if all == 2 { "Both meet all needs." } else { "All meet all needs." }.to_owned(),
        _ => format!("Meets all needs: {}.", enough.join(", ")),
    });
    lines
}

/// Returns the price of a target as the user typed it.
pub(crate) fn price(choice: &Choice, name: &str) -> String {
    let price = choice.prices.iter().find(|price| price.target == name);
    price.map_or_else(|| "not given".to_owned(), Price::words)
}

/// Returns the targets that meet all needs.
pub fn enough<'a>(needs: &[Need], names: &[&'a str]) -> Vec<&'a str> {
    let meets = |name: &&&str| needs.iter().filter(|need| need.target == **name).all(|need| need.met == Some(true));
    names.iter().filter(meets).copied().collect()
}

/// Returns a row per test: its rate on each target, and the verdict.
pub(crate) fn grid(document: &Document, choice: &Choice) -> Grid {
    if choice.stages.is_empty() {
        of_every_two(document, choice, &names(document))
    } else {
        stages::grid(document, choice)
    }
}

/// Returns the same table for HTML pages, which break lines themselves.
pub(crate) fn page_grid(document: &Document, choice: &Choice) -> Grid {
    if choice.stages.is_empty() {
        of_every_two(document, choice, &names(document))
    } else {
        stages::page_grid(document, choice)
    }
}

/// Returns a row per test: its rate and CPU time on each target, and the verdict on each pair of targets. `labels`
/// replace the names of the targets.
fn of_every_two(document: &Document, choice: &Choice, labels: &[impl AsRef<str>]) -> Grid {
    let names = names(document);
    let mut columns = vec![Column::words("")];
    for label in labels {
        columns.extend([Column::figures(label.as_ref()).left_out(2), Column::figures("CPU").left_out(4)]);
    }
    columns.extend([Column::words("verdict"), Column::figures("rounds").left_out(3), Column::words("why").left_out(0)]);
    let mut grid = Grid::new(columns);
    let cell_names = CellNames::from_cells(&document.cells);
    // A common number of rounds is printed below the table, so it is left out here.
    let are_alike = choice.comparisons.windows(2).all(|two| two[0].pairs == two[1].pairs);
    let mut of_programs: BTreeMap<&str, Vec<&Comparison>> = BTreeMap::new();
    for pair in &choice.comparisons {
        of_programs.entry(&pair.program).or_default().push(pair);
    }
    for row in stats::compare::target_comparison::rows(&document.cells, &names) {
        let (figures, Row { cells, .. }) = (row.figures(), row);
        let Some(any) = cells.iter().flatten().next() else { continue };
        let name = cell_names.name(any);
        let mut leading = vec![name.clone()];
        leading.extend(cells.iter().zip(&figures).flat_map(|(cell, figure)| reached(cell.zip(figure.as_ref()))));
        let pairs = of_programs.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if pairs.is_empty() {
            let is_sum = cells.iter().flatten().any(|cell| cell.is_sum() && cell.measured);
            let verdict = if is_sum { ["-", "", NO_VERDICT_ON_SUM] } else { ["n.m.", "", ""] };
            grid.row(leading.iter().cloned().chain(verdict.map(str::to_owned)));
        }
        for (place, pair) in pairs.iter().enumerate() {
            if place > 0 {
                leading.iter_mut().for_each(String::clear);
            }
            let why = reason(pair, &names, &cells);
            let pair = labelled(&Comparison { why, ..(*pair).clone() }, &names, labels);
            let why = pair.why.clone().unwrap_or_default();
            let rounds = if are_alike { String::new() } else { pair.pairs.to_string() };
            let figures = [short(choice, &pair, names.len() > 2), rounds, why];
            grid.row(leading.iter().cloned().chain(figures));
        }
    }
    grid
}

/// The reason why a sum has no verdict: its workloads have one each.
const NO_VERDICT_ON_SUM: &str = "sum of the workloads, not compared";

/// Rate and CPU time of a cell: `1,240 MiB/s` and `38%`.
fn reached(cell: Option<(&Cell, &Rate)>) -> [String; 2] {
    let Some((cell, rate)) = cell else { return ["n.m.".to_owned(), String::new()] };
    let star = if cell.is_suspect() { "*" } else { "" };
    let cpu = cell.cpu_percent.map_or_else(String::new, |cpu| format!("{:.0}%", cpu.process));
    [beside_ratio(rate) + star, cpu]
}

/// The verdict of a comparison: `xfs 1.17x (1.12-1.23)`; with three targets or more, also the slower one.
pub(crate) fn short(choice: &Choice, pair: &Comparison, is_one_of_many: bool) -> String {
    if let Some(Winner { name, other, estimate }) = pair.winner() {
        let of = if is_one_of_many { format!(" of {other}") } else { String::new() };
        return format!("{name} {}{of}{}", times(estimate), maybe_little(choice.margin, pair.matters));
    }
    let both = if is_one_of_many { format!("{}, {}: ", pair.first, pair.second) } else { String::new() };
    let interval = interval(pair.estimate());
    match pair.verdict() {
        Verdict::Same => format!("{both}same within {}{interval}", percent(choice.margin)),
        _ if is_too_noisy(choice, pair) => format!("{both}too noisy{interval}"),
        _ => format!("{both}{}", open(choice, pair, "")),
    }
}

/// The verdict of an undecided comparison: `undecided (0.93-1.15), about 34 more rounds (5.7 min)` or `too noisy to
/// decide here (0.40-8.12); mostly CPU steal`.
fn open(choice: &Choice, pair: &Comparison, cause: &str) -> String {
    let interval = interval(pair.estimate());
    match is_too_noisy(choice, pair) {
        true => format!("{TOO_NOISY}{interval}{cause}"),
        false => format!("undecided{interval}{}", more(choice, pair)),
    }
}

#[cfg(test)]
mod tests {
    use stats::{ParameterValue, RateBase, Round, RunInfo};

    use super::*;
    use crate::compare::fixtures::{choice, comparison, pair};
    use crate::compare::verdict::figure;
    use crate::table::Line;

    #[test]
    fn a_ratio_is_that_of_the_faster_target() {
        let choice = choice(Vec::new());
        let short = |pair: Comparison| short(&choice, &pair, false);
        assert_eq!(short(pair(Verdict::Faster, [1.12, 1.17, 1.23])), "xfs 1.17x (1.12-1.23)");
        assert_eq!(short(pair(Verdict::Slower, [0.4, 0.5, 0.625])), "ext4 2.00x (1.60-2.50)");
        let little = pair(Verdict::Faster, [1.01, 1.04, 1.07]);
        assert_eq!(short(little), "xfs 1.04x (1.01-1.07), maybe by less than 5 %");
        assert_eq!(short(pair(Verdict::Same, [0.98, 1.0, 1.02])), "same within 5 % (0.98-1.02)");
        let open = short(pair(Verdict::Undecided, [0.93, 1.03, 1.15]));
        assert_eq!(open, "undecided (0.93-1.15), about 34 more rounds (5.7 min)");
        assert_eq!(
            [0.0, 0.004_83, 0.1, 0.995, 9.99, 206.4].map(figure),
            ["0", "0.0048", "0.10", "0.99", "9.99", "206"]
        );
    }

    #[test]
    fn a_sum_has_no_verdict_and_says_why() {
        let cell = |program: &str, target: &str| {
            let round = Round { round: 1, ops: 100, returned_s: 1.0, ..Round::default() };
            let rounds = vec![round];
            let unit = stats::figures::summary::RateUnit { name: "ops/sec", size: 1.0 };
            let of = (RateBase::Ops, stats::ClockKind::Returned);
            let rate = stats::figures::rate::rate(&rounds, false, of, unit, stats::figures::rate::Average::Mean);
            Cell {
                measured: true,
                rate,
                rounds,
                ..Cell::named(stats::Provenance::Measured, "job", program, program, target)
            }
        };
        let sum = |measured: bool, target: &str| {
            let parameters = [("sum_of".to_owned(), ParameterValue::Word("commit+data".to_owned()))].into();
            let cell = cell("sum", target);
            Cell { measured, rate: cell.rate.clone().filter(|_| measured), parameters, ..cell }
        };
        let last_row = |measured: bool| {
            let info = |name: &str| TargetInfo { name: name.to_owned(), ..TargetInfo::default() };
            let names = ["ext4", "xfs"];
            let cells = names.map(|name| cell("commit", name)).into_iter().chain(names.map(|name| sum(measured, name)));
            let run = RunInfo { targets: names.map(info).into(), ..RunInfo::default() };
            let document = Document { schema: String::new(), run, cells: cells.collect(), errors: Vec::new() };
            let table = grid(&document, &choice(vec![pair(Verdict::Same, [0.98, 1.0, 1.02])]));
            match table.contents().1.last() {
                Some(Line::Row(row)) => row.clone(),
                other => panic!("no row: {other:?}"),
            }
        };
        let row = last_row(true);
        assert_eq!((row[0].as_str(), &row[row.len() - 2..]), ("sum", &["-", NO_VERDICT_ON_SUM].map(str::to_owned)[..]));
        assert_eq!(last_row(false).last().map(String::as_str), Some("n.m."));
    }

    #[test]
    fn a_use_without_a_verdict_gives_the_reason_and_recommends_no_target() {
        let why = Some("tests with 80 % of the weight are missing (commit, randread)".to_owned());
        let open = Comparison { why, more_rounds: None, ..pair(Verdict::Undecided, [1.9, 2.0, 2.1]) };
        let said = sentence(&choice(Vec::new()), &[], &open, "");
        for words in ["not decided", "ext4", "xfs", "80 %", "commit, randread"] {
            assert!(said.contains(words), "{said}");
        }
        assert!(!said.contains("choose"), "{said}");
    }

    #[test]
    fn a_target_that_is_slower_than_another_is_not_recommended() {
        let faster = pair(Verdict::Faster, [1.12, 1.17, 1.23]);
        let third = comparison("commit", ["xfs", "f2fs"], Verdict::Faster, [1.12, 1.17, 1.23]);
        let pairs = [faster, third];
        let said = pairs.each_ref().map(|pair| sentence(&choice(Vec::new()), &pairs, pair, ""));
        assert_eq!(said[0], "xfs is 1.17x (1.12-1.23) as fast as ext4");
        assert!(said[1].starts_with("f2fs is") && said[1].contains("; choose it"), "{}", said[1]);
    }

    #[test]
    fn the_age_of_the_file_systems_is_named() {
        let info = |name: &str, fill_percent: Option<f64>, before: Option<&str>| TargetInfo {
            name: name.to_owned(),
            argument: name.to_owned(),
            fill_percent,
            before_each: before.map(str::to_owned),
            ..TargetInfo::default()
        };
        let (fresh, found) = (info("a", Some(0.0), Some("re-created")), info("b", Some(41.6), None));
        let aged = stats::Aged {
            fill: 70,
            churns: 9,
            seed: 1,
            files_made: 99,
            files_deleted: 9,
            written_bytes: 1 << 20,
            elapsed_s: 1.0,
        };
        let used = TargetInfo { aged: Some(aged), ..info("c", Some(70.2), Some("remounted")) };
        let said = |targets: &[TargetInfo]| not_asked(targets).replace("Not tested: aging and fullness", "");
        let others = ", reliability, support.";
        for (targets, ages) in [
            (&[fresh.clone(), fresh.clone()][..], " (these file systems were new and empty)"),
            (&[fresh.clone(), found.clone()], " (new and empty: a; as found: b 42 % full)"),
            (&[found.clone(), found], " (as found: b 42 % full, b 42 % full)"),
            (&[fresh.clone(), used], " (new and empty: a; as found: c 70 % full)"),
            (&[fresh, info("sim:flat", None, None)], " (new and empty: a)"),
            (&[info("sim:flat", None, None)], ""),
        ] {
            assert_eq!(said(targets), format!("{ages}{others}"));
        }
    }

    #[test]
    fn tests_are_counted_by_their_verdicts() {
        let faster = || pair(Verdict::Faster, [1.12, 1.17, 1.23]);
        let same = || pair(Verdict::Same, [0.98, 1.0, 1.02]);
        let said = |pairs: Vec<Comparison>| {
            let choice = choice(pairs);
            counted(&choice, ["ext4", "xfs"], &choice.comparisons.iter().collect::<Vec<_>>(), "; mostly CPU steal")
        };
        assert_eq!(
            said(vec![faster(), same()]),
            "Of 2 tests, xfs is faster in 1: commit 1.17x (1.12-1.23); same within 5 % in 1."
        );
        assert_eq!(said(vec![same()]), "commit: ext4 and xfs are the same within 5 % (0.98-1.02).");
        let little = pair(Verdict::Faster, [1.01, 1.04, 1.07]);
        assert!(said(vec![little.clone()]).ends_with("maybe by less than 5 %, so no reason to choose."));
        assert!(said(vec![little.clone(), little]).ends_with("maybe by less than 5 %, so no reason to choose."));
        let open = pair(Verdict::Undecided, [0.4, 1.03, 8.12]);
        assert!(said(vec![open.clone()]).ends_with("undecided (0.40-8.12), about 34 more rounds (5.7 min)."));
        let noisy = Comparison { more_rounds: Some(81), ..open };
        let all = said(vec![noisy.clone(), noisy.clone(), same()]);
        assert!(all.ends_with("same within 5 % in 1; too noisy to decide here in 2; mostly CPU steal."), "{all}");
        assert!(said(vec![noisy.clone()]).ends_with("too noisy to decide here (0.40-8.12); mostly CPU steal."));
        // A round takes ten seconds: 360 of them are an hour.
        let long = |rounds: u32| Comparison { pairs: 100, more_rounds: Some(rounds), ..noisy.clone() };
        assert!(said(vec![long(360)]).ends_with("about 360 more rounds (60 min)."));
        assert!(said(vec![long(361)]).contains("too noisy to decide here"));
        let many = said((0..6).map(|_| faster()).collect());
        assert_eq!(many.matches("1.17x (1.12-1.23)").count(), NAMED);
        assert!(many.ends_with(", and 2 more."), "{many}");
        assert!(said(Vec::new()).contains("never"));
    }

    #[test]
    fn needs_are_met_by_both_by_one_or_by_none() {
        let need = |target: &str, met| Need {
            condition: "read>=5MiB/s".to_owned(),
            target: target.to_owned(),
            measured: Some("7.00 MiB/s".to_owned()),
            met,
        };
        let last = |mets: [Option<bool>; 2]| {
            let all = [need("a", mets[0]), need("b", mets[1])];
            needs(&all, &["a", "b"]).pop().expect("a line")
        };
        assert_eq!(last([Some(true), Some(true)]), "Both meet all needs.");
        assert_eq!(last([Some(false), Some(true)]), "Meets all needs: b.");
        assert_eq!(last([Some(false), None]), "No target clearly meets all needs.");
        let first = &needs(&[need("a", Some(true)), need("b", None)], &["a", "b"])[0];
        assert_eq!(first, "Need read>=5MiB/s: a yes (7.00 MiB/s), b undecided (7.00 MiB/s)");
    }
}
