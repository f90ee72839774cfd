//! The instructions of simulations in the release build, counted by valgrind: `paper`, a machine with its 16 results,
//! and a call. Prints a line of JSON for each, which `cargo xtask prove simulations` judges.
//!
//! A machine is counted once, from start to exit, and stands for a thousand: their work is the same, and each would
//! start the program only once. A call is the difference of two simulations of the same program, one with twice the
//! file.

use std::env;
use std::path::PathBuf;

use serde_json::json;

#[path = "../tests/valgrind/mod.rs"]
mod valgrind;

/// One machine per kind of controller, with one starting position of the platters.
const MACHINES: [&str; 3] = ["vax780-sc780", "vax780-si9900", "vax750-uda50"];

/// Calls of 8 KiB in the file that the larger simulation has more.
const CALLS: u64 = (8 << 20) / 8192;

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
    let sequential = |size| {
        let options = ["--program", "read_8192", "--drives", "1", "--phases", "1", "--no-store", "--size", size];
        let words = ["simulate", "vax780-sc780", "classic1983", "--set", "file_system=8k-1k"];
        count(&[&words[..], &options].concat())
    };
    let each = (sequential("16MiB") - sequential("8MiB")) / CALLS;
    println!("{}", json!({"simulated": "a sequential read of 8 KiB", "instructions": each}));
}

/// The path of the program, from the release build of this benchmark.
fn program_path() -> PathBuf {
    let this = env::current_exe().expect("this benchmark");
    let program = this.ancestors().nth(2).expect("the folder of builds").join("diskperf");
    assert!(program.exists(), "build it first: cargo build --release");
    program
}
