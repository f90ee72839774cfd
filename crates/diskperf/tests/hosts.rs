//! Several hosts: `diskperf-mpi` with Open MPI and MPICH on one computer. A UTS namespace gives each rank the name of a
//! host, and a time namespace a clock of its own. `cargo xtask test` builds the bridge.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{ProgramOutput, skip};

mod common;

/// A wait only detects a hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// The workload: short rounds of a small file.
const READS: [&str; 7] = ["io", "randread", "--size", "4MiB", "--floor", "0", "--yes"];

/// An MPI library, with its launcher and the words before the number of ranks.
#[derive(Clone, Copy)]
struct Library {
    name: &'static str,
    launcher: &'static str,
    words: &'static [&'static str],
}

const OPEN_MPI: Library =
    Library { name: "openmpi", launcher: "mpirun.openmpi", words: &["--oversubscribe", "--bind-to", "none"] };
const MPICH: Library = Library { name: "mpich", launcher: "mpiexec.mpich", words: &[] };

/// Hosts on this computer, with a results database and a folder of their own.
struct Hosts {
    library: Library,
    bridge: PathBuf,
    scratch: TempDir,
}

/// Makes the hosts. Skips the test if something is missing.
macro_rules! hosts {
    ($library:expr) => {
        match Hosts::new($library) {
            Ok(hosts) => hosts,
            Err(missing) => return skip!("{missing}"),
        }
    };
}

impl Hosts {
    fn new(library: Library) -> Result<Hosts, String> {
        let bridge = testkit::bridge(library.name).ok_or("the bridge is not built: cargo xtask test builds it")?;
        if !testkit::is_root() {
            return Err("needs root, for namespaces".to_owned());
        }
        for tool in [library.launcher, "unshare"] {
            if !testkit::has_tool(tool) {
                return Err(format!("{tool} is not installed"));
            }
        }
        let hosts = Hosts { library, bridge, scratch: tempfile::tempdir().expect("a scratch folder") };
        hosts.script("host", "exec unshare --uts sh -c 'hostname n'$rank'; exec \"$@\"' sh \"$@\"");
        hosts.script(
            "host_with_clock",
            "exec unshare --uts --time --monotonic ${rank}000 --fork sh -c 'hostname n'$rank'; exec \"$@\"' sh \"$@\"",
        );
        hosts.script("rank", "exec \"$@\"");
        fs::create_dir(hosts.path("data")).expect("a folder");
        Ok(hosts)
    }

    fn script(&self, name: &str, text: &str) {
        let script = format!("#!/bin/sh\nrank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n{text}\n");
        fs::write(self.path(name), script).expect("a script");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("its rights");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A launcher with this number of ranks, each started by this script.
    fn launcher(&self, ranks: u32, script: &str, words: &[&str]) -> Command {
        let mut command = Command::new(self.library.launcher);
        command.args(self.library.words).arg("-n").arg(ranks.to_string()).arg(self.path(script)).arg(&self.bridge);
        self.prepared(command, words)
    }

    fn prepared(&self, mut command: Command, words: &[&str]) -> Command {
        command.args(words).current_dir(self.scratch.path());
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("DISKPERF_PROGRAM", common::program()).env("DISKPERF_STORE", self.path("store"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the words on hosts, up to the end.
    fn run(&self, ranks: u32, script: &str, words: &[&str]) -> ProgramOutput {
        ended(self.launcher(ranks, script, words).spawn().expect("a launcher"))
    }

    /// The last stored run; `None` if there is none yet.
    fn stored(&self) -> Option<Value> {
        let mut show = testkit::command(&common::program());
        show.args(["show", "last", "--json"]).env("DISKPERF_STORE", self.path("store"));
        serde_json::from_slice(&show.output().expect("a program").stdout).ok()
    }

    /// Waits until this number of rounds is stored.
    fn wait_for_rounds(&self, rounds: usize) {
        let count = |document: Value| document["cells"][0]["rounds"].as_array().map_or(0, Vec::len);
        wait(|| self.stored().map_or(0, count) >= rounds);
    }

    /// The process of diskperf on the host of this rank.
    fn process_of(&self, rank: u32) -> Pid {
        let (peers, store) =
            (format!("DISKPERF_PEERS={rank}:"), format!("DISKPERF_STORE={}", self.path("store").display()));
        let is_it = |folder: &Path| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            let words: Vec<String> =
                environment.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
            words.iter().any(|word| word.starts_with(&peers)) && words.contains(&store)
        };
        let processes = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
        let found: Vec<PathBuf> = processes.filter(|folder| is_it(folder)).collect();
        let [folder] = &found[..] else { panic!("one process of rank {rank}: {found:?}") };
        let pid = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
        Pid::from_raw(pid.expect("a number")).expect("a process")
    }

    /// Words that the error output must contain, after a refusal that wrote nothing.
    fn refuses(&self, ended: &ProgramOutput, words: &[&str]) {
        assert_eq!(ended.status, Some(2), "{}{}", ended.out, ended.err);
        for word in words {
            assert!(ended.err.contains(word), "{word:?}: {}", ended.err);
        }
        assert_eq!(testkit::names_in(&self.path("data")), [""; 0]);
        assert!(!self.path("store").exists(), "a run is stored");
    }
}

fn wait(is_over: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_over() {
        assert!(began.elapsed() < PATIENCE, "nothing happens");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The lines of this error output, read by a thread.
fn lines(from: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // A test that failed does not receive any more.
        BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

/// Waits for the end of a launcher. The error output is empty if the test reads it.
fn ended(mut launcher: Child) -> ProgramOutput {
    let text = |mut from: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut text = Vec::new();
            from.read_to_end(&mut text).expect("output");
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = text(Box::new(launcher.stdout.take().expect("a pipe")));
    let err = launcher.stderr.take().map(|from| text(Box::new(from)));
    let began = Instant::now();
    let status = loop {
        match launcher.try_wait().expect("a child") {
            Some(status) => break status,
            None if began.elapsed() > PATIENCE => {
                launcher.kill().expect("a child");
                panic!("the launcher does not end");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let err = err.map(|err| err.join().expect("text")).unwrap_or_default();
    ProgramOutput { status: status.code(), out: out.join().expect("text"), err }
}

fn with<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [words, more].concat()
}

#[test]
fn hosts_with_clocks_of_their_own_measure_together() {
    let hosts = hosts!(OPEN_MPI);
    let more = ["data", "--time", "300ms", "--rounds", "2", "--json"];
    let ran = hosts.run(2, "host_with_clock", &with(&READS, &more));
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let document = common::document::document(&ran);
    let of_hosts = document["run"]["hosts"].as_array().expect("hosts");
    assert_eq!(of_hosts.iter().map(|host| host["name"].as_str()).collect::<Vec<_>>(), [Some("n0"), Some("n1")]);
    let (offset, uncertainty) = (of_hosts[1]["offset_ns"].as_i64(), of_hosts[1]["uncertainty_ns"].as_i64());
    let error = (offset.expect("an offset") - 1_000_000_000_000).abs();
    assert!(error <= uncertainty.expect("an uncertainty"), "{error} {uncertainty:?}");
    assert_eq!(document["run"]["shared"], serde_json::json!(["data"]));
    let cell = &document["cells"][0];
    assert_eq!((&cell["measured"], cell["hosts"].as_array().map(Vec::len)), (&Value::Bool(true), Some(2)));
    let rounds = cell["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 2);
    for round in rounds {
        let parts = round["parts"].as_array().expect("parts");
        let sum: u64 = parts.iter().filter_map(|part| part["ops"].as_u64()).sum();
        assert_eq!((parts.len(), round["ops"].as_u64()), (2, Some(sum)));
        let last = parts.iter().filter_map(|part| part["returned_s"].as_f64()).fold(0.0, f64::max);
        assert_eq!(round["returned_s"].as_f64(), Some(last));
        assert!(round["start_spread"]["nanos"].is_u64());
    }
    let mut show = testkit::command(&common::program());
    show.args(["show", "--hosts"]).env("DISKPERF_STORE", hosts.path("store"));
    let shown = common::ended(show);
    for word in ["2 hosts: together", "slowest host", "of median", "n0", "n1"] {
        assert!(shown.out.contains(word), "{word}: {}", shown.out);
    }
    assert_eq!(testkit::names_in(&hosts.path("data")), [""; 0]);
}

#[test]
fn the_first_host_chooses_sizes_for_all() {
    let hosts = hosts!(MPICH);
    ["n0", "n1"].iter().for_each(|name| fs::create_dir(hosts.path(name)).expect("a folder"));
    let words = ["run", "quick", "%h", "--only", "read_8192", "--floor", "0", "--rounds", "2", "--yes", "--json"];
    let ran = hosts.run(2, "host", &words);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let document = common::document::document(&ran);
    let cell = &document["cells"][0];
    let bytes: Vec<Option<u64>> =
        cell["rounds"][0]["parts"].as_array().expect("parts").iter().map(|part| part["bytes"].as_u64()).collect();
    assert!(bytes.len() == 2 && bytes[0] == bytes[1] && bytes[0] > Some(0), "{bytes:?}");
    assert_eq!(document["run"].get("shared"), None);
    assert!(["n0", "n1"].iter().all(|name| testkit::names_in(&hosts.path(name)).is_empty()));
}

#[test]
fn a_host_that_is_gone_is_named_and_finished_rounds_stay() {
    let hosts = hosts!(OPEN_MPI);
    let words = with(&READS, &["data", "--time", "300ms", "--rounds", "200"]);
    let launcher = hosts.launcher(3, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(2);
    kill_process(hosts.process_of(2), Signal::KILL).expect("a process");
    let ran = ended(launcher);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.err.contains("error: host n2 is gone (signal 9) in round "), "{}", ran.err);
    let stored = hosts.stored().expect("a run");
    assert!(stored["cells"][0]["rounds"].as_array().is_some_and(|rounds| rounds.len() >= 2), "{stored}");
    assert_eq!(stored["cells"][0]["measured"], true, "{stored}");
    let mut resume = testkit::command(&common::program());
    resume.args(["resume"]).env("DISKPERF_STORE", hosts.path("store"));
    assert_eq!(common::ended(resume).status, Some(3), "resume continues runs of one host");
}

#[test]
fn a_stop_ends_all_hosts_once() {
    let hosts = hosts!(OPEN_MPI);
    let words = with(&READS, &["data", "--time", "300ms", "--rounds", "200"]);
    let launcher = hosts.launcher(2, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(1);
    kill_process(Pid::from_child(&launcher), Signal::TERM).expect("a launcher");
    let ran = ended(launcher);
    assert!(ran.status != Some(0) && !ran.err.contains("panicked"), "{:?} {}", ran.status, ran.err);
    // If the launcher kills the ranks before they end, the programs still end on their own.
    wait(|| testkit::names_in(&hosts.path("data")).is_empty());
    let stored = hosts.stored().expect("a run");
    assert!(stored["cells"][0]["rounds"].as_array().is_some_and(|rounds| !rounds.is_empty()), "{stored}");
}

#[test]
fn a_late_host_is_named_and_then_the_run_goes_on() {
    let hosts = hosts!(OPEN_MPI);
    let words = [&["--patience", "5"][..], &READS, &["data", "--time", "300ms", "--rounds", "8"]].concat();
    let mut launcher = hosts.launcher(2, "host", &words).spawn().expect("a launcher");
    let lines = lines(launcher.stderr.take().expect("a pipe"));
    hosts.wait_for_rounds(1);
    let late = hosts.process_of(1);
    kill_process(late, Signal::STOP).expect("a process");
    let is_named = |line: &str| {
        let rest = line.split_once("remark: host n1 is ").map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.ends_with(" s later than the first host"))
    };
    let mut err = Vec::new();
    while let Ok(line) = lines.recv_timeout(PATIENCE) {
        err.push(line);
        if err.last().is_some_and(|line| is_named(line)) {
            break;
        }
    }
    kill_process(late, Signal::CONT).expect("a process");
    let ran = ended(launcher);
    assert!(err.iter().any(|line| is_named(line)), "{err:?}");
    err.extend(lines);
    assert_eq!(ran.status, Some(0), "{err:?}");
    assert_eq!(hosts.stored().expect("a run")["cells"][0]["rounds"].as_array().map(Vec::len), Some(8));
}

#[test]
fn hosts_that_cannot_measure_together_are_refused() {
    let hosts = hosts!(OPEN_MPI);
    let reads = with(&READS, &["--time", "300ms", "data"]);
    hosts.refuses(&hosts.run(2, "rank", &reads), &["two ranks run on host ", "hint: mpirun --map-by ppr:1:node"]);
    let mut alone = Command::new(&hosts.bridge);
    alone.env_remove("PMI_SIZE");
    let alone = ended(hosts.prepared(alone, &reads).spawn().expect("the bridge"));
    hosts.refuses(&alone, &["error: diskperf-mpi was not started by mpirun or srun"]);
    fs::create_dir(hosts.path("n0")).expect("a folder");
    let missing = hosts.run(2, "host", &with(&READS, &["--time", "300ms", "%h"]));
    hosts.refuses(&missing, &["error: host n1: ", "n1"]);
    fs::create_dir(hosts.path("n1")).expect("a folder");
    std::os::unix::fs::symlink("n0", hosts.path("n2")).expect("a link");
    let partly = hosts.run(3, "host", &with(&READS, &["--time", "300ms", "%h"]));
    hosts.refuses(&partly, &["%h is one directory on n0, n2, but another on n1"]);
    for words in
        [&["probe", "data"][..], &["run", "quick", "sim:flat"], &["io", "randread", "data", "--sustained", "1s"]]
    {
        hosts.refuses(&hosts.run(2, "host", words), &["does not work on several hosts"]);
    }
}

#[test]
fn the_launcher_of_another_library_is_refused() {
    let hosts = hosts!(OPEN_MPI);
    if !testkit::has_tool(MPICH.launcher) {
        return skip!("{} is not installed", MPICH.launcher);
    }
    let other = Hosts { library: MPICH, ..hosts };
    let reads = with(&READS, &["--time", "300ms", "data"]);
    let ran = other.run(2, "host", &reads);
    other.refuses(&ran, &["error: the launcher started 2 ranks (PMI_SIZE), but this MPI library sees 1"]);
    assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
}
