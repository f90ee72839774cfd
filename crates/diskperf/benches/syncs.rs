//! Latencies of fsync and fdatasync by `diskperf io` and by fio, in turns on the same ext4 in memory. A disk that other
//! programs use would differ from turn to turn. Prints a line of JSON for each load.
//!
//! Everything runs on one processor (`testkit::one_processor`).
//!
//! A turn runs diskperf once and fio twice (`testkit::turns`). The controls are the ratios of fio to fio. A turn in
//! which a program made too few calls for p99 does not count: other programs used the processors.

use std::path::Path;
use std::process::Command;

use kernel::PrivateMounts;
use serde_json::{Value, json};
use stats::figures::summary::median;
use testkit::memory_disk::MemoryDisk;
use testkit::one_processor::OneProcessor;
use testkit::turns::{Bounds, order};

/// The bounds of the acceptance test.
const BOUNDS: Bounds = Bounds { least: 9, most: 40, control: 0.03 };

/// MiB of the device: the file, its journal, and room.
const DISK: usize = 192;

/// Seconds of each run: some ten thousand calls, so that p99 is that of some hundred.
const SECONDS: u32 = 3;

/// The calls of the loads: both programs have the same option.
const CALLS: [&str; 2] = ["fsync", "fdatasync"];

/// The percentiles, as diskperf and fio name them.
const PERCENTILES: [(&str, &str); 3] = [("p50", "50.000000"), ("p90", "90.000000"), ("p99", "99.000000")];

/// The runs of a turn, by their place in its list.
const OURS: usize = 0;
const FIO: [usize; 2] = [1, 2];
const RUNS: usize = 3;

/// The percentiles of each run of a turn, in nanoseconds.
type Turn = [[f64; PERCENTILES.len()]; RUNS];

fn main() {
    if let Some(reason) = MemoryDisk::missing(&["fio"]) {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    let _mounts = PrivateMounts::enter().expect("mounts of our own");
    let disk = MemoryDisk::new(DISK);
    let _processor = OneProcessor::enter();
    for call in CALLS {
        println!("{}", measured(call, disk.path()));
    }
}

/// Measures both programs in turns, until all percentiles are decided or given up.
fn measured(call: &str, folder: &Path) -> Value {
    let bounds = BOUNDS.or_fewer();
    let mut turns: Vec<Turn> = Vec::new();
    for tried in 0.. {
        let mut turn = [None; RUNS];
        for run in order(RUNS, tried) {
            turn[run] = if run == OURS { ours(call, folder) } else { Some(fio(call, folder)) };
        }
        match turn {
            [Some(ours), Some(one), Some(other)] => turns.push([ours, one, other]),
            _ if tried + 1 < bounds.most => continue,
            _ if turns.is_empty() => {
                let reason = format!("fewer than 1,000 calls of {call} in {SECONDS} s: the machine is busy");
                return json!({ "not_measured": reason });
            }
            _ => {}
        }
        let of_each = |figure: &dyn Fn(&Turn, usize) -> f64| {
            [0, 1, 2].map(|percentile| {
                let values: Vec<f64> = turns.iter().map(|turn| figure(turn, percentile)).collect();
                median(&values).expect("a turn")
            })
        };
        let controls = of_each(&|turn, percentile| turn[FIO[0]][percentile] / turn[FIO[1]][percentile]);
        let is_last = tried + 1 >= bounds.most;
        let Some(is_decided) = bounds.end(turns.len(), &controls).or(is_last.then_some(false)) else { continue };
        let fio = |turn: &Turn, percentile: usize| (turn[FIO[0]][percentile] * turn[FIO[1]][percentile]).sqrt();
        return json!({
            "sync_beside_fio": call,
            "ratios": of_each(&|turn, percentile| turn[OURS][percentile] / fio(turn, percentile)),
            "controls": controls,
            "fio_us": of_each(&|turn, percentile| fio(turn, percentile) / 1e3),
            "turns": turns.len(),
            "is_decided": is_decided,
        });
    }
    unreachable!("the last turn returns")
}

/// The percentiles by diskperf; `None` if the calls are too few for one.
fn ours(call: &str, folder: &Path) -> Option<[f64; PERCENTILES.len()]> {
    let options = format!("io randwrite --{call} 1 --size 64MiB --time {SECONDS}s --rounds 1 --engine posix --json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_diskperf"));
    command.args(options.split(' ')).env(testkit::STORE, "none").current_dir(folder);
    let document = testkit::json_of(&mut command);
    let operations = document["cells"][0]["operations"].as_array();
    let of_call = operations.and_then(|all| all.iter().find(|one| one["operation"] == call));
    let latency = &of_call.unwrap_or_else(|| panic!("no {call}: {document:#}"))["latency_ns"];
    let all: Option<Vec<f64>> = PERCENTILES.iter().map(|(name, _)| latency[name].as_f64()).collect();
    all?.try_into().ok()
}

fn fio(call: &str, folder: &Path) -> [f64; PERCENTILES.len()] {
    // Like ours, each run has a file of its own that was written before: without `overwrite`, fio's writes fill holes,
    // and each sync commits their new extents.
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let options = format!(
        "--name=x --thread --norandommap --randrepeat=0 --output-format=json --filename=file --rw=randwrite --bs=4k \
         --overwrite=1 --size=64m --ioengine=psync --time_based --runtime={SECONDS} --{call}=1"
    );
    let mut command = Command::new(testkit::tool("fio").expect("fio"));
    command.args(options.split_whitespace()).current_dir(folder.path());
    let document = testkit::json_of(&mut command);
    let latency = &document["jobs"][0]["sync"]["lat_ns"];
    PERCENTILES.map(|(_, name)| latency["percentile"][name].as_f64().unwrap_or_else(|| panic!("{latency:#}")))
}
