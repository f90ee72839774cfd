//! Queue settings that are changed for a while, on the real kernel: on a loop device of our own.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use kernel::observe::block_device::Device;
use kernel::provision::queue_tuning::{Setting, Tuning, TuningFault, restore_left};
use kernel::{Image, ImageSpec, PrivateMounts, may_administer};
use testkit::{has_tool, skip};
use units::Bytes;

fn image(directory: &Path) -> Image {
    let spec = ImageSpec {
        file_system: "ext4".to_owned(),
        bytes: Bytes::mib(4),
        directory: directory.to_owned(),
        block: None,
        mount_options: Vec::new(),
        mkfs_options: Vec::new(),
    };
    let mounts = PrivateMounts::enter().expect("mounts of our own");
    Image::make(&spec, &mounts, |_| ControlFlow::Continue(())).expect("an image")
}

fn can_run() -> bool {
    may_administer() && Path::new("/dev/loop-control").exists() && has_tool("mkfs.ext4")
}

fn settings(pairs: &[(&str, &str)]) -> Vec<Setting> {
    let setting =
        |(attribute, value): &(&str, &str)| Setting { attribute: (*attribute).to_owned(), value: (*value).to_owned() };
    pairs.iter().map(setting).collect()
}

fn value(device: &Device, attribute: &str) -> String {
    let path = Path::new("/sys/block").join(&device.name).join("queue").join(attribute);
    fs::read_to_string(path).expect("an attribute").trim().to_owned()
}

/// Reads all attributes of the queue and of its scheduler.
fn everything(device: &Device) -> Vec<(String, Option<String>)> {
    let queue = Path::new("/sys/block").join(&device.name).join("queue");
    let mut all = Vec::new();
    for folder in [queue.clone(), queue.join("iosched")] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            all.push((entry.path().display().to_string(), fs::read_to_string(entry.path()).ok()));
        }
    }
    all.sort();
    all
}

/// Returns a scheduler of the device that is not in use.
fn other_scheduler(device: &Device) -> Option<String> {
    value(device, "scheduler").split_whitespace().find(|word| !word.starts_with('[')).map(str::to_owned)
}

#[test]
fn a_real_queue_is_changed_and_restored() {
    if !can_run() {
        return skip!("needs root, loop devices and mkfs.ext4");
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let image = image(scratch.path());
    let device = image.device();
    let Some(scheduler) = other_scheduler(device) else { return skip!("loop devices have one scheduler here") };
    let before = everything(device);
    let wanted = [("read_ahead_kb", "64"), ("scheduler", scheduler.as_str())];
    let tuned = Tuning::plan(device, &settings(&wanted)).and_then(|tuning| tuning.apply()).expect("tuned");
    assert!(value(device, "scheduler").contains(&format!("[{scheduler}]")));
    assert_eq!(value(device, "read_ahead_kb"), "64");
    tuned.restore().expect("restored");
    assert_eq!(everything(device), before);
}

#[test]
fn values_refused_by_the_kernel_change_nothing() {
    if !can_run() {
        return skip!("needs root, loop devices and mkfs.ext4");
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let image = image(scratch.path());
    let device = image.device();
    let before = everything(device);
    let apply = |pairs: &[(&str, &str)]| Tuning::plan(device, &settings(pairs)).and_then(|tuning| tuning.apply());
    match apply(&[("read_ahead_kb", "64"), ("scheduler", "elevator")]) {
        Err(TuningFault::Refused { choices, .. }) => assert!(choices.iter().any(|choice| choice == "none")),
        other => panic!("{other:?}"),
    }
    assert!(matches!(apply(&[("read_ahead_kb", "64"), ("nr_requests", "many")]), Err(TuningFault::Refused { .. })));
    match apply(&[("read_ahead_kb", "5")]) {
        // A page has at least 4 KiB, so the kernel rounds 5 KiB.
        Err(TuningFault::Rounded { became, .. }) => assert_ne!(became, "5"),
        other => panic!("{other:?}"),
    }
    assert_eq!(everything(device), before);
}

#[test]
fn settings_left_by_a_killed_process_are_restored() {
    if !can_run() {
        return skip!("needs root, loop devices and mkfs.ext4");
    }
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let image = image(scratch.path());
    let device = image.device();
    let before = everything(device);
    let number = value_of_number(device);
    let mut child = Command::new(env::current_exe().expect("our path"))
        .args(["--exact", "child_tunes_a_queue", "--ignored", "--nocapture"])
        .env("DISKPERF_TEST_DEVICE", number)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("tuned")), "the child never tuned");
    assert_eq!(value(device, "read_ahead_kb"), "64");
    assert!(restore_left(|_| true).expect("notes").iter().all(|left| left.disk != device.name), "it still runs");
    child.kill().expect("killed");
    child.wait().expect("ended");
    let left = restore_left(|_| true).expect("notes");
    // Another diskperf that started on this machine at this moment may have restored the queue first.
    for left in left.iter().filter(|left| left.disk == device.name) {
        assert!(left.pid == child.id() as i32 && left.outcome.is_ok(), "{left:?}");
    }
    assert_eq!(everything(device), before);
    assert!(restore_left(|_| true).expect("notes").iter().all(|left| left.disk != device.name), "once is enough");
}

fn value_of_number(device: &Device) -> String {
    fs::read_to_string(Path::new("/sys/block").join(&device.name).join("dev")).expect("a number").trim().to_owned()
}

#[test]
#[ignore = "half of settings_left_by_a_killed_process_are_restored"]
fn child_tunes_a_queue() {
    let Ok(number) = env::var("DISKPERF_TEST_DEVICE") else { return };
    let (major, minor) = number.split_once(':').expect("a number");
    let device = Device::numbered(major.parse().expect("major"), minor.parse().expect("minor")).expect("a device");
    let tuning = Tuning::plan(&device, &settings(&[("scheduler", "none"), ("read_ahead_kb", "64")]));
    let _tuned = tuning.and_then(|tuning| tuning.apply()).expect("tuned");
    println!("tuned");
    thread::sleep(Duration::from_secs(600));
}
