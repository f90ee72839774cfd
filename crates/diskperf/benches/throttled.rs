//! The main job on a disk of 20 MiB/s and 100 operations per second: its duration, and whether every row explains
//! itself. Prints a line of JSON for each run.

#[path = "../tests/throttle/mod.rs"]
mod throttle;

use std::path::Path;

use serde_json::{Value, json};
use throttle::{SLOW, SlowDisks};
use units::Bytes;

fn main() {
    if let Some(reason) = SlowDisks::impossible() {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    let slow = SlowDisks::new(Bytes::mib(2048), &[SLOW]);
    let program = Path::new(env!("CARGO_BIN_EXE_diskperf"));
    // With the default budget; and with more than a minute, which lifts the limits on the bytes written.
    for arguments in [&[][..], &["--budget", "61s"]] {
        let document = slow.document(program, &[&["run", "quick", "--json"], arguments].concat());
        let cells = document["cells"].as_array().expect("cells");
        let measured = cells.iter().filter(|cell| cell["measured"] == true).count();
        let explained = cells.iter().filter(|cell| cell["measured"] == true || cell["reason"].is_string()).count();
        println!(
            "{}",
            json!({
                "quick_on_a_slow_disk": arguments.join(" "),
                "elapsed_s": document["run"]["elapsed_s"],
                "cells": cells.len(),
                "measured": measured,
                "explained": explained,
                "random_reads_per_s": random(cells),
                "operations_allowed": SLOW.operations,
            })
        );
    }
}

fn random(cells: &[Value]) -> Value {
    let cell = cells.iter().find(|cell| cell["program"] == "randread");
    cell.map_or(Value::Null, |cell| cell["rate"]["per_second"].clone())
}
