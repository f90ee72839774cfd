//! Runs on devices that are killed at six moments: during and after mkfs, while the file system is mounted, in the
//! middle of a round, between rounds and while the queue is tuned. `resume` removes the leftovers of the run and
//! finishes it. Data that other programs have written since stay.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use store::Store;
use testkit::loop_disk::{Disk, LoopDisk, Mounted};
use testkit::{ProgramOutput, need_disk, run_tool, wait_until};

use crate::common::{Cli, program};

/// Bytes of a disk: ext4 with blocks of 4 KiB has room.
const DISK: u64 = 32 << 20;

/// The options that confirm that the disk may be overwritten.
const AGREED: [&str; 3] = ["--destroy-data", "--confirm", "32 MiB"];

/// Rounds of a run.
const ROUNDS: usize = 3;

/// Targets of a run, each of which a round measures once: the device and a folder.
const TARGETS: usize = 2;

/// The execution in which the measured command does not return, so that the run is killed there.
#[derive(Clone, Copy)]
enum Moment {
    /// In the execution of this number.
    Execution(usize),
    /// In the first execution on the device.
    OnDevice,
}

/// Each run restores the queues that killed runs left tuned: one test at a time.
static RUNS: Mutex<()> = Mutex::new(());

fn lock_runs() -> MutexGuard<'static, ()> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running process. Dropping it kills it.
struct Run(Child);

impl Run {
    /// Stops it with SIGSTOP, and returns once it is stopped.
    fn stop(&self) {
        kill_process(Pid::from_child(&self.0), Signal::STOP).expect("the signal is sent");
        wait_until("it is stopped", || state_of(self.0.id()) == Some('T'));
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

/// The state of a process; `None` once it is gone.
fn state_of(pid: u32) -> Option<char> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    rest.chars().next()
}

/// A disk of the test. In memory, a folder as a second target, and a results database: other programs that write to the
/// machine's disk would delay every sync there.
struct Bench {
    disk: Disk,
    memory: Cli,
}

impl Bench {
    fn new() -> Bench {
        let memory = Cli::in_memory();
        fs::create_dir(memory.path().join("second")).expect("a folder");
        Bench { disk: Disk::new(DISK), memory }
    }

    fn here(&self) -> &Path {
        self.disk.folder.path()
    }

    fn path(&self, name: &str) -> String {
        self.here().join(name).to_str().expect("a plain path").to_owned()
    }

    fn store(&self) -> PathBuf {
        self.memory.path().join("store.sqlite")
    }

    fn second(&self) -> String {
        self.memory.path().join("second").to_str().expect("a plain path").to_owned()
    }

    fn target(&self) -> String {
        format!("new:ext4@{}", self.disk.text())
    }

    /// A script in the bench's folder.
    fn script(&self, name: &str, lines: &str) -> String {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be executed");
        path
    }

    /// Starts a run that measures a command on the target and the folder. The command returns at once, except at this
    /// moment.
    fn start(&self, target: &str, moment: Moment, more: &[&str]) -> Run {
        let (count, reached) = (self.path("count"), self.path("reached"));
        let returns = match moment {
            Moment::Execution(number) => format!("echo >> {count}\n[ $(wc -l < {count}) = {number} ] || exit 0"),
            Moment::OnDevice => format!("case $(pwd) in */second/*) exit 0;; esac\n[ -e {reached} ] && exit 0"),
        };
        let mine = self.script("mine", &format!("{returns}\ntouch {reached}\nexec sleep 1000"));
        let (second, rounds) = (self.second(), ROUNDS.to_string());
        let arguments = [&["run", target, &second], more, &["--rounds", &rounds, "--", &mine]].concat();
        self.begin(testkit::command(&program()), &arguments)
    }

    fn begin(&self, mut command: Command, arguments: &[&str]) -> Run {
        command.args(arguments).env(testkit::STORE, self.store()).current_dir(self.here());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Run(command.spawn().expect("the program can be started"))
    }

    /// Starts a run, and returns when it is in the execution that does not return, with the file system mounted.
    fn measuring(&self, target: &str, moment: Moment, more: &[&str]) -> Run {
        let run = self.start(target, moment, more);
        wait_until("the command runs", || Path::new(&self.path("reached")).exists());
        assert!(self.is_mounted_by(&run));
        if let Moment::Execution(number) = moment {
            assert_eq!(self.stored(), number - 1);
        }
        run
    }

    /// Kills a run in the middle of its first round.
    fn killed(&self, more: &[&str]) {
        self.measuring(&self.target(), Moment::Execution(TARGETS), more).kill();
        self.is_let_go();
    }

    /// Kills a run in this execution, and finishes it.
    fn killed_and_resumed(&self, number: usize) {
        self.measuring(&self.target(), Moment::Execution(number), &[]).kill();
        self.is_finished_by_resume();
    }

    fn on_store(&self, arguments: &[&str]) -> ProgramOutput {
        let store = self.store();
        Cli::in_folder(self.here()).run(&[arguments, &["--store", store.to_str().expect("a plain path")]].concat())
    }

    /// The number of stored executions of the last run.
    fn stored(&self) -> usize {
        let left = Store::open_to_read(&self.store()).and_then(|store| store.left(&store.find("last")?));
        left.map_or(0, |left| left.executions.len())
    }

    fn is_mounted_by(&self, run: &Run) -> bool {
        let mounts = testkit::mounts(&run.0.id().to_string());
        mounts.is_some_and(|mounts| mounts.lines().any(|line| line.contains(&format!(" ext4 {} ", self.disk.text()))))
    }

    /// The guard's findings about the device, as text.
    fn holds(&self) -> Vec<String> {
        let inspected = kernel::guard::inspect(self.disk.node()).expect("it can be looked at");
        inspected.reasons().iter().map(ToString::to_string).collect()
    }

    /// Waits until the kernel has removed the mounts of a dead process, which it does a moment after its end.
    fn is_let_go(&self) {
        wait_until("the device is not in use", || {
            let inspected = kernel::guard::inspect(self.disk.node()).expect("it can be looked at");
            inspected.reasons().iter().all(kernel::guard::Reason::can_be_lifted)
        });
    }

    /// Writes zeros to the whole device, then these bytes at this offset.
    fn overwrite(&self, at: u64, bytes: &[u8]) {
        let device = File::options().write(true).open(self.disk.node()).expect("the device");
        device.write_all_at(&vec![0; DISK as usize], 0).expect("written");
        device.write_all_at(bytes, at).and_then(|()| device.sync_all()).expect("durable");
    }

    /// Starts a run whose mkfs waits for [`Bench::release_mkfs`] before it does anything. Returns the run and the
    /// process id of mkfs. A script replaces mkfs in the mount namespace of that run.
    fn in_mkfs(&self, more: &[&str]) -> (Run, u32) {
        let (mkfs, real, reached, go) =
            (testkit::tool("mkfs.ext4").expect("mkfs"), self.path("mkfs.ext4"), self.path("reached"), self.path("go"));
        testkit::copy_of_program(&mkfs, Path::new(&real));
        let lines = format!(
            "echo $$ > {reached}.new && mv {reached}.new {reached}\n\
             until [ -e {go} ]; do sleep 0.01; done\nexec {real} \"$@\""
        );
        let waiting = self.script("waiting", &lines);
        let script = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\"";
        let rounds = ROUNDS.to_string();
        let mut command = testkit::command(&testkit::tool("unshare").expect("unshare"));
        command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh", &waiting]).arg(mkfs);
        command.arg(program());
        let (target, second) = (self.target(), self.second());
        let arguments = [&["run", &target, &second], more, &["--rounds", &rounds, "--", "true"]].concat();
        let run = self.begin(command, &arguments);
        wait_until("mkfs runs", || Path::new(&reached).exists());
        let mkfs = fs::read_to_string(reached).expect("its number").trim().parse().expect("a number");
        (run, mkfs)
    }

    /// Lets mkfs do its work.
    fn release_mkfs(&self) {
        fs::write(self.path("go"), "").expect("a file");
    }

    /// Asserts that `resume` erases the leftovers of the run and finishes it.
    fn is_finished_by_resume(&self) {
        let ended = self.on_store(&["resume"]);
        assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
        self.is_complete(&ended);
    }

    /// Asserts that the last run is complete, and has no leftovers.
    fn is_complete(&self, ended: &ProgramOutput) {
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_eq!(self.state(), "finished");
        let shown: Value = serde_json::from_str(&self.on_store(&["show", "last", "--json"]).out).expect("JSON");
        let cells = shown["cells"].as_array().expect("cells");
        assert_eq!(cells.len(), TARGETS);
        for cell in cells {
            let rounds = cell["rounds"].as_array().expect("rounds").len();
            assert!(cell["measured"] == true && rounds == ROUNDS, "{rounds}: {cell:#}");
        }
        self.is_clean();
    }

    /// The state of the last run.
    fn state(&self) -> String {
        let list: Value = serde_json::from_str(&self.on_store(&["list", "--json"]).out).expect("JSON");
        let last = list.as_array().and_then(|runs| runs.last()).expect("a run");
        last["state"].as_str().expect("a state").to_owned()
    }

    /// Asserts that there are no leftovers on the device, in notes, or in mounts.
    fn is_clean(&self) {
        assert_eq!(self.holds(), [""; 0]);
        for note in ["made", "making", "tuned"] {
            let note = format!("/run/diskperf/{note}-{}", self.disk.name());
            assert!(!Path::new(&note).exists(), "{note}");
        }
        let mounts = testkit::mounts("self").expect("mounts");
        assert!(!mounts.contains(self.disk.text()), "{mounts}");
    }

    fn run(&self) -> String {
        Store::open_to_read(&self.store()).and_then(|store| store.find("last")).expect("a run")
    }

    /// Asserts that `resume` refuses the device with these words, also the second time, and writes nothing. Its hint is
    /// a working command of `run`: `resume` takes none of the options of `run`.
    fn is_refused(&self, words: &[&str]) {
        let before = fs::read(&self.disk.file).expect("its bytes");
        let refused = || {
            let ended = self.on_store(&["resume"]);
            assert_eq!((ended.status, ended.out.as_str()), (Some(3), ""), "{}", ended.err);
            for word in words {
                assert!(ended.err.contains(word), "{word:?} is missing: {}", ended.err);
            }
            assert!(fs::read(&self.disk.file).expect("its bytes") == before, "something was written");
            ended.err
        };
        refused();
        let err = refused();
        assert_eq!(self.state(), "killed");
        let hint = err.lines().find_map(|line| line.split_once("start again: ")).expect("a hint").1;
        let hint = hint.split_once(" && ").expect("two commands").1;
        let words = shlex::split(hint).expect("words");
        assert_eq!(words.iter().filter(|word| *word == "--destroy-data").count(), 1, "{hint}");
        let mut words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        words.insert(1, "--dry-run");
        let again = Cli::in_folder(self.here()).run(&words);
        assert_eq!(again.status, Some(0), "{hint}: {}", again.err);
    }
}

#[test]
fn runs_killed_during_mkfs_are_resumed() {
    need_disk!("mkfs.ext4", "unshare");
    let _alone = lock_runs();
    let bench = Bench::new();
    let (run, mkfs) = bench.in_mkfs(&[]);
    run.kill();
    assert!(state_of(mkfs).is_some(), "mkfs outlives the run");
    let ended = Cli::in_folder(bench.here()).run(&["clean", bench.disk.text(), "--yes"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains("mkfs is still running on it"), "{}", ended.err);
    let mut command = testkit::command(&program());
    command.args(["resume", "--store"]).arg(bench.store()).current_dir(bench.here());
    let resumed = testkit::terminal::watch(command, 200);
    wait_until("it waits for mkfs", || resumed.error_output().contains("waiting for the mkfs that "));
    bench.release_mkfs();
    let ended = resumed.end();
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_complete(&ended);
}

#[test]
fn runs_killed_after_mkfs_are_resumed() {
    need_disk!("mkfs.ext4", "unshare");
    let _alone = lock_runs();
    let bench = Bench::new();
    // The run is stopped while mkfs goes on: it has not noticed the end of mkfs, and has mounted nothing.
    let (run, mkfs) = bench.in_mkfs(&[]);
    run.stop();
    bench.release_mkfs();
    wait_until("mkfs ends", || state_of(mkfs).is_none_or(|state| state == 'Z'));
    assert!(!bench.is_mounted_by(&run));
    run.kill();
    bench.is_finished_by_resume();
}

#[test]
fn runs_killed_while_mounted_are_resumed() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    Bench::new().killed_and_resumed(1);
}

/// A disk that cannot discard keeps the data of the run, which the guard does not recognise.
#[test]
fn runs_killed_on_disks_without_discard_are_resumed() {
    need_disk!("mkfs.ext4", "mount", "umount");
    let _alone = lock_runs();
    let folder = Cli::new();
    let ramfs = Mounted::ramfs(folder.path());
    let disk = Disk::attached(0, &[], |_| {
        // A loop device discards by punching holes in its file, which ramfs cannot do.
        let there = ramfs.path().join("disk");
        File::create_new(&there).and_then(|file| file.set_len(2 * DISK)).expect("a file in memory");
        LoopDisk::attach_through_cache(&there)
    });
    assert_eq!(disk.device.attribute("queue/discard_max_bytes"), "0");
    let bench = Bench { disk, ..Bench::new() };
    bench.killed(&[]);
    // Data at an offset that ext4 does not write.
    let device = File::options().write(true).open(bench.disk.node()).expect("the device");
    let mut data = vec![0; 1 << 20];
    File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut data)).expect("random bytes");
    device.write_all_at(&data, 2 * DISK - (1 << 20)).and_then(|()| device.sync_all()).expect("durable");
    drop(device);
    let ended = bench.on_store(&["resume"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    assert_eq!(bench.state(), "finished");
    // The data are still there: mkfs writes zeros to the last 64 KiB only.
    let mut after = vec![0; data.len()];
    let device = File::open(bench.disk.node()).expect("the device");
    device.read_exact_at(&mut after, 2 * DISK - (1 << 20)).expect("its bytes");
    let half = data.len() / 2;
    assert!(after[..half] == data[..half], "data between the blocks of ext4 have changed");
    drop(device);
    drop(bench);
    drop(ramfs);
}

#[test]
fn runs_killed_within_a_round_are_resumed() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    Bench::new().killed_and_resumed(TARGETS);
}

#[test]
fn runs_killed_between_rounds_are_resumed() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    Bench::new().killed_and_resumed(TARGETS + 1);
}

#[test]
fn queues_are_restored_even_if_a_killed_run_cannot_be_resumed() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    let bench = Bench::new();
    let read_ahead = || bench.disk.device.attribute("queue/read_ahead_kb");
    let before = read_ahead();
    let other = if before == "64" { "32" } else { "64" };
    let target = format!("{},tune=read_ahead_kb:{other}", bench.target());
    let run = bench.measuring(&target, Moment::OnDevice, &[]);
    assert_eq!(read_ahead(), other);
    run.kill();
    // Another target of the run is gone.
    let (second, away) = (PathBuf::from(bench.second()), bench.memory.path().join("away"));
    fs::rename(&second, &away).expect("it is gone");
    let ended = bench.on_store(&["resume"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    let (node, run) = (bench.disk.text(), bench.run());
    assert!(ended.err.contains(&format!("error: there is no {}", second.display())), "{}", ended.err);
    assert!(ended.err.contains(&format!("erased the ext4 on {node}, left by {run} (process ")), "{}", ended.err);
    assert_eq!(read_ahead(), before);
    bench.is_clean();
    // Once the target exists again, the run can be finished.
    fs::rename(&away, &second).expect("it is there");
    let ended = bench.on_store(&["resume"]);
    bench.is_complete(&ended);
    assert_eq!(testkit::names_in(&second), [""; 0]);
    assert_eq!(read_ahead(), before);
}

#[test]
fn leftovers_are_removed_if_the_program_is_gone() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    let bench = Bench::new();
    bench.killed(&[]);
    fs::rename(bench.path("mine"), bench.path("away")).expect("it is gone");
    let ended = bench.on_store(&["resume"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert!(ended.err.contains("error: ") && ended.err.contains(&bench.path("mine")), "{}", ended.err);
    assert!(ended.err.contains("erased the ext4 on"), "{}", ended.err);
    bench.is_clean();
}

#[test]
fn file_systems_made_since_the_kill_stay() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    for agreed in [&[][..], &AGREED] {
        let bench = Bench::new();
        bench.killed(agreed);
        run_tool("mkfs.ext4", &["-q", "-F", bench.disk.text()]);
        let words = ["is not overwritten: it holds ext4", "it no longer holds the file system that the run made"];
        bench.is_refused(&words);
    }
}

/// A user may mount the file system of a killed run and use it.
#[test]
fn files_copied_to_a_killed_runs_file_system_stay() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    let bench = Bench::new();
    bench.killed(&AGREED);
    let at = bench.here().join("mounted");
    fs::create_dir(&at).expect("a folder");
    let mounted = Mounted::mount(bench.disk.node(), &at, "rw");
    fs::write(mounted.path().join("thesis"), "years of work").expect("a file");
    drop(mounted);
    bench.is_refused(&["is not overwritten: it holds files that diskperf did not make"]);
    let before = fs::read(&bench.disk.file).expect("its bytes");
    let ended = Cli::in_folder(bench.here()).run(&["clean", bench.disk.text(), "--yes"]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("it holds files that diskperf did not make"), "{}", ended.err);
    assert!(fs::read(&bench.disk.file).expect("its bytes") == before, "something was written");
    let mounted = Mounted::mount(bench.disk.node(), &at, "rw");
    let own = mounted.path().join(".diskperf-mine");
    fs::create_dir(&own).and_then(|()| fs::rename(mounted.path().join("thesis"), own.join("thesis"))).expect("moved");
    drop(mounted);
    bench.is_finished_by_resume();
}

/// A run that writes to the device itself erases all old data, so a file system on it is not the run's.
#[test]
fn file_systems_made_since_on_an_overwritten_device_stay() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    let bench = Bench::new();
    let device = ["run", "device", bench.disk.text(), "--write", "--precondition", "none", "--only", "write"];
    let run = bench.begin(testkit::command(&program()), &[&device[..], &AGREED].concat());
    wait_until("an execution is stored", || bench.stored() > 0);
    run.kill();
    bench.is_let_go();
    run_tool("mkfs.ext4", &["-q", "-F", bench.disk.text()]);
    bench.is_refused(&["is not overwritten: it holds ext4"]);
}

/// The stored --destroy-data does not cover data that were written after Ctrl-C, even if the run had measured nothing.
#[test]
fn data_written_since_an_interrupted_run_stay() {
    need_disk!("mkfs.ext4", "unshare");
    let _alone = lock_runs();
    for content in ["ext4", "data of no known format"] {
        let bench = Bench::new();
        let (mut run, _) = bench.in_mkfs(&AGREED);
        kill_process(Pid::from_child(&run.0), Signal::INT).expect("the signal is sent");
        bench.release_mkfs();
        run.0.wait().expect("its end");
        bench.is_let_go();
        assert_eq!(bench.stored(), 0);
        match content {
            "ext4" => drop(run_tool("mkfs.ext4", &["-q", "-F", bench.disk.text()])),
            _ => bench.overwrite(0, b"data"),
        }
        let before = fs::read(&bench.disk.file).expect("its bytes");
        let ended = bench.on_store(&["resume"]);
        assert_eq!(ended.status, Some(3), "{}", ended.err);
        let says = format!("it holds {content}; diskperf cannot tell whether it held that when the run began");
        assert!(ended.err.contains(&says), "{}", ended.err);
        assert!(fs::read(&bench.disk.file).expect("its bytes") == before, "something was written");
    }
}

/// Data without a header of any known format: at an offset that a look at the device finds, and at one that only
/// reading all of it finds.
#[test]
fn unknown_data_written_since_the_kill_stay() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    for at in [0, (5 << 20) + 4096] {
        let bench = Bench::new();
        bench.killed(&AGREED);
        bench.overwrite(at, b"data of others");
        assert_eq!(bench.holds().is_empty(), at != 0, "what a look shows");
        let words =
            ["it holds data of no known format", "it no longer holds the file system that the run made", "hint: "];
        bench.is_refused(&words);
    }
}

/// The notes about devices are gone after a restart, and with them the proof of which file system the run made.
#[test]
fn devices_with_data_are_refused_after_a_reboot() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    for content in ["ext4", "data of no known format", ""] {
        let bench = Bench::new();
        bench.killed(&AGREED);
        // An incomplete note counts as missing.
        let note = format!("/run/diskperf/made-{}", bench.disk.name());
        assert!(Path::new(&note).exists());
        fs::write(note, "").expect("the note");
        let mut store = Store::open(&bench.store(), None).expect("the store");
        let run = bench.run();
        let holder = store.left(&run).expect("the run").holder;
        let [pid, started, _, namespace] = holder.split(' ').collect::<Vec<_>>()[..] else { panic!("{holder}") };
        store.claim(&run, &holder, &format!("{pid} {started} another-boot {namespace}")).expect("another holder");
        drop(store);
        match content {
            "ext4" => {}
            "" => bench.overwrite(0, &[]),
            _ => bench.overwrite(0, b"data"),
        }
        if content.is_empty() {
            bench.is_complete(&bench.on_store(&["resume"]));
        } else {
            bench.is_refused(&[&format!("it holds {content}"), "the machine was restarted since the run began"]);
        }
    }
}

#[test]
fn leftovers_of_another_run_stay() {
    need_disk!("mkfs.ext4");
    let _alone = lock_runs();
    let (one, other) = (Bench::new(), Bench::new());
    one.killed(&[]);
    other.killed(&[]);
    one.is_finished_by_resume();
    assert_eq!(other.holds(), ["it holds ext4"]);
    other.is_finished_by_resume();
}
