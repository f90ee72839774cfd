//! The traces to predict from: those of a stored run, or a trace file.

use std::io::BufRead;

use jobs::{JobError, block_trace};
use stats::figures::summary::median;
use store::{Store, StoreError, TraceRow};
use workload::BlockTrace;

use super::NANOS;

/// The traces of one test on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Id of the run, or the name of the trace file.
    pub run: String,
    /// The test.
    pub program: String,
    /// The target.
    pub target: String,
    /// The name of the device.
    pub device: String,
    /// The traces.
    pub traces: Vec<BlockTrace>,
    /// Share of the time in which the program waited for a processor; `None` if it is not known.
    pub waited: Option<f64>,
    /// Discards and other commands in all traces.
    pub others: u64,
    /// Requests of a trace file that are not replayed: they have no completion, or are of another device.
    pub left_out: u64,
}

/// The reason why a run has no traces.
#[derive(Debug, thiserror::Error)]
pub enum SourceFault {
    /// It was not recorded.
    #[error("the run {0} has no block trace")]
    NotRecorded(String),
    /// The recording failed.
    #[error("the run {run} has no block trace: {why}")]
    Missing {
        /// Id of the run.
        run: String,
        /// The reason.
        why: String,
    },
    /// The database could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Source {
    /// The median measured time in seconds.
    pub fn seconds(&self) -> f64 {
        let all: Vec<f64> = self.traces.iter().map(|trace| trace.elapsed.0 as f64 / NANOS).collect();
        median(&all).unwrap_or(0.0)
    }
}

/// The traces of a stored run, one source for each test and target.
pub fn from_run(store: &Store, run: &str) -> Result<Vec<Source>, SourceFault> {
    let rows = store.traces(run)?;
    if rows.is_empty() {
        return Err(SourceFault::NotRecorded(run.to_owned()));
    }
    let mut alternatives: Vec<u64> = rows.iter().map(|row| row.alternative).collect();
    alternatives.dedup();
    let mut sources = Vec::new();
    for alternative in alternatives {
        let of_it: Vec<&TraceRow> = rows.iter().filter(|row| row.alternative == alternative).collect();
        let whole: Vec<&TraceRow> = of_it.iter().copied().filter(|row| row.missing.is_none()).collect();
        let chosen = chosen(&whole);
        let Some(first) = chosen.first() else { continue };
        let traces = chosen.iter().map(|row| store.trace(run, row)).collect::<Result<Vec<_>, StoreError>>()?;
        sources.push(Source {
            run: run.to_owned(),
            program: first.program.clone(),
            target: first.target.clone(),
            device: first.device.clone(),
            traces,
            waited: waited(&chosen),
            others: chosen.iter().map(|row| row.others).sum(),
            left_out: 0,
        });
    }
    if sources.is_empty() {
        let why = rows.into_iter().find_map(|row| row.missing).unwrap_or_default();
        return Err(SourceFault::Missing { run: run.to_owned(), why });
    }
    Ok(sources)
}

/// The rows of rounds that count; all, if none counts.
fn chosen<'a>(rows: &[&'a TraceRow]) -> Vec<&'a TraceRow> {
    let kept: Vec<&TraceRow> = rows.iter().copied().filter(|row| !row.discarded).collect();
    if kept.is_empty() { rows.to_vec() } else { kept }
}

/// The share of the time of all executions in which the program waited for a processor.
fn waited(rows: &[&TraceRow]) -> Option<f64> {
    let ready = rows.iter().map(|row| row.ready.map(|ready| ready.0)).sum::<Option<u64>>()?;
    let elapsed: u64 = rows.iter().map(|row| row.elapsed.0).sum();
    (elapsed > 0).then(|| ready as f64 / elapsed as f64)
}

/// The trace of a file.
pub fn from_trace(name: &str, file: impl BufRead) -> std::io::Result<Result<Source, JobError>> {
    Ok(block_trace::read(name, file, None)?.map(|read| Source {
        run: name.to_owned(),
        program: name.rsplit('/').next().unwrap_or(name).to_owned(),
        target: read.device.clone(),
        device: read.device,
        traces: vec![read.trace],
        waited: None,
        others: read.others,
        left_out: read.unfinished + read.elsewhere,
    }))
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn row(discarded: bool, ready: Option<u64>) -> TraceRow {
        TraceRow {
            alternative: 0,
            round: 1,
            discarded,
            program: "tar".to_owned(),
            target: "/t".to_owned(),
            device: "vda".to_owned(),
            requests: 1,
            bytes: 4096,
            others: 0,
            elapsed: Nanos(1000),
            ready: ready.map(Nanos),
            missing: None,
        }
    }

    #[test]
    fn discarded_rounds_count_only_without_others() {
        let (first, second) = (row(true, None), row(false, None));
        assert_eq!(chosen(&[&first, &second]), [&second]);
        assert_eq!(chosen(&[&first]), [&first]);
    }

    #[test]
    fn waiting_is_known_only_if_it_is_for_every_round() {
        let (quiet, noisy, unknown) = (row(false, Some(0)), row(false, Some(500)), row(false, None));
        assert_eq!(waited(&[&quiet, &noisy]), Some(0.25));
        assert_eq!(waited(&[&quiet, &unknown]), None);
    }

    #[test]
    fn a_file_has_one_trace() {
        let text = "8,0 1 1 0.000000000 697 D R 8 + 8 [x]\n8,0 1 2 0.500000000 0 C R 8 + 8 [0]\n";
        let source = from_trace("a/b.txt", text.as_bytes()).expect("memory").expect("a trace");
        assert_eq!((source.program.as_str(), source.device.as_str(), source.seconds()), ("b.txt", "8,0", 0.5));
        assert_eq!(source.left_out, 0);
        let more = "8,0 1 3 0.600000000 697 D R 16 + 8 [x]\n8,16 1 4 0.700000000 697 D R 8 + 8 [x]\n";
        let more = format!("{text}{more}8,16 1 5 0.800000000 0 C R 8 + 8 [0]\n");
        let source = from_trace("a/b.txt", more.as_bytes()).expect("memory").expect("a trace");
        assert_eq!(source.left_out, 2);
    }
}
