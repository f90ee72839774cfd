//! `diskperf proof`: one file with a run, the checks of `doctor` and power cuts, without what identifies the
//! machine.

use std::fs;

use serde_json::Value;
use testkit::{is_root, wait_until};

use crate::common::{Cli, loop_devices_on, program};

/// Few rounds and two power cuts: the contents of the file count, not its figures.
const SHORT: [&str; 6] = ["--budget", "2s", "--cuts", "2", "-o", "mine.json"];

#[test]
fn a_proof_has_a_run_the_checks_and_power_cuts_without_names() {
    let cli = Cli::new();
    let secret = cli.path().join("eves-secret-project");
    fs::create_dir(&secret).expect("a folder");
    let ended = cli.run(&[&["proof", "eves-secret-project", "--anonymous"], &SHORT[..]].concat());
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    let text = fs::read_to_string(cli.path().join("mine.json")).expect("the file");
    assert!(!text.contains("eves-secret"), "{text}");
    let proof: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&proof["schema"], &proof["anonymous"]), (&"diskperf-proof/1".into(), &true.into()));
    assert_eq!(proof["checkup"]["schema"], "diskperf-doctor/1");
    assert_eq!((&proof["run"]["run"]["preset"], &proof["run"]["run"]["host"]), (&"quick".into(), &"HOST".into()));
    assert!(proof["run"]["cells"].as_array().is_some_and(|cells| cells.len() > 10), "{text}");
    let (cuts, errors) = (&proof["verification"]["cuts"], &proof["verification"]["errors"]);
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    // Only root can make the image.
    assert_eq!((count(cuts), count(errors)), if is_root() { (2, 0) } else { (0, 1) }, "{errors}");
    assert_eq!(ended.err.contains("no power-cut test: "), !is_root(), "{}", ended.err);
    // `show` reads the run in it.
    assert!(cli.well(&["show", "mine.json"]).out.contains("read_8192"));
    assert_eq!(testkit::names_in(&secret), [""; 0]);
    // The kernel detaches a loop device only after the last program has closed it.
    wait_until("no loop device is attached", || loop_devices_on(cli.path()) == 0);
}

#[test]
fn a_proof_of_no_directory_is_refused_before_anything_is_measured() {
    let cli = Cli::new();
    fs::write(cli.path().join("file"), "x").expect("a file");
    for target in ["missing", "file"] {
        // `run proof`, as users of presets call it.
        let words = [&["run", "proof", target], &SHORT[..]].concat();
        let ended = testkit::run(&program(), cli.path(), &words);
        assert_eq!(ended.status, Some(2), "{}", ended.err);
        assert!(ended.err.contains(target) && ended.err.contains("hint: "), "{}", ended.err);
        assert!(!cli.path().join("mine.json").exists());
    }
}
