//! The preset `lfs` as a user meets it: the lab's benchmarks, its four answers, and its published figures.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use testkit::loop_disk::{Disk, Mounted};
use testkit::{need_disk, run_tool};

use crate::common::document::document;
use crate::common::{Cli, mark};

fn findings(document: &Value) -> Vec<String> {
    let findings = document["run"]["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding.as_str().expect("a sentence").to_owned()).collect()
}

#[test]
fn lfs_answers_the_four_questions_next_to_published_figures() {
    let cli = Cli::in_memory();
    let ended = cli.well_and_clean(&["run", "lfs", "--size", "1MiB", "--rounds", "1", "--json"]);
    let document = document(&ended);
    let cells = document["cells"].as_array().expect("cells");
    let mut keys = BTreeSet::new();
    for cell in cells {
        let key = ["preset", "program", "phase", "target", "parameters"].map(|name| cell[name].to_string());
        assert!(keys.insert(key.join(" ")), "{key:?} is there twice");
    }
    let published: Vec<&Value> = cells.iter().filter(|cell| cell["provenance"] == "published").collect();
    assert_eq!((cells.len(), published.len()), (30, 20));
    for cell in published {
        assert_eq!((&cell["target"], &cell["measured"]), (&"lab 2002 (hda8)".into(), &true.into()), "{cell}");
        assert_eq!(cell["rounds"].as_array().map(Vec::len), Some(0), "{cell}");
    }
    for cell in cells.iter().filter(|cell| cell["provenance"] == "measured") {
        let raw = cell["program"].as_str().is_some_and(|program| program.starts_with("bw"));
        assert!(cell["measured"] == true || raw && cell["reason"].is_string(), "{cell}");
        // One round of the three that the preset promises.
        assert!(cell["measured"] == false || mark(cell, "few").is_some(), "{cell}");
    }
    let findings = findings(&document);
    assert_eq!(findings.len(), 4);
    for (finding, words) in findings.iter().zip([
        "(a) file system over raw: ",
        "(b) limiting phase: smallfb: ",
        "(c) effect of a log-structured file system: simulated sun4-wren4",
        "(d) on the device when the calls returned: ",
    ]) {
        assert!(finding.starts_with(words), "{finding}");
    }
}

#[test]
fn a_simulated_machine_has_no_raw_device() {
    let ended = Cli::new().well(&["run", "lfs", "sim:flat", "--size", "1MiB", "--rounds", "1"]);
    for words in [
        "bw -b, 1 MiB",
        "smallfb creat,",
        "10000 of 1 KiB",
        "largefb write random,",
        "before sync",
        "published: lab 2002 (hda8)",
        "9.87 (7.40 to 11.9) MB/sec",
        "n.m. sim:flat is simulated: it has no raw device to read",
        "(a) file system over raw: n.m.: sim:flat is simulated",
    ] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
}

#[test]
fn lfs_measures_the_device_under_its_target() {
    need_disk!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(64 << 20);
    run_tool("mkfs.ext4", &["-q", "-F", "-N", "16384", disk.text()]);
    let mounted = Mounted::mount(disk.node(), Path::new(&disk.folder("mnt")), "rw");
    let mountpoint = mounted.path().to_string_lossy();
    let arguments = ["run", "lfs", &mountpoint, "--size", "1MiB", "--rounds", "1", "--json"];
    let document = document(&Cli::in_folder(disk.folder.path()).well_and_clean(&arguments));
    let cells = document["cells"].as_array().expect("cells");
    for cell in cells.iter().filter(|cell| cell["provenance"] == "measured") {
        assert_eq!(cell["measured"], true, "{cell}");
        if cell["program"] == "bw -l" {
            let round = &cell["rounds"][0];
            assert_eq!((&round["ops"], &round["bytes"]), (&1024.into(), &(1024 * 512).into()), "{cell}");
        }
    }
    // --warm applies to files only: it does not read the device into the page cache.
    let arguments = ["run", "lfs", &mountpoint, "--size", "1MiB", "--rounds", "1", "--json", "--warm"];
    let warm = crate::common::document::document(&Cli::in_folder(disk.folder.path()).well_and_clean(&arguments));
    for cell in warm["cells"].as_array().expect("cells") {
        let raw = cell["program"].as_str().is_some_and(|program| program.starts_with("bw"));
        let read =
            cell["provenance"] == "measured" && cell["phase"].as_str().is_some_and(|phase| phase.starts_with("read"));
        assert!(!read || cell["state"]["cache"] == if raw { "unknown" } else { "warm" }, "{cell}");
    }
    let findings = findings(&document);
    assert!(findings[0].contains(" MB/sec raw (one read: "), "{findings:?}");
    assert!(findings[0].contains("write sequential "), "{findings:?}");
    assert!(findings[3].contains("% when durable)"), "{findings:?}");
}

/// The simulated rates of the lab's programs, divided by the published ones, in the order of the lab's lines.
fn lab_ratios(arguments: &[&str]) -> Vec<(String, f64)> {
    let words = [&["simulate", "lab-ide-ext2", "lfs", "--phases", "1", "--json"], arguments].concat();
    let document = Cli::new().document(&words);
    let cells = document["cells"].as_array().expect("cells");
    let rates = |provenance: &str| -> Vec<(String, f64)> {
        let cells = cells.iter().filter(|cell| cell["provenance"] == provenance);
        let rate = |cell: &Value| Some((cell["phase"].as_str()?.to_owned(), cell["rate"]["per_second"].as_f64()?));
        let of_files = cells.filter(|cell| cell["program"] == "smallfb" || cell["program"] == "largefb");
        of_files.filter_map(rate).collect()
    };
    let (simulated, published) = (rates("simulated"), rates("published"));
    assert_eq!((simulated.len(), published.len()), (8, 8));
    let ratio = |(phase, rate): (String, f64)| {
        let of = published.iter().find(|(other, _)| *other == phase).expect("a published line");
        (phase, rate / of.1)
    };
    simulated.into_iter().map(ratio).collect()
}

/// Wide ranges: the page about the lab states the figures.
#[test]
fn the_labs_disk_reproduces_the_labs_lines() {
    for (phase, ratio) in lab_ratios(&[]) {
        let small = ["creat", "read", "delete"].contains(&phase.as_str());
        let most = if small { 0.35 } else { 0.20 };
        assert!((ratio - 1.0).abs() < most, "{phase}: {ratio}");
    }
}

/// The page about the lab states the figures and their ranges.
#[test]
fn a_log_on_the_labs_disk_gains_on_small_files_and_random_writes() {
    let (ext2, log) = (lab_ratios(&[]), lab_ratios(&["--set", "file_system=lfs-cost-benefit"]));
    let gain = |phase: &str| {
        let of = |ratios: &[(String, f64)]| ratios.iter().find(|(other, _)| other == phase).expect("a line").1;
        of(&log) / of(&ext2)
    };
    let gains = ["creat", "delete", "write random", "read sequential again"].map(gain);
    let [creat, delete, random, again] = gains;
    assert!((9.0..53.0).contains(&creat) && (12.0..21.0).contains(&random), "{gains:?}");
    assert!((0.8..1.0).contains(&delete) && again < 0.2, "{gains:?}");
}

#[test]
fn metadata_that_are_not_delayed_slow_creation_and_deletion() {
    for (phase, ratio) in lab_ratios(&["--set", "file_system.metadata=sync"]) {
        if phase == "creat" || phase == "delete" {
            assert!(ratio < 0.3, "{phase}: {ratio}");
        }
    }
}
