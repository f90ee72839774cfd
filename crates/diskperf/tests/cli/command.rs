//! A user's own command as the workload: its measurement, the report of its failure, and that it leaves nothing behind.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{ProgramOutput, Running, wait_until};

use crate::common::document::document;
use crate::common::{Cli, program, remarks, text};

/// The only cell of a run of this command line, which must succeed.
fn cell(cli: &Cli, arguments: &[&str]) -> Value {
    only_cell(&cli.well(&[&["run", "--json"], arguments].concat()))
}

fn only_cell(ended: &ProgramOutput) -> Value {
    let cells = document(ended)["cells"].take();
    let Value::Array(mut cells) = cells else { panic!("{cells:#}") };
    assert_eq!(cells.len(), 1);
    cells.remove(0)
}

/// The rounds that count.
fn kept_rounds(cell: &Value) -> Vec<&Value> {
    let rounds = cell["rounds"].as_array().expect("rounds").iter();
    rounds.filter(|round| round["discarded"] == false).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value:#}"))
}

fn codes(cell: &Value) -> Vec<&str> {
    cell["marks"].as_array().expect("marks").iter().filter_map(|mark| mark["code"].as_str()).collect()
}

/// True if a process with this word in its command line exists.
fn runs(word: &str) -> bool {
    let lines = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = lines.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|other| other == word.as_bytes()))
}

/// A number of seconds that no other process sleeps.
fn seconds(cli: &Cli) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("1000.{}", cli.path().metadata().expect("a folder").ino())
}

#[test]
fn a_command_is_measured_in_an_empty_folder_of_the_target() {
    let cli = Cli::new();
    let words = ["bs=64K", "count=64", "status=none"];
    let line = [&[".", "--rounds", "3", "--", "dd", "if=/dev/urandom", "of={}/x"], &words[..]].concat();
    let cell = cell(&cli, &line);
    assert_eq!((&cell["preset"], &cell["program"], &cell["phase"]), (&"command".into(), &"dd".into(), &"dd".into()));
    let typed = "dd if=/dev/urandom 'of={}/x' bs=64K count=64 status=none";
    assert_eq!((&cell["parameters"]["command"], &cell["rate"]["unit"]), (&typed.into(), &"runs/s".into()));
    assert_eq!((cell["rounds"].as_array().map(Vec::len), kept_rounds(&cell).len()), (Some(3), 2));
    for round in kept_rounds(&cell) {
        assert_eq!((&round["ops"], &round["bytes"]), (&1.into(), &0.into()));
        assert!(number(&round["durable_s"]) >= number(&round["returned_s"]), "{round:#}");
        assert!(number(&round["cpu_s"]["process"]) > 0.0, "{round:#}");
    }
    // If a device can be seen, it received the written bytes.
    if !cell["io"].is_null() {
        assert!(number(&cell["io"]["device_written"]) >= 2.0 * 4_194_304.0, "{cell:#}");
        assert!(!codes(&cell).contains(&"untouched"), "{cell:#}");
    }
    assert_eq!(cli.names(), [""; 0]);

    let ended = cli.run(&line.iter().fold(vec!["run"], |all, word| [&all[..], &[*word]].concat()));
    let text = ended.out.replace("\n  ", " ");
    for words in [" dd ", "s/run", "a run until durable (", " rounds); each took", "of CPU time"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(ended.err.contains("writes the files of the command in ."), "{}", ended.err);
}

#[test]
fn a_command_runs_ten_times_or_five_seconds() {
    let cli = Cli::new();
    // As a user calls it: other tests are quicker with `--floor 0`.
    let run = |words: &[&str]| {
        let ended = testkit::run(&program(), cli.path(), &[&["run", "--json", ".", "--"], words].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        only_cell(&ended)
    };
    // If a busy disk changes its speed, diskperf leaves out more rounds than the first, and warns of the step.
    let after_first = |cell: &Value| cell["rounds"].as_array().expect("rounds")[1..].to_vec();
    let is_few = |cell: &Value| codes(cell).contains(&"few") && !codes(cell).contains(&"step");
    let short = run(&["true"]);
    let runs = after_first(&short);
    let time: f64 = runs.iter().map(|round| number(&round["durable_s"])).sum();
    assert!(runs.len() == 10 || runs.len() >= 5 && time >= 5.0, "{short:#}");
    assert!(!is_few(&short), "{short:#}");
    let long = run(&["sleep", "1.01"]);
    assert_eq!(after_first(&long).len(), 5);
    assert!(!is_few(&long), "{long:#}");
}

/// One of twelve kept runs waits for five more seconds: the warning names it, and the other runs determine the figure.
#[test]
fn an_outlier_is_named_and_does_not_determine_the_figure() {
    let (cli, outside) = (Cli::in_memory(), Cli::new());
    let count = outside.path().join("count");
    let line = format!("echo >> {0}; [ $(wc -l < {0}) = 4 ] && sleep 5; sleep 0.5; echo > x", text(&count));
    let cell = cell(&cli, &[".", "--rounds", "13", "--", "sh", "-c", &line]);
    let said = crate::common::mark(&cell, "outlier").unwrap_or_else(|| panic!("{cell:#}"));
    // On a busy machine another round may be an outlier, too.
    assert!(said.contains("round 4: ") && said.contains(", others "), "{said}");
    let times: Vec<f64> = kept_rounds(&cell).into_iter().map(|round| number(&round["durable_s"])).collect();
    let (mean, figure) = (times.iter().sum::<f64>() / times.len() as f64, 1.0 / number(&cell["rate"]["per_second"]));
    assert!(figure < mean, "{figure} s, and the mean is {mean} s: {cell:#}");
}

/// A shell script that computes until the kernel has charged it this much CPU time, in clock ticks (USER_HZ, 100 per
/// second), and then writes down that time: the amount is the same on any machine, under any load.
fn computing(ticks: u32, written_to: &str) -> String {
    // proc_pid_stat(5): the 14th field is utime, the 15th stime.
    let charged = "read -r line < /proc/self/stat; set -- $line; used=$((${14} + ${15}))";
    format!("used=0; while [ $used -lt {ticks} ]; do {charged}; done; echo $used > {written_to}")
}

#[test]
fn cpu_time_of_grandchildren_and_orphans_counts_once() {
    // Far more than the shells and `true` need to start.
    const TICKS: u32 = 40;
    let (cli, outside) = (Cli::new(), Cli::new());
    let own = outside.path().join("ticks");
    let work = computing(TICKS, text(&own));
    let cell = |line: &str| cell(&cli, &[".", "--rounds", "2", "--", "sh", "-c", line]);
    let cpu = |cell: &Value| number(&kept_rounds(cell)[0]["cpu_s"]["process"]);
    // First a grandchild, then one whose parent has ended before it: only diskperf waits for the second. The FIFO keeps
    // the command running until the orphan has ended its work.
    let below = format!("(sh -c '{work}'; true)");
    let orphan = format!("mkfifo done; (sh -c '{work}; echo > done' &); read -r line < done");
    for line in [below, orphan] {
        let cell = cell(&line);
        let ticks = fs::read_to_string(&own).expect("what the last round was charged");
        let told = ticks.trim().parse::<f64>().expect("a number") / 100.0;
        // The ratio is about 1 if the time is counted once: the time of the shells comes in addition. It would be 2 if
        // the time were counted twice.
        let times = cpu(&cell) / told;
        assert!((0.9..1.7).contains(&times), "{line}: {times} times the {told} s that the kernel charged");
        // The times of several processes do not add up. The busiest one may have computed all the time, a limited disk
        // may have delayed the end, and other programs may have kept the disk busy.
        let limit = cell["limited_by"]["what"].as_str().expect("a limit");
        let possible = ["n.m.", "cpu", "quota", "device", "device and flush", "flush", "journal", "server"];
        assert!(possible.contains(&limit) && cell["time"].is_null(), "{cell:#}");
    }
    let idle = self::cell(&cli, &[".", "--rounds", "2", "--", "true"]);
    assert!(cpu(&idle) < f64::from(TICKS) / 100.0 / 3.0, "{idle:#}");
}

#[test]
fn processes_left_running_are_ended_and_reported() {
    let cli = Cli::new();
    let seconds = seconds(&cli);
    let line = format!("sleep {seconds} & setsid sleep {seconds} & exit 0");
    let said = |arguments: &[&str], words: &str| {
        let ended = cli.well(&[&["run", ".", "--rounds", "2", "--json"], arguments].concat());
        assert!(!runs(&seconds));
        let document = document(&ended);
        let program = arguments[arguments.iter().position(|word| *word == "--").expect("a command") + 1];
        assert_eq!(remarks(&document), [["processes_left", program, "."]]);
        let text = document["run"]["remarks"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with(words), "{text}");
        assert_eq!(ended.err.matches(text).count(), 1, "{}", ended.err);
    };
    said(&["--", "sh", "-c", &line], "left 2 processes ");
    said(&["--prepare", &format!("sh -c '{line}'"), "--", "true"], "--prepare left 2 processes ");
    // A process that ends with the command was not left by it.
    let line = format!("setsid sleep {seconds} & sleep {seconds}");
    let ended = cli.run(&["run", ".", "--timeout", "50ms", "--json", "--", "sh", "-c", &line]);
    assert_eq!((ended.status, remarks(&document(&ended)).len()), (Some(1), 0), "{}", ended.err);
    assert!(!runs(&seconds));
}

#[test]
fn only_processes_of_the_command_are_ended() {
    let (cli, outside) = (Cli::new(), Cli::new());
    let (seconds, others) = (seconds(&cli), seconds(&outside));
    // A background job of the shell that becomes diskperf, in its session, and a child of that job in its own session.
    let program = program();
    let line = format!(
        "sleep {others} & echo $!; exec {} run . --rounds 1 --json -- sh -c 'setsid sleep {seconds} & exit 0'",
        text(&program)
    );
    let mut shell = testkit::command(Path::new("/bin/sh"));
    let shell = shell.args(["-c", &line]).current_dir(cli.path()).stdin(Stdio::null());
    let mut running = Running(shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a shell"));
    let mut out = BufReader::new(running.0.stdout.take().expect("its output"));
    let mut job = String::new();
    out.read_line(&mut job).expect("the number of its job");
    let ended = running.0.wait().expect("its end");
    let goes_on = runs(&others);
    let job = job.trim().parse().ok().and_then(Pid::from_raw).expect("a number");
    let _ = kill_process(job, Signal::KILL);
    assert!(ended.success() && goes_on && !runs(&seconds), "{ended} {goes_on}");
}

#[test]
fn long_failures_are_cut_in_text_but_not_in_json() {
    let cli = Cli::new();
    let line = "printf '%0900d why' 0 >&2; exit 1";
    let words = ["run", ".", "--rounds", "1", "--", "sh", "-c", line];
    let ended = cli.run(&words);
    let zeros = |text: &str| text.split(|c| c != '0').map(str::len).max();
    assert!((100..250).contains(&zeros(&ended.out).unwrap_or(0)), "{}", ended.out);
    assert!((100..250).contains(&zeros(&ended.err).unwrap_or(0)) && ended.err.contains("why"), "{}", ended.err);
    let ended = cli.run(&[&["run", "--json"], &words[1..]].concat());
    assert_eq!(zeros(document(&ended)["cells"][0]["reason"].as_str().expect("a reason")), Some(900));
}

#[test]
fn processes_that_become_another_user_are_not_waited_for() {
    if !testkit::is_root() {
        return testkit::skip!("only root can give rights up, and have a program take them back");
    }
    use std::os::unix::fs::PermissionsExt;
    let cli = Cli::new();
    fs::set_permissions(cli.path(), fs::Permissions::from_mode(0o777)).expect("open to all");
    let place = cli.path().join("target");
    fs::create_dir(&place).expect("a folder");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).expect("open to all");
    let (program, root) = (cli.path().join("diskperf"), cli.path().join("root"));
    fs::copy(crate::common::program(), &program).expect("a copy that others reach");
    fs::copy("/usr/bin/setpriv", &root).expect("a copy");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("for all");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o4755)).expect("root's, whoever starts it");
    // A process that only gained root's rights may still be ended by the user who started it.
    let seconds = seconds(&cli);
    let by_another = |line: &[&str]| {
        let mut command = testkit::command(Path::new("/usr/bin/setpriv"));
        command
            .args(["--reuid", "12345", "--regid", "12345", "--clear-groups"])
            .arg(&program)
            .args(["run", text(&place)]);
        command.args(line).stdin(Stdio::null()).env("HOME", cli.path());
        let ended = command.current_dir(&place).output().expect("setpriv");
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let sleeper = [text(&root), "--reuid", "0", "--regid", "0", "--clear-groups", "sleep", &seconds];
    // It must have become root before the timeout, which takes longer on a busy machine.
    let cannot_end = |err: &str| err.contains("may not end it: it runs as another user");
    let mut timeouts = ["50ms", "1s", "20s"].into_iter().map(|timeout| {
        let (status, err) = by_another(&[&["--rounds", "2", "--timeout", timeout, "--"], &sleeper[..]].concat());
        assert_eq!(status, Some(1), "{err}");
        err
    });
    let timeout = timeouts.any(|err| cannot_end(&err));
    let line = format!(
        "{} sh -c 'echo > started; exec sleep {seconds}' & until test -e started; do sleep 0.05; done",
        sleeper[..6].join(" ")
    );
    let (status, left) = by_another(&["--rounds", "2", "--", "sh", "-c", &line]);
    let all_ended = end_all(&seconds);
    assert!(timeout, "each time it was ended");
    assert!(status == Some(1) && cannot_end(&left), "{status:?} {left}");
    assert!(all_ended >= 1);
}

/// Ends the processes with this unique word, and returns their number.
fn end_all(word: &str) -> usize {
    let numbers = fs::read_dir("/proc").expect("/proc").flatten().filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        line.split(|byte| *byte == 0).any(|other| other == word.as_bytes()).then_some(())?;
        Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)
    });
    numbers.filter(|pid| kill_process(*pid, Signal::KILL).is_ok()).count()
}

#[test]
fn a_failure_voids_the_cell_and_quotes_the_command() {
    let cli = Cli::new();
    let failed = |arguments: &[&str]| {
        let ended = cli.run(&[&["run", ".", "--json"], arguments].concat());
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
    assert_eq!(said, "during preparation: the command: it ended with exit status 7");
    assert!(failed(&["--", "{}/none"]).contains("no such file"));
    let said = failed(&["--timeout", "50ms", "--", "sleep", "1000"]);
    assert_eq!(said, "the command: it reached the timeout, and diskperf ended it");
    // The command's current directory and its files: its own three, and the folder that `ls` reads.
    let said = failed(&["--", "sh", "-c", "pwd >&2; echo {} >&2; ls /proc/self/fd | tr '\\n' ' ' >&2; exit 1"]);
    let said: Vec<&str> = said.split("it said: ").last().expect("words").split("; ").collect();
    assert_eq!((said[0], said[2]), (said[1], "0 1 2 3"), "{said:?}");
    assert!(said[0].contains("/.diskperf-"), "{said:?}");
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn anonymous_exports_do_not_contain_the_command() {
    let cli = Cli::new();
    let store = ["--store", "runs.sqlite"];
    let line = "echo secret >&2; exit 1";
    let run = [&["run", ".", "--prepare", "touch secret"], &store[..], &["--", "sh", "-c", line]].concat();
    assert_eq!(cli.run(&run).status, Some(1));
    let exported = |words: &[&str]| {
        let ended = cli.well(&[&["export", "last"], words, &store].concat());
        ended.out
    };
    assert!(exported(&["--format", "json"]).matches("secret").count() >= 4);
    let anonymous = exported(&["--format", "json", "--anonymous"]);
    assert!(!anonymous.contains("secret") && anonymous.contains("exit status 1"), "{anonymous}");
}

#[test]
fn impossible_commands_are_refused_before_any_write() {
    let cli = Cli::new();
    fs::write(cli.path().join("text"), "no program").expect("a file");
    for (arguments, words) in [
        (&["run", ".", "--", "no-such-command"][..], &["command \"no-such-command\" not found", "PATH"][..]),
        (&["run", ".", "--", "./none"], &["./none", "current directory"]),
        (&["run", ".", "--", "./text"], &["text cannot be executed", "chmod +x"]),
        (&["run", ".", "--"], &["no command given", "diskperf run . -- "]),
        (&["run", "command", "."], &["no command given"]),
        (&["run", ".", "--prepare", "no-such-command", "--", "true"], &["no-such-command"]),
        (&["run", ".", "--prepare", "cp 'a", "--", "true"], &["into words: cp 'a", "quotes"]),
        (&["run", ".", "--timeout", "0", "--", "true"], &["0 is not a timeout"]),
        (&["run", ".", "--timeout", "-1s", "--", "true"], &["a time cannot be negative"]),
        (&["run", "smoke", ".", "--prepare", "true"], &["--prepare", "COMMAND"]),
        (&["run", "sim:flat", "--", "true"], &["sim:flat is a simulated machine", "name a directory"]),
        (&["run", "file:text", "--", "true"], &["a file that is only read"]),
        (&["run", "smoke", ".", "--", "true"], &["smoke is a preset", "leave it out"]),
        (&["run", ".", "--together", "--", "true"], &["--together"]),
        (&["choose", ".", "--", "true"], &["at least two targets"]),
        (&["choose", "a=.", "b=.", "--preset", "smoke", "--", "true"], &["--preset"]),
        (&["choose", "a=sim:flat", "b=.", "--", "true"], &["a is a simulated machine"]),
    ] {
        let ended = cli.run(arguments);
        assert_eq!(ended.status, Some(2), "{arguments:?}: {}{}", ended.out, ended.err);
        words.iter().for_each(|word| assert!(ended.err.contains(word), "{arguments:?}: {}", ended.err));
    }
    let ended = cli.run(&["run", ".", "--dry-run", "--", "touch", "text2"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "touch on .\n"));
    let ended = cli.run(&["run", ".", "--dry-run", "--cold", "--", "find", ".", "-exec", "cat", "{}", ";"]);
    for words in ["--prepare COMMAND", "{} after -exec", "{{}} for {} itself"] {
        assert!(ended.err.contains(words), "{}", ended.err);
    }
    assert_eq!(cli.names(), ["text"]);
}

#[test]
fn the_prepare_command_runs_before_each_execution() {
    let cli = Cli::new();
    let outside = Cli::new();
    let log = outside.path().join("log");
    let prepare = format!("sh -c 'echo ready >> {}; echo {{}} > made'", text(&log));
    let command = format!("cat made >> {}; test $(ls | wc -l) = 1 && touch more", text(&log));
    let cell = cell(&cli, &[".", "--rounds", "3", "--prepare", &prepare, "--", "sh", "-c", &command]);
    assert_eq!(cell["parameters"]["prepare"], prepare);
    let log = fs::read_to_string(log).expect("a log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 6, "{log}");
    for pair in lines.chunks(2) {
        assert!(pair[0] == "ready" && pair[1].starts_with('/') && pair[1].contains("/.diskperf-"), "{log}");
    }
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_stopped_run_ends_its_command_and_can_be_resumed() {
    let cli = Cli::new();
    let outside = Cli::new();
    let (count, seconds) = (outside.path().join("count"), seconds(&cli));
    let set = |number: &str| fs::write(&count, number).expect("a file");
    set("0");
    // The first execution leaves a process. The third does not end by itself, and ignores SIGTERM.
    let line = format!(
        "n=$(cat {0}); echo $((n + 1)) > {0}; if test $n = 0; then sleep 2{seconds} & fi; \
         test $n -lt 2 || {{ trap '' TERM; sleep {seconds}; sleep {seconds}; }}",
        text(&count)
    );
    let store = outside.path().join("runs.sqlite");
    let stored = ["--store", text(&store)];
    let mut command = cli.command(&["run", ".", "--rounds", "3", "--json"]);
    command.args(stored).args(["--", "sh", "-c", &line]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = Running(command.spawn().expect("diskperf starts"));
    wait_until("the third round", || runs(&seconds));
    kill_process(Pid::from_child(&running.0), Signal::INT).expect("diskperf gets SIGINT");
    // The output for one cell fits into a pipe.
    let status = running.0.wait().expect("its end").code();
    let mut ended = ProgramOutput { status, out: String::new(), err: String::new() };
    let mut out = running.0.stdout.take().expect("its output");
    out.read_to_string(&mut ended.out).expect("a document");
    assert_eq!(ended.status, Some(4), "{}", ended.out);
    assert!(!runs(&seconds));
    assert_eq!(cli.names(), [""; 0]);
    let interrupted = document(&ended);
    assert_eq!(interrupted["run"]["interrupted"], true);
    assert_eq!(interrupted["cells"][0]["rounds"].as_array().map(Vec::len), Some(2));

    assert_eq!(remarks(&interrupted), [["processes_left", "sh", "."]]);

    set("1");
    let ended = outside.well(&[&["resume"], &stored[..]].concat());
    let document = document(&ended);
    assert_eq!(document["cells"][0]["rounds"].as_array().map(Vec::len), Some(3));
    assert_eq!(fs::read_to_string(&count).expect("a file"), "2\n");
    assert_eq!(document["run"]["remarks"], interrupted["run"]["remarks"], "that of the earlier process");
}

#[test]
fn the_target_on_which_a_command_is_faster_is_found() {
    let cli = Cli::new();
    ["swift", "slow"].iter().for_each(|name| fs::create_dir(cli.path().join(name)).expect("a folder"));
    // Both wait longer than a busy machine delays them: a first round that stands out looks like a burst credit.
    let line = "case $PWD in */slow/*) sleep 0.8;; *) sleep 0.2;; esac; echo done > file";
    let ended = cli.well(&["choose", "swift", "slow", "--json", "--", "sh", "-c", line]);
    let document = document(&ended);
    let choice = &document["run"]["choice"];
    let pair = &choice["comparisons"][0];
    assert_eq!((&pair["verdict"], &pair["faster"]), (&"faster".into(), &"swift".into()), "{choice:#}");
    // The first round does not count, and neither do rounds before a change of the disk's speed.
    let pairs = number(&pair["pairs"]);
    assert!(pairs >= 6.0 && number(&document["run"]["rounds"]) > pairs, "{choice:#}");
    let remarks = choice["remarks"].as_array().expect("remarks").iter().filter_map(Value::as_str);
    assert_eq!(remarks.filter(|remark| remark.contains("a run until durable")).count(), 2, "{choice:#}");
}

#[test]
fn bytes_and_flushes_on_an_image_are_counted_exactly() {
    if !testkit::is_root() {
        return testkit::skip!("an image needs root");
    }
    let cli = Cli::new();
    let rounds = ["image:ext4,size=64MiB", "--rounds", "2"];
    let synced = ["--", "dd", "if=/dev/urandom", "of=x", "bs=64K", "count=16", "conv=fsync", "status=none"];
    let written = cell(&cli, &[&rounds[..], &synced].concat());
    let io = &written["io"];
    assert!((1_048_576.0..4_194_304.0).contains(&number(&io["device_written"])), "{io:#}");
    assert!(number(&io["flushes"]) >= 1.0 && !codes(&written).contains(&"untouched"), "{written:#}");
    assert_eq!((&io["program_bytes"], &written["state"]["clock"]), (&Value::Null, &"durable".into()));

    let idle = cell(&cli, &[&rounds[..], &["--", "true"]].concat());
    assert!(codes(&idle).contains(&"untouched"), "{idle:#}");

    let make = "dd if=/dev/urandom of=x bs=64K count=16 status=none";
    let read = cell(&cli, &[&rounds[..], &["--cold", "--prepare", make, "--", "cat", "x"]].concat());
    assert_eq!(read["state"]["cache"], "cold", "{read:#}");
    assert!(number(&read["io"]["device_read"]) >= 1_048_576.0, "{read:#}");
}
