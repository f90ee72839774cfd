//! Marks about caches and devices, each on a device or a file that was prepared to make the claim false; and no mark
//! without preparation.

mod common;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

use common::ground::ground;
use serde_json::Value;
use testkit::fuse::{APART, Fsync, Knobs, OneFile};
use testkit::loop_disk::LoopDisk;
use testkit::syscall_filter::{SYNCS, WELL, run_answered};
use testkit::{ProgramOutput, Running, has_tool, is_in_memory, need_disk, skip};
use units::Bytes;

use common::{Cli, mark, program};

/// Maximum number of runs until one has a warning that other programs may hide. Guess: they hide it in a few runs. With
/// a defect in diskperf, no run has it.
const RUNS: usize = 20;

/// The cells of a run that must succeed.
fn cells_of(ended: &ProgramOutput) -> Vec<Value> {
    assert_eq!(ended.status, Some(0), "{} {}", ended.out, ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("one document");
    document["cells"].as_array().expect("cells").clone()
}

/// The cells of a preset, run in the folder.
fn cells(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    cells_of(&testkit::run(&program(), folder, &[&["run", "--floor", "0"], arguments, &["--json"]].concat()))
}

/// The cell of random reads past the page cache, in a round of this time.
fn random_reads(folder: &Path, target: &str, time: &str) -> Vec<Value> {
    let load = ["io", "randread", "--direct", "--size", "8MiB", "--time", time, "--rounds", "1", "--json", target];
    cells_of(&testkit::run(&program(), folder, &load))
}

/// The cells of a run in a private mount: the script mounts on `mnt`, with these words.
fn cells_in_mount(script: &str, words: &[&Path], folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let script = format!("mkdir -p mnt && {script} > /dev/null && cd mnt && shift {} && exec \"$@\"", words.len());
    let program = program();
    let words = words.iter().copied().chain([program.as_path()]);
    let words: Vec<&str> = words.map(|path| path.to_str().expect("a plain path")).collect();
    let namespace = ["--mount", "--propagation", "private", "sh", "-c", &script, "sh"];
    let all = [&namespace, &words[..], &["run", "--floor", "0"], arguments, &["--json"]].concat();
    cells_of(&testkit::run(Path::new("unshare"), folder, &all))
}

/// The cells of a run in a fresh file system on the device.
fn cells_on(disk: &Path, mkfs: &str, folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let mkfs = testkit::tool(mkfs).expect("it is there");
    cells_in_mount("\"$1\" -q \"$2\" > /dev/null && mount \"$2\" mnt", &[&mkfs, disk], folder, arguments)
}

fn text<'a>(cell: &'a Value, key: &str) -> &'a str {
    cell[key].as_str().expect("a word")
}

/// The one cell of that program and phase.
fn cell<'a>(cells: &'a [Value], program: &str, phase: &str) -> &'a Value {
    let found = cells.iter().find(|cell| text(cell, "program") == program && text(cell, "phase") == phase);
    found.unwrap_or_else(|| panic!("no {program} {phase}"))
}

/// The programs and phases that have a mark.
fn marked(cells: &[Value], code: &str) -> BTreeSet<String> {
    let marked = cells.iter().filter(|cell| mark(cell, code).is_some());
    marked.map(|cell| format!("{} {}", text(cell, "program"), text(cell, "phase"))).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A file with this many bytes, without holes.
fn full_file(path: &Path, bytes: usize) -> File {
    fs::write(path, vec![0x5a; bytes]).expect("a file");
    let file = OpenOptions::new().read(true).write(true).open(path).expect("the file");
    file.sync_all().expect("synced");
    file
}

#[test]
fn files_mapped_by_another_process_are_not_cold() {
    let folder = Cli::new();
    if is_in_memory(folder.path()) || !has_tool("sleep") {
        return skip!("the temporary folder is in memory, or there is no sleep");
    }
    // The pages of a running program are mapped by it: no advice removes them.
    let path = folder.path().join("sleep");
    testkit::copy_of_program(&testkit::tool("sleep").expect("it is there"), &path);
    let child = Command::new(&path).arg("600").stdin(Stdio::null()).spawn().expect("it runs");
    let running = Running(child);
    let all = cells(folder.path(), &["smoke", "--rounds", "2", "--cold", "file:sleep"]);
    let read = cell(&all, "read_8192", "read");
    assert_eq!(read["state"]["cache"], "unknown");
    let reason = text(&read["state"], "cache_reason");
    assert!(reason.contains(" pages were in the page cache"), "{reason}");
    assert_eq!(mark(read, "cache"), None, "what claims nothing has no mark");
    let ended = folder.run(&["run", "smoke", "--cold", "file:sleep"]);
    assert!(
        ended.out.contains("\ncache state n.m.: ") && ended.out.contains(" pages were in the page cache"),
        "{}",
        ended.out
    );
    drop(running);
    let all = cells(folder.path(), &["smoke", "--rounds", "2", "--cold", "file:sleep"]);
    let read = cell(&all, "read_8192", "read");
    assert_eq!((&read["state"]["cache"], &read["state"]["cache_reason"]), (&Value::from("cold"), &Value::Null));
}

/// ext4 with data=journal accepts O_DIRECT, and reads through the page cache all the same.
#[test]
fn direct_reads_from_memory_get_the_cache_warning() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let run = |target: &str, time: &str| random_reads(folder.path(), target, time);
    // A few bytes are no evidence. If the first read waits for the journal, a short round has no other.
    let is_enough = |all: &Vec<Value>| all[0]["io"]["program_bytes"].as_u64() > Some(4 << 20);
    let journaled = |time: &str| run("image:ext4,size=128MiB,mount=data=journal", time);
    let all = ["100ms", "2s", "20s"].into_iter().map(journaled).find(is_enough).expect("1,024 blocks in 20 s");
    let text = mark(cell(&all, "randread", "randread"), "cache").expect("the mark");
    assert!(text.starts_with("0 % of the bytes read came from the device"), "{text}");
    assert_eq!(marked(&all, "cache"), set(&["randread randread"]));
    assert_eq!(marked(&run("image:ext4,size=128MiB", "100ms"), "cache"), set(&[]));
}

/// btrfs keeps small files among its metadata, which stay in the page cache when the files leave it.
#[test]
fn cold_reads_from_memory_get_the_cache_warning() {
    need_disk!("mkfs.btrfs", "losetup", "unshare");
    let folder = Cli::new();
    full_file(&folder.path().join("disk"), 128 << 20);
    let disk = LoopDisk::attach(&folder.path().join("disk")).expect("a loop device");
    let quick = ["quick", "--size", "8MiB", "--rounds", "1", "--only", "smallfb", "--only", "read_8192"];
    let all = cells_on(disk.node(), "mkfs.btrfs", folder.path(), &[&quick[..], &["."]].concat());
    let read = cell(&all, "smallfb", "read");
    assert_eq!(read["state"]["cache"], "cold", "their own pages were not in memory");
    assert!(mark(read, "cache").is_some(), "{read:#}");
    assert_eq!(marked(&all, "cache"), set(&["smallfb read"]));
    // An image is mounted again: then not even metadata are in memory.
    let all = cells(folder.path(), &[&quick[..], &["image:btrfs,size=128MiB"]].concat());
    assert_eq!(marked(&all, "cache"), set(&[]));
}

#[test]
fn a_warm_file_below_a_loop_device_gets_the_lower_warning() {
    need_disk!("mkfs.ext4", "losetup", "unshare");
    let folder = Cli::new();
    if is_in_memory(folder.path()) {
        return skip!("the temporary folder is in memory");
    }
    full_file(&folder.path().join("disk"), 64 << 20);
    // Other programs use the disk below: in one round of several only ours may use it.
    let programs = ["--only", "read_8192", "--only", "write_8192", "--only", "largefb"];
    let arguments = [&["smoke", "--size", "8MiB", "--rounds", "3", "."], &programs[..]].concat();
    for is_cached in [true, false] {
        let path = folder.path().join("disk");
        let attach = if is_cached { LoopDisk::attach_through_cache } else { LoopDisk::attach };
        let disk = attach(&path).expect("a loop device");
        if !is_cached && disk.attribute("loop/dio") != "1" {
            return skip!("no direct I/O under a loop device here");
        }
        let run = || cells_on(disk.node(), "mkfs.ext4", folder.path(), &arguments);
        let has_mark = |all: &Vec<Value>| marked(all, "lower").contains("read_8192 read");
        let all = if is_cached { (0..RUNS).map(|_| run()).find(has_mark).expect("a run with the mark") } else { run() };
        let lower = marked(&all, "lower");
        assert!(is_cached || lower.is_empty(), "{lower:?}");
        assert_eq!(marked(&all, "cache"), set(&[]));
        let state = &cell(&all, "read_8192", "read")["state"];
        assert_eq!(
            (&state["cache"], &state["lower_cache"]),
            (&"cold".into(), &(if is_cached { "warm" } else { "n.m." }).into())
        );
        assert_eq!(cell(&all, "write_8192", "write")["state"]["lower_cache"], Value::Null);
    }
}

/// Blocks that are drawn again may come from memory the second time. diskperf must still notice data that are cached
/// below the device.
#[test]
fn only_first_reads_must_come_from_the_device() {
    need_disk!("mkfs.ext4", "losetup", "unshare");
    let folder = Cli::new();
    if is_in_memory(folder.path()) {
        return skip!("the temporary folder is in memory");
    }
    let names = ["reads", "mix", "jobs", "deep"];
    let loads = [("randread", ""), ("randrw", "fsync = 16"), ("randread", "jobs = 2"), ("randread", "iodepth = 4")];
    let load = |name: &str, (pattern, more): (&str, &str), size: &str, time: &str| {
        let load = format!("order = \"zipf:0.99\"\nbs = \"8KiB\"\nsize = \"{size}\"\ntime = \"{time}\"");
        format!("[[load]]\nname = \"{name}\"\npattern = \"{pattern}\"\n{load}\n{more}\n")
    };
    // Other programs use the disk below, and reading the program itself is a considerable part of a megabyte.
    fs::write(folder.path().join("large.toml"), load("reads", loads[0], "32MiB", "200ms")).expect("a job file");
    let again = |time: &str| {
        let job: String = names.into_iter().zip(loads).map(|(name, more)| load(name, more, "1MiB", time)).collect();
        fs::write(folder.path().join("again.toml"), job).expect("a job file");
        cells(folder.path(), &["again.toml", "--rounds", "1", "image:ext4,size=64MiB"])
    };
    let bytes = |cell: &Value, key: &str| cell["io"][key].as_u64().expect("bytes");
    // Most blocks are drawn again, if there is time for that: a machine with other load needs more.
    let is_enough = |all: &Vec<Value>| all.iter().all(|cell| bytes(cell, "program_bytes") > 4 << 20);
    let all = ["200ms", "2s", "20s"].into_iter().map(again).find(is_enough).expect("512 blocks in 20 s");
    assert_eq!(all.iter().map(|cell| text(cell, "program")).collect::<Vec<_>>(), names);
    for cell in &all {
        assert!(bytes(cell, "program_bytes") > 2 * bytes(cell, "device_read"), "most was drawn again: {cell:#}");
        assert_eq!((&cell["state"]["cache"], &cell["state"]["lower_cache"]), (&"cold".into(), &"n.m.".into()));
    }
    assert_eq!((marked(&all, "cache"), marked(&all, "lower")), (set(&[]), set(&[])));
    full_file(&folder.path().join("disk"), 128 << 20);
    let disk = LoopDisk::attach_through_cache(&folder.path().join("disk")).expect("a loop device");
    let reads = ["../large.toml", "--rounds", "3", "."];
    let has_mark = || {
        let all = cells_on(disk.node(), "mkfs.ext4", folder.path(), &reads);
        assert_eq!(marked(&all, "cache"), set(&[]));
        marked(&all, "lower").len() == 1
    };
    assert!((0..RUNS).any(|_| has_mark()), "no run of {RUNS} has the mark");
}

#[test]
fn unsynced_data_get_the_dirty_warning() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let ground = ground("ext4", folder.path(), Bytes::mib(192));
    // Little data, so that a phase ends before the kernel writes them by itself, which it does after some seconds.
    let arguments = ["run", "smoke", "--size", "4MiB", "--rounds", "1", "--json"];
    let writes = [("write_4096", "write"), ("write_8192", "write"), ("rewrite_8192", "rewrite")];
    let all = cells_of(&run_answered(SYNCS, WELL, &program(), ground.path(), &arguments));
    for (program, phase) in writes.into_iter().chain([("largefb", "write sequential")]) {
        let cell = cell(&all, program, phase);
        let bytes = |key: &str| cell["io"][key].as_u64().expect("bytes");
        // On a slow or busy machine the kernel may write first: then the data are on the device.
        let is_written = 2 * bytes("device_written") > bytes("program_bytes");
        let text = mark(cell, "dirty");
        assert!(is_written || text.is_some(), "{cell:#}");
        assert!(text.is_none_or(|text| text.contains("when the clock stopped")), "{text:?}");
    }
    assert_eq!(marked(&cells(ground.path(), &arguments[1..6]), "dirty"), set(&[]));
}

#[test]
fn a_disk_with_a_premature_fsync_gets_the_dirty_warning() {
    need_disk!("mkfs.ext4", "losetup", "unshare");
    let folder = Cli::new();
    if is_in_memory(folder.path()) || !Path::new("/dev/fuse").exists() {
        return skip!("the temporary folder is in memory, or there is no /dev/fuse");
    }
    let ground = ground("ext4", folder.path(), Bytes::mib(128));
    let below = full_file(&ground.path().join("below"), (64 << 20) + APART as usize);
    let data = below.try_clone().expect("a file");
    fs::create_dir(folder.path().join("point")).expect("a folder");
    let fuse = OneFile::mount(&folder.path().join("point"), below, Knobs::default()).expect("a mount");
    let disk = LoopDisk::attach(&fuse.file()).expect("a loop device");
    let run = |fsync: Fsync, rounds: &str| {
        fuse.turn(Knobs { fsync, ..Knobs::default() });
        let few = ["--only", "write_8192", "--only", "rewrite_8192"];
        let arguments = [&["smoke", "--size", "16MiB", "--rounds", rounds, "."], &few[..]].concat();
        cells_on(disk.node(), "mkfs.ext4", folder.path(), &arguments)
    };
    let is_marked = |fsync: Fsync, rounds: &str| {
        // The data of the run before are dirty until now. If a run wrote the same pages again, the counter of dirty
        // bytes would not grow.
        data.sync_all().expect("written");
        let all = run(fsync, rounds);
        assert_eq!(marked(&all, "noflush"), set(&[]), "it was flushed");
        assert!(all.iter().all(|cell| cell["state"]["unverified"].is_null()), "its loop device uses direct I/O");
        let texts: Vec<&str> = all.iter().filter_map(|cell| mark(cell, "dirty")).collect();
        assert!(texts.iter().all(|text| text.contains("no disk is visible")), "{texts:?}");
        !texts.is_empty()
    };
    // The counter of dirty bytes is for the whole machine. Another program may write back as many at the same moment,
    // which hides the data that this disk keeps. This does not happen in every run.
    assert!((0..RUNS).any(|_| is_marked(Fsync::Early, "1")), "no run of {RUNS} has the mark");
    // Other programs may also write as much as an honest disk does, so the mark's absence is not asserted:
    // `judge::marks::durability` tests that one clean round clears the disk.
    is_marked(Fsync::Honest, "2");
}

#[test]
fn syncs_without_flushes_get_the_noflush_warning() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let run = |target: &str| cells(folder.path(), &["smoke", "--rounds", "1", target]);
    let durable = ["write_8192 write", "commit commit", "smallfb creat", "largefb write random"];
    for (target, word) in [
        ("image:ext4,size=64MiB,mount=barrier=0", "has a write cache and was flushed 0 times"),
        ("image:ext4,size=64MiB,tune=write_cache:write through", "because the kernel was told that it has none"),
    ] {
        let all = run(target);
        let without = marked(&all, "noflush");
        assert!(set(&durable).is_subset(&without), "{target}: {without:?}");
        assert!(!without.contains("read_8192 read"), "{without:?}");
        let text = mark(cell(&all, "write_8192", "write"), "noflush").expect("the mark");
        assert!(text.contains(word), "{text}");
    }
    assert_eq!(marked(&run("image:ext4,size=64MiB"), "noflush"), set(&[]));
}

#[test]
fn mounts_without_syncs_get_the_noflush_warning() {
    need_disk!("unshare");
    let filesystems = fs::read_to_string("/proc/filesystems").expect("file systems");
    if !filesystems.contains("overlay") {
        return skip!("no overlayfs here");
    }
    let run = |options: &str| {
        let folder = Cli::new();
        let directories = "lowerdir=lower,upperdir=upper,workdir=work";
        let script = format!("mkdir lower upper work && mount -t overlay overlay -o {directories}{options} mnt");
        cells_in_mount(&script, &[], folder.path(), &["smoke", "--rounds", "1", "."])
    };
    let all = run(",volatile");
    let text = mark(cell(&all, "write_8192", "write"), "noflush").expect("the mark");
    assert!(text.contains("volatile: its syncs flush nothing"), "{text}");
    assert_eq!(marked(&run(""), "noflush"), set(&[]));
}

/// Conversely, a healthy file system has no mark, in any preset, however small.
#[test]
fn healthy_file_systems_get_no_warning() {
    need_disk!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs");
    let folder = Cli::new();
    // btrfs frees the room of deleted files only when it commits a transaction, and was once full with 128 MiB.
    let targets = ["a=image:ext4,size=64MiB", "b=image:xfs,size=320MiB", "c=image:btrfs,size=256MiB"];
    // `cargo xtask prove` runs all presets, twenty times.
    for preset in [&["quick", "--size", "4MiB"][..], &["classic1983", "--size", "8MiB"]] {
        let all = cells(folder.path(), &[preset, &["--rounds", "1"], &targets].concat());
        for code in ["cache", "lower", "dirty", "noflush", "hole", "compress", "amplify"] {
            assert_eq!(marked(&all, code), set(&[]), "{preset:?}: {code}");
        }
    }
}

#[test]
fn reads_of_holes_get_the_hole_warning() {
    let folder = Cli::new();
    let bytes = 8 << 20;
    let data = |name: &str| folder.path().join(name);
    full_file(&data("full"), bytes);
    // Some data at the beginning, and a hole.
    full_file(&data("sparse"), 1 << 20).set_len(bytes as u64).expect("a hole");
    let preallocated = full_file(&data("preallocated"), 1 << 20);
    let flags = rustix::fs::FallocateFlags::empty();
    if rustix::fs::fallocate(&preallocated, flags, 0, bytes as u64).is_err() || is_in_memory(folder.path()) {
        return skip!("nothing can be preallocated in the temporary folder");
    }
    for (name, is_marked) in [("full", false), ("sparse", true), ("preallocated", true)] {
        let target = format!("file:{name}");
        let mut all = cells(folder.path(), &["smoke", "--rounds", "1", "--cold", &target]);
        all.extend(random_reads(folder.path(), &target, "100ms"));
        for (program, phase) in [("read_8192", "read"), ("randread", "randread")] {
            let cell = cell(&all, program, phase);
            let text = mark(cell, "hole");
            assert_eq!(text.is_some(), is_marked, "{name}: {cell:#}");
            assert!(text.is_none_or(|text| text.starts_with("88 % of the files are holes")), "{text:?}");
            assert_eq!(mark(cell, "cache"), None, "the hole is why no device was read");
        }
    }
    let ended = folder.run(&["run", "smoke", "--cold", "file:sparse"]);
    assert!(ended.out.contains("/s* ") && ended.out.contains("\n* hole: 88 % of the files are holes"), "{}", ended.out);
}

#[test]
fn compressed_data_get_the_compress_warning() {
    need_disk!("mkfs.btrfs");
    let folder = Cli::new();
    let target = "image:btrfs,size=256MiB,mount=compress=zstd";
    let run =
        |data: &[&str]| cells(folder.path(), &[&["smoke", "--size", "8MiB", "--rounds", "1", target], data].concat());
    let zeros = run(&["--data", "zeros"]);
    let compressed = marked(&zeros, "compress");
    let expected = ["copy copy", "read_8192 read", "rewrite_8192 rewrite", "write_4096 write", "write_8192 write"];
    assert!(set(&expected).is_subset(&compressed), "{compressed:?}");
    assert!(zeros.iter().all(|cell| cell["parameters"]["data"] == "zeros"));
    assert_eq!(mark(cell(&zeros, "read_8192", "read"), "cache"), None, "it came from the device, compressed");
    let random = run(&[]);
    assert_eq!(marked(&random, "compress"), set(&[]));
    assert!(random.iter().all(|cell| cell["parameters"]["data"] == Value::Null));
}

#[test]
fn data_journaling_gets_the_amplify_warning() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let programs = ["copy", "largefb", "rewrite_8192", "write_4096", "write_8192", "commit", "smallfb"];
    let only: Vec<&str> = programs.into_iter().flat_map(|program| ["--only", program]).collect();
    let run = |target: &str, size: &str| {
        cells(folder.path(), &[&["smoke", "--size", size, "--rounds", "1", target], &only[..]].concat())
    };
    let journaled = "image:ext4,size=192MiB,mount=data=journal";
    let amplified = marked(&run(journaled, "16MiB"), "amplify");
    let expected =
        ["copy copy", "largefb write sequential", "rewrite_8192 rewrite", "write_4096 write", "write_8192 write"];
    assert_eq!(amplified, set(&expected));
    assert_eq!(marked(&run(journaled, "1MiB"), "amplify"), set(&[]), "what is small has much beside it");
    assert_eq!(marked(&run("image:ext4,size=192MiB", "16MiB"), "amplify"), set(&[]));
}

#[test]
fn only_large_commits_can_get_the_amplify_warning() {
    need_disk!("mkfs.ext4");
    let folder = Cli::new();
    let run = |call: &str, target: &str| {
        // Enough time to write the whole file on a slow disk: below 16 MiB, diskperf gives no warning.
        let load =
            ["io", "commit", "--bs", call, "--size", "16MiB", "--time", "240s", "--rounds", "1", "--json", target];
        let all = cells_of(&testkit::run(&program(), folder.path(), &load));
        let cell = cell(&all, "commit", "commit");
        let io = |key: &str| cell["io"][key].as_u64().expect("bytes");
        assert!(io("program_bytes") >= 16 << 20, "{cell:#}");
        (mark(cell, "amplify").is_some(), io("device_written") as f64 / io("program_bytes") as f64)
    };
    // An ordinary commit writes its block, the inode and the journal.
    let (is_marked, times) = run("16KiB", "image:ext4,size=192MiB");
    assert!(!is_marked && times > 1.5, "{times}");
    let (is_marked, times) = run("1MiB", "image:ext4,size=192MiB,mount=data=journal");
    assert!(is_marked && times > 1.5, "{times}");
}
