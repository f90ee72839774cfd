//! Abuse of this program: borrowed rights, a store that others read, names that a terminal or a spreadsheet obeys,
//! endless files, programs in place of ours.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kernel::may_administer;
use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use serde_json::Value;
use testkit::loop_disk::LoopDisk;
use testkit::{ProgramOutput, is_root, skip};

use crate::common::document::document;
use crate::common::{Cli, program};

/// Runs the program under a time limit: 124 is the status if the time is over.
fn in_time(folder: &Path, arguments: &[&str]) -> ProgramOutput {
    let program = program();
    let words = [&["300", program.to_str().expect("a plain path")], arguments].concat();
    let ended = testkit::run(Path::new("timeout"), folder, &words);
    assert_ne!(ended.status, Some(124), "{arguments:?} reads for ever");
    ended
}

/// A user who is not root, and does not exist otherwise.
const USER: u32 = 54321;

/// Runs a program as that user, with all rights that its file gives.
fn as_user(program: &Path, folder: &Path, arguments: &[&str]) -> ProgramOutput {
    let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "--"];
    let words = [&user[..], &[program.to_str().expect("a plain path")], arguments].concat();
    testkit::run(Path::new("setpriv"), folder, &words)
}

fn rights(path: &Path) -> u32 {
    path.metadata().expect("it is there").mode() & 0o7777
}

fn set_rights(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("rights");
}

#[test]
fn setuid_rights_are_refused_first() {
    if !is_root() || !testkit::has_tool("setpriv") {
        return skip!("needs root and setpriv");
    }
    let folder = Cli::new();
    set_rights(folder.path(), 0o777);
    let copy = folder.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    let refuses = |ended: &ProgramOutput, how: &str| {
        assert_eq!(ended.status, Some(3), "{how}: {}", ended.err);
        assert!(ended.err.starts_with("error: diskperf must not be setuid"), "{how}");
        assert!(ended.err.contains("hint: remove them"), "{how}: {}", ended.err);
        assert_eq!(folder.names(), ["diskperf"], "{how}");
    };
    let calls = [&["write_8192", "file"][..], &["run", "smoke", "."], &["--version"]];
    for (mode, how) in [(0o4755, "setuid"), (0o2755, "setgid")] {
        chown(&copy, Some(0), Some(0)).expect("given to root");
        set_rights(&copy, mode);
        calls.iter().for_each(|call| refuses(&as_user(&copy, folder.path(), call), how));
    }
    // The program also refuses if root starts it, and its file gives it fewer rights than root has.
    chown(&copy, Some(USER), None).expect("given away");
    set_rights(&copy, 0o4755);
    calls.iter().for_each(|call| refuses(&testkit::run(&copy, folder.path(), call), "setuid of another"));
    // CAP_SYS_ADMIN, permitted and in effect: `struct vfs_cap_data` of linux/capability.h, version 2.
    set_rights(&copy, 0o755);
    let words: [u32; 5] = [0x0200_0001, 1 << 21, 0, 0, 0];
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    rustix::fs::setxattr(&copy, "security.capability", &bytes, XattrFlags::empty()).expect("a capability");
    calls.iter().for_each(|call| refuses(&as_user(&copy, folder.path(), call), "a capability"));
    // Without any, it is like any other program.
    rustix::fs::removexattr(&copy, "security.capability").expect("no capability");
    assert_eq!(as_user(&copy, folder.path(), &["--version"]).status, Some(0));
}

/// A data folder with an existing store, with the rights of a copy.
fn data_with_store() -> (Cli, PathBuf, PathBuf) {
    let data = Cli::new();
    let folder = data.path().join("diskperf");
    let store = folder.join("store.sqlite");
    let measure = |home: &Cli| stored(home, &[]);
    assert_eq!(measure(&data).status, Some(0));
    assert_eq!((rights(&folder), rights(&store)), (0o700, 0o600));
    set_rights(&folder, 0o755);
    set_rights(&store, 0o664);
    (data, folder, store)
}

/// Stores a short run in the usual place in that folder.
fn stored(data: &Cli, environment: &[(&str, &str)]) -> ProgramOutput {
    let mut command = testkit::command(&program());
    command.args(["run", "smoke", "sim:flat", "--rounds", "1"]).current_dir(data.path());
    command.env_remove(testkit::STORE).env_remove("SUDO_UID").env_remove("SUDO_GID");
    command.env("XDG_DATA_HOME", data.path()).envs(environment.iter().copied());
    let output = command.output().expect("the program can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ProgramOutput { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[test]
fn a_default_store_readable_by_others_is_made_private() {
    let (data, folder, store) = data_with_store();
    let ended = stored(&data, &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!((rights(&folder), rights(&store)), (0o700, 0o600));

    // A store that the user names stays where the user wants it, among others who may read it.
    let named = data.path().join("shared.sqlite");
    fs::copy(&store, &named).expect("a copy");
    set_rights(&named, 0o664);
    let ended = data.run(&["run", "smoke", "sim:flat", "--rounds", "1", "--store", "shared.sqlite"]);
    assert_eq!((ended.status, rights(&named)), (Some(0), 0o664), "{}", ended.err);
    let made = data.run(&["run", "smoke", "sim:flat", "--rounds", "1", "--store", "made.sqlite"]);
    assert_eq!((made.status, rights(&data.path().join("made.sqlite"))), (Some(0), 0o600), "{}", made.err);
}

#[test]
fn only_files_of_the_caller_are_changed_under_sudo() {
    if !is_root() {
        return skip!("needs root");
    }
    let (data, folder, store) = data_with_store();
    let sudo = [("SUDO_UID", "54321"), ("SUDO_GID", "54321")];
    // It belongs to root. A user who chooses the files there cannot make root change its rights.
    assert_eq!(stored(&data, &sudo).status, Some(0));
    assert_eq!((rights(&folder), rights(&store)), (0o755, 0o664));
    [&folder, &store].into_iter().for_each(|path| chown(path, Some(USER), Some(USER)).expect("given away"));
    assert_eq!(stored(&data, &sudo).status, Some(0));
    assert_eq!((rights(&folder), rights(&store)), (0o700, 0o600));
    // A link in place of the folder is not followed when the folder is created.
    let elsewhere = Cli::new();
    let linked = Cli::new();
    std::os::unix::fs::symlink(elsewhere.path().join("nowhere"), linked.path().join("diskperf")).expect("a link");
    let ended = stored(&linked, &sudo);
    assert!(ended.err.contains("error: cannot create "), "{}", ended.err);
    assert_eq!(elsewhere.names(), Vec::<String>::new());
}

/// Asserts that the output has no control characters, and no line that a name began.
fn is_plain(ended: &ProgramOutput, what: &str) {
    let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!ended.out.contains(obeyed), "{what}: {:?}", ended.out);
    assert!(!ended.err.contains(obeyed), "{what}: {:?}", ended.err);
    for text in [&ended.out, &ended.err] {
        assert!(!text.lines().any(|line| line.starts_with("forged")), "{what}: {text}");
    }
}

/// A hostile name: it clears the screen, begins a line, and reverses the words.
const NAME: &str = "a\u{1b}[2J\u{9b}31m\nforged\r\u{7f}\u{202e}<b>|=1";

/// The part that Markdown interprets: all text outside of fences.
fn outside(markdown: &str) -> String {
    markdown.split("```").step_by(2).collect()
}

#[test]
fn control_characters_in_names_are_not_printed() {
    let folder = Cli::new();
    let target = folder.path().join(NAME);
    fs::create_dir(&target).expect("a folder");
    let target = target.to_str().expect("a plain path");
    let store = ["--store", "store.sqlite"];
    let with_store = |arguments: &[&str]| folder.run(&[arguments, &store].concat());
    // A run, its store, and all output formats.
    let ended = with_store(&["run", "smoke", target, "--rounds", "1"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    is_plain(&ended, "run");
    for layout in ["table", "json"] {
        is_plain(&with_store(&["show", "last", "--format", layout]), "show");
        is_plain(&with_store(&["list", "--format", layout]), "list");
    }
    for layout in ["table", "json", "markdown", "csv"] {
        let ended = with_store(&["explain", "last", "--format", layout]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        is_plain(&ended, layout);
    }
    for layout in ["json", "markdown", "csv"] {
        let ended = with_store(&["export", "last", "--format", layout]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        is_plain(&ended, layout);
        assert!(layout != "markdown" || !outside(&ended.out).contains("<b>"), "{}", ended.out);
    }
    for layout in ["html", "markdown"] {
        let ended = with_store(&["report", "last", "--format", layout]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        is_plain(&ended, layout);
        assert!(!outside(&ended.out).contains("<b>|=1"), "{}", ended.out);
    }
    // JSON has the whole name.
    let whole = document(&with_store(&["show", "last", "--json"]));
    assert_eq!(whole["run"]["targets"][0]["name"], Value::from(target));
    // It still finds its cells.
    assert_eq!(with_store(&["explain", "last", target]).status, Some(0));
    // Errors, and a plan.
    let missing = format!("{target}/missing");
    for (arguments, status) in [
        (&["run", "smoke", &missing][..], 2),
        (&["run", "smoke", target, "--dry-run"], 0),
        (&["run", NAME], 2),
        (&["run", "smoke", ".", NAME, "--size", NAME], 2),
        (&[&*format!("{NAME}/missing")], 2),
        (&["run", "smoke", &format!("sim:{NAME}")], 2),
        (&["run", "smoke", &format!("image:{NAME}")], 2),
        (&["run", "smoke", &format!("image:ext4,mkfs={NAME}")], 2),
        (&["run", "smoke", &format!("sim:vax780-uda50,{NAME}")], 2),
        (&["show", NAME], 2),
        (&["explain", "last", NAME], 2),
        (&["help", NAME], 2),
        (&["resume", NAME], 2),
        (&["doctor", target], 0),
        (&["read_8192", &missing], 2),
        (&["bw", &missing], 2),
    ] {
        let takes_store = ["show", "explain", "resume"].contains(&arguments[0]);
        let ended = if takes_store { with_store(arguments) } else { folder.run(arguments) };
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}", ended.err);
        is_plain(&ended, &format!("{arguments:?}"));
    }
}

#[test]
fn control_characters_in_input_files_are_not_printed() {
    let folder = Cli::new();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("odd.toml", "about = \"odd\"\n\"\\u001b[2Jforged\" = 2\n");
    write("odd.json", "{\"schema\": \"diskperf/\\u001b[2J\\nforged\"}");
    write("odd2.json", "{\"schema\": \"diskperf/1\", \"run\": {\"version\": \"\\u001b[2J\\nforged\"}}");
    for arguments in [&["simulate", "./odd.toml"][..], &["show", "odd.json"], &["explain", "odd2.json"]] {
        let ended = folder.run(arguments);
        assert_eq!(ended.status, Some(2), "{}", ended.err);
        is_plain(&ended, &format!("{arguments:?}"));
        assert!(ended.err.contains("\\u{1b}[2J"), "{}", ended.err);
    }
    // A long word is not repeated at full length.
    write("long.json", &format!("{{\"schema\": \"diskperf/{}\"}}", "x".repeat(1 << 20)));
    let ended = folder.run(&["show", "long.json"]);
    assert!(ended.status == Some(2) && ended.err.len() < 10_000, "{} bytes", ended.err.len());
    // The document of a run, with every word changed.
    let text = include_str!("../../../../docs/quick.json");
    let mut document: Value = serde_json::from_str(text).expect("a document");
    for key in ["host", "kernel"] {
        document["run"][key] = Value::from(NAME);
    }
    for cell in document["cells"].as_array_mut().expect("cells") {
        cell["target"] = Value::from(NAME);
        cell["program"] = Value::from(NAME);
        cell["reason"] = Value::from(NAME);
    }
    write("quick.json", &document.to_string());
    for layout in ["table", "markdown", "csv"] {
        is_plain(&folder.run(&["explain", "quick.json", "--format", layout]), layout);
    }
    is_plain(&folder.run(&["show", "quick.json"]), "show");
}

#[test]
fn control_characters_in_labels_and_tool_output_are_not_printed() {
    if !may_administer() || !Path::new("/dev/loop-control").exists() || !testkit::has_tool("mkfs.ext4") {
        return skip!("needs root, loop devices and mkfs.ext4");
    }
    let folder = Cli::new();
    let path = folder.path().join("disk");
    File::create(&path).and_then(|file| file.set_len(16 << 20)).expect("a file");
    let disk = LoopDisk::attach(&path).expect("a loop device");
    let node = disk.node().to_str().expect("a plain path");
    let mkfs = testkit::tool("mkfs.ext4").expect("it is installed");
    let label = "a\u{1b}[2J\u{202e}\n";
    assert_eq!(testkit::run(&mkfs, folder.path(), &["-q", "-F", "-L", label, node]).status, Some(0));
    let target = format!("new:ext4@{node}");
    let ended = folder.run(&["run", "smoke", &target]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("it holds ext4"), "{}", ended.err);
    is_plain(&ended, "a label");
    let target = format!("image:ext4,size=16MiB,mkfs=-O {}", NAME.replace([',', ' '], ""));
    let ended = folder.run(&["run", "smoke", &target]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    is_plain(&ended, "mkfs");
}

#[test]
fn tools_and_settings_from_the_environment_are_ignored() {
    if !may_administer() || !Path::new("/dev/loop-control").exists() || !testkit::has_tool("mkfs.ext4") {
        return skip!("needs root, loop devices and mkfs.ext4");
    }
    let folder = Cli::new();
    let trap = folder.path().join("mkfs.ext4");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}/sprung\n", folder.path().display())).expect("a trap");
    set_rights(&trap, 0o755);
    // mke2fs would read this: blocks of 1024 bytes.
    let file = folder.path().join("mke2fs.conf");
    fs::write(&file, "[defaults]\nblocksize = 1024\ninode_size = 128\n[fs_types]\next4 = {\n}\n").expect("a trap");
    let mut command = testkit::command(&program());
    command.args(["run", "smoke", "image:ext4,size=16MiB", "--rounds", "1", "--json"]).current_dir(folder.path());
    command.env("PATH", folder.path()).env("MKE2FS_CONFIG", &file).env("LANG", "de_DE.UTF-8");
    let output = command.output().expect("the program can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.names(), ["mke2fs.conf", "mkfs.ext4"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document["run"]["targets"][0]["image"]["block_bytes"], 4096);
}

#[test]
fn endless_and_huge_files_are_not_read() {
    let folder = Cli::new();
    let pipe = folder.path().join("pipe.toml");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let large = folder.path().join("large.toml");
    File::create(&large).and_then(|file| file.set_len(1 << 40)).expect("a file with nothing in it");
    for (machine, why) in [
        ("./pipe.toml", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
        ("./large.toml", "larger than"),
    ] {
        for arguments in [
            &["simulate", machine][..],
            &["run", "smoke", &format!("sim:{machine}")],
            &["simulate", "vax780-uda50", "--set", &format!("drive={machine}")],
        ] {
            let ended = in_time(folder.path(), arguments);
            assert_eq!(ended.status, Some(2), "{arguments:?}: {}", ended.err);
            assert!(ended.err.contains(why) && ended.err.contains("hint: "), "{arguments:?}: {}", ended.err);
        }
    }
    for (file, why) in [("/dev/zero", "is not a regular file"), ("large.toml", "is larger than")] {
        for command in ["show", "explain"] {
            let path = folder.path().join(file);
            let ended = in_time(folder.path(), &[command, path.to_str().expect("a plain path")]);
            assert_eq!(ended.status, Some(2), "{command} {file}: {}", ended.err);
            assert!(ended.err.contains(why) && ended.err.contains("hint: "), "{command} {file}: {}", ended.err);
        }
    }
    for store in ["pipe.toml", "/dev/zero", "large.toml"] {
        for arguments in [&["list"][..], &["run", "smoke", "sim:flat"]] {
            let ended = in_time(folder.path(), &[arguments, &["--store", store]].concat());
            assert!(matches!(ended.status, Some(1..=3)), "{store}: {:?} {}", ended.status, ended.err);
            assert!(ended.err.contains("is not a results database of diskperf"), "{store}: {}", ended.err);
        }
    }
    // A pipe with a writer is read: a shell has one for the output of another command.
    let mut child = testkit::command(&program())
        .args(["show", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let text = include_str!("../../../../docs/quick.json");
    child.stdin.take().expect("its pipe").write_all(text.as_bytes()).expect("written");
    assert!(child.wait_with_output().expect("its end").status.success());
}

#[test]
fn recovery_notes_must_be_regular_files() {
    let folder = Cli::new();
    let notes = folder.path().join("diskperf");
    fs::create_dir(&notes).expect("a folder");
    set_rights(folder.path(), 0o755);
    rustix::fs::mknodat(CWD, notes.join("tuned-pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    File::create(notes.join("tuned-large")).and_then(|file| file.set_len(1 << 40)).expect("a file");
    let place = folder.path().join("place");
    fs::create_dir(&place).expect("a folder");
    let runtime = format!("XDG_RUNTIME_DIR={}", folder.path().display());
    let copy = folder.path().join("program");
    testkit::copy_of_program(&program(), &copy);
    let run = [copy.to_str().expect("a plain path"), "run", "smoke", ".", "--rounds", "1"];
    let words = [&[&*runtime, "timeout", "300"], &run[..]].concat();
    // Root's notes are in a folder of the machine, so this uses another user's.
    let ended = if is_root() {
        if !testkit::has_tool("setpriv") {
            return skip!("setpriv is not installed");
        }
        for path in [&notes, &place] {
            chown(path, Some(USER), Some(USER)).expect("given away");
        }
        set_rights(&notes, 0o700);
        as_user(Path::new("/usr/bin/env"), &place, &words)
    } else {
        set_rights(&notes, 0o700);
        testkit::run(Path::new("/usr/bin/env"), &place, &words)
    };
    assert_eq!(ended.status, Some(0), "{}", ended.err);
}
