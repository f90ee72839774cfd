//! The output on a terminal: progress, tables of its width, the result of Ctrl-C; and what is not printed without a
//! terminal.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testkit::ProgramOutput;
use testkit::terminal::{Watched, watch};

use crate::common::Cli;

/// The first character of every sequence that moves the cursor, clears a line or sets a colour.
const ESCAPE: char = '\u{1b}';

/// Runs a command on a terminal with this number of columns, to its end.
fn run_on_terminal(columns: u16, cli: &Cli, arguments: &[&str]) -> ProgramOutput {
    watch(cli.command(arguments), columns).end()
}

/// Waits until a condition holds for a running command.
fn soon(watched: &mut Watched, what: &str, holds: impl Fn(&Watched) -> bool) {
    let began = Instant::now();
    while !holds(watched) {
        assert!(!watched.has_ended(), "it ended before {what}: {}", watched.error_output());
        let is_late = began.elapsed() > Duration::from_secs(300);
        assert!(!is_late, "not within 300 s: {what}: {}", watched.error_output());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn progress_shows_the_test_and_remaining_time_and_disappears() {
    let ended = run_on_terminal(80, &Cli::new(), &["run", "smoke", "--only", "commit", "--only", "smallfb"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for word in ["round 1 of 2: ", "round 2 of 2: ", "commit on .", "smallfb on .", " left; "] {
        assert!(ended.err.contains(word), "{word}: {}", ended.err);
    }
    // If ^C wrapped into a new line, the line to be cleared would stay.
    let widest = ended.err.split(['\r', '\n', ESCAPE]).filter(|line| line.contains("round")).map(str::len).max();
    assert!(widest.is_some_and(|widest| widest < 80), "{widest:?}: {}", ended.err);
    // The first figures come before the table, and the line itself is cleared.
    assert!(ended.err.contains("ops/s"), "{}", ended.err);
    let last = ended.err.rsplit(['\r', '\n']).find(|line| !line.is_empty()).expect("a line");
    assert!(!last.contains("round"), "{last:?}");
    assert!(ended.out.contains("commit") && !ended.out.contains(ESCAPE), "{}", ended.out);
}

#[test]
fn progress_is_shown_only_on_a_terminal() {
    let ended = Cli::new().well(&["run", "smoke", "--only", "commit"]);
    assert!(!ended.err.contains(ESCAPE) && !ended.err.contains('\r'), "{}", ended.err);
    // The remaining time.
    let is_time = |line: &&str| line.contains(" left");
    assert_eq!(ended.err.lines().find(is_time), None, "{}", ended.err);
    let mut dumb = Cli::new().command(&["run", "smoke", "sim:flat"]);
    dumb.current_dir("/").stdout(Stdio::null());
    let ended = watch_as("dumb", dumb);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
}

/// Runs the command on a terminal with this TERM.
fn watch_as(term: &str, command: Command) -> ProgramOutput {
    let mut through = Command::new("env");
    through.arg(format!("TERM={term}")).arg(format!("{}=none", testkit::STORE)).arg(command.get_program());
    through.args(command.get_args());
    watch(through, 80).end()
}

#[test]
fn colour_is_optional_and_carries_no_information() {
    let plain = Cli::in_folder("/").run(&["run", "nonsense"]);
    assert!(!plain.err.contains(ESCAPE), "{}", plain.err);
    let mut quiet = Cli::in_folder("/").command(&["run", "nonsense"]);
    quiet.env("NO_COLOR", "1");
    let quiet = watch(quiet, 80).end();
    assert_eq!((quiet.status, quiet.err.as_str()), (Some(2), plain.err.as_str()));
    for arguments in [&["help"][..], &["help", "marks"], &["run", "smoke", "sim:flat"], &["paper", "D1"]] {
        let mut quiet = Cli::in_folder("/").command(arguments);
        quiet.env("NO_COLOR", "1");
        assert!(!watch(quiet, 80).end().out.contains(ESCAPE), "{arguments:?}");
    }
}

/// The lines that are wider than the terminal.
fn too_wide(ended: &ProgramOutput, columns: u16) -> Vec<&str> {
    ended.out.lines().filter(|line| line.chars().count() > usize::from(columns)).collect()
}

#[test]
fn tables_fit_the_terminal_and_name_omitted_columns() {
    let cli = Cli::new();
    cli.well(&["run", "smoke", "sim:flat", "left=sim:flat", "--json", "-o", "run.json"]);
    let show = ["show", "run.json"];
    let all = cli.run(&show);
    assert!(!all.out.contains("columns:"), "{}", all.out);
    let headings = ["target", "condition", "rate", "±95 %", "CPU +", "latency", "bottleneck", "before"];
    for (columns, missing) in [(200, &[][..]), (60, &["latency", "bottleneck", "CPU +"])] {
        let ended = run_on_terminal(columns, &cli, &show);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_eq!(too_wide(&ended, columns), [""; 0]);
        let said = ended.out.lines().find(|line| line.contains(" columns: left out: "));
        assert_eq!(said.is_some(), !missing.is_empty(), "{}", ended.out);
        let table = ended.out.lines().find(|line| line.contains("rate")).expect("headings");
        for heading in headings {
            let is_there = table.contains(heading);
            // The table says what it leaves out, maybe in two lines.
            let is_named = ended.out.replace("\n  ", " ").contains(&format!("left out: {heading}"))
                || ended.out.replace("\n  ", " ").contains(&format!(", {heading}"));
            assert!(is_there != is_named || heading == "rate", "{columns}: {heading}: {}", ended.out);
        }
        for heading in missing {
            assert!(!table.contains(heading), "{columns}: {heading}: {table}");
        }
        // Every row is there, even if columns are missing.
        let rows = ended.out.lines().skip_while(|line| !line.starts_with(" write_8192 ")).take(2);
        let targets: Vec<&str> = rows
            .flat_map(|row| row.split_whitespace().find(|word| word.ends_with("flat") || *word == "left"))
            .collect();
        assert_eq!(targets, ["sim:flat", "left"], "{}", ended.out);
    }
    // A file gets all columns, whatever the terminal.
    assert_eq!(run_on_terminal(60, &cli, &["show", "run.json", "-o", "table"]).status, Some(0));
    assert_eq!(fs::read_to_string(cli.path().join("table")).expect("the file"), all.out);
}

#[test]
fn all_other_tables_fit_the_terminal() {
    let cli = Cli::new();
    cli.well(&["run", "smoke", "sim:flat", "--json", "-o", "run.json"]);
    for arguments in [
        &["explain", "run.json"][..],
        &["simulate", "vax780-sc780", "--phases", "1"],
        &["paper", "D1", "T4"],
        &["doctor"],
        &["help"],
        &["help", "marks"],
    ] {
        for columns in [100, 60] {
            let ended = run_on_terminal(columns, &cli, arguments);
            assert_eq!(ended.status, Some(0), "{}", ended.err);
            assert_eq!(too_wide(&ended, columns), [""; 0], "{arguments:?}");
        }
    }
}

#[test]
fn ctrl_c_shows_finished_results_and_how_to_resume() {
    let cli = Cli::new();
    let store = Cli::new();
    let store = store.path().join("runs.sqlite");
    let store = store.to_str().expect("a plain path");
    let mut watched = watch(cli.command(&["run", "smoke", "--rounds", "100000", "--store", store]), 80);
    soon(&mut watched, "the second round", |watched| watched.error_output().contains("round 2 of 100000"));
    watched.interrupt();
    let ended = watched.end();
    assert_eq!(ended.status, Some(4), "{}", ended.err);
    assert!(ended.out.contains("interrupted") && ended.out.contains("write_8192"), "{}", ended.out);
    let last = ended.err.trim_end().lines().last().expect("a line");
    let run = last.split("diskperf resume ").nth(1).and_then(|rest| rest.split(' ').next()).expect("the resume line");
    assert!(last.contains("interrupted; to continue: "), "{last:?}");
    assert_eq!(cli.names(), [""; 0]);
    // Each cell is whole: it has every round completely, or none.
    let shown = cli.run(&["show", run, "--json", "--store", store]);
    let document: serde_json::Value = serde_json::from_str(&shown.out).expect("a document");
    assert_eq!(document["run"]["interrupted"], true);
    let rounds = |cell: &serde_json::Value| cell["rounds"].as_array().expect("rounds").len();
    let measured = document["cells"].as_array().expect("cells").iter().filter(|cell| cell["measured"] == true);
    let counts: Vec<usize> = measured.map(rounds).collect();
    let (least, most) = (counts.iter().min().expect("cells"), counts.iter().max().expect("cells"));
    assert!(*least > 0 && most - least <= 1, "{counts:?}");
}

#[test]
fn a_closed_output_pipe_does_not_end_the_run() {
    let cli = Cli::new();
    let mut child = cli
        .command(&["run", "smoke", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(cli.names(), [""; 0]);
}
