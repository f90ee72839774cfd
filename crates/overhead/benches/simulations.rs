//! The instructions of simulations in the release build, counted by valgrind: `paper`, a machine with its 16 results,
//! and a call. Prints a line of JSON for each, which `cargo xtask prove simulations` judges.
//!
//! A machine is counted once, from start to exit, and stands for a thousand: their work is the same, and each would
//! start the program only once. A call is the difference of two simulations of the same program, one with twice the
//! file. No program has only random calls: `largefb` has five phases, two of them in random order.

use std::env;
use std::path::PathBuf;

use serde_json::json;

#[path = "../tests/valgrind/mod.rs"]
mod valgrind;

/// One machine per kind of controller, with one starting position of the platters.
const MACHINES: [&str; 3] = ["vax780-sc780", "vax780-si9900", "vax750-uda50"];

/// Bytes that the file of the larger simulation has more.
const MORE_BYTES: u64 = 8 << 20;

/// Kinds of calls: the words that simulate them, the calls for each block of the file, and the bytes of a block.
const CALLS: [(&str, [&str; 5], u64, u64); 2] = [
    ("a sequential read of 8 KiB", ["classic1983", "--program", "read_8192", "--set", "file_system=8k-1k"], 1, 8192),
    ("a call of largefb", ["lfs", "--program", "largefb", "--set", "file_system=4k-1k"], 5, 4096),
];

fn main() {
    if !testkit::has_tool("valgrind") {
        println!("{}", json!({"not_measured": "valgrind is not installed"}));
        return;
    }
    let program = program_path();
    let program = program.to_str().expect("a path in UTF-8");
    let count = |words: &[&str]| valgrind::count(&[&[program], words].concat());
    println!("{}", json!({"simulated": "paper", "instructions": count(&["paper"])}));
    for machine in MACHINES {
        let instructions = count(&["simulate", machine, "classic1983", "--phases", "1", "--no-store"]);
        println!("{}", json!({"simulated": machine, "instructions": instructions}));
    }
    for (name, words, calls, bytes) in CALLS {
        let counted = |size| {
            let options = ["--drives", "1", "--phases", "1", "--no-store", "--size", size];
            count(&[&["simulate", "vax780-sc780"], &words[..], &options].concat())
        };
        let each = (counted("16MiB") - counted("8MiB")) / (MORE_BYTES / bytes * calls);
        println!("{}", json!({"simulated": name, "instructions": each}));
    }
}

/// The path of the program, from the release build of this benchmark.
fn program_path() -> PathBuf {
    let this = env::current_exe().expect("this benchmark");
    let program = this.ancestors().nth(2).expect("the folder of builds").join("diskperf");
    assert!(program.exists(), "build it first: cargo build --release");
    program
}
