//! Two disks, each with its own limit, written and read alone and at once: the prediction from the solo cells against
//! the measurement. Prints a line of JSON for each program, and one for all. Needs root and control groups of version
//! 1.
//!
//! ```text
//!   cargo bench --package diskperf --bench together
//! ```
//!
//! The limits are in the root of the control groups, each for one loop device of ours: there they also limit the
//! kernel's own threads. A limited device gives more in its first second; the preset discards its first round, and each
//! phase takes seconds.

#[path = "../tests/made/ground.rs"]
mod ground;

use std::fs;

use ground::Ground;
use serde_json::{Value, json};
use stats::figures::summary::median;
use stats::inference::two_drive_bounds::{Solo, bounds, explain};
use testkit::fuse::Knobs;
use testkit::run;

/// MiB that each disk moves per second.
const LIMITS: [u64; 2] = [20, 30];

fn main() {
    let grounds = LIMITS.map(|_| Ground::new(Knobs::default()).unwrap_or_else(|reason| panic!("no disk: {reason}")));
    let _limits: Vec<Limit> = grounds.iter().zip(LIMITS).flat_map(|(ground, mib)| Limit::both(ground, mib)).collect();
    let targets = ["a", "b"].map(|name| {
        let index = usize::from(name == "b");
        format!("{name}={}", grounds[index].point().display())
    });
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    // The preset measures until data are durable, as quick does: a write that only returned has not reached a device.
    let arguments =
        ["run", "smoke", &targets[0], &targets[1], "--together", "--size", "60MiB", "--rounds", "3", "--json"];
    let only = ["read_8192", "write_4096", "write_8192", "rewrite_8192"].into_iter().flat_map(|name| ["--only", name]);
    let arguments: Vec<&str> = arguments.into_iter().chain(only).collect();
    let ended = run(&program, grounds[0].point(), &arguments);
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    let cells = document["cells"].as_array().expect("cells");
    let cpus = document["run"]["cpus"].as_f64().expect("processors");
    let mut errors: Vec<f64> = Vec::new();
    for together in cells.iter().filter(|cell| cell["together"] == true) {
        let alone = cells.iter().filter(|cell| cell["together"] == false && cell["program"] == together["program"]);
        let solo: Vec<Solo> = alone.map(solo).collect();
        assert_eq!(solo.len(), LIMITS.len());
        let bounds = bounds(&solo, cpus);
        let foretold = bounds.cpu.unwrap_or(bounds.free);
        let measured = rate(together);
        let error = measured / foretold - 1.0;
        errors.push(error.abs());
        let because = explain(bounds, measured).name();
        let program = &together["program"];
        println!(
            "{}",
            json!({"together": program, "foretold": foretold, "measured": measured, "error": error, "because": because})
        );
    }
    println!("{}", json!({"programs": errors.len(), "median_error": median(&errors)}));
}

fn rate(cell: &Value) -> f64 {
    cell["rate"]["value"].as_f64().unwrap_or_else(|| panic!("no rate: {}", cell["reason"]))
}

fn solo(cell: &Value) -> Solo {
    Solo { rate: rate(cell), cpu_percent: cell["cpu_percent"]["process"].as_f64() }
}

/// A limit on a device, for all processes.
struct Limit {
    file: &'static str,
    device: String,
}

impl Limit {
    /// Limits reads and writes.
    fn both(ground: &Ground, mib: u64) -> [Limit; 2] {
        ["read", "write"].map(|way| {
            let file = match way {
                "read" => "/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device",
                _ => "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device",
            };
            let limit = Limit { file, device: ground.disk().number() };
            fs::write(file, format!("{} {}", limit.device, mib << 20)).expect("a limit on our own loop device");
            limit
        })
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let lifted = fs::write(self.file, format!("{} 0", self.device));
        assert!(std::thread::panicking() || lifted.is_ok(), "{lifted:?}");
    }
}
