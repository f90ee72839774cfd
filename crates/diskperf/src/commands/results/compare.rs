//! `diskperf compare RUN RUN`: the tests that became faster or slower, what changed around them, and `--fail-if`.
//!
//! Policy of `--fail-if slower:PERCENT`:
//!   1. a cell fails if it is certainly slower (its interval excludes 1) and the middle of the interval is at least
//!      PERCENT lower;
//!   2. a cell that is missing from the new run fails. So does a cell for which the condition could never fail: a cell
//!      that cannot be guarded must not pass silently;
//!   3. a cell that may be slower by PERCENT, but may also not be slower at all, neither passes nor fails; it is named;
//!   4. a run cannot guard itself.
//!
//! `commit.p99:slower:PERCENT` guards a percentile in the same way, and `fsync.p99` that of a kind of operation. `p99`
//! guards that of each cell with timed units of work. `undecided` fails if a comparison is undecided, or a cell of
//! another condition.

use std::collections::BTreeSet;
use std::path::PathBuf;

use campaign::choose::{PERCENTILES, matching, with_operation};
use clap::{Args, ValueEnum};
use report::compare::run_comparison;
use report::export::junit;
use report::sanitize::line;
use stats::compare::run_comparison::{
    CellPair, Compared, ComparedCell, Guarded, LatencyOutcome, Lone, Outcome, Percentile, cell_pairs, compare,
    is_same_run, latency_outcomes,
};
use stats::{Cell, Document, Provenance, Verdict};
use units::Exit;

use crate::cli::values::parse_margin;
use crate::documents::document;
use crate::documents::document_error::DocumentFault;
use crate::documents::store_arguments::StoreArguments;
use crate::error::Error;
use crate::ui::output;
use crate::ui::output_format::{Layout, OutputArguments, json};

#[derive(Clone, Debug, Args)]
pub struct CompareArguments {
    /// Earlier run: a stored run (its id, the beginning of an id, its name, or last), or a result file (of `diskperf
    /// run ... --json -o FILE`); - means standard input
    #[arg(value_name = "THEN")]
    then: PathBuf,
    /// Later run, in the same forms
    #[arg(value_name = "NOW")]
    now: PathBuf,
    /// Treat rates that differ by less than this as the same, in percent.
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_negative_numbers = true,
          value_parser = parse_margin)]
    margin: f64,
    /// End with exit status 5 on these conditions: slower:5%, or for one test commit:slower:20%; separate several by
    /// commas. With a percentile (p50, p90, p99, p999, max), the latency must not be longer by PERCENT:
    /// commit.p99:slower:10%; fsync.p99 covers all fsync calls. undecided fails if anything is undecided.
    #[arg(long, value_name = "CONDITIONS", value_parser = parse_guards)]
    fail_if: Vec<Guards>,
    #[command(flatten)]
    output: OutputArguments<ComparedFormat>,
    #[command(flatten)]
    store: StoreArguments,
}

/// The formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ComparedFormat {
    /// Table for a terminal; without one, all columns
    #[default]
    Table,
    /// JSON for programs, as in `diskperf schema`
    Json,
    /// CSV, one line per row; an empty field means not measured
    Csv,
    /// Markdown, as for a pull request
    Markdown,
    /// JUnit XML for a CI system: a test case per result, and per condition of --fail-if
    Junit,
}

impl Layout for ComparedFormat {
    const JSON: ComparedFormat = ComparedFormat::Json;
}

/// The conditions of one `--fail-if`.
#[derive(Clone, Debug, PartialEq)]
struct Guards(Vec<Guard>);

/// One condition of `--fail-if`.
#[derive(Clone, Debug, PartialEq)]
struct Guard {
    /// The condition as it was typed.
    typed: String,
    /// The program; `None` means all programs.
    program: Option<String>,
    /// The figure that it guards, and the change that makes it fail.
    kind: GuardKind,
}

/// The figure of a condition, and the least change that fails, as a fraction of one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GuardKind {
    /// The rate decreased.
    Rate(f64),
    /// The percentile, in thousandths, increased.
    Percentile(u32, f64),
    /// A comparison is undecided.
    Undecided,
}

/// The percentage in a condition on a latency must be below this. Chosen: a hundred times as long.
const MOST_PERCENT: f64 = 10_000.0;

fn parse_guards(text: &str) -> Result<Guards, String> {
    text.split(',').map(|typed| guard(typed.trim())).collect::<Result<_, String>>().map(Guards)
}

/// Parses a condition, as in `[TEST:]slower:PERCENT`.
fn guard(typed: &str) -> Result<Guard, String> {
    let wrong = || format!("{typed} is not a condition: write slower:5%, commit:slower:5% for one test, or undecided");
    if let Some(program) =
        typed.strip_suffix("undecided").filter(|program| program.is_empty() || program.ends_with(':'))
    {
        let program = program.strip_suffix(':').map(str::to_owned);
        let guard = Guard { typed: typed.to_owned(), program: program.clone(), kind: GuardKind::Undecided };
        return if program.as_deref() == Some("") { Err(wrong()) } else { Ok(guard) };
    }
    let (what, percent) = typed.rsplit_once(':').ok_or_else(wrong)?;
    let (program, what) = what.rsplit_once(':').map_or((None, what), |(program, what)| (Some(program), what));
    let number = percent.strip_suffix('%').unwrap_or(percent).trim();
    let value = number.parse::<f64>().map_err(|_| wrong())?;
    let (own, percentile) = program.map_or((None, None), percentile_of);
    // A latency can be several times as long.
    let most = if percentile.is_some() { MOST_PERCENT } else { 100.0 };
    if what != "slower" || program == Some("") || !(0.0..most).contains(&value) {
        return Err(wrong());
    }
    // A number below one without a % sign is probably meant as a fraction.
    if percent == number && value > 0.0 && value < 1.0 {
        let hundredfold = (10_000.0 * value).round() / 100.0;
        return Err(format!(
            "{typed} may mean {value} % or {hundredfold} %: write the % sign, as in slower:{hundredfold}%"
        ));
    }
    let part = value / 100.0;
    let kind = percentile.map_or(GuardKind::Rate(part), |percentile| GuardKind::Percentile(percentile, part));
    Ok(Guard { typed: typed.to_owned(), program: own.map(str::to_owned), kind })
}

/// Splits `commit.p99` into the program and the percentile; `p99` alone is about all programs.
fn percentile_of(word: &str) -> (Option<&str>, Option<u32>) {
    let (before, last) = word.rsplit_once('.').map_or((None, word), |(before, last)| (Some(before), last));
    match PERCENTILES.iter().find(|(name, _)| *name == last) {
        Some((_, thousandths)) => (before, Some(*thousandths)),
        None => (Some(word), None),
    }
}

pub fn run(arguments: &CompareArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let layout = arguments.output.layout();
    let mut runs = Vec::new();
    for run in [&arguments.then, &arguments.now] {
        let document = document::named(run, &arguments.store)?;
        let name = document::display_name(run, &document);
        runs.push(match layout {
            ComparedFormat::Json => (name, document),
            _ => (line(&name).into_owned(), document::plain(&document).into_owned()),
        });
    }
    let [then, now] = [&runs[0], &runs[1]].map(|(name, document)| (name.as_str(), document));
    if is_same_run(&then.1.run, &now.1.run) {
        // 4
        if !arguments.fail_if.is_empty() {
            return Err(DocumentFault::OneRun { names: [then.0.to_owned(), now.0.to_owned()] }.into());
        }
        if matches!(layout, ComparedFormat::Table | ComparedFormat::Markdown) {
            let text = format!("identical: {} and {} are the same run\n", then.0, now.0);
            arguments.output.deliver(&text)?;
            return Ok(Exit::Done);
        }
        output::remark(&format!("{} and {} are the same run", then.0, now.0));
    }
    let mut compared = compare(then, now, arguments.margin, report::cell_names);
    if compared.cells.is_empty() {
        return Err(nothing_shared([then, now]).into());
    }
    if compared.now.started_unix_s < compared.then.started_unix_s {
        output::remark(&format!("{} began after {}: the new run is the earlier one", then.0, now.0));
    }
    let guards = || arguments.fail_if.iter().flat_map(|Guards(guards)| guards);
    let is_strict = guards().any(|guard| guard.kind == GuardKind::Undecided && guard.program.is_none());
    for guard in guards() {
        let guarded = match guard.kind {
            GuardKind::Rate(part) => guarded(guard, &compared, |cell| cell.is_slower_by(part))?,
            GuardKind::Undecided => guarded(guard, &compared, is_undecided)?.strict(),
            GuardKind::Percentile(thousandths, part) => {
                let percentile = Percentile { kind: None, thousandths };
                guarded_latency(guard, (then.0, then.1, now.1), percentile, part)?
            }
        };
        compared.fail_if.push(if is_strict { guarded.strict() } else { guarded });
    }
    let text = match layout {
        ComparedFormat::Table => run_comparison::table(&compared, arguments.output.page()),
        ComparedFormat::Markdown => run_comparison::markdown(&compared),
        ComparedFormat::Csv => run_comparison::csv(&compared),
        ComparedFormat::Json => json(&compared),
        ComparedFormat::Junit => junit::report(&compared),
    };
    arguments.output.deliver(&text)?;
    for (guarded, guard) in compared.fail_if.iter().zip(guards()) {
        say(guarded, is_strict || guard.kind == GuardKind::Undecided);
    }
    Ok(if compared.fail_if.iter().any(|guarded| guarded.failed) { Exit::Unmet } else { Exit::Done })
}

/// The outcome of `undecided` for a cell.
fn is_undecided(cell: &ComparedCell) -> Outcome {
    match cell.finding {
        Verdict::Undecided => Outcome::Undecided,
        Verdict::NotMeasured if cell.then.is_some() => Outcome::Missing,
        Verdict::NotMeasured => Outcome::New,
        _ => Outcome::Well,
    }
}

/// The outcome of a condition on a percentile.
fn guarded_latency<'a>(
    guard: &Guard,
    (name, then, now): (&str, &'a Document, &'a Document),
    percentile: Percentile,
    part: f64,
) -> Result<Guarded, DocumentFault> {
    let pairs = cell_pairs(then, now);
    let key = |pair: &CellPair<'a>| (pair.shown().program.as_str(), pair.shown().phase.as_str());
    let keys: Vec<(&str, &str)> = pairs.iter().map(key).collect();
    let has = |row: usize, kind| pairs[row].any(|cell| cell.operation(kind).is_some());
    let (meant, kind) = match &guard.program {
        Some(word) => with_operation(word, &keys, has),
        None => ((0..keys.len()).filter(|row| pairs[*row].any(has_timed_units)).collect(), None),
    };
    if meant.is_empty() {
        return Err(no_such_cell(guard, name, &keys));
    }
    let pairs: Vec<CellPair> = meant.iter().map(|row| pairs[*row]).collect();
    let percentile = Percentile { kind, ..percentile };
    let outcomes = latency_outcomes((then, now), &pairs, percentile, part, report::cell_names);
    let has_targets = now.run.targets.len() > 1;
    let outcomes = outcomes.into_iter().map(|LatencyOutcome { key, name, ratio, outcome }| {
        let name = if has_targets { format!("{name} on {}", key.2) } else { name };
        let told = ratio.map_or_else(|| name.clone(), |ratio| format!("{name} takes {ratio:.2}x as long"));
        (name, told, outcome)
    });
    Ok(Guarded::from_outcomes(&guard.typed, &outcomes.collect::<Vec<_>>()))
}

/// Returns whether the units of work of a cell were timed, even if they are too few for percentiles. A sum has no timed
/// units.
fn has_timed_units(cell: &Cell) -> bool {
    let has_units = || cell.kept().any(|round| round.operations.iter().any(|one| one.unit));
    cell.latency_ns.is_some() || (cell.measured && has_units())
}

/// The outcome of a condition. A program that neither run has is a typing error: its condition would guard nothing.
fn guarded(
    guard: &Guard,
    compared: &Compared,
    outcome: impl Fn(&ComparedCell) -> Outcome,
) -> Result<Guarded, DocumentFault> {
    let has_targets = compared.now.targets.len() > 1;
    let on = |target: &str| if has_targets { format!(" on {target}") } else { String::new() };
    let of_both = compared.cells.iter().map(|cell: &ComparedCell| {
        let name = format!("{}{}", cell.name, on(&cell.target));
        let outcome = outcome(cell);
        let told = match (&outcome, cell.ratio) {
            (Outcome::Missing, _) => name.clone(),
            (_, Some(_)) => format!("{name} {}", run_comparison::ratio(cell)),
            (_, None) => format!("{name}, whose rate in new is 0"),
        };
        ((cell.program.as_str(), cell.phase.as_str()), (name, told, outcome))
    });
    let of_one = compared.only_then.iter().map(|cell: &Lone| {
        let outcome = if cell.measured { Outcome::Missing } else { Outcome::New };
        let name = format!("{}{}", cell.name, on(&cell.target));
        ((cell.program.as_str(), cell.phase.as_str()), (name.clone(), name, outcome))
    });
    let (keys, all): (Vec<(&str, &str)>, Vec<_>) = of_both.chain(of_one).unzip();
    let meant = match &guard.program {
        Some(word) => matching(word, &keys),
        None => (0..all.len()).collect(),
    };
    if meant.is_empty() {
        return Err(no_such_cell(guard, &compared.then.name, &keys));
    }
    // 1, 2
    Ok(Guarded::from_outcomes(&guard.typed, &meant.iter().map(|&index| all[index].clone()).collect::<Vec<_>>()))
}

/// The error for a condition whose program no run has.
fn no_such_cell(guard: &Guard, name: &str, keys: &[(&str, &str)]) -> DocumentFault {
    let mut near: Vec<String> = keys.iter().map(|(program, _)| (*program).to_owned()).collect();
    near.dedup();
    DocumentFault::NoSuchCell { name: name.to_owned(), words: guard.program.clone().unwrap_or_default(), near }
}

/// Prints the cells of a condition that are not fine. If it is strict, undecided ones fail.
fn say(guarded: &Guarded, is_strict: bool) {
    for (words, cells) in [
        ("clearly slower", &guarded.slower),
        ("measured in base and not in new", &guarded.missing),
        // 3
        (if is_strict { "undecided" } else { "undecided, so it neither passes nor fails" }, &guarded.undecided),
    ] {
        if !cells.is_empty() {
            output::remark(&format!("{}: {words}: {}", guarded.condition, cells.join("; ")));
        }
    }
    for (why, cells) in run_comparison::unguarded(guarded) {
        output::remark(&format!("{}: cannot be checked, {why}: {}", guarded.condition, cells.join("; ")));
    }
}

/// The error for runs without a common cell: it lists the programs and targets of each run.
fn nothing_shared(runs: [(&str, &Document); 2]) -> DocumentFault {
    let is_ours = |provenance: Provenance| provenance != Provenance::Published;
    let have = runs.map(|(_, document)| {
        let cells = document.cells.iter().filter(|cell| is_ours(cell.provenance));
        let mut names: Vec<String> = Vec::new();
        for cell in cells {
            let name = format!("{} of {} on {}", cell.program, cell.preset, cell.target);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let rest = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        match (names.is_empty(), rest) {
            (true, _) => "none".to_owned(),
            (_, 0) => names.join(", "),
            (_, rest) => format!("{} and {rest} more", names.join(", ")),
        }
    });
    let differs = differs(runs[0].1, runs[1].1).unwrap_or_default();
    DocumentFault::NothingShared { names: runs.map(|(name, _)| name.to_owned()), have, differs }
}

/// The settings in which the first pair of cells with the same name differs; `None` if there is none.
fn differs(then: &Document, now: &Document) -> Option<String> {
    let is_alike = |(one, other): &(&Cell, &Cell)| {
        [&one.preset, &one.program, &one.phase] == [&other.preset, &other.program, &other.phase]
    };
    let all = then.cells.iter().flat_map(|one| now.cells.iter().map(move |other| (one, other)));
    let (one, other) = all.into_iter().find(is_alike)?;
    let keys: BTreeSet<&String> = one.parameters.keys().chain(other.parameters.keys()).collect();
    let keys = keys.into_iter().filter(|key| one.parameters.get(*key) != other.parameters.get(*key));
    let value = |cell: &Cell, key: &str| cell.parameters.get(key).map_or("none".to_owned(), ToString::to_string);
    let settings: Vec<String> =
        keys.map(|key| format!("{key} ({} and {})", value(one, key), value(other, key))).collect();
    (!settings.is_empty()).then(|| format!("; {} differs in {}", one.program, settings.join(", ")))
}

/// The most programs that are listed for a run.
const NAMED: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_a_percentage_and_an_optional_program() {
        let Guards(guards) = parse_guards("slower:5%, smallfb.read:slower:12.5").expect("conditions");
        let read: Vec<(Option<&str>, GuardKind)> =
            guards.iter().map(|guard| (guard.program.as_deref(), guard.kind)).collect();
        assert_eq!(read, [(None, GuardKind::Rate(0.05)), (Some("smallfb.read"), GuardKind::Rate(0.125))]);
        let Guards(guards) =
            parse_guards("commit.p99:slower:10%,p50:slower:1%,undecided,commit:undecided").expect("ok");
        let read: Vec<(Option<&str>, GuardKind)> =
            guards.iter().map(|guard| (guard.program.as_deref(), guard.kind)).collect();
        let percentile = |thousandths, part| GuardKind::Percentile(thousandths, part);
        assert_eq!(read[..2], [(Some("commit"), percentile(990, 0.1)), (None, percentile(500, 0.01))]);
        assert_eq!(read[2..], [(None, GuardKind::Undecided), (Some("commit"), GuardKind::Undecided)]);
        for wrong in [
            "",
            "slower",
            "slower:",
            "faster:5%",
            ":slower:5%",
            "slower:-1%",
            "slower:100%",
            "slower:NaN",
            "5%",
            "slower:5%%%",
            ":undecided",
            "undecided:5%",
            "notundecided",
        ] {
            assert!(parse_guards(wrong).is_err(), "{wrong}");
        }
        let why = parse_guards("slower:0.05").expect_err("a part of one");
        assert!(why.contains("slower:5%"), "{why}");
        assert!(parse_guards("slower:0.5%").is_ok() && parse_guards("slower:0").is_ok());
    }
}
