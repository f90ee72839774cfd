//! Two guests as hosts: each has a kernel, a clock and a disk of its own. On the first host, the launcher starts the
//! ranks; on the second one, it starts them through ssh.
//!
//! The second host is paused, and later its power is cut. The connection then stays open without an answer, unlike
//! after a killed process.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use stats::figures::summary::median;
use testkit::guest::{Guest, GuestDisk, Kernel, Plan, installed, installed_as, unnamed};

use crate::common;
use crate::ranks::{Library, MPICH, PATIENCE, READS, with};

/// The kernel of each host.
const KERNELS: [&str; 2] = ["6.1", "6.12"];

/// Bytes of the disk of each host: an ext4 with room for the file.
const DISK: u64 = 256 << 20;

/// Rounds of a run that nothing disturbs.
const ROUNDS: &str = "10";

/// Seconds after which a late host is named. After ten times as many, the run ends (`bridge/src/first.rs`).
const NAMED_S: &str = "3";

/// The time for which a host is paused: long enough that diskperf names it as late, and too short to end the run.
const PAUSED: Duration = Duration::from_secs(20);

/// The time from the loss of a host for which the bench waits for the end of the launcher.
const LAUNCHER: Duration = Duration::from_secs(90);

/// The pause between two looks at a run. Each look takes processor time from the run.
const LOOK: Duration = Duration::from_secs(1);

/// The first host, on which the launcher runs.
struct First {
    library: Library,
    guest: Guest,
}

/// Boots both hosts, and connects them.
fn boot(library: Library) -> Result<(First, Guest), String> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let socket = folder.path().join("network").display().to_string();
    let files = files(library)?;
    let boot = |number: usize| {
        let kernel = Kernel::find(KERNELS[number])?;
        let disk = unnamed()?;
        disk.set_len(DISK).expect("a size");
        let is_server = if number == 0 { "on" } else { "off" };
        let plan = Plan {
            tools: vec!["mkfs.ext4", "dropbear", "dbclient", "dropbearkey"],
            modules: vec!["virtio_pci", "virtio_net"],
            files: files.clone(),
            script: concat!(include_str!("../../tests/guests/steps.sh"), include_str!("guests.sh")).to_owned(),
            disks: vec![GuestDisk::on_file(&disk, "nvme,serial=one")],
            arguments: vec![
                "-netdev".to_owned(),
                format!("stream,id=net,server={is_server},addr.type=unix,addr.path={socket}"),
                "-device".to_owned(),
                format!("virtio-net-pci,netdev=net,mac=52:54:00:00:00:0{number}"),
            ],
            ..Plan::default()
        };
        // QEMU has opened the files when the guest takes commands.
        Guest::boot(&kernel, &plan)
    };
    let (mut first, mut second) = (boot(0)?, boot(1)?);
    done(&mut first, "up 0")?;
    done(&mut second, "up 1")?;
    let key = done(&mut first, "key")?;
    done(&mut second, &format!("serve '{}'", key.trim()))?;
    Ok((First { library, guest: first }, second))
}

impl First {
    fn run(&mut self, command: &str) -> Result<String, String> {
        done(&mut self.guest, command)
    }

    /// Starts a run of both hosts.
    fn begin(&mut self, words: &[&str]) -> Result<(), String> {
        let Library { name, launcher, words: options } = self.library;
        let on_hosts: &[&str] =
            if name == MPICH.name { &["-hosts", "n0,n1", "-ppn", "1"] } else { &["--host", "n0:1,n1:1"] };
        let begin = ["rm", "-rf", "/run/store;", "begin", launcher];
        let words = [&begin, options, on_hosts, &["-n", "2", "/bin/diskperf-mpi"], words].concat();
        self.run(&words.join(" ")).map(|_| ())
    }

    /// Waits for the end of the run. Returns its exit status, its output and its error output.
    fn end(&mut self) -> Result<(i64, String, String), String> {
        self.wait_for("test -e /run/status")?;
        let status = self.run("cat /run/status")?;
        let status = status.trim().parse().map_err(|_| format!("no exit status: {status:?}"))?;
        Ok((status, self.run("cat /run/run.out")?, self.run("cat /run/run.err")?))
    }

    /// Waits until a command succeeds.
    fn wait_for(&mut self, command: &str) -> Result<(), String> {
        let began = Instant::now();
        while self.guest.run(command)?.status != Some(0) {
            if began.elapsed() > PATIENCE {
                return Err(format!("`{command}` does not succeed: {}", self.run("cat /run/run.err; ps")?));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Waits until rounds are stored.
    fn wait_for_rounds(&mut self, rounds: usize) -> Result<(), String> {
        let began = Instant::now();
        while self.stored_rounds()? < rounds {
            if began.elapsed() > PATIENCE || self.run("test -e /run/status").is_ok() {
                return Err(format!("no {rounds} rounds: {}", self.run("cat /run/run.err")?));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn stored_rounds(&mut self) -> Result<usize, String> {
        // Before the first round is stored, `show` fails and prints no JSON.
        let shown = self.guest.run("stored")?.out;
        let stored: Value = serde_json::from_str(&shown).unwrap_or_default();
        Ok(stored["cells"][0]["rounds"].as_array().map_or(0, Vec::len))
    }
}

/// The output of a command that succeeds.
fn done(guest: &mut Guest, command: &str) -> Result<String, String> {
    let ran = guest.run(command)?;
    if ran.status == Some(0) { Ok(ran.out) } else { Err(format!("{command}: {:?} {}", ran.status, ran.err)) }
}

/// diskperf, `diskperf-mpi` and the MPI library of this machine.
fn files(library: Library) -> Result<Vec<(String, PathBuf)>, String> {
    let bridge = testkit::bridge(library.name).ok_or("the bridge is not built: cargo xtask test builds it")?;
    let programs = [("/bin/diskperf", common::program()), ("/bin/diskperf-mpi", bridge)];
    let mut all = Vec::new();
    for (name, program) in programs {
        all.extend(installed_as(name, &program)?);
    }
    let is_mpich = library.name == MPICH.name;
    let tools = [library.launcher, if is_mpich { "hydra_pmi_proxy" } else { "orted" }];
    for name in tools {
        all.extend(installed(&testkit::tool(name).ok_or_else(|| format!("{name} is not installed"))?)?);
    }
    // Open MPI loads its parts when it runs, and so does the library by which its processes find each other.
    let roots: &[&str] = if is_mpich { &[] } else { &["/usr/lib/x86_64-linux-gnu", "/usr/share", "/etc"] };
    for root in roots {
        for folder in folder_entries(Path::new(root)) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if folder.is_dir() && (name.starts_with("openmpi") || name.starts_with("pmix")) {
                add_parts(&folder, &mut all);
            }
        }
    }
    Ok(all)
}

/// Adds the libraries, settings and messages in a folder. A part whose own libraries are not installed is left out: it
/// does not work on this machine either.
fn add_parts(folder: &Path, all: &mut Vec<(String, PathBuf)>) {
    for path in folder_entries(folder) {
        let end = path.extension().unwrap_or_default();
        if path.is_dir() {
            add_parts(&path, all);
        } else if end == "so" {
            all.extend(installed(&path).unwrap_or_default());
        } else if end == "txt" || end == "conf" {
            all.push((path.display().to_string(), path));
        }
    }
}

fn folder_entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// A run that nothing disturbs, one with a host that is paused, and one with a host that loses its power. Panics if one
/// of them fails: then its figure is missed. Guests that do not boot are a reason to measure nothing.
pub fn run(library: Library) -> Result<(), String> {
    let (mut first, mut second) = boot(library)?;
    undisturbed(&mut first, &mut second).expect("a run of both guests");
    paused(&mut first, &second).expect("a run with a guest that is paused");
    cut(&mut first, second).expect("a run with a guest that loses its power");
    Ok(())
}

fn undisturbed(first: &mut First, second: &mut Guest) -> Result<(), String> {
    first.begin(&with(&READS, &["/mnt", "--time", "1s", "--rounds", ROUNDS, "--json"]))?;
    let (status, out, err) = first.end()?;
    let document: Value = serde_json::from_str(&out).map_err(|_| format!("no document, status {status}: {err}"))?;
    let clocks_apart_s = uptime(second)? - uptime(&mut first.guest)?;
    let kernels = [first.run("uname -r")?, done(second, "uname -r")?];
    let mut spreads = crate::spreads_us(&document);
    spreads.sort_by(f64::total_cmp);
    let hosts = document["run"]["hosts"].as_array().cloned().unwrap_or_default();
    println!(
        "{}",
        json!({
            "guests": first.library.name,
            "status": status,
            "hosts": hosts.iter().map(|host| host["name"].clone()).collect::<Vec<Value>>(),
            "kernels": kernels.each_ref().map(|kernel| kernel.trim()),
            "measured": document["cells"][0]["measured"],
            "rounds": spreads.len(),
            "median_us": median(&spreads),
            "clocks_apart_s": clocks_apart_s,
            "offset_s": hosts.get(1).and_then(|host| host["offset_ns"].as_f64()).map(|nanos| nanos / 1e9),
        })
    );
    Ok(())
}

/// Seconds since the start of a guest: its clock, in hundredths.
fn uptime(guest: &mut Guest) -> Result<f64, String> {
    let text = done(guest, "cat /proc/uptime")?;
    text.split(' ').next().and_then(|seconds| seconds.parse().ok()).ok_or_else(|| format!("no uptime: {text}"))
}

/// Stops QEMU, and with it the second host. The clock of this host goes on.
fn paused(first: &mut First, second: &Guest) -> Result<(), String> {
    first.begin(&patient(&["--rounds", ROUNDS]))?;
    first.wait_for_rounds(2)?;
    let qemu = Pid::from_raw(second.pid().cast_signed()).expect("a process");
    kill_process(qemu, Signal::STOP).expect("a process of ours");
    let began = Instant::now();
    let named = first.wait_for("grep -q 'remark: host n1 ' /run/run.err");
    let named_s = began.elapsed().as_secs_f64();
    thread::sleep(PAUSED.saturating_sub(began.elapsed()));
    kill_process(qemu, Signal::CONT).expect("a process of ours");
    named?;
    let (status, ..) = first.end()?;
    println!(
        "{}",
        json!({
            "paused": first.library.name,
            "pause_s": PAUSED.as_secs_f64(),
            "named_s": named_s,
            "status": status,
            "rounds": first.stored_rounds()?,
            "asked_rounds": ROUNDS.parse::<usize>().ok(),
        })
    );
    Ok(())
}

/// Cuts the power of the second host, so that it ends without a message. Launchers wait for their daemon on that host;
/// Open MPI's waits longer than [`LAUNCHER`].
fn cut(first: &mut First, second: Guest) -> Result<(), String> {
    first.begin(&patient(&["--rounds", "1000"]))?;
    first.wait_for_rounds(2)?;
    let stored = first.stored_rounds()?;
    second.cut();
    let began = Instant::now();
    first.wait_for("grep -q 'error: host n1 is gone' /run/run.err")?;
    let named_s = began.elapsed().as_secs_f64();
    let mut status = None;
    while status.is_none() && began.elapsed() < LAUNCHER {
        thread::sleep(LOOK);
        status = first.guest.run("cat /run/status")?.out.trim().parse::<i64>().ok();
    }
    println!(
        "{}",
        json!({
            "cut": first.library.name,
            "named_s": named_s,
            "status": status,
            "ended_s": status.map(|_| began.elapsed().as_secs_f64()),
            "rounds_before": stored,
            "rounds_stored": first.stored_rounds()?,
        })
    );
    Ok(())
}

/// The words of a run that names a late host early.
fn patient<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["--patience", NAMED_S], &READS[..], &["/mnt", "--time", "1s"], words].concat()
}
