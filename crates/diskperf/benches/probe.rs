//! `probe` on files of known law, which the benchmark serves itself: the rates and the credit of token buckets. Prints
//! a line of JSON for each disk.
//!
//! ```text
//!   cargo bench --package diskperf --bench probe
//! ```

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kernel::PrivateMounts;
use serde_json::{Value, json};
use testkit::fuse::{Knobs, OneFile};
use testkit::token_bucket::{Limit, Throttle};

/// Bytes of a disk.
const DISK: u64 = 256 << 20;

/// Service time of each request. The disk serves four at once.
const SERVICE: Duration = Duration::from_micros(300);

/// A disk with one limit.
struct Known {
    /// The rows of `probe` that show the rate and the burst.
    rows: [&'static str; 2],
    rate: u64,
    burst: u64,
    /// The unit of the rate and of the burst in the table.
    units: [f64; 2],
}

const DISKS: [Known; 4] = [
    Known { rows: ["request bucket rate", "request bucket burst"], rate: 500, burst: 600, units: [1.0, 1.0] },
    Known { rows: ["request bucket rate", "request bucket burst"], rate: 1500, burst: 1500, units: [1.0, 1.0] },
    Known { rows: ["byte bucket rate", "byte bucket burst"], rate: 60_000_000, burst: 50 << 20, units: MEGABYTES },
    Known { rows: ["byte bucket rate", "byte bucket burst"], rate: 120_000_000, burst: 100 << 20, units: MEGABYTES },
];

/// MB/s and MiB.
const MEGABYTES: [f64; 2] = [1e6, 1_048_576.0];

fn main() {
    if let Some(reason) = impossible() {
        println!("{}", json!({"not_measured": reason}));
        return;
    }
    for disk in DISKS {
        println!("{}", probed(&disk));
    }
}

/// The reason why there can be no such disk here.
fn impossible() -> Option<String> {
    if !kernel::may_administer() {
        return Some("needs root".to_owned());
    }
    if !Path::new("/dev/fuse").exists() {
        return Some("needs /dev/fuse".to_owned());
    }
    kernel::no_ring().map(|why| why.to_string())
}

/// The measured over the known rate and burst. `null` if one is not measured.
fn probed(known: &Known) -> Value {
    let _mounts = PrivateMounts::enter().expect("mounts of our own");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let served = folder.path().join("served");
    fs::create_dir(&served).expect("a folder");
    let below = File::options().read(true).write(true).create_new(true).open(folder.path().join("below"));
    let below = below.expect("a file");
    below.set_len(DISK).expect("its bytes");
    let limit = Some(Limit::new(known.burst, known.rate));
    let throttle = if known.units[0] > 1.0 { Throttle::new(limit, None) } else { Throttle::new(None, limit) };
    let knobs = Knobs { service: SERVICE, throttle: Some(throttle), ..Knobs::default() };
    let disk = OneFile::mount(&served, below, knobs).expect("a mount");
    let output = Command::new(env!("CARGO_BIN_EXE_diskperf"))
        .arg("probe")
        .arg(disk.file())
        .arg("--json")
        .output()
        .expect("the program can be started");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let row = |name: &str| document["constants"].as_array()?.iter().find(|row| row["constant"] == name).cloned();
    let ratio = |place: usize, right: u64| {
        let found = row(known.rows[place])?["estimate"]["value"].as_f64()?;
        Some(found * known.units[place] / right as f64)
    };
    json!({
        "probe": known.rows[0], "rate": known.rate, "burst": known.burst,
        "rate_ratio": ratio(0, known.rate), "burst_ratio": ratio(1, known.burst),
        "rows": [row(known.rows[0]), row(known.rows[1])],
    })
}
