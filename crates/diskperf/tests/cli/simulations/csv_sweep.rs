//! `diskperf simulate --sweep ... --format csv` and its parts, which are written in steps.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use testkit::ProgramOutput;

use crate::common::{Cli, text};

/// One result for each point.
const ONE_TEST: [&str; 6] =
    ["simulate", "vax750-uda50", "--phases=1", "--program=read_8192", "--drives=1", "--set=file_system=8k-1k"];

/// Files of four blocks.
const SMALL: &str = "--size=32KiB";

/// 6 points: three values of a field, each with two of another.
const SIX: [&str; 5] = [SMALL, "--sweep", "kernel.call=1..3us", "--sweep", "controller.buffer_sectors=16,32"];

/// 1,000 points, which take seconds at least.
const MANY: [&str; 5] =
    ["--size=8MiB", "--sweep", "kernel.call=1..100us", "--sweep", "controller.buffer_sectors=10..19"];

fn csv(cli: &Cli, words: &[&[&str]]) -> ProgramOutput {
    cli.well(&[&words.concat()[..], &["--format", "csv"]].concat())
}

#[test]
fn parts_in_order_are_the_bytes_of_the_whole_sweep() {
    testkit::compute_only!();
    let cli = Cli::new();
    let whole = csv(&cli, &[&ONE_TEST, &SIX]);
    assert!(whole.err.contains("simulated 6 points"), "{}", whole.err);
    let whole = whole.out;
    assert_eq!(whole.lines().count(), 1 + 6);
    assert_eq!(whole.lines().filter(|line| line.starts_with("version,")).count(), 1);
    let order: Vec<&str> = whole
        .lines()
        .skip(1)
        .map(|row| row.split(',').find(|field| field.contains("kernel.call")).expect("the parameters"))
        .collect();
    for (row, values) in order.iter().zip([("16", "1us"), ("32", "1us"), ("16", "2us"), ("32", "2us")]) {
        let (sectors, call) = values;
        assert!(row.contains(&format!("buffer_sectors={sectors} ")) && row.ends_with(call), "{row}");
    }
    // Two parts, three, and more parts than points.
    for of in [2, 3, 8] {
        let mut joined = String::new();
        for number in 1..=of {
            let threads = ["1", "3"][number % 2];
            let part = format!("{number}/{of}");
            joined += &csv(&cli, &[&ONE_TEST, &SIX, &["--part", &part, "--threads", threads]]).out;
        }
        assert_eq!(joined, whole, "{of} parts");
    }
    assert_eq!(cli.names(), [""; 0]);
}

/// Both halves of the table of 1983, on one and two drives: 16 results for each point, and several settings.
#[test]
fn all_results_of_a_point_are_in_its_part() {
    testkit::compute_only!();
    let cli = Cli::new();
    let sweep = ["simulate", "vax780-sc780", "--size", "32KiB", "--phases", "2", "--sweep", "kernel.call=1..3us"];
    csv(&cli, &[&sweep, &["-o", "whole.csv"]]);
    let read = |name: &str| fs::read_to_string(cli.path().join(name)).expect("a file");
    let whole = read("whole.csv");
    assert_eq!(whole.lines().count(), 1 + 3 * 16);
    let parts: Vec<String> = (1..=3)
        .map(|number| {
            let (part, file) = (format!("{number}/3"), format!("part{number}.csv"));
            csv(&cli, &[&sweep, &["--part", &part, "-o", &file]]);
            read(&file)
        })
        .collect();
    assert_eq!(parts.iter().map(|part| part.lines().count()).collect::<Vec<_>>(), [17, 16, 16]);
    assert_eq!(parts.concat(), whole);
    assert_eq!(cli.names(), ["part1.csv", "part2.csv", "part3.csv", "whole.csv"]);
}

#[test]
fn published_figures_follow_the_last_part() {
    testkit::compute_only!();
    let cli = Cli::new();
    let lab = ["simulate", "lab-ide-ext2", "lfs", "--phases", "1", "--program", "largefb", "--size", "256KiB"];
    let lab = [&lab[..], &["--sweep", "kernel.call=1..2us"]].concat();
    let whole = csv(&cli, &[&lab]).out;
    let parts = ["1/2", "2/2"].map(|part| csv(&cli, &[&lab, &["--part", part]]).out);
    assert_eq!(parts.concat(), whole);
    let published = |text: &str| text.lines().filter(|row| row.split(',').nth(1) == Some("published")).count();
    assert_eq!(published(&parts[0]), 0);
    assert!(published(&parts[1]) > 0, "{}", parts[1]);
}

#[test]
fn parts_that_cannot_be_joined_are_refused() {
    testkit::compute_only!();
    let cli = Cli::new();
    let refuses = |words: &[&[&str]], says: &[&str]| cli.refuses(&words.concat(), 2, says);
    for part in ["0/4", "5/4", "a/b", "4", "1/0"] {
        let says = ["write K/N for part K of N, with K from 1 to N, as in 1/4"];
        refuses(&[&ONE_TEST, &SIX, &["--format", "csv", "--part", part]], &says);
    }
    refuses(&[&ONE_TEST, &[SMALL, "--format", "csv", "--part", "1/4"]], &["--part needs --sweep", "hint: ", "--sweep"]);
    for format in ["table", "markdown"] {
        let says = ["--part needs --format csv", "hint: add --format csv"];
        refuses(&[&ONE_TEST, &SIX, &["--part", "1/4", "--format", format]], &says);
    }
    let stored = ["--format", "csv", "--name", "mine"];
    refuses(
        &[&ONE_TEST, &SIX, &stored],
        &["is not stored in a results database", "hint: leave --store and --name out"],
    );
    // The first part has only points that are possible.
    let late = ["--sweep", "drive.heads=20,0", "--format", "csv", "--part", "1/2"];
    refuses(&[&["simulate", "vax780-sc780"], &late], &["drive.heads=0: drive.heads: 0 is not"]);
    let table = ["--sweep", "cpu.code=1..1000", "--sweep", "drive.heads=1..11"];
    refuses(&[&["simulate", "vax780-sc780"], &table], &["more than 10000 rows", "--format csv"]);
}

/// A long sweep that has written its first row, and the rest of its output.
fn begun(cli: &Cli) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = cli.command(&[&ONE_TEST[..], &MANY, &["--format", "csv"]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the column names");
    out.read_line(&mut line).expect("a row");
    assert_eq!(line.lines().count(), 2);
    (child, out)
}

#[test]
fn an_interrupted_sweep_keeps_whole_rows() {
    let cli = Cli::new();
    let (child, mut out) = begun(&cli);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .expect("a signal");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("the rest");
    let ended = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(4), "{err}");
    assert!(err.contains("of 1,000 points; their rows are complete"), "{err}");
    let rows = 1 + rest.lines().count();
    assert!(err.contains(&format!("interrupted after {} of", units::whole(rows as u64))), "{rows} rows: {err}");
    assert!(rest.is_empty() || rest.ends_with('\n'));
}

#[test]
fn a_closed_pipe_ends_a_sweep() {
    let cli = Cli::new();
    let (child, out) = begun(&cli);
    drop(out);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned()), (Some(0), String::new()));
}

#[test]
fn a_killed_sweep_keeps_the_old_file() {
    let cli = Cli::new();
    let file = cli.path().join("out.csv");
    fs::write(&file, "old\n").expect("a file");
    let words = [&ONE_TEST[..], &MANY, &["--format", "csv", "-o", text(&file)]].concat();
    let mut child = cli.command(&words).stderr(Stdio::null()).spawn().expect("the program starts");
    testkit::wait_until("it handles signals", || testkit::has_signal_handlers(child.id()));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert_eq!(fs::read_to_string(&file).expect("the file"), "old\n");
    assert_eq!(cli.names(), ["out.csv"]);
}
