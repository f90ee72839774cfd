//! The preset `device`: reads a block device in rounds until its rate is steady, and overwrites it only if the user
//! says so. Its marks on loop devices of known speed, and refusals.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;
use stats::judge::regimes::{Measure, regimes_of};
use testkit::control_group::{Group, run_in};
use testkit::loop_disk::{Disk, Mounted};
use testkit::{ProgramOutput, need_disk, run_tool, skip, wait_until};

use crate::common::{Cli, cells, mark, program};

const MIB: u64 = 1 << 20;

fn run(disk: &Disk, arguments: &[&str]) -> ProgramOutput {
    Cli::in_folder(disk.folder.path()).run(arguments)
}

fn document(ended: &ProgramOutput) -> Value {
    assert_eq!(ended.status, Some(0), "{} {}", ended.out, ended.err);
    serde_json::from_str(&ended.out).expect("one document")
}

/// All bytes of a disk.
fn bytes(disk: &Disk) -> Vec<u8> {
    rustix::fs::sync();
    fs::read(&disk.file).expect("its bytes")
}

/// A disk with data of no known format.
fn full(mib: u64) -> Disk {
    let data: Vec<u8> =
        (0..mib * MIB / 8).flat_map(|word| (word.wrapping_mul(0x9E37_79B9) | 1).to_le_bytes()).collect();
    Disk::holding(mib * MIB, &[(0, &data)])
}

/// A field of the device's counters, from 1 (Documentation/block/stat.rst).
fn counter(disk: &Disk, field: usize) -> u64 {
    let stat = disk.device.attribute("stat");
    stat.split_whitespace().nth(field - 1).and_then(|text| text.parse().ok()).expect("a counter")
}

/// A control group whose members can read this many MiB per second from the disk.
fn reads_limited(disk: &Disk, mib: u64) -> Result<Group, String> {
    Group::limited("blkio", LIMIT, &format!("{} {}", disk.device.number(), mib * MIB))
}

const LIMIT: &str = "blkio.throttle.read_bps_device";

/// Asserts that the cell's state and its marks agree, and that it has the mark of a step if its own figures show one.
/// `stats::judge::regimes` makes the decision.
fn is_consistent(cell: &Value) {
    match cell["state"]["steadiness"].as_str() {
        Some("steady") => assert_eq!(mark(cell, "unsteady"), None, "{cell:#}"),
        Some("transient") => assert!(mark(cell, "unsteady").is_some(), "{cell:#}"),
        other => panic!("{other:?}: {cell:#}"),
    }
    let read: stats::Cell = serde_json::from_value(cell.clone()).expect("a cell");
    let measure = Measure { base: read.rate.as_ref().expect("a rate").base, clock: read.state.clock, together: false };
    let regimes = regimes_of(&read.rounds, measure, |_| true);
    assert_eq!(read.regimes, regimes, "{cell:#}");
    assert_eq!(mark(cell, "step").is_some(), !regimes.is_empty(), "{cell:#}");
}

#[test]
fn reading_a_device_changes_no_byte() {
    need_disk!();
    let disk = full(16);
    let (before, written) = (bytes(&disk), counter(&disk, 7));
    let plan = run(&disk, &["run", "device", disk.text(), "--dry-run"]).out;
    assert!(plan.lines().count() == 3 && plan.contains("read on ") && !plan.contains("write"), "{plan}");
    let only = ["--only", "randread", "--time", "100ms", "--rounds", "6", "--floor", "0", "--json"];
    let words = [&["run", "device", disk.text()], &only[..]].concat();
    // In a separate group, so that a limit on the tests does not limit the run; without control groups there is no
    // limit.
    let document = document(&match Group::new("blkio") {
        Ok(group) => run_in(&[&group], &program(), disk.folder.path(), &words),
        Err(_) => run(&disk, &words),
    });
    assert!(bytes(&disk) == before, "it was written to");
    assert_eq!(counter(&disk, 7), written, "sectors written");
    let loads: Vec<(&str, u64)> = cells(&document)
        .iter()
        .map(|cell| {
            (cell["program"].as_str().expect("a name"), cell["parameters"]["iodepth"].as_u64().expect("a depth"))
        })
        .collect();
    assert_eq!(loads, [("randread", 1), ("randread", 32)]);
    assert_eq!(document["run"]["targets"][0]["device"], disk.name());
    assert_eq!(document["run"]["targets"][0]["conditioned"], Value::Null);
    for cell in cells(&document).iter().filter(|cell| cell["measured"] == true) {
        let rounds = cell["rounds"].as_array().expect("rounds");
        assert!((5..=6).contains(&rounds.len()), "{cell:#}");
        // The figure is the mean of the last five rounds; earlier rounds are in the document and do not count.
        let kept: Vec<&Value> = rounds.iter().filter(|round| round["discarded"] == false).collect();
        assert_eq!(kept.len(), 5);
        assert_eq!(kept[4]["round"], rounds.len());
        let amount = if cell["rate"]["base"] == "bytes" { "bytes" } else { "ops" };
        let rate = |round: &&Value| round[amount].as_f64().zip(round["returned_s"].as_f64()).map(|(n, s)| n / s);
        let mean = kept.iter().filter_map(rate).sum::<f64>() / 5.0;
        let stated = cell["rate"]["per_second"].as_f64().expect("a rate");
        assert!((mean / stated - 1.0).abs() < 1e-9, "{mean} {stated}");
        // Whatever the load on this machine, the state and the mark agree.
        match cell["state"]["steadiness"].as_str() {
            Some("steady") => assert_eq!(mark(cell, "unsteady"), None, "{cell:#}"),
            Some("transient") => assert!(mark(cell, "unsteady").is_some(), "{cell:#}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(mark(cell, "throttle"), None);
        assert_eq!(mark(cell, "few"), None);
        assert_eq!(cell["parameters"]["device_bytes"], 16 * MIB);
    }
    let said = document["run"]["findings"].to_string();
    assert!(said.contains("fresh ") && said.contains("steady"), "{said}");
}

#[test]
fn too_few_rounds_give_the_reason_for_unknown_steadiness() {
    need_disk!();
    let disk = full(4);
    let arguments = ["run", "device", disk.text(), "--time", "100ms", "--rounds", "2", "--only", "read", "--json"];
    let document = document(&run(&disk, &arguments));
    let cell = &cells(&document)[0];
    assert_eq!(cell["state"]["steadiness"], "n.m.");
    assert!(cell["state"]["steadiness_reason"].as_str().is_some_and(|why| why.starts_with("2 of the 5")), "{cell:#}");
    assert_eq!(mark(cell, "few"), Some("2 of 5 rounds"));
    assert_eq!(mark(cell, "unsteady"), None, "nothing is claimed");
}

/// The machine may or may not reach the limit: if it does, the mark names the limit.
#[test]
fn a_cgroup_limit_is_named_by_the_throttle_warning() {
    need_disk!();
    let disk = full(32);
    let group = match reads_limited(&disk, 20) {
        Ok(group) => group,
        Err(reason) => return skip!("{reason}"),
    };
    let arguments = ["run", "device", disk.text(), "--only", "read", "--time", "1s", "--rounds", "9", "--json"];
    let document = document(&run_in(&[&group], &program(), disk.folder.path(), &arguments));
    let cell = &cells(&document)[0];
    is_consistent(cell);
    // The kernel enforces the limit. A tenth below it counts as reached: between these, either is allowed.
    let rate = cell["rate"]["per_second"].as_f64().expect("a rate");
    assert!(rate <= (30 * MIB) as f64, "{rate}: {cell:#}");
    assert!(rate < (19 * MIB) as f64 || mark(cell, "throttle").is_some(), "{rate}: {cell:#}");
    if let Some(text) = mark(cell, "throttle") {
        assert!(text.contains("20971520 bytes read per second") && text.contains(disk.name()), "{text}");
    }
    let rounds = cell["rounds"].as_array().expect("rounds").len();
    assert!(cell["state"]["steadiness"] == "steady" || rounds == 9, "it ends when it is steady: {cell:#}");
}

#[test]
fn a_step_in_the_rounds_gets_a_warning() {
    need_disk!();
    let disk = full(64);
    let group = match reads_limited(&disk, 40) {
        Ok(group) => group,
        Err(reason) => return skip!("{reason}"),
    };
    let arguments = ["run", "device", disk.text(), "--only", "read", "--time", "1s", "--rounds", "5", "--json"];
    let (program, folder, group) = (program(), disk.folder.path(), &group);
    // A loop device keeps its counters when it gets another file.
    let before = counter(&disk, 3);
    let ended = std::thread::scope(|scope| {
        let ran = scope.spawn(|| run_in(&[group], &program, folder, &arguments));
        // In the third round, of some 40 MiB each; on a busy machine in a later one, or after the last.
        wait_until("two rounds are over", || ran.is_finished() || (counter(&disk, 3) - before) * 512 > 90 * MIB);
        group.set(LIMIT, &format!("{} {}", disk.device.number(), 8 * MIB)).expect("another limit");
        ran.join().expect("it ran")
    });
    let document = document(&ended);
    let cell = &cells(&document)[0];
    is_consistent(cell);
    // The printed table.
    let file = disk.folder.path().join("run.json");
    fs::write(&file, ended.out).expect("a file");
    let shown = run(&disk, &["show", "run.json"]).out;
    assert!(shown.contains("fresh") && shown.contains("temperature: n.m."), "{shown}");
    for code in ["step", "unsteady"] {
        let said = mark(cell, code).map(|text| shown.contains(&format!("* {code}: ")) && text.contains(' '));
        assert_ne!(said, Some(false), "{code}: {shown}");
    }
}

#[test]
fn a_device_is_overwritten_as_announced() {
    need_disk!();
    let disk = full(16);
    let before = bytes(&disk);
    let said = ["--write", "--destroy-data", "--confirm", "16MiB", "--precondition", "1.5x", "--only", "write"];
    let arguments = [
        &["run", "device", disk.text(), "--only", "randwrite", "--time", "100ms", "--rounds", "2", "--json"][..],
        &said,
    ]
    .concat();
    let ended = run(&disk, &arguments);
    let document = document(&ended);
    let beforehand = ended.err.split("purge:").next().expect("what was said first");
    for words in ["overwrites all of ", "24 MiB are written", "2 rounds of"] {
        assert!(beforehand.contains(words), "{words}: {}", ended.err);
    }
    let conditioned = &document["run"]["targets"][0]["conditioned"];
    assert_eq!(conditioned["written_bytes"], 24 * MIB);
    assert!(conditioned["written_s"].as_f64().is_some_and(|seconds| seconds > 0.0));
    // If the file system below cannot punch holes, there is a reason.
    assert_ne!(conditioned["purge"].is_null(), conditioned["purge_reason"].is_null(), "{conditioned}");
    let names: Vec<&str> = cells(&document).iter().filter_map(|cell| cell["program"].as_str()).collect();
    assert_eq!(names, ["write", "randwrite"]);
    let write = &cells(&document)[0];
    assert_eq!((&write["measured"], &write["state"]["clock"]), (&Value::from(true), &Value::from("durable")));
    assert!(document["run"]["findings"].to_string().contains("the rounds wrote "), "{document:#}");
    // Each block has our stamp at its offset, and nothing of the old data is left.
    let after = bytes(&disk);
    for (index, (old, new)) in before.chunks_exact(4096).zip(after.chunks_exact(4096)).enumerate() {
        assert!(old != new, "block {index} is as before");
        assert_eq!(new[8..16], (index as u64 * 4096).to_le_bytes(), "block {index} says where it belongs");
    }
}

/// Asserts that the command is refused with this status and these words, with a hint if diskperf itself refuses, and
/// that it leaves every byte.
fn refuses(disk: &Disk, status: i32, arguments: &[&str], words: &[&str]) {
    let before = bytes(disk);
    let ended = run(disk, arguments);
    assert_eq!(ended.status, Some(status), "{arguments:?}: {} {}", ended.out, ended.err);
    for word in words {
        assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
    }
    assert!(bytes(disk) == before, "{arguments:?}: something was written");
}

#[test]
fn nothing_is_overwritten_without_consent() {
    need_disk!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(8 * MIB);
    let write = ["run", "device", disk.text(), "--write"];
    let with = |said: &[&'static str]| [&write[..], said].concat();
    // The device is blank, but --destroy-data is still required.
    let words = ["this would overwrite all of ", "hint: ", "--destroy-data --confirm '8 MiB'"];
    refuses(&disk, 3, &write, &words);
    refuses(&disk, 3, &with(&["--dry-run"]), &words);
    refuses(&disk, 3, &with(&["--destroy-data"]), &["you have not named the device by its size", "hint: "]);
    refuses(&disk, 3, &with(&["--destroy-data", "--confirm", "9 MiB"]), &["is not its size"]);
    let plan = run(&disk, &with(&["--destroy-data", "--dry-run"]));
    assert!(plan.status == Some(0) && plan.err.contains("overwrites all of ") && plan.out.contains("randwrite"));
    assert!(bytes(&disk).iter().all(|byte| *byte == 0), "the plan writes nothing");
    run_tool("mkfs.ext4", &["-q", "-F", "-L", "photos", disk.text()]);
    refuses(&disk, 3, &write, &["it holds ext4 \"photos\"", "hint: "]);
    let mounted = Mounted::mount(disk.node(), Path::new(&disk.folder("mount")), "ro");
    let said = ["--destroy-data", "--confirm", "8 MiB"];
    refuses(&disk, 3, &with(&said), &["it is mounted at ", "hint: unmount it"]);
    // Reading is harmless.
    let read = run(&disk, &["run", "device", disk.text(), "--time", "100ms", "--rounds", "1", "--only", "read"]);
    assert_eq!(read.status, Some(0), "{}", read.err);
    drop(mounted);
}

#[test]
fn invalid_options_are_refused_with_the_reason() {
    need_disk!();
    let (disk, small) = (Disk::new(8 * MIB), Disk::new(2 * MIB));
    fs::write(disk.folder.path().join("file"), "a file").expect("a file");
    let device = |arguments: &[&'static str]| [&["run", "device", disk.text()][..], arguments].concat();
    refuses(&disk, 3, &["run", "device", small.text()], &["has 2 MiB; the tests need 4 MiB"]);
    for target in ["file", ".", "file:file", "sim:flat"] {
        refuses(&disk, 2, &["run", "device", target], &[target, "is not a block device", "lsblk"]);
    }
    refuses(&disk, 2, &["run", "device", "/dev/diskperf-none"], &["there is no device", "nothing was created"]);
    for times in ["1000", "-1", "NaN", "twice"] {
        refuses(&disk, 2, &device(&["--write", "--precondition", times]), &["--precondition"]);
    }
    for time in ["0s", "1ms", "48h"] {
        refuses(&disk, 2, &device(&["--time", time]), &["--time"]);
    }
    refuses(&disk, 2, &device(&["--precondition", "2x"]), &["--write"]);
    refuses(&disk, 2, &["run", "smoke", ".", "--write"], &["--write does not apply to smoke", "hint: "]);
    refuses(&disk, 2, &["run", "device", "image:ext4", "--write"], &["is not a block device"]);
    refuses(&disk, 2, &["run", "quick", disk.text()], &["is a block device", "diskperf run device"]);
}

fn start(disk: &Disk, arguments: &[&str]) -> Child {
    testkit::command(&program())
        .args(arguments)
        .current_dir(disk.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

#[test]
fn a_resumed_run_keeps_its_rounds_without_new_preconditioning() {
    need_disk!("kill");
    let disk = full(8);
    let said = ["--write", "--destroy-data", "--confirm", "8 MiB", "--only", "randwrite", "--json"];
    let flushes = || counter(&disk, 16);
    let arguments = [&["run", "device", disk.text(), "--rounds", "6"][..], &said].concat();
    let stopped = |time: &str| {
        let before = flushes();
        let child = start(&disk, &[&arguments[..], &["--time", time, "--store", time]].concat());
        // Conditioning flushes the device once or twice, and each round flushes it twice. After five flushes, one round
        // has ended, and five have not, unless this process was delayed. In that case, the next attempt has more time.
        wait_until("a round is over", || flushes() >= before + 5);
        run_tool("kill", &["-INT", &child.id().to_string()]);
        child.wait_with_output().expect("its end")
    };
    let mut stopped = ["300ms", "1s", "4s", "16s"].into_iter().map(|time| (stopped(time), time));
    let (output, store) = stopped.find(|(output, _)| output.status.code() != Some(0)).expect("one that was stopped");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let first: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let finished = cells(&first)[0]["rounds"].as_array().map_or(0, Vec::len);
    assert!(first["run"]["interrupted"] == true && (1..6).contains(&finished), "{finished} rounds");
    let ended = run(&disk, &["resume", "--store", store]);
    let all = document(&ended);
    assert!(ended.err.contains("it was conditioned before"), "{}", ended.err);
    let rounds: Vec<u64> = cells(&all)[0]["rounds"]
        .as_array()
        .expect("rounds")
        .iter()
        .filter_map(|round| round["round"].as_u64())
        .collect();
    assert_eq!(rounds, (1..=rounds.len() as u64).collect::<Vec<_>>());
    assert!((5..=6).contains(&rounds.len()), "{rounds:?}");
    let conditioned = |document: &Value| document["run"]["targets"][0]["conditioned"].clone();
    assert_eq!(conditioned(&first)["written_bytes"], 16 * MIB);
    assert_eq!(conditioned(&all), conditioned(&first));
}
