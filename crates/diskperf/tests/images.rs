//! Targets other than directories, as a user meets them: file systems on images, tuned queues, files; the errors for
//! bad input, and the leftovers.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use common::ground::ground;
use kernel::observe::block_device::Device;
use serde_json::Value;
use testkit::{ProgramOutput, names_in, need_disk, wait_until};
use units::Bytes;

use common::document::document;
use common::{Cli, program};

/// Loop devices on files in the directory.
fn loops_on(directory: &Path) -> Vec<PathBuf> {
    let blocks = fs::read_dir("/sys/block").expect("/sys/block").flatten().map(|entry| entry.path());
    let on_it = |path: &PathBuf| {
        let backing = fs::read_to_string(path.join("loop/backing_file"));
        backing.is_ok_and(|backing| Path::new(backing.trim()).starts_with(directory))
    };
    blocks.filter(on_it).collect()
}

/// Asserts that a run left nothing in the folder, in the list of mounts, and among the loop devices.
fn nothing_is_left(folder: &Path) {
    assert_eq!(names_in(folder), Vec::<String>::new());
    wait_until("the loop devices are gone", || loops_on(folder).is_empty());
    let mounts = testkit::mounts("self").expect("mounts");
    assert!(!mounts.contains("/proc/driver"), "{mounts}");
}

/// Starts a run that takes a long time.
fn start(folder: &Path, target: &str) -> Child {
    testkit::command(&program())
        .args(["run", "smoke", target, "--rounds", "100000", "--json"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

fn end(child: Child) -> ProgramOutput {
    let output = child.wait_with_output().expect("its end");
    ProgramOutput {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn attribute(device: &Device, name: &str) -> String {
    let path = Path::new("/sys/block").join(&device.name).join("queue").join(name);
    fs::read_to_string(path).expect("an attribute").trim().to_owned()
}

#[test]
fn every_file_system_is_measured_on_an_image() {
    need_disk!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs");
    let scratch = Cli::new();
    let targets = ["image:ext4,size=64MiB", "b=image:btrfs,size=128MiB", "x=image:xfs,size=320MiB,mount=noatime"];
    let ended = scratch.run(&[&["run", "smoke", "--json"], &targets[..]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(ended.err.matches("nothing is left behind").count(), 3, "{}", ended.err);
    let document = document(&ended);
    let cells = document["cells"].as_array().expect("cells");
    assert!(cells.iter().all(|cell| cell["measured"] == true), "{document:#}");
    let infos = document["run"]["targets"].as_array().expect("targets");
    for (info, (file_system, mib)) in infos.iter().zip([("ext4", 64), ("btrfs", 128), ("xfs", 320)]) {
        assert_eq!(info["file_system"], file_system);
        assert_eq!(info["image"]["bytes"], mib << 20);
        assert_eq!(info["image"]["block_bytes"], 4096);
        assert_eq!(info["image"]["kept_as"], Value::Null);
        assert!(info["image"]["host_file_system"].is_string());
        assert!(info["device"].as_str().expect("a device").starts_with("loop"));
        assert_eq!(info["device_bytes"], mib << 20);
        let of_it = cells.iter().filter(|cell| cell["target"] == info["name"]);
        assert!(of_it.clone().count() > 0);
        assert!(of_it.clone().all(|cell| cell["parameters"]["file_system"] == file_system));
        // The counters of the loop device have changed.
        assert!(of_it.clone().any(|cell| cell["io"]["device_written"].as_u64() > Some(0)));
    }
    assert!(infos[2]["mount_options"].as_array().expect("options").contains(&Value::from("noatime")));
    nothing_is_left(scratch.path());
}

/// A number in the superblock of the ext4 in a kept image: its offset and length, from
/// Documentation/filesystems/ext4/super.rst.
fn in_superblock(folder: &Path, kept: &Value, place: usize, length: usize) -> u64 {
    let image = fs::read(folder.join(kept.as_str().expect("a name"))).expect("the image");
    let bytes = &image[1024 + place..1024 + place + length];
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[test]
fn classic1983_recreates_and_tlpi_remounts_the_file_system() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let run = |arguments: &[&str]| {
        let ended = scratch.run(&[&["run"], arguments, &["--keep", "--json"]].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        document(&ended)
    };
    let made = run(&["classic1983", "a=image:ext4,size=32MiB", "b=image:ext4,size=32MiB,block=1024", "--size", "1MiB"]);
    for (info, block) in made["run"]["targets"].as_array().expect("targets").iter().zip([4096, 1024]) {
        assert_eq!(info["before_each"], "re-created (mkfs) before each test");
        assert_eq!(info["image"]["block_bytes"], block);
        // s_kbytes_written: all programs wrote 30 MiB, but the file system counts only the bytes of the last one.
        let written = in_superblock(scratch.path(), &info["image"]["kept_as"], 0x178, 8);
        assert!((1..8192).contains(&written), "{written} KiB");
    }
    let cells = made["cells"].as_array().expect("cells");
    assert_eq!(cells.iter().filter(|cell| cell["measured"] == true).count(), 12, "{made:#}");
    assert!(cells.iter().any(|cell| cell["together"] == true));

    let mounted = run(&["tlpi", "c=image:ext4,size=32MiB", "--size", "2000B", "--rounds", "1"]);
    let info = &mounted["run"]["targets"][0];
    assert_eq!(info["before_each"], "remounted before each test");
    // s_mnt_count: at least once for each of 40 rows.
    let mounts = in_superblock(scratch.path(), &info["image"]["kept_as"], 0x34, 2);
    assert!(mounts >= 40, "{mounts}");
}

#[test]
fn the_raw_device_of_an_image_is_read() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let ended = scratch.run(&["run", "lfs", "image:ext4,size=128MiB", "--size", "1MiB", "--rounds", "1", "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document = document(&ended);
    let cells = document["cells"].as_array().expect("cells");
    let is_raw = |cell: &&Value| cell["program"].as_str().is_some_and(|program| program.starts_with("bw"));
    let raw: Vec<&Value> = cells.iter().filter(|cell| cell["provenance"] == "measured").filter(is_raw).collect();
    assert_eq!(raw.len(), 2, "{document:#}");
    for cell in raw {
        assert_eq!((&cell["measured"], &cell["parameters"]["file_system"]), (&Value::from(true), &Value::Null));
        assert_eq!(cell["io"]["device_read"], cell["io"]["program_bytes"], "{cell:#}");
    }
    nothing_is_left(scratch.path());
}

#[test]
fn blocks_larger_than_a_page_are_mounted_or_refused() {
    need_disk!("mkfs.ext4", "mkfs.xfs");
    let scratch = Cli::new();
    for target in ["a=image:xfs,size=320MiB,block=8192", "a=image:ext4,size=64MiB,block=8192"] {
        let ended = scratch.run(&["run", "smoke", "--rounds", "1", "--json", target]);
        let document = document(&ended);
        match ended.status {
            Some(0) => assert_eq!(document["run"]["targets"][0]["image"]["block_bytes"], 8192),
            status => {
                assert_eq!(status, Some(3), "{}", ended.err);
                let message = document["errors"][0]["message"].as_str().expect("a message");
                assert!(message.contains("blocks of 8 KiB; its page size is 4 KiB"), "{message}");
            }
        }
    }
    nothing_is_left(scratch.path());
}

#[test]
fn invalid_images_are_refused_with_the_reason() {
    need_disk!("mkfs.ext4", "mkfs.xfs");
    let scratch = Cli::new();
    let cases: [(&str, i32, &[&str]); 16] = [
        ("image:zzfs", 2, &["mkfs.zzfs is not installed", "spelling"]),
        ("image:../ext4", 2, &["is not a file system"]),
        ("image:", 2, &["is not a file system"]),
        ("image:ext4,sise=64MiB", 2, &["unknown key sise", "size, dir, block, mount, mkfs, tune"]),
        ("image:ext4,size=64mb", 2, &["ambiguous unit mb", "64", "MiB"]),
        ("image:ext4,block=3000", 2, &["blocks of 3000 B", "powers of two"]),
        ("image:xfs,size=64MiB", 2, &["at least 300 MiB", "size="]),
        ("image:ext4,size=200KiB", 2, &["at least 1 MiB"]),
        ("image:ext4,size=64MiB,mkfs=-O frobnicate", 2, &["mkfs.ext4 says: ", "frobnicate"]),
        ("image:xfs,size=320MiB,mkfs=-y", 2, &["mkfs.xfs says: ", "'y'"]),
        ("image:ext4,size=64MiB,mkfs=-J device=x", 2, &["writes only to the target"]),
        ("image:ext4,size=64MiB,mkfs=/dev/loop0", 2, &["writes only to the target"]),
        ("image:ext4,size=64MiB,mount=frobnicate", 2, &["cannot mount ext4", "frobnicate"]),
        ("image:ext4,size=2000TiB", 3, &["; the image needs 2000 TiB", "dir="]),
        ("image:ext4,dir=none", 2, &["there is no none"]),
        ("image:ext4,size=64MiB,tune=scheduler:frobnicate", 2, &["refuses scheduler:frobnicate", "none"]),
    ];
    for (target, status, words) in cases {
        let ended = scratch.run(&["run", "smoke", target]);
        assert_eq!(ended.status, Some(status), "{target}: {}", ended.err);
        for word in words {
            assert!(ended.err.contains(word), "{target} says nothing of {word:?}: {}", ended.err);
        }
        assert_eq!(ended.out, "", "{target}");
        nothing_is_left(scratch.path());
    }
    let ended = scratch.run(&["run", "smoke", "--size", "64MiB", "image:ext4,size=16MiB"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert!(ended.err.contains("the image has 16 MiB"), "{}", ended.err);
    let ended = scratch.run(&["run", "smoke", "--keep", "."]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    nothing_is_left(scratch.path());
}

#[test]
fn missing_rights_are_refused_with_a_hint() {
    need_disk!("mkfs.ext4", "setpriv");
    let scratch = Cli::new();
    // A path at which another user can run the program, whatever the rights of its build folder.
    let copy = scratch.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    let readable = |path: &Path| fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755));
    readable(&copy).and_then(|()| readable(scratch.path())).expect("rights");
    let as_nobody = |arguments: &[&str]| {
        let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "--no-new-privs"];
        let program = copy.to_str().expect("a plain path");
        testkit::run(Path::new("setpriv"), scratch.path(), &[&user[..], &[program], arguments].concat())
    };
    let ended = as_nobody(&["run", "smoke", "image:ext4,size=64MiB", "--json"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("CAP_SYS_ADMIN"), "{}", ended.err);
    assert!(ended.err.contains("hint: run it as root: sudo "), "{}", ended.err);
    assert!(ended.err.contains("diskperf run smoke image:ext4,size=64MiB --json"), "{}", ended.err);
    let document = document(&ended);
    assert_eq!(document["cells"].as_array().map(Vec::len), Some(0), "never a silent fall-back");
    // The plan needs no rights.
    let ended = as_nobody(&["run", "smoke", "image:ext4,size=64MiB", "--dry-run"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(scratch.names(), ["diskperf"]);
}

#[test]
fn a_missing_mkfs_is_named_with_its_package() {
    need_disk!("mkfs.xfs", "unshare");
    let scratch = Cli::new();
    // In a private mount namespace, a file that is not a program is mounted over the tool.
    let tool = testkit::tool("mkfs.xfs").expect("it is there");
    let script = format!("mount --bind /dev/null {} && exec \"$0\" run smoke image:xfs", tool.display());
    let program = program();
    let words = ["--mount", "--propagation", "private", "sh", "-c", &script, program.to_str().expect("a plain path")];
    let ended = testkit::run(Path::new("unshare"), scratch.path(), &words);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("mkfs.xfs is not installed") && ended.err.contains("xfsprogs"), "{}", ended.err);
    nothing_is_left(scratch.path());
}

/// Runs are killed at random moments: while the file is written, while mkfs runs, while programs run.
#[test]
fn nothing_is_left_after_a_kill() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let ground = ground("ext4", scratch.path(), Bytes::mib(32));
    let free = || rustix::fs::statvfs(ground.path()).expect("space").f_bfree;
    let before = free();
    for round in (0..24u64).step_by(2) {
        let mut child = start(ground.path(), "image:ext4,size=8MiB");
        thread::sleep(Duration::from_millis(1 + round * round));
        child.kill().expect("killed");
        assert_eq!(end(child).status, None, "it was to run for longer");
        wait_until("all room is free again", || free() == before);
    }
    assert_eq!(names_in(ground.path()), ["lost+found"]);
    wait_until("the loop devices are gone", || loops_on(ground.path()).is_empty());
}

#[test]
fn a_stopped_run_leaves_no_image_and_reports_it() {
    need_disk!("mkfs.ext4", "kill");
    let scratch = Cli::new();
    for size in ["4GiB", "8MiB"] {
        let child = start(scratch.path(), &format!("image:ext4,size={size}"));
        wait_until("an image is attached", || !loops_on(scratch.path()).is_empty());
        testkit::run(Path::new("kill"), scratch.path(), &["-INT", &child.id().to_string()]);
        let ended = end(child);
        assert_eq!(ended.status, Some(4), "{}", ended.err);
        assert_eq!(document(&ended)["run"]["interrupted"], true);
        nothing_is_left(scratch.path());
    }
}

#[test]
fn two_concurrent_runs_on_one_target_do_not_interfere() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    for target in [".", "image:ext4,size=16MiB"] {
        let ended: Vec<ProgramOutput> = thread::scope(|scope| {
            let run = || scratch.run(&["run", "smoke", target, "--json"]);
            let runs = [scope.spawn(run), scope.spawn(run)];
            runs.into_iter().map(|run| run.join().expect("a run")).collect()
        });
        for ended in &ended {
            assert_eq!(ended.status, Some(0), "{target}: {}", ended.err);
            assert_eq!(document(ended)["errors"].as_array().map(Vec::len), Some(0));
        }
        nothing_is_left(scratch.path());
    }
}

#[test]
fn a_kept_image_has_a_unique_name() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let folder = scratch.path().join("images");
    fs::create_dir(&folder).expect("a folder");
    let targets = ["a=image:ext4,size=8MiB,dir=images", "image:ext4,size=16MiB,dir=images"];
    let run = || scratch.run(&["run", "smoke", "--rounds", "1", "--keep", "--json", targets[0], targets[1]]);
    let ended = run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("the image is kept"), "{}", ended.err);
    assert_eq!(names_in(&folder), ["diskperf-a.img", "diskperf-ext4.img"]);
    let document = document(&ended);
    for (index, name) in ["images/diskperf-a.img", "images/diskperf-ext4.img"].into_iter().enumerate() {
        assert_eq!(document["run"]["targets"][index]["image"]["kept_as"], name);
        assert!(ended.err.contains(&format!("as {name}")), "{}", ended.err);
    }
    assert_eq!(fs::metadata(folder.join("diskperf-a.img")).expect("an image").len(), 8 << 20);
    assert_eq!(run().status, Some(0));
    let all = ["diskperf-a-2.img", "diskperf-a.img", "diskperf-ext4-2.img", "diskperf-ext4.img"];
    assert_eq!(names_in(&folder), all, "nothing is overwritten");
    wait_until("the loop devices are gone", || loops_on(&folder).is_empty());
}

#[test]
fn queue_tuning_applies_to_its_target_and_is_restored() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let ground = ground("ext4", scratch.path(), Bytes::mib(32));
    let device = ground.device();
    let before = (attribute(device, "scheduler"), attribute(device, "read_ahead_kb"));
    let path = ground.path().display();
    let tuned = format!("tuned={path},tune=read_ahead_kb:64+scheduler:none");
    let plain = format!("plain={path}");
    let ended = scratch.run(&["run", "smoke", "--json", &tuned, &plain]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document = document(&ended);
    assert_eq!(document["run"]["targets"][0]["tuning"], "read_ahead_kb:64+scheduler:none");
    assert_eq!(document["run"]["targets"][1]["tuning"], Value::Null);
    assert_eq!((attribute(device, "scheduler"), attribute(device, "read_ahead_kb")), before);
}

#[test]
fn the_next_run_restores_the_queue_of_a_killed_one() {
    need_disk!("mkfs.ext4");
    let scratch = Cli::new();
    let ground = ground("ext4", scratch.path(), Bytes::mib(32));
    let device = ground.device();
    let before = attribute(device, "read_ahead_kb");
    let target = format!("{},tune=read_ahead_kb:68", ground.path().display());
    let mut child = start(scratch.path(), &target);
    wait_until("the queue is tuned", || attribute(device, "read_ahead_kb") == "68");
    child.kill().expect("killed");
    let pid = child.id();
    end(child);
    let ended = scratch.run(&["run", "smoke", "--rounds", "1"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    // It may have been killed between two programs, or another run may have begun before ours.
    if ended.err.contains(&format!("the queue of {}", device.name)) {
        let said = format!("restored the queue of {}, which process {pid} tuned", device.name);
        assert!(ended.err.contains(&said), "{}", ended.err);
    }
    assert_eq!(attribute(device, "read_ahead_kb"), before);
}

#[test]
fn a_vanished_target_ends_the_run_with_the_reason() {
    need_disk!("mkfs.ext4", "umount");
    let scratch = Cli::new();
    let ground = ground("ext4", scratch.path(), Bytes::mib(32));
    let folder = scratch.path().join("folder");
    fs::create_dir(&folder).expect("a folder");
    let gone = scratch.path().join("gone");
    for target in [&folder, &ground.path().to_owned()] {
        let child = start(scratch.path(), target.to_str().expect("a plain path"));
        let is_ours = |name: &String| name.starts_with(".diskperf-");
        wait_until("the run has begun", || names_in(target).iter().any(is_ours));
        if *target == folder {
            fs::rename(&folder, &gone).expect("taken away");
        } else {
            let path = target.to_str().expect("a plain path");
            assert_eq!(testkit::run(Path::new("umount"), scratch.path(), &["-l", path]).status, Some(0));
        }
        let ended = end(child);
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert!(ended.err.contains("error: ") && !ended.err.contains("panicked"), "{}", ended.err);
        assert!(ended.err.contains("removed or unmounted"), "{}", ended.err);
        assert!(!document(&ended)["errors"].as_array().expect("errors").is_empty());
    }
}
