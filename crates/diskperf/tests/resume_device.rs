//! Runs with `new:` that are killed at six moments, each seen from outside: `resume` removes what the run had left, and
//! finishes it. What others have made stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use store::Store;
use testkit::disk::{Disk, LoopDisk, Mounted};
use testkit::{Ended, need_disk, soon, use_tool};

const MIB: u64 = 1 << 20;

/// Rounds of a run: enough that it is not finished when it is killed.
const ROUNDS: &str = "60";

/// Programs in each round.
const PROGRAMS: usize = 2;

/// So often a moment is tried to be met that may have passed when the run is stopped.
const ATTEMPTS: usize = 50;

/// Every run restores what killed ones have left tuned: one test at a time.
static RUNS: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn diskperf(folder: &Path, arguments: &[&str]) -> Ended {
    testkit::run(&testkit::program(env!("CARGO_BIN_EXE_diskperf")), folder, arguments)
}

/// A process that goes on until it is killed, which dropping it does too.
struct Run(Child);

impl Run {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it hears");
    }

    /// Stops it, and comes back when it stands still.
    fn stop(&self) {
        self.signal(Signal::STOP);
        soon("it stands still", || state_of(self.0.id()) == Some('T'));
    }

    fn kill(mut self) {
        self.0.kill().expect("it is killed");
        self.0.wait().expect("its end");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The name, the state and the parent of a process.
fn status(pid: u32) -> Option<(String, char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (begin, rest) = text.rsplit_once(") ")?;
    let (_, name) = begin.split_once('(')?;
    let mut fields = rest.split(' ');
    Some((name.to_owned(), fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn state_of(pid: u32) -> Option<char> {
    status(pid).map(|(_, state, _)| state)
}

/// The mkfs that a process has started, where one is there and has not ended.
fn mkfs_of(parent: u32) -> Option<u32> {
    let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.into_iter()
        .find(|pid| status(*pid).is_some_and(|(name, state, of)| of == parent && name == "mkfs.ext4" && state != 'Z'))
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(pid, signal).expect("it hears");
}

/// A disk of the test's own, and a store of runs.
struct Bench {
    disk: Disk,
}

impl Bench {
    fn new(bytes: u64) -> Bench {
        Bench { disk: Disk::new(bytes) }
    }

    fn here(&self) -> &Path {
        self.disk.folder.path()
    }

    fn store(&self) -> PathBuf {
        self.here().join("store.sqlite")
    }

    fn target(&self) -> String {
        format!("new:ext4@{}", self.disk.text())
    }

    fn start(&self, targets: &[&str]) -> Run {
        let arguments =
            [&["run", "smoke"], targets, &["--rounds", ROUNDS, "--only", "commit", "--only", "write_8192"]].concat();
        self.begin(&arguments)
    }

    fn begin(&self, arguments: &[&str]) -> Run {
        let mut command = testkit::command(&testkit::program(env!("CARGO_BIN_EXE_diskperf")));
        command.args(arguments).arg("--store").arg(self.store()).current_dir(self.here());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Run(command.spawn().expect("the program can be started"))
    }

    fn on_store(&self, arguments: &[&str]) -> Ended {
        let store = self.store();
        diskperf(self.here(), &[arguments, &["--store", store.to_str().expect("a plain path")]].concat())
    }

    /// How many executions of the last run are stored.
    fn stored(&self) -> usize {
        let Ok(store) = Store::open_to_read(&self.store()) else { return 0 };
        let left = store.find("last").and_then(|run| store.left(&run));
        left.map_or(0, |left| left.executions.len())
    }

    fn is_mounted_by(&self, run: &Run) -> bool {
        let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", run.0.id()));
        mounts.is_ok_and(|mounts| mounts.lines().any(|line| line.contains(&format!(" ext4 {} ", self.disk.text()))))
    }

    /// What the device holds, in words.
    fn holds(&self) -> Vec<String> {
        let inspected = kernel::guard::inspect(self.disk.node()).expect("it can be looked at");
        inspected.reasons().iter().map(ToString::to_string).collect()
    }

    /// The kernel takes the mounts of a dead process away a moment after its end.
    fn is_let_go(&self) {
        soon("nobody uses it", || {
            let inspected = kernel::guard::inspect(self.disk.node()).expect("it can be looked at");
            inspected.reasons().iter().all(kernel::guard::Reason::can_be_lifted)
        });
    }

    /// Starts a run, and kills it with this file system mounted and some of its work stored.
    fn killed(&self, more: &[&str]) {
        let target = self.target();
        let run = self.start(&[&[target.as_str()], more].concat());
        soon("something is stored", || self.stored() > 0);
        run.stop();
        assert!(self.is_mounted_by(&run));
        run.kill();
    }

    /// Stops a run while its mkfs runs, and that too: the run, and the number of mkfs.
    fn in_mkfs(&self) -> (Run, u32) {
        for _ in 0..ATTEMPTS {
            let target = self.target();
            let run = self.start(&[&target]);
            let seen = std::cell::Cell::new(None);
            soon("mkfs runs, or ran", || {
                seen.set(mkfs_of(run.0.id()));
                seen.get().is_some() || self.is_mounted_by(&run)
            });
            if let Some(mkfs) = seen.get() {
                signal(mkfs, Signal::STOP);
                soon("it stands still, or has ended", || state_of(mkfs).is_none_or(|state| "TZ".contains(state)));
                if state_of(mkfs) == Some('T') {
                    run.stop();
                    return (run, mkfs);
                }
            }
            run.kill();
            self.is_let_go();
            assert_eq!(diskperf(self.here(), &["clean", self.disk.text(), "--yes"]).status, Some(0));
        }
        panic!("mkfs was too quick");
    }

    /// The last run is complete, and nothing is left of it.
    fn is_complete(&self, ended: &Ended) {
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let list: Value = serde_json::from_str(&self.on_store(&["list", "--json"]).out).expect("JSON");
        let last = list.as_array().and_then(|runs| runs.last()).expect("a run");
        assert_eq!(last["state"], "finished", "{last:#}");
        let shown: Value = serde_json::from_str(&self.on_store(&["show", "last", "--json"]).out).expect("JSON");
        for cell in shown["cells"].as_array().expect("cells") {
            let rounds = cell["rounds"].as_array().expect("rounds").len();
            assert!(cell["measured"] == true && rounds.to_string() == ROUNDS, "{rounds}: {cell:#}");
        }
        self.is_clean();
    }

    /// Nothing is left on the device, in notes, or in mounts.
    fn is_clean(&self) {
        assert_eq!(self.holds(), [""; 0]);
        for note in ["made", "making", "tuned"] {
            let note = format!("/run/diskperf/{note}-{}", self.disk.name());
            assert!(!Path::new(&note).exists(), "{note}");
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
        assert!(!mounts.contains(self.disk.text()), "{mounts}");
    }

    fn run(&self) -> String {
        Store::open_to_read(&self.store()).and_then(|store| store.find("last")).expect("a run")
    }
}

#[test]
fn killed_during_mkfs() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    let bench = Bench::new(1024 * MIB);
    let (run, mkfs) = bench.in_mkfs();
    run.kill();
    assert_eq!(state_of(mkfs), Some('T'), "mkfs outlives the run");
    let ended = diskperf(bench.here(), &["clean", bench.disk.text(), "--yes"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains("mkfs is still at work on it"), "{}", ended.err);
    let mut command = testkit::command(&testkit::program(env!("CARGO_BIN_EXE_diskperf")));
    command.args(["resume", "--store"]).arg(bench.store()).current_dir(bench.here());
    let resumed = testkit::terminal::watch(command, 200);
    soon("it waits for mkfs", || resumed.said().contains("waiting for the mkfs that "));
    signal(mkfs, Signal::CONT);
    let ended = resumed.end();
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_complete(&ended);
}

#[test]
fn killed_after_mkfs() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    let bench = Bench::new(1024 * MIB);
    // The run stands still while mkfs goes on: it has not seen its end, and has mounted nothing.
    let (run, mkfs) = bench.in_mkfs();
    signal(mkfs, Signal::CONT);
    soon("mkfs ends", || state_of(mkfs).is_none_or(|state| state == 'Z'));
    assert!(!bench.is_mounted_by(&run));
    run.kill();
    let ended = bench.on_store(&["resume"]);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_complete(&ended);
}

#[test]
fn killed_while_mounted() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    let bench = Bench::new(64 * MIB);
    let target = bench.target();
    let run = bench.start(&[&target]);
    soon("it is mounted", || bench.is_mounted_by(&run));
    run.kill();
    let ended = bench.on_store(&["resume"]);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_complete(&ended);
}

/// A disk that cannot discard keeps what was written. Those data are our own, and the device is held until it is used again.
#[test]
fn killed_on_a_disk_that_cannot_discard() {
    need_disk!("mkfs.ext4", "mount", "umount", "dd");
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let memory = Mounted::ramfs(folder.path());
    let disk = Disk::attached(0, &[], |_| {
        // A loop device discards by a hole in its file, which ramfs cannot make.
        let there = memory.path().join("disk");
        fs::File::create_new(&there).and_then(|file| file.set_len(64 * MIB)).expect("a file in memory");
        LoopDisk::attach_through_cache(&there)
    });
    assert_eq!(disk.device.attribute("queue/discard_max_bytes"), "0");
    let bench = Bench { disk };
    bench.killed(&[]);
    bench.is_let_go();
    // A place that the guard takes a sample of, and that ext4 does not write.
    use_tool(
        "dd",
        &["if=/dev/urandom", &format!("of={}", bench.disk.text()), "bs=1M", "seek=63", "count=1", "conv=notrunc"],
    );
    let ended = bench.on_store(&["resume"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    assert_eq!(bench.holds(), ["it holds data of no known format"]);
    drop(bench);
    drop(memory);
}

/// Kills a run when so many executions are stored, and goes on with it.
fn killed_with(is_it: impl Fn(usize) -> bool) {
    for _ in 0..ATTEMPTS {
        let bench = Bench::new(64 * MIB);
        let target = bench.target();
        let run = bench.start(&[&target]);
        soon("that many are stored", || is_it(bench.stored()));
        run.stop();
        let is_met = is_it(bench.stored());
        run.kill();
        let ended = bench.on_store(&["resume"]);
        assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
        bench.is_complete(&ended);
        if is_met {
            return;
        }
    }
    panic!("the moment was never met");
}

#[test]
fn killed_in_the_middle_of_a_round() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    killed_with(|stored| stored % PROGRAMS != 0);
}

#[test]
fn killed_between_rounds() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    killed_with(|stored| stored > 0 && stored % PROGRAMS == 0);
}

/// Kills a run while its queue is tuned.
fn killed_while_tuned(bench: &Bench, attribute: &str, value: &str, more: &[&str]) {
    let target = format!("{},tune=read_ahead_kb:{value}", bench.target());
    let run = bench.start(&[&[target.as_str()], more].concat());
    loop {
        soon("it is mounted and tuned", || bench.stored() > 0 && bench.disk.device.attribute(attribute) == value);
        run.stop();
        if bench.disk.device.attribute(attribute) == value {
            return run.kill();
        }
        run.signal(Signal::CONT);
    }
}

#[test]
fn killed_while_tuned_and_where_the_run_cannot_go_on() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    let attribute = "queue/read_ahead_kb";
    let bench = Bench::new(64 * MIB);
    let before = bench.disk.device.attribute(attribute);
    let other = if before == "64" { "32" } else { "64" };
    killed_while_tuned(&bench, attribute, other, &[]);
    let ended = bench.on_store(&["resume"]);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_complete(&ended);
    assert_eq!(bench.disk.device.attribute(attribute), before);
    // Another target of the run is gone.
    let bench = Bench::new(64 * MIB);
    let before = bench.disk.device.attribute(attribute);
    fs::create_dir(bench.here().join("second")).expect("a folder");
    killed_while_tuned(&bench, attribute, other, &["second"]);
    let second = bench.here().join("second");
    fs::rename(&second, bench.here().join("away")).expect("it is gone");
    let ended = bench.on_store(&["resume"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    let (node, run) = (bench.disk.text(), bench.run());
    assert!(ended.err.contains("error: there is no second"), "{}", ended.err);
    assert!(ended.err.contains(&format!("erased the ext4 on {node}, left by {run} (process ")), "{}", ended.err);
    assert_eq!(bench.disk.device.attribute(attribute), before);
    bench.is_clean();
    // Once it is there again, the run can be finished all the same.
    fs::create_dir(&second).expect("a folder");
    let ended = bench.on_store(&["resume"]);
    bench.is_complete(&ended);
    assert_eq!(testkit::names_in(&second), [""; 0]);
}

#[test]
fn what_a_run_left_goes_where_its_program_is_gone() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    let bench = Bench::new(64 * MIB);
    let program = bench.here().join("mine");
    testkit::copy_of_program(&testkit::tool("true").expect("true"), &program);
    let target = bench.target();
    let mine = program.to_str().expect("a plain path");
    let store = bench.store();
    let mut command = testkit::command(&testkit::program(env!("CARGO_BIN_EXE_diskperf")));
    command.args(["run", &target, "--rounds", "1000", "--store"]).arg(&store).args(["--", mine]);
    command.current_dir(bench.here()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let run = Run(command.spawn().expect("the program can be started"));
    soon("something is stored", || bench.stored() > 0);
    run.kill();
    fs::rename(&program, bench.here().join("away")).expect("it is gone");
    let ended = bench.on_store(&["resume"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert!(ended.err.contains("error: ") && ended.err.contains(mine), "{}", ended.err);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_clean();
}

#[test]
fn what_others_have_made_since_stays() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    for agreed in [&[][..], &["--destroy-data", "--confirm", "64 MiB"]] {
        let bench = Bench::new(64 * MIB);
        bench.killed(agreed);
        bench.is_let_go();
        use_tool("mkfs.ext4", &["-q", "-F", bench.disk.text()]);
        let before = fs::read(&bench.disk.file).expect("its bytes");
        let ended = bench.on_store(&["resume"]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(3), ""), "{}", ended.err);
        assert!(ended.err.contains("is not overwritten: it holds ext4"), "{}", ended.err);
        assert!(fs::read(&bench.disk.file).expect("its bytes") == before, "something was written");
        // The hint is a command of `run`, which takes the options; `resume` does not.
        let hint = ended.err.lines().find_map(|line| line.split_once("start again: ")).expect("a hint").1;
        let hint = hint.split_once(" && ").expect("two commands").1;
        let words = shlex::split(hint).expect("words");
        assert_eq!(words.iter().filter(|word| *word == "--destroy-data").count(), 1, "{hint}");
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let again = diskperf(bench.here(), &[&words[..], &["--dry-run"]].concat());
        assert_eq!(again.status, Some(0), "{hint}: {}", again.err);
    }
}

#[test]
fn what_another_run_left_stays() {
    need_disk!("mkfs.ext4");
    let _alone = alone();
    let (one, other) = (Bench::new(64 * MIB), Bench::new(64 * MIB));
    one.killed(&[]);
    other.killed(&[]);
    let ended = one.on_store(&["resume"]);
    one.is_complete(&ended);
    other.is_let_go();
    assert_eq!(other.holds(), ["it holds ext4"]);
    let ended = other.on_store(&["resume"]);
    other.is_complete(&ended);
}
