//! Bottlenecks made on purpose, and what the built program says limited it: the cheap half of those that
//! `cargo xtask prove` makes. One after the other, as each is a limit on this process or its disk.

mod made;

use std::sync::{Mutex, PoisonError};

use made::{ALL, Said};
use testkit::skip;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// How often a bottleneck is made before nothing to be said of it counts: on a busy machine a program may wait for a
/// processor as long as for the disk.
const ATTEMPTS: usize = 4;

/// Makes the bottleneck of this name, and holds what is said of it against what may be. A wrong word fails at once.
fn said(name: &str, allowed: &[Said]) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let made = ALL.iter().find(|made| made.name == name).expect("one of the ten");
    let mut heard = Vec::new();
    for _ in 0..ATTEMPTS {
        let cell = match (made.cell)(&testkit::program(env!("CARGO_BIN_EXE_diskperf"))) {
            Err(reason) => return skip!("{name}: {reason}"),
            Ok(cell) => cell,
        };
        let said = made.judge(&cell);
        if allowed.contains(&said) {
            return;
        }
        heard.push(format!("{said:?}: {} of {}", cell["limited_by"], cell["time"]));
        assert!(said == Said::Nothing, "{name}: {heard:?}");
    }
    panic!("{name}: {heard:?}");
}

#[test]
fn a_share_of_the_cpu_is_a_quota() {
    said("CPU quota", &[Said::Right]);
}

#[test]
fn a_limit_on_bytes_read_is_a_quota() {
    said("read throttle", &[Said::Right]);
}

#[test]
fn a_limit_on_reads_is_a_quota() {
    said("operations throttle", &[Said::Right]);
}

#[test]
fn a_disk_with_slow_flushes_is_limited_by_them() {
    said("slow flush", &[Said::Right]);
}

/// On a busy machine a program that waits for a disk often waits for a processor too.
#[test]
fn a_tiny_read_ahead_is_a_matter_of_latency_or_cannot_be_told() {
    said("tiny read-ahead", &[Said::Right, Said::Nothing]);
}

#[test]
fn commits_wait_for_the_disk_with_their_journal_or_it_cannot_be_told() {
    said("journal on the same disk", &[Said::Right, Said::Nothing]);
}
