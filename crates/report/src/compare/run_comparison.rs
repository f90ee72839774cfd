//! Two runs, measured one after the other, as text: the verdict, the settings that changed, then a row per test.

use stats::compare::environment_diff::Change;
use stats::compare::reason::Reason;
use stats::compare::run_comparison::{Compared, ComparedCell, Guarded, Lone, Side, Unguarded};
use stats::digits::significant;
use stats::inference::ratio_test::LEAST_APART;
use stats::{MarkCode, Rate, Verdict};
use units::DateTime;

use crate::compare::verdict::{TOO_NOISY, is_practical, maybe_little, percent, times};
use crate::csv::{self, field, number};
use crate::markdown_escape::escaped;
use crate::page::Page;
use crate::rate_format;
use crate::table::{Column, Field, Grid};
use crate::wrap::wrapped;

/// Returns the comparison as text.
pub fn table(compared: &Compared, page: Page) -> String {
    let changes = match &compared.environment[..] {
        [] => "No recorded setting changed between them.\n".to_owned(),
        changes => changed(changes).lines(page).join("\n") + "\n",
    };
    [
        wrapped(&format!("{}\n", verdict(compared)), page),
        wrapped(&sides(compared).join("\n"), page),
        changes,
        grid(compared).lines(page).join("\n") + "\n",
        wrapped(&format!("{}\n", below(compared).join("\n")), page),
    ]
    .map(|text| text.trim_end().to_owned() + "\n")
    .join("\n")
}

/// Returns the comparison in Markdown, for example for a pull request.
pub fn markdown(compared: &Compared) -> String {
    let line = |line: &String| format!("- {}\n", escaped(line.strip_prefix("* ").unwrap_or(line)));
    let sides: String = sides(compared).iter().map(line).collect();
    let mut text = format!("{}\n\n{sides}\n", escaped(&verdict(compared)));
    if !compared.environment.is_empty() {
        text += &format!("{}\n", changed(&compared.environment).markdown());
    }
    text += &grid(compared).markdown();
    text + "\n" + &below(compared).iter().map(line).collect::<String>()
}

/// Returns a row per cell of both runs, in CSV (RFC 4180). An empty field is `n.m.`
pub fn csv(compared: &Compared) -> String {
    let rows = compared.cells.iter().map(|cell| (cell, compared));
    csv::table(
        rows,
        &[
            ("then", |(_, compared)| field(&compared.then.name)),
            ("now", |(_, compared)| field(&compared.now.name)),
            ("preset", |(cell, _)| field(&cell.preset)),
            ("program", |(cell, _)| field(&cell.program)),
            ("phase", |(cell, _)| field(&cell.phase)),
            ("target", |(cell, _)| field(&cell.target)),
            ("name", |(cell, _)| field(&cell.name)),
            ("then_value", |(cell, _)| number(cell.then.as_ref().map(|rate| rate.value))),
            ("now_value", |(cell, _)| number(cell.now.as_ref().map(|rate| rate.value))),
            ("unit", |(cell, _)| field(cell.then.as_ref().or(cell.now.as_ref()).map_or("", |rate| &rate.unit))),
            ("cpu_then_percent", |(cell, _)| number(cell.cpu_then)),
            ("cpu_now_percent", |(cell, _)| number(cell.cpu_now)),
            ("ratio", |(cell, _)| number(cell.ratio)),
            ("low", |(cell, _)| number(cell.low)),
            ("high", |(cell, _)| number(cell.high)),
            ("confidence", |(cell, _)| number(cell.confidence)),
            ("finding", |(cell, _)| cell.finding.name().to_owned()),
            ("needed_rounds", |(cell, _)| number(cell.needed_rounds)),
            ("why", |(cell, _)| field(cell.why.as_deref().unwrap_or_default())),
            ("marks", |(cell, _)| csv::marks(cell.marks.iter().copied())),
        ],
    )
}

/// Returns the number of tests with each finding, as a sentence.
fn verdict(compared: &Compared) -> String {
    let of = |finding: Verdict| compared.cells.iter().filter(|cell| cell.finding == finding).count();
    let all = compared.cells.len();
    let margin = percent(compared.margin);
    let same = format!("same within {margin}");
    let parts = [
        (Verdict::Faster, "faster"),
        (Verdict::Slower, "slower"),
        (Verdict::Same, same.as_str()),
        (Verdict::Undecided, "undecided"),
    ];
    let unmeasured = |of_both: bool| {
        let is_none = |cell: &&ComparedCell| cell.then.is_none() && cell.now.is_none();
        let cells = compared.cells.iter().filter(|cell| cell.finding == Verdict::NotMeasured);
        cells.filter(|cell| is_none(cell) == of_both).count()
    };
    let counts = parts.into_iter().map(|(finding, words)| (of(finding), words));
    let counts =
        counts.chain([(unmeasured(false), "n.m. in one of the runs"), (unmeasured(true), "n.m. in both runs")]);
    let parts: Vec<(usize, &str)> = counts.filter(|(count, _)| *count > 0).collect();
    let parts = parts.iter().map(|(count, words)| format!("{count} {words}"));
    let surely = compared.cells.iter().filter(|cell| cell.matters).count();
    let told = of(Verdict::Faster) + of(Verdict::Slower);
    let reason = match (surely, told) {
        (_, 0) => String::new(),
        (all, told) if all == told => format!("; clearly by more than {margin}"),
        (0, _) => format!("; maybe by less than {margin}"),
        (some, _) => format!("; clearly by more than {margin} in {some}"),
    };
    let of_all = if all == 1 { "Of 1 test".to_owned() } else { format!("Of {all} tests") };
    format!("{of_all}: {}{reason}.", parts.collect::<Vec<String>>().join(", "))
}

/// Returns a line for each of the two runs.
fn sides(compared: &Compared) -> [String; 2] {
    let side = |(when, side): (&str, &Side)| {
        let Side { name, started_unix_s, command, interrupted, .. } = side;
        let ended = if *interrupted { ", interrupted" } else { "" };
        let began = DateTime::from_unix(*started_unix_s);
        // The path of the program does not matter, so only its file name is printed.
        let program = command.first().and_then(|program| program.rsplit('/').next());
        let words: Vec<&str> = program.into_iter().chain(command.iter().skip(1).map(String::as_str)).collect();
        format!("{when:<4}  {name}  {began} UTC{ended}  {}", words.join(" "))
    };
    [("base", &compared.then), ("new", &compared.now)].map(side)
}

/// Returns a row for each setting that changed between the two runs.
fn changed(changes: &[Change]) -> Grid {
    let columns: [Field<&Change, Column>; 4] = [
        (Column::words("changed"), |change| change.what.clone()),
        (Column::words("of"), |change| change.of.clone().unwrap_or_default()),
        (Column::words("base"), |change| or_none(change.then.as_ref())),
        (Column::words("new"), |change| or_none(change.now.as_ref())),
    ];
    Grid::filled(&columns, changes)
}

/// Returns a value, or `n.m.`
pub(crate) fn or_none(value: Option<&String>) -> String {
    value.map_or_else(|| "n.m.".to_owned(), String::clone)
}

/// Returns a row per test.
fn grid(compared: &Compared) -> Grid {
    let mut columns: Vec<Field<(&ComparedCell, &Compared), Column>> = vec![
        (Column::words(""), |(cell, _)| cell.name.clone()),
        (Column::words("target"), |(cell, _)| cell.target.clone()),
        (Column::figures("base").left_out(1), |(cell, _)| rate(cell.then.as_ref())),
        (Column::figures("new").left_out(1), |(cell, _)| rate(cell.now.as_ref())),
        (Column::figures("CPU").left_out(3), |(cell, _)| cpu(cell)),
        (Column::figures("ratio"), |(cell, _)| ratio(cell) + star(&cell.marks)),
        (Column::words("verdict"), |(cell, compared)| describe_verdict(cell, compared)),
        (Column::words("why").left_out(2), |(cell, _)| cell.why.clone().unwrap_or_default()),
    ];
    let has_targets = compared.now.targets.len() > 1;
    if !has_targets {
        columns.remove(1);
    }
    let rows = compared.cells.iter().map(|cell| (cell, compared));
    Grid::filled(&columns, rows).leading(if has_targets { 2 } else { 1 })
}

/// Returns a rate, or `n.m.`
pub(crate) fn rate(rate: Option<&Rate>) -> String {
    rate.map_or_else(|| "n.m.".to_owned(), rate_format::beside_ratio)
}

/// The CPU time in both runs: `38% 41%`
fn cpu(cell: &ComparedCell) -> String {
    let both = cell.cpu_then.zip(cell.cpu_now);
    both.map_or_else(String::new, |(then, now)| format!("{then:.0}% {now:.0}%"))
}

/// The star of a suspect figure, or nothing.
pub(crate) fn star(marks: &[MarkCode]) -> &'static str {
    if marks.iter().any(|mark| *mark != MarkCode::Nested) { "*" } else { "" }
}

/// The ratio of a cell: `0.85x (0.81-0.89)`; an exact ratio has no interval.
pub fn ratio(cell: &ComparedCell) -> String {
    cell.estimate().map_or_else(|| "n.m.".to_owned(), times)
}

/// The verdict on a cell, and if it is not decided, the reason.
fn describe_verdict(cell: &ComparedCell, compared: &Compared) -> String {
    let margin = compared.margin;
    match (cell.finding, cell.missing_rounds, cell.needed_rounds) {
        (Verdict::Faster | Verdict::Slower, ..) => cell.finding.name().to_owned() + &maybe_little(margin, cell.matters),
        (Verdict::Same, ..) => format!("same within {}", percent(margin)),
        (Verdict::Undecided, 0, Some(rounds)) if is_practical(rounds, rounds_done(cell)) => {
            format!("undecided, about {} rounds each would decide", significant(f64::from(rounds), 2))
        }
        // Noise is not the reason if another one is given, or if a rate changed its level.
        (Verdict::Undecided, 0, None) if cell.why.is_some() || cell.marks.contains(&MarkCode::Step) => {
            cell.finding.name().to_owned()
        }
        (Verdict::Undecided, 0, _) if cell.ratio.is_some() => TOO_NOISY.to_owned() + &cause_of_noise(compared),
        (Verdict::Undecided, 1.., _) => {
            format!("undecided, {}", Reason::FewRounds(cell.missing_rounds as usize, LEAST_APART))
        }
        (Verdict::Undecided | Verdict::NotMeasured, ..) => cell.finding.name().to_owned(),
    }
}

/// The main kinds of noise in both runs: `; mostly CPU steal in new`; empty if none is known.
fn cause_of_noise(compared: &Compared) -> String {
    match [&compared.then, &compared.now].map(|side| side.noise.as_deref()) {
        [None, None] => String::new(),
        [Some(then), Some(now)] if then == now => format!("; mostly {then}"),
        [Some(then), Some(now)] => format!("; mostly {then} in base, {now} in new"),
        [Some(then), None] => format!("; mostly {then} in base"),
        [None, Some(now)] => format!("; mostly {now} in new"),
    }
}

/// The number of rounds of the run with fewer rounds.
fn rounds_done(cell: &ComparedCell) -> u32 {
    [&cell.then, &cell.now].into_iter().flatten().map(|rate| rate.rounds).min().unwrap_or(0)
}

/// Returns the lines below the table: tests of one run only, conditions of --fail-if, and warnings.
fn below(compared: &Compared) -> Vec<String> {
    let mut lines = Vec::new();
    for (when, cells) in [("base", &compared.only_then), ("new", &compared.only_now)] {
        if !cells.is_empty() {
            let has_targets = compared.now.targets.len() > 1 || compared.then.targets.len() > 1;
            let name = |cell: &Lone| match has_targets {
                true => format!("{} on {}", cell.name, cell.target),
                false => cell.name.clone(),
            };
            lines.push(format!("only in {when}: {}", some(cells.iter().map(name).collect())));
        }
    }
    for (when, reason) in
        [("base", (|cell| &cell.reason_then) as fn(&ComparedCell) -> &Option<String>), ("new", |cell| &cell.reason_now)]
    {
        for cell in &compared.cells {
            lines.extend(reason(cell).as_ref().map(|why| format!("n.m. in {when}: {why} ({})", cell.name)));
        }
    }
    for guarded in &compared.fail_if {
        let mut said: Vec<String> = Vec::new();
        for (words, cells) in
            [("slower", &guarded.slower), ("not measured in new", &guarded.missing), ("undecided", &guarded.undecided)]
        {
            said.extend((!cells.is_empty()).then(|| format!("{words}: {}", cells.join("; "))));
        }
        let unguarded = unguarded(guarded).into_iter();
        said.extend(unguarded.map(|(why, cells)| format!("cannot be checked, {why}: {}", cells.join("; "))));
        let outcome = match (guarded.failed, guarded.undecided.is_empty()) {
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "undecided",
        };
        let detail = if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) };
        let cells = some(guarded.cells.clone());
        lines.push(format!("fails if {} [{cells}]: {outcome}{detail}", guarded.condition));
    }
    let mut codes: Vec<(MarkCode, Vec<&str>)> = Vec::new();
    for cell in &compared.cells {
        for mark in &cell.marks {
            match codes.iter_mut().find(|(code, _)| code == mark) {
                Some((_, names)) => names.push(&cell.name),
                None => codes.push((*mark, vec![&cell.name])),
            }
        }
    }
    codes.sort_by_key(|(code, _)| *code);
    for (code, names) in codes {
        let star = if code == MarkCode::Nested { "" } else { "* " };
        let names = some(names.into_iter().map(str::to_owned).collect());
        lines.push(format!("{star}{0}: in one or both runs ({names})   diskperf help {0}", code.name()));
    }
    for mark in &compared.marks {
        lines.push(format!("* {0}: {1}   diskperf help {0}", mark.code.name(), mark.text));
    }
    lines
}

/// Groups the results that cannot be checked by their reason.
pub fn unguarded(guarded: &Guarded) -> Vec<(&Reason, Vec<&str>)> {
    let mut reasons: Vec<(&Reason, Vec<&str>)> = Vec::new();
    for Unguarded { cell, why } in &guarded.unguarded {
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, cells)) => cells.push(cell),
            None => reasons.push((why, vec![cell])),
        }
    }
    reasons
}

/// The most results that are named in a line.
const NAMED: usize = 8;

fn some(mut names: Vec<String>) -> String {
    let rest = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    names.join("; ") + &rest
}

#[cfg(test)]
mod tests {
    use stats::compare::run_comparison::compare;
    use stats::{Cell, Document, Noise, Provenance, RateBase, Round, RunInfo, SCHEMA};

    use super::*;

    /// A run with these rates, and with this kind of noise.
    fn run(rates: &[u64], noise: Option<&str>) -> Document {
        let round = |(ops, round): (&u64, u32)| Round { round, ops: *ops, returned_s: 1.0, ..Round::default() };
        let rounds: Vec<Round> = rates.iter().zip(1..).map(round).collect();
        let unit = stats::figures::summary::RateUnit { name: "ops/sec", size: 1.0 };
        let of = (RateBase::Ops, stats::ClockKind::Returned);
        let rate = stats::figures::rate::rate(&rounds, false, of, unit, stats::figures::rate::Average::Mean);
        let cell = Cell {
            measured: true,
            rate,
            rounds,
            ..Cell::named(Provenance::Measured, "quick", "randread", "randread", "a")
        };
        let noise = noise.map(|kind| Noise {
            text: String::new(),
            value: 0.0,
            kind: Some(kind.to_owned()),
            rounds: Vec::new(),
        });
        let run = RunInfo { noise, ..RunInfo::default() };
        Document { schema: SCHEMA.to_owned(), run, cells: vec![cell], errors: Vec::new() }
    }

    fn naming<'a>(_: &'a [Cell]) -> Box<dyn Fn(&Cell) -> String + 'a> {
        Box::new(|cell| cell.program.clone())
    }

    #[test]
    fn a_comparison_that_is_too_noisy_names_the_noise() {
        let words = |kinds: [Option<&str>; 2]| {
            let [then, now] = kinds.map(|kind| run(&[100, 105, 95, 110, 90], kind));
            let compared = compare(("a", &then), ("b", &now), 0.001, naming);
            describe_verdict(&compared.cells[0], &compared)
        };
        let steal = Some("CPU steal");
        assert_eq!(words([None, None]), TOO_NOISY);
        assert_eq!(words([steal, steal]), format!("{TOO_NOISY}; mostly CPU steal"));
        assert_eq!(words([None, steal]), format!("{TOO_NOISY}; mostly CPU steal in new"));
        let both = format!("{TOO_NOISY}; mostly CPU steal in base, late timers in new");
        assert_eq!(words([steal, Some("late timers")]), both);
    }

    #[test]
    fn rounds_that_differ_much_are_printed_as_their_range() {
        let (then, now) = (run(&[100, 20, 60, 110, 30], None), run(&[100, 101, 99, 100, 102], None));
        let compared = compare(("a", &then), ("b", &now), 0.05, naming);
        assert_eq!(rate(compared.cells[0].then.as_ref()), "20.0-110 ops/s");
        assert_eq!(rate(compared.cells[0].now.as_ref()), "100 ops/s");
    }
}
