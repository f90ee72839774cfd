//! `diskperf compare RUN RUN`: the tests that became faster or slower, what changed around them, and `--fail-if`.
//!
//! Policy of `--fail-if slower:PERCENT`:
//!   1. a cell fails if it is certainly slower (its interval excludes 1) and the middle of the interval is at least
//!      PERCENT lower;
//!   2. a cell that is missing from the new run fails. So does a cell for which the condition could never fail: a cell
//!      that cannot be guarded must not pass silently;
//!   3. a cell that may be slower by PERCENT, but may also not be slower at all, neither passes nor fails; it is named;
//!   4. a run cannot guard itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use campaign::choose::matching;
use clap::Args;
use report::compare::run_comparison;
use report::sanitize::line;
use stats::compare::run_comparison::{Compared, ComparedCell, Guarded, Lone, Outcome, compare, is_same_run};
use stats::{Cell, Document, Provenance};
use units::Exit;

use crate::cli::values::parse_margin;
use crate::documents::document;
use crate::documents::document_error::DocumentFault;
use crate::documents::store_arguments::StoreArguments;
use crate::error::Error;
use crate::ui::output;
use crate::ui::output_format::{OutputArguments, Tabular, json};

#[derive(Clone, Debug, Args)]
pub struct CompareArguments {
    /// Earlier run: a stored run (its id, the beginning of an id, or last), or a result file (of `diskperf run ...
    /// --json -o FILE`); - means standard input
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
    /// commas.
    #[arg(long, value_name = "CONDITIONS", value_parser = parse_guards)]
    fail_if: Vec<Guards>,
    #[command(flatten)]
    output: OutputArguments<Tabular>,
    #[command(flatten)]
    store: StoreArguments,
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
    /// Least decrease of the rate that fails, as a fraction of one.
    part: f64,
}

fn parse_guards(text: &str) -> Result<Guards, String> {
    text.split(',').map(|typed| guard(typed.trim())).collect::<Result<_, String>>().map(Guards)
}

/// Parses a condition, as in `[PROGRAM:]slower:PERCENT`.
fn guard(typed: &str) -> Result<Guard, String> {
    let wrong = || format!("{typed} is not a condition: write slower:5%, or commit:slower:5% for one test");
    let (what, percent) = typed.rsplit_once(':').ok_or_else(wrong)?;
    let (program, what) = what.rsplit_once(':').map_or((None, what), |(program, what)| (Some(program), what));
    let number = percent.strip_suffix('%').unwrap_or(percent).trim();
    let value = number.parse::<f64>().map_err(|_| wrong())?;
    if what != "slower" || program == Some("") || !(0.0..100.0).contains(&value) {
        return Err(wrong());
    }
    // A number below one without a % sign is probably meant as a fraction.
    if percent == number && value > 0.0 && value < 1.0 {
        let hundredfold = (10_000.0 * value).round() / 100.0;
        return Err(format!(
            "{typed} may mean {value} % or {hundredfold} %: write the % sign, as in slower:{hundredfold}%"
        ));
    }
    let percent = value;
    Ok(Guard { typed: typed.to_owned(), program: program.map(str::to_owned), part: percent / 100.0 })
}

pub fn run(arguments: &CompareArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let layout = arguments.output.layout();
    let mut runs = Vec::new();
    for run in [&arguments.then, &arguments.now] {
        document::refuse_overwrite(run, arguments.output.file.as_deref())?;
        let document = document::named(run, &arguments.store)?;
        let name = document::display_name(run, &document);
        runs.push(match layout {
            Tabular::Json => (name, document),
            _ => (line(&name).into_owned(), document::plain(&document).into_owned()),
        });
    }
    let [then, now] = [&runs[0], &runs[1]].map(|(name, document)| (name.as_str(), document));
    if is_same_run(&then.1.run, &now.1.run) {
        // 4
        if !arguments.fail_if.is_empty() {
            return Err(DocumentFault::OneRun { names: [then.0.to_owned(), now.0.to_owned()] }.into());
        }
        if matches!(layout, Tabular::Table | Tabular::Markdown) {
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
    for guard in arguments.fail_if.iter().flat_map(|Guards(guards)| guards) {
        let guarded = guarded(guard, &compared)?;
        compared.fail_if.push(guarded);
    }
    let text = match layout {
        Tabular::Table => run_comparison::table(&compared, arguments.output.page()),
        Tabular::Markdown => run_comparison::markdown(&compared),
        Tabular::Csv => run_comparison::csv(&compared),
        Tabular::Json => json(&compared),
    };
    arguments.output.deliver(&text)?;
    compared.fail_if.iter().for_each(say);
    Ok(if compared.fail_if.iter().any(|guarded| guarded.failed) { Exit::Unmet } else { Exit::Done })
}

/// The outcome of a condition. A program that neither run has is a typing error: its condition would guard nothing.
fn guarded(guard: &Guard, compared: &Compared) -> Result<Guarded, DocumentFault> {
    let has_targets = compared.now.targets.len() > 1;
    let on = |target: &str| if has_targets { format!(" on {target}") } else { String::new() };
    let of_both = compared.cells.iter().map(|cell: &ComparedCell| {
        let name = format!("{}{}", cell.name, on(&cell.target));
        let outcome = cell.is_slower_by(guard.part);
        let told = match (&outcome, cell.ratio) {
            (Outcome::Missing, _) => name.clone(),
            (_, Some(_)) => format!("{name} {}", run_comparison::ratio(cell)),
            (_, None) => format!("{name}, which does nothing in new"),
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
        let mut near: Vec<String> = keys.iter().map(|(program, _)| (*program).to_owned()).collect();
        near.dedup();
        let (name, words) = (compared.then.name.clone(), guard.program.clone().unwrap_or_default());
        return Err(DocumentFault::NoSuchCell { name, words, near });
    }
    // 1, 2
    Ok(Guarded::from_outcomes(&guard.typed, &meant.iter().map(|&index| all[index].clone()).collect::<Vec<_>>()))
}

fn say(guarded: &Guarded) {
    for (words, cells) in [
        ("clearly slower", &guarded.slower),
        ("measured in base and not in new", &guarded.missing),
        // 3
        ("undecided, so it neither passes nor fails", &guarded.undecided),
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
        let read: Vec<(Option<&str>, f64)> =
            guards.iter().map(|guard| (guard.program.as_deref(), guard.part)).collect();
        assert_eq!(read, [(None, 0.05), (Some("smallfb.read"), 0.125)]);
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
        ] {
            assert!(parse_guards(wrong).is_err(), "{wrong}");
        }
        let why = parse_guards("slower:0.05").expect_err("a part of one");
        assert!(why.contains("slower:5%"), "{why}");
        assert!(parse_guards("slower:0.5%").is_ok() && parse_guards("slower:0").is_ok());
    }
}
