//! Ranks of an MPI job as hosts: a UTS namespace gives each the name of a host, and a time namespace a clock of its
//! own.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use serde_json::Value;
use tempfile::TempDir;
use testkit::ProgramOutput;

use crate::common;

/// The limit of each wait. It only detects a hang.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The workload: short rounds of a small file.
pub const READS: [&str; 7] = ["io", "randread", "--size", "4MiB", "--floor", "0", "--yes"];

/// An MPI library, with its launcher and the words before the number of ranks.
#[derive(Clone, Copy)]
pub struct Library {
    pub name: &'static str,
    pub launcher: &'static str,
    pub words: &'static [&'static str],
}

pub const OPEN_MPI: Library =
    Library { name: "openmpi", launcher: "mpirun.openmpi", words: &["--oversubscribe", "--bind-to", "none"] };
pub const MPICH: Library = Library { name: "mpich", launcher: "mpiexec.mpich", words: &[] };

/// Hosts on this computer, with a results database and a folder of their own.
pub struct Hosts {
    pub library: Library,
    pub bridge: PathBuf,
    pub scratch: TempDir,
}

/// Makes the hosts. Skips the test if something is missing.
macro_rules! hosts {
    ($library:expr) => {
        match $crate::ranks::Hosts::new($library) {
            Ok(hosts) => hosts,
            Err(missing) => return testkit::skip!("{missing}"),
        }
    };
}
pub(crate) use hosts;

impl Hosts {
    pub fn new(library: Library) -> Result<Hosts, String> {
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
        for folder in ["data", "tmp"] {
            fs::create_dir(hosts.path(folder)).expect("a folder");
        }
        Ok(hosts)
    }

    pub fn script(&self, name: &str, text: &str) {
        let script = format!("#!/bin/sh\nrank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n{text}\n");
        fs::write(self.path(name), script).expect("a script");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("its rights");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A launcher with this number of ranks, each started by this script.
    pub fn launcher(&self, ranks: u32, script: &str, words: &[&str]) -> Command {
        self.launched(Command::new(self.library.launcher), ranks, script, words)
    }

    /// The same with a command that begins with the launcher.
    pub fn launched(&self, mut command: Command, ranks: u32, script: &str, words: &[&str]) -> Command {
        command.args(self.library.words).arg("-n").arg(ranks.to_string()).arg(self.path(script)).arg(&self.bridge);
        self.prepared(command, words)
    }

    pub fn prepared(&self, mut command: Command, words: &[&str]) -> Command {
        command.args(words).current_dir(self.scratch.path());
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        // Launchers of Open MPI share a folder there: one fails if another makes or removes the folder at that moment.
        command.env("TMPDIR", self.path("tmp"));
        command.env("DISKPERF_PROGRAM", common::program()).env("DISKPERF_STORE", self.path("store"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the words on hosts, up to the end.
    pub fn run(&self, ranks: u32, script: &str, words: &[&str]) -> ProgramOutput {
        ended(self.launcher(ranks, script, words).spawn().expect("a launcher"))
    }

    /// The last stored run; `None` if there is none yet.
    pub fn stored(&self) -> Option<Value> {
        let mut show = testkit::command(&common::program());
        show.args(["show", "last", "--json"]).env("DISKPERF_STORE", self.path("store"));
        serde_json::from_slice(&show.output().expect("a program").stdout).ok()
    }

    /// Waits until this number of rounds is stored.
    pub fn wait_for_rounds(&self, launcher: &mut Child, rounds: usize) {
        let count = |document: Value| document["cells"][0]["rounds"].as_array().map_or(0, Vec::len);
        wait(|| {
            let has_ended = launcher.try_wait().expect("a child").is_some();
            let is_over = self.stored().map_or(0, count) >= rounds;
            if has_ended && !is_over {
                // Ranks that still run keep the pipe open.
                let lines = launcher.stderr.take().map(lines);
                let next = || lines.as_ref()?.recv_timeout(Duration::from_secs(5)).ok();
                panic!("the launcher ended: {:#?}", std::iter::from_fn(next).collect::<Vec<_>>());
            }
            is_over
        });
    }

    /// The process of diskperf on the host of this rank.
    pub fn process_of(&self, rank: u32) -> Pid {
        let (peers, store) =
            (format!("DISKPERF_PEERS={rank}:"), format!("DISKPERF_STORE={}", self.path("store").display()));
        // A command that diskperf runs has its variables too.
        let program = fs::canonicalize(common::program()).expect("a program");
        let is_it = |folder: &Path| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            let is_diskperf = fs::read_link(folder.join("exe")).is_ok_and(|exe| exe == program);
            let words: Vec<String> =
                environment.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
            is_diskperf && words.iter().any(|word| word.starts_with(&peers)) && words.contains(&store)
        };
        let processes = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
        let found: Vec<PathBuf> = processes.filter(|folder| is_it(folder)).collect();
        let [folder] = &found[..] else { panic!("one process of rank {rank}: {found:?}") };
        let pid = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
        Pid::from_raw(pid.expect("a number")).expect("a process")
    }

    /// Words that the error output must contain, after a refusal that wrote nothing.
    pub fn refuses(&self, ended: &ProgramOutput, words: &[&str]) {
        self.refuses_with(2, ended, words);
    }

    /// The same with another exit status.
    pub fn refuses_with(&self, status: i32, ended: &ProgramOutput, words: &[&str]) {
        assert_eq!(ended.status, Some(status), "{}{}", ended.out, ended.err);
        for word in words {
            assert!(ended.err.contains(word), "{word:?}: {}", ended.err);
        }
        assert_eq!(testkit::names_in(&self.path("data")), [""; 0]);
        assert!(!self.path("store").exists(), "a run is stored");
    }
}

pub fn wait(mut is_over: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_over() {
        assert!(began.elapsed() < PATIENCE, "nothing happens");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The lines of this error output, read by a thread.
pub fn lines(from: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // A test that failed does not receive any more.
        BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

/// Waits for the end of a launcher. The error output is empty if the test reads it.
pub fn ended(mut launcher: Child) -> ProgramOutput {
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

pub fn with<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [words, more].concat()
}
