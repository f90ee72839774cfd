//! Several hosts on one computer: `diskperf-mpi` with Open MPI and MPICH. Prints a line of JSON for each figure, which
//! `cargo xtask prove hosts` judges. Needs root, and the bridge that `cargo xtask test` builds.
//!
//! ```text
//!   cargo bench --package diskperf --bench hosts -- start|disks|bridge|choose|failure|guests
//! ```
//!
//! Without a name, all of these:
//!
//!   - *start*: the difference between the first operations of two hosts, whose clocks are 1,000 s apart;
//!   - *disks*: four hosts with a slow disk each, together and one at a time;
//!   - *bridge*: the CPU time of `diskperf-mpi` while `diskperf` measures;
//!   - *choose*: four hosts compare two disks that all of them share;
//!   - *failure*: a host of three is killed;
//!   - *guests*: two guests with a kernel and a clock of their own, started through ssh. One is paused, then cut off.
//!
//! All ranks and guests share the processors of this computer, so the figures say nothing about real hosts.

#[path = "../../tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "shared with tests")]
#[path = "../../tests/made/ground.rs"]
mod ground;
mod guests;
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with tests")]
#[path = "../../tests/hosts/ranks.rs"]
mod ranks;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use ground::Ground;
use ranks::{Hosts, Library, MPICH, OPEN_MPI, READS, ended, with};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use stats::figures::summary::median;
use testkit::fuse::Knobs;
use testkit::token_bucket::{Limit, Throttle};

/// The rounds whose starts are compared.
const STARTS: &str = "50";

/// The difference of two clocks: that of the script `host_with_clock` in `tests/hosts/ranks.rs`.
const CLOCKS_APART_NS: i64 = 1_000_000_000_000;

/// The hosts with a slow disk each, and those that compare two.
const HOSTS: u32 = 4;

/// The limit of each of the disks that are used together, in MiB per second.
const TOGETHER: u64 = 20;

/// The limits of the two disks that are compared, in MiB per second.
const COMPARED: [u64; 2] = [20, 30];

/// The workload of slow disks. Its file is small, because the limit holds for its preparation too.
const OF_SLOW_DISKS: &str = "randread --direct --bs 64KiB --size 16MiB --time 4s --floor 0 --yes --json";

/// The time of a round in which a host is killed: that of `io` if none is given.
const ROUND: &str = "2s";

/// The pause between two looks at the processes. It is shorter than [`LONGEST_LOOK`], also on a busy computer.
const LOOK: Duration = Duration::from_millis(5);

/// The longest time between two looks that counts. If both looks are inside a measured section, no section ended
/// between them, because hosts agree on a start 30 ms before it (`LEAD` in `bridge/src/first.rs`).
const LONGEST_LOOK: Duration = Duration::from_millis(25);

/// A part of the benchmark. The error is the reason why it is not possible here.
type Part = fn() -> Result<(), String>;

fn main() {
    // Runs only if asked for by name: `cargo test --all-targets` starts it too.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().all(|word| word != "--bench") {
        return;
    }
    let parts: [(&str, Part); 6] = [
        ("start", || with_each_library(start)),
        ("disks", disks),
        ("bridge", || with_each_library(bridge)),
        ("choose", choose),
        ("failure", || with_each_library(failure)),
        ("guests", || with_each_library(guests::run)),
    ];
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let all = !parts.iter().any(|(name, _)| is_named(name));
    for (_, part) in parts.iter().filter(|(name, _)| all || is_named(name)) {
        if let Err(reason) = part() {
            println!("{}", json!({ "not_measured": reason }));
        }
    }
}

fn with_each_library(part: fn(Library) -> Result<(), String>) -> Result<(), String> {
    [OPEN_MPI, MPICH].into_iter().try_for_each(part)
}

/// The document of a launcher that succeeds.
fn document(launcher: Child) -> Value {
    let ran = ended(launcher);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    common::document::document(&ran)
}

fn rate(document: &Value) -> f64 {
    let cell = &document["cells"][0];
    cell["rate"]["per_second"].as_f64().unwrap_or_else(|| panic!("no rate: {cell:#}"))
}

/// The differences that diskperf prints, in microseconds: those between the first operations of each round, plus the
/// uncertainty of the clocks.
fn spreads_us(document: &Value) -> Vec<f64> {
    let us = |spread: &Value| Some((spread["nanos"].as_u64()? + spread["uncertainty_ns"].as_u64()?) as f64 / 1e3);
    let rounds = document["cells"][0]["rounds"].as_array();
    rounds.into_iter().flatten().filter_map(|round| us(&round["start_spread"])).collect()
}

fn start(library: Library) -> Result<(), String> {
    let hosts = Hosts::new(library)?;
    let words = with(&READS, &["data", "--time", "200ms", "--rounds", STARTS, "--json"]);
    let document = document(hosts.launcher(2, "host_with_clock", &words).spawn().expect("a launcher"));
    let mut spreads = spreads_us(&document);
    spreads.sort_by(f64::total_cmp);
    let host = &document["run"]["hosts"][1];
    println!(
        "{}",
        json!({
            "start": library.name,
            "rounds": spreads.len(),
            "median_us": median(&spreads),
            "largest_us": spreads.last(),
        })
    );
    println!(
        "{}",
        json!({
            "clocks": library.name,
            "error_ns": host["offset_ns"].as_i64().map(|offset| (offset - CLOCKS_APART_NS).abs()),
            "uncertainty_ns": host["uncertainty_ns"],
        })
    );
    Ok(())
}

/// A disk that allows this many MiB per second, in any number of requests. The limit of a control group is less exact:
/// a disk that was idle before gave up to 13 % more in its first second.
fn disk(mib: u64) -> Result<Ground, String> {
    let throttle = Some(Throttle::new(Some(Limit::new(0, mib << 20)), None));
    Ground::new(Knobs { throttle, ..Knobs::default() })
}

fn disks() -> Result<(), String> {
    let hosts = Hosts::new(OPEN_MPI)?;
    let disks: Vec<Ground> = (0..HOSTS).map(|_| disk(TOGETHER)).collect::<Result<_, _>>()?;
    let words: Vec<&str> = ["io", "--rounds", "3"].into_iter().chain(OF_SLOW_DISKS.split(' ')).collect();
    let alone = |disk: &Ground| {
        let ran = testkit::run(&common::program(), disk.point(), &with(&words, &["."]));
        assert_eq!(ran.status, Some(0), "{}", ran.err);
        rate(&common::document::document(&ran))
    };
    let alone: Vec<f64> = disks.iter().map(alone).collect();
    for (rank, disk) in disks.iter().enumerate() {
        symlink(disk.point(), hosts.path(&format!("n{rank}"))).expect("a link");
    }
    let mut launcher = hosts.launcher(HOSTS, "host", &with(&words, &["%h"]));
    let together = rate(&document(launcher.spawn().expect("a launcher")));
    println!("{}", json!({"disks": HOSTS, "alone": alone, "sum": alone.iter().sum::<f64>(), "together": together}));
    Ok(())
}

/// A process of diskperf, and the `diskperf-mpi` that serves it.
struct Watched {
    program: PathBuf,
    bridge: PathBuf,
    /// The last look, if it was inside a measured section: the moment, and the CPU time of the bridge until then.
    last: Option<(Instant, Duration)>,
    /// The sum of the times between looks inside a section, and the CPU time of the bridge in these times.
    inside: Duration,
    cpu: Duration,
    /// The CPU time of the bridge from its beginning to the last look inside a measured section.
    whole_cpu: Duration,
}

impl Watched {
    fn new(program: Pid) -> Watched {
        let folder = |process: &str| Path::new("/proc").join(process);
        let program = folder(&program.as_raw_pid().to_string());
        let status = fs::read_to_string(program.join("status")).expect("a process");
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent").trim();
        let bridge = folder(parent);
        assert!(fs::read_to_string(bridge.join("comm")).is_ok_and(|name| name.trim() == "diskperf-mpi"), "{parent}");
        Watched { program, bridge, last: None, inside: Duration::ZERO, cpu: Duration::ZERO, whole_cpu: Duration::ZERO }
    }

    fn look(&mut self, data: &Path) {
        let now = Instant::now();
        let current = self.is_measured(data).then(|| (now, self.cpu_time()));
        if let Some((_, cpu)) = current {
            self.whole_cpu = cpu;
        }
        if let (Some((before, cpu_before)), Some((now, cpu))) = (self.last, current)
            && now - before <= LONGEST_LOOK
        {
            self.inside += now - before;
            self.cpu += cpu - cpu_before;
        }
        self.last = current;
    }

    /// True if the program reads a file for a test now. Only files that a test opens are inherited by children.
    fn is_measured(&self, data: &Path) -> bool {
        let is_read = |entry: &fs::DirEntry| {
            let info = self.program.join("fdinfo").join(entry.file_name());
            let info = fs::read_to_string(info).unwrap_or_default();
            let flags = info.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
            let special = OFlags::RWMODE | OFlags::CLOEXEC;
            flags.is_some_and(|flags| OFlags::from_bits_retain(flags).intersection(special).is_empty())
        };
        let is_of_data = |entry: &fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|file| file.starts_with(data));
        let open = fs::read_dir(self.program.join("fd")).into_iter().flatten().flatten();
        open.filter(is_of_data).any(|entry| is_read(&entry))
    }

    /// The CPU time of all threads of the bridge.
    fn cpu_time(&self) -> Duration {
        let threads = fs::read_dir(self.bridge.join("task")).into_iter().flatten().flatten();
        let nanos = |thread: fs::DirEntry| {
            let times = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            times.split(' ').next()?.parse::<u64>().ok()
        };
        Duration::from_nanos(threads.filter_map(nanos).sum())
    }
}

fn bridge(library: Library) -> Result<(), String> {
    if !Path::new("/proc/self/schedstat").exists() {
        return Err("the kernel does not count the CPU time of threads in nanoseconds".to_owned());
    }
    let hosts = Hosts::new(library)?;
    let words = with(&READS, &["data", "--time", "2s", "--rounds", "10", "--json"]);
    let mut launcher = hosts.launcher(HOSTS, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(&mut launcher, 1);
    let mut watched: Vec<Watched> = (0..HOSTS).map(|rank| Watched::new(hosts.process_of(rank))).collect();
    let data = hosts.path("data");
    let ended = thread::spawn(|| document(launcher));
    while !ended.is_finished() {
        watched.iter_mut().for_each(|watched| watched.look(&data));
        thread::sleep(LOOK);
    }
    let document = ended.join().expect("a document");
    let shares = watched.iter().map(|one| 100.0 * one.cpu.as_secs_f64() / one.inside.as_secs_f64());
    println!(
        "{}",
        json!({
            "bridge": library.name,
            "measured": document["cells"][0]["measured"],
            "hosts": watched.len(),
            "watched_s": watched.iter().map(|one| one.inside.as_secs_f64()).fold(f64::INFINITY, f64::min),
            "whole_cpu_s": watched.iter().map(|one| one.whole_cpu.as_secs_f64()).fold(f64::INFINITY, f64::min),
            "largest_percent": shares.fold(0.0, f64::max),
        })
    );
    Ok(())
}

/// All hosts read from both disks, each in its own directory.
fn choose() -> Result<(), String> {
    let hosts = Hosts::new(OPEN_MPI)?;
    let disks: Vec<Ground> = COMPARED.into_iter().map(disk).collect::<Result<_, _>>()?;
    for disk in &disks {
        (0..HOSTS).for_each(|rank| fs::create_dir(disk.point().join(format!("n{rank}"))).expect("a directory"));
    }
    let named = |(disk, name): (&Ground, &str)| format!("{name}={}/%h", disk.point().display());
    let targets: Vec<String> = disks.iter().zip(["a", "b"]).map(named).collect();
    let mut words = vec!["choose", &targets[0], &targets[1], "io", "--rounds", "6"];
    words.extend(OF_SLOW_DISKS.split(' '));
    let document = document(hosts.launcher(HOSTS, "host", &words).spawn().expect("a launcher"));
    let pair = &document["run"]["choice"]["comparisons"][0];
    let figure = |name: &str| pair[name].clone();
    println!(
        "{}",
        json!({
            "choose": COMPARED,
            "hosts": HOSTS,
            "first": figure("first"),
            "verdict": figure("verdict"),
            "faster": figure("faster"),
            "ratio": figure("ratio"),
            "low": figure("low"),
            "high": figure("high"),
            "rounds": figure("pairs"),
        })
    );
    Ok(())
}

/// Kills diskperf on the third host in the third round. The other hosts notice it at the end of the round: while they
/// measure, the bridge waits for its program only.
fn failure(library: Library) -> Result<(), String> {
    let hosts = Hosts::new(library)?;
    let words = with(&READS, &["data", "--time", ROUND, "--rounds", "20"]);
    let mut launcher = hosts.launcher(3, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(&mut launcher, 2);
    kill_process(hosts.process_of(2), Signal::KILL).expect("a process");
    let began = Instant::now();
    let ran = ended(launcher);
    let elapsed = began.elapsed();
    let stored = hosts.stored().unwrap_or_default();
    println!(
        "{}",
        json!({
            "failure": library.name,
            "round": ROUND,
            "seconds": elapsed.as_secs_f64(),
            "status": ran.status,
            "is_named": ran.err.contains("error: host n2 is gone (signal 9) in round 3"),
            "rounds_stored": stored["cells"][0]["rounds"].as_array().map_or(0, Vec::len),
        })
    );
    Ok(())
}
