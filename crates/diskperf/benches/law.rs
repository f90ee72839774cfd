//! Random reads of a device with a known law, a single server of 200 us: the distance of rate and times from queueing
//! theory, at depths 1, 8 and 32, and with a schedule that keeps it busy 70 % of the time. Prints a line of JSON for
//! each. The argument `open` measures the schedule in turns with fio, which runs twice in each turn (`testkit::turns`):
//! the ratios of fio to fio are the control of the machine. With `open`, everything runs on one processor
//! (`testkit::one_processor`).

#[path = "../tests/queue/mod.rs"]
mod queue;

use std::env;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use queue::{FILE, LawDisk, SERVICE, waiting};
use rustix::fs::OFlags;
use serde_json::{Value, json};
use stats::figures::summary::median;
use testkit::one_processor::OneProcessor;
use testkit::turns::{Bounds, order};

/// The share of the time for which the open loop keeps the server busy, in percent.
const LOAD: u32 = 70;

/// The number of reads that the benchmark's own loop makes next to each run, to measure the time of the way to the
/// server.
const ALONE: usize = 4_000;

/// The prediction of queueing theory.
struct Expected {
    rate: f64,
    p50: Duration,
    p99: Duration,
}

fn main() {
    let is_open = env::args().any(|word| word == "open");
    let no_fio = || (is_open && !testkit::has_tool("fio")).then(|| "fio is not installed".to_owned());
    let missing = LawDisk::impossible().or_else(|| kernel::no_ring().map(|why| why.to_string())).or_else(no_fio);
    if let Some(reason) = missing {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    // Before the server of the disk starts its threads, which inherit the processor.
    let _processor = is_open.then(OneProcessor::enter);
    let disk = LawDisk::new();
    let program = Path::new(env!("CARGO_BIN_EXE_diskperf"));
    if is_open {
        println!("{}", open_loop(&disk, program));
        return;
    }
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
    let options = format!("--rate {:.0} --arrivals poisson --iodepth 128 --rounds 5 --time 8s", open_rate());
    print_distance(&format!("open, {LOAD} % busy"), &disk, program, &options, |[p50, _], _| open_expected(p50));
}

/// The rate of the open loop, per second.
fn open_rate() -> f64 {
    f64::from(LOAD) / 100.0 / SERVICE.as_secs_f64()
}

/// The prediction for the open loop, from the median time of a read alone.
fn open_expected(alone: Duration) -> Expected {
    let after = |percent| alone + waiting(f64::from(LOAD) / 100.0, SERVICE, percent);
    Expected { rate: open_rate(), p50: after(50.0), p99: after(99.0) }
}

/// The bounds of the acceptance test.
const BOUNDS: Bounds = Bounds { least: 9, most: 40, control: 0.03 };

/// The runs of a turn, by their place in its list.
const OURS: usize = 0;
const FIO: [usize; 2] = [1, 2];
const RUNS: usize = 3;

/// Rate, p50 and p99 in nanoseconds of each run of a turn.
type Turn = [[f64; 3]; RUNS];

/// The figures of the open loop in turns with fio, and their distances from theory.
fn open_loop(disk: &LawDisk, program: &Path) -> Value {
    let bounds = BOUNDS.or_fewer();
    let (mut turns, mut alone): (Vec<Turn>, Vec<Duration>) = (Vec::new(), Vec::new());
    loop {
        alone.extend(self::alone(disk));
        let mut turn = [[0.0; 3]; RUNS];
        for run in order(RUNS, turns.len()) {
            // Each turn has other arrivals.
            let seed = 1 + turns.len();
            turn[run] = if run == OURS { open_ours(disk, program, seed) } else { open_fio(disk, 10 * seed + run) };
        }
        turns.push(turn);
        let of_each = |figure: &dyn Fn(&Turn, usize) -> f64| {
            [0, 1, 2].map(|place| {
                let values: Vec<f64> = turns.iter().map(|turn| figure(turn, place)).collect();
                median(&values).expect("a turn")
            })
        };
        let controls = of_each(&|turn, place| turn[FIO[0]][place] / turn[FIO[1]][place]);
        let Some(is_decided) = bounds.end(turns.len(), &controls) else { continue };
        alone.sort_unstable();
        let middle = alone[alone.len() / 2];
        let Expected { rate, p50, p99 } = open_expected(middle);
        let expected = [rate, p50.as_nanos() as f64, p99.as_nanos() as f64];
        let errors = |run: usize| of_each(&|turn, place| turn[run][place] / expected[place] - 1.0);
        // p50, p99 and maximum. In theory they are equal; stalls of the machine make them differ.
        let alone_us =
            [middle, alone[alone.len() * 99 / 100], alone[alone.len() - 1]].map(|time| time.as_secs_f64() * 1e6);
        return json!({
            "open_loop": format!("{LOAD} % busy"),
            "errors": errors(OURS),
            "fio_errors": errors(FIO[0]),
            "controls": controls,
            "turns": turns.len(),
            "is_decided": is_decided,
            "alone_us": alone_us,
        });
    }
}

/// Seconds of a run of the open loop: 28,000 reads, so that 280 are above p99.
const OPEN_SECONDS: u32 = 8;

fn open_ours(disk: &LawDisk, program: &Path, seed: usize) -> [f64; 3] {
    let rate = open_rate();
    let options = format!("--rate {rate:.0} --arrivals poisson --iodepth 128 --rounds 1 --time {OPEN_SECONDS}s");
    let cell = disk.read(program, &format!("{options} --seed {seed}"));
    let round = &cell["rounds"][0];
    // A figure that is missing decides nothing.
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let latency = &cell["latency_ns"];
    [number(&round["ops"]) / number(&round["returned_s"]), number(&latency["p50"]), number(&latency["p99"])]
}

fn open_fio(disk: &LawDisk, seed: usize) -> [f64; 3] {
    let options = format!(
        "--name=x --thread --norandommap --randrepeat=0 --randseed={seed} --output-format=json --rw=randread --bs=4k \
         --direct=1 --ioengine=io_uring --iodepth=128 --rate_iops={:.0} --rate_process=poisson --time_based \
         --runtime={OPEN_SECONDS}",
        open_rate()
    );
    let mut command = Command::new(testkit::tool("fio").expect("fio"));
    command.args(options.split_whitespace()).arg(format!("--filename={}", disk.file().display()));
    let document = testkit::json_of(&mut command);
    let read = &document["jobs"][0]["read"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{read:#}"));
    let percentile = |name: &str| number(&read["clat_ns"]["percentile"][name]);
    [number(&read["iops"]), percentile("50.000000"), percentile("99.000000")]
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
