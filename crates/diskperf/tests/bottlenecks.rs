//! Makes bottlenecks on purpose, and checks what the built program reports: the cheap half of those in `cargo xtask
//! prove`. They run one after the other, because each limits this process or its disk.

mod made;

use std::sync::{Mutex, PoisonError};

use made::{ALL, Said};
use serde_json::Value;
use testkit::skip;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Makes the bottleneck of this name, and fails if the program reports another one. "n.m." is a good answer: on a busy
/// machine a program may wait for a processor as long as for the disk. `crates/stats/tests/bottlenecks.rs` tests with
/// recorded figures that the right one is reported. Returns the cell for the evidence that does not depend on load;
/// `None` if the bottleneck cannot be made.
fn not_taken_for_another(name: &str) -> Option<Value> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let made = ALL.iter().find(|made| made.name == name).expect("one of the ten");
    let cell = match (made.cell)(&testkit::program(env!("CARGO_BIN_EXE_diskperf"))) {
        Err(reason) => {
            skip!("{name}: {reason}");
            return None;
        }
        Ok(cell) => cell,
    };
    assert_eq!(cell["measured"], true, "{name}: {cell:#}");
    let said = made.judge(&cell);
    assert_ne!(said, Said::Wrong, "{name}: {} of {}", cell["limited_by"], cell["time"]);
    Some(cell)
}

/// A nearly used up limit on reads must be noticed.
fn has_mark_if_reached(cell: &Value, limit: f64) {
    let rate = cell["rate"]["per_second"].as_f64().expect("a rate");
    let mut marks = cell["marks"].as_array().expect("marks").iter();
    assert!(rate < 0.95 * limit || marks.any(|mark| mark["code"] == "throttle"), "{cell:#}");
}

#[test]
fn a_cpu_quota_is_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("CPU quota") {
        assert!(cell["time"]["quota"].as_u64() > Some(0), "{cell:#}");
    }
}

#[test]
fn a_limit_on_bytes_read_is_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("read throttle") {
        has_mark_if_reached(&cell, f64::from(20 << 20));
    }
}

#[test]
fn a_limit_on_reads_is_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("operations throttle") {
        has_mark_if_reached(&cell, 400.0);
    }
}

#[test]
fn slow_flushes_are_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("slow flush") {
        assert!(cell["io"]["flushes"].as_u64() > Some(0), "{cell:#}");
    }
}

#[test]
fn the_latency_of_a_tiny_read_ahead_is_named_or_not_measured() {
    not_taken_for_another("tiny read-ahead");
}

#[test]
fn waits_for_a_journal_on_the_same_disk_are_named_or_not_measured() {
    not_taken_for_another("journal on the same disk");
}
