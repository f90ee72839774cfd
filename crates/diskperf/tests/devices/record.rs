//! `run --record` and `predict --check` on a loop device: the recorded requests are those of the command, and the
//! instance of the kernel's tracer never stays.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use testkit::loop_disk::{Disk, LoopDisk, Mounted};
use testkit::{Running, need_disk, run_tool, wait_until};

use crate::common::Cli;
use crate::common::document::document;

/// A file system without a journal, and a tracefs.
struct Ground {
    _file_system: Mounted,
    tracefs: Mounted,
    target: String,
    disk: Disk,
    _memory: TempDir,
}

impl Ground {
    /// In memory if possible: on a slow disk that other programs use, a request waits for theirs.
    fn new() -> Ground {
        let memory = testkit::folder_in_memory();
        let image = memory.path().join("image");
        let disk = Disk::attached(0, &[], |_| {
            File::create_new(&image).and_then(|file| file.set_len(64 << 20)).expect("an image");
            LoopDisk::attach(&image)
        });
        run_tool("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard", disk.text()]);
        let (target, tracefs) = (disk.folder("mnt"), disk.folder("tracefs"));
        run_tool("mount", &["-t", "tracefs", "tracefs", &tracefs]);
        let tracefs = Mounted::adopt(Path::new(&tracefs));
        let _file_system = Mounted::mount(disk.node(), Path::new(&target), "noatime");
        Ground { _file_system, tracefs, target, disk, _memory: memory }
    }

    /// Number of instances of our processes that have ended. Other tests record at the same time.
    fn left_instances(&self) -> usize {
        let entries = fs::read_dir(self.tracefs.path().join("instances")).expect("instances").flatten();
        let is_left = |entry: &fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.strip_prefix("diskperf-").and_then(|rest| rest.split('-').next());
            // A process removes its instance before it ends.
            process.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) && entry.path().exists()
        };
        entries.filter(is_left).count()
    }

    /// Runs `run --record` with this command line.
    fn record(&self, cli: &Cli, command: &[&str]) -> Value {
        let options = ["run", "--record", &self.target, "--json", "--rounds", "1", "--store", "s.sqlite", "--"];
        document(&cli.run(&[&options[..], command].concat()))
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

#[test]
fn a_trace_has_the_requests_of_the_command() {
    need_disk!("mkfs.ext4");
    let (ground, cli) = (Ground::new(), Cli::in_memory());
    let command = ["dd", "if=/dev/zero", "of={}/x", "bs=64K", "count=16", "oflag=direct", "status=none"];
    let document = ground.record(&cli, &command);
    let trace = &document["run"]["traces"][0];
    assert_eq!((&trace["device"], &trace["executions"]), (&ground.disk.name().into(), &1.into()), "{trace:#}");
    assert_eq!(trace["missing"], Value::Null);
    // The device's own counters are read a moment before the trace begins and after it ends.
    let io = &document["cells"][0]["io"];
    let moved = number(&io["device_read"]) + number(&io["device_written"]);
    let traced = number(&trace["bytes"]);
    assert!((1 << 20..=moved).contains(&traced) && number(&trace["requests"]) >= 16, "{trace:#} {io:#}");
    let shown = cli.well(&["show", "last", "--store", "s.sqlite"]);
    assert!(shown.out.contains("block trace of"), "{}", shown.out);
    assert_eq!(ground.left_instances(), 0);
}

#[test]
fn a_command_that_fails_leaves_no_instance_and_no_trace() {
    need_disk!("mkfs.ext4");
    let (ground, cli) = (Ground::new(), Cli::in_memory());
    let document = ground.record(&cli, &["false"]);
    assert_eq!(document["cells"][0]["measured"], false);
    assert_eq!(document["run"]["traces"], Value::Null);
    assert_eq!(ground.left_instances(), 0);
    cli.refuses(&["predict", "--on", "ebs-gp3", "--store", "s.sqlite"], 2, &["has no block trace", "--record PATH"]);
}

#[test]
fn a_check_is_stored_and_listed() {
    need_disk!("mkfs.ext4");
    let (ground, cli) = (Ground::new(), Cli::in_memory());
    // It mostly sleeps, so that any law explains its time, and a busy machine adds less than the allowed tenth.
    let line = "sleep 3; dd if=/dev/zero of=x bs=64K count=4 oflag=direct status=none";
    ground.record(&cli, &["sh", "-c", line]);
    let predict = ["predict", "last", "--on", "ebs-gp3", "--store", "s.sqlite"];
    cli.refuses(&predict, 3, &["law of the run's own device", "diskperf probe"]);
    // The command runs in the folder where it was recorded, and relative paths of predict are those of its own folder.
    let other = cli.path().join("other");
    fs::create_dir(&other).expect("a folder");
    let predict = ["predict", "last", "--on", "ebs-gp3", "--store", "../s.sqlite", "-o", "out.json"];
    let check = ["--from", "ebs-gp3", "--check", &ground.target, "--json"];
    Cli::in_folder(&other).well(&[&predict[..], &check].concat());
    let written = fs::read_to_string(other.join("out.json")).expect("the document");
    let document: Value = serde_json::from_str(&written).expect("JSON");
    let prediction = &document["predictions"][0];
    let (predicted, measured) = (prediction["predicted_s"].as_f64(), prediction["measured_s"].as_f64());
    assert!(predicted.is_some_and(|seconds| seconds > 3.0) && measured.is_some_and(|seconds| seconds > 3.0));
    assert_eq!(document["record"]["checks"].as_array().map(Vec::len), Some(1));
    let listed = cli.well(&["predict", "--record", "--store", "s.sqlite"]).out;
    assert!(listed.contains("1 prediction without a range"), "{listed}");
    // Both runs show the pair: the run that was predicted from, and the one that was measured.
    for run in [&prediction["run"], &document["record"]["checks"][0]["measured_run"]] {
        let run = run.as_str().expect("a run");
        let shown = cli.well(&["show", run, "--store", "s.sqlite"]).out;
        assert!(shown.contains("sh: predicted for AWS EBS gp3") && shown.contains(", measured "), "{shown}");
        let exported = cli.well(&["export", run, "--anonymous", "--store", "s.sqlite"]).out;
        let exported: Value = serde_json::from_str(&exported).expect("JSON");
        let hidden = exported[0]["run"]["checks"][0]["target"].as_str().expect("a target");
        assert!(hidden.starts_with("PATH"), "{hidden}");
        let page = cli.well(&["report", run, "-o", "-", "--store", "s.sqlite"]).out;
        assert!(page.contains("Predicted and measured") && page.contains("AWS EBS gp3"), "{page}");
    }

    // A law that was measured on another disk than that of the target.
    let another = Disk::new(4 << 20);
    let run = document["predictions"][0]["run"].as_str().expect("a run");
    let host = host_of(&cli, run);
    let measured_on =
        format!("measured_on = {{ host = \"{host}\", date = \"2026-11-24\", target = \"{}\" }}\n\n", another.text());
    let gp3 = include_str!("../../../../machines/device/ebs-gp3.toml");
    fs::write(cli.path().join("another.toml"), measured_on + gp3).expect("a law");
    let words = ["predict", run, "--from", "ebs-gp3", "--on", "another.toml", "--store", "s.sqlite"];
    let ended = cli.well(&[&words[..], &["--check", &ground.target]].concat());
    assert!(ended.err.contains("the check does not count for ranges: it ran on"), "{}", ended.err);
    let listed = cli.well(&["predict", "--record", "--json", "--store", "s.sqlite"]).out;
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let reason = listed["record"]["checks"][1]["elsewhere"].as_str().expect("a reason");
    assert!(reason.ends_with(&format!("the law was measured on {}", another.name())), "{reason}");

    // Ctrl-C during the check: the prediction is printed, and no check is stored.
    let mut command = cli.command(&[&words[..], &["--check", &ground.target]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().expect("diskperf starts"));
    let is_ours = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".diskperf-");
    wait_until("the private folder", || fs::read_dir(&ground.target).expect("the target").flatten().any(is_ours));
    kill_process(Pid::from_child(&running.0), Signal::INT).expect("diskperf gets SIGINT");
    let status = running.0.wait().expect("its end").code();
    let mut out = String::new();
    running.0.stdout.take().expect("its output").read_to_string(&mut out).expect("a prediction");
    assert_eq!((status, out.contains("on AWS EBS gp3")), (Some(4), true), "{out}");
    let listed = cli.well(&["predict", "--record", "--json", "--store", "s.sqlite"]).out;
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["record"]["checks"].as_array().map(Vec::len), Some(2));
}

/// The name of the machine of a run.
fn host_of(cli: &Cli, run: &str) -> String {
    let exported = cli.well(&["export", run, "--store", "s.sqlite"]).out;
    let exported: Value = serde_json::from_str(&exported).expect("JSON");
    exported[0]["run"]["host"].as_str().expect("a host").to_owned()
}
