//! Faults of the process during a measurement: signals, no more descriptors, no more memory, no reader for the results.
//! Finished results are kept, nothing is left behind, and status and document report the end. `faults.rs` tests faults
//! of the storage.

use std::path::Path;

use crate::common::faults::{begin, cells, kept, start};
use rustix::process::Signal;
use testkit::control_group::{Group, run_in};
use testkit::{ProgramOutput, has_tool, skip, wait_until};

use crate::common::document::document;
use crate::common::{Cli, program, text};

const MIB: u64 = 1 << 20;

#[test]
fn sigterm_and_sighup_stop_a_run() {
    for signal in [Signal::TERM, Signal::HUP] {
        let cli = Cli::new();
        let mut run = start(cli.path(), &["--rounds", "100000"]);
        wait_until("it is at work", || !cli.names().is_empty());
        // Twice, like timeout below.
        run.signal(signal);
        run.signal(signal);
        let ended = run.end();
        assert_eq!(ended.status, Some(4), "{signal:?}: {}", ended.err);
        assert_eq!(document(&ended)["run"]["interrupted"], true);
        assert_eq!(cli.names(), [""; 0]);
    }
    // timeout signals to the program, and then to its group.
    if has_tool("timeout") {
        let cli = Cli::new();
        let mut command = testkit::command(Path::new("timeout"));
        command.arg("1000").arg(program()).args(["run", "smoke", "--json", "--rounds", "100000"]);
        command.current_dir(cli.path());
        let mut run = begin(command);
        wait_until("it is at work", || !cli.names().is_empty());
        run.signal(Signal::TERM);
        let ended = run.end();
        // The status of diskperf, because the time was not over.
        assert_eq!(ended.status, Some(4), "{}", ended.err);
        assert_eq!(document(&ended)["run"]["interrupted"], true);
        assert_eq!(cli.names(), [""; 0]);
    }
}

#[test]
fn an_ignored_sighup_stays_ignored() {
    if !has_tool("nohup") {
        return skip!("nohup is not installed");
    }
    let cli = Cli::new();
    let mut command = testkit::command(Path::new("nohup"));
    // Rounds of a second, so that the test sees the private folder on any machine.
    let load = "io randread . --size 64KiB --time 1s --rounds 2 --json";
    command.arg(program()).args(load.split(' ')).current_dir(cli.path());
    let mut run = begin(command);
    wait_until("it is at work", || !cli.names().is_empty());
    run.signal(Signal::HUP);
    let ended = run.end();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    kept(&cells(&document(&ended), ".", ""), 2);
}

/// Any file may fail to open: diskperf reports it, and does not crash.
#[test]
fn missing_file_descriptors_are_reported() {
    if !has_tool("prlimit") {
        return skip!("prlimit is not installed");
    }
    let cli = Cli::new();
    let program = program();
    let mut statuses = Vec::new();
    for most in 3..14 {
        let limit = format!("--nofile={most}");
        let words = [&limit, text(&program), "run", "smoke", "--json", "--rounds", "1", "--only", "copy"];
        let ended = testkit::run(Path::new("prlimit"), cli.path(), &words);
        if ended.out.is_empty() && ended.status == Some(127) {
            // Not even the C library could be opened.
            continue;
        }
        let document = document(&ended);
        match ended.status {
            Some(0) => kept(&cells(&document, ".", "copy"), 1),
            status => {
                assert!(matches!(status, Some(1 | 3)), "{most}: {status:?} {}", ended.err);
                assert!(
                    ended.err.contains("limit of open files") || ended.err.contains("open files"),
                    "{most}: {}",
                    ended.err
                );
                assert!(ended.err.contains("hint: "), "{most}: {}", ended.err);
                assert!(!document["errors"].as_array().expect("errors").is_empty());
            }
        }
        statuses.push(ended.status);
        assert_eq!(cli.names(), [""; 0], "{most}");
    }
    assert!(statuses.contains(&Some(0)) && statuses.iter().any(|status| *status != Some(0)), "{statuses:?}");
}

/// Each job has a private folder. Those that exist at the failure are removed without a descriptor.
#[test]
fn missing_file_descriptors_leave_no_folders_of_jobs() {
    if !has_tool("prlimit") {
        return skip!("prlimit is not installed");
    }
    let cli = Cli::new();
    let program = program();
    let load = "io randwrite . --jobs 16 --bs 4KiB --size 64KiB --time 40ms --rounds 1 --no-store";
    for most in [14, 16, 18] {
        let limit = format!("--nofile={most}");
        let words: Vec<&str> = [limit.as_str(), text(&program)].into_iter().chain(load.split(' ')).collect();
        let ended = testkit::run(Path::new("prlimit"), cli.path(), &words);
        assert!(matches!(ended.status, Some(1 | 3)) && ended.err.contains("open files"), "{most}: {}", ended.err);
        assert_eq!(cli.names(), [""; 0], "{most}: {}", ended.err);
    }
}

/// Asserts that it was refused for lack of memory, and nothing was made.
fn no_memory(cli: &Cli, ended: &ProgramOutput) {
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("error: not enough memory"), "{}", ended.err);
    assert!(ended.err.contains("ulimit -v"), "{}", ended.err);
    assert_eq!(document(ended)["cells"].as_array().map(Vec::len), Some(0));
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn too_little_memory_is_reported_before_the_first_cell() {
    if !has_tool("prlimit") {
        return skip!("prlimit is not installed");
    }
    let cli = Cli::new();
    let program = program();
    // From too little memory to load the program, to enough for everything: all limits between give a refusal.
    let mut statuses = Vec::new();
    for mebibytes in (28..132).step_by(8) {
        let limit = format!("--as={}", mebibytes * MIB);
        let words = [&limit, text(&program), "run", "smoke", "--json", "--rounds", "1", "--only", "copy"];
        let ended = testkit::run(Path::new("prlimit"), cli.path(), &words);
        match ended.status {
            Some(0) => kept(&cells(&document(&ended), ".", "copy"), 1),
            Some(3) => no_memory(&cli, &ended),
            status => assert!(ended.out.is_empty() && statuses.is_empty(), "{mebibytes} MiB: {status:?} {}", ended.err),
        }
        statuses.extend(ended.status.filter(|status| [0, 3].contains(status)));
        if ended.status == Some(0) {
            break;
        }
    }
    assert!(statuses.contains(&3) && statuses.contains(&0), "{statuses:?}");
}

#[test]
fn a_cgroup_memory_limit_is_reported() {
    let cli = Cli::new();
    match Group::limited("memory", "memory.limit_in_bytes", "12M") {
        Ok(group) => {
            let ended = run_in(&[&group], &program(), cli.path(), &["run", "smoke", "--json"]);
            no_memory(&cli, &ended);
        }
        Err(why) => skip!("{why}"),
    }
}

/// The reader has closed the pipe, or has no room: the run is stored all the same.
#[test]
fn runs_are_stored_if_their_output_fails() {
    let (cli, data) = (Cli::new(), Cli::new());
    let store = data.path().join("store.sqlite");
    let program = program();
    for (outlet, status) in [(" >/dev/full", 1), (" | true", 0), (" >&-", 0)] {
        let run = format!("\"$0\" run smoke --rounds 1 --only commit --store {}", text(&store));
        // In a pipeline, the status of the first program counts here.
        let script = format!("{{ {run}; echo status $? >&2; }}{outlet}");
        let ended = testkit::run(Path::new("sh"), cli.path(), &["-c", &script, text(&program)]);
        assert!(ended.err.contains(&format!("status {status}")), "{outlet}: {}", ended.err);
        let is_said = ended.err.contains("error: cannot write standard output: No space left on device");
        assert_eq!(is_said, status == 1, "{outlet}: {}", ended.err);
        let shown = testkit::run(&program, cli.path(), &["show", "last", "--json", "--store", text(&store)]);
        kept(&cells(&document(&shown), ".", "commit"), 1);
        assert_eq!(cli.names(), [""; 0]);
    }
}

#[test]
fn help_on_a_full_disk_is_an_error() {
    let cli = Cli::new();
    for words in ["--version", "--help", "run --help", "completions bash"] {
        for (outlet, status) in [("/dev/full", 1), ("/dev/null", 0)] {
            let script = format!("exec \"$0\" {words} >{outlet}");
            let ended = testkit::run(Path::new("sh"), cli.path(), &["-c", &script, text(&program())]);
            assert_eq!(ended.status, Some(status), "{words} >{outlet}: {}", ended.err);
            let said = ended.err.contains("error: cannot write standard output: No space left on device");
            assert_eq!(said, status == 1, "{words} >{outlet}: {}", ended.err);
        }
    }
}

/// The smallest limit that `--cache` accepts is enough for a run.
#[test]
fn the_smallest_accepted_memory_limit_is_enough() {
    let cli = Cli::new();
    let ended = cli.run(&["run", "smoke", "--rounds", "1", "--cache", "16MiB"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(cli.names(), [""; 0]);
}
