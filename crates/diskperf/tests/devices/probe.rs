//! `probe` on a loop device and in a directory on it: which states are measured, what is written, and what is left.

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use testkit::loop_disk::{Disk, Mounted};
use testkit::{need_disk, run_tool, skip, wait_until};

use crate::common::{Cli, text};

const MIB: u64 = 1 << 20;

/// The disk of a test: room for a file of 64 MiB, which is a tenth of it.
const DISK: u64 = 1024 * MIB;

/// The constants of a probe, each with a value or a reason.
fn constants(out: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let rows = document["constants"].as_array().expect("rows").clone();
    for row in &rows {
        assert_ne!(row["estimate"].is_null(), row["why"].is_null(), "a value or a reason: {row}");
    }
    rows
}

#[test]
fn probing_a_device_changes_no_byte() {
    need_disk!();
    if let Some(why) = kernel::no_ring() {
        skip!("{why}");
    }
    let data: Vec<u8> = (0..MIB / 8).flat_map(|word| (word.wrapping_mul(0x9E37_79B9) | 1).to_le_bytes()).collect();
    let disk = Disk::holding(128 * MIB, &[(0, &data)]);
    let before = fs::read(&disk.file).expect("its bytes");
    let ended = Cli::in_folder(disk.folder.path()).run(&["probe", disk.text(), "--json", "--store", "store.sqlite"]);
    assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    // On a busy machine no latency may be certain; then a remark says why there is no law.
    let stored = ended.err.contains("stored as the law of loop");
    assert_ne!(stored, ended.err.contains("no law is stored: "), "{}", ended.err);
    let rows = constants(&ended.out);
    let of_writes = rows.iter().filter(|row| row["constant"].as_str().is_some_and(|name| name.starts_with("write")));
    assert!(of_writes.clone().count() >= 3);
    assert!(of_writes.into_iter().all(|row| row["why"].as_str().is_some_and(|why| why.contains("only read"))));
    rustix::fs::sync();
    assert!(fs::read(&disk.file).expect("its bytes") == before, "a probe has written");
}

#[test]
fn probing_a_directory_leaves_nothing_even_after_a_signal() {
    need_disk!("mkfs.ext4");
    if let Some(why) = kernel::no_ring() {
        skip!("{why}");
    }
    let disk = Disk::holding(DISK, &[]);
    run_tool("mkfs.ext4", &["-q", disk.text()]);
    let point = disk.folder.path().join("point");
    fs::create_dir(&point).expect("a folder");
    let mounted = Mounted::mount(disk.device.node(), &point, "noatime");
    let cli = Cli::in_folder(disk.folder.path());
    let names = || testkit::names_in(&point);
    let fresh = names();
    // 1. Interrupted while it plays tapes.
    let mut child = cli.command(&["probe", text(&point), "--json"]);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_until("a private folder", || names().len() > fresh.len());
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(4));
    let document: Value = serde_json::from_slice(&ended.stdout).expect("a document, also of an interrupted probe");
    assert_eq!(document["errors"][0]["message"], "interrupted", "{document}");
    assert_eq!(names(), fresh);
    // 2. To its end.
    let ended = cli.run(&["probe", text(&point), "-o", "disk.toml", "--store", "store.sqlite", "--json"]);
    let rows = constants(&ended.out);
    assert_eq!(names(), fresh);
    let is_written = disk.folder.path().join("disk.toml").exists();
    // On a busy machine no latency may be certain; then there is nothing to write.
    assert_eq!(ended.status == Some(0), is_written, "{}", ended.err);
    assert_eq!(ended.err.contains("stored as the law of loop"), is_written, "{}", ended.err);
    assert!(rows.iter().any(|row| row["constant"] == "flush base"));
    if is_written {
        let law = fs::read_to_string(disk.folder.path().join("disk.toml")).expect("the law");
        // A figure is a line. `flush.base` may have another source.
        let mut latencies = law.lines().filter(|line| line.contains("_latency = "));
        let is_of_device = latencies.any(|line| line.contains("median in the block trace"));
        assert_ne!(is_of_device, ended.err.contains("include the kernel's I/O path"), "{}{law}", ended.err);
    }
    drop(mounted);
}
