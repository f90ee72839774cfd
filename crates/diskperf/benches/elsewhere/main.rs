//! The program in guests: jobs on storage that this machine does not have, on two kernels, and power cuts.
//! Prints lines of JSON, which `cargo xtask prove elsewhere-jobs elsewhere-power` judges. Needs root, QEMU and the
//! kernels that `cargo xtask test` downloads. Takes more than an hour.
//!
//! ```text
//!   cargo bench --package diskperf --bench elsewhere -- power
//!   cargo bench --package diskperf --bench elsewhere -- jobs [NAME...]
//! ```
//!
//! The thread that boots a guest must live as long as the guest (`testkit::guest`).

#[path = "../../tests/guests/blank_disks.rs"]
mod blank_disks;
mod jobs;
mod power;
#[path = "../../tests/guests/storages.rs"]
mod storages;

use std::path::Path;

use serde_json::json;
use testkit::guest::Kernel;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let part = words.next().expect("power or jobs");
    let words: Vec<String> = words.collect();
    if let Err(reason) = run(&part, &words) {
        println!("{}", json!({"not_measured": reason}));
    }
}

/// Runs a part. The error is the reason why that is not possible here.
fn run(part: &str, words: &[String]) -> Result<(), String> {
    let program = testkit::dist_program().ok_or(testkit::NOTHING_MADE)?;
    match part {
        "power" if !testkit::is_root() || !Path::new("/dev/fuse").exists() => {
            return Err("needs root and /dev/fuse".to_owned());
        }
        "power" => power::run(&Kernel::find("6.1")?, &program),
        "jobs" => {
            for series in ["6.1", "6.12"] {
                jobs::run(series, &Kernel::find(series)?, &program, words);
            }
        }
        _ => panic!("{part} is not a part: power or jobs"),
    }
    Ok(())
}
