//! The latencies of a run as an interval log of HdrHistogram (version 1.3): a line for each kept round and kind of
//! operation. HistogramLogAnalyzer, the plotter of hdrhistogram.org and their like read it.

use std::collections::BTreeMap;

use stats::{Cell, Document, Round, RoundOperation};

/// Nanoseconds in the unit of the column `Interval_Max`, a millisecond.
const MILLISECOND: f64 = 1e6;

/// A log, and the number of histograms that it leaves out.
pub struct Log {
    /// The text of the log.
    pub text: String,
    /// Histograms that cannot be read: a results file may contain any text in their place.
    pub damaged: usize,
}

/// Returns the log of some runs, in any order. Times count from the earliest start, because none may be negative.
pub fn log(runs: &[(String, Document)]) -> Log {
    let starts = runs.iter().map(|(_, document)| document.run.started_unix_s);
    let start = starts.reduce(f64::min).unwrap_or(0.0);
    let mut text = String::from("#[Logged by diskperf; a start is the sum of the times of the rounds before]\n");
    text += "#[Histogram log format version 1.3]\n";
    text += &format!("#[StartTime: {start:.3} (seconds since epoch)]\n");
    text += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
    let mut log = Log { text, damaged: 0 };
    let mut known = BTreeMap::new();
    for (name, document) in runs {
        let before = document.run.started_unix_s - start;
        let prefix = if runs.len() > 1 { format!("{name}.") } else { String::new() };
        let names = crate::cell_names(&document.cells);
        for cell in &document.cells {
            let tag = unused(tag(&format!("{prefix}{}.{}", names(cell), cell.target)), &mut known);
            log.add(&tag, cell, before);
        }
    }
    log
}

impl Log {
    /// Adds the lines of the kept rounds. A discarded round has no line, because readers add up all lines of a tag; its
    /// time counts.
    fn add(&mut self, tag: &str, cell: &Cell, mut began: f64) {
        for round in &cell.rounds {
            for operation in round.operations.iter().filter(|_| !round.discarded) {
                match operation.latencies() {
                    Some(_) => self.text += &line(tag, cell, (round, began), operation),
                    None => self.damaged += 1,
                }
            }
            began += round.elapsed_s(cell.state.clock);
        }
    }
}

fn line(tag: &str, cell: &Cell, (round, began): (&Round, f64), operation: &RoundOperation) -> String {
    let length = round.elapsed_s(cell.state.clock);
    let (kind, histogram) = (operation.operation.name(), &operation.histogram);
    format!("Tag={tag}.{kind},{began:.3},{length:.3},{:.6},{histogram}\n", operation.max_ns as f64 / MILLISECOND)
}

/// The name without the characters that separate fields.
fn tag(name: &str) -> String {
    let separates = |character: char| {
        character.is_whitespace() || character.is_control() || [',', '=', '"', '\''].contains(&character)
    };
    name.chars().map(|character| if separates(character) { '_' } else { character }).collect()
}

/// The tag, with a number if an earlier result has the same: readers add up all lines of a tag. `known` counts the
/// results of each tag.
fn unused(tag: String, known: &mut BTreeMap<String, u32>) -> String {
    let count = known.entry(tag.clone()).or_insert(0);
    *count += 1;
    if *count == 1 {
        return tag;
    }
    let numbered = format!("{tag}_{count}");
    unused(numbered, known)
}

#[cfg(test)]
mod tests {
    use stats::{Latencies, OperationKind, Provenance, RunInfo};
    use units::Nanos;

    use super::*;

    /// A run with a read on each of these targets.
    fn run(started_unix_s: f64, targets: &[&str]) -> Document {
        let mut latencies = Latencies::default();
        latencies.record(Nanos(1000));
        let cell = |target: &&str| {
            let operations = vec![RoundOperation::new(OperationKind::Read, true, &latencies)];
            let rounds = vec![Round { round: 1, returned_s: 2.0, operations, ..Round::default() }];
            Cell { rounds, ..Cell::named(Provenance::Measured, "io", "randread", "randread", target) }
        };
        let run = RunInfo { started_unix_s, ..RunInfo::default() };
        Document {
            schema: stats::SCHEMA.to_owned(),
            run,
            cells: targets.iter().map(cell).collect(),
            errors: Vec::new(),
        }
    }

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
        let mut log = Log { text: String::new(), damaged: 0 };
        log.add("a", &cell, 10.0);
        let text = log.text;
        let starts: Vec<&str> = text.lines().filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(starts, ["12.000", "14.000"], "{text}");
    }

    #[test]
    fn no_run_begins_before_the_log() {
        let text = log(&[("late".to_owned(), run(150.0, &["a"])), ("early".to_owned(), run(100.0, &["a"]))]).text;
        let starts: Vec<&str> =
            text.lines().filter(|line| line.starts_with("Tag=")).filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(starts, ["50.000", "0.000"], "{text}");
        assert!(text.contains("#[StartTime: 100.000 "), "{text}");
    }

    #[test]
    fn a_tag_has_no_separators() {
        assert_eq!(tag("randrw 4 KiB, depth 8.a=b"), "randrw_4_KiB__depth_8.a_b");
        assert_eq!(tag("a\n\"b'\u{a0}\u{85}größe:+/(1)"), "a__b___größe:+/(1)");
    }

    #[test]
    fn different_targets_have_different_tags() {
        let targets = ["/données", "/donnèes", "a b", "a=b", "a_b_2"];
        let text = log(&[("run".to_owned(), run(0.0, &targets))]).text;
        let tags: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("Tag=")?.split(',').next()).collect();
        let expected = ["/données", "/donnèes", "a_b", "a_b_2", "a_b_2_2"];
        assert_eq!(tags.len(), expected.len(), "{text}");
        for (tag, target) in tags.iter().zip(expected) {
            assert!(tag.contains(&format!(".{target}.")), "{target}: {text}");
        }
        let same = log(&[("run".to_owned(), run(0.0, &["a"])), ("run".to_owned(), run(0.0, &["a"]))]).text;
        assert_eq!(same.matches("_2.read,").count(), 1, "{same}");
    }

    #[test]
    fn text_in_place_of_a_histogram_is_left_out() {
        let mut crafted = run(0.0, &["a", "b"]);
        crafted.cells[0].rounds[0].operations[0].histogram = "x\nTag=forged,0.000,1.000,1.000000,HISTFAAA".to_owned();
        let log = log(&[("run".to_owned(), crafted)]);
        assert_eq!((log.damaged, log.text.matches("Tag=").count()), (1, 1), "{}", log.text);
        assert!(!log.text.contains("forged"), "{}", log.text);
    }
}
