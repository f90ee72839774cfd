//! Stored runs as a user meets them: `run` stores, `list`, `show`, `export` and `explain` read, `resume` continues; and
//! each of them with an unusable store.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use store::Store;
use testkit::{ProgramOutput, Running, names_in};

use crate::common::{Cli, ended, program};

/// A folder to measure, and a store next to it.
struct Scratch {
    cli: Cli,
    data: Cli,
}

impl Scratch {
    /// In memory, if there is such a place: syncs on the machine's disk wait for all writes of other programs there.
    fn new() -> Scratch {
        Scratch { cli: Cli::in_memory(), data: Cli::in_memory() }
    }

    /// On a disk, for tests that have no result in memory.
    fn on_disk() -> Scratch {
        Scratch { cli: Cli::new(), data: Cli::new() }
    }

    /// The number of stored executions of the last run.
    fn executions(&self) -> usize {
        let left = Store::open_to_read(&self.store()).and_then(|store| store.left(&store.find("last")?));
        left.map_or(0, |left| left.executions.len())
    }

    fn store(&self) -> PathBuf {
        self.data.path().join("store.sqlite")
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = self.cli.command(arguments);
        command.env(testkit::STORE, self.store()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> ProgramOutput {
        ended(self.command(arguments))
    }

    /// The standard output of a command that must succeed.
    fn well(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.err);
        ended.out
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.well(arguments)).expect("JSON")
    }

    /// The ids of the stored runs.
    fn runs(&self) -> Vec<String> {
        let list = self.json(&["list", "--json"]);
        list.as_array().expect("runs").iter().map(|run| run["run"].as_str().expect("an id").to_owned()).collect()
    }

    /// Asserts a refusal: its exit status, an error and a hint with these words, and no standard output.
    fn refuses(&self, arguments: &[&str], status: i32, words: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains("error: "), "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains("hint: "), "{arguments:?}: {}", ended.err);
        for word in words {
            assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
        }
        assert_eq!(ended.out, "", "{arguments:?}");
    }
}

/// A small run on a simulated machine.
const SMALL: [&str; 4] = ["run", "smoke", "sim:flat", "--json"];

#[test]
fn show_prints_a_run_as_before() {
    let scratch = Scratch::new();
    let table = scratch.run(&["run", "smoke", "here=.", "sim:flat"]);
    assert_eq!(table.status, Some(0), "{}", table.err);
    let json = scratch.well(&SMALL);
    let [first, second] = &scratch.runs()[..] else { panic!("two runs") };
    assert!(table.err.contains(&format!("stored as {first}")), "{}", table.err);
    assert_eq!(scratch.well(&["show", first]), table.out);
    assert_eq!(scratch.well(&["show", "last", "--json"]), json);
    assert_eq!(scratch.json(&["show", first, "--json"])["run"]["store"]["run"], first.as_str());
    let explained = scratch.well(&["explain", second, "smallfb.read"]);
    assert!(explained.contains("smallfb"), "{explained}");
    assert_eq!(names_in(scratch.data.path()), ["store.sqlite"]);
    assert_eq!(scratch.cli.names(), [""; 0]);
}

#[test]
fn the_last_run_is_the_default() {
    let scratch = Scratch::new();
    for words in [&["show"][..], &["explain"], &["report"]] {
        scratch.refuses(words, 2, &["store.sqlite"]);
    }
    scratch.well(&SMALL);
    scratch.well(&["run", "smoke", "quiet=sim:flat", "--rounds", "1", "--size", "1MiB"]);
    let last = scratch.runs()[1].clone();
    for words in [&["show", "--json"][..], &["explain", "--json"]] {
        assert_eq!(scratch.json(words)["run"]["store"]["run"], last.as_str(), "{words:?}");
    }
    for command in ["show", "explain", "report"] {
        assert_eq!(scratch.well(&[command]), scratch.well(&[command, "last"]), "{command}");
        let help = scratch.well(&[command, "--help"]);
        let words: Vec<&str> = help.split_whitespace().collect();
        assert!(help.contains("[RUN|FILE]") && words.join(" ").contains("[default: last]"), "{help}");
    }
}

#[test]
fn the_list_has_a_line_per_run_in_order() {
    let scratch = Scratch::new();
    let none = scratch.run(&["list", "--store", "other.sqlite"]);
    assert_eq!((none.status, none.out.as_str()), (Some(2), ""), "{}", none.err);
    scratch.well(&SMALL);
    scratch.well(&["run", "smoke", "quiet=sim:flat", "--rounds", "1"]);
    let list = scratch.well(&["list"]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 3, "{list}");
    for (line, run, target) in [(lines[1], 0, "sim:flat"), (lines[2], 1, "quiet")] {
        for word in [&scratch.runs()[run], "smoke", target, "18", "finished", "20"] {
            assert!(line.contains(word), "{line}: {word}");
        }
    }
    let json = scratch.json(&["list", "--format", "json"]);
    assert_eq!(
        (&json[1]["state"], &json[1]["measured"], &json[1]["cells"]),
        (&"finished".into(), &18.into(), &18.into())
    );
    scratch.well(&["list", "--json", "-o", "list.json"]);
    let written = fs::read_to_string(scratch.cli.path().join("list.json")).expect("the file");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), json);
}

#[test]
fn a_named_run_is_found_by_its_name() {
    let scratch = Scratch::new();
    scratch.well(&SMALL);
    assert!(!scratch.well(&["list"]).contains("name"));
    for _ in 0..2 {
        scratch.well(&["run", "smoke", "sim:flat", "--rounds", "1", "--name", "before-1"]);
    }
    let list = scratch.well(&["list"]);
    assert!(list.lines().next().is_some_and(|heading| heading.contains("name")), "{list}");
    assert_eq!(list.matches("before-1").count(), 2, "{list}");
    // The latest one counts.
    let shown = scratch.json(&["show", "before-1", "--json"]);
    assert_eq!(shown["run"]["store"]["run"], scratch.runs()[2].as_str());
    assert_eq!(shown["run"]["name"], "before-1");
    let hidden = scratch.well(&["export", "before-1", "--anonymous"]);
    assert!(!hidden.contains("before-1"), "{hidden}");
    for name in ["last", "two words", "", "-x", "a.b"] {
        let ended = scratch.run(&["run", "smoke", "sim:flat", &format!("--name={name}")]);
        assert!(ended.status == Some(2) && ended.err.contains("--name"), "{}", ended.err);
    }
    scratch.refuses(&["show", "befor"], 2, &["befor"]);
}

#[test]
fn a_missing_store_gives_an_empty_list() {
    let scratch = Scratch::new();
    let mut command = scratch.command(&["list"]);
    command.env_remove(testkit::STORE).env("XDG_DATA_HOME", scratch.data.path());
    let ended = ended(command);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains("no run is stored yet"), "{}", ended.err);
    assert_eq!(names_in(scratch.data.path()), [""; 0]);
}

#[test]
fn runs_are_exported_for_other_programs() {
    let scratch = Scratch::new();
    let json = scratch.well(&SMALL);
    scratch.well(&["run", "smoke", "b=sim:flat", "--rounds", "1", "--json"]);
    let runs = scratch.runs();
    let (first, second) = (runs[0].as_str(), runs[1].as_str());
    let alone = scratch.json(&["export", first]);
    assert_eq!(alone, Value::from(vec![serde_json::from_str::<Value>(&json).expect("JSON")]));
    fs::write(scratch.cli.path().join("one.json"), alone.to_string()).expect("a file");
    assert!(scratch.well(&["show", "one.json"]).contains("read_8192"), "an exported run is shown");
    let all = scratch.json(&["export", first, "last", "one.json"]);
    assert_eq!(all.as_array().map(Vec::len), Some(3));
    assert_eq!([&all[0], &all[2]], [&alone[0]; 2], "a file is exported like a stored run");
    let hidden = scratch.well(&["export", "one.json", "--format", "csv", "--anonymous"]);
    assert!(hidden.contains("\nFILE1,") && !hidden.contains("one.json"), "{hidden}");

    let csv = scratch.well(&["export", first, second, "--format", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 18);
    let columns = lines[0].split(',').count();
    for line in &lines[1..] {
        // Text in quotes is one field: it is every second part.
        let outside: usize = line.split('"').step_by(2).map(|part| part.matches(',').count()).sum();
        assert_eq!(outside + 1, columns, "{line}");
        assert!(line.starts_with(first) || line.starts_with(second), "{line}");
    }

    let markdown = scratch.well(&["export", second, "--format", "markdown"]);
    let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 2 + 18, "{markdown}");
    assert!(rows.iter().all(|row| row.matches('|').count() == rows[0].matches('|').count()), "{markdown}");
    assert!(markdown.starts_with(&format!("## {second}\n")), "{markdown}");
}

#[test]
fn an_anonymous_export_hides_the_machine_and_its_user() {
    let scratch = Scratch::new();
    let secret = scratch.cli.path().join("eves-secret-project");
    fs::create_dir(&secret).expect("a folder");
    let path = secret.to_str().expect("a path in UTF-8");
    scratch.well(&[
        "run",
        "smoke",
        path,
        "eves-secret-project/",
        "sim:flat",
        "--only",
        "write_8192",
        "--only",
        "smallfb",
        "--rounds",
        "1",
        "-o",
        "eves-secret-file",
    ]);
    let open = scratch.json(&["export", "last"])[0].clone();
    let host = open["run"]["host"].as_str().expect("a host").to_owned();
    for format in ["json", "csv", "markdown"] {
        let told = scratch.well(&["export", "last", "--format", format]);
        let hidden = scratch.well(&["export", "last", "--format", format, "--anonymous"]);
        assert!(told.contains("eves-secret"), "{told}");
        assert!(!hidden.contains("eves-secret"), "{hidden}");
        assert!(!hidden.contains(scratch.data.path().to_str().expect("a path in UTF-8")), "{hidden}");
    }
    let hidden = scratch.json(&["export", "last", "--anonymous"])[0].clone();
    assert_ne!(hidden["run"]["host"], host.as_str());
    let keys = |document: &Value| {
        let cells = document["cells"].as_array().expect("cells").iter();
        let mut keys: Vec<String> = cells
            .map(|cell| format!("{} {} {} {}", cell["program"], cell["phase"], cell["target"], cell["parameters"]))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys.len()
    };
    let all = open["cells"].as_array().map_or(0, Vec::len);
    assert_eq!((keys(&open), keys(&hidden)), (all, all), "what were two places stay two places");
    let rates = |document: &Value| {
        document["cells"].as_array().expect("cells").iter().map(|cell| cell["rate"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(rates(&open), rates(&hidden));
}

/// A folder may have the name of a program, a phase or a state.
#[test]
fn an_anonymous_export_keeps_the_words_of_the_document() {
    let scratch = Scratch::new();
    let folders = ["copy", "warm", "write"];
    folders.iter().for_each(|name| fs::create_dir(scratch.cli.path().join(name)).expect("a folder"));
    let programs = ["--only", "copy", "--only", "write_8192", "--only", "read_8192"];
    scratch.well(&[&["run", "smoke", "copy", "warm", "write", "--rounds", "1"], &programs[..]].concat());
    let words = |document: &Value| {
        let cells = document["cells"].as_array().expect("cells").iter();
        let words =
            cells.map(|cell| [&cell["program"], &cell["phase"], &cell["state"], &cell["io"]].map(Value::to_string));
        words.collect::<Vec<_>>()
    };
    let (open, hidden) =
        (scratch.json(&["export", "last"])[0].clone(), scratch.json(&["export", "last", "--anonymous"])[0].clone());
    assert_eq!(words(&open), words(&hidden));
    let targets = hidden["run"]["targets"].as_array().expect("targets").iter().map(|target| &target["name"]);
    assert!(targets.clone().all(|name| name.as_str().is_some_and(|name| name.starts_with("PATH"))), "{hidden:#}");
}

#[test]
fn an_unknown_run_gets_similar_suggestions() {
    let scratch = Scratch::new();
    scratch.refuses(&["show", "last"], 2, &["there is no results database"]);
    scratch.well(&SMALL);
    let run = scratch.runs().remove(0);
    let nearly = format!("{}u{}", &run[..1], &run[2..]);
    for command in ["show", "export", "explain", "resume"] {
        scratch.refuses(&[command, &nearly], 2, &["there is no run", &format!("did you mean {run}?")]);
        scratch.refuses(&[command, "nothing-like-it"], 2, &["there is no run nothing-like-it", "diskperf list"]);
    }
    scratch.refuses(&["resume", &run], 2, &["is finished", "diskperf show"]);
    scratch.refuses(&["resume"], 2, &["every stored run is finished"]);
    // The ids of one day have the same end. Several ids have the same beginning only among a few thousand runs, so this
    // test has no such ids.
    scratch.refuses(&["resume", ""], 2, &["there is no run"]);
}

#[test]
fn every_command_leaves_unusable_stores_unchanged() {
    let scratch = Scratch::new();
    scratch.well(&SMALL);
    let whole = fs::read(scratch.store()).expect("the store");
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let mut foreign = whole.clone();
    foreign[68..72].copy_from_slice(&[0; 4]);
    let mut damaged = whole.clone();
    // The file except its first page.
    damaged[4096..].fill(0x5a);
    for (bytes, word) in [
        (newer, "schema 99"),
        (foreign, "another program"),
        (b"not a database".to_vec(), "not an SQLite database"),
        (Vec::new(), "it is empty"),
        (damaged, "is damaged"),
    ] {
        fs::write(scratch.store(), &bytes).expect("a bad store");
        for command in [
            &["list"][..],
            &["show", "last"],
            &["export", "last"],
            &["explain", "last"],
            &["resume"],
            &["run", "smoke", "sim:flat"],
        ] {
            scratch.refuses(command, 1, &["store.sqlite", word]);
            assert!(fs::read(scratch.store()).expect("the store") == bytes, "{command:?} changed it");
        }
        assert_eq!(names_in(scratch.data.path()), ["store.sqlite"], "{word}");
    }
    let json = scratch.run(&SMALL);
    let document: Value = serde_json::from_str(&json.out).expect("a document, also when it failed");
    assert!(document["errors"][0]["message"].as_str().is_some_and(|error| error.contains("is damaged")), "{document}");
}

#[test]
fn a_read_only_store_is_read() {
    use std::os::unix::fs::PermissionsExt;
    if testkit::is_root() {
        return testkit::skip!("root may write anything; the repetition without rights runs it");
    }
    let scratch = Scratch::new();
    let json = scratch.well(&SMALL);
    let may = |mode| fs::set_permissions(scratch.data.path(), fs::Permissions::from_mode(mode)).expect("rights");
    may(0o555);
    let shown = scratch.run(&["show", "last", "--json"]);
    let (listed, refused) = (scratch.run(&["list"]), scratch.run(&SMALL[..3]));
    may(0o755);
    assert_eq!((shown.status, shown.out), (Some(0), json), "{}", shown.err);
    assert_eq!(listed.status, Some(0), "{}", listed.err);
    assert_eq!(refused.status, Some(3), "{}", refused.err);
    assert!(
        refused.err.contains("cannot write the results database") && refused.err.contains("--no-store"),
        "{}",
        refused.err
    );
}

/// Another program locks the store for longer than any command waits.
#[test]
fn every_command_leaves_locked_stores_unchanged() {
    let scratch = Scratch::new();
    scratch.well(&SMALL);
    let whole = fs::read(scratch.store()).expect("the store");
    let file = fs::OpenOptions::new().read(true).write(true).open(scratch.store()).expect("the store");
    // Lock all bytes, also those with which SQLite signals its locks.
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).expect("the lock");
    let commands: [&[&str]; 6] = [
        &["list"],
        &["show", "last"],
        &["export", "last"],
        &["explain", "last"],
        &["resume"],
        &["run", "smoke", "sim:flat"],
    ];
    // The commands run at the same time, because each waits for the lock.
    std::thread::scope(|scope| {
        for command in commands {
            let scratch = &scratch;
            scope.spawn(move || scratch.refuses(command, 1, &["store.sqlite", "another process", "wait until"]));
        }
    });
    drop(file);
    assert!(fs::read(scratch.store()).expect("the store") == whole, "somebody changed it");
    assert_eq!(scratch.runs().len(), 1);
}

#[test]
fn nothing_is_stored_with_no_store_or_dry_run() {
    let scratch = Scratch::new();
    scratch.well(&["run", "smoke", "sim:flat", "--no-store"]);
    scratch.well(&["run", "smoke", "sim:flat", "--dry-run"]);
    let mut none = scratch.command(&SMALL);
    none.env(testkit::STORE, "none");
    let document: Value = serde_json::from_str(&ended(none).out).expect("a document");
    assert_eq!(document["run"]["store"], Value::Null);
    let mut homeless = scratch.command(&["run", "smoke", "sim:flat"]);
    homeless.env_remove(testkit::STORE).env_remove("HOME").env_remove("XDG_DATA_HOME").env_remove("SUDO_UID");
    let homeless = ended(homeless);
    assert_eq!(homeless.status, Some(0), "{}", homeless.err);
    assert!(homeless.err.contains("not stored: there is no home"), "{}", homeless.err);
    assert_eq!(names_in(scratch.data.path()), [""; 0]);
    scratch.refuses(&["run", "smoke", "sim:flat", "--store", "no/folder"], 2, &["there is no folder", "no"]);
}

#[test]
fn the_store_belongs_to_the_calling_user_under_sudo() {
    use std::os::unix::fs::MetadataExt;
    if !testkit::is_root() {
        return testkit::skip!("needs root");
    }
    let scratch = Scratch::new();
    let mut command = scratch.command(&["run", "smoke", "sim:flat"]);
    command.env_remove(testkit::STORE).env("XDG_DATA_HOME", scratch.data.path());
    command.env("SUDO_UID", "54321").env("SUDO_GID", "54322");
    let ended = ended(command);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for (name, mode) in [("diskperf", 0o700), ("diskperf/store.sqlite", 0o600)] {
        let file = scratch.data.path().join(name).metadata().expect(name);
        assert_eq!((file.uid(), file.gid(), file.mode() & 0o777), (54321, 54322, mode), "{name}");
    }
}

#[test]
fn two_concurrent_runs_are_both_stored() {
    let scratch = Scratch::new();
    let children: Vec<_> = (0..2)
        .map(|_| {
            let mut command = scratch.command(&["run", "smoke", "sim:flat", "--rounds", "5"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("diskperf starts")
        })
        .collect();
    for child in children {
        let ended = child.wait_with_output().expect("its end");
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let list = scratch.json(&["list", "--json"]);
    let states: Vec<&Value> = list.as_array().expect("runs").iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["finished", "finished"]);
}

#[test]
fn interrupted_runs_are_resumed() {
    let scratch = Scratch::new();
    // The third execution does not return.
    let beside = tempfile::tempdir().expect("a folder");
    let count = beside.path().join("count");
    let script = format!("echo >> {0}; [ $(wc -l < {0}) != 3 ] || exec sleep 1000", count.display());
    let mut command = scratch.command(&["run", ".", "--rounds", "4", "--json", "--", "sh", "-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("diskperf starts");
    let begun = || fs::read_to_string(&count).map_or(0, |lines| lines.lines().count());
    testkit::wait_until("the third execution has begun", || begun() == 3);
    assert_eq!(scratch.executions(), 2);
    let run = scratch.runs().remove(0);
    scratch.refuses(&["resume", &run], 3, &["is still measuring the run"]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the signal is sent");
    let output = child.wait_with_output().expect("its end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains(&format!("diskperf resume {run}")), "{said}");
    assert_eq!(scratch.cli.names(), [""; 0]);
    assert_eq!(scratch.json(&["list", "--json"])[0]["state"], "interrupted");
    let before: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(scratch.json(&["show", "last", "--json"]), before);

    let resumed = scratch.run(&["resume"]);
    assert_eq!(resumed.status, Some(0), "{}", resumed.err);
    let after: Value = serde_json::from_str(&resumed.out).expect("a document, as the command asked for it");
    assert_eq!(
        (after["run"]["interrupted"].clone(), after["run"]["command"].clone()),
        (false.into(), before["run"]["command"].clone())
    );
    assert!(after["run"]["elapsed_s"].as_f64() > before["run"]["elapsed_s"].as_f64());
    for cell in after["cells"].as_array().expect("cells") {
        let rounds: Vec<u64> =
            cell["rounds"].as_array().expect("rounds").iter().filter_map(|round| round["round"].as_u64()).collect();
        assert_eq!(rounds.len(), 4, "{cell}");
        assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
    }
    assert_eq!(scratch.json(&["show", &run, "--json"]), after);
    assert_eq!(scratch.runs(), [run]);
}

/// A simulation is stored when it is finished, and read like any other run.
#[test]
fn simulations_are_stored() {
    let scratch = Scratch::new();
    let simulate = ["simulate", "vax780-sc780", "--size", "64KiB", "--phases", "1", "--program", "read_8192"];
    let printed = scratch.well(&simulate);
    assert_eq!(scratch.runs().len(), 1);
    assert_eq!(scratch.well(&["show", "last"]), printed);
    assert!(scratch.well(&["explain", "last"]).contains("read_8192"));
    let listed = scratch.json(&["list", "--json"]);
    assert_eq!(listed[0]["state"], "finished", "{listed}");
    scratch.refuses(&["resume", "last"], 2, &["is finished"]);
    scratch.well(&[&simulate[..], &["--no-store"]].concat());
    assert_eq!(scratch.runs().len(), 1);
    // A result that cannot be stored is printed all the same.
    let ended = scratch.run(&[&simulate[..], &["--store", "/dev/null"]].concat());
    assert!(ended.status != Some(0) && ended.err.contains("error: "), "{}", ended.err);
    assert_eq!(ended.out, printed);
}

/// Starts `quick` and kills it when two executions are stored; `None` if it ended before.
fn killed_after_two_executions(budget: &str) -> Option<Scratch> {
    let scratch = Scratch::on_disk();
    let mut command = scratch.command(&["run", "quick", "--budget", budget]);
    let mut running =
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started"));
    while running.0.try_wait().expect("whether it ended").is_none() && scratch.executions() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    drop(running);
    (scratch.json(&["list", "--json"])[0]["state"] == "killed").then_some(scratch)
}

/// Trials decide the sizes of `quick`, and would decide otherwise the next time.
#[test]
fn resumed_runs_keep_sizes_decided_by_trials() {
    // A run may end before the test sees two executions. The next run has more time.
    let scratch = ["6s", "20s", "60s", "180s"].into_iter().find_map(killed_after_two_executions);
    let scratch = scratch.expect("a run that was killed before its end");
    let before = scratch.json(&["show", "last", "--json"]);
    let resumed = scratch.run(&["resume"]);
    assert_eq!(resumed.status, Some(0), "{}", resumed.err);
    let after = scratch.json(&["show", "last", "--json"]);
    let keys = |document: &Value| -> Vec<String> {
        let cells = document["cells"].as_array().expect("cells").iter();
        cells.map(|cell| format!("{} {} {}", cell["program"], cell["phase"], cell["parameters"])).collect()
    };
    assert_eq!(keys(&after), keys(&before));
    // Later rounds may show that the first ones were of another level, and discard them.
    let rounds = |cell: &Value| {
        let mut rounds = cell["rounds"].as_array().expect("rounds").clone();
        rounds.iter_mut().for_each(|round| round["discarded"] = Value::Null);
        rounds
    };
    for (before, after) in
        before["cells"].as_array().into_iter().flatten().zip(after["cells"].as_array().into_iter().flatten())
    {
        let (before, after) = (rounds(before), rounds(after));
        assert!(before.iter().all(|round| after.contains(round)), "{before:?} {after:?}");
    }
    assert_eq!(scratch.cli.names(), [""; 0]);
}

#[test]
fn runs_whose_target_has_moved_are_not_resumed() {
    let scratch = Scratch::new();
    let inner = scratch.cli.path().join("inner");
    fs::create_dir(&inner).expect("a folder");
    let mut command = scratch.command(&["run", "smoke", "--rounds", "100000"]);
    let mut child =
        command.current_dir(&inner).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("diskperf starts");
    testkit::wait_until("the run is stored", || scratch.store().exists() && !scratch.runs().is_empty());
    child.kill().expect("it is killed");
    child.wait().expect("its end");
    assert_eq!(scratch.json(&["list", "--json"])[0]["state"], "killed");
    let moved = scratch.cli.path().join("moved");
    fs::rename(&inner, &moved).expect("the folder is moved");
    scratch.refuses(&["resume"], 2, &["there is no", "inner"]);
}

/// Runs a command with its store on a file system of this many KiB.
fn in_little_room(scratch: &Scratch, kibibytes: u32, arguments: &str) -> ProgramOutput {
    let data = scratch.data.path().display();
    let script = format!(
        "mount -t tmpfs -o size={kibibytes}k none {data} && exec \"$0\" {arguments} --store {data}/store.sqlite"
    );
    let mut command = testkit::command(Path::new("unshare"));
    let program = program();
    command.args(["--mount", "sh", "-c", &script]).arg(program).current_dir(scratch.cli.path());
    ended(command)
}

#[test]
fn a_full_disk_fails_the_store_but_not_the_results() {
    if !testkit::is_root() {
        return testkit::skip!("needs root");
    }
    let scratch = Scratch::new();
    // Enough room for an empty store and its first transaction, not for a run of forty rounds.
    let ended = in_little_room(&scratch, 320, "run smoke sim:flat --rounds 40 --json");
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("not stored: no space"), "{}", ended.err);
    assert!(ended.err.contains("error: no space") && ended.err.contains("hint: free some space"), "{}", ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    assert!(document["cells"].as_array().expect("cells").iter().all(|cell| cell["measured"] == true), "{document}");
    assert!(document["errors"][0]["message"].as_str().is_some_and(|error| error.contains("no space")), "{document}");
    let ended = in_little_room(&scratch, 16, "run smoke sim:flat");
    assert_eq!((ended.status, ended.out.as_str()), (Some(1), ""), "{}", ended.err);
    assert!(ended.err.contains("error: no space"), "{}", ended.err);
}
