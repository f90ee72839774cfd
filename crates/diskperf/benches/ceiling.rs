//! The column `of limit` on six throttled volumes whose limit is known, and its cost on the measured results. Prints a
//! line of JSON for each volume, and one for the cost.
//!
//! ```text
//!   cargo bench --package diskperf --bench ceiling
//! ```
//!
//! A throttle admits the work of a tenth of a second at once. So each round takes half a minute, and its ceiling three
//! seconds.

#[path = "../tests/throttle/mod.rs"]
mod throttle;

use std::path::Path;
use std::sync::Arc;

use kernel::{Posix, Station, Workspace};
use runner::execution::{ClaimedClock, MeasureOptions, perform};
use serde_json::{Value, json};
use stats::figures::summary::median;
use throttle::{Limits, SLOW, SlowDisks};
use units::Bytes;
use workload::programs::classic1983::Classic;

/// More than any volume here can do.
const UNLIMITED: u64 = 1 << 40;

/// Three volumes are limited in bytes per second, three in operations.
const VOLUMES: [Limits; 6] = [
    Limits { operations: 1 << 20, ..SLOW },
    Limits { bytes: 40 << 20, operations: 1 << 20 },
    Limits { bytes: 60 << 20, operations: 1 << 20 },
    Limits { bytes: UNLIMITED, operations: 200 },
    Limits { bytes: UNLIMITED, operations: 500 },
    Limits { bytes: UNLIMITED, operations: 1500 },
];

/// Seconds of a round. With the preparation, that is twice as long if bytes are limited.
const SECONDS: u64 = 15;

/// Pairs of the cost, and bytes of the file.
const COST: (usize, u64) = (31, 256 << 20);

fn main() {
    if let Some(reason) = SlowDisks::impossible().or_else(|| kernel::no_ring().map(|why| why.to_string())) {
        println!("{}", json!({"not_measured": reason}));
        return;
    }
    let slow = SlowDisks::new(Bytes::mib(1280), &VOLUMES);
    let program = Path::new(env!("CARGO_BIN_EXE_diskperf"));
    for (limits, path) in VOLUMES.iter().zip(slow.paths()) {
        let path = path.to_str().expect("a path in UTF-8");
        let is_of_bytes = limits.bytes != UNLIMITED;
        let (size, time) = match is_of_bytes {
            true => ((limits.bytes * SECONDS).to_string(), "600s".to_owned()),
            false => ("64MiB".to_owned(), format!("{}s", 2 * SECONDS)),
        };
        let kind: &[&str] = if is_of_bytes { &["read", "--bs", "64KiB"] } else { &["randread", "--direct"] };
        let common = ["--size", &size, "--time", &time, "--rounds", "3", "--json", path];
        let document = slow.document(program, &[&["io"], kind, &common].concat());
        let of_limit = &document["cells"][0]["of_limit"];
        println!(
            "{}",
            json!({
                "ceiling": kind[0], "allowed": if is_of_bytes { limits.bytes } else { limits.operations },
                "limit": of_limit["per_second"], "layer": of_limit["layer"],
                "share": of_limit["estimate"]["ratio"], "reason": of_limit["reason"],
            })
        );
    }
    println!("{}", cost());
}

/// The rate of reads whose rounds have ceilings, next to the rate of those without, as the median of pairs.
fn cost() -> Value {
    let (pairs, bytes) = COST;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = Classic::Read8192.program(bytes);
    let workspace = Workspace::inside(folder.path()).expect("a folder");
    let station = Station { workspace: Some(workspace), given: Vec::new() };
    let mut world = Posix::new(vec![station], program.largest_call, 1, Arc::default()).expect("a world");
    let mut seconds = |ceiling| {
        let options = MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling, live: None };
        // The ceiling of a round can only change the rounds after it.
        perform(&mut world, &program, options).expect("a run");
        let result = perform(&mut world, &program, MeasureOptions { ceiling: false, ..options }).expect("a run");
        result.phases[0].returned().as_secs_f64()
    };
    let pair = |number: usize| {
        let first = seconds(number.is_multiple_of(2));
        let second = seconds(!number.is_multiple_of(2));
        if number.is_multiple_of(2) { second / first } else { first / second }
    };
    let ratios: Vec<f64> = (0..pairs).map(pair).collect();
    world.finish().expect("an empty folder");
    json!({"ceiling_cost": "read_8192", "pairs": pairs, "rate_with_over_without": median(&ratios)})
}
