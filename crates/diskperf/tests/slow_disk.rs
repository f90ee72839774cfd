//! `quick` on a disk of 20 MiB/s and 100 operations per second.

mod throttle;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{major, minor};
use serde_json::Value;
use throttle::{SLOW, SlowDisks};
use units::Bytes;

/// The time budget of `quick`, in seconds.
const BUDGET: u64 = 12;

/// Most operations of the disk: twice the reads and writes that it can do in the budget. The kernel writes some by
/// itself, past the limits.
const MOST: u64 = 2 * 2 * SLOW.operations * BUDGET;

/// Reads and writes of the disk of a mounted folder (Documentation/block/stat.rst).
fn operations(folder: &Path) -> u64 {
    let device = fs::metadata(folder).expect("the folder").dev();
    let stat = format!("/sys/dev/block/{}:{}/stat", major(device), minor(device));
    let stat = fs::read_to_string(stat).expect("the statistics of the device");
    let fields: Vec<u64> = stat.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    fields[0] + fields[4]
}

#[test]
fn quick_keeps_its_time_on_a_slow_disk_and_explains_every_cell() {
    if let Some(reason) = SlowDisks::impossible() {
        return testkit::skip!("{reason}");
    }
    let slow = SlowDisks::new(Bytes::mib(64), &[SLOW]);
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    // A given size lifts the limits on the bytes written, which are those of a full disk here.
    let before = operations(slow.paths()[0]);
    let document =
        slow.document(&program, &["run", "quick", "--json", "--size", "64KiB", "--budget", &format!("{BUDGET}s")]);
    // Operations, not a time: on a busy machine the run takes longer, but the disk does not do more.
    let done = operations(slow.paths()[0]) - before;
    assert!(done < MOST, "{done} operations");
    let cells = document["cells"].as_array().expect("cells");
    for cell in cells {
        let rounds = cell["rounds"].as_array().expect("rounds").len();
        let marks = cell["marks"].as_array().expect("marks");
        let few = marks.iter().any(|mark| mark["code"] == "few");
        match cell["measured"] == true {
            true => assert_eq!(few, rounds < 5, "{cell:#}"),
            false => assert!(cell["reason"].is_string() && rounds == 0, "{cell:#}"),
        }
    }
    let random = cells.iter().find(|cell| cell["program"] == "randread").expect("randread");
    if random["measured"] == true {
        assert_eq!(random["effect"] == Value::Null, random["rounds"][0]["ops"] != random["parameters"]["reads"]);
    }
}
