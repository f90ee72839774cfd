//! The main job as a user meets it: its announcement, the most that it writes, that it ends, and that every row
//! explains itself.

use std::path::Path;

use crate::common::document::document;
use crate::common::{Cli, cells, remarks};
use serde_json::Value;

/// Bytes that all rounds of all cells wrote to files, without those that prepared them.
fn written(cells: &[Value]) -> u64 {
    let writes = |cell: &&Value| !["read", "randread"].contains(&cell["phase"].as_str().expect("a phase"));
    let rounds = cells.iter().filter(writes).flat_map(|cell| cell["rounds"].as_array().expect("rounds"));
    rounds.map(|round| round["bytes"].as_u64().expect("bytes")).sum()
}

/// This many units of work are certainly enough for a median.
const ENOUGH: u64 = 100;

/// The free bytes around a folder.
fn free(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map(|space| space.f_bavail * space.f_frsize).expect("space")
}

#[test]
fn quick_announces_its_limits_and_keeps_them() {
    let cli = Cli::new();
    let free = free(cli.path());
    let ended = cli.well(&["run", "quick", "--budget", "6s", "--json"]);
    let document = document(&ended);
    let first = ended.err.lines().next().expect("a line");
    assert!(first.starts_with("writes up to ") && first.contains(", in up to 6 s; Ctrl-C leaves nothing"), "{first}");
    let cells = cells(&document);
    // On a busy machine with a slow disk, the time may be too short for tests with files, for all tests, or even for
    // the trials.
    let is_planned = ended.err.contains("about ") && ended.err.contains(" rounds; ");
    let is_impossible = ended.err.contains("no test gets enough data in that time");
    let is_over = cells.iter().all(|cell| cell["measured"] == false);
    assert!(is_planned || is_impossible || is_over, "{}", ended.err);
    assert_eq!(cells.len(), 13);
    assert!(written(cells) <= 16 << 30);
    // Other programs may have freed space.
    let free = free.max(self::free(cli.path()));
    assert!(cells.iter().all(|cell| cell["parameters"]["file_bytes"].as_u64() <= Some(free / 10)));
    for cell in cells {
        let rounds = cell["rounds"].as_array().expect("rounds");
        if cell["measured"] == true {
            // The plan has at least five rounds. The warning "few" says that fewer count: rounds are missing, or came
            // before a change of the disk's speed.
            let kept = || rounds.iter().filter(|round| round["discarded"] == false);
            let few = cell["marks"].as_array().expect("marks").iter().any(|mark| mark["code"] == "few");
            assert_eq!(few, kept().count() < 5, "{cell:#}");
            // Few large calls have no median: files shrink if other programs keep the machine busy.
            let ops = kept().filter_map(|round| round["ops"].as_u64());
            assert!(cell["latency_ns"]["p50"].is_u64() || ops.sum::<u64>() < ENOUGH, "{cell:#}");
        } else {
            assert!(cell["reason"].is_string() && rounds.is_empty(), "{cell:#}");
        }
        let size = cell["parameters"]["file_bytes"].as_u64().or(cell["parameters"]["commits"].as_u64());
        assert!(size > Some(0), "{cell:#}");
    }
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn requested_sizes_are_used() {
    let cli = Cli::new();
    let arguments = ["run", "quick", "--size", "40KiB", "--rounds", "1", "--budget", "30s", "--json"];
    let document = cli.document(&arguments);
    let sized = |program: &str| {
        let cell = cells(&document).iter().find(|cell| cell["program"] == program).expect(program);
        cell["parameters"]["file_bytes"].as_u64()
    };
    for program in ["read_8192", "write_4096", "write_8192", "rewrite_8192"] {
        assert_eq!(sized(program), Some(40 << 10));
    }
    // A quarter, in whole blocks.
    assert_eq!(sized("randread"), Some(8 << 10));
    let refused = cli.run(&["run", "quick", "--size", "10000B"]);
    assert_eq!(refused.status, Some(2), "{}", refused.err);
}

#[test]
fn a_short_budget_omits_tests_with_the_time_they_need() {
    let cli = Cli::new();
    let document = cli.document(&["run", "quick", "--budget", "100ms", "--json"]);
    let reasons: Vec<&str> = cells(&document).iter().filter_map(|cell| cell["reason"].as_str()).collect();
    assert!(!reasons.is_empty());
    let says_why = |reason: &&str| {
        ["needs about ", "was reached before", "the run ended before", "no time for its trial", "page cache"]
            .iter()
            .any(|words| reason.contains(words))
    };
    assert!(reasons.iter().all(says_why), "{reasons:?}");
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn simulated_machines_need_no_trials_and_repeat_exactly() {
    let cli = Cli::new();
    let run = || {
        let ended = cli.well(&["run", "quick", "sim:flat", "--rounds", "1", "--json"]);
        assert!(!ended.err.contains("about "), "{}", ended.err);
        document(&ended)["cells"].clone()
    };
    let first = run();
    assert_eq!(first, run());
    // A program that its time limit ended has no checksum; all others have one.
    for cell in first.as_array().expect("cells") {
        assert_eq!(cell["effect"] == Value::Null, cell["program"] == "randread", "{cell:#}");
    }
}

#[test]
fn users_without_rights_get_a_warning_instead_of_a_memory_limit() {
    if testkit::is_root() {
        return testkit::skip!("root may limit memory; the command-line tests run once more without rights");
    }
    let cli = Cli::new();
    let arguments = ["run", "classic1983", "--size", "64KiB", "--cache", "16MiB", "--json"];
    let ended = cli.well(&arguments);
    let document = document(&ended);
    assert!(ended.err.contains("memory is not limited to 16 MiB: "), "{}", ended.err);
    assert_eq!(remarks(&document), [["memory_not_limited", "", ""]]);
    assert_eq!(document["run"]["memory_limit_bytes"], Value::Null);
}

/// A large file of today does not fit on a drive of 1983.
#[test]
fn simulated_drives_get_files_that_fit() {
    let cli = Cli::new();
    let words = ["run", "quick", "sim:vax780-sc780", "--rounds", "1", "--only", "read_8192", "--json"];
    for budget in [&[][..], &["--budget", "10min"]] {
        let document = cli.document(&[&words[..], budget].concat());
        assert_eq!(cells(&document)[0]["parameters"]["file_bytes"], 8 << 20);
        assert_eq!(cells(&document)[0]["measured"], true);
    }
}
