//! Random reads of a device with a known law, a single server of 200 us: the distance of rate and times from queueing
//! theory, at depths 1, 8 and 32, and with a schedule that keeps it busy 70 % of the time. Prints a line of JSON for
//! each.

#[path = "../tests/queue/mod.rs"]
mod queue;

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use queue::{FILE, LawDisk, SERVICE, waiting};
use rustix::fs::OFlags;
use serde_json::{Value, json};

/// The share of the time for which the open loop keeps the server busy, in percent.
const LOAD: u32 = 70;

/// Reads of our own loop next to each run, which measure the way to the server.
const ALONE: usize = 4_000;

/// The prediction of queueing theory.
struct Expected {
    rate: f64,
    p50: Duration,
    p99: Duration,
}

fn main() {
    if let Some(reason) = LawDisk::impossible().or_else(|| kernel::no_ring().map(|why| why.to_string())) {
        println!("skipped: {reason}");
        return;
    }
    let disk = LawDisk::new();
    let program = Path::new(env!("CARGO_BIN_EXE_diskperf"));
    for depth in [1, 8, 32] {
        let options = format!("--iodepth {depth} --rounds 5 --time 4s");
        print_distance(&format!("depth {depth}"), &disk, program, &options, |[p50, p99], mean| {
            if depth == 1 {
                return Expected { rate: 1.0 / mean.as_secs_f64(), p50, p99 };
            }
            // The server is never idle: each read waits for all others.
            let all = SERVICE * depth;
            Expected { rate: 1.0 / SERVICE.as_secs_f64(), p50: all, p99: all }
        });
    }
    let rate = f64::from(LOAD) / 100.0 / SERVICE.as_secs_f64();
    let options = format!("--rate {rate:.0} --arrivals poisson --iodepth 128 --rounds 5 --time 8s");
    print_distance(&format!("open, {LOAD} % busy"), &disk, program, &options, |[p50, _], _| {
        let after = |percent| p50 + waiting(f64::from(LOAD) / 100.0, SERVICE, percent);
        Expected { rate, p50: after(50.0), p99: after(99.0) }
    });
}

/// Runs the load between two loops of our own, and prints its distance from the prediction based on them.
fn print_distance(
    name: &str,
    disk: &LawDisk,
    program: &Path,
    options: &str,
    theory: impl Fn([Duration; 2], Duration) -> Expected,
) {
    let mut alone = alone(disk);
    let cell = disk.read(program, options);
    alone.extend(self::alone(disk));
    alone.sort_unstable();
    let middle = [50, 99].map(|percent| alone[alone.len() * percent / 100]);
    let mean = alone.iter().sum::<Duration>() / alone.len() as u32;
    let expected = theory(middle, mean);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let of = |name: &str| cell["latency_ns"][name].as_f64().map(|nanos| nanos / 1e3);
    let error = |found: Option<f64>, expected: f64| found.map_or(Value::Null, |found| json!(found / expected - 1.0));
    println!(
        "{}",
        json!({
            "law": name,
            "rate": cell["rate"]["per_second"],
            "rate_expected": expected.rate,
            "rate_error": error(cell["rate"]["per_second"].as_f64(), expected.rate),
            "p50_us": of("p50"),
            "p50_expected_us": micros(expected.p50),
            "p50_error": error(of("p50"), micros(expected.p50)),
            "p99_us": of("p99"),
            "p99_expected_us": micros(expected.p99),
            "p99_error": error(of("p99"), micros(expected.p99)),
            "alone_us": micros(middle[0]),
        })
    );
}

/// Bytes of a read.
const BLOCK: usize = 4096;

/// The times of reads without any others in flight, by a loop of our own.
fn alone(disk: &LawDisk) -> Vec<Duration> {
    let file = File::options().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(disk.file());
    let file = file.expect("the file");
    // The buffer begins at a page boundary.
    let mut memory = vec![0; 2 * BLOCK];
    let begin = memory.as_ptr().align_offset(BLOCK);
    let page = &mut memory[begin..begin + BLOCK];
    let read = |number: usize| {
        // The factor is prime to the number of blocks, so that every block is read once before any is read again.
        let offset = (number * 7919 % (FILE / BLOCK) * BLOCK) as u64;
        let began = Instant::now();
        assert_eq!(rustix::io::pread(&file, &mut *page, offset).expect("a read"), BLOCK);
        began.elapsed()
    };
    (0..ALONE).map(read).collect()
}
