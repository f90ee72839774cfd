//! Real faults, each made by the kernel: a disk that fills up, breaks, lies or goes away; a file system that is
//! removed; a process that reaches a limit. Finished results are kept; those that the fault hit are `n.m.` with a
//! reason; nothing is left behind; the exit status and the one JSON document report the end.

mod common;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use common::faults::{Running, cells, kept, start};
use common::ground::ground;
use kernel::PrivateMounts;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Signal;
use serde_json::Value;
use testkit::fuse::{APART, Bad, Fsync, Knobs, OneFile};
use testkit::loop_disk::LoopDisk;
use testkit::{ProgramOutput, has_tool, names_in, need_disk, run_tool, skip, wait_until};
use units::Bytes;

use common::document::document;
use common::{Cli, mark, program, remarks, text};

const MIB: u64 = 1 << 20;

/// Skips the test, with the reason, if there can be no breaking disk here.
macro_rules! need {
    ($($tool:expr),*) => {
        need_disk!($($tool),*);
        if !Path::new("/dev/fuse").exists() {
            return skip!("there is no /dev/fuse");
        }
    };
}

/// `diskperf run smoke` with these words, as a document.
fn smoke(folder: &Path, arguments: &[&str]) -> ProgramOutput {
    testkit::run(&program(), folder, &[&["run", "smoke", "--json"], arguments].concat())
}

/// Stops a run with this signal, and returns once it is stopped.
fn hold(run: &mut Running, signal: Signal) {
    run.signal(signal);
    let status = format!("/proc/{}/status", run.child().id());
    wait_until("it stands still", || fs::read_to_string(&status).is_ok_and(|status| status.contains("T (stopped)")));
}

/// Asserts that none of these cells has a figure, and that each has one of these words as its reason.
fn assert_void(cells: &[&Value], words: &[&str]) {
    for cell in cells {
        assert!(cell["measured"] == false && cell["rate"].is_null(), "{cell:#}");
        assert!(mark(cell, "error").is_some(), "{cell:#}");
        let reason = cell["reason"].as_str().expect("a reason");
        assert!(words.iter().any(|word| reason.contains(word)), "{words:?}: {reason}");
    }
}

/// The document of a run that failed. Its first problem is in this program and phase, on this target, and is also on
/// standard error.
fn failed(ended: &ProgramOutput, target: &str, program: &str, phase: &str, word: &str) -> Value {
    let (document, problem) = failure(ended, target, program);
    assert_eq!(problem["phase"], phase, "{problem:#}");
    assert!(problem["message"].as_str().is_some_and(|message| message.contains(word)), "{problem:#}");
    document
}

/// The document of a run that failed, and the problem of this program on this target, which is also on standard error.
fn failure(ended: &ProgramOutput, target: &str, program: &str) -> (Value, Value) {
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let document = document(ended);
    let problems = document["errors"].as_array().expect("errors");
    let problem = problems.iter().find(|problem| problem["program"] == program && problem["target"] == target);
    let problem = problem.unwrap_or_else(|| panic!("{program} on {target}: {problems:#?}")).clone();
    // A program that failed during its preparation was in none of its phases.
    let phase = problem["phase"].as_str().map_or_else(String::new, |phase| format!(", {phase}"));
    let message = problem["message"].as_str().expect("a message");
    let said = format!("error: {program}{phase} on {target}: {message}");
    assert!(ended.err.contains(&said), "{said}: {}", ended.err);
    let hint = problem["hint"].as_str().unwrap_or_else(|| panic!("no hint: {problem:#}"));
    assert!(ended.err.contains(&format!("hint: {hint}")), "{}", ended.err);
    (document, problem)
}

/// A file of the test's own that can be broken.
struct BadFile {
    fuse: OneFile,
    folder: Cli,
}

impl BadFile {
    fn holding(bytes: &[u8]) -> BadFile {
        BadFile::filled_by(|file| file.write_all(bytes))
    }

    fn filled_by(fill: impl FnOnce(&mut File) -> std::io::Result<()>) -> BadFile {
        PrivateMounts::enter().expect("mounts of our own");
        let folder = Cli::new();
        let below = folder.path().join("below");
        let mut file = File::options().read(true).write(true).create_new(true).open(below).expect("a file");
        fill(&mut file).expect("it is filled");
        fs::create_dir(folder.path().join("point")).expect("a folder");
        let fuse = OneFile::mount(&folder.path().join("point"), file, Knobs::default()).expect("a mount");
        BadFile { fuse, folder }
    }

    fn turn(&self, at: std::ops::Range<u64>, bad: Bad) {
        self.fuse.turn(Knobs { bad: Some((at, bad)), ..Knobs::default() });
    }
}

/// An ext4 on a disk that can be broken, mounted on a folder that only this thread and its children can see.
struct BadDisk {
    mount: PathBuf,
    device: Option<LoopDisk>,
    file: BadFile,
    good: Cli,
}

impl BadDisk {
    fn new() -> BadDisk {
        let file = BadFile::filled_by(|file| file.set_len(64 * MIB + APART));
        let device = LoopDisk::attach(&file.fuse.file()).expect("a loop device");
        let mount = file.folder.path().join("mount");
        fs::create_dir(&mount).expect("a folder");
        let disk = BadDisk { mount, device: Some(device), file, good: Cli::new() };
        run_tool("mkfs.ext4", &["-q", disk.node()]);
        disk.mount();
        disk
    }

    fn node(&self) -> &str {
        text(self.device.as_ref().expect("it is attached").node())
    }

    fn mount(&self) {
        run_tool("mount", &["-o", "errors=remount-ro", self.node(), text(&self.mount)]);
    }

    /// The arguments that measure a good folder and this disk in turn.
    fn targets(&self) -> [String; 2] {
        [format!("good={}", self.good.path().display()), format!("bad={}", self.mount.display())]
    }

    fn folders(&self) -> Vec<String> {
        names_in(&self.mount).into_iter().filter(|name| name != "lost+found").collect()
    }

    /// Starts a run on both targets, stops it in the middle, does this to the disk, and lets the run go on to its end.
    fn in_mid_run(&self, programs: &[&str], rounds: &str, deed: impl FnOnce()) -> ProgramOutput {
        let targets = self.targets();
        let targets = [targets[0].as_str(), targets[1].as_str(), "--rounds", rounds];
        // Slow syncs: the run must not end before it is stopped, even if a busy machine delays this test.
        self.file.fuse.turn(Knobs { fsync: Fsync::Sleep(Duration::from_millis(10)), ..Knobs::default() });
        let mut run = start(self.good.path(), &[programs, &targets].concat());
        let before = self.file.fuse.fsyncs();
        // Each program syncs often on this disk, and all of them many times in all rounds.
        wait_until("the run is at work", || self.file.fuse.fsyncs() >= before + 15);
        hold(&mut run, Signal::STOP);
        deed();
        run.signal(Signal::CONT);
        run.end()
    }
}

impl Drop for BadDisk {
    fn drop(&mut self) {
        // A test may have unmounted it already.
        testkit::run(Path::new("umount"), Path::new("/"), &["-l", text(&self.mount)]);
        self.device = None;
        assert!(thread::panicking() || names_in(self.good.path()).is_empty(), "{:?}", names_in(self.good.path()));
    }
}

/// Another program fills the disk after the check of its room: while the run announces its writes, into a pipe that is
/// not read yet.
#[test]
fn a_disk_filled_during_the_run_voids_the_cell() {
    need!("mkfs.ext4");
    let folder = Cli::new();
    let ground = ground("ext4", folder.path(), Bytes::mib(64));
    let (mut ears, mouth) = std::io::pipe().expect("a pipe");
    rustix::fs::fcntl_setfl(&mouth, OFlags::NONBLOCK).expect("nobody waits yet");
    while (&mouth).write(&[b'\n'; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&mouth, OFlags::empty()).expect("it is full");
    let mut command = testkit::command(&program());
    command.args(["run", "smoke", "--size", "4MiB", "--only", "commit", "--only", "write_8192", "--json"]);
    command.current_dir(ground.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(mouth);
    let mut run = Running(Some(command.spawn().expect("diskperf starts")));
    // The command holds the end of the pipe, too.
    drop(command);
    // The number of the call, then its first argument: standard error.
    let call = format!("/proc/{}/syscall", run.child().id());
    let is_talking = || fs::read_to_string(&call).is_ok_and(|call| call.split(' ').nth(1) == Some("0x2"));
    wait_until("it tells what it will write", is_talking);
    let free = rustix::fs::statvfs(ground.path()).expect("space");
    let filler = File::create(ground.path().join("filler")).expect("a file");
    // With root's reserve, but without the reserve of ext4 itself: 2 % (Documentation/admin-guide/ext4.rst).
    let most = (free.f_bfree * free.f_frsize).saturating_sub(3 * MIB);
    rustix::fs::fallocate(&filler, rustix::fs::FallocateFlags::empty(), 0, most).expect("it is filled");
    let said = thread::spawn(move || {
        let mut said = String::new();
        ears.read_to_string(&mut said).map(|_| said)
    });
    let ended = run.end();
    let ended = ProgramOutput { err: said.join().expect("the reader is well").expect("words"), ..ended };
    let word = if ended.out.contains("bytes moved") { "bytes moved" } else { "no space left" };
    let document = failed(&ended, ".", "write_8192", "write", word);
    kept(&cells(&document, ".", "commit"), 2);
    assert_void(&cells(&document, ".", "write_8192"), &["no space left on the device", "bytes moved"]);
    assert_eq!(names_in(ground.path()), ["filler", "lost+found"]);
}

#[test]
fn an_exhausted_disk_quota_voids_the_cell() {
    need!("mkfs.btrfs", "btrfs");
    let folder = Cli::new();
    let ground = ground("btrfs", folder.path(), Bytes::mib(128));
    run_tool("btrfs", &["quota", "enable", text(ground.path())]);
    run_tool("btrfs", &["qgroup", "limit", "2M", text(ground.path())]);
    let ended = smoke(ground.path(), &["--size", "4MiB", "--only", "commit", "--only", "write_8192"]);
    let document = failed(&ended, ".", "write_8192", "write", "the quota is used up");
    kept(&cells(&document, ".", "commit"), 2);
    assert_void(&cells(&document, ".", "write_8192"), &["the quota is used up"]);
    assert_eq!(names_in(ground.path()), [""; 0]);
}

#[test]
fn a_file_size_limit_voids_the_cell() {
    let folder = Cli::new();
    if !has_tool("prlimit") {
        return skip!("prlimit is not installed");
    }
    let program = program();
    let words = ["--fsize=1048576", text(&program), "run", "smoke", "--json", "--size", "2MiB", "--only", "commit"];
    let ended = testkit::run(Path::new("prlimit"), folder.path(), &[&words[..], &["--only", "write_8192"]].concat());
    let document = failed(&ended, ".", "write_8192", "write", "file too large");
    kept(&cells(&document, ".", "commit"), 2);
    assert_void(&cells(&document, ".", "write_8192"), &["file too large"]);
    assert_eq!(folder.names(), [""; 0]);
}

/// A file with a bad block at 1 MiB; data at other offsets are measured.
#[test]
fn bad_short_and_interrupted_reads_are_reported() {
    need!();
    let file = BadFile::holding(&vec![0x5a; 2 * MIB as usize]);
    let target = format!("bad=file:{}", file.fuse.file().display());
    let run = |program: &[&str]| {
        smoke(file.folder.path(), &[&[target.as_str(), "--cold", "--seed", "1", "--size", "2MiB"], program].concat())
    };
    let bad = MIB..MIB + 1;
    // Read through the page cache. The random reads of this seed do not meet the bad block.
    file.turn(bad, Bad::Fails(Errno::IO));
    let document = failed(&run(&[]), "bad", "read_8192", "read", "input/output error");
    assert_void(&cells(&document, "bad", "read_8192"), &["input/output error"]);
    kept(&cells(&document, "bad", "randread"), 2);
    // Past the page cache, at any offset.
    for (bad, word) in [(Bad::Short, "bytes moved"), (Bad::Fails(Errno::INTR), "a signal interrupted the call")] {
        file.turn(0..2 * MIB, bad);
        let document = failed(&run(&["--only", "randread"]), "bad", "randread", "randread", word);
        assert_void(&cells(&document, "bad", "randread"), &[word]);
    }
    // Each error has its name; EINVAL for an aligned read is not taken for a misalignment.
    for (errno, name) in [
        (Errno::INVAL, "EINVAL"),
        (Errno::IO, "EIO"),
        (Errno::REMOTEIO, "EREMOTEIO"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
        (Errno::NODATA, "ENODATA"),
        (Errno::UCLEAN, "EUCLEAN"),
    ] {
        file.turn(0..2 * MIB, Bad::Fails(errno));
        let ended = run(&["--only", "randread"]);
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        let document: Value = serde_json::from_str(&ended.out).expect("one document");
        let message = document["errors"][0]["message"].as_str().expect("a message").to_owned();
        assert!(message.starts_with("read ") && message.ends_with(&format!("({name})")), "{message}");
        assert!(!message.contains("aligned"), "{message}");
        assert_void(&cells(&document, "bad", "randread"), &[name]);
    }
    // Another program truncates the file after diskperf looked at it.
    file.fuse.turn(Knobs::default());
    let mut long = start(file.folder.path(), &["file:below", "--cold", "--size", "2MiB", "--rounds", "100000"]);
    let account = format!("/proc/{}/io", long.child().id());
    let below = file.folder.path().join("below");
    // Bytes from read calls: several times the size of the file means that rounds have begun.
    let is_read = || {
        let account = fs::read_to_string(&account).unwrap_or_default();
        let bytes = account.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok());
        bytes > Some(8 * MIB)
    };
    wait_until("the file is read", is_read);
    File::options().write(true).open(&below).and_then(|file| file.set_len(MIB + 100)).expect("it is shorter");
    let document = failed(&long.end(), "file:below", "read_8192", "read", "bytes moved");
    assert_void(&cells(&document, "file:below", "read_8192"), &["bytes moved"]);
    assert!(
        document["errors"][0]["hint"].as_str().is_some_and(|hint| hint.contains("shorter than before")),
        "{document:#}"
    );
}

/// Calls in the middle of a program return less than they should, or are interrupted: strace changes their results.
#[test]
fn short_and_interrupted_writes_are_reported() {
    let folder = Cli::new();
    if !has_tool("strace") {
        return skip!("strace is not installed");
    }
    for (fault, hit, phase, word, other) in [
        ("pwrite64:retval=512:when=3", "largefb", "write random", "only 512 bytes moved", "smallfb"),
        ("fdatasync:error=EINTR:when=5", "commit", "commit", "a signal interrupted the call", "smallfb"),
        ("fsync:error=EIO:when=2+", "smallfb", "creat", "input/output error", "commit"),
    ] {
        let (inject, traced) = (format!("inject={fault}"), format!("trace={}", fault.split(':').next().unwrap_or("")));
        let program = program();
        let words =
            ["-f", "-qq", "-o", "/dev/null", "-e", &traced, "-e", &inject, text(&program), "run", "smoke", "--json"];
        let others = ["--only", other, "--only", hit];
        let ended = testkit::run(Path::new("strace"), folder.path(), &[&words[..], &others].concat());
        let document = failed(&ended, ".", hit, phase, word);
        assert_void(&cells(&document, ".", hit), &[word]);
        kept(&cells(&document, ".", other), 2);
        assert_eq!(folder.names(), [""; 0]);
    }
}

/// The disk acknowledges every write and keeps none: the data read back are not those written.
#[test]
fn stale_content_voids_the_cell() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = BadDisk::new();
    disk.file.turn(0..u64::MAX, Bad::Lost);
    let [good, bad] = disk.targets();
    let ended = smoke(Path::new("/"), &[&good, &bad, "--rounds", "1", "--only", "write_8192", "--only", "smallfb"]);
    let document = failed(&ended, "bad", "write_8192", "write", "the data read differ from the data written");
    kept(&cells(&document, "good", ""), 1);
    assert_void(&cells(&document, "bad", ""), &["the data read differ from the data written"]);
    assert_eq!(disk.folders(), [""; 0]);
}

/// In the middle of a run the disk is gone: every request fails from then on, and the file system gives up.
#[test]
fn a_pulled_cable_is_reported() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = BadDisk::new();
    let pulled_after = Some(disk.file.fuse.fsyncs() + 20);
    disk.file.fuse.turn(Knobs { pulled_after, ..Knobs::default() });
    let [good, bad] = disk.targets();
    let ended = smoke(Path::new("/"), &[&good, &bad, "--rounds", "3", "--only", "commit", "--only", "write_8192"]);
    // The first operation after that fails, in a phase or during preparation.
    let (document, problem) = failure(&ended, "bad", "commit");
    assert!(problem["phase"].is_null() || problem["phase"] == "commit", "{problem:#}");
    kept(&cells(&document, "good", ""), 3);
    assert_void(
        &cells(&document, "bad", ""),
        &["input/output error", "read-only file system", "Input/output", "Read-only"],
    );
}

#[test]
fn a_file_system_that_becomes_read_only_is_reported() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = BadDisk::new();
    let device = disk.node().trim_start_matches("/dev/").to_owned();
    let ended = disk.in_mid_run(&["--only", "commit"], "20", || {
        // As ext4 does if it finds itself damaged.
        fs::write(format!("/sys/fs/ext4/{device}/trigger_fs_error"), "1").expect("an error");
    });
    // The first operation after the remount fails: a call of a phase, or the removal of the previous round's files.
    let (document, problem) = failure(&ended, "bad", "commit");
    assert!(problem["phase"].is_null() || problem["phase"] == "commit", "{problem:#}");
    kept(&cells(&document, "good", ""), 20);
    assert_void(&cells(&document, "bad", ""), &["read-only file system", "Read-only file system"]);
    // diskperf names the folder that it cannot remove.
    let [left] = &disk.folders()[..] else { panic!("{:?}", disk.folders()) };
    let said = format!("cannot remove the private folder {}: Read-only file system", disk.mount.join(left).display());
    assert!(ended.err.contains(&said), "{said}: {}", ended.err);
    // The hint is a command that finds it, and removes it after a yes, once the disk works again.
    let hint = ended.err.lines().find_map(|line| line.split_once("hint: when the device is writable again, run: "));
    let hint = hint.unwrap_or_else(|| panic!("no hint: {}", ended.err)).1;
    let words = shlex::split(hint).expect("words");
    assert_eq!(words[0], "diskperf");
    assert!(!words.iter().any(|word| word == "--yes"), "{hint}");
    let words: Vec<&str> = words[1..].iter().map(String::as_str).chain(["--yes"]).collect();
    let clean = || testkit::run(&program(), Path::new("/"), &words);
    let early = clean();
    assert_eq!(early.status, Some(1), "{}", early.err);
    assert!(early.err.contains("(EROFS)"), "{}", early.err);
    run_tool("umount", &[text(&disk.mount)]);
    disk.mount();
    let late = clean();
    assert_eq!(late.status, Some(0), "{}", late.err);
    assert!(late.out.contains("folder, of process "), "{}", late.out);
    assert_eq!(disk.folders(), [""; 0]);
}

#[test]
fn a_file_system_unmounted_during_the_run_is_reported() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = BadDisk::new();
    let ended = disk.in_mid_run(&["--only", "commit"], "20", || {
        run_tool("umount", &["-l", text(&disk.mount)]);
    });
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let document = document(&ended);
    assert_eq!(
        (&document["errors"][0]["target"], &document["errors"][0]["program"]),
        (&"bad".into(), &"commit".into())
    );
    assert!(ended.err.contains("hint: the target was removed or unmounted while it was measured"), "{}", ended.err);
    kept(&cells(&document, "good", ""), 20);
    assert_void(&cells(&document, "bad", ""), &["No such file", "Stale file handle"]);
    // Its files are removed with the run, although no path led there any more.
    disk.mount();
    assert_eq!(disk.folders(), [""; 0]);
}

/// The run is stopped in the middle of a phase. No figure contains that time.
#[test]
fn suspended_time_is_not_measured() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = BadDisk::new();
    for signal in [Signal::TSTP, Signal::STOP] {
        // Ten commits take 2 s: enough time to stop the run between the sixth and the last one on a busy machine.
        disk.file.fuse.turn(Knobs { fsync: Fsync::Sleep(Duration::from_millis(200)), ..Knobs::default() });
        let mut run = start(&disk.mount, &["--only", "commit", "--rounds", "1"]);
        let before = disk.file.fuse.fsyncs();
        wait_until("it commits", || disk.file.fuse.fsyncs() >= before + 6);
        let began = Instant::now();
        hold(&mut run, signal);
        thread::sleep(Duration::from_millis(700));
        let held = began.elapsed().as_secs_f64();
        run.signal(Signal::CONT);
        let ended = run.end();
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let document = document(&ended);
        assert_eq!(remarks(&document), [["repeated", "commit", "."]], "{}", ended.err);
        let [cell] = cells(&document, ".", "commit")[..] else { panic!("{document:#}") };
        kept(&[cell], 1);
        let seconds = |value: &Value| value.as_f64().expect("seconds");
        let [took, all] = [&cell["rounds"][0]["returned_s"], &document["run"]["elapsed_s"]].map(seconds);
        assert!(took + held <= all, "{took} s of {all} s, of which it stood still for {held} s");
        assert_eq!(disk.folders(), [""; 0]);
    }
}
