//! Long sweeps of the simulator in CSV: the bytes of four parts and of the whole sweep, and the memory of a sweep of
//! 100,000 points. Prints a line of JSON for each, which `cargo xtask prove sweeps` judges.

use std::env;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

/// A simulation of 50 us: one result for each point.
const WORDS: [&str; 8] = [
    "simulate",
    "vax750-uda50",
    "--size=32KiB",
    "--phases=1",
    "--program=read_8192",
    "--drives=1",
    "--set=file_system=8k-1k",
    "--format=csv",
];

/// Limit of the program's address space, in bytes. The address space is larger than the memory in use, so that memory
/// is limited too.
const BYTES: u64 = 300_000_000;

fn main() {
    // The programs that this one starts have the same limit.
    let limit = Rlimit { current: Some(BYTES), maximum: getrlimit(Resource::As).maximum };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let sweep = |calls: &str, more: &[&str]| {
        let call = format!("--sweep=kernel.call={calls}");
        let words = [&WORDS[..], &[call.as_str(), "--sweep=controller.buffer_sectors=1..100"], more].concat();
        let ended = testkit::run(&program_path(), folder.path(), &words);
        if ended.status != Some(0) {
            eprintln!("{}", ended.err);
        }
        (ended.status, ended.out)
    };
    let whole = sweep("1..100us", &[]).1;
    let joined: String =
        ["1/4", "2/4", "3/4", "4/4"].iter().map(|part| sweep("1..100us", &["--part", part]).1).collect();
    let rows = whole.lines().count().saturating_sub(1);
    println!("{}", json!({"swept": rows, "parts": 4, "bytes": whole.len(), "are_same": joined == whole}));
    setrlimit(Resource::As, limit).expect("a lower limit");
    let file = folder.path().join("out.csv");
    let (status, _) = sweep("1..1000us", &["--threads=2", "-o", file.to_str().expect("a path in UTF-8")]);
    println!("{}", json!({"swept": 100_000, "limit_bytes": BYTES, "bytes": size(&file), "status": status}));
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}

/// The path of the program, from the release build of this benchmark.
fn program_path() -> PathBuf {
    let this = env::current_exe().expect("this benchmark");
    let program = this.ancestors().nth(2).expect("the folder of builds").join("diskperf");
    assert!(program.exists(), "build it first: cargo build --release");
    program
}
