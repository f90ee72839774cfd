//! The live line, and tests that run until Ctrl-C.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::ProgramOutput;
use testkit::terminal::{Watched, watch};

use crate::common::{Cli, cells};

/// A test of five seconds: the line is drawn each second. The rate leaves the processor to other tests.
const SHORT: [&str; 7] = ["io", "randread", "--size=1MiB", "--time=5s", "--rounds", "1", "--rate=1000"];

/// A character of the sparkline: the full height, which the fastest second has.
const FULL: char = '█';

/// The beginning of a colour.
const COLOUR: &str = "\u{1b}[36m";

/// Runs a test without an end on a terminal, and presses Ctrl-C when the live line shows figures.
fn ended_by_ctrl_c(cli: &Cli, more: &[&str]) -> ProgramOutput {
    ended_by(Watched::interrupt, cli, more)
}

/// As `ended_by_ctrl_c`, with these signals instead of Ctrl-C.
fn ended_by(signals: fn(&Watched), cli: &Cli, more: &[&str]) -> ProgramOutput {
    let words = [&["io", "randread", "--size=1MiB", "--time", "forever", "--live"], more].concat();
    let mut watched = watch(cli.command(&words), 120);
    let began = Instant::now();
    while !watched.error_output().contains("Ctrl-C ends it") {
        assert!(!watched.has_ended() && began.elapsed() < Duration::from_secs(60), "{}", watched.error_output());
        thread::sleep(Duration::from_millis(5));
    }
    signals(&watched);
    watched.end()
}

#[test]
fn a_terminal_shows_the_last_second() {
    let cli = Cli::in_memory();
    let run = |words: &[&str], colour: bool| {
        let mut command = cli.command(words);
        match colour {
            true => command.env_remove("NO_COLOR"),
            false => command.env("NO_COLOR", "1"),
        };
        watch(command, 120).end()
    };
    let ended = run(&SHORT, true);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for word in ["randread on .: ", " ops/s, ", " MiB/s, p50 ", ", p99 ", COLOUR, "(round 1 of 1"] {
        assert!(ended.err.contains(word), "{word}: {}", ended.err);
    }
    assert!(ended.err.contains(FULL) && !ended.out.contains(FULL), "{}{}", ended.err, ended.out);
    let plain = run(&SHORT, false);
    assert!(plain.err.contains(FULL) && !plain.err.contains(COLOUR), "{}", plain.err);
    let off = run(&[&SHORT[..], &["--live=off"]].concat(), true);
    assert!(!off.err.contains(FULL) && off.err.contains("randread on ."), "{}", off.err);
}

#[test]
fn without_a_terminal_nothing_is_shown() {
    let cli = Cli::in_memory();
    let ended = cli.well(&SHORT);
    for shown in [&ended.out, &ended.err] {
        assert!(!shown.contains(FULL) && !shown.contains('\u{1b}') && !shown.contains('\r'), "{shown}");
    }
    let asked = cli.well(&[&SHORT[..], &["--live", "--json"]].concat());
    assert!(asked.err.contains("--live has no effect") && !asked.err.contains(FULL), "{}", asked.err);
    assert!(asked.out.starts_with('{') && !asked.out.contains(FULL), "{}", asked.out);
}

#[test]
fn ctrl_c_ends_a_test_without_an_end_and_keeps_its_result() {
    let cli = Cli::in_memory();
    let store = Cli::in_memory();
    let store = store.path().join("runs.sqlite");
    let store = store.to_str().expect("a plain path");
    let ended = ended_by_ctrl_c(&cli, &["--store", store]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("randread") && !ended.out.contains("interrupted"), "{}", ended.out);
    // The first figures are those of a whole second.
    assert!(!["ns", "us", "ms"].iter().any(|unit| ended.err.contains(&format!(" {unit}, Ctrl-C"))), "{}", ended.err);
    assert!(ended.err.contains("stored as "), "{}", ended.err);
    let shown = cli.well(&["show", "last", "--json", "--store", store]);
    let document: Value = serde_json::from_str(&shown.out).expect("a document");
    assert_eq!(document["run"]["interrupted"], false);
    let [cell] = &cells(&document)[..] else { panic!("one row: {document:#}") };
    assert!(cell["rounds"][0]["ops"].as_u64() > Some(0), "{cell:#}");
    assert_eq!(cell["rounds"].as_array().map(Vec::len), Some(1));
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn ctrl_c_before_anything_is_measured_stops_the_command() {
    let cli = Cli::in_memory();
    let words = ["io", "randread", "--size=1MiB", "--warmup", "10h", "--time", "forever", "--live"];
    let mut watched = watch(cli.command(&words), 120);
    let began = Instant::now();
    let is_late = || began.elapsed() > Duration::from_secs(100);
    while !watched.error_output().contains("randread") {
        assert!(!watched.has_ended() && !is_late(), "{}", watched.error_output());
        thread::sleep(Duration::from_millis(5));
    }
    watched.interrupt();
    while !watched.has_ended() {
        assert!(!is_late(), "it still runs: {}", watched.error_output());
        thread::sleep(Duration::from_millis(5));
    }
    assert_ne!(watched.end().status, Some(0));
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_timeout_is_no_suspension() {
    let ended = ended_by(Watched::time_out, &Cli::in_memory(), &["--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    let cell = &cells(&document)[0];
    assert!(cell["rounds"][0]["ops"].as_u64() > Some(0), "{cell:#}");
}

#[test]
fn a_slow_schedule_keeps_its_operations() {
    let ended = ended_by_ctrl_c(&Cli::in_memory(), &["--rate", "1", "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    let round = &cells(&document)[0]["rounds"][0];
    // The live line appears after a second. On a busy machine, Ctrl-C may come before the second operation.
    assert!((1..100).contains(&round["ops"].as_u64().expect("a count")), "{round:#}");
}

#[test]
fn only_one_round_on_one_target_can_run_without_an_end() {
    let cli = Cli::in_memory();
    for (words, said) in [
        ("io read", "this pattern ends at the end of its file"),
        ("io randread --rounds 3", "only one round"),
        ("io randread . ./", "several targets need rounds that end"),
        ("io randread --budget 1min", "--budget needs rounds that end"),
        ("io randread --print-job", "only one round"),
        ("choose . ./ io randread", "only one round"),
    ] {
        let line = format!("{words} --time forever");
        cli.refuses(&line.split(' ').collect::<Vec<_>>(), 2, &["--time forever: ", said, "hint: "]);
    }
}
