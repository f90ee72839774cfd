//! `diskperf simulate` and `sim:` targets as a user meets them.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::ProgramOutput;

use crate::common::document::document;
use crate::common::{Cli, cells, program};

/// A simulation needs no folder, and writes in none.
fn diskperf(arguments: &[&str]) -> ProgramOutput {
    let cli = Cli::new();
    let ended = cli.run(arguments);
    assert_eq!(cli.names(), [""; 0]);
    ended
}

fn json(arguments: &[&str]) -> Value {
    let ended = diskperf(arguments);
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.err);
    document(&ended)
}

fn refuses(arguments: &[&str], words: &[&str]) {
    let ended = diskperf(arguments);
    assert_eq!(ended.status, Some(2), "{arguments:?}: {}{}", ended.err, ended.out);
    for word in ["error: "].iter().chain(words) {
        assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
    }
    assert_eq!(ended.out, "", "{arguments:?}");
}

#[test]
fn the_table_of_1983_has_two_halves_of_eight_cells() {
    testkit::compute_only!();
    let document = json(&["simulate", "vax780-sc780", "--size", "1MiB", "--phases", "3", "--json"]);
    assert_eq!((document["run"]["phases"].as_u64(), document["run"]["rounds"].as_u64()), (Some(3), Some(3)));
    assert_eq!(cells(&document).len(), 16);
    let mut keys = BTreeSet::new();
    for cell in cells(&document) {
        assert_eq!(cell["provenance"], "simulated");
        assert_eq!(cell["measured"], true, "{cell}");
        assert_eq!(cell["rounds"].as_array().map(Vec::len), Some(3));
        assert_eq!(cell["targets"], cell["parameters"]["drives"]);
        assert!(cell["rate"]["per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{cell}");
        let key = ["program", "phase", "target", "parameters"].map(|name| cell[name].to_string());
        assert!(keys.insert(key.join(" ")), "{key:?} is there twice");
    }
    let ended = diskperf(&["simulate", "vax780-sc780", "--size", "1MiB", "--phases", "1"]);
    for words in ["from an 8K/1K 4.2BSD File System", "from an 4K/1K 4.2BSD", "2 Drives", "rewrite_8192", "seed 1983"] {
        assert!(ended.out.contains(words), "{}", ended.out);
    }
    assert!(!ended.out.contains("Linux"), "what is simulated is the same everywhere: {}", ended.out);
}

#[test]
fn threads_do_not_change_results() {
    testkit::compute_only!();
    let sweep = ["simulate", "vax750-uda50", "--size", "256KiB", "--phases", "2", "--program", "read_8192"];
    let sweep: Vec<&str> = sweep
        .into_iter()
        .chain(["--sweep", "controller.buffer_sectors=16..64*2", "--sweep", "drive=ra81,eagle"])
        .collect();
    let with = |threads: &str, more: &[&str]| {
        let words: Vec<&str> =
            sweep.iter().copied().chain(["--threads", threads]).chain(more.iter().copied()).collect();
        let ended = diskperf(&words);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        ended.out
    };
    let one = with("1", &[]);
    // Two halves of a title, two lines of headings and six rows.
    assert_eq!(one.lines().filter(|line| line.contains("eagle")).count(), 6, "{one}");
    assert_eq!(with("2", &[]), one);
    assert_eq!(with("5", &[]), one);
    let figures = |threads| -> Vec<Value> {
        let document: Value = serde_json::from_str(&with(threads, &["--json"])).expect("JSON");
        cells(&document).clone()
    };
    assert_eq!(figures("1"), figures("3"));
    assert_ne!(with("1", &["--seed", "7"]), one);
}

#[test]
fn a_long_sweep_is_the_same_on_any_number_of_threads() {
    testkit::compute_only!();
    let words =
        ["simulate", "vax780-sc780", "--size", "32KiB", "--phases", "1", "--program", "read_8192", "--drives", "1"];
    let sweep = ["--set", "file_system=8k-1k", "--sweep", "kernel.call=1..1000us", "--threads"];
    let with = |threads: &str| {
        let ended = diskperf(&[&words[..], &sweep, &[threads]].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        ended.out
    };
    let one = with("1");
    assert_eq!(one.lines().filter(|line| line.contains("us ")).count(), 1000, "{one}");
    assert_eq!(with("7"), one);
}

#[test]
fn swept_values_are_in_every_cell_key() {
    testkit::compute_only!();
    let sweep = "file_system.rotational_delay=0..4+2ms";
    let words = ["simulate", "vax780-sc780", "--size", "256KiB", "--phases", "1", "--program", "rewrite_8192"];
    let document = json(&[&words[..], &["--sweep", sweep, "--set", "drive.rpm=3600", "--json"]].concat());
    let delays: BTreeSet<&str> = cells(&document)
        .iter()
        .map(|cell| cell["parameters"]["file_system.rotational_delay"].as_str().expect("a delay"))
        .collect();
    assert_eq!(delays.into_iter().collect::<Vec<_>>(), ["0ms", "2ms", "4ms"]);
    assert!(cells(&document).iter().all(|cell| cell["parameters"]["drive.rpm"] == 3600));
    assert_eq!(cells(&document).len(), 3 * 2 * 2);
}

#[test]
fn tests_that_a_machine_does_not_support_are_not_measured() {
    testkit::compute_only!();
    let document = json(&["simulate", "vax780-sc780", "smoke", "--phases", "1", "--json"]);
    let reason = |program: &str| {
        let cell = cells(&document).iter().find(|cell| cell["program"] == program).expect("a cell");
        cell["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert!(reason("smallfb").contains("directories and inodes"), "{}", reason("smallfb"));
    assert!(reason("randread").contains("has no direct I/O"), "{}", reason("randread"));
    assert!(reason("commit").contains("inodes are not written"), "{}", reason("commit"));
    assert!(reason("write").contains("no O_SYNC"), "{}", reason("write"));
    assert_eq!(reason("largefb"), "");
}

/// The preset of the lab lets names take time, and says so in its cells. `--set` replaces that.
#[test]
fn small_files_take_time_in_the_preset_of_the_lab() {
    testkit::compute_only!();
    let words = ["simulate", "vax780-sc780", "lfs", "--phases", "1", "--program", "smallfb", "--json"];
    let document = json(&words);
    let simulated = |cell: &&Value| cell["provenance"] == "simulated";
    for cell in cells(&document).iter().filter(simulated) {
        assert_eq!(cell["measured"], true, "{cell}");
        assert_eq!(cell["parameters"]["file_system.names"], "timed");
        assert_eq!(cell["parameters"]["kernel.update"], "30s");
        // Two writes that wait take a turn of the drive or more.
        let rate = cell["rate"]["per_second"].as_f64().expect("a rate");
        assert!(rate > 1.0 && rate < 60.0, "{rate}");
    }
    assert_eq!(cells(&document).iter().filter(simulated).count(), 3);
    let document = json(&[&words[..], &["--set", "file_system.names=free"]].concat());
    for cell in cells(&document).iter().filter(simulated) {
        assert_eq!(
            (&cell["measured"], &cell["parameters"]["file_system.names"]),
            (&Value::Bool(false), &"free".into())
        );
    }
}

#[test]
fn impossible_simulations_are_refused() {
    testkit::compute_only!();
    refuses(
        &["simulate", "vax780-sc780", "--drives", "3", "--set", "controller.most_drives=2"],
        &["controller.most_drives=2: ", "3 drives, but the controller takes 1 to 2", "hint: "],
    );
    refuses(
        &["simulate", "vax780-sc780", "--size", "300MiB"],
        &["machines/drive/eagle.toml:1: drive: a file of 314572800 bytes", "hint: "],
    );
    // Refused before a list of its 268 million blocks is made.
    refuses(
        &["simulate", "vax780-sc780", "lfs", "--size", "1TiB"],
        &["machines/drive/eagle.toml:1: drive: a file of 1099511627776 bytes", "hint: "],
    );
    refuses(
        &["simulate", "vax780-sc780", "--program", "read_4096"],
        &["classic1983 has no test read_4096", "read_8192"],
    );
    refuses(&["simulate", "vax780-sc780", "--sweep", "drive.heads=5..0"], &["FIRST..LAST"]);
    refuses(&["simulate", "vax780-sc780", "--sweep", "drive.heads=0..2"], &["drive.heads=0: drive.heads: 0 is not"]);
    let cube = ["--sweep", "drive.heads=1..100", "--sweep", "drive.cylinders=100..200"];
    refuses(&[&["simulate", "vax780-sc780"][..], &cube].concat(), &["more than 10000 rows"]);
    let lost = ["--set", "controller.response=2", "--sweep", "controller=sc750"];
    refuses(
        &[&["simulate", "vax750-uda50"][..], &lost].concat(),
        &["--set controller.response: no part of the sweep has this field", "hint: "],
    );
    refuses(&["simulate", "vax780-sc780", "--phases", "0"], &["0"]);
    let json = diskperf(&["simulate", "vax", "--json"]);
    assert_eq!(json.status, Some(2));
    let document: Value = serde_json::from_str(&json.out).expect("a document, also of a refusal");
    assert!(document["errors"][0]["message"].as_str().is_some_and(|message| message.contains("vax")), "{document}");
}

/// A sector takes half a minute, so that a file would take weeks.
const ENDLESS: [&str; 10] = [
    "simulate",
    "vax780-sc780",
    "--set",
    "bus.to_memory=1kB/s",
    "--set",
    "bus.other_traffic=99percent",
    "--program",
    "read_8192",
    "--drives",
    "1",
];

#[test]
fn endless_simulations_are_stopped_with_a_reason() {
    testkit::compute_only!();
    let ended = diskperf(&[&ENDLESS[..], &["--phases", "3", "--threads", "2", "--json"]].concat());
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    assert_eq!(cells(&document).len(), 2);
    for cell in cells(&document) {
        assert_eq!(cell["measured"], false);
        assert!(cell["reason"].as_str().is_some_and(|reason| reason.contains("would not end")), "{cell}");
    }
    let message = |error: &Value| error["message"].as_str().is_some_and(|message| message.contains("would not end"));
    assert!(document["errors"].as_array().is_some_and(|errors| errors.len() == 2 && errors.iter().all(message)));
    assert!(document["errors"][0]["hint"].as_str().is_some_and(|hint| hint.contains("--parts")), "{document}");
}

/// Without the signal, the simulation would take minutes, and the test does not wait for them.
#[test]
fn an_interrupt_ends_a_running_simulation() {
    let mut child = testkit::command(&program())
        .args(ENDLESS)
        .args(["--sweep", "cpu.code=1..10", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program can be started");
    testkit::wait_until("it can be interrupted", || testkit::has_signal_handlers(child.id()));
    let pid = rustix::process::Pid::from_child(&child);
    assert!(child.try_wait().expect("a child").is_none(), "it has ended by itself");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document, also of what was interrupted");
    assert_eq!(document["run"]["interrupted"], true);
}

#[test]
fn a_timeline_is_drawn_as_a_trace_or_a_picture() {
    testkit::compute_only!();
    let cli = Cli::new();
    let draw = |file: &str, drives: &str| {
        let words = ["simulate", "vax780-sc780-inadequate-lead", "--size", "1MiB", "--phases", "1"];
        let one = ["--program", "read_8192", "--drives", drives, "--timeline", file];
        cli.run(&[&words[..], &one].concat())
    };
    let ended = draw("lost.svg", "2");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let title = "timeline of read_8192 on vax780-sc780-inadequate-lead, 8K/1K, 2 drives";
    assert!(ended.err.contains(title), "{}", ended.err);
    let picture = std::fs::read_to_string(cli.path().join("lost.svg")).expect("a picture");
    // The last three words are in the legend.
    for words in [
        "CPU",
        "bus",
        "drive 2: platter",
        ">lost turn<",
        "<title>transfer, ",
        ">transfer</text>",
        ">other work<",
        ">rotation<",
    ] {
        assert!(picture.contains(words), "{words} is not in the picture");
    }
    assert_eq!(draw("lost.json", "1").status, Some(0));
    let trace = std::fs::read_to_string(cli.path().join("lost.json")).expect("a trace");
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    let transfers = trace["traceEvents"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|event| event["name"] == "transfer" && event["tid"] != 1);
    // A megabyte in blocks of 8192 bytes and one indirect block; a block may be moved in pieces.
    assert!(transfers.count() >= 129);
    let refused = draw("lost.png", "1");
    assert_eq!((refused.status, refused.err.contains(".svg (picture)")), (Some(2), true), "{}", refused.err);
    assert_eq!(cli.names(), ["lost.json", "lost.svg"]);
}

#[test]
fn a_simulated_machine_is_a_target_like_any_other() {
    testkit::compute_only!();
    let targets = ["run", "classic1983", "a=sim:vax780-uda50", "b=sim:vax780-uda50"];
    let two = json(&[&targets[..], &["--rounds", "2", "--size", "256KiB", "--json"]].concat());
    assert_eq!(cells(&two).len(), 12);
    assert_eq!(cells(&two).iter().filter(|cell| cell["together"] == true).count(), 4);
    // The default is eight megabytes: the memory limit, by which files grow, is only for files on this machine.
    let letter = json(&["run", "classic1983", "sim:vax780-sc780", "--rounds", "1", "--json"]);
    assert_eq!(cells(&letter)[0]["parameters"]["file_bytes"], 8 << 20);
    let set = "sim:vax780-sc780,drive=ra81,file_system=4K/1K";
    let set = json(&["run", "smoke", set, "--rounds", "1", "--json"]);
    let parameters = &cells(&set)[0]["parameters"];
    assert_eq!((&parameters["drive"], &parameters["file_system"]), (&"ra81".into(), &"4K/1K".into()));
    assert_eq!(set["run"]["targets"][0]["device"], "DEC RA81");
    refuses(&["run", "smoke", "sim:vax780-sc780,drive=ra18"], &["no part \"ra18\"", "did you mean ra81?"]);
    refuses(&["run", "smoke", "sim:flat,drive=ra81"], &["has no settings"]);
    refuses(&["run", "quick", "sim:vax780-sc780", "--size", "300MiB"], &["a file of 314572800 bytes"]);
    let apart = ["run", "smoke", "a=sim:vax780-sc780", "b=sim:vax780-sc780,drive=ra81", "--together"];
    refuses(&apart, &["cannot run at the same time"]);
}
