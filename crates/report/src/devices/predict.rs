//! Predictions and their checks as text.

use stats::predict::{CheckRecord, Prediction, PredictionCheck, PredictionDocument};
use units::Nanos;

use crate::page::Page;
use crate::sanitize::line;
use crate::table::{Column, Field, Grid};

/// The predictions: a line for each, the record of checks, and the mechanisms that are not modelled.
pub fn prediction_lines(document: &PredictionDocument) -> String {
    let mut text = String::new();
    let width = document.predictions.iter().map(|one| one.program.chars().count()).max().unwrap_or(0);
    for one in &document.predictions {
        text += &format!("{:width$}   {}\n", line(&one.program), figures(one));
        let measured = one.measured_s.map(|seconds| measured(one, seconds));
        text += &measured.map_or_else(String::new, |measured| format!("{:width$}   {measured}\n", ""));
        if let Some(reason) = one.reason.as_ref().filter(|_| one.predicted_s.is_some()) {
            text += &format!("range n.m.: {}\n", line(reason));
        }
    }
    text += &format!("checked: {}\n", kept(&document.record));
    if let Some(first) = document.predictions.first() {
        text += &format!("not modelled: {}\n", line(&first.not_modelled.join(", ")));
    }
    text
}

/// The times of a prediction, as in `here 72 ms (replayed 71 ms)   on slow 84 ms (75-93 ms)`.
fn figures(one: &Prediction) -> String {
    let replayed = one.replayed_s.map_or_else(String::new, |seconds| format!(" (replayed {})", time(seconds)));
    let here = format!("here {}{replayed}", time(one.here_s));
    let device = line(&one.device);
    let Some(predicted) = one.predicted_s else {
        return format!("{here}   on {device} n.m.: {}", line(one.reason.as_deref().unwrap_or_default()));
    };
    let range = one.low_s.zip(one.high_s);
    let range = range.map_or_else(String::new, |(low, high)| format!(" ({} to {})", time(low), time(high)));
    format!("{here}   on {device} {}{range}", time(predicted))
}

/// The measured time of a check, as in `measured 83 ms: 1 % less than predicted, within the range`.
fn measured(one: &Prediction, seconds: f64) -> String {
    let predicted = one.predicted_s.unwrap_or(seconds);
    let difference = 100.0 * (seconds / predicted - 1.0);
    let than = if difference < 0.0 { "less" } else { "more" };
    let range = one.low_s.zip(one.high_s).map_or("", |(low, high)| {
        if (low..=high).contains(&seconds) { ", within the range" } else { ", outside the range" }
    });
    format!("measured {}: {:.0} % {than} than predicted{range}", time(seconds), difference.abs())
}

/// All checks, the oldest first, and how many were within the stated range.
pub fn checks_table(record: &CheckRecord, page: Page) -> String {
    let grid = check_grid(&record.checks);
    let table = if record.checks.is_empty() { Vec::new() } else { grid.lines(page) };
    table.into_iter().map(|line| line + "\n").collect::<String>() + &format!("checked: {}\n", kept(record))
}

/// A row for each check.
pub fn check_grid(checks: &[PredictionCheck]) -> Grid {
    let columns: [Field<&PredictionCheck, Column>; 7] = [
        (Column::words("test"), |check| check.program.clone()),
        (Column::words("device"), |check| check.device.clone()),
        (Column::figures("predicted"), |check| time(check.predicted_s)),
        (Column::figures("range"), |check| range(check).unwrap_or_else(|| "n.m.".to_owned())),
        (Column::figures("measured"), |check| time(check.measured_s)),
        (Column::figures("ratio"), |check| format!("{:.2}", check.ratio())),
        (Column::words("within"), |check| {
            let word = |is_within| if is_within { "yes" } else { "no" };
            match &check.elsewhere {
                Some(reason) => format!("not counted: {reason}"),
                None => check.is_within().map_or("n.m.", word).to_owned(),
            }
        }),
    ];
    Grid::filled(&columns, checks)
}

/// A line for each check, as in `tar: predicted for slow 84 ms (75 ms to 93 ms), measured 83 ms`.
pub fn check_lines(checks: &[PredictionCheck]) -> String {
    let line = |check: &PredictionCheck| {
        let [program, device] = [&check.program, &check.device].map(|word| line(word));
        let range = range(check).map_or_else(String::new, |range| format!(" ({range})"));
        let [predicted, measured] = [check.predicted_s, check.measured_s].map(time);
        let elsewhere = check.elsewhere.iter().map(|reason| format!("; not counted: {}", line(reason)));
        let elsewhere: String = elsewhere.collect();
        format!("{program}: predicted for {device} {predicted}{range}, measured {measured}{elsewhere}\n")
    };
    checks.iter().map(line).collect()
}

fn range(check: &PredictionCheck) -> Option<String> {
    Some(format!("{} to {}", time(check.low_s?), time(check.high_s?)))
}

/// The number of checks that were within their range.
fn kept(record: &CheckRecord) -> String {
    match (record.checks.len(), record.with_range) {
        (0, _) => "n.m.: no prediction was checked (--check TARGET)".to_owned(),
        (1, 0) => "1 prediction without a range".to_owned(),
        (all, 0) => format!("{all} predictions, none with a range"),
        (all, stated) => format!("{} of {stated} within the stated range; {all} checks in all", record.within),
    }
}

fn time(seconds: f64) -> String {
    Nanos((seconds * 1e9) as u64).to_string()
}

#[cfg(test)]
mod tests {
    use stats::predict::{PREDICTION_SCHEMA, PredictionCheck};

    use super::*;

    fn prediction() -> Prediction {
        Prediction {
            program: "tar".to_owned(),
            here_s: 0.072,
            replayed_s: Some(0.071),
            device: "slow".to_owned(),
            predicted_s: Some(0.084),
            low_s: Some(0.075),
            high_s: Some(0.093),
            not_modelled: vec!["other load".to_owned()],
            ..Prediction::default()
        }
    }

    fn text(one: Prediction, checks: Vec<PredictionCheck>) -> String {
        let record = CheckRecord::new(checks);
        prediction_lines(&PredictionDocument { schema: PREDICTION_SCHEMA.to_owned(), predictions: vec![one], record })
    }

    fn check(measured_s: f64) -> PredictionCheck {
        PredictionCheck {
            run: "a".to_owned(),
            measured_run: "b".to_owned(),
            made_unix_s: 1.0,
            program: "tar".to_owned(),
            target: "/t".to_owned(),
            device: "slow".to_owned(),
            here_s: 0.072,
            predicted_s: 0.084,
            low_s: Some(0.075),
            high_s: Some(0.093),
            measured_s,
            elsewhere: None,
        }
    }

    #[test]
    fn a_prediction_has_its_range_and_its_limits() {
        let expected = "tar   here 72.0 ms (replayed 71.0 ms)   on slow 84.0 ms (75.0 ms to 93.0 ms)\n\
                        checked: n.m.: no prediction was checked (--check TARGET)\nnot modelled: other load\n";
        assert_eq!(text(prediction(), Vec::new()), expected);
        let checked = text(Prediction { measured_s: Some(0.083), ..prediction() }, vec![check(0.083), check(0.1)]);
        assert!(checked.contains("measured 83.0 ms: 1 % less than predicted, within the range\n"), "{checked}");
        assert!(checked.contains("checked: 1 of 2 within the stated range; 2 checks in all\n"), "{checked}");
    }

    #[test]
    fn a_refusal_has_its_reason() {
        let refused = Prediction { predicted_s: None, reason: Some("it waited".to_owned()), ..prediction() };
        assert!(text(refused, Vec::new()).contains("on slow n.m.: it waited\n"));
        let no_range = Prediction { low_s: None, high_s: None, reason: Some("too few".to_owned()), ..prediction() };
        assert!(text(no_range, Vec::new()).contains("on slow 84.0 ms\nrange n.m.: too few\n"));
    }

    #[test]
    fn checks_are_listed_with_their_ratio() {
        let checks = vec![check(0.084), check(0.1)];
        assert_eq!(
            check_lines(&checks[..1]),
            "tar: predicted for slow 84.0 ms (75.0 ms to 93.0 ms), measured 84.0 ms\n"
        );
        let table = checks_table(&CheckRecord::new(checks), Page::ENDLESS);
        let row = table.lines().nth(2).map(|row| row.split_whitespace().collect::<Vec<&str>>().join(" "));
        assert_eq!(row.as_deref(), Some("tar slow 84.0 ms 75.0 ms to 93.0 ms 100 ms 1.19 no"), "{table}");
        assert!(table.contains("\nchecked: 1 of 2"), "{table}");
        let elsewhere = PredictionCheck { elsewhere: Some("it ran on vdb".to_owned()), ..check(0.1) };
        let text = check_lines(std::slice::from_ref(&elsewhere));
        assert!(text.ends_with("measured 100 ms; not counted: it ran on vdb\n"), "{text}");
        let table = checks_table(&CheckRecord::new(vec![check(0.084), elsewhere]), Page::ENDLESS);
        assert!(table.contains("not counted: it ran on vdb\n"), "{table}");
        assert!(table.contains("\nchecked: 1 of 1"), "{table}");
    }
}
