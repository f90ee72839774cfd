//! Predictions: the block traces of a run are replayed on the law of its own device, and then on another law.
//!
//! Policy:
//!   1. all traces of the rounds that count are replayed; every time is the median over them;
//!   2. the law of the own device comes from a file that you name, or from the results database, where `probe` stores
//!      it. Without one there is no prediction: nothing else would show whether the traces explain the time;
//!   3. the run is refused as `stats::predict` decides;
//!   4. a mechanism of the law that was not measured is not modelled. The prediction names it. If it is a gate or the
//!      burst of a bucket, and the prediction depends on it, there is none. Neither is there one if `probe` saw that a
//!      limit is slower than the law;
//!   5. the range comes from stored checks of all commands and devices together.

mod source;

use machines::DeviceFile;
use simulator::description::{DeviceLaw, Gate, LatencyTable, Limits};
use simulator::replay;
use stats::figures::summary::median;
use stats::predict::{NEVER_MODELLED, Prediction, PredictionCheck, Refusal, refusal, spread};
use stats::probe::{BELOW_LIMIT, BUCKET_FIRST};
use units::Nanos;
use workload::{BlockTrace, TapeKind, TracedRequest};

use crate::probe::{TOO_LONG, UNCLEAR};

pub use source::{Source, SourceFault, from_run, from_trace};

/// Nanoseconds per second.
const NANOS: f64 = 1e9;

/// A prediction with the reason to refuse it.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The prediction; without a time, if it is refused.
    pub prediction: Prediction,
    /// The reason to refuse it, with a hint.
    pub refused: Option<(String, &'static str)>,
}

/// Predicts the time of the source on a device.
pub fn predict(source: &Source, here: &DeviceFile, there: &DeviceFile, checks: &[PredictionCheck]) -> Predicted {
    let mut prediction = Prediction {
        run: source.run.clone(),
        program: source.program.clone(),
        target: source.target.clone(),
        traces: source.traces.len() as u64,
        here_s: source.seconds(),
        waited: source.waited,
        device: there.name.clone(),
        not_modelled: not_modelled(source, there),
        ..Prediction::default()
    };
    let refused = |prediction: &mut Prediction, reason: String, hint| {
        prediction.reason = Some(reason.clone());
        Predicted { prediction: prediction.clone(), refused: Some((reason, hint)) }
    };
    let replayed = match seconds(here, &source.traces) {
        Ok(replayed) => replayed,
        Err(reason) => return refused(&mut prediction, format!("on the run's own device, {reason}"), PROBE_WRITES),
    };
    prediction.replayed_s = Some(replayed);
    if let Some(refusal) = refusal(prediction.here_s, replayed, source.waited) {
        return refused(&mut prediction, refusal.to_string(), Refusal::hint(refusal));
    }
    let predicted = match seconds(there, &source.traces) {
        Ok(predicted) => predicted,
        Err(reason) => return refused(&mut prediction, reason, PROBE_WRITES),
    };
    // 4
    if let Err(reason) = check_slower_limits(there, &source.traces) {
        return refused(&mut prediction, reason, WRITE_BUCKET);
    }
    if let Err(reason) = check_limits(there, &source.traces, predicted) {
        return refused(&mut prediction, reason, PROBE_AGAIN);
    }
    prediction.predicted_s = Some(predicted);
    match spread(checks) {
        Ok(spread) => {
            let (low, high) = spread.around(prediction.here_s, predicted);
            (prediction.low_s, prediction.high_s) = (Some(low), Some(high));
            prediction.checks = spread.checks as u64;
        }
        Err(too_few) => {
            prediction.checks = too_few.0 as u64;
            prediction.reason = Some(too_few.to_string());
        }
    }
    Predicted { prediction, refused: None }
}

/// The hint for a law without reads or writes.
const PROBE_WRITES: &str = "probe a directory on that device, which measures reads and writes";

/// The hint for a law without a gate or without the burst of a bucket.
const PROBE_AGAIN: &str = "probe the device again while the machine is idle, or write the figure into its file";

/// The hint for a limit that is slower than the law.
const WRITE_BUCKET: &str = "replace the figure in the device's file by a bucket that limits reads or writes";

/// Requests that a device with a gate `BELOW_LIMIT` serves in the time of one, at least. Calculated: at queue depth 32,
/// the requests of the probe did not wait for longer than they were served (`WAITS` in `stats::probe::knee`).
const BELOW_LIMIT_SERVED: u64 = 16;

/// The prediction may depend on unmeasured limits by at most this share: as much as the replay on the run's own device
/// may miss.
const MOST_BY_LIMITS: f64 = 0.1;

/// Refuses requests with a limit that is slower than the law, if the file does not have it. The latency is no bound:
/// even a request alone may wait for longer.
fn check_slower_limits(device: &DeviceFile, traces: &[BlockTrace]) -> Result<(), String> {
    let has = |kind: TapeKind| traces.iter().flat_map(|trace| &trace.requests).any(|request| request.kind == kind);
    let (reads, writes) = (has(TapeKind::Read), has(TapeKind::Write));
    let is_slower = |key: &str, reason: &str| match reason {
        TOO_LONG if key.starts_with("read_gate") => reads,
        TOO_LONG => writes,
        UNCLEAR => reads || writes,
        _ => false,
    };
    match device.unmeasured().find(|(key, reason)| is_slower(key, reason)) {
        Some((key, reason)) => {
            Err(format!("the time depends on a limit that is n.m. on {}: {key} ({reason})", device.name))
        }
        None => Ok(()),
    }
}

/// Refuses a prediction that depends on limits that were not measured. The law has none of them; the device may be as
/// slow as this:
///   1. a bucket with a known rate is empty;
///   2. a gate with the rate of a bucket is never slower than that bucket;
///   3. without a gate, the device serves the requests of a queue one after the other, or 16 in the time of one if the
///      probe saw that.
fn check_limits(device: &DeviceFile, traces: &[BlockTrace], predicted: f64) -> Result<(), String> {
    // 1
    let mut slowest = device.without_credit();
    let mut unknown = Vec::new();
    for (key, reason) in device.unmeasured() {
        let (group, figure) = key.split_once('.').unwrap_or((key, ""));
        let (kind, limits) = match group {
            "read_gate" => (TapeKind::Read, Limits::Reads),
            "write_gate" => (TapeKind::Write, Limits::Writes),
            "bucket" if figure.ends_with(".burst") => {
                unknown.push(format!("{key} ({reason})"));
                continue;
            }
            _ => continue,
        };
        // 2
        let has_bucket = slowest.buckets.iter().any(|bucket| [Limits::All, limits].contains(&bucket.limits));
        if reason == BUCKET_FIRST && has_bucket {
            continue;
        }
        // 3
        let Some(in_turn) = slowest.latency(kind).and_then(LatencyTable::in_turn) else { continue };
        let at_once = if reason == BELOW_LIMIT { BELOW_LIMIT_SERVED } else { 1 };
        let gate = if kind == TapeKind::Read { &mut slowest.read_gate } else { &mut slowest.write_gate };
        let gate = gate.get_or_insert(Gate { request: Nanos::ZERO, byte_picos: 0 });
        if figure != "byte" {
            gate.request = Nanos(in_turn.request.0 / at_once);
        }
        if figure != "request" {
            gate.byte_picos = in_turn.byte_picos / at_once;
        }
        unknown.push(format!("{key} ({reason})"));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let at_most = elapsed(&slowest, traces)?;
    if at_most <= predicted * (1.0 + MOST_BY_LIMITS) {
        return Ok(());
    }
    Err(format!(
        "the time depends on limits that are n.m. on {}: {}; it takes {predicted:.3} to {at_most:.3} s",
        device.name,
        unknown.join(", ")
    ))
}

/// The median seconds of the replays. Refuses traces with flushes if the time of a flush was not measured: they would
/// take no time.
fn seconds(device: &DeviceFile, traces: &[BlockTrace]) -> Result<f64, String> {
    let is_flush = |request: &TracedRequest| request.kind == TapeKind::Flush;
    let flushes = traces.iter().flat_map(|trace| &trace.requests).filter(|request| is_flush(request)).count();
    let unmeasured = device.unmeasured().find(|(key, _)| key.starts_with("flush"));
    if let Some((_, reason)) = unmeasured.filter(|_| flushes > 0 && device.law().flush.is_none()) {
        return Err(format!("there are {flushes} flushes, and their time is n.m. on {}: {reason}", device.name));
    }
    elapsed(device.law(), traces)
}

fn elapsed(law: &DeviceLaw, traces: &[BlockTrace]) -> Result<f64, String> {
    let replayed = traces.iter().map(|trace| {
        replay(law, trace).map(|replay| replay.elapsed.0 as f64 / NANOS).map_err(|no_law| no_law.to_string())
    });
    let replayed = replayed.collect::<Result<Vec<f64>, String>>()?;
    Ok(median(&replayed).unwrap_or(0.0))
}

/// The mechanisms that the prediction does not contain: those that no prediction contains, the unmeasured figures of
/// the device, and requests without a law.
fn not_modelled(source: &Source, there: &DeviceFile) -> Vec<String> {
    let mut all: Vec<String> = NEVER_MODELLED.iter().map(|one| (*one).to_owned()).collect();
    all.extend(there.unmeasured().map(|(key, reason)| format!("{key} ({reason})")));
    if source.waited.is_none() {
        all.push("waiting for a processor (not known)".to_owned());
    }
    if source.left_out > 0 {
        all.push(format!("{} requests of the trace, without a completion or of another device", source.left_out));
    }
    if source.others > 0 {
        all.push(format!("{} discards and other commands", source.others));
    }
    all
}

/// The warning that a device file is from another machine than the run; `None` if it is from the same one or from no
/// computer.
pub fn foreign(device: &DeviceFile, host: Option<&str>) -> Option<String> {
    let measured = device.measured_on.as_ref()?;
    let host = host?;
    (measured.host != host).then(|| {
        format!(
            "{} was measured on {}, and the run on {host}: its times contain the path of another machine",
            device.name, measured.host
        )
    })
}

#[cfg(test)]
mod tests;
