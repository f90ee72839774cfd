//! Hosts that fail, are late or are told to stop, and runs that are resumed.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common;
use crate::ranks::{MPICH, OPEN_MPI, PATIENCE, READS, ended, hosts, lines, wait, with};

#[test]
fn a_host_that_is_gone_is_named_and_finished_rounds_stay() {
    let hosts = hosts!(OPEN_MPI);
    let words = with(&READS, &["data", "--time", "300ms", "--rounds", "200"]);
    let mut launcher = hosts.launcher(3, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(&mut launcher, 2);
    kill_process(hosts.process_of(2), Signal::KILL).expect("a process");
    let ran = ended(launcher);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.err.contains("error: host n2 is gone (signal 9) in round "), "{}", ran.err);
    let stored = hosts.stored().expect("a run");
    assert!(stored["cells"][0]["rounds"].as_array().is_some_and(|rounds| rounds.len() >= 2), "{stored}");
    assert_eq!(stored["cells"][0]["measured"], true, "{stored}");
}

#[test]
fn the_same_hosts_resume_a_run_after_a_kill() {
    let hosts = hosts!(MPICH);
    // On n2, the command stops after 8 times until the test allows more.
    let (count, goes_on) = (hosts.path("count"), hosts.path("goes_on"));
    let waits = format!(
        "[ $(hostname) = n2 ] || exec sleep 0.05\necho >> '{count}'\n\
         while [ $(wc -l < '{count}') -gt 8 ] && [ ! -e '{goes_on}' ]; do sleep 0.05; done",
        count = count.display(),
        goes_on = goes_on.display()
    );
    hosts.script("waits", &waits);
    let command = hosts.path("waits").display().to_string();
    let words = ["run", "data", "--rounds", "20", "--floor", "0", "--yes", "--", &command];
    let launcher = hosts.launcher(3, "host", &words).spawn().expect("a launcher");
    wait(|| fs::read(&count).is_ok_and(|lines| lines.len() > 8));
    kill_process(hosts.process_of(2), Signal::KILL).expect("a process");
    assert_eq!(ended(launcher).status, Some(1));
    let before = hosts.stored().expect("a run");
    let rounds = |document: &Value| document["cells"][0]["rounds"].as_array().expect("rounds").clone();
    assert!((2..20).contains(&rounds(&before).len()), "{before}");
    // The host that was killed left its folder.
    assert!(!testkit::names_in(&hosts.path("data")).is_empty());
    let mut alone = testkit::command(&common::program());
    alone.args(["resume"]).env("DISKPERF_STORE", hosts.path("store"));
    let alone = common::ended(alone);
    assert_eq!(alone.status, Some(3), "{}", alone.err);
    assert!(alone.err.contains("on the hosts n0, n1, n2 together, and this is one host"), "{}", alone.err);
    let two = hosts.run(2, "host", &["resume"]);
    assert_eq!(two.status, Some(3), "{}", two.err);
    assert!(two.err.contains("on the hosts n0, n1, n2, and n2 is missing"), "{}", two.err);
    assert!(two.err.contains("hint: start the same hosts in the same order: mpirun -n 3 "), "{}", two.err);
    fs::write(goes_on, "").expect("a file");
    // `resume` starts in another working folder.
    let mut resumed = hosts.launcher(3, "host", &["resume"]);
    resumed.current_dir("/");
    let resumed = ended(resumed.spawn().expect("a launcher"));
    assert_eq!(resumed.status, Some(0), "{}", resumed.err);
    let after = hosts.stored().expect("a run");
    assert_eq!((rounds(&after).len(), &after["run"]["store"]["run"]), (20, &before["run"]["store"]["run"]));
    assert_eq!(rounds(&after)[0], rounds(&before)[0]);
    assert!(rounds(&after).iter().all(|round| round["parts"].as_array().map(Vec::len) == Some(3)), "{after}");
    assert_eq!(testkit::names_in(&hosts.path("data")), [""; 0]);
}

#[test]
fn a_stop_ends_all_hosts_once() {
    let hosts = hosts!(OPEN_MPI);
    let words = with(&READS, &["data", "--time", "300ms", "--rounds", "200"]);
    let mut launcher = hosts.launcher(2, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(&mut launcher, 1);
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
    // Enough rounds that the host is stopped before the last one, even on a busy machine.
    let words = [&["--patience", "5"][..], &READS, &["data", "--time", "300ms", "--rounds", "24"]].concat();
    let mut launcher = hosts.launcher(2, "host", &words).spawn().expect("a launcher");
    let lines = lines(launcher.stderr.take().expect("a pipe"));
    hosts.wait_for_rounds(&mut launcher, 1);
    let late = hosts.process_of(1);
    kill_process(late, Signal::STOP).expect("a process");
    let is_named = |line: &str| {
        let rest = line.split_once("remark: host n1 is ").map(|(_, rest)| rest);
        rest.is_some_and(|rest| rest.ends_with(" s behind the first host"))
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
    assert_eq!(hosts.stored().expect("a run")["cells"][0]["rounds"].as_array().map(Vec::len), Some(24));
}
