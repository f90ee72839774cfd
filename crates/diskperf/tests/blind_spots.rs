//! Storage that no counter shows: folders whose server lies, and overlays. A result there is `unverified`, unless a
//! visible device serves it, or a warning says that its claim is false. docs/concepts/false-claims.md lists the lies.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::document::document;
use common::ground::ground;
use kernel::Image;
use serde_json::Value;
use testkit::fuse::{APART, Fsync};
use testkit::loop_disk::{Disk, LoopDisk, Mounted};
use testkit::lying_folder::{Lies, LyingFolder, MountAppearance, ServerMemory};
use testkit::{need_disk, skip};
use units::Bytes;

use common::{Cli, cells, mark, program, text};

/// A file system on a loop device with the folders `point` and `below`.
struct Ground {
    // Fields are dropped in order: the file system is unmounted before its folder is removed.
    image: Image,
    cli: Cli,
}

impl Ground {
    fn new() -> Ground {
        let cli = Cli::new();
        let image = ground("ext4", cli.path(), Bytes::mib(192));
        ["point", "below"].iter().for_each(|name| fs::create_dir(image.path().join(name)).expect("a folder"));
        Ground { image, cli }
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.image.path().join(name)
    }

    /// The folder `below`, served with these lies at `point`.
    fn served(&self, appearance: MountAppearance, lies: Lies) -> LyingFolder {
        LyingFolder::mount(&self.folder("point"), &self.folder("below"), appearance, lies).expect("a mount")
    }

    /// The document of a small run on this folder.
    fn run(&self, folder: &Path) -> Value {
        let only = ["--only", "write_8192", "--only", "read_8192"];
        let run = [&["run", "smoke", "--size", "16MiB", "--rounds", "1", "--yes", "--json", text(folder)], &only[..]]
            .concat();
        document(&self.cli.well(&run))
    }
}

/// True if the lying folder can be mounted. If not, the test is skipped.
fn can_serve() -> bool {
    testkit::is_root() && Path::new("/dev/fuse").exists()
}

/// The results of the writing and of the reading phase.
fn write_and_read(document: &Value) -> [&Value; 2] {
    ["write", "read"].map(|phase| cells(document).iter().find(|cell| cell["phase"] == phase).expect("a result"))
}

fn reason(cell: &Value) -> Option<&str> {
    cell["state"]["unverified"].as_str()
}

/// Asserts that the results claim neither `durable` nor `cold`, because no device is visible below this file system.
fn assert_unverified(document: &Value, system: &str) {
    let [write, read] = write_and_read(document);
    for cell in [write, read] {
        assert_eq!(reason(cell), Some(format!("no block device is visible below {system}").as_str()), "{cell:#}");
    }
    assert_eq!(read["state"]["cache"], "unverified", "{read:#}");
    assert_eq!(document["run"]["targets"][0]["device"], Value::Null);
}

/// True if the machine's own counters can disprove a claim here.
fn sees_all_networks() -> bool {
    Path::new("/proc/sys/net/core/netdev_budget").exists()
}

/// Runs on a lying folder until a result has the warning. Other programs may move as many bytes as a lie hides, for
/// example a build, but hardly in each of a hundred runs.
fn is_disproved(ground: &Ground, folder: &Path, phase: usize, code: &str) -> bool {
    (0..100).any(|_| {
        let document = ground.run(folder);
        assert_unverified(&document, "fuse");
        mark(write_and_read(&document)[phase], code).is_some()
    })
}

#[test]
fn a_served_folder_is_unverified_whatever_its_mount_says() {
    need_disk!("mkfs.ext4");
    if !can_serve() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = Ground::new();
    let disk = Disk::new(APART);
    for (appearance, system) in [
        (MountAppearance::Fuse, "fuse"),
        (MountAppearance::Named("ext4", disk.text()), "fuse.ext4"),
        (MountAppearance::Device(disk.node()), "fuseblk"),
    ] {
        let served = ground.served(appearance, Lies::default());
        let document = ground.run(&served.path(""));
        assert_unverified(&document, system);
        assert_eq!(write_and_read(&document)[0]["state"]["clock"], "durable", "the clock keeps its name");
    }
    let served = ground.served(MountAppearance::Fuse, Lies::default());
    let path = served.path("");
    let run = ["run", "smoke", "--size", "1MiB", "--rounds", "1", "--only", "write_8192", text(&path)];
    let table = ground.cli.well(&run).out;
    let row = table.lines().find(|line| line.starts_with(" write_8192")).expect("a row");
    assert!(row.contains(" unverified ") && !row.contains("durable"), "{row}");
    assert!(table.contains("\nunverified: no block device is visible below fuse (write_8192"), "{table}");
    let csv = ground.cli.well(&[&run[..], &["--format", "csv"]].concat()).out;
    assert!(csv.lines().next().is_some_and(|head| head.contains(",unverified,")), "{csv}");
    assert!(csv.lines().nth(1).is_some_and(|line| line.contains(",no block device is visible below fuse,")), "{csv}");
}

#[test]
fn a_server_without_fsync_gets_the_dirty_warning() {
    need_disk!("mkfs.ext4");
    if !can_serve() || !sees_all_networks() {
        return skip!("needs root, /dev/fuse and the first network namespace");
    }
    let ground = Ground::new();
    for lies in [
        Lies { fsync: Fsync::Early, ..Lies::default() },
        Lies { fsync: Fsync::Early, memory: ServerMemory::Writes, ..Lies::default() },
    ] {
        let served = ground.served(MountAppearance::Fuse, lies);
        assert!(is_disproved(&ground, &served.path(""), 0, "dirty"), "{lies:?}");
    }
    // The server's fsync reaches the device. Other programs may leave as many bytes unwritten as the test wrote, but
    // hardly in each run.
    let served = ground.served(MountAppearance::Fuse, Lies::default());
    let is_cleared = || {
        let document = ground.run(&served.path(""));
        let cell = write_and_read(&document)[0];
        assert_eq!(cell["measured"], true, "{cell:#}");
        mark(cell, "dirty").is_none()
    };
    assert!((0..10).any(|_| is_cleared()), "an honest server has the warning in each of 10 runs");
}

#[test]
fn a_server_that_answers_from_memory_gets_the_lower_warning() {
    need_disk!("mkfs.ext4");
    if !can_serve() || !sees_all_networks() {
        return skip!("needs root, /dev/fuse and the first network namespace");
    }
    let ground = Ground::new();
    let served = ground.served(MountAppearance::Fuse, Lies { memory: ServerMemory::Copies, ..Lies::default() });
    assert!(is_disproved(&ground, &served.path(""), 1, "lower"));
    let path = served.path("");
    // Large blocks and a long round: diskperf gives no warning for a few bytes, and on a busy machine the server is
    // slow.
    let direct =
        ["io", "randread", "--direct", "--bs", "64KiB", "--size", "16MiB", "--time", "1s", "--rounds", "1", "--json"];
    let run = || document(&ground.cli.well(&[&direct[..], &[text(&path)]].concat()));
    let is_marked = |document: Value| {
        let cell = &cells(&document)[0];
        assert!(reason(cell).is_some(), "{cell:#}");
        mark(cell, "lower").is_some()
    };
    assert!((0..20).any(|_| is_marked(run())), "no direct read has the warning");
}

/// `stats::compare` tests that two unverified results are compared.
#[test]
fn unverified_results_are_not_compared_with_those_of_a_disk() {
    need_disk!("mkfs.ext4");
    if !can_serve() {
        return skip!("needs root and /dev/fuse");
    }
    let ground = Ground::new();
    fs::create_dir(ground.folder("plain")).expect("a folder");
    let served = ground.served(MountAppearance::Fuse, Lies::default());
    let targets = [format!("fuse={}", text(&served.path(""))), format!("disk={}", text(&ground.folder("plain")))];
    let words = ["choose", "--only", "write_8192", "--size", "2MiB", "--rounds", "6", "--budget", "1h", "--yes"];
    let document = document(&ground.cli.run(&[&words[..], &["--json", &targets[0], &targets[1]]].concat()));
    let comparisons = document["run"]["choice"]["comparisons"].as_array().expect("comparisons");
    assert!(!comparisons.is_empty());
    for comparison in comparisons {
        assert_eq!(comparison["verdict"], "undecided", "{comparison:#}");
        assert!(comparison["why"].as_str().is_some_and(|why| why.contains("unverified on fuse")), "{comparison:#}");
    }
}

#[test]
fn an_overlay_is_verified_only_through_its_upper_layer() {
    need_disk!("mkfs.ext4");
    let ground = Ground::new();
    for name in ["lower", "upper", "work", "other", "mnt"] {
        fs::create_dir(ground.folder(name)).expect("a folder");
    }
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| text(&ground.folder(name)).to_owned());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    let mnt = ground.folder("mnt");
    // The source of an overlay mount can be any word, so the name of a disk there proves nothing.
    testkit::run_tool("mount", &["-t", "overlay", "-o", &options, "/dev/null", text(&mnt)]);
    let overlay = Overlay(mnt.clone());
    let document = ground.run(&mnt);
    let device = document["run"]["targets"][0]["device"].as_str().expect("a device").to_owned();
    assert!(device.starts_with("loop"), "{device}");
    let [write, read] = write_and_read(&document);
    assert_eq!((reason(write), reason(read)), (None, None), "{document:#}");
    assert!(write["io"]["device_written"].as_u64().is_some_and(|bytes| bytes >= 16 << 20), "{write:#}");
    assert_eq!(testkit::names_in(&ground.folder("upper")), [""; 0], "no marker is left");
    // From now on, the path in the mount option leads to another folder, as in a container.
    testkit::run_tool("mount", &["--bind", text(&ground.folder("other")), &upper]);
    let hidden = Overlay(ground.folder("upper"));
    assert_unverified(&ground.run(&mnt), "overlay");
    drop(hidden);
    drop(overlay);
}

#[test]
fn an_overlay_in_memory_gets_the_memory_warning() {
    need_disk!("mkfs.ext4");
    let ground = Ground::new();
    for name in ["lower", "memory", "mnt"] {
        fs::create_dir(ground.folder(name)).expect("a folder");
    }
    let memory = Mounted::tmpfs(&ground.folder("memory"), "size=128m");
    ["upper", "work"].iter().for_each(|name| fs::create_dir(memory.path().join(name)).expect("a folder"));
    let [lower, memory] = ["lower", "memory"].map(|name| text(&ground.folder(name)).to_owned());
    let options = format!("lowerdir={lower},upperdir={memory}/upper,workdir={memory}/work");
    testkit::run_tool("mount", &["-t", "overlay", "-o", &options, "overlay", text(&ground.folder("mnt"))]);
    let overlay = Overlay(ground.folder("mnt"));
    let document = ground.run(&overlay.0);
    let [write, _] = write_and_read(&document);
    let warning = mark(write, "memory").expect("the warning");
    assert!(warning.contains("(tmpfs under an overlay)"), "{warning}");
    assert_eq!(reason(write), None, "its claim is known to be false");
}

/// A mount of the test. Dropping it unmounts it.
struct Overlay(PathBuf);

impl Drop for Overlay {
    fn drop(&mut self) {
        testkit::run_tool("umount", &[text(&self.0)]);
    }
}

#[test]
fn bw_checks_for_holes_and_caches() {
    need_disk!();
    let cli = Cli::new();
    let bw = |path: &str| cli.well_and_clean(&["bw", "-b", path, "8"]).err;
    let sparse = Disk::new((16 << 20) + APART);
    if testkit::is_in_memory(cli.path()) {
        let said = bw(sparse.text());
        assert!(said.contains("is in memory ("), "{said}");
        return skip!("the temporary folder is in memory");
    }
    let said = bw(sparse.text());
    assert!(said.contains("8 MiB: warning hole: 100 % of the files are holes"), "{said}");
    let full = cli.path().join("full");
    fs::write(&full, vec![0x5a; (16 << 20) + 2 * APART as usize]).expect("a file");
    fs::File::open(&full).and_then(|file| file.sync_all()).expect("written");
    let cached = LoopDisk::attach_through_cache(&full).expect("a loop device");
    fs::read(&full).expect("all of it in the page cache");
    // Other programs may read as many bytes from the disk below, but hardly in each of a hundred runs.
    let is_lower = || {
        let said = bw(text(cached.node()));
        assert!(!said.contains("hole"), "{said}");
        said.contains("8 MiB: warning lower: ")
    };
    assert!((0..100).any(|_| is_lower()), "no run has the warning");
    fs::File::create(cli.path().join("hole")).and_then(|file| file.set_len(16 << 20)).expect("a file");
    let said = bw("hole");
    assert!(said.contains("8 MiB: warning hole: 100 % of the files are holes"), "{said}");
    assert!(!bw("full").contains("hole"), "its data are on the disk");
    let ended = testkit::run(&program(), cli.path(), &["bw", "-l", sparse.text(), "300", "--size", "64KiB"]);
    assert!(ended.err.contains("300 reads: warning hole: "), "{}", ended.err);
}
