//! Predictions: the block traces of a run are replayed on the law of its own device, and then on another law.
//!
//! Policy:
//!   1. all traces of the rounds that count are replayed; every time is the median over them;
//!   2. the law of the own device comes from a file that you name, or from the results database, where `probe` stores
//!      it. Without one there is no prediction: nothing else would show whether the traces explain the time;
//!   3. the run is refused as `stats::predict` decides;
//!   4. a mechanism of the law that was not measured is not modelled. The prediction names it. If it is a gate, and the
//!      prediction depends on it, there is none;
//!   5. the range comes from stored checks of all commands and devices together.

mod source;

use machines::DeviceFile;
use simulator::description::{DeviceLaw, LatencyTable};
use simulator::replay;
use stats::figures::summary::median;
use stats::predict::{NEVER_MODELLED, Prediction, PredictionCheck, Refusal, refusal, spread};
use stats::probe::{BELOW_LIMIT, BUCKET_FIRST};
use workload::{BlockTrace, TapeKind, TracedRequest};

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
    if let Err(reason) = without_gates(there, &source.traces, predicted) {
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

/// The hint for a law without a gate.
const PROBE_AGAIN: &str = "probe the device again while the machine is idle";

/// Reasons for an unmeasured gate that also say that queued requests were not served one after the other.
const HARMLESS_GATES: [&str; 2] = [BELOW_LIMIT, BUCKET_FIRST];

/// The prediction may depend on unmeasured gates by at most this share: as much as the replay on the run's own device
/// may miss.
const MOST_BY_GATES: f64 = 0.1;

/// Refuses a prediction that depends on gates that were not measured. Without a gate, the requests of a queue are
/// served at once; the device may as well serve them one after the other. A probe that saw the requests of a queue
/// overlap knows more.
fn without_gates(device: &DeviceFile, traces: &[BlockTrace], predicted: f64) -> Result<(), String> {
    let mut in_turn = device.law().clone();
    let mut unknown = Vec::new();
    for (key, reason) in device.unmeasured().filter(|(_, reason)| !HARMLESS_GATES.contains(reason)) {
        match key.split('.').next() {
            Some("read_gate") => in_turn.read_gate = in_turn.read_latency.as_ref().and_then(LatencyTable::in_turn),
            Some("write_gate") => in_turn.write_gate = in_turn.write_latency.as_ref().and_then(LatencyTable::in_turn),
            _ => continue,
        }
        unknown.push(format!("{key} ({reason})"));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let at_most = elapsed(&in_turn, traces)?;
    if at_most <= predicted * (1.0 + MOST_BY_GATES) {
        return Ok(());
    }
    Err(format!(
        "the command queues requests, and the time of a queued request is n.m. on {}: {}; it takes {predicted:.3} to \
         {at_most:.3} s",
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
