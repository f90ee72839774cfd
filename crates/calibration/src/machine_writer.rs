//! Writes the fitted constants into the files under `machines/`, and writes the log.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use classic1983::fitting::Change;

use crate::log::Log;
use crate::priors::{Constant, Priors};
use crate::search::Effort;

/// Path of the log, relative to the root of the workspace.
const LOG: &str = "crates/calibration/log.txt";

/// Writes the constants into their files, and the log next to the guesses.
pub fn write(root: &Path, log: &Log, text: &str) -> Result<(), String> {
    let origin = format!("cargo xtask calibrate, {}, seed {}", today(), log.effort.seed);
    for constant in &log.priors.constant {
        for (index, change) in
            log.priors.changes(log.values).iter().filter(|change| is_of(constant, change)).enumerate()
        {
            // The first change is the constant itself. Ties keep their own origin text.
            let origin = (index == 0).then_some(origin.as_str());
            let path = root.join(&change.file);
            let file = fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            let file = replaced(&file, change, &constant.unit, origin)?;
            fs::write(&path, file).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
    }
    let Effort { steps, evaluations, rounds, .. } = log.effort;
    let from = if log.from_machines { "--from-machines " } else { "" };
    let text = format!("{origin}, {from}--steps {steps} --evaluations {evaluations} --rounds {rounds}\n\n{text}");
    fs::write(root.join(LOG), text).map_err(|error| format!("cannot write {LOG}: {error}"))
}

/// Writes the errors of held-out cells: as text next to the guesses, and the figures that `diskperf paper` prints.
pub fn write_holdouts(root: &Path, effort: Effort, text: &str, figures: &str) -> Result<(), String> {
    let Effort { seed, steps, evaluations, rounds } = effort;
    let text = format!(
        "cargo xtask calibrate --holdouts, {}, seed {seed}, --steps {steps} --evaluations {evaluations} --rounds \
         {rounds}\n\n{}\n",
        today(),
        text.trim_end()
    );
    for (path, text) in [("crates/calibration/holdouts.txt", text.as_str()), ("golden/held-out.txt", figures)] {
        fs::write(root.join(path), text).map_err(|error| format!("cannot write {path}: {error}"))?;
    }
    Ok(())
}

/// Returns the values of the constants in the files now.
pub fn values(root: &Path, priors: &Priors) -> Result<Vec<f64>, String> {
    let value = |constant: &Constant| {
        let text = read(root, &constant.file, &constant.field)?;
        number(&text, &constant.unit).parse().map_err(|_| format!("{} is no number: {text}", constant.field))
    };
    priors.constant.iter().map(value).collect()
}

/// Returns a field's value in its file, with its unit.
fn read(root: &Path, file: &str, field: &str) -> Result<String, String> {
    let text = fs::read_to_string(root.join(file)).map_err(|error| format!("cannot read {file}: {error}"))?;
    let line = field.split_once('.').and_then(|(_, key)| {
        let begin = format!("{key} = {{ value = ");
        let line = text.lines().find_map(|line| line.strip_prefix(&begin).map(str::to_owned))?;
        let (value, rest) = line.split_once(", unit = \"")?;
        Some(format!("{value}{}", rest.split_once('"')?.0))
    });
    line.ok_or_else(|| format!("{file} has no {field}"))
}

fn is_of(constant: &Constant, change: &Change) -> bool {
    let is = |file: &str, field: &str| change.file == file && change.field == field;
    is(&constant.file, &constant.field) || constant.ties.iter().any(|tie| is(&tie.file, &tie.field))
}

/// Returns the file with the field's value replaced, and its origin, if one is given. The remark after the first
/// sentence of the old origin is kept.
fn replaced(file: &str, change: &Change, unit: &str, origin: Option<&str>) -> Result<String, String> {
    let missing = || format!("{} has no line of {} in {unit}", change.file, change.field);
    let (_, key) = change.field.split_once('.').ok_or_else(missing)?;
    let begin = format!("{key} = {{ value = ");
    let line = file.lines().find(|line| line.starts_with(&begin)).ok_or_else(missing)?;
    let rest = &line[begin.len()..];
    let (_, rest) =
        rest.split_once(',').filter(|(_, rest)| rest.contains(&format!("\"{unit}\""))).ok_or_else(missing)?;
    let mut new = format!("{begin}{},{rest}", number(&change.value, unit));
    if let Some(origin) = origin {
        let (before, from) = new.split_once("from = \"").ok_or_else(missing)?;
        let (from, after) = from.rsplit_once('"').ok_or_else(missing)?;
        let remark = from.split_once(". ").map_or(String::new(), |(_, remark)| format!(". {remark}"));
        new = format!("{before}from = \"{origin}{remark}\"{after}");
    }
    Ok(file.replacen(line, &new, 1))
}

/// Returns the number without its unit.
fn number<'a>(value: &'a str, unit: &str) -> &'a str {
    value.strip_suffix(unit).unwrap_or(value)
}

/// Returns today's date (UTC).
fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    date(days)
}

/// Returns the date `days` days after 1 January 1970.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= months[month] {
        days -= months[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use classic1983::fitting::{Cell, Machines};

    use super::*;
    use crate::log::{MARK, groups};
    use crate::loss::loss;
    use crate::root;
    use crate::search::PHASES;

    /// Maximum gain of the loss by moving any constant, in percent of the loss. Chosen; no source.
    const MOST_GAIN_PERCENT: f64 = 1.0;

    /// Fitted numbers are not changed by hand: `machines/` has exactly what the log of the last fit says it wrote.
    #[test]
    fn machines_have_the_values_of_the_last_fit() {
        let log = fs::read_to_string(root().join(LOG)).expect("the log of the last fit");
        let mut lines = 0;
        for line in log.lines().filter_map(|line| line.strip_prefix(MARK)) {
            let [file, field, value] = line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{line}") };
            assert_eq!(read(&root(), file, field).as_deref(), Ok(value), "{file}: {field}");
            lines += 1;
        }
        let priors = Priors::read();
        assert_eq!(lines, priors.changes(&priors.guesses()).len());
    }

    /// The loss and the errors of all groups are those in the log. So the machines, the simulator and the judging cells
    /// are those of the last fit, and its sensitivities still hold: moving a constant by 5 % gains at most 1 %. The
    /// command in `hint` simulates the moved constants again, which takes many times as long.
    #[test]
    fn the_log_holds_for_the_machines_of_today() {
        let (machines, priors, cells) = (Machines::new(), Priors::read(), Cell::all());
        let log = fs::read_to_string(root().join(LOG)).expect("the log of the last fit");
        let simulated = machines.simulate(&cells, &[], PHASES).expect("sound machines");
        let hint = "the model has changed, and this writes its log: cargo xtask calibrate --from-machines --steps 0 \
                    --evaluations 0 --rounds 0 --write";
        assert!(log.contains(&format!("; loss {:.5}\n", loss(&cells, &simulated))), "{hint}");
        assert!(log.contains(&groups(&cells, &simulated)), "{hint}");
        let moved: Vec<(&str, f64)> = log.lines().filter_map(change_by_the_better_move).collect();
        assert_eq!(moved.len(), priors.constant.len());
        for (field, percent) in moved {
            assert!(percent >= -MOST_GAIN_PERCENT, "moving {field} changes the loss by {percent} %: fit again");
        }
    }

    /// A constant in the log and the change of the loss by the better of its two moves, in percent.
    fn change_by_the_better_move(line: &str) -> Option<(&str, f64)> {
        // kernel.call  400  444 us  +0.4  +2.1 %  what it is
        let words: Vec<&str> = line.split_whitespace().take(7).collect();
        let [field, _, _, _, less, more, "%"] = words[..] else { return None };
        Some((field, less.parse::<f64>().ok()?.min(more.parse().ok()?)))
    }

    #[test]
    fn only_the_value_and_its_origin_are_replaced() {
        let file = "a = 1\ncall = { value = 427.0, unit = \"us\", source = \"fitted\", from = \"a fit. Why\" }\n";
        let change = Change { file: "f".to_owned(), field: "kernel.call".to_owned(), value: "430us".to_owned() };
        let new = replaced(file, &change, "us", Some("a new fit")).expect("a line of it");
        let asked = "a = 1\ncall = { value = 430, unit = \"us\", source = \"fitted\", from = \"a new fit. Why\" }\n";
        assert_eq!(new, asked);
        assert_eq!(replaced(file, &change, "us", None).expect("a line"), file.replace("427.0", "430"));
        assert!(replaced(file, &change, "ms", None).is_err());
    }

    #[test]
    fn days_are_dates() {
        assert_eq!(
            [0, 58, 59, 11_016, 19_782].map(date).join(" "),
            "1970-01-01 1970-02-28 1970-03-01 2000-02-29 2024-02-29"
        );
    }
}
