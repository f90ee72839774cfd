//! `diskperf verify`: on images, no acknowledged record is lost; if the device never gets a flush, records are lost. In
//! a directory, on a disk whose power the test cuts, the losses found are compared with those of the disk. `cargo xtask
//! prove` does both more often.
//!
//! The check is independent of the program: the disk's write cache (`testkit::write_cache`) keeps the sectors that it
//! dropped. A record whose newest version was in such a sector was dropped.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use kernel::{PrivateMounts, may_administer};
use serde_json::{Value, json};
use testkit::fuse::{Knobs, OneFile};
use testkit::loop_disk::LoopDisk;
use testkit::write_cache::{Fate, Moment, WriteCache};
use testkit::{ProgramOutput, run, skip, tool, wait_until};
use units::Prng;

use common::document::document;
use common::{Cli, loop_devices_on, program};

/// The environment variable with the number of power cuts, for each kind of test.
const CUTS: &str = "DISKPERF_VERIFY_CUTS";

fn cuts(usual: u64) -> u64 {
    std::env::var(CUTS).map_or(usual, |cuts| cuts.parse().expect("a number"))
}

/// The reason why no file system can be made and mounted here.
fn cannot(file_system: &str) -> Option<String> {
    if !may_administer() || !Path::new("/dev/loop-control").exists() {
        return Some("needs root and loop devices".to_owned());
    }
    let mkfs = format!("mkfs.{file_system}");
    tool(&mkfs).is_none().then(|| format!("needs {mkfs}"))
}

/// Runs the test on an image, and checks its document.
fn verified(folder: &Path, image: &str, rounds: u64) -> (ProgramOutput, Value) {
    let rounds = rounds.to_string();
    let ended = Cli::in_folder(folder).run(&["verify", image, "--rounds", &rounds, "--json"]);
    let document = document(&ended);
    assert_eq!(document["errors"], json!([]), "{}", ended.err);
    (ended, document)
}

/// Counts of a power cut: acknowledged, missing, torn, stale.
fn counts(cut: &Value) -> [u64; 4] {
    let kinds = cut["kinds"].as_array().expect("kinds");
    assert_eq!(kinds.len(), 4, "{cut}");
    ["acknowledged", "missing", "torn", "stale"]
        .map(|name| kinds.iter().map(|kept| kept[name].as_u64().expect("a count")).sum())
}

fn lost(cut: &Value) -> u64 {
    counts(cut)[1..].iter().sum()
}

fn all_cuts(document: &Value) -> &Vec<Value> {
    document["cuts"].as_array().expect("power cuts")
}

#[test]
fn nothing_is_lost_with_barriers_and_the_control_finds_losses() {
    if let Some(reason) = cannot("ext4") {
        return skip!("{reason}");
    }
    let (folder, rounds) = (Cli::in_memory(), cuts(6));
    let (ended, document) = verified(folder.path(), "image:ext4,size=24MiB", rounds);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let cuts = all_cuts(&document);
    assert_eq!(cuts.len() as u64, rounds);
    let false_losses: u64 = cuts.iter().map(lost).sum();
    let acknowledged: u64 = cuts.iter().map(|cut| counts(cut)[0]).sum();
    println!("{}", json!({"verify": "barriers", "cuts": rounds, "acknowledged": acknowledged, "lost": false_losses}));
    let with_losses: Vec<&Value> = cuts.iter().filter(|cut| lost(cut) > 0).collect();
    assert!(with_losses.is_empty(), "{with_losses:?}");
    // There are forty prepared records, and most power cuts come later.
    assert!(cuts.iter().all(|cut| counts(cut)[0] >= 40) && acknowledged > 40 * rounds, "{acknowledged}");
    assert!(lost(&document["control"]) > 0, "{}", document["control"]);
    assert_eq!(folder.names(), [""; 0]);
    // The kernel detaches a loop device only after the last program has closed it.
    wait_until("no loop device is attached", || loop_devices_on(folder.path()) == 0);
}

#[test]
fn power_cuts_without_barriers_lose_data_of_every_kind() {
    if let Some(reason) = cannot("ext4") {
        return skip!("{reason}");
    }
    let (folder, rounds) = (Cli::in_memory(), cuts(6));
    let (ended, document) = verified(folder.path(), "image:ext4,size=24MiB,mount=barrier=0", rounds);
    assert_eq!(ended.status, Some(5), "{}", ended.err);
    let cuts = all_cuts(&document);
    let with_losses = cuts.iter().filter(|cut| lost(cut) > 0).count();
    println!("{}", json!({"verify": "no barriers", "cuts": rounds, "with_losses": with_losses}));
    // In every other round, only data survive that the kernel had time to write, which takes seconds.
    assert!(cuts.iter().step_by(2).all(|cut| lost(cut) > 0), "{document}");
    let totals = cuts.iter().map(counts).fold([0; 4], |sum, cut| std::array::from_fn(|index| sum[index] + cut[index]));
    let [_, missing, _, stale] = totals;
    assert!(missing > 0 && stale > 0, "{totals:?}");
    assert_eq!(document["control"], Value::Null, "losses were seen");
}

/// The old setting of the device must be noted before its write cache is declared absent; here it cannot be noted.
#[test]
fn verify_fails_without_a_control_and_reports_it() {
    if let Some(reason) = cannot("ext4").or_else(|| tool("unshare").is_none().then(|| "needs unshare".to_owned())) {
        return skip!("{reason}");
    }
    let folder = Cli::in_memory();
    let script = "mount -t tmpfs -o ro tmpfs /run && exec \"$0\" verify image:ext4,size=24MiB --rounds 1 --json";
    let program = program();
    let arguments =
        ["--mount", "--propagation", "private", "sh", "-c", script, program.to_str().expect("a plain path")];
    let ended = run(&tool("unshare").expect("unshare"), folder.path(), &arguments);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let document = document(&ended);
    let message = document["errors"][0]["message"].as_str().expect("an error");
    assert!(message.starts_with("the control test failed"), "{message}");
    assert_eq!((lost(&all_cuts(&document)[0]), &document["control"]), (0, &Value::Null), "{document}");
}

#[test]
fn xfs_and_btrfs_lose_nothing() {
    let folder = Cli::in_memory();
    for file_system in ["xfs", "btrfs"] {
        if let Some(reason) = cannot(file_system) {
            return skip!("{reason}");
        }
        let (ended, document) = verified(folder.path(), &format!("image:{file_system}"), 1);
        assert_eq!((ended.status, lost(&all_cuts(&document)[0])), (Some(0), 0), "{document}");
        assert!(lost(&document["control"]) > 0, "{document}");
    }
}

#[test]
fn losses_are_in_a_table_and_a_kill_leaves_nothing() {
    if let Some(reason) = cannot("ext4") {
        return skip!("{reason}");
    }
    let folder = Cli::in_memory();
    let ended = folder.run(&["verify", "image:ext4,size=24MiB,mount=barrier=0", "--rounds", "1"]);
    assert_eq!(ended.status, Some(5), "{}", ended.err);
    for words in ["acknowledged", "missing", "torn", "stale", "overwrite", "One power cut: ", "cut 1: "] {
        assert!(ended.out.contains(words), "{}", ended.out);
    }
    assert!(ended.err.contains("writes an image of "), "{}", ended.err);
    for signal in ["kill", "interrupt"] {
        let mut command = testkit::command(&program());
        command.args(["verify", "image:ext4,size=24MiB", "--rounds", "1000"]).current_dir(folder.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        wait_until("the image is attached", || loop_devices_on(folder.path()) > 0);
        if signal == "kill" {
            child.kill().expect("it is killed");
            child.wait().expect("its end");
        } else {
            let pid = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("diskperf gets SIGINT");
            assert_eq!(child.wait().expect("its end").code(), Some(4));
        }
        wait_until("nothing is attached", || loop_devices_on(folder.path()) == 0);
        assert_eq!(folder.names(), [""; 0], "{signal}");
    }
}

#[test]
fn dangerous_and_impossible_verifications_are_refused() {
    let folder = Cli::new();
    let here = folder.path();
    fs::write(here.join("file"), "no log\n").expect("a file");
    fs::write(here.join("bytes"), [0xff; 100]).expect("a file");
    let hostile = "diskperf-verify 1 9 512 .diskperf-verify-x\noverwrite 9999999999999999999 1\n";
    fs::write(here.join("hostile"), hostile).expect("a file");
    for (arguments, status, words) in [
        (&["verify", "image:ext4,mount=errors=panic"][..], 3, "errors=panic"),
        (&["verify", "."], 2, "cannot cut the power"),
        (&["verify", "sim:flat"], 2, "cannot verify"),
        (&["verify", "file:file"], 2, "cannot verify"),
        (&["verify", "missing"], 2, "there is no missing"),
        (&["verify", ".", "--check", "missing"], 2, "there is no missing"),
        (&["verify", ".", "--check", "bytes"], 2, "does not begin like"),
        (&["verify", ".", "--check", "file"], 2, "not a log of `diskperf verify --write`"),
        (&["verify", ".", "--check", "hostile"], 2, "line 2 is not from"),
        (&["verify", ".", "--lost-folder"], 2, "--check"),
        // As with any benchmark, diskperf asks if a place is rarely meant.
        (&["verify", "image:ext4,dir=/"], 3, "is the root directory"),
        (&["verify", "image:ext4,dir=/,mount=errors=panic", "--yes"], 3, "errors=panic"),
    ] {
        if status == 3 && !testkit::has_tool("mkfs.ext4") {
            continue;
        }
        let ended = Cli::in_folder(here).run(arguments);
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{arguments:?}: {}", ended.err);
        let has_hint = ended.err.contains("hint: ") || ended.err.contains("Usage: ");
        assert!(ended.err.contains(words) && has_hint, "{arguments:?}: {}", ended.err);
    }
    if !may_administer() && testkit::has_tool("mkfs.ext4") {
        let ended = Cli::in_folder(here).run(&["verify", "image:ext4", "--json"]);
        assert_eq!(ended.status, Some(3), "{}", ended.err);
        assert_eq!(document(&ended)["errors"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn writing_prints_durable_records_and_leaves_nothing() {
    let folder = Cli::new();
    // A file on the same disk would be lost with it.
    let same = File::create(folder.path().join("log")).expect("a file");
    let mut command = testkit::command(&program());
    let refused = command.args(["verify", ".", "--write"]).current_dir(folder.path()).stdout(same).output();
    assert_eq!(refused.expect("it starts").status.code(), Some(3));
    let mut writing = Writing::start(folder.path());
    writing.read_lines(60);
    let written = folder.names();
    assert!(written.iter().any(|name| name.starts_with(".diskperf-verify-")), "{written:?}");
    let pid = rustix::process::Pid::from_child(&writing.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("diskperf gets SIGINT");
    writing.hear_all();
    assert_eq!(writing.child.wait().expect("its end").code(), Some(4));
    assert_eq!(folder.names(), ["log"]);
    // All records were withdrawn before they were removed: none is acknowledged, and none is lost.
    fs::write(folder.path().join("log"), writing.lines.concat()).expect("a log");
    let ended = folder.run(&["verify", ".", "--check", "log", "--json"]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert_eq!(counts(&all_cuts(&document(&ended))[0]), [0; 4]);
}

#[test]
fn records_stay_if_their_retirement_cannot_be_printed() {
    let folder = Cli::new();
    let mut writing = Writing::start(folder.path());
    writing.read_lines(60);
    let deaf = writing.hang_up();
    assert_eq!(deaf.expect("its end").code(), Some(0));
    assert_eq!(folder.names().len(), 1);
    let log = writing.write_log(folder.path());
    let ended = folder.run(&["verify", ".", "--check", &log, "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let [acknowledged, lost @ ..] = counts(&all_cuts(&document(&ended))[0]);
    assert!(acknowledged >= 40 && lost == [0; 3], "{lost:?} of {acknowledged}");
}

#[test]
fn missing_or_still_written_folders_are_not_reported_as_lost() {
    let folder = Cli::new();
    let elsewhere = tempfile::tempdir().expect("where the disk is not mounted");
    let mut writing = Writing::start(folder.path());
    writing.read_lines(60);
    let log = writing.write_log(elsewhere.path());
    let check =
        |place: &Path, more: &[&str]| Cli::in_folder(place).run(&[&["verify", ".", "--check", &log], more].concat());
    let ended = check(folder.path(), &[]);
    let is_tagged = ended.status == Some(3);
    assert!(is_tagged == ended.err.contains(" is still writing in "), "{}", ended.err);
    writing.kill(elsewhere.path());
    let ended = check(elsewhere.path(), &[]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{}", ended.err);
    assert!(ended.err.contains("the disk is mounted there"), "{}", ended.err);
    // The user says that the folder is lost.
    let ended = check(elsewhere.path(), &["--lost-folder", "--json"]);
    assert_eq!(ended.status, Some(5), "{}", ended.err);
    let [acknowledged, missing, ..] = counts(&all_cuts(&document(&ended))[0]);
    assert!(acknowledged >= 40 && missing == acknowledged, "{missing} of {acknowledged}");
    // Without a record to look for, the folder stays.
    let nothing = elsewhere.path().join("nothing");
    fs::write(&nothing, &writing.lines[0]).expect("a log");
    let nothing = nothing.to_str().expect("a plain path");
    assert_eq!(folder.run(&["verify", ".", "--check", nothing]).status, Some(1));
    assert_eq!(folder.names().len(), 1);
    // If the power was not cut, diskperf says so.
    let ended = check(folder.path(), &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(ended.err.contains("was not restarted since"), is_tagged, "{}", ended.err);
}

#[test]
fn all_records_survive_a_kill_and_are_then_removed() {
    let folder = Cli::new();
    let elsewhere = tempfile::tempdir().expect("a folder for the log");
    let mut writing = Writing::start(folder.path());
    writing.read_lines(60);
    // Without a power cut, no record is lost.
    let log = writing.kill(elsewhere.path());
    assert_eq!(folder.names().len(), 1);
    let ended = folder.run(&["verify", ".", "--check", &log]);
    assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("One power cut: all "), "{}", ended.out);
    // If files cannot have tags, the folder stays, and diskperf says so.
    assert_eq!(folder.names().is_empty(), !ended.err.contains(" stays: "), "{}", ended.err);
}

/// After a power cut, the kernel may mount the file system read-only.
#[test]
fn records_on_a_read_only_file_system_are_checked() {
    if !may_administer() {
        return skip!("needs root");
    }
    let folder = Cli::new();
    let elsewhere = tempfile::tempdir().expect("a folder for the log");
    let mut writing = Writing::start(folder.path());
    writing.read_lines(60);
    let log = writing.kill(elsewhere.path());
    let _mounts = PrivateMounts::enter().expect("mounts of our own");
    let path = folder.path().to_string_lossy().into_owned();
    run_tool("mount", &["--bind", &path, &path]);
    let _mounted = Mounted(folder.path().to_owned());
    run_tool("mount", &["-o", "remount,bind,ro", &path]);
    let ended = folder.run(&["verify", ".", "--check", &log]);
    assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains(" stays: "), "{}", ended.err);
}

/// The log's page cache may be lost in the power cut, too. On a stop, all four kinds of records are retired.
#[test]
fn retirements_are_durable_in_a_log_file() {
    if !may_administer() || !Path::new("/dev/fuse").exists() {
        return skip!("needs root and /dev/fuse");
    }
    let _mounts = PrivateMounts::enter().expect("mounts of our own");
    let (folder, served, elsewhere) = (Cli::new(), Cli::new(), Cli::new());
    let below = elsewhere.path().join("log");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&below).expect("a file");
    file.set_len(1 << 20).expect("its bytes");
    let fuse = OneFile::mount(served.path(), file, Knobs::default()).expect("a mount");
    let log = OpenOptions::new().write(true).open(fuse.file()).expect("the log");
    let mut command = testkit::command(&program());
    command.args(["verify", ".", "--write"]).current_dir(folder.path()).stdin(Stdio::null());
    let child = command.stdout(log).stderr(Stdio::null()).spawn().expect("it starts");
    let mut writing = Writing { child, out: None, lines: Vec::new() };
    wait_until("it prints", || fs::read(&below).is_ok_and(|log| log.contains(&b'\n')));
    let pid = rustix::process::Pid::from_child(&writing.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("diskperf gets SIGINT");
    assert_eq!(writing.child.wait().expect("its end").code(), Some(4));
    assert!(fuse.fsyncs() >= 4, "{}", fuse.fsyncs());
}

/// A running `diskperf verify --write`, and its output so far.
struct Writing {
    child: Child,
    out: Option<BufReader<std::process::ChildStdout>>,
    lines: Vec<String>,
}

impl Writing {
    fn start(folder: &Path) -> Writing {
        let mut command = testkit::command(&program());
        command.args(["verify", ".", "--write"]).current_dir(folder).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let out = child.stdout.take().map(BufReader::new);
        Writing { child, out, lines: Vec::new() }
    }

    /// Reads this many more lines, or all that there are.
    fn read_lines(&mut self, lines: usize) {
        for _ in 0..lines {
            let mut line = String::new();
            let out = self.out.as_mut().expect("nobody has hung up");
            if out.read_line(&mut line).expect("what it printed") == 0 {
                return;
            }
            self.lines.push(line);
        }
    }

    fn hear_all(&mut self) {
        self.read_lines(usize::MAX);
    }

    /// Closes the pipe, which ends the program.
    fn hang_up(&mut self) -> std::io::Result<ExitStatus> {
        self.out = None;
        self.child.wait()
    }

    /// Kills it, and writes its output so far into a log.
    fn kill(&mut self, folder: &Path) -> String {
        self.child.kill().expect("it is killed, or has ended");
        self.child.wait().expect("its end");
        self.write_log(folder)
    }

    fn write_log(&self, folder: &Path) -> String {
        let path = folder.join("log");
        fs::write(&path, self.lines.concat()).expect("a log");
        path.to_str().expect("a plain path").to_owned()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes of a disk: an ext4 with its journal, and room for the records.
const DISK: u64 = (32 << 20) + testkit::fuse::APART;

/// A mounted file system, unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    /// Mounts the disk in the file. An error if it cannot be mounted.
    fn mount(file: &Path, folder: &Path) -> Result<Mounted, String> {
        let mut device = LoopDisk::attach(file).or_else(|_| LoopDisk::attach_through_cache(file)).expect("a device");
        let arguments = [&*device.node().to_string_lossy(), &*folder.to_string_lossy()];
        let ended = run(&tool("mount").expect("mount"), Path::new("/"), &arguments);
        device.leave();
        if ended.status == Some(0) { Ok(Mounted(folder.to_owned())) } else { Err(ended.err) }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let ended = run(&tool("umount").expect("umount"), Path::new("/"), &[&self.0.to_string_lossy()]);
        assert!(std::thread::panicking() || ended.status == Some(0), "{}", ended.err);
    }
}

fn run_tool(name: &str, arguments: &[&str]) {
    let ended = run(&tool(name).expect("the tool"), Path::new("/"), arguments);
    assert_eq!(ended.status, Some(0), "{name} {arguments:?}: {}", ended.err);
}

/// The bytes of a disk with an empty file system on it.
fn blank() -> Vec<u8> {
    let folder = Cli::in_memory();
    let path = folder.path().join("disk");
    File::create(&path).and_then(|file| file.set_len(DISK)).expect("a file");
    run_tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", &path.to_string_lossy()]);
    fs::read(path).expect("its bytes")
}

/// The outcome of one round on a disk of the test.
#[derive(Debug)]
struct Round {
    /// Acknowledged records whose newest sectors the disk dropped.
    dropped: usize,
    acknowledged: u64,
    lost: u64,
    status: Option<i32>,
    /// The reason why the file system cannot be mounted any more, if it cannot.
    unmountable: Option<String>,
}

/// Writes on a disk with this cache, cuts its power after this many lines, and runs the check.
fn power_round(blank: &[u8], cache: WriteCache, lines: usize) -> Round {
    let folder = Cli::in_memory();
    let path = |name: &str| folder.path().join(name);
    for name in ["served", "data"] {
        fs::create_dir(path(name)).expect("a folder");
    }
    fs::write(path("disk"), blank).expect("a disk");
    let below = || OpenOptions::new().read(true).write(true).open(path("disk")).expect("the disk");
    let fuse = OneFile::mount(&path("served"), below(), Knobs::default()).expect("a mount");
    let mounted = Mounted::mount(&fuse.file(), &path("data")).expect("an empty file system");
    rustix::fs::syncfs(File::open(&mounted.0).expect("the mounted folder")).expect("everything is on the disk");
    fuse.put(cache);
    let mut writing = Writing::start(&path("data"));
    writing.read_lines(lines);
    // Lines that are printed from here on are too late.
    fuse.cut().expect("the disk below takes what lasts");
    let dropped = fuse.dropped();
    let log = writing.kill(folder.path());
    drop((mounted, fuse));
    // If the mount fails, or the folder is lost, too, all records count as lost: a user would mount the file system if
    // that were possible.
    let mounted = Mounted::mount(&path("disk"), &path("data"));
    let ended = Cli::in_folder(path("data")).run(&["verify", ".", "--check", &log, "--lost-folder", "--json"]);
    let document = document(&ended);
    let cut = &all_cuts(&document)[0];
    let dropped = records_in(&dropped, &writing.lines);
    Round {
        dropped,
        acknowledged: counts(cut)[0],
        lost: lost(cut),
        status: ended.status,
        unmountable: mounted.as_ref().err().cloned(),
    }
}

/// The number of acknowledged records whose newest version is in dropped sectors. The stamps show it: sixteen bytes
/// with the identity of the record, and with its version times the record size plus the offset in the record.
fn records_in(dropped: &[Vec<u8>], lines: &[String]) -> usize {
    let mut words = lines[0].split_whitespace().skip(2);
    let seed: u64 = words.next().and_then(|seed| seed.parse().ok()).expect("a seed");
    let mut newest: BTreeMap<u64, u64> = BTreeMap::new();
    for line in &lines[1..] {
        let [kind, number, version] = line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{line}") };
        let kind = ["create", "append", "overwrite", "replace"].iter().position(|name| *name == kind).expect("a kind");
        let identity = [seed, kind as u64, number.parse().expect("a number")];
        let identity = units::fnv1a(identity.into_iter().flat_map(u64::to_le_bytes));
        let version: u64 = version.parse().expect("a version");
        newest.entry(identity).and_modify(|newest| *newest = version.max(*newest)).or_insert(version);
    }
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let stamps = dropped.iter().map(|sector| (word(sector, 0), word(sector, 8) / (16 << 10)));
    let records = stamps.filter(|(identity, version)| newest.get(identity) == Some(version));
    records.map(|(identity, _)| identity).collect::<BTreeSet<_>>().len()
}

/// The fate of unflushed sectors. With an even index, no version lasts; with an odd one, a random version of each
/// sector lasts.
fn fate(index: u64, mut random: Prng) -> Fate {
    match index % 2 {
        0 => Box::new(|_| 0),
        _ => Box::new(move |versions| random.below(versions as u64) as usize),
    }
}

#[test]
fn losses_are_found_exactly_if_a_disk_drops_unflushed_data() {
    if let Some(reason) = cannot("ext4") {
        return skip!("{reason}");
    }
    PrivateMounts::enter().expect("mounts of our own");
    let (blank, rounds) = (blank(), cuts(4));
    let mut random = Prng::new(rounds);
    let mut honest = Vec::new();
    let mut deaf = Vec::new();
    for index in 0..rounds {
        let mut cache = || WriteCache::new(Moment::NEVER, fate(index, Prng::new(random.next_u64())));
        let (one, other) = (cache(), cache().deaf());
        let mut lines = || 45 + random.below(60) as usize;
        honest.push(power_round(&blank, one, lines()));
        deaf.push(power_round(&blank, other, lines()));
    }
    let with_dropped = deaf.iter().filter(|round| round.dropped > 0);
    let (with_dropped, found) = (with_dropped.clone().count(), with_dropped.filter(|round| round.lost > 0).count());
    let false_losses: u64 = honest.iter().map(|round| round.lost).sum();
    println!(
        "{}",
        json!({"verify": "disk", "cuts": rounds, "with_dropped": with_dropped, "found": found, "lost": false_losses})
    );
    assert!(honest.iter().all(|round| round.acknowledged >= 40 && round.dropped == 0), "{honest:?}");
    assert!(honest.iter().all(|round| round.unmountable.is_none()), "{honest:?}");
    assert!(honest.iter().all(|round| (round.lost, round.status) == (0, Some(0))), "{honest:?}");
    assert!(with_dropped as u64 >= rounds / 2, "the disk dropped what was acknowledged: {deaf:?}");
    assert_eq!(found, with_dropped, "{deaf:?}");
    assert!(deaf.iter().all(|round| round.status == Some(if round.lost > 0 { 5 } else { 0 })), "{deaf:?}");
}
