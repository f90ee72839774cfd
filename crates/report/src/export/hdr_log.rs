//! The latencies of a run as an interval log of HdrHistogram (version 1.3): a line for each kept round and kind of
//! operation. HistogramLogAnalyzer, the plotter of hdrhistogram.org and their like read it.

use stats::{Cell, Document, Round, RoundOperation};

/// Nanoseconds in the unit of the column `Interval_Max`, a millisecond.
const MILLISECOND: f64 = 1e6;

/// Returns the log of some runs, in any order. Times count from the earliest start, because none may be negative.
pub fn log(runs: &[(String, Document)]) -> String {
    let starts = runs.iter().map(|(_, document)| document.run.started_unix_s);
    let start = starts.reduce(f64::min).unwrap_or(0.0);
    let mut text = String::from("#[Logged by diskperf; a start is the sum of the times of the rounds before]\n");
    text += "#[Histogram log format version 1.3]\n";
    text += &format!("#[StartTime: {start:.3} (seconds since epoch)]\n");
    text += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
    for (name, document) in runs {
        let before = document.run.started_unix_s - start;
        let prefix = if runs.len() > 1 { format!("{name}.") } else { String::new() };
        let names = crate::cell_names(&document.cells);
        for cell in &document.cells {
            let tag = tag(&format!("{prefix}{}.{}", names(cell), cell.target));
            text += &lines(&tag, cell, before);
        }
    }
    text
}

/// The lines of the kept rounds. A discarded round has no line, because readers add up all lines of a tag; its time
/// counts.
fn lines(tag: &str, cell: &Cell, mut began: f64) -> String {
    let mut text = String::new();
    for round in &cell.rounds {
        if !round.discarded {
            text += &round.operations.iter().map(|one| line(tag, cell, (round, began), one)).collect::<String>();
        }
        began += round.elapsed_s(cell.state.clock);
    }
    text
}

fn line(tag: &str, cell: &Cell, (round, began): (&Round, f64), operation: &RoundOperation) -> String {
    let length = round.elapsed_s(cell.state.clock);
    let (kind, histogram) = (operation.operation.name(), &operation.histogram);
    format!("Tag={tag}.{kind},{began:.3},{length:.3},{:.6},{histogram}\n", operation.max_ns as f64 / MILLISECOND)
}

/// The name without the characters that separate fields.
fn tag(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-/".contains(character);
    name.chars().map(|character| if is_plain(character) { character } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use stats::{Latencies, OperationKind, Provenance, RunInfo};
    use units::Nanos;

    use super::*;

    #[test]
    fn a_discarded_round_has_no_line_but_counts_as_time() {
        let mut latencies = Latencies::default();
        latencies.record(Nanos(1000));
        let round = |round, discarded| Round {
            round,
            discarded,
            returned_s: 2.0,
            operations: vec![RoundOperation::new(OperationKind::Read, true, &latencies)],
            ..Round::default()
        };
        let rounds = vec![round(1, true), round(2, false), round(3, false)];
        let cell = Cell { rounds, ..Cell::named(Provenance::Measured, "io", "randread", "randread", "a") };
        let text = lines("a", &cell, 10.0);
        let starts: Vec<&str> = text.lines().filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(starts, ["12.000", "14.000"], "{text}");
    }

    #[test]
    fn no_run_begins_before_the_log() {
        let run = |started_unix_s| {
            let mut latencies = Latencies::default();
            latencies.record(Nanos(1000));
            let operations = vec![RoundOperation::new(OperationKind::Read, true, &latencies)];
            let rounds = vec![Round { round: 1, returned_s: 2.0, operations, ..Round::default() }];
            let cells = vec![Cell { rounds, ..Cell::named(Provenance::Measured, "io", "randread", "randread", "a") }];
            let run = RunInfo { started_unix_s, ..RunInfo::default() };
            Document { schema: stats::SCHEMA.to_owned(), run, cells, errors: Vec::new() }
        };
        let text = log(&[("late".to_owned(), run(150.0)), ("early".to_owned(), run(100.0))]);
        let starts: Vec<&str> =
            text.lines().filter(|line| line.starts_with("Tag=")).filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(starts, ["50.000", "0.000"], "{text}");
        assert!(text.contains("#[StartTime: 100.000 "), "{text}");
    }

    #[test]
    fn a_tag_has_no_separators() {
        assert_eq!(tag("randrw 4 KiB, depth 8.a=b"), "randrw_4_KiB__depth_8.a_b");
    }
}
