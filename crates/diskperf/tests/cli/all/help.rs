//! Help: the first screen, the lists of commands, explained words, manual pages, completions; and every command of this
//! build with its exit status and output.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use testkit::{Running, names_in};

use crate::common::{Cli, program, text};

/// The output of a command that succeeds without remarks.
fn printed(arguments: &[&str]) -> String {
    let ended = Cli::in_folder("/").run(arguments);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    ended.out
}

/// The commands of this build, as the completions know them.
fn commands() -> BTreeSet<String> {
    let fish = printed(&["completions", "fish"]);
    let lines = fish.lines().filter(|line| line.contains("\"__fish_diskperf_needs_command\" -f -a \""));
    lines.filter_map(|line| Some(line.split_once(" -a \"")?.1.split('"').next()?.to_owned())).collect()
}

#[test]
fn the_first_screen_is_short_and_equal_for_all_help_options() {
    let screen = printed(&["help"]);
    assert_eq!(printed(&["--help"]), screen);
    assert_eq!(printed(&["-h"]), screen);
    let groups = ["Tasks", "Measure", "Results", "More", "Targets", "Words", "Exit status", "Options"];
    let places: Vec<usize> = groups.iter().map(|group| screen.find(group).expect(group)).collect();
    assert!(places.is_sorted(), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    let listed = listed(&screen);
    assert!(listed.is_subset(&commands()) && (10..=14).contains(&listed.len()), "{listed:?}");
    let flowed = screen.split_whitespace().collect::<Vec<&str>>().join(" ");
    for task in [
        "choose /mnt/a /mnt/b --use database",
        "choose image:ext4 image:ext4,mount=noatime --use build",
        "import db.fio -o db.toml",
        "explain last",
        "compare base.json now.json --fail-if slower:5%",
    ] {
        assert!(flowed.contains(&format!("diskperf {task}")), "{task}: {screen}");
    }
    for list in ["help commands", "help programs", "help WORD", "help LIST"] {
        assert!(flowed.contains(list), "{screen}");
    }
    for status in ["0 done", "1 a measurement failed", "2 ", "3 refused", "4 interrupted", "5 a check failed"] {
        assert!(flowed.contains(status), "{screen}");
    }
}

/// The commands that have a line in this text.
fn listed(text: &str) -> BTreeSet<String> {
    let lines = text.lines().take_while(|line| *line != "Targets");
    let names = lines.filter_map(|line| Some(line.strip_prefix("  ")?.split(' ').next()?.to_owned()));
    names.filter(|name| name.starts_with(char::is_lowercase) && name != "diskperf").collect()
}

#[test]
fn every_command_is_in_one_list() {
    assert_eq!(listed(&printed(&["help", "commands"])), commands());
    let programs = listed(&printed(&["help", "programs"]));
    for name in ["read_8192", "rewrite_8192", "bw", "largefb", "copy"] {
        assert!(programs.contains(name), "{programs:?}");
    }
    assert!(!programs.contains("run"), "{programs:?}");
}

#[test]
fn a_word_is_explained_in_any_spelling() {
    for (words, expected) in [
        (&["noise"][..], &["noise: warning", "means", "when", "do"][..]),
        (&["memory"], &["memory: warning", "memory (also memory-bound): bottleneck"]),
        (&["DURABLE"], &["durable (also until durable): end point"]),
        (&["dirty", "throttle"], &["dirty throttle", ": bottleneck"]),
        (&["dirty_throttling"], &["part of the time breakdown"]),
        (&["Kbytes/sec"], &["Kbytes/sec", ": unit", "1024 bytes"]),
        (&["n.m."], &["n.m. (also nm, not measured): bottleneck", "word of the tables"]),
        (&["margin"], &["margin", "word of the tables", "--margin"]),
        (&["coordinated", "omission"], &["open loop", "--rate"]),
        (&["classic1983"], &["preset", "1983"]),
        (&["tune"], &["key of a target", "scheduler:none"]),
        (&["3"], &["3 (also refused, exit 3): exit status"]),
        (&["warnings"], &["few ", "error ", "uneven "]),
        (&["marks"], &["few ", "error ", "uneven "]),
        (&["bottlenecks"], &["cpu ", "flush "]),
        (&["exit"], &["0 ", "1 ", "2 ", "3 ", "4 ", "5 "]),
        (&["torn"], &["word of the tables", "diskperf verify"]),
    ] {
        let text = printed(&[&["help"], words].concat());
        for word in expected {
            assert!(text.contains(word), "help {words:?} says nothing of {word:?}:\n{text}");
        }
    }
}

#[test]
fn unknown_words_have_similar_suggestions() {
    for (word, near) in [("nosie", "noise"), ("durabel", "durable"), ("expalin", "explain"), ("xyzzy", "diskperf help")]
    {
        let ended = Cli::in_folder("/").run(&["help", word]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{word}");
        assert!(ended.err.contains(&format!("error: {word} is neither a command nor a help topic")), "{}", ended.err);
        assert!(ended.err.contains("hint: ") && ended.err.contains(near), "{}", ended.err);
    }
}

#[test]
fn words_without_a_topic_are_found_in_texts() {
    for (word, found, absent) in [
        ("noatime", &["mount=noatime", "docs/guides/choose.md", "diskperf help mount"][..], "noise"),
        ("fio", &["diskperf import db.fio", "diskperf help import"], "did you mean"),
        ("baseline", &["diskperf help compare"], "explain"),
        ("slow", &["diskperf explain last"], "diskperf help bus"),
        ("btrfs-progs", &["diskperf help lists"], "did you mean"),
    ] {
        let ended = Cli::in_folder("/").run(&["help", word]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{word}");
        for place in found {
            assert!(ended.err.contains(place), "{word}: {}", ended.err);
        }
        assert!(!ended.err.contains(absent), "{word}: {}", ended.err);
    }
}

#[test]
fn help_of_a_command_is_its_own_help() {
    for command in commands() {
        assert_eq!(printed(&["help", &command]), printed(&[&command, "--help"]), "{command}");
    }
}

#[test]
fn footnotes_name_their_help_topic() {
    let cli = Cli::new();
    let ended = cli.well(&["run", "smoke", "sim:flat", "--rounds", "1"]);
    let footnotes: Vec<&str> = ended.out.lines().skip_while(|line| !line.starts_with("* few: ")).collect();
    let flowed = footnotes.join(" ").split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flowed.contains("diskperf help few"), "{}", ended.out);
}

#[test]
fn every_command_has_a_manual_page_and_words_share_one() {
    let cli = Cli::new();
    let ended = cli.run(&["man", "--out", "a/b"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""));
    let pages: BTreeSet<String> = names_in(&cli.path().join("a/b")).into_iter().collect();
    let mut expected: BTreeSet<String> = commands().iter().map(|name| format!("diskperf-{name}.1")).collect();
    expected.extend(["diskperf.1".to_owned(), "diskperf-words.7".to_owned()]);
    assert_eq!(pages, expected);
    let page = |name: &str| fs::read_to_string(cli.path().join("a/b").join(name)).expect("a page");
    assert_eq!(page("diskperf.1"), printed(&["man"]));
    for name in &pages {
        let page = page(name);
        for heading in [".TH diskperf", ".SH NAME", "EXIT STATUS"] {
            assert!(page.contains(heading), "{name} has no {heading}");
        }
    }
    let words = page("diskperf-words.7");
    for word in ["noise", "durable", "dirty throttle", "Kbytes/sec", "classic1983"] {
        assert!(words.contains(word), "{word}");
    }
    assert!(page("diskperf-run.1").contains(".SH WARNINGS"));
    // The second time, the pages exist already.
    assert_eq!(cli.run(&["man", "--out", "a/b"]).status, Some(0));
    let refused = cli.run(&["man", "--out", "a/b/diskperf.1"]);
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""));
    let refused = cli.run(&["man", "--out", "/proc/none"]);
    assert!(refused.status == Some(1) && refused.err.contains("as in --out "), "{}", refused.err);
}

#[test]
fn manual_pages_are_formatted_without_warnings() {
    if !testkit::has_tool("groff") {
        return testkit::skip!("groff is not installed");
    }
    let cli = Cli::new();
    assert_eq!(cli.run(&["man", "--out", "."]).status, Some(0));
    for page in cli.names() {
        let ended = testkit::run(Path::new("groff"), cli.path(), &["-man", "-Tutf8", "-w", "mac", &page]);
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{page}");
        assert!(ended.out.contains("diskperf"), "{page}: {}", ended.out);
    }
}

#[test]
fn completions_contain_every_command_in_every_shell() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = printed(&["completions", shell]);
        for command in &commands {
            assert!(text.contains(command), "{shell} does not complete {command}");
        }
        assert!(text.contains("classic1983"), "{shell}");
    }
    let cli = Cli::new();
    fs::write(cli.path().join("bash"), printed(&["completions", "bash"])).expect("a file");
    assert_eq!(testkit::run(Path::new("bash"), cli.path(), &["-n", "bash"]).status, Some(0));
    let ended = cli.run(&["completions", "tcsh"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""));
}

/// Completes a line as bash does, and prints the words.
const COMPLETE: &str = r#"
diskperf() { "$program" "$@"; }
source ./bash
COMP_LINE=$1 COMP_POINT=${#1}
read -ra COMP_WORDS <<< "$1"
[[ $1 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_diskperf_words diskperf "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[@]}"
"#;

#[test]
fn bash_completes_the_runs_of_the_named_database() {
    let cli = Cli::new();
    fs::write(cli.path().join("bash"), printed(&["completions", "bash"])).expect("a file");
    cli.well(&["run", "smoke", "sim:flat", "--store", "runs.sqlite", "--name", "before"]);
    let script = format!("program=$0{COMPLETE}");
    let completed = |line: &str| {
        let ended = testkit::run(Path::new("bash"), cli.path(), &["-c", &script, text(&program()), line]);
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{line}");
        ended.out.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let has = |line: &str, word: &str| completed(line).iter().any(|completed| completed == word);
    for line in ["diskperf delete --store runs.sqlite ", "diskperf show --store=runs.sqlite --json be"] {
        assert!(has(line, "before"), "{line}: {:?}", completed(line));
    }
    assert!(!has("diskperf delete ", "before"), "the usual database has no such run");
    // The value of an option is not a run.
    let formats = "diskperf show --store runs.sqlite --format ";
    assert!(has(formats, "json") && !has(formats, "before"), "{:?}", completed(formats));
    assert!(has("diskperf show --store runs.sqlite --format json ", "before"));
}

/// A command as typed, its exit status, and words on standard output and on standard error. No words mean no output.
type Call = (&'static [&'static str], i32, &'static [&'static str], &'static [&'static str]);

/// Remarks that depend on other load on the machine.
const ANY: &[&str] = &[""];

/// Every command, once typed correctly and once not.
const CALLS: &[Call] = &[
    (&["run", "smoke", "sim:flat"], 0, &["write_8192", "seed 1"], &[]),
    (&["run", "smoke", "missing"], 2, &[], &["missing", "hint: "]),
    (&["io", "randread", "sim:flat", "--size", "1MiB"], 0, &["randread"], &[]),
    (&["io", "randread", "--iodepth", "0"], 2, &[], &["--iodepth"]),
    (&["choose", "a=sim:flat", "b=sim:flat", "--preset", "smoke"], 0, &["same within 5 %"], &[]),
    (&["predict", "missing.txt", "--on", "ebs-gp3"], 2, &[], &["missing.txt", "hint: "]),
    (&["choose", "."], 2, &[], &["choose", "hint: "]),
    (&["write_8192", "file"], 0, &[], &[]),
    (&["write_8192"], 2, &[], &["FILE"]),
    (&["rewrite_8192", "file"], 0, &[], &[]),
    (&["rewrite_8192", "missing"], 2, &[], &["missing"]),
    (&["read_8192", "file"], 0, &[], &[]),
    (&["read_8192", "missing"], 2, &[], &["missing"]),
    (&["write_4096", "other"], 0, &[], &[]),
    (&["write_4096", "."], 2, &[], &["directory", "hint: "]),
    (&["copy", "file", "copied", "--buffer", "64KiB"], 0, &[], &["MB/s"]),
    (&["copy", "file", "file", "--buffer", "64KiB"], 3, &[], &["file", "hint: "]),
    (&["probe", "sim:ebs-gp3"], 0, &["request bucket rate", "3,000 requests/s", "n.m."], &[]),
    (&["probe", "missing/place"], 2, &[], &["missing", "hint: "]),
    (&["bw", "-b", "file", "1"], 0, &["MB/sec"], ANY),
    (&["bw", "-b", "."], 2, &[], &["hint: "]),
    (&["smallfb", "10", "1024"], 0, &["files/sec"], ANY),
    (&["smallfb", "0", "1024"], 2, &[], &["0"]),
    (&["largefb", "1"], 0, &["KB/sec"], ANY),
    (&["largefb", "0"], 2, &[], &["0"]),
    (&["run", "smoke", "sim:flat", "--json", "-o", "run.json"], 0, &[], &[]),
    (&["explain", "run.json"], 0, &["elapsed", "100.0"], &[]),
    (&["explain", "missing.json"], 2, &[], &["missing.json"]),
    (&["explain", "missing"], 2, &[], &["missing"]),
    (&["run", "smoke", "sim:flat", "--store", "runs.sqlite"], 0, &["write_8192"], &["stored as "]),
    (&["list", "--store", "runs.sqlite"], 0, &["smoke", "finished"], &[]),
    (&["predict", "--record", "--store", "runs.sqlite"], 0, &["no prediction was checked"], &[]),
    (&["list", "--store", "missing"], 2, &[], &["missing", "hint: "]),
    (&["show", "last", "--store", "runs.sqlite"], 0, &["write_8192"], &[]),
    (&["show", "xyzzy", "--store", "runs.sqlite"], 2, &[], &["xyzzy", "hint: "]),
    (&["export", "last", "--store", "runs.sqlite", "--format", "csv"], 0, &["write_8192,"], &[]),
    (&["export", "last"], 2, &[], &["hint: "]),
    (&["compare", "last", "run.json", "--store", "runs.sqlite"], 0, &["ratio", "same within 5 %"], ANY),
    (&["compare", "last", "missing.json", "--store", "runs.sqlite"], 2, &[], &["missing.json", "hint: "]),
    (&["history", "read", "--store", "runs.sqlite"], 0, &["read_8192 of smoke on sim:flat"], &[]),
    (&["history", "xyzzy", "--store", "runs.sqlite"], 2, &[], &["xyzzy", "hint: "]),
    (&["report", "last", "--store", "runs.sqlite"], 0, &["<!DOCTYPE html>", "write_8192"], &[]),
    (&["report", "missing.json", "--store", "runs.sqlite"], 2, &[], &["missing.json", "hint: "]),
    (&["resume", "--store", KILLED], 0, &["write_8192"], &["stored as "]),
    (&["resume", "--store", "runs.sqlite"], 2, &[], &["finished", "hint: "]),
    (&["delete", "xyzzy", "--yes", "--store", "runs.sqlite"], 2, &[], &["xyzzy", "hint: "]),
    (&["delete", "last", "--store", "runs.sqlite"], 3, &[], &["hint: "]),
    (&["delete", "last", "--yes", "--store", "runs.sqlite"], 0, &["deleted ", "smoke"], &[]),
    (&["import", "missing.fio"], 2, &[], &["missing.fio", "hint: "]),
    (&["import", FIO, "-o", "mine.toml"], 0, &[], &["filename=/data/x"]),
    (&["run", "mine.toml", "sim:flat", "--rounds", "1"], 0, &["from-fio"], &[]),
    (&["export", "--to", "fio", "mine.toml"], 0, &["[from-fio]\nrw=randread\n"], &[]),
    (&["schema", "job"], 0, &["$schema", "iodepth"], &[]),
    (&["schema", "verify"], 0, &["$schema", "unflushed_bytes"], &[]),
    (&["verify", ".", "--check", ACKNOWLEDGED], 0, &["power cut"], ANY),
    (&["verify", "."], 2, &[], &["hint: "]),
    (&["clean", "."], 0, &[], &["no leftovers found"]),
    (&["clean", "missing"], 2, &[], &["missing", "hint: "]),
    (&["simulate"], 0, &["vax780-sc780"], &[]),
    (&["simulate", "vax780-sc780", "--parts"], 0, &["turns/min"], &[]),
    (&["simulate", "vax"], 2, &[], &["vax", "hint: "]),
    (&["paper", "D1"], 0, &["3600 RPM"], &[]),
    (&["paper", "T9"], 2, &[], &["hint: "]),
    (&["schema"], 0, &["$schema", "cells"], &[]),
    (&["schema", "doctor"], 0, &["$schema", "checks"], &[]),
    (&["schema", "nonsense"], 2, &[], &["doctor"]),
    (&["doctor"], 0, &["private folder"], &[]),
    (&["doctor", "missing"], 2, &[], &["missing", "hint: "]),
    (&["proof", "missing"], 2, &[], &["missing", "hint: "]),
    (&["proof", "--help"], 0, &["--anonymous"], &[]),
    (&["help", "noise"], 0, &["noise: warning"], &[]),
    (&["help", "xyzzy"], 2, &[], &["xyzzy", "hint: "]),
    (&["man"], 0, &[".TH diskperf"], &[]),
    (&["man", "--out", "file"], 2, &[], &["file", "hint: "]),
    (&["completions", "zsh"], 0, &["#compdef diskperf"], &[]),
    (&["completions"], 2, &[], &["SHELL"]),
];

/// A store in the scratch folder whose only run was killed.
const KILLED: &str = "killed.sqlite";

/// A fio job.
const FIO: &str = "job.fio";

/// The output of `verify --write` before it was killed.
const ACKNOWLEDGED: &str = "acknowledged.log";

/// Runs the writer until some records are acknowledged, and kills it.
fn acknowledge(cli: &Cli) {
    let mut command = cli.command(&["verify", ".", "--write"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program can be started");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines().take(45);
    let log: String = lines.map(|line| line.expect("a line") + "\n").collect();
    child.kill().expect("it is killed");
    child.wait().expect("its end");
    fs::write(cli.path().join(ACKNOWLEDGED), log).expect("a log");
}

/// Starts runs until one is killed after it was stored and before it ended.
fn kill_a_run(cli: &Cli) {
    let list = || cli.run(&["list", "--store", KILLED]).out;
    while !list().contains("killed") {
        let mut command = cli.command(&["run", "smoke", "--rounds", "4", "--store", KILLED]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started");
        let mut running = Running(child);
        while running.0.try_wait().expect("whether it ended").is_none() && !list().contains("running") {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn every_command_writes_to_the_right_stream() {
    let cli = Cli::new();
    kill_a_run(&cli);
    let job = "[from-fio]\nrw=randread\nsize=1m\nruntime=20ms\nfilename=/data/x\n";
    fs::write(cli.path().join(FIO), job).expect("a job");
    acknowledge(&cli);
    for (arguments, status, out, err) in CALLS {
        let ended = cli.run(arguments);
        assert_eq!(ended.status, Some(*status), "{arguments:?}: {}{}", ended.out, ended.err);
        for (stream, words) in [(&ended.out, out), (&ended.err, err)] {
            assert!(!words.is_empty() || stream.is_empty(), "{arguments:?}: {stream}");
            for word in *words {
                assert!(stream.contains(word), "{arguments:?} says nothing of {word:?}: {stream}");
            }
        }
    }
    for command in commands() {
        let of_it = || CALLS.iter().filter(|(arguments, ..)| arguments[0] == command);
        assert!(of_it().any(|(_, status, ..)| *status == 0), "no call of {command} that succeeds");
        assert!(of_it().any(|(_, status, ..)| *status != 0), "no call of {command} that is refused");
    }
}
