//! Rates at depth: `diskperf io` against fio's default, fio with batches of 32, and fio's own small benchmark
//! `t/io_uring` if `DISKPERF_T_IO_URING` names it. Debian does not package it; `make t/io_uring` in fio's source builds
//! it. Prints a line of JSON for each load. The argument `disk` measures on the disk of this folder, and `memory` on a
//! device in memory, with one job on one processor (`testkit::one_processor`) and with two jobs on all processors.
//!
//! Policy:
//!   1. a turn runs diskperf and `t/io_uring` once, and each of the two ways of fio twice (`testkit::turns`);
//!   2. the best program is the one with the highest median;
//!   3. the control is the ratio of fio's two runs in its better way.

use std::env;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernel::PrivateMounts;
use serde_json::{Value, json};
use stats::figures::summary;
use testkit::memory_disk::MemoryDisk;
use testkit::one_processor::OneProcessor;
use testkit::turns::{Bounds, order};
use units::Prng;

/// The least number of turns before a load is decided, and the most before it is given up. They are not above those of
/// the acceptance test. They are enough for a standard error of 1 % in the control if runs scatter by 3 %, as on a
/// quiet virtual disk.
const BOUNDS: Bounds = Bounds { least: 9, most: 40, control: 0.01 };

/// Seconds of each run: long compared with the start of a program, but 40 turns of four loads end within an hour.
const SECONDS: u32 = 3;

/// MiB of the file on a disk: more than the disk holds in its own buffer. In memory, it only has to be larger than the
/// caches of the processor.
const ON_DISK: usize = 1024;
const IN_MEMORY: usize = 256;

/// The variable with the path of `t/io_uring`.
const T_IO_URING: &str = "DISKPERF_T_IO_URING";

/// The access, queue depth and jobs of all programs.
struct Load {
    access: &'static str,
    kib: u32,
    depth: u32,
    jobs: u32,
}

const DISK_LOADS: [Load; 4] = [
    Load { access: "randread", kib: 4, depth: 4, jobs: 1 },
    Load { access: "randread", kib: 4, depth: 32, jobs: 1 },
    Load { access: "randread", kib: 4, depth: 128, jobs: 1 },
    Load { access: "read", kib: 128, depth: 8, jobs: 1 },
];

/// Numbers of jobs of the random reads in memory.
const JOBS: [u32; 2] = [1, 2];

/// Queue depths of the random reads in memory.
const DEPTHS: [u32; 3] = [1, 32, 128];

/// A program, and a way to call it.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Ours,
    FioDefault,
    FioBatches,
    TIoUring,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Ours => "diskperf",
            Way::FioDefault => "fio, its default",
            Way::FioBatches => "fio, batches of 32",
            Way::TIoUring => "t/io_uring",
        }
    }
}

/// The figures of a run.
#[derive(Clone, Copy)]
struct Run {
    rate: f64,
    /// Nanoseconds of CPU time of the program per operation, without kernel threads. `None` if it does not report it.
    cpu: Option<f64>,
}

fn main() {
    // `cargo bench` adds an argument of its own.
    let in_memory = env::args().any(|word| word == "memory");
    let missing = if in_memory {
        MemoryDisk::missing(&["fio"])
    } else {
        (!testkit::has_tool("fio")).then(|| "fio is not installed".to_owned())
    };
    if let Some(reason) = missing.or_else(|| kernel::no_ring().map(|why| why.to_string())) {
        println!("{}", json!({ "not_measured": reason }));
        return;
    }
    if in_memory {
        let _mounts = PrivateMounts::enter().expect("mounts of our own");
        let disk = MemoryDisk::new(IN_MEMORY + 64);
        let file = disk.path().join("file");
        fill(&file, IN_MEMORY);
        for jobs in JOBS {
            let (_processor, place) = match jobs {
                1 => (Some(OneProcessor::enter()), "in memory, on one processor"),
                _ => (None, "in memory"),
            };
            for depth in DEPTHS {
                println!("{}", measured(&Load { access: "randread", kib: 4, depth, jobs }, place, &file));
            }
        }
    } else {
        // On the disk of the build: a folder for temporary files may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let file = folder.path().join("file");
        fill(&file, ON_DISK);
        for load in &DISK_LOADS {
            println!("{}", measured(load, "on the disk", &file));
        }
    }
}

/// Fills the file with bytes that a disk can neither leave out nor compress.
fn fill(path: &Path, mebibytes: usize) {
    let mut file = File::create_new(path).expect("a file");
    let mut prng = Prng::new(1);
    for _ in 0..mebibytes {
        let bytes: Vec<u8> = (0..1 << 17).flat_map(|_| prng.next_u64().to_le_bytes()).collect();
        file.write_all(&bytes).expect("bytes");
    }
    file.sync_all().expect("a file on the disk");
}

/// Measures all programs in turns, until the load is decided or given up.
fn measured(load: &Load, place: &str, file: &Path) -> Value {
    // 1
    let mut ways = vec![Way::Ours, Way::FioDefault, Way::FioDefault, Way::FioBatches, Way::FioBatches];
    ways.extend(env::var_os(T_IO_URING).filter(|_| load.access == "randread").map(|_| Way::TIoUring));
    let bounds = BOUNDS.or_fewer();
    let mut turns: Vec<Vec<Run>> = Vec::new();
    loop {
        let mut runs = vec![Run { rate: f64::NAN, cpu: None }; ways.len()];
        for run in order(ways.len(), turns.len()) {
            runs[run] = match ways[run] {
                Way::Ours => ours(load, file),
                Way::TIoUring => t_io_uring(load, file),
                way => fio(load, file, way == Way::FioBatches),
            };
        }
        turns.push(runs);
        let places = |way: Way| (0..ways.len()).filter(|place| ways[*place] == way).collect::<Vec<usize>>();
        let rate = |way: Way| median(turns.iter().flat_map(|turn| places(way).into_iter().map(|at| turn[at].rate)));
        let cpu = |way: Way| {
            let all = turns.iter().flat_map(|turn| places(way).into_iter().map(|at| turn[at].cpu));
            all.collect::<Option<Vec<f64>>>().map(median)
        };
        // 2
        let better = if rate(Way::FioDefault) >= rate(Way::FioBatches) { Way::FioDefault } else { Way::FioBatches };
        let is_best = ways.contains(&Way::TIoUring) && rate(Way::TIoUring) > rate(better);
        let best = if is_best { Way::TIoUring } else { better };
        // 3
        let control = median(turns.iter().map(|turn| {
            let of_fio = places(better);
            turn[of_fio[0]].rate / turn[of_fio[1]].rate
        }));
        let Some(is_decided) = bounds.end(turns.len(), &[control]) else { continue };
        let ratio = median(turns.iter().map(|turn| {
            let of_best = places(best);
            let logarithms = of_best.iter().map(|at| turn[*at].rate.ln());
            turn[places(Way::Ours)[0]].rate / (logarithms.sum::<f64>() / of_best.len() as f64).exp()
        }));
        let jobs = if load.jobs == 1 { "1 job".to_owned() } else { format!("{} jobs", load.jobs) };
        return json!({
            "depth_beside_fio": format!("{} {} KiB at depth {}, {jobs}, {place}", load.access, load.kib, load.depth),
            "ratio": ratio,
            "control": control,
            "is_decided": is_decided,
            "turns": turns.len(),
            "best": best.name(),
            "best_rate": rate(best),
            "cpu_ns": { "ours": cpu(Way::Ours), "fio": cpu(better) },
            "t_io_uring": ways.contains(&Way::TIoUring).then(|| rate(Way::TIoUring)),
        });
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

fn ours(load: &Load, file: &Path) -> Run {
    let Load { access, kib, depth, jobs } = load;
    let target = format!("file:{}", file.display());
    let options = format!("--direct --bs {kib}KiB --iodepth {depth} --jobs {jobs} --time {SECONDS}s --rounds 1 --json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_diskperf"));
    command.args(["io", access, &target]).args(options.split(' ')).env(testkit::STORE, "none");
    let document = testkit::json_of(&mut command);
    let round = &document["cells"][0]["rounds"][0];
    let ops = number(&round["ops"]);
    let cpu = number(&round["cpu_s"]["process"]);
    // fio's clock, too, ends when the last operation has returned.
    Run { rate: ops / number(&round["returned_s"]), cpu: Some(1e9 * cpu / ops) }
}

fn fio(load: &Load, file: &Path, in_batches: bool) -> Run {
    let Load { access, kib, depth, jobs } = load;
    let mut command = Command::new(testkit::tool("fio").unwrap_or(PathBuf::from("fio")));
    let options = format!(
        "--name=x --thread --norandommap --randrepeat=0 --output-format=json --rw={access} --bs={kib}k --direct=1 \
         --ioengine=io_uring --iodepth={depth} --numjobs={jobs} --group_reporting --fixedbufs --registerfiles \
         --time_based --runtime={SECONDS}"
    );
    command.args(options.split_whitespace()).arg(format!("--filename={}", file.display()));
    if in_batches {
        let batches = "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";
        command.args(batches.split(' '));
    }
    let document = testkit::json_of(&mut command);
    let job = &document["jobs"][0];
    let ops = number(&job["read"]["total_ios"]);
    // Percent of the time of one job.
    let cpu = (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0 * number(&job["job_runtime"]) * 1e6;
    Run { rate: number(&job["read"]["iops"]), cpu: Some(cpu / ops) }
}

fn t_io_uring(load: &Load, file: &Path) -> Run {
    let Load { kib, depth, jobs, .. } = load;
    let batch = depth.min(&32);
    let options = format!("-p0 -b{} -d{depth} -s{batch} -c{batch} -n{jobs} -r{SECONDS}", kib * 1024);
    let mut command = Command::new(env::var_os(T_IO_URING).expect("its path"));
    let output = command.args(options.split(' ')).arg(file).output().expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    // A line for each second: `IOPS=123.45K, BW=482MiB/s, IOS/call=32/31`.
    let rates: Vec<f64> = text.lines().filter_map(rate_of_second).collect();
    assert!(!rates.is_empty(), "{text}");
    Run { rate: rates.iter().sum::<f64>() / rates.len() as f64, cpu: None }
}

/// The rate in a line of `t/io_uring`.
fn rate_of_second(line: &str) -> Option<f64> {
    let rate = line.strip_prefix("IOPS=")?.split(',').next()?;
    let digits = rate.trim_end_matches(['K', 'M']);
    let factor = if rate.ends_with('M') { 1e6 } else { 1.0 } * if rate.ends_with('K') { 1e3 } else { 1.0 };
    Some(digits.parse::<f64>().ok()? * factor)
}

/// The median of one value or more.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    summary::median(&values.into_iter().collect::<Vec<f64>>()).expect("a turn")
}
