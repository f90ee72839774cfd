//! Limited disks: `quick` keeps its time, and `choose` is not misled by bursts.

mod throttle;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{major, minor};
use serde_json::Value;
use throttle::{CLOUD, SLOW, SlowDisks};
use units::Bytes;

/// Held by the test that has the limited disks: their control group has the name of the process.
static DISKS: Mutex<()> = Mutex::new(());

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
    let _alone = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    let slow = SlowDisks::new(Bytes::mib(64), &[SLOW]);
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    // A given size lifts the limits on the bytes written, which are those of a full disk here.
    let before = operations(slow.paths()[0]);
    let document = slow.document(
        &program,
        &["run", "quick", "--floor", "0", "--json", "--size", "64KiB", "--budget", &format!("{BUDGET}s")],
    );
    // Operations, not a time: on a busy machine the run takes longer, but the disk does not do more.
    let done = operations(slow.paths()[0]) - before;
    assert!(done < MOST, "{done} operations");
    let cells = document["cells"].as_array().expect("cells");
    for cell in cells {
        let rounds = cell["rounds"].as_array().expect("rounds").len();
        let marks = cell["marks"].as_array().expect("marks");
        let few = marks.iter().any(|mark| mark["code"] == "few");
        // Rounds before a change of the rate do not count.
        let counted = kept(cell).count();
        match cell["measured"] == true {
            true => assert_eq!(few, counted < 5, "{cell:#}"),
            false => assert!(cell["reason"].is_string() && rounds == 0, "{cell:#}"),
        }
    }
    let random = cells.iter().find(|cell| cell["program"] == "randread").expect("randread");
    if let Some(last) = kept(random).last().filter(|_| random["measured"] == true) {
        assert_eq!(random["effect"] == Value::Null, last["ops"] != random["parameters"]["reads"], "{random:#}");
    }
}

/// The rounds of a cell that count.
fn kept(cell: &Value) -> impl Iterator<Item = &Value> {
    cell["rounds"].as_array().expect("rounds").iter().filter(|round| round["discarded"] == false)
}

/// Files of 512 KiB and 128 reads fit into the burst of the volume, and once met these needs at 758 MiB/s.
#[test]
fn a_burst_meets_no_need() {
    if let Some(reason) = SlowDisks::impossible() {
        return testkit::skip!("{reason}");
    }
    let _alone = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    // A tenth of the free space is enough for a file of 64 MiB.
    let disks = SlowDisks::new(Bytes::mib(1024), &[CLOUD, CLOUD]);
    let named = |(path, name): (&Path, &str)| format!("{name}={}", path.display());
    let targets: Vec<String> = disks.paths().into_iter().zip(["gp", "other"]).map(named).collect();
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let needs = "read_8192>=100MiB/s,randread>=3000/s";
    let only = ["--only", "read_8192", "--only", "randread"];
    let words = ["choose", &targets[0], &targets[1], "--need", needs, "--budget", "45s", "--json"];
    let document = disks.document_of(&program, &[&words[..], &only].concat(), 5);
    let needs = document["run"]["choice"]["needs"].as_array().expect("needs");
    assert_eq!(needs.len(), 4);
    assert!(needs.iter().all(|need| need["met"] != true), "{needs:#?}");
    // On a busy machine, a test may not fit into the time. Then its reason says so.
    let cells = document["cells"].as_array().expect("cells");
    for cell in cells {
        let is_few = cell["marks"].as_array().expect("marks").iter().any(|mark| mark["code"] == "few");
        let reason = cell["reason"].as_str().unwrap_or_default();
        match cell["measured"] == true {
            true => assert!(cell["below_floor"].is_null() || is_few, "{cell:#}"),
            false => assert!(reason.starts_with("needs about ") || reason.contains("was reached before"), "{cell:#}"),
        }
    }
    let is_answered = needs.iter().any(|need| need["met"] == false);
    assert!(is_answered || cells.iter().all(|cell| cell["measured"] == false), "{needs:#?}");
}
