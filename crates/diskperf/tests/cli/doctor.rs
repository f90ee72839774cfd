//! `diskperf doctor`: its report for root and for a user without rights, and that its trials leave nothing.

use serde_json::Value;
use testkit::wait_until;

use crate::common::document::document;
use crate::common::{Cli, loop_devices_on, text};

/// The findings for a folder, checked against the schema that the same program prints.
fn checkup(cli: &Cli) -> Value {
    let ended = cli.run(&["doctor", "--json"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    document(&ended)
}

fn state<'a>(checkup: &'a Value, name: &str) -> &'a str {
    let checks = checkup["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no check {name}"));
    check["state"].as_str().expect("a state")
}

#[test]
fn the_table_shows_abilities_and_hints() {
    let cli = Cli::new();
    let ended = cli.run(&["doctor"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    for word in ["check", "here", "why", "private folder", "page cache seen", "loop devices", "run delay", "clock"] {
        assert!(ended.out.contains(word), "{}", ended.out);
    }
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    let elsewhere = Cli::in_folder("/").run(&["doctor", &cli.path().to_string_lossy()]);
    assert!(elsewhere.out.contains(&*cli.path().to_string_lossy()), "{}", elsewhere.out);
}

#[test]
fn doctor_leaves_nothing_behind() {
    let cli = Cli::new();
    let checkup = checkup(&cli);
    assert_eq!(checkup["schema"], "diskperf-doctor/1");
    assert_eq!(state(&checkup, "private folder"), "yes");
    assert_eq!(cli.names(), [""; 0]);
    // The kernel detaches a loop device only after the last program has closed it.
    wait_until("no loop device is attached", || loop_devices_on(cli.path()) == 0);
    // Other tests mount elsewhere meanwhile.
    let here = cli.path().canonicalize().expect("a path");
    let mounts = testkit::mounts("self").expect("the mounts");
    assert!(!mounts.contains(text(&here)), "{mounts}");
}

#[test]
fn users_without_rights_are_told_what_needs_them() {
    let cli = Cli::new();
    let checkup = checkup(&cli);
    if testkit::is_root() {
        // In a container, the user may be root by name only; the report then says so.
        let rights = state(&checkup, "rights");
        assert_eq!(state(&checkup, "private mounts") == "yes", rights == "yes", "{checkup}");
        return;
    }
    assert_eq!(state(&checkup, "rights"), "partly");
    for check in ["private mounts", "loop devices", "drop caches"] {
        assert_eq!(state(&checkup, check), "no", "{check}");
    }
    let checks = checkup["checks"].as_array().expect("checks");
    let hints = checks.iter().filter_map(|check| check["how"].as_str());
    assert!(hints.filter(|how| how.contains("root")).count() >= 3, "{checkup}");
}

#[test]
fn an_unwritable_folder_is_reported_without_failure() {
    // /sys has no room for data, and even root cannot create a folder in it.
    let checkup = checkup(&Cli::in_folder("/sys"));
    for check in ["private folder", "O_DIRECT", "page cache seen", "loop devices"] {
        assert_eq!(state(&checkup, check), "no", "{check}");
    }
}

#[test]
fn results_go_to_a_file_and_other_paths_are_refused() {
    let cli = Cli::new();
    let ended = cli.run(&["doctor", "--json", "-o", "doctor.json"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""));
    for (path, words) in [("missing", "there is no missing"), ("doctor.json", "is a file")] {
        let ended = cli.run(&["doctor", path]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{path}");
        assert!(ended.err.contains(words) && ended.err.contains("hint: "), "{}", ended.err);
    }
}
