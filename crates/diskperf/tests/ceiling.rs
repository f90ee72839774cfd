//! The column `of limit` on a throttled loop device.

mod throttle;

use std::path::Path;

use serde_json::Value;
use throttle::{Limits, SLOW, SlowDisks};
use units::Bytes;

/// A volume that reads 32 MiB in two seconds, in steps of a tenth of a second.
const VOLUME: Limits = Limits { bytes: 16 << 20, operations: 100 * SLOW.operations };

/// The rate of a workload, and its column `of limit`.
fn of_limit(slow: &SlowDisks, program: &Path, words: &[&str]) -> (f64, Value) {
    let common = ["--size", "32MiB", "--rounds", "2", "--json"];
    let document = slow.document(program, &[&["io"], words, &common].concat());
    let cell = &document["cells"][0];
    assert_eq!(cell["measured"], true, "{cell:#}");
    (cell["rate"]["per_second"].as_f64().expect("a rate"), cell["of_limit"].clone())
}

/// The throttle admits the work of a tenth of a second at once. A ceiling of less than a second would be several times
/// too high.
#[test]
fn a_throttle_in_steps_has_no_ceiling_in_a_short_time() {
    if let Some(reason) = SlowDisks::impossible().or_else(|| kernel::no_ring().map(|why| why.to_string())) {
        return testkit::skip!("{reason}");
    }
    let slow = SlowDisks::new(Bytes::mib(128), &[VOLUME]);
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    for words in [&["read", "--bs", "64KiB"][..], &["write", "--bs", "64KiB"]] {
        let (rate, found) = of_limit(&slow, &program, words);
        // If the disk below is far slower than the limit, there are no steps, and a ceiling may be right.
        if rate < VOLUME.bytes as f64 / 2.0 && !found["estimate"].is_null() {
            continue;
        }
        assert!(found["estimate"].is_null() && found["layer"].is_null(), "{found:#}");
        // A busy machine may leave no time for it, or void a round.
        let reason = found["reason"].as_str().unwrap_or_default();
        let expected = [
            "no call ended for ",
            "only one call ended",
            "emptying the page cache for it took ",
            "one round has no interval",
            "unstable: ",
        ];
        assert!(expected.iter().any(|words| reason.starts_with(words)), "{found:#}");
    }
    // These workloads have no equivalent pattern on the device, so they have no ceiling.
    for (words, reason) in [
        (&["randwrite"][..], "the page cache gathers scattered writes"),
        (&["randread", "--rate", "50"][..], "a schedule, pauses or syncs are part of the rate"),
    ] {
        let words = [words, &["--time", "200ms"]].concat();
        assert_eq!(of_limit(&slow, &program, &words).1["reason"], reason);
    }
}
