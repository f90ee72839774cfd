//! The end of a run: shows its results and failures, and chooses the exit status.

use report::compare::target_comparison::enough;
use report::sanitize;
use stats::{Document, Problem};
use units::Exit;

use crate::error::Error;
use crate::ui::output_format::{OutputArguments, RunFormat};
use crate::ui::shell::on_store;

/// Prints the results, and returns the exit status.
pub fn print_results(
    shown: &OutputArguments<RunFormat>,
    document: &Document,
    ended: Result<(), Error>,
) -> Result<Exit, Error> {
    let (is_empty, is_json) = (document.cells.is_empty(), shown.layout() == RunFormat::Json);
    print_failures(&document.errors, 0);
    if document.run.interrupted && is_empty && !is_json {
        remark!("stopped before anything was measured");
    } else if is_empty && !is_json {
        // Nothing was measured, so there is nothing to show but the error.
        ended?;
        return Ok(Exit::Failed);
    } else {
        shown.deliver(&shown.text(document)).inspect_err(|_| {
            if let Some(stored) = &document.run.store {
                remark!("the results are stored; {} prints them", on_store(&format!("show {}", stored.run)));
            }
        })?;
    }
    ended?;
    if document.run.interrupted {
        if let Some(stored) = &document.run.store {
            remark!("interrupted; to continue: {}", on_store(&format!("resume {}", stored.run)));
        }
        return Ok(Exit::Interrupted);
    }
    if let Some(stored) = &document.run.store {
        remark!("stored as {}", stored.run);
    }
    let needs = document.run.choice.as_ref().map_or(&[][..], |choice| &choice.needs);
    let names: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    Ok(match document.errors.is_empty() {
        false => Exit::Failed,
        true if !needs.is_empty() && enough(needs, &names).is_empty() => Exit::Unmet,
        true => Exit::Done,
    })
}

/// The most failures on standard error; the table has all of them.
pub const MOST_FAILURES: usize = 5;

/// Prints the failed programs, their targets, and the hints, and the number of `others` that failed. An error that
/// ended the whole run is printed elsewhere.
pub fn print_failures(problems: &[Problem], others: usize) {
    let failed = problems.iter().filter_map(|problem| Some((problem, problem.program.as_ref()?)));
    for (Problem { target, phase, message, .. }, program) in failed.clone().take(MOST_FAILURES) {
        let target = target.as_deref().unwrap_or_default();
        let phase = phase.as_ref().map_or_else(String::new, |phase| format!(", {phase}"));
        remark!("error: {program}{phase} on {target}: {}", sanitize::brief(message));
    }
    let count = failed.clone().count() + others;
    if count > MOST_FAILURES {
        remark!("error: {} more; the results list all of them", count - MOST_FAILURES);
    }
    let mut hints: Vec<&str> = failed.filter_map(|(problem, _)| problem.hint.as_deref()).collect();
    hints.sort_unstable();
    hints.dedup();
    for hint in hints {
        remark!("hint: {hint}");
    }
}
