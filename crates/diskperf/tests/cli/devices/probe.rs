//! `probe` on simulations, files and directories: constants that come back, the device's file, and refusals.

use std::fs;

use serde_json::Value;

use crate::common::Cli;

/// The constants of a target, by name: the value, or `None`.
fn constants(cli: &Cli, target: &str) -> Vec<(String, Option<f64>)> {
    let text = cli.well_and_clean(&["probe", target, "--json"]).out;
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let rows = document["constants"].as_array().expect("rows").clone();
    let row = |row: Value| {
        let (value, why) = (row["estimate"]["value"].as_f64(), row["why"].as_str());
        assert_ne!(value.is_some(), why.is_some(), "a value or a reason: {row}");
        (row["constant"].as_str().expect("a name").to_owned(), value)
    };
    rows.into_iter().map(row).collect()
}

fn value(constants: &[(String, Option<f64>)], name: &str) -> Option<f64> {
    constants.iter().find(|(constant, _)| constant == name).unwrap_or_else(|| panic!("no {name}: {constants:?}")).1
}

fn is_near(found: Option<f64>, right: f64) -> bool {
    found.is_some_and(|found| (found / right - 1.0).abs() < 0.01)
}

#[test]
fn the_published_limits_of_a_volume_come_back() {
    let found = constants(&Cli::new(), "sim:ebs-gp3");
    for (name, right) in [
        ("read latency 4 KiB", 1000.0),
        ("request bucket rate", 3000.0),
        ("request bucket burst", 300.0),
        ("byte bucket rate", 131.072),
        ("byte bucket burst", 13.0),
    ] {
        assert!(is_near(value(&found, name), right), "{name}: {found:?}");
    }
    assert_eq!(value(&found, "write cache size"), None);
}

#[test]
fn disks_of_1983_turn_and_have_tracks() {
    for (machine, rpm, sectors) in [("vax780-sc780", 3961.0, 48.0), ("vax750-uda50", 3600.0, 51.0)] {
        let found = constants(&Cli::new(), &format!("sim:{machine}"));
        assert!(is_near(value(&found, "rotation"), rpm), "{machine}: {found:?}");
        assert_eq!(value(&found, "sectors per track"), Some(sectors), "{machine}: {found:?}");
    }
}

#[test]
fn the_device_file_is_read_again() {
    let cli = Cli::new();
    let ended = cli.well(&["probe", "sim:ebs-gp3", "-o", "disk.toml"]);
    assert!(ended.out.contains("3,000 requests/s"), "{}", ended.out);
    let text = fs::read_to_string(cli.path().join("disk.toml")).expect("the file");
    assert!(text.contains("source = \"measured\""), "{text}");
    let again = constants(&cli, "sim:./disk.toml");
    assert!(is_near(value(&again, "request bucket rate"), 3000.0), "{again:?}");
    assert!(is_near(value(&again, "read latency 1 MiB"), 1000.0), "{again:?}");
}

#[test]
fn the_same_probe_of_a_simulation_prints_the_same() {
    let cli = Cli::new();
    let [first, second] = [(); 2].map(|()| cli.well(&["probe", "sim:ebs-io2"]).out);
    assert_eq!(first, second);
}

#[test]
fn targets_that_cannot_be_probed_are_refused() {
    let cli = Cli::new();
    fs::write(cli.path().join("small"), [1; 8192]).expect("a file");
    for (target, status, word) in [
        ("sim:missing", 2, "missing"),
        ("missing/place", 2, "missing"),
        ("/dev/null", 2, "/dev/null"),
        ("/dev/none-such", 2, "/dev/none-such"),
        ("image:ext4", 2, "cannot probe"),
        ("small", 2, "a probe needs"),
    ] {
        cli.refuses(&["probe", target], status, &[word, "hint: "]);
    }
}
