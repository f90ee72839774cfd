//! `diskperf delete RUN...`: deletes stored runs after a confirmation: all that are named, or none.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use testkit::{ProgramOutput, Running, wait_until};

use crate::common::{Cli, ended, program};

const STORE: &str = "runs.sqlite";

/// The name of the runs' targets, to be found in the file of the store.
const NAME: &str = "name-of-a-deleted-target";

fn command(cli: &Cli, words: &[&str]) -> std::process::Command {
    let mut command = cli.command(words);
    command.env(testkit::STORE, STORE).stdin(Stdio::null());
    command
}

fn diskperf(cli: &Cli, words: &[&str]) -> ProgramOutput {
    ended(command(cli, words))
}

/// Stores a run, and returns its id.
fn stored(cli: &Cli, target: &str) -> String {
    let ended = diskperf(cli, &["run", "smoke", target, "--rounds", "2"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    ended.err.split("stored as ").nth(1).expect("it is stored").trim().to_owned()
}

/// The ids of all stored runs.
fn listed(cli: &Cli) -> Vec<String> {
    let ended = diskperf(cli, &["list", "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let runs: serde_json::Value = serde_json::from_str(&ended.out).expect("JSON");
    let id = |run: &serde_json::Value| run["run"].as_str().expect("an id").to_owned();
    runs.as_array().expect("runs").iter().map(id).collect()
}

fn holds(path: &Path, word: &str) -> bool {
    let bytes = fs::read(path).expect("the store");
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn runs_are_deleted_by_id_prefix_or_last_without_traces() {
    let cli = Cli::new();
    let here = cli.path();
    let first = stored(&cli, &format!("{NAME}=sim:flat"));
    let kept = stored(&cli, "kept=sim:flat");
    let before = diskperf(&cli, &["show", &kept, "--json"]).out;
    let others: Vec<String> = (0..8).map(|_| stored(&cli, &format!("{NAME}=sim:flat"))).collect();
    let path = here.join(STORE);
    let size = fs::metadata(&path).expect("the store").len();
    assert!(holds(&path, NAME));
    let last = others.last().expect("eight");
    let words = [&["delete", "last", first.as_str(), "--yes"], &[&*others[0], &*others[0]][..]].concat();
    let ended = diskperf(&cli, &words);
    let said: String = [last, &first, &others[0]].map(|run| format!("deleted {run}  smoke\n")).concat();
    assert_eq!((ended.status, ended.out, ended.err.as_str()), (Some(0), said, ""));
    let left = [std::slice::from_ref(&kept), &others[1..7]].concat();
    assert_eq!(listed(&cli), left);
    assert_eq!(diskperf(&cli, &["show", &first]).status, Some(2));
    for run in &left[1..] {
        // The shortest unique beginning of an id.
        let long = (1..).find(|long| left.iter().filter(|other| other.starts_with(&run[..*long])).count() == 1);
        let beginning = &run[..long.expect("ids differ")];
        let ended = diskperf(&cli, &["delete", beginning, "--yes"]);
        assert_eq!((ended.status, ended.out), (Some(0), format!("deleted {run}  smoke\n")), "{}", ended.err);
    }
    assert_eq!(listed(&cli), [kept.as_str()]);
    assert_eq!(diskperf(&cli, &["show", &kept, "--json"]).out, before);
    assert!(!holds(&path, NAME));
    let smaller = fs::metadata(&path).expect("the store").len();
    assert!(smaller * 2 < size, "{smaller} of {size}");
    assert_eq!(cli.names(), [STORE]);
    // A store without runs is valid.
    assert_eq!(diskperf(&cli, &["delete", "last", "--yes"]).status, Some(0));
    assert_eq!(listed(&cli), [""; 0]);
    assert_eq!(diskperf(&cli, &["delete", "last", "--yes"]).status, Some(2));
    stored(&cli, "sim:flat");
}

#[test]
fn an_unknown_run_or_a_missing_answer_deletes_nothing() {
    let cli = Cli::new();
    let here = cli.path();
    let missing = diskperf(&cli, &["delete", "last", "--yes"]);
    assert_eq!(missing.status, Some(2), "{}", missing.err);
    assert_eq!(cli.names(), [""; 0], "no store is made");
    let runs = [stored(&cli, "sim:flat"), stored(&cli, "sim:flat")];
    let before = fs::read(here.join(STORE)).expect("the store");
    for (words, status, said) in [
        (&["delete", &*runs[0], "xyzzy", &*runs[1], "--yes"][..], 2, "there is no run xyzzy"),
        (&["delete", "", "--yes"], 2, "2 runs begin with"),
        (&["delete", "--yes"], 2, "<RUN>"),
        (&["delete", &*runs[0]], 3, &*format!("{} was not removed: not confirmed", runs[0])),
    ] {
        let ended = diskperf(&cli, words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{words:?}: {}", ended.err);
        assert!(ended.err.contains(said), "{words:?}: {}", ended.err);
    }
    assert!(fs::read(here.join(STORE)).expect("the store") == before);
}

#[test]
fn delete_asks_on_a_terminal() {
    let cli = Cli::new();
    let runs = [stored(&cli, "sim:flat"), stored(&cli, "sim:flat")];
    for (answer, status, left) in [("n\n", Some(3), 2), ("\n", Some(3), 2), ("y\n", Some(0), 1)] {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("a terminal");
        unlockpt(&ours).expect("it can be opened");
        let theirs = ioctl_tiocgptpeer(&ours, flags).expect("its other end");
        rustix::io::write(&ours, answer.as_bytes()).expect("the answer is typed");
        let mut command = command(&cli, &["delete", &runs[0]]);
        command.stdin(theirs.try_clone().expect("the terminal")).stderr(theirs).stdout(Stdio::null());
        let mut child = command.spawn().expect("the program can be started");
        drop(command);
        assert_eq!(child.wait().expect("its end").code(), status, "{answer:?}");
        // A read returns the echo, the output, or both. After the last byte it fails with EIO.
        let (mut said, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = rustix::io::read(&ours, &mut piece) {
            said.extend_from_slice(&piece[..length]);
        }
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains(&format!("delete {}? [y/N] ", runs[0])), "{said}");
        assert_eq!(listed(&cli).len(), left, "{answer:?}");
    }
}

#[test]
fn running_runs_stay_and_killed_ones_are_deleted() {
    let cli = Cli::new();
    let here = cli.path();
    let old = stored(&cli, &format!("{NAME}=sim:flat"));
    let data = here.join("data");
    fs::create_dir(&data).expect("a directory");
    let mut measuring = command(&cli, &["run", "smoke", "data", "--rounds", "1000"]);
    measuring.stdout(Stdio::null()).stderr(Stdio::null());
    let mut measuring = Running(measuring.spawn().expect("the program can be started"));
    let run = || listed(&cli).into_iter().find(|run| *run != old);
    wait_until("it is stored, and measures", || run().is_some() && fs::read_dir(&data).expect("it").count() > 0);
    let run = run().expect("it is stored");
    let refused = diskperf(&cli, &["delete", &old, &run, "--yes"]);
    assert_eq!((refused.status, refused.out.as_str()), (Some(3), ""), "{}", refused.err);
    assert!(refused.err.contains(&run) && refused.err.contains("hint: "), "{}", refused.err);
    assert_eq!(listed(&cli), [old.as_str(), &run]);
    let deleted = diskperf(&cli, &["delete", &old, "--yes"]);
    assert_eq!(deleted.status, Some(0), "{}", deleted.err);
    assert!(deleted.err.contains("was not shrunk because another run"), "{}", deleted.err);
    assert!(deleted.err.contains("until the next diskperf delete"), "{}", deleted.err);
    assert!(measuring.0.try_wait().expect("whether it ended").is_none(), "it goes on");
    measuring.0.kill().expect("it is killed");
    measuring.0.wait().expect("its end");
    let deleted = diskperf(&cli, &["delete", &run, "--yes"]);
    assert_eq!((deleted.status, deleted.out), (Some(0), format!("deleted {run}  smoke\n")), "{}", deleted.err);
    let data = data.canonicalize().expect("the directory");
    let hint = format!("may have left files: cd {} && diskperf clean\n", data.display());
    assert!(deleted.err.contains(&hint), "{}", deleted.err);
    let mut clean = Cli::in_folder(&data).command(&["clean", "--dry-run"]);
    clean.env(testkit::STORE, here.join(STORE)).stdin(Stdio::null());
    let found = ended(clean);
    let found = found.out + &found.err;
    assert!(found.contains(&format!("{}/.diskperf-", data.display())), "{found}");
    assert_eq!(listed(&cli), [""; 0]);
    assert!(!holds(&here.join(STORE), NAME), "parts of the first run are left");
}

/// The calls at which a deletion is killed, with the step between them: the calls that make data durable, of which
/// there are few, and the writes, of which there are hundreds.
const KILLED_AT: [(&str, usize); 2] = [("fsync,fdatasync", 1), ("pwrite64", 8)];

#[test]
fn a_killed_delete_has_deleted_all_runs_or_none() {
    let cli = Cli::new();
    let here = cli.path();
    let Some(strace) = testkit::tool("strace") else { return testkit::skip!("strace is not installed") };
    let traced = testkit::run(&strace, here, &["true"]);
    if traced.status != Some(0) {
        return testkit::skip!("strace may not trace here: {}", traced.err.trim());
    }
    let runs: Vec<String> = (0..3).map(|_| stored(&cli, "sim:flat")).collect();
    let whole = fs::read(here.join(STORE)).expect("the database");
    let program = program();
    let (mut kept, mut gone) = (0, 0);
    for (calls, step) in KILLED_AT {
        let mut is_over = false;
        // A deletion has fewer than a hundred of these calls. Without a bound, more writes would hang this test.
        for call in (1..100 * step).step_by(step) {
            let cli = Cli::new();
            let here = cli.path();
            fs::write(here.join(STORE), &whole).expect("the database");
            let mut deleting = testkit::command(&strace);
            deleting.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
            deleting.args(["-e", &format!("inject={calls}:signal=SIGKILL:when={call}")]);
            deleting.arg(&program).args(["delete", "--yes"]).args(&runs);
            deleting.env(testkit::STORE, STORE).current_dir(here).stdin(Stdio::null());
            let status = deleting.output().expect("strace can be started").status;
            let left = listed(&cli);
            assert!(left == runs || left.is_empty(), "{calls} {call}: {left:?}");
            for run in &left {
                assert_eq!(diskperf(&cli, &["show", run]).status, Some(0), "{calls} {call}: {run} is whole");
            }
            is_over = status.success();
            if is_over {
                assert!(call > 1 && left.is_empty(), "{calls} {call}");
                break;
            }
            // strace ends like the program that it runs: by the signal.
            assert_eq!(status.signal(), Some(9), "{calls} {call}");
            if left.is_empty() { gone += 1 } else { kept += 1 }
        }
        assert!(is_over, "{calls}: a deletion has more of these calls");
    }
    assert!(kept > 0 && gone > 0, "kills came before and after the commit: {kept} {gone}");
}
