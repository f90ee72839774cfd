//! Predictions from plain traces on laws written here.

use machines::DeviceFile;
use units::Nanos;

use super::*;

/// A device whose reads and writes take this many microseconds, whatever their size.
fn device(name: &str, micros: u64) -> DeviceFile {
    let mut text = include_str!("tests/device.toml").replace("NAME", name);
    text = text.replace("1000", &micros.to_string());
    DeviceFile::read(&text, name).expect("a device")
}

/// Ten reads, one after the other, of a millisecond each, a millisecond apart; then a millisecond of computing.
fn trace() -> BlockTrace {
    let read = |number: u64| TracedRequest {
        issued: Nanos::from_millis(2 * number),
        completed: Nanos::from_millis(2 * number + 1),
        kind: TapeKind::Read,
        offset: number << 20,
        bytes: 4096,
        bios: 1,
    };
    BlockTrace { requests: (0..10).map(read).collect(), elapsed: Nanos::from_millis(20) }
}

fn source() -> Source {
    Source {
        run: "run".to_owned(),
        program: "tar".to_owned(),
        target: "/t".to_owned(),
        device: "vda".to_owned(),
        traces: vec![trace()],
        waited: Some(0.01),
        others: 0,
        left_out: 0,
    }
}

fn check() -> PredictionCheck {
    PredictionCheck {
        run: String::new(),
        measured_run: String::new(),
        made_unix_s: 0.0,
        program: String::new(),
        target: String::new(),
        device: String::new(),
        here_s: 1.0,
        predicted_s: 1.0,
        low_s: None,
        high_s: None,
        measured_s: 1.25,
        elsewhere: None,
    }
}

#[test]
fn a_slower_device_takes_longer_and_keeps_the_pauses() {
    let Predicted { prediction, refused } = predict(&source(), &device("here", 1000), &device("slow", 3000), &[]);
    assert_eq!(refused, None);
    assert_eq!((prediction.here_s, prediction.replayed_s), (0.02, Some(0.02)));
    // Ten reads of 3 ms, nine pauses of 1 ms, and 1 ms after the last.
    assert_eq!(prediction.predicted_s, Some(0.04));
    assert_eq!((prediction.low_s, prediction.checks), (None, 0));
    assert!(prediction.reason.is_some_and(|reason| reason.contains("needs 9 checks, and there are 0")));
}

#[test]
fn nine_checks_make_a_range() {
    let checks = vec![check(); 9];
    let predicted = predict(&source(), &device("here", 1000), &device("slow", 3000), &checks).prediction;
    assert_eq!((predicted.low_s, predicted.high_s, predicted.checks), (Some(0.03), Some(0.05), 9));
    assert_eq!(predicted.reason, None);
}

#[test]
fn a_run_that_its_own_device_does_not_explain_is_refused() {
    let Predicted { prediction, refused } = predict(&source(), &device("here", 1500), &device("slow", 3000), &[]);
    assert!(refused.is_some_and(|(reason, _)| reason.contains("misses the measured time by 25 %")));
    assert_eq!((prediction.replayed_s, prediction.predicted_s), (Some(0.025), None));
}

#[test]
fn a_run_that_waited_for_a_processor_is_refused() {
    let noisy = Source { waited: Some(0.3), ..source() };
    let Predicted { refused, .. } = predict(&noisy, &device("here", 1000), &device("slow", 3000), &[]);
    assert!(refused.is_some_and(|(reason, _)| reason.contains("waited for a processor 30 %")));
}

#[test]
fn flushes_without_a_measured_time_are_refused() {
    let text = include_str!("tests/device.toml");
    let none = r#"flush = { value = "none", source = "inferred", from = "a test" }"#;
    assert!(text.contains(none));
    let unknown = text.replace(none, r#"flush = { value = "n.m.", reason = "too noisy" }"#);
    let unknown = DeviceFile::read(&unknown, "unknown").expect("a device");
    let mut flushed = source();
    flushed.traces[0].requests[9] = TracedRequest { kind: TapeKind::Flush, bytes: 0, ..flushed.traces[0].requests[9] };
    let reason = |source: &Source, there: &DeviceFile| predict(source, &device("here", 1000), there, &[]).refused;
    assert_eq!(reason(&source(), &unknown), None);
    let slow = Source { waited: None, ..source() };
    assert!(
        predict(&slow, &device("here", 1000), &unknown, &[]).prediction.not_modelled.concat().contains("not known")
    );
    flushed.traces[0].elapsed = Nanos::from_millis(19);
    let refused = reason(&flushed, &unknown).expect("a reason").0;
    assert!(refused.contains("1 flushes") && refused.contains("too noisy"), "{refused}");
}

/// The line of the device's file for a mechanism that it does not have.
fn none(group: &str) -> String {
    format!(r#"{group} = {{ value = "none", source = "inferred", from = "a test" }}"#)
}

/// A line of the device's file for a figure that is `n.m.` for this reason.
fn unmeasured(key: &str, reason: &str) -> String {
    format!("{key} = {{ value = \"n.m.\", reason = \"{reason}\" }}\n")
}

/// A device whose read gate is `n.m.` for this reason, with this line for its buckets.
fn without_gate(reason: &str, bucket: &str) -> DeviceFile {
    let text = include_str!("tests/device.toml").replace(&none("bucket"), bucket);
    device_of(&text.replace(&none("read_gate"), &unmeasured("read_gate", reason)))
}

/// The device of this text.
fn device_of(text: &str) -> DeviceFile {
    let text = text.replace("NAME", "unknown");
    DeviceFile::read(&text, "unknown").unwrap_or_else(|fault| panic!("{fault}"))
}

/// The lines of a bucket of requests.
fn bucket(rate: u64, burst: &str) -> String {
    let figure = |key: &str, value: &str| format!("bucket.requests.{key} = {{ {value} }}\n");
    let known = |key: &str, value: &str| figure(key, &format!(r#"value = {value}, source = "inferred", from = "x""#));
    [
        known("of", r#""requests""#),
        known("limits", r#""all""#),
        known("rate", &format!(r#"{rate}, unit = "requests/s""#)),
        figure("burst", burst),
        figure("unit", r#"value = "n.m.", reason = "x""#),
        known("counts", r#""requests""#),
    ]
    .concat()
}

#[test]
fn queues_on_a_device_without_a_measured_gate_are_refused() {
    let unknown = without_gate("noisy", &none("bucket"));
    assert_eq!(unknown.unmeasured().collect::<Vec<_>>(), [("read_gate", "noisy")]);
    let here = device("here", 1000);
    let predicted = |source: &Source| predict(source, &here, &unknown, &[]);
    // One at a time.
    assert_eq!(predicted(&source()).prediction.predicted_s, Some(0.02));
    // Two together.
    let mut queued = source();
    queued.traces[0].requests.iter_mut().enumerate().for_each(|(index, request)| {
        let issued = Nanos::from_millis(4 * (index as u64 / 2));
        (request.issued, request.completed) = (issued, issued + Nanos::from_millis(1));
    });
    let Predicted { prediction, refused } = predicted(&queued);
    let (reason, _) = refused.expect("a reason");
    assert!(reason.contains("n.m. on unknown: read_gate (noisy); it takes 0.020 to "), "{reason}");
    assert_eq!((prediction.predicted_s, prediction.reason), (None, Some(reason)));
    assert_eq!(predict(&queued, &here, &here, &[]).refused, None);
    // The probe saw 16 requests in the time of one. Two are no problem, but ten may be.
    let below = without_gate(BELOW_LIMIT, &none("bucket"));
    assert_eq!(predict(&queued, &here, &below, &[]).refused, None);
    let mut deep = queued.clone();
    for request in &mut deep.traces[0].requests {
        (request.issued, request.completed) = (Nanos::ZERO, Nanos::from_millis(1));
    }
    deep.traces[0].elapsed = Nanos::from_millis(1);
    assert_eq!(predict(&deep, &here, &here, &[]).prediction.predicted_s, Some(0.001));
    let (reason, _) = predict(&deep, &here, &below, &[]).refused.expect("a reason");
    assert!(reason.contains("it takes 0.001 to 0.002 s"), "{reason}");
    // A bucket that limits first, in the law and not.
    let burst = r#"value = 100, unit = "requests", source = "inferred", from = "x""#;
    let limited = without_gate(BUCKET_FIRST, &bucket(2000, burst));
    assert_eq!(predict(&queued, &here, &limited, &[]).refused, None);
    let not_in_the_law = without_gate(BUCKET_FIRST, &none("bucket"));
    assert!(predict(&queued, &here, &not_in_the_law, &[]).refused.is_some());
}

#[test]
fn a_bucket_with_an_unknown_burst_may_be_empty() {
    let here = device("here", 1000);
    let with_rate = |rate| without_gate(BUCKET_FIRST, &bucket(rate, r#"value = "n.m.", reason = "not full""#));
    assert_eq!(predict(&source(), &here, &with_rate(1000), &[]).refused, None);
    // Ten reads at 100 per second, one after the other.
    let (reason, _) = predict(&source(), &here, &with_rate(100), &[]).refused.expect("a reason");
    assert!(reason.contains("bucket.requests.burst (not full); it takes 0.020 to 0."), "{reason}");
    assert!(!reason.contains("read_gate"), "{reason}");
}

/// Requests one after the other, too: the device may serve each of them later than its latency says.
#[test]
fn limits_that_are_slower_than_the_law_are_refused() {
    let here = device("here", 1000);
    let mut written = source();
    written.traces[0].requests.iter_mut().for_each(|request| request.kind = TapeKind::Write);
    let refused = |source: &Source, there: &DeviceFile| predict(source, &here, there, &[]).refused;
    // Only one direction has the limit.
    let gate = ["request", "byte"].map(|inner| unmeasured(&format!("write_gate.{inner}"), TOO_LONG)).concat();
    let capped = device_of(&include_str!("tests/device.toml").replace(&none("write_gate"), &gate));
    assert_eq!(refused(&source(), &capped), None);
    let (reason, hint) = refused(&written, &capped).expect("a reason");
    assert!(reason.contains("n.m. on unknown: write_gate.request (the time at queue depth 32"), "{reason}");
    assert_eq!(hint, WRITE_BUCKET);
    let capped = without_gate(TOO_LONG, &none("bucket"));
    assert!(refused(&source(), &capped).is_some_and(|(reason, _)| reason.contains("read_gate (")));
    assert_eq!(refused(&written, &capped), None);
    // The other bucket is in the law.
    let burst = r#"value = 100, unit = "requests", source = "inferred", from = "x""#;
    let buckets = bucket(100_000, burst) + &unmeasured("bucket.bytes", UNCLEAR);
    let unclear = without_gate(BUCKET_FIRST, &buckets);
    assert_eq!(unclear.law().buckets.len(), 1);
    for source in [&source(), &written] {
        let (reason, _) = refused(source, &unclear).expect("a reason");
        assert!(reason.contains("bucket.bytes (it limits reads"), "{reason}");
    }
}

#[test]
fn settings_change_the_prediction() {
    let mut half = device("here", 1000);
    half.set("read_latency=x0.5").expect("a figure of the law");
    let predicted = predict(&source(), &device("here", 1000), &half, &[]).prediction;
    assert_eq!(predicted.predicted_s, Some(0.015));
    assert!(half.set("rotation=x2").is_err() && half.set("read_latency").is_err());
}

#[test]
fn a_device_of_another_machine_is_noticed() {
    let device = device("here", 1000);
    assert_eq!(foreign(&device, Some("there")).is_some(), device.measured_on.is_some());
    assert_eq!(foreign(&device, device.measured_on.as_ref().map(|on| on.host.as_str())), None);
    assert_eq!(foreign(&device, None), None);
}
