//! Runs that are not resumed: the leftovers of their process are removed, and the commands in hints can be typed as
//! printed.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use store::Left;
use testkit::{ProgramOutput, names_in};

use crate::common::document::document;
use crate::common::stored::killed;
use crate::common::{Cli, ended};

/// A store, and a folder whose name a shell would split.
struct Scratch {
    cli: Cli,
}

impl Scratch {
    fn new() -> Scratch {
        let cli = Cli::new();
        fs::create_dir(cli.path().join("it's here")).expect("a folder");
        Scratch { cli }
    }

    fn here(&self) -> PathBuf {
        self.cli.path().join("it's here")
    }

    fn store(&self) -> PathBuf {
        self.cli.path().join("my runs.sqlite")
    }

    fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let store = self.store();
        let store = ["--store", store.to_str().expect("a path in UTF-8")];
        Cli::in_folder(self.here()).run(&[arguments, &store].concat())
    }

    /// A run in the state of a killed one, with changes to its stored description; and its private folder.
    fn killed(&self, change: impl Fn(&mut Left)) -> String {
        assert_eq!(self.run(&["run", "smoke", "sim:flat", "--rounds", "1"]).status, Some(0));
        let run = killed(&self.store(), |left| {
            for target in &mut left.info.targets {
                target.argument = "here=.".to_owned();
            }
            left.command = ["diskperf", "run", "smoke", "here=.", "--size", "8 KiB"].map(OsString::from).to_vec();
            change(left);
        });
        // The state before its tag is written: a folder with files and without a tag stays.
        fs::create_dir_all(self.here().join(format!(".diskperf-{run}-abcdef"))).expect("a private folder");
        run
    }
}

#[test]
fn leftovers_are_removed_if_resuming_is_refused() {
    type Change = fn(&mut Left);
    let changes: [(Change, &str); 5] = [
        (|left| left.info.version = "0.0.9".to_owned(), "by diskperf 0.0.9"),
        (|left| left.info.kernel = "Linux 1.2.13".to_owned(), "on Linux 1.2.13"),
        (|left| left.info.cpus += 1, "CPUs, and there are"),
        (|left| left.request = None, "whose runs cannot be resumed"),
        (|left| left.request = Some("{\"workload\": {\"preset\": \"none\"}}".to_owned()), "by another build"),
    ];
    for (change, word) in changes {
        let scratch = Scratch::new();
        let run = scratch.killed(change);
        let refused = scratch.run(&["resume", &run]);
        assert_eq!((refused.status, refused.out.as_str()), (Some(3), ""), "{}", refused.err);
        assert!(refused.err.contains(word) && refused.err.contains("hint: start it again: "), "{}", refused.err);
        assert_eq!(names_in(&scratch.here()), [""; 0], "{word}");
        let list: Value = serde_json::from_str(&scratch.run(&["list", "--json"]).out).expect("JSON");
        assert_eq!(list[1]["state"], "killed", "it is as it was: {list}");
    }
}

/// The words of the command may have another meaning by now, or none.
#[test]
fn a_run_is_resumed_from_its_request_not_its_words() {
    let cli = Cli::new();
    let typed = "run smoke sim:flat --only read_8192 --only write_8192 --rounds 3 --seed 7 --json --store runs.sqlite";
    let ran = document(&cli.typed(typed));
    killed(&cli.path().join("runs.sqlite"), |left| {
        left.command = ["diskperf", "run", "--renamed"].map(OsString::from).to_vec();
    });
    let resumed = document(&cli.typed("resume --store runs.sqlite"));
    assert_eq!(resumed["run"]["command"][2], "--renamed");
    for key in ["seed", "rounds", "preset"] {
        assert_eq!(resumed["run"][key], ran["run"][key], "{key}");
    }
    let effects = |document: &Value| -> Vec<Value> {
        document["cells"].as_array().expect("cells").iter().map(|cell| cell["effect"].clone()).collect()
    };
    assert_eq!(effects(&resumed), effects(&ran));
    assert!(!effects(&ran).contains(&Value::Null));
}

/// Results of two programs do not belong to one run.
#[test]
fn a_command_that_is_now_another_program_is_refused() {
    let cli = Cli::new();
    for folder in ["first", "second"] {
        let path = cli.path().join(folder);
        fs::create_dir(&path).expect("a folder");
        fs::write(path.join("mine"), "#!/bin/sh\n").expect("a script");
        fs::set_permissions(path.join("mine"), Permissions::from_mode(0o755)).expect("it can be executed");
    }
    let run = |line: &str, folder: &str| {
        let mut command = cli.command(&line.split(' ').collect::<Vec<_>>());
        let rest = std::env::var("PATH").expect("folders");
        command.env("PATH", format!("{}:{rest}", cli.path().join(folder).display()));
        ended(command)
    };
    assert_eq!(run("run . --rounds 1 --store runs.sqlite -- mine", "first").status, Some(0));
    killed(&cli.path().join("runs.sqlite"), |_| {});
    let refused = run("resume --store runs.sqlite", "second");
    assert_eq!((refused.status, refused.out.as_str()), (Some(3), ""), "{}", refused.err);
    assert!(refused.err.contains("first/mine, and diskperf now finds "), "{}", refused.err);
    assert_eq!(run("resume --store runs.sqlite", "first").status, Some(0));
}

/// A copy of a private folder has its name, but no matching tag.
#[test]
fn a_folder_with_files_but_no_tag_stays() {
    let scratch = Scratch::new();
    let run = scratch.killed(|left| left.info.version = "0.0.9".to_owned());
    let name = format!(".diskperf-{run}-abcdef");
    fs::create_dir(scratch.here().join(&name).join("d0")).expect("a folder");
    let refused = scratch.run(&["resume", &run]);
    assert_eq!(refused.status, Some(3), "{}", refused.err);
    assert_eq!(names_in(&scratch.here()), [&*name]);
    assert!(refused.err.contains(&format!("{name} stays: no tag proves that {run} made it")), "{}", refused.err);
}

/// A process on another machine may still use the leftovers: both machines may share a network file system.
#[test]
fn leftovers_of_other_machines_stay() {
    let scratch = Scratch::new();
    let run = scratch.killed(|left| left.info.host = "elsewhere".to_owned());
    let refused = scratch.run(&["resume"]);
    assert_eq!(refused.status, Some(3), "{}", refused.err);
    assert_eq!(names_in(&scratch.here()), [format!(".diskperf-{run}-abcdef")]);
}

#[test]
fn hints_are_valid_shell_commands() {
    let scratch = Scratch::new();
    let run = scratch.killed(|left| left.info.version = "0.0.9".to_owned());
    let hint = |arguments: &[&str]| {
        let err = scratch.run(arguments).err;
        err.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_else(|| panic!("{err}")).to_owned()
    };
    // A shell reads the intended words.
    let words = |text: &str| {
        let script = format!("printf '%s\\n' {text}");
        testkit::run(Path::new("sh"), Path::new("/"), &["-c", &script])
            .out
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let again = hint(&["resume", &run]);
    let (change, command) =
        again.strip_prefix("start it again: ").and_then(|hint| hint.split_once(" && ")).expect("two commands");
    assert_eq!(words(change), ["cd", scratch.here().to_str().expect("a path in UTF-8")]);
    assert_eq!(words(command), ["diskperf", "run", "smoke", "here=.", "--size", "8 KiB"]);

    let store = scratch.store();
    let on_store = ["--store", store.to_str().expect("a path in UTF-8")];
    let finished: Value = serde_json::from_str(&scratch.run(&["list", "--json"]).out).expect("JSON");
    let finished = finished[0]["run"].as_str().expect("an id").to_owned();
    let shown = hint(&["resume", &finished]);
    let command = shown.strip_suffix(" prints it").expect("a command");
    assert_eq!(words(command), ["diskperf", "show", finished.as_str(), on_store[0], on_store[1]]);
    let listed = hint(&["show", "nothing-like-it"]);
    let command = listed.strip_suffix(" shows the runs").expect("a command");
    assert_eq!(words(command), ["diskperf", "list", on_store[0], on_store[1]]);

    fs::write(scratch.here().join("a b"), "short").expect("a file");
    let ended = Cli::in_folder(scratch.here()).run(&["read_8192", "a b"]);
    assert!(ended.err.contains("hint: write it first: diskperf write_8192 'a b'\n"), "{}", ended.err);
}
