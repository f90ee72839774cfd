//! Recorded requests of an execution: read with the same reader as trace files, and converted to their stored form.

use std::io::BufReader;

use jobs::block_trace;
use kernel::message;
use kernel::observe::block_recorder::{NotRecorded, Recording};
use runner::execution::{ExecutionResult, Recorded, RecordedTrace};
use stats::TraceInfo;
use store::{NewTrace, TraceRow, encode_trace};
use units::{Bytes, Nanos};

/// The name of a recording in errors.
const NAME: &str = "the recording";

/// Reads the recording of an execution. A recording that cannot be read is missing, with the reason: its execution
/// counts all the same.
pub fn read(recording: Result<Recording, NotRecorded>, result: &ExecutionResult) -> Recorded {
    let ready = result
        .phases
        .iter()
        .flat_map(|phase| &phase.parts)
        .map(|part| part.ready)
        .try_fold(Nanos::ZERO, |sum, ready| ready.map(|ready| sum + ready));
    Recorded { trace: recording.map_err(|error| error.to_string()).and_then(stored), ready }
}

fn stored(Recording { device, span, events }: Recording) -> Result<RecordedTrace, String> {
    let read = block_trace::read(NAME, BufReader::new(events), Some(span));
    let read = read.map_err(|error| message(&error).to_string())?.map_err(|error| error.to_string())?;
    let requests = &read.trace.requests;
    Ok(RecordedTrace {
        device,
        requests: requests.len() as u64,
        bytes: requests.iter().map(|request| u64::from(request.bytes)).sum(),
        elapsed: read.trace.elapsed,
        others: read.others,
        stored: encode_trace(&read.trace),
    })
}

/// The form for the results database.
pub fn new_trace(recorded: &Recorded, program: &str, target: &str, discarded: bool) -> NewTrace {
    let of = recorded.trace.as_ref();
    NewTrace {
        discarded,
        program: program.to_owned(),
        target: target.to_owned(),
        device: of.map(|trace| trace.device.clone()).unwrap_or_default(),
        requests: of.map_or(0, |trace| trace.requests),
        bytes: of.map_or(0, |trace| trace.bytes),
        others: of.map_or(0, |trace| trace.others),
        elapsed: of.map(|trace| trace.elapsed).unwrap_or_default(),
        ready: recorded.ready,
        trace: of.map(|trace| trace.stored.clone()).map_err(String::clone),
    }
}

/// The traces of a run for its document, one entry for each test and target.
pub fn infos(rows: &[TraceRow]) -> Vec<TraceInfo> {
    let mut infos = Vec::new();
    for of_one in rows.chunk_by(|one, next| one.alternative == next.alternative) {
        let kept: Vec<&TraceRow> = of_one.iter().filter(|row| !row.discarded).collect();
        let counted = if kept.is_empty() { of_one.iter().collect() } else { kept };
        let whole: Vec<&TraceRow> = counted.iter().copied().filter(|row| row.missing.is_none()).collect();
        let middle = |of: fn(&TraceRow) -> u64| {
            let mut all: Vec<u64> = whole.iter().map(|row| of(row)).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or(0)
        };
        infos.extend(of_one.first().map(|first| TraceInfo {
            program: first.program.clone(),
            target: first.target.clone(),
            device: whole.first().map(|row| row.device.clone()).unwrap_or_default(),
            executions: whole.len() as u64,
            requests: middle(|row| row.requests),
            bytes: middle(|row| row.bytes),
            others: middle(|row| row.others),
            missing: counted.iter().find_map(|row| row.missing.clone()),
        }));
    }
    infos
}

/// The sentence about a trace for the table.
pub fn sentence(info: &TraceInfo) -> String {
    let TraceInfo { program, target, device, executions, requests, bytes, others, missing } = info;
    let of = format!("{program} on {target}: block trace");
    let missing = missing.as_ref();
    if *executions == 0 {
        return format!("{of} n.m.: {}", missing.map_or("nothing was executed", String::as_str));
    }
    let others = if *others > 0 { format!(", and {others} discards or other commands") } else { String::new() };
    let missing = missing.map_or_else(String::new, |why| format!("; other executions have none: {why}"));
    let size = Bytes(*bytes);
    format!("{of} of {requests} requests, {size}{others}, on {device}, with those of other processes{missing}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(round: u32, requests: u64, missing: Option<&str>) -> TraceRow {
        TraceRow {
            alternative: 0,
            round,
            discarded: round == 1,
            program: "tar".to_owned(),
            target: "/t".to_owned(),
            device: if missing.is_some() { String::new() } else { "vda".to_owned() },
            requests,
            bytes: requests * 4096,
            others: 0,
            elapsed: Nanos(1000),
            ready: None,
            missing: missing.map(str::to_owned),
        }
    }

    #[test]
    fn a_document_has_the_medians_of_rounds_that_count() {
        let infos =
            infos(&[row(1, 900, None), row(2, 10, None), row(3, 30, None), row(4, 20, None), row(5, 0, Some("x"))]);
        let [info] = &infos[..] else { panic!("{infos:?}") };
        assert_eq!((info.executions, info.requests, info.bytes, info.missing.as_deref()), (3, 20, 81_920, Some("x")));
        let text = sentence(info);
        let expected = "tar on /t: block trace of 20 requests, 80 KiB, on vda, with those of other processes; other \
                        executions have none: x";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_run_without_a_trace_says_why() {
        let infos = infos(&[row(1, 0, Some("no tracefs"))]);
        assert_eq!(infos.iter().map(sentence).collect::<String>(), "tar on /t: block trace n.m.: no tracefs");
    }
}
