//! Rates at depth against fio, on the disk of this folder: `diskperf io` against the better of fio's default and fio
//! with batches of 32. Prints a line of JSON for each load.
//!
//! Policy:
//!   1. a turn runs diskperf once and either way of fio twice, one after the other; the order rotates from turn to
//!      turn;
//!   2. the better way of fio is the one with the higher median; its two runs of a turn are the control;
//!   3. a load is decided after [`LEAST`] turns or more, if the control is within [`CONTROL`];
//!   4. a load that is not decided after [`MOST`] turns says so.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use units::Prng;

/// Turns before a load is decided, and before it is given up. The upper bound is that of the acceptance test; the lower
/// one makes the standard error of the control about 1 % if a run scatters by 3 %, as they do on a quiet virtual disk.
const LEAST: usize = 8;
const MOST: usize = 40;

/// Largest distance of the mean ratio of fio to fio from 1.
const CONTROL: f64 = 0.01;

/// Seconds of each run: long against the start of a program, and 40 turns of four loads end within an hour.
const SECONDS: u32 = 3;

/// Bytes of the file: more than a disk holds in its own buffer.
const FILE: u64 = 1 << 30;

/// The access and queue depth of both programs.
struct Load {
    access: &'static str,
    kib: u32,
    depth: u32,
}

const LOADS: [Load; 4] = [
    Load { access: "randread", kib: 4, depth: 4 },
    Load { access: "randread", kib: 4, depth: 32 },
    Load { access: "randread", kib: 4, depth: 128 },
    Load { access: "read", kib: 128, depth: 8 },
];

/// The runs of a turn, by their place in the list of its rates.
const OURS: usize = 0;
const DEFAULT: [usize; 2] = [1, 2];
const BATCHES: [usize; 2] = [3, 4];
const RUNS: usize = 5;

fn main() {
    let missing = (!testkit::has_tool("fio"))
        .then(|| "fio is not installed".to_owned())
        .or_else(|| kernel::no_ring().map(|why| why.to_string()));
    if let Some(reason) = missing {
        println!("skipped: {reason}");
        return;
    }
    // On the disk of the build: a folder for temporary files may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = folder.path().join("file");
    fill(&file);
    for load in &LOADS {
        println!("{}", measured(load, &file));
    }
}

/// Fills the file with bytes that a disk can neither leave out nor compress.
fn fill(path: &Path) {
    let mut file = File::create_new(path).expect("a file");
    let mut prng = Prng::new(1);
    for _ in 0..FILE >> 20 {
        let bytes: Vec<u8> = (0..1 << 17).flat_map(|_| prng.next_u64().to_le_bytes()).collect();
        file.write_all(&bytes).expect("bytes");
    }
    file.sync_all().expect("a file on the disk");
}

/// Measures both programs in turns, until the load is decided or given up.
fn measured(load: &Load, file: &Path) -> Value {
    let mut turns: Vec<[f64; RUNS]> = Vec::new();
    loop {
        // 1
        let mut rates = [0.0; RUNS];
        for index in 0..RUNS {
            let run = (index + turns.len()) % RUNS;
            rates[run] = if run == OURS { ours(load, file) } else { fio(load, file, BATCHES.contains(&run)) };
        }
        turns.push(rates);
        // 2
        let better = if median(&turns, DEFAULT) >= median(&turns, BATCHES) { DEFAULT } else { BATCHES };
        let control = mean_ratio(&turns, |rates| rates[better[0]] / rates[better[1]]);
        // 3 and 4
        let is_decided = (control - 1.0).abs() <= CONTROL;
        if turns.len() >= MOST || (turns.len() >= LEAST && is_decided) {
            let ratio = mean_ratio(&turns, |rates| rates[OURS] / (rates[better[0]] * rates[better[1]]).sqrt());
            return json!({
                "depth_beside_fio": format!("{} {} KiB at depth {}", load.access, load.kib, load.depth),
                "ratio": ratio,
                "control": control,
                "is_decided": is_decided,
                "turns": turns.len(),
                "fio": if better == DEFAULT { "its default" } else { "batches of 32" },
                "fio_rate": median(&turns, better),
            });
        }
    }
}

/// The median rate of both runs.
fn median(turns: &[[f64; RUNS]], runs: [usize; 2]) -> f64 {
    let mut rates: Vec<f64> = turns.iter().flat_map(|rates| runs.map(|run| rates[run])).collect();
    rates.sort_unstable_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The geometric mean of a ratio over the turns.
fn mean_ratio(turns: &[[f64; RUNS]], ratio: impl Fn(&[f64; RUNS]) -> f64) -> f64 {
    (turns.iter().map(|rates| ratio(rates).ln()).sum::<f64>() / turns.len() as f64).exp()
}

fn ours(load: &Load, file: &Path) -> f64 {
    let Load { access, kib, depth } = load;
    let target = format!("file:{}", file.display());
    let options = format!("--direct --bs {kib}KiB --iodepth {depth} --time {SECONDS}s --rounds 1 --json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_diskperf"));
    command.args(["io", access, &target]).args(options.split(' ')).env(testkit::STORE, "none");
    let document = answer(&mut command);
    let round = &document["cells"][0]["rounds"][0];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{document:#}"));
    // fio's clock, too, ends when the last operation has returned.
    number(&round["ops"]) / number(&round["returned_s"])
}

fn fio(load: &Load, file: &Path, in_batches: bool) -> f64 {
    let Load { access, kib, depth } = load;
    let mut command = Command::new(testkit::tool("fio").unwrap_or(PathBuf::from("fio")));
    let options = format!(
        "--name=x --thread --norandommap --randrepeat=0 --output-format=json --rw={access} --bs={kib}k --direct=1 \
         --size={FILE} --ioengine=io_uring --iodepth={depth} --fixedbufs --registerfiles \
         --time_based --runtime={SECONDS}"
    );
    command.args(options.split_whitespace()).arg(format!("--filename={}", file.display()));
    if in_batches {
        let batches = "--iodepth_batch_submit=32 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32";
        command.args(batches.split(' '));
    }
    let document = answer(&mut command);
    document["jobs"][0]["read"]["iops"].as_f64().unwrap_or_else(|| panic!("{document:#}"))
}

fn answer(command: &mut Command) -> Value {
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let begin = output.stdout.iter().position(|byte| *byte == b'{').unwrap_or(0);
    serde_json::from_slice(&output.stdout[begin..]).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
