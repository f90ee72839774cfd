//! Makes bottlenecks on purpose, and checks what the built program reports: the cheap half of those in `cargo xtask
//! prove`. They run one after the other, because each limits this process or its disk.

mod made;

use std::sync::{Mutex, PoisonError};

use made::{ALL, Bottleneck, OWNERS, Said};
use serde_json::Value;
use testkit::skip;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The bottleneck of this name.
fn bottleneck(name: &str) -> &'static Bottleneck {
    ALL.iter().chain(&OWNERS).find(|made| made.name == name).expect("a bottleneck that can be made")
}

/// Makes the bottleneck of this name, and fails if the program reports another one. "n.m." is a good answer: on a busy
/// machine a program may wait for a processor as long as for the disk. If the environment was noisy, the disk is a good
/// answer, too: its server is a program, and while that waits for a processor, the disk is the limit. The warning
/// `noise` does not show this: diskperf gives it only to results that are noisier than the others of the run.
/// `crates/stats/tests/bottlenecks/` tests with recorded figures that the right one is reported. Returns the cell for
/// the evidence that does not depend on load; `None` if the bottleneck cannot be made.
fn not_taken_for_another(name: &str) -> Option<Value> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let made = bottleneck(name);
    let cell = match (made.cell)(&testkit::program(env!("CARGO_BIN_EXE_diskperf"))) {
        Err(reason) => {
            skip!("{name}: {reason}");
            return None;
        }
        Ok(cell) => cell,
    };
    assert_eq!(cell["measured"], true, "{name}: {cell:#}");
    let is_noisy = cell["state"]["environment"] == "noisy";
    let is_disk = ["device", "device and flush"].iter().any(|disk| cell["limited_by"]["what"] == *disk);
    let is_wrong = made.judge(&cell) == Said::Wrong && !(is_noisy && is_disk);
    assert!(!is_wrong, "{name}: {} of {}", cell["limited_by"], cell["time"]);
    Some(cell)
}

/// Number of attempts for a bottleneck that the program must name.
const ATTEMPTS: usize = 10;

/// Like `not_taken_for_another`, for a bottleneck whose waits are far longer than those for a processor: the program
/// must name it correctly in one of ten attempts.
fn named(name: &str) -> Option<Value> {
    let mut cells = Vec::new();
    for _ in 0..ATTEMPTS {
        let cell = not_taken_for_another(name)?;
        if bottleneck(name).judge(&cell) == Said::Right {
            return Some(cell);
        }
        cells.push(cell);
    }
    panic!("{name} was not named: {cells:#?}")
}

/// A nearly used up limit on reads must be noticed.
fn has_mark_if_reached(cell: &Value, limit: f64) {
    let rate = cell["rate"]["per_second"].as_f64().expect("a rate");
    let mut marks = cell["marks"].as_array().expect("marks").iter();
    assert!(rate < 0.95 * limit || marks.any(|mark| mark["code"] == "throttle"), "{cell:#}");
}

#[test]
fn a_cpu_quota_is_named() {
    if let Some(cell) = named("CPU quota") {
        assert!(cell["time"]["quota"].as_u64() > Some(0), "{cell:#}");
    }
}

#[test]
fn a_limit_on_bytes_read_is_named() {
    if let Some(cell) = named("read throttle") {
        has_mark_if_reached(&cell, f64::from(20 << 20));
    }
}

#[test]
fn a_limit_on_reads_is_named() {
    if let Some(cell) = named("operations throttle") {
        has_mark_if_reached(&cell, 400.0);
    }
}

#[test]
fn slow_flushes_are_named() {
    if let Some(cell) = named("slow flush") {
        assert!(cell["io"]["flushes"].as_u64() > Some(0), "{cell:#}");
    }
}

#[test]
fn the_latency_of_a_tiny_read_ahead_is_named_or_not_measured() {
    not_taken_for_another("tiny read-ahead");
}

#[test]
fn a_fuse_server_that_computes_is_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("computing FUSE server") {
        // The process of this test is the server. diskperf must find it, whatever its share of the time.
        assert!(cell["time"]["server"].is_u64(), "{cell:#}");
    }
}

#[test]
fn a_copying_loop_worker_is_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("loop worker that copies") {
        // diskperf must find the worker, whatever its share of the time.
        assert!(cell["time"]["server"].is_u64(), "{cell:#}");
    }
}

#[test]
fn a_quota_that_other_programs_use_up_is_not_named() {
    not_taken_for_another("quota beside other I/O");
}

#[test]
fn the_schedule_of_an_open_loop_is_named_or_not_measured() {
    // The server of its disk is a program: it waits for a processor, too.
    if let Some(cell) = not_taken_for_another("open loop") {
        assert!(cell["time"]["pacing"].is_u64(), "{cell:#}");
    }
}

#[test]
fn a_quota_on_a_command_is_named_or_not_measured() {
    not_taken_for_another("quota on a command");
}

#[test]
fn the_limit_of_a_pipeline_is_its_busiest_process_or_not_measured() {
    if let Some(cell) = not_taken_for_another("pipeline") {
        // The times of two processes at once do not add up.
        assert_eq!(cell["time"], Value::Null, "{cell:#}");
        let evidence = cell["limited_by"]["evidence"].as_str().expect("evidence");
        assert!(evidence.starts_with("several processes"), "{evidence}");
    }
}

#[test]
fn commits_that_a_command_waits_for_are_named_or_not_measured() {
    if let Some(cell) = not_taken_for_another("waiting for commits") {
        assert!(cell["time"]["journal"].is_u64(), "{cell:#}");
    }
}

#[test]
fn waits_for_a_journal_on_the_same_disk_are_named_or_not_measured() {
    not_taken_for_another("journal on the same disk");
}
