//! `diskperf choose`: rounds until the comparison is decided, the report of it, and refusals.

use serde_json::Value;
use testkit::ProgramOutput;
use testkit::loop_disk::Disk;

use crate::common::document::document;
use crate::common::{Cli, list};

/// The choice in the document of a run that ended with this status, and the document.
fn choice(ended: &ProgramOutput, status: i32) -> (Value, Value) {
    assert_eq!(ended.status, Some(status), "{}{}", ended.out, ended.err);
    let document = document(ended);
    (document["run"]["choice"].clone(), document)
}

/// Two simulated drives. One turns at half the speed, so everything that waits for its rotation takes longer.
const TWO_DRIVES: [&str; 6] =
    ["choose", "slow=sim:vax780-sc780,drive.rpm=1800", "fast=sim:vax780-sc780", "--preset", "smoke", "--only"];

#[test]
fn a_drive_of_twice_the_speed_is_chosen_and_shown_again() {
    let cli = Cli::new();
    let stored = ["--store", "runs.sqlite"];
    let words = [&TWO_DRIVES[..], &["read_8192", "--use", "read=1", "--json"], &stored].concat();
    let (choice, document) = choice(&cli.run(&words), 0);
    let [pair] = &list(&choice, "comparisons")[..] else { panic!("{choice:#}") };
    assert_eq!((&pair["verdict"], &pair["faster"]), (&Value::from("faster"), &Value::from("fast")), "{pair:#}");
    assert_eq!((&pair["matters"], &choice["decided"]), (&Value::from(true), &Value::from(true)));
    let ratio = pair["ratio"].as_f64().expect("a ratio");
    assert!((1.3..=2.0).contains(&ratio), "{ratio}");
    let rounds = pair["pairs"].as_u64().expect("pairs");
    assert!(rounds >= 6 && document["run"]["rounds"] == rounds, "{pair:#}");
    assert_eq!(choice["purpose"]["weights"]["read"], 1.0);
    // Each target ran once in every round, and not always first.
    let mut places = Vec::new();
    for cell in list(&document, "cells") {
        let of_cell = list(cell, "rounds").iter().map(|round| round["position"].as_u64().expect("a place"));
        places.push(of_cell.collect::<Vec<u64>>());
    }
    assert_eq!(places.len(), 2);
    assert!(places[0].iter().zip(&places[1]).all(|(one, other)| one + other == 3), "{places:?}");
    assert!(places[0].contains(&1) && places[0].contains(&2), "{places:?}");

    let shown = cli.run(&[&["show", "last"], &stored[..]].concat());
    assert!(shown.out.starts_with("For your own use: fast is "), "{}", shown.out);
    for words in ["\nread_8192: fast is ", " read_8192 ", " CPU ", "slow: device", "fast: CPU", "Not tested: aging"] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    let page = cli.run(&[&["export", "last", "--format", "markdown"], &stored[..]].concat());
    assert!(page.out.contains("**For your own use: fast is "), "{}", page.out);
}

#[test]
fn three_targets_are_compared_in_pairs() {
    let words = ["choose", "a=sim:flat", "b=sim:flat", "c=sim:flat", "--preset", "smoke", "--only", "commit", "--json"];
    let (choice, _) = choice(&Cli::new().run(&words), 0);
    let pairs: Vec<[&str; 3]> = list(&choice, "comparisons")
        .iter()
        .map(|pair| ["first", "second", "verdict"].map(|name| pair[name].as_str().expect("a word")))
        .collect();
    assert_eq!(pairs, [["a", "b", "same"], ["a", "c", "same"], ["b", "c", "same"]]);
    // The three intervals hold at the same time in 95 of 100 runs, so each of them holds in more.
    assert!(list(&choice, "comparisons")[0]["confidence"].as_f64() > Some(0.98), "{choice:#}");
}

#[test]
fn requirements_are_met_by_both_targets_one_or_none() {
    let needed = |need: &str, status| {
        let words =
            [&TWO_DRIVES[..], &["read_8192", "--need", need, "--price", "fast=2/GiB", "--price", "slow=1024/TiB"]];
        let ended = Cli::new().run(&words.concat());
        assert_eq!(ended.status, Some(status), "{need}: {}{}", ended.out, ended.err);
        assert!(ended.out.contains("fast costs 2.00x as much as slow (2/GiB against 1024/TiB)."), "{}", ended.out);
        ended.out
    };
    assert!(needed("read>=1KiB/s", 0).contains("Both meet all needs."));
    let one = needed("read>=400KiB/s", 0);
    assert!(one.contains("slow no (") && one.contains("fast yes (") && one.contains("Meets all needs: fast."), "{one}");
    assert!(needed("read>=400KiB/s,read.max<=1us", 5).contains("No target clearly meets all needs."));
    // Each call reads 8 KiB.
    let calls = needed("read>=50/s", 0);
    assert!(calls.contains("calls/s)") && calls.contains("Meets all needs: fast."), "{calls}");
}

#[test]
fn invalid_choices_are_refused() {
    let cli = Cli::new();
    let refused = |arguments: &[&str], words: &[&str]| {
        let ended = cli.run(&[&["choose"], arguments].concat());
        assert_eq!(ended.status, Some(2), "{arguments:?}: {}{}", ended.out, ended.err);
        words.iter().for_each(|word| assert!(ended.err.contains(word), "{arguments:?}: {}", ended.err));
    };
    refused(&["."], &["at least two targets", "hint: "]);
    refused(&[".", "."], &["two targets have the name .", "hint: "]);
    let two = ["a=sim:flat", "b=sim:flat", "--preset", "smoke"];
    refused(&[&two[..], &["--need", "xyzzy>=5/s"]].concat(), &["xyzzy", "its tests are"]);
    refused(&[&two[..], &["--use", "xyzzy=1"]].concat(), &["xyzzy", "its tests are"]);
    refused(&[&two[..], &["--use", "xyzzy"]].concat(), &["the uses are database"]);
    refused(&[&two[..], &["--price", "c=1"]].concat(), &["no target has that name", "a, b"]);
    refused(&[&two[..], &["--price", "a=1", "--price", "a=2"]].concat(), &["--price a is given twice"]);
    refused(&[&two[..], &["--only", "read_8192", "--use", "commit=1"]].concat(), &["this run has no test commit"]);
    refused(&[&two[..], &["--need", "read>=5files/s"]].concat(), &["read does not count files"]);
    let own = ["a=sim:flat", "b=sim:flat", "io", "randrw", "--need", "read>=5MiB/s"];
    refused(&own, &["read is a kind of operation here", "fsync.p99<=5ms"]);
    refused(&[&two[..], &["--margin", "0"]].concat(), &["0.1% to 50%"]);
    refused(&[&two[..], &["--rounds", "5"]].concat(), &["5 is not in 6.."]);
    // Six rounds with files of the smallest size take more than a hundredth of a second.
    let small = ["--preset", "smoke", "--only", "write_8192", "--budget", "1ms"];
    refused(&[&["a=.", "b=."], &small[..]].concat(), &["0.001 s is too short for 6 rounds", "--budget "]);
    assert_eq!(cli.names(), Vec::<String>::new());
}

#[test]
fn quick_sizes_fit_six_rounds_or_their_time_is_reported() {
    let cli = Cli::new();
    let quick = ["choose", "a=.", "b=.", "--only", "commit", "--only", "write_8192", "--json", "--budget"];
    let ended = cli.run(&[&quick[..], &["4s"]].concat());
    // If two files of 64 KiB take that long on a machine, the error says so. On a slow disk, the trials alone may.
    let is_late = |err: &str| err.contains("no test was tried");
    if ended.status == Some(2) {
        assert!(ended.err.contains("is too short for 6 rounds") || is_late(&ended.err), "{}", ended.err);
        return;
    }
    let (choice, document) = choice(&ended, 0);
    assert!(document["run"]["rounds"].as_u64() > Some(0));
    for pair in list(&choice, "comparisons") {
        let (pairs, verdict) = (pair["pairs"].as_u64().expect("pairs"), pair["verdict"].as_str().expect("a verdict"));
        assert!(pairs >= 6 || verdict == "undecided", "{pair:#}");
        assert_eq!(verdict == "faster", !pair["faster"].is_null(), "{pair:#}");
    }
    let short = cli.run(&[&quick[..], &["1ms"]].concat());
    assert_eq!(short.status, Some(2), "{}", short.err);
    let says_why = short.err.contains("which take about ") || is_late(&short.err);
    assert!(says_why && short.err.contains("--budget"), "{}", short.err);
    assert_eq!(cli.names(), Vec::<String>::new());
}

/// One device that each target uses in turn, with barriers and without: it gets a fresh file system each time, and is
/// empty in the end.
#[test]
fn targets_on_one_device_each_get_a_new_file_system() {
    testkit::need_disk!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(16 << 20);
    let cli = Cli::new();
    let targets =
        ["safe=new:ext4@", "risky=new:ext4,mount=nobarrier@"].map(|target| format!("{target}{}", disk.text()));
    let [safe, risky] = &targets;
    let refused = cli.run(&["run", "smoke", safe, risky, "--only", "commit"]);
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("are the same device"), "{}", refused.err);

    let words = ["choose", safe, risky, "--preset", "smoke", "--only", "commit", "--rounds", "6", "--json"];
    let ended = cli.run(&words);
    let (choice, document) = choice(&ended, 0);
    for target in list(&document["run"], "targets") {
        assert_eq!(target["before_each"], "re-created (mkfs) before each test");
    }
    let is_without = |target: &Value| list(target, "mount_options").iter().any(|option| option == "nobarrier");
    assert_eq!(list(&document["run"], "targets").iter().map(is_without).collect::<Vec<bool>>(), [false, true]);
    let [pair] = &list(&choice, "comparisons")[..] else { panic!("{choice:#}") };
    assert_eq!(document["run"]["rounds"], 6);
    // After a step, only the rounds that follow it are compared.
    assert!((1..=6).contains(&pair["pairs"].as_u64().expect("pairs")), "{pair:#}");
    let marks: Vec<&str> = list(pair, "marks").iter().filter_map(Value::as_str).collect();
    assert!(marks.contains(&"noflush"), "{pair:#}");
    assert_ne!(pair["faster"], "safe", "{pair:#}");
    let remark = list(&choice, "remarks")[0].as_str().expect("words");
    assert!(remark.starts_with("safe and risky share one device (") && ended.err.contains(remark), "{remark}");
    // The offset of the ext4 magic number.
    let device = std::fs::read(disk.node()).expect("the device can be read");
    assert_eq!(device[1024 + 56..][..2], [0, 0]);
}

/// The time of simulated machines is not planned, so their sizes are the usual ones.
#[test]
fn simulated_machines_are_not_fitted_to_a_budget() {
    let cli = Cli::new();
    let words = ["choose", "a=sim:vax780-sc780", "b=sim:vax750-uda50", "--only", "read_8192", "--only", "write_8192"];
    let ended = cli.run(&[&words[..], &["--json"]].concat());
    let (choice, document) = choice(&ended, 0);
    assert!(!ended.err.contains("about ") && !ended.err.contains(" min"), "{}", ended.err);
    assert_eq!(choice["decided"], true);
    let sizes = |document: &Value| -> Vec<u64> {
        let cells = list(document, "cells").iter().filter(|cell| cell["measured"] == true);
        cells.map(|cell| cell["parameters"]["file_bytes"].as_u64().expect("a size")).collect()
    };
    // The sizes of `diskperf simulate`.
    assert_eq!(sizes(&document), [8 << 20; 4]);
    let asked = cli.run(&[&words[..], &["--json", "--size", "64KiB"]].concat());
    assert_eq!(sizes(&crate::common::document::document(&asked)), [64 << 10; 4]);
}

/// Directories take no time on the VAX, so small files are not measured.
#[test]
fn simulated_machines_without_a_common_test_are_not_compared() {
    let cli = Cli::new();
    let ended = cli.typed("choose sim:flat sim:vax780-sc780 --preset lfs --only smallfb --size 1MiB --json");
    let document = crate::common::document::document(&ended);
    let rounds = list(&document, "cells").iter().map(|cell| list(cell, "rounds").len()).max();
    assert!(rounds.is_some_and(|rounds| rounds <= 6), "{rounds:?}");
}

#[test]
fn a_workload_of_your_own_is_compared() {
    let targets = ["choose", "slow=sim:vax780-sc780,drive.rpm=1800", "fast=sim:vax780-sc780"];
    let own =
        ["io", "randwrite", "--fsync", "4", "--json", "--size", "256KiB", "--time", "30s", "--need", "fsync.max<=1h"];
    let (choice, document) = choice(&Cli::new().run(&[&targets[..], &own[..]].concat()), 0);
    let [pair] = &list(&choice, "comparisons")[..] else { panic!("{choice:#}") };
    assert_eq!((&pair["verdict"], &pair["faster"]), (&Value::from("faster"), &Value::from("fast")), "{pair:#}");
    let cell = &list(&document, "cells")[0];
    assert_eq!((&cell["program"], &cell["parameters"]["fsync"]), (&"randwrite".into(), &4.into()), "{cell:#}");
    let needs: Vec<&Value> = list(&choice, "needs").iter().map(|need| &need["met"]).collect();
    assert_eq!(needs, [&Value::from(true), &Value::from(true)], "{choice:#}");
}

#[test]
fn the_workloads_of_a_job_file_are_compared_and_weighed() {
    let cli = Cli::new();
    let job = "[[load]]\nname = 'data'\npattern = 'randread'\nsize = '256KiB'\ntime = '10s'\n\
               [[load]]\nname = 'log'\npattern = 'commit'\nsize = '64KiB'\ntime = '10s'\n";
    std::fs::write(cli.path().join("db.toml"), job).expect("a file");
    let words = ["choose", "a=sim:flat", "b=sim:flat", "--load", "db.toml", "--use", "data=60,log=40", "--json"];
    let (choice, document) = choice(&cli.run(&words), 0);
    let programs: Vec<&Value> = list(&document, "cells").iter().map(|cell| &cell["program"]).collect();
    assert!(programs.contains(&&"data".into()) && programs.contains(&&"log".into()), "{programs:?}");
    assert_eq!(choice["purpose"]["weights"]["log"], 0.4, "{choice:#}");
    // A comparison ends when it is decided.
    std::fs::write(cli.path().join("rounds.toml"), format!("rounds = 4\n{job}")).expect("a file");
    let remark = "rounds.toml: rounds = 4 is not used";
    for (options, is_named) in [("", true), (" --rounds 6", false)] {
        let planned = cli.typed(&format!("choose a=sim:flat b=sim:flat --load rounds.toml --dry-run{options}"));
        assert_eq!(planned.status, Some(0), "{}", planned.err);
        assert_eq!(planned.err.contains(remark), is_named, "{options}: {}", planned.err);
    }
    for (words, said) in [
        ("choose . /tmp io", "PATTERN"),
        ("choose . /tmp io sideways", "sideways"),
        ("choose . /tmp --load db.toml --preset smoke", "--preset"),
        ("choose . /tmp --load missing.toml", "missing.toml"),
    ] {
        let ended = cli.typed(words);
        assert!(ended.status != Some(0) && ended.err.contains(said), "{words}: {}", ended.err);
    }
}
