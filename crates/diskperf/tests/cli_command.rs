//! A command of a person's own as the load: what is measured of it, what its failure says, and that nothing of it is left.

mod common {
    pub mod document;
}

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use common::document::document;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Ended, Running, names_in, soon};

fn diskperf(folder: &Path, arguments: &[&str]) -> Ended {
    testkit::run(&testkit::program(env!("CARGO_BIN_EXE_diskperf")), folder, arguments)
}

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// The only cell of a run of this command line, which ends well.
fn cell(folder: &Path, arguments: &[&str]) -> Value {
    let ended = diskperf(folder, &[&["run", "--json"], arguments].concat());
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}{}", ended.out, ended.err);
    let cells = document(&ended)["cells"].take();
    let Value::Array(mut cells) = cells else { panic!("{cells:#}") };
    assert_eq!(cells.len(), 1);
    cells.remove(0)
}

/// Its rounds that count.
fn kept(cell: &Value) -> Vec<&Value> {
    let rounds = cell["rounds"].as_array().expect("rounds").iter();
    rounds.filter(|round| round["discarded"] == false).collect()
}

/// A path as a word of a command line.
fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

fn codes(cell: &Value) -> Vec<&str> {
    cell["marks"].as_array().expect("marks").iter().filter_map(|mark| mark["code"].as_str()).collect()
}

/// Whether a process is there that has this word.
fn runs(word: &str) -> bool {
    let lines = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = lines.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|other| other == word.as_bytes()))
}

/// Seconds that nobody else sleeps.
fn seconds(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("1000.{}", folder.metadata().expect("a folder").ino())
}

#[test]
fn a_command_is_measured_in_an_empty_folder_of_the_target() {
    let folder = scratch();
    let words = ["bs=64K", "count=64", "status=none"];
    let line = [&[".", "--rounds", "3", "--", "dd", "if=/dev/urandom", "of={}/x"], &words[..]].concat();
    let cell = cell(folder.path(), &line);
    assert_eq!((&cell["preset"], &cell["program"], &cell["phase"]), (&"command".into(), &"dd".into(), &"dd".into()));
    let typed = "dd if=/dev/urandom 'of={}/x' bs=64K count=64 status=none";
    assert_eq!((&cell["parameters"]["command"], &cell["rate"]["unit"]), (&typed.into(), &"runs/s".into()));
    assert_eq!((cell["rounds"].as_array().map(Vec::len), kept(&cell).len()), (Some(3), 2));
    for round in kept(&cell) {
        assert_eq!((&round["ops"], &round["bytes"]), (&1.into(), &0.into()));
        assert!(number(&round["durable_s"]) >= number(&round["returned_s"]), "{round:#}");
        assert!(number(&round["cpu_s"]["process"]) > 0.0, "{round:#}");
    }
    // Where a device can be seen, it got what was written.
    if !cell["io"].is_null() {
        assert!(number(&cell["io"]["device_written"]) >= 2.0 * 4_194_304.0, "{cell:#}");
        assert!(!codes(&cell).contains(&"untouched"), "{cell:#}");
    }
    assert_eq!(names_in(folder.path()), [""; 0]);

    let ended = diskperf(folder.path(), &line.iter().fold(vec!["run"], |all, word| [&all[..], &[*word]].concat()));
    for words in [" dd ", "s/run", "a run until durable (", " rounds); each took", "of CPU time"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(ended.err.contains("writes what the command writes in ."), "{}", ended.err);
}

#[test]
fn the_cpu_time_of_grandchildren_counts() {
    let folder = scratch();
    let cpu = |command: &[&str]| {
        let cell = cell(folder.path(), &[&[".", "--rounds", "2", "--"], command].concat());
        number(&kept(&cell)[0]["cpu_s"]["process"])
    };
    let alone = cpu(&["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=1000", "status=none"]);
    let below = cpu(&["sh", "-c", "(dd if=/dev/zero of=/dev/null bs=1M count=1000 status=none; true); true"]);
    let little = cpu(&["sh", "-c", "(true); true"]);
    assert!(below > alone / 3.0 && below > 3.0 * little, "{alone} {below} {little}");
}

#[test]
fn what_is_left_running_is_ended_and_said() {
    let folder = scratch();
    let seconds = seconds(folder.path());
    let line = format!("sleep {seconds} & setsid sleep {seconds} & exit 0");
    let ended = diskperf(folder.path(), &["run", ".", "--rounds", "2", "--", "sh", "-c", &line]);
    assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    assert_eq!(ended.err.matches("sh left processes running, ended outside the clock").count(), 1, "{}", ended.err);
    assert!(!runs(&seconds));
}

#[test]
fn a_failure_voids_the_cell_and_says_what_the_command_said() {
    let folder = scratch();
    let failed = |arguments: &[&str]| {
        let ended = diskperf(folder.path(), &[&["run", ".", "--json"], arguments].concat());
        assert_eq!(ended.status, Some(1), "{arguments:?}: {}{}", ended.out, ended.err);
        let document = document(&ended);
        let cell = &document["cells"][0];
        assert_eq!((&cell["measured"], &cell["rate"], codes(cell)), (&false.into(), &Value::Null, vec!["error"]));
        assert!(document["errors"][0]["hint"].is_string(), "{document:#}");
        cell["reason"].as_str().expect("a reason").to_owned()
    };
    let said = failed(&["--", "sh", "-c", "echo first >&2; echo the last >&2; exit 3"]);
    assert_eq!(said, "the command: it ended with exit status 3; it said: first; the last");
    assert_eq!(failed(&["--", "sh", "-c", "kill -9 $$"]), "the command: signal 9 ended it");
    let said = failed(&["--prepare", "sh -c 'exit 7'", "--", "true"]);
    assert_eq!(said, "while it was prepared: the command: it ended with exit status 7");
    assert!(failed(&["--", "{}/none"]).contains("no such file"));
    let said = failed(&["--timeout", "50ms", "--", "sleep", "1000"]);
    assert_eq!(said, "the command: it had not ended in time, and was ended");
    // Where it stands, and which files it has: its own three, and the folder that `ls` reads.
    let said = failed(&["--", "sh", "-c", "pwd >&2; echo {} >&2; ls /proc/self/fd | tr '\\n' ' ' >&2; exit 1"]);
    let said: Vec<&str> = said.split("it said: ").last().expect("words").split("; ").collect();
    assert_eq!((said[0], said[2]), (said[1], "0 1 2 3"), "{said:?}");
    assert!(said[0].contains("/.diskperf-"), "{said:?}");
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn an_anonymous_run_has_no_word_of_the_command() {
    let folder = scratch();
    let store = ["--store", "runs.sqlite"];
    let line = "echo secret >&2; exit 1";
    let run = [&["run", ".", "--prepare", "touch secret"], &store[..], &["--", "sh", "-c", line]].concat();
    assert_eq!(diskperf(folder.path(), &run).status, Some(1));
    let exported = |words: &[&str]| {
        let ended = diskperf(folder.path(), &[&["export", "last"], words, &store].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        ended.out
    };
    assert!(exported(&["--format", "json"]).matches("secret").count() >= 4);
    let anonymous = exported(&["--format", "json", "--anonymous"]);
    assert!(!anonymous.contains("secret") && anonymous.contains("exit status 1"), "{anonymous}");
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_made() {
    let folder = scratch();
    fs::write(folder.path().join("text"), "no program").expect("a file");
    for (arguments, words) in [
        (&["run", ".", "--", "no-such-command"][..], &["no command \"no-such-command\"", "PATH"][..]),
        (&["run", ".", "--", "./none"], &["./none", "where you stand"]),
        (&["run", ".", "--", "./text"], &["text cannot be executed", "chmod +x"]),
        (&["run", ".", "--"], &["no command is named", "diskperf run . -- "]),
        (&["run", "command", "."], &["no command is named"]),
        (&["run", ".", "--prepare", "no-such-command", "--", "true"], &["no-such-command"]),
        (&["run", ".", "--prepare", "cp 'a", "--", "true"], &["no line of words: cp 'a", "quotes"]),
        (&["run", "smoke", ".", "--prepare", "true"], &["--prepare", "COMMAND"]),
        (&["run", "sim:flat", "--", "true"], &["sim:flat is a simulated machine", "name a directory"]),
        (&["run", "file:text", "--", "true"], &["a file that is only read"]),
        (&["run", "smoke", ".", "--", "true"], &["smoke is a preset", "leave it out"]),
        (&["run", ".", "--together", "--", "true"], &["--together"]),
        (&["choose", ".", "--", "true"], &["one target alone"]),
        (&["choose", "a=.", "b=.", "--preset", "smoke", "--", "true"], &["--preset"]),
        (&["choose", "a=sim:flat", "b=.", "--", "true"], &["a is a simulated machine"]),
    ] {
        let ended = diskperf(folder.path(), arguments);
        assert_eq!(ended.status, Some(2), "{arguments:?}: {}{}", ended.out, ended.err);
        words.iter().for_each(|word| assert!(ended.err.contains(word), "{arguments:?}: {}", ended.err));
    }
    let ended = diskperf(folder.path(), &["run", ".", "--dry-run", "--", "touch", "text2"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "touch on .\n"));
    assert_eq!(names_in(folder.path()), ["text"]);
}

#[test]
fn what_makes_ready_runs_before_each_execution() {
    let folder = scratch();
    let outside = scratch();
    let log = outside.path().join("log");
    let prepare = format!("sh -c 'echo ready >> {}; echo {{}} > made'", text(&log));
    let command = format!("cat made >> {}; test $(ls | wc -l) = 1 && touch more", text(&log));
    let cell = cell(folder.path(), &[".", "--rounds", "3", "--prepare", &prepare, "--", "sh", "-c", &command]);
    assert_eq!(cell["parameters"]["prepare"], prepare);
    let log = fs::read_to_string(log).expect("a log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 6, "{log}");
    for pair in lines.chunks(2) {
        assert!(pair[0] == "ready" && pair[1].starts_with('/') && pair[1].contains("/.diskperf-"), "{log}");
    }
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn told_to_stop_it_ends_the_command_keeps_what_is_finished_and_can_go_on() {
    let folder = scratch();
    let outside = scratch();
    let (count, seconds) = (outside.path().join("count"), seconds(folder.path()));
    let set = |number: &str| fs::write(&count, number).expect("a file");
    set("0");
    // It asks for no end by itself, and takes no notice of being asked.
    let line = format!(
        "n=$(cat {0}); echo $((n + 1)) > {0}; test $n -lt 2 || {{ trap '' TERM; sleep {seconds}; sleep {seconds}; }}",
        text(&count)
    );
    let store = outside.path().join("runs.sqlite");
    let stored = ["--store", text(&store)];
    let mut command = testkit::command(&testkit::program(env!("CARGO_BIN_EXE_diskperf")));
    command.args(["run", ".", "--rounds", "3", "--json"]).args(stored).args(["--", "sh", "-c", &line]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().expect("diskperf starts"));
    soon("the third round", || runs(&seconds));
    kill_process(Pid::from_child(&running.0), Signal::INT).expect("it is told to stop");
    // More than a pipe holds is not printed of one cell.
    let status = running.0.wait().expect("its end").code();
    let mut ended = Ended { status, out: String::new(), err: String::new() };
    let mut out = running.0.stdout.take().expect("its output");
    out.read_to_string(&mut ended.out).expect("a document");
    assert_eq!(ended.status, Some(4), "{}", ended.out);
    assert!(!runs(&seconds));
    assert_eq!(names_in(folder.path()), [""; 0]);
    let interrupted = document(&ended);
    assert_eq!(interrupted["run"]["interrupted"], true);
    assert_eq!(interrupted["cells"][0]["rounds"].as_array().map(Vec::len), Some(2));

    set("0");
    let ended = diskperf(outside.path(), &[&["resume"], &stored[..]].concat());
    assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    let document = document(&ended);
    assert_eq!(document["cells"][0]["rounds"].as_array().map(Vec::len), Some(3));
    assert_eq!(fs::read_to_string(&count).expect("a file"), "1\n");
}

#[test]
fn it_is_found_on_which_target_a_command_is_faster() {
    let folder = scratch();
    ["swift", "slow"].iter().for_each(|name| fs::create_dir(folder.path().join(name)).expect("a folder"));
    let line = "case $PWD in */slow/*) sleep 0.3;; esac; echo done > file";
    let ended = diskperf(folder.path(), &["choose", "swift", "slow", "--json", "--", "sh", "-c", line]);
    assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    let document = document(&ended);
    let choice = &document["run"]["choice"];
    let pair = &choice["comparisons"][0];
    assert_eq!((&pair["verdict"], &pair["faster"]), (&"faster".into(), &"swift".into()), "{choice:#}");
    // The first round does not count.
    let pairs = number(&pair["pairs"]);
    assert!(pairs >= 6.0 && number(&document["run"]["rounds"]) == pairs + 1.0, "{choice:#}");
    let remarks = choice["remarks"].as_array().expect("remarks").iter().filter_map(Value::as_str);
    assert_eq!(remarks.filter(|remark| remark.contains("a run until durable")).count(), 2, "{choice:#}");
}

#[test]
fn on_a_file_system_of_its_own_every_byte_and_flush_is_seen() {
    if !testkit::is_root() {
        return testkit::skip!("an image needs root");
    }
    let folder = scratch();
    let rounds = ["image:ext4,size=64MiB", "--rounds", "2"];
    let synced = ["--", "dd", "if=/dev/urandom", "of=x", "bs=64K", "count=16", "conv=fsync", "status=none"];
    let written = cell(folder.path(), &[&rounds[..], &synced].concat());
    let io = &written["io"];
    assert!((1_048_576.0..4_194_304.0).contains(&number(&io["device_written"])), "{io:#}");
    assert!(number(&io["flushes"]) >= 1.0 && !codes(&written).contains(&"untouched"), "{written:#}");
    assert_eq!((&io["program_bytes"], &written["state"]["clock"]), (&Value::Null, &"durable".into()));

    let idle = cell(folder.path(), &[&rounds[..], &["--", "true"]].concat());
    assert!(codes(&idle).contains(&"untouched"), "{idle:#}");

    let make = "dd if=/dev/urandom of=x bs=64K count=16 status=none";
    let read = cell(folder.path(), &[&rounds[..], &["--cold", "--prepare", make, "--", "cat", "x"]].concat());
    assert_eq!(read["state"]["cache"], "cold", "{read:#}");
    assert!(number(&read["io"]["device_read"]) >= 1_048_576.0, "{read:#}");
}
