//! Names that are not UTF-8: they work as paths, are escaped in text, and are `{"bytes": "<hex>"}` in JSON.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::ProgramOutput;
use testkit::loop_disk::Disk;

use crate::common::document::document;
use crate::common::program;

/// A name that is not UTF-8: Latin-1.
const ODD: &[u8] = b"gr\xf6\xdfe";

/// The printed form.
const ESCAPED: &str = r"gr\xF6\xDFe";

fn odd() -> &'static OsStr {
    OsStr::from_bytes(ODD)
}

/// The form in JSON.
fn bytes(name: impl AsRef<OsStr>) -> Value {
    let hex: String = name.as_ref().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "bytes": hex })
}

fn joined(parts: &[&[u8]]) -> OsString {
    OsString::from_vec(parts.concat())
}

/// A folder of that name in a scratch folder.
fn scratch() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let odd = folder.path().join(odd());
    fs::create_dir(&odd).expect("any file system allows it");
    (folder, odd)
}

/// Runs diskperf in a folder, with these variables.
fn run_with<W: AsRef<OsStr>>(folder: &Path, variables: &[(&str, &OsStr)], words: &[W]) -> ProgramOutput {
    let mut command = testkit::command(&program());
    command.args(words).envs(variables.iter().copied()).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("the program can be started");
    ProgramOutput {
        status: output.status.code(),
        out: String::from_utf8(output.stdout).expect("text in UTF-8"),
        err: String::from_utf8(output.stderr).expect("text in UTF-8"),
    }
}

fn diskperf<W: AsRef<OsStr>>(folder: &Path, words: &[W]) -> ProgramOutput {
    run_with(folder, &[], words)
}

/// Runs diskperf, which must succeed.
fn run_well<W: AsRef<OsStr>>(folder: &Path, words: &[W]) -> ProgramOutput {
    let ended = diskperf(folder, words);
    let words: Vec<_> = words.iter().map(AsRef::as_ref).collect();
    assert_eq!(ended.status, Some(0), "{words:?}: {}{}", ended.out, ended.err);
    assert!(!ended.out.contains(char::REPLACEMENT_CHARACTER), "{words:?}: {}", ended.out);
    ended
}

fn names_in(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let mut names: Vec<OsString> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort_unstable();
    names
}

#[test]
fn directories_with_odd_names_are_measured_and_their_bytes_kept() {
    let (folder, path) = scratch();
    let run = ["run", "smoke"].map(OsString::from).into_iter().chain([path.clone().into()]);
    let words: Vec<OsString> = run.chain(["--rounds", "1"].map(OsString::from)).collect();
    let table = run_well(folder.path(), &words);
    assert!(table.out.contains(ESCAPED), "{}", table.out);
    let words = [&words[..], &["--json".into()]].concat();
    let found = document(&run_well(folder.path(), &words));
    assert_eq!(found["run"]["targets"][0]["name"], bytes(&path));
    assert_eq!(found["run"]["targets"][0]["argument"], bytes(&path));
    assert_eq!(found["run"]["command"][3], bytes(&path));
    assert_eq!(found["run"]["command"][1], "run");
    assert_eq!(found["cells"][0]["target"], bytes(&path));
    assert!(names_in(&path).is_empty(), "its private folder is gone");
    // A name that looks escaped is another name.
    let looks = folder.path().join(ESCAPED);
    fs::create_dir(&looks).expect("a folder");
    let words = [OsStr::new("run"), "smoke".as_ref(), looks.as_ref(), path.as_ref(), "--rounds=1".as_ref()];
    let both = run_well(folder.path(), &words);
    assert!(both.out.contains(r"gr\x5CxF6\x5CxDFe") && both.out.contains(ESCAPED), "{}", both.out);
    let words = [&words[..], &["--json".as_ref()]].concat();
    let found = document(&run_well(folder.path(), &words));
    assert_eq!(found["run"]["targets"][0]["name"], looks.to_str().expect("text"));
}

#[test]
fn targets_files_and_the_current_directory_may_have_odd_names() {
    let (folder, path) = scratch();
    let here = document(&run_well(&path, &["run", "smoke", ".", "--rounds", "1", "--json"]));
    assert_eq!(here["run"]["targets"][0]["name"], ".");
    let file = path.join(odd());
    fs::write(&file, vec![7; 8 << 20]).expect("a file");
    let target = joined(&[b"file:", file.as_os_str().as_bytes()]);
    let ended = run_well(folder.path(), &["run".as_ref(), "smoke".as_ref(), &*target, "--json".as_ref()]);
    assert_eq!(document(&ended)["run"]["targets"][0]["name"], bytes(&target));
    // A target name before = has only letters, digits, - and _. This word has other bytes, so all of it is a path.
    let folder_with_sign = folder.path().join(joined(&[ODD, b"=x"]));
    fs::create_dir(&folder_with_sign).expect("a folder");
    let word = joined(&[ODD, b"=x"]);
    let ended =
        run_well(folder.path(), &["run".as_ref(), "smoke".as_ref(), &*word, "--rounds=1".as_ref(), "--json".as_ref()]);
    assert_eq!(document(&ended)["run"]["targets"][0]["name"], bytes(&word));
    let named = joined(&[b"a=", path.as_os_str().as_bytes()]);
    let ended =
        run_well(folder.path(), &["run".as_ref(), "smoke".as_ref(), &*named, "--rounds=1".as_ref(), "--json".as_ref()]);
    let found = document(&ended);
    assert_eq!((&found["run"]["targets"][0]["name"], &found["cells"][0]["target"]), (&json!("a"), &json!("a")));
    assert_eq!(found["run"]["targets"][0]["argument"], bytes(&named));
}

#[test]
fn input_and_output_files_may_have_odd_names() {
    let (folder, path) = scratch();
    let file = |name: &[u8]| path.join(joined(&[ODD, name]));
    let run = |end: &[&OsStr]| {
        let words: Vec<&OsStr> = ["run", "smoke", "sim:flat", "--rounds", "3"].map(OsStr::new).into_iter().collect();
        run_well(folder.path(), &[&words[..], end].concat())
    };
    let saved = file(b".json");
    run(&["--json".as_ref(), "-o".as_ref(), saved.as_ref()]);
    let text = fs::read_to_string(&saved).expect("the document");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["run"]["command"].as_array().and_then(|words| words.last()), Some(&bytes(&saved)));
    let explained = run_well(folder.path(), &[OsStr::new("explain"), saved.as_ref()]);
    assert!(explained.out.contains("write_8192"), "{}", explained.out);
    let shown = document(&run_well(folder.path(), &[OsStr::new("show"), saved.as_ref(), "--json".as_ref()]));
    assert_eq!(shown["run"]["command"], found["run"]["command"]);
    let compared = run_well(folder.path(), &[OsStr::new("compare"), saved.as_ref(), saved.as_ref(), "--json".as_ref()]);
    assert_eq!(document(&compared)["then"]["name"], bytes(&saved));
    let page = file(b".html");
    run_well(folder.path(), &[OsStr::new("report"), saved.as_ref(), "-o".as_ref(), page.as_ref()]);
    let page = fs::read_to_string(&page).expect("a page in UTF-8");
    assert!(page.contains(r"gr\xF6\xDFe.json"), "the command is escaped");
    let job = file(b".toml");
    let target = bytes(&path)["bytes"].as_str().expect("digits").to_owned();
    let load = "rounds = 1\n[[load]]\npattern = 'read'\nsize = '128KiB'\ntime = '20ms'\n";
    fs::write(&job, format!("targets = [{{ bytes = '{target}' }}]\n{load}")).expect("a job");
    let ended = run_well(folder.path(), &[OsStr::new("run"), job.as_ref(), "--json".as_ref()]);
    assert_eq!(document(&ended)["run"]["targets"][0]["name"], bytes(&path));
    fs::write(&job, format!("targets = [{{ bytes = 'f' }}]\n{load}")).expect("a job");
    let refused = diskperf(folder.path(), &[OsStr::new("run"), job.as_ref()]);
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains(r"gr\xF6\xDFe.toml:1:") && refused.err.contains("hexadecimal"), "{}", refused.err);
    for words in [
        vec![OsStr::new("write_8192"), path.as_ref()],
        vec!["explain".as_ref(), file(b"none").as_ref()],
        vec!["run".as_ref(), "smoke".as_ref(), file(b"none").as_ref()],
        vec!["bw".as_ref(), "-b".as_ref(), file(b"none").as_ref()],
    ] {
        let refused = diskperf(folder.path(), &words);
        assert_eq!(refused.status, Some(2), "{words:?}: {}", refused.err);
        assert!(refused.err.contains(ESCAPED), "{words:?}: {}", refused.err);
    }
    run_well(folder.path(), &[OsStr::new("write_8192"), file(b"").as_ref()]);
    run_well(folder.path(), &[OsStr::new("copy"), file(b"").as_ref(), file(b"2").as_ref(), "--buffer=64KiB".as_ref()]);
    assert_eq!(fs::metadata(file(b"2")).expect("a copy").len(), 8 << 20);
}

#[test]
fn commands_receive_odd_names_unchanged() {
    let (folder, path) = scratch();
    let made = path.join(joined(&[ODD, b"-made"]));
    let prepare = joined(&[b"--prepare=touch '", made.as_os_str().as_bytes(), b"'"]);
    let words: Vec<OsString> = ["run", ".", "--rounds", "1", "--json"].map(OsString::from).to_vec();
    let command = ["--".into(), "cp".into(), made.clone().into(), joined(&[b"{}/", ODD])];
    let ended = run_well(folder.path(), &[&words[..], &[prepare], &command].concat());
    assert!(made.exists());
    let found = document(&ended);
    let told = found["cells"][0]["parameters"]["command"].as_str().expect("its words");
    let said = std::process::Command::new("bash").args(["-c", &format!("printf '%s\\n' {told}")]).output();
    let said = said.expect("bash is there").stdout;
    assert_eq!(said, joined(&[b"cp\n", made.as_os_str().as_bytes(), b"\n{}/", ODD, b"\n"]).as_bytes(), "{told}");
}

#[test]
fn stored_runs_keep_odd_names() {
    let (_folder, path) = scratch();
    let store = path.join(joined(&[ODD, b".sqlite"]));
    let variables = [("DISKPERF_STORE", store.as_os_str())];
    let on_store = |words: &[&OsStr]| run_with(&path, &variables, words);
    let run = [OsStr::new("run"), "smoke".as_ref(), path.as_ref(), "--rounds=1".as_ref()];
    let ended = on_store(&run);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("stored as "), "{}", ended.err);
    let stored = document(&on_store(&["show", "last", "--json"].map(OsStr::new)));
    assert_eq!(stored["run"]["targets"][0]["name"], bytes(&path));
    assert_eq!(stored["run"]["store"]["path"], bytes(store.canonicalize().expect("the store")));
    let listed: Value = serde_json::from_str(&on_store(&["list", "--json"].map(OsStr::new)).out).expect("JSON");
    assert_eq!((&listed[0]["targets"][0], &listed[0]["command"][3]), (&bytes(&path), &bytes(&path)));
    assert!(on_store(&["list"].map(OsStr::new)).out.contains(ESCAPED));
    for target in [path.as_os_str(), OsStr::new(".")] {
        let past = on_store(&[OsStr::new("history"), "read_8192".as_ref(), target, "--json".as_ref()]);
        assert_eq!(past.status, Some(0), "{}", past.err);
        assert_eq!(document(&past)["series"][0]["target"], bytes(&path));
    }
    let unknown = on_store(&[OsStr::new("history"), "read_8192".as_ref(), odd()]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains(ESCAPED), "{}", unknown.err);
    let csv = on_store(&["export", "last", "--format", "csv"].map(OsStr::new));
    assert!(csv.out.contains(ESCAPED), "{}", csv.out);
    let anonymous = on_store(&["export", "last", "--anonymous"].map(OsStr::new));
    assert_eq!(anonymous.status, Some(0), "{}", anonymous.err);
    let hex = bytes(odd())["bytes"].as_str().expect("digits").to_owned();
    assert!(!anonymous.out.contains("gr\\\\xF6") && !anonymous.out.contains(&hex), "{}", anonymous.out);
}

/// True if a run in this database is in this state and has measured something.
fn has_measured(folder: &Path, store: &Path, state: &str) -> bool {
    let listed = run_with(folder, &[("DISKPERF_STORE", store.as_os_str())], &["list", "--json"]);
    let runs: Value = serde_json::from_str(&listed.out).unwrap_or_default();
    let is_it = |run: &Value| run["state"] == state && run["measured"].as_u64() > Some(0);
    runs.as_array().is_some_and(|runs| runs.iter().any(is_it))
}

#[test]
fn killed_runs_in_folders_with_odd_names_are_resumed() {
    let (folder, path) = scratch();
    let store = folder.path().join("runs.sqlite");
    run_well(
        folder.path(),
        &[OsStr::new("run"), "smoke".as_ref(), "sim:flat".as_ref(), "--store".as_ref(), store.as_ref()],
    );
    // A run may end before the kill, or be killed when it has no folder. The next one takes ten times as long.
    let is_killed = ["3", "30", "300"].into_iter().any(|rounds| {
        let mut command = testkit::command(&program());
        command.args(["run", "smoke"]).arg(&path).args(["--rounds", rounds, "--json", "--store"]).arg(&store);
        command.current_dir(&path);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started");
        let mut running = testkit::Running(child);
        let is_under_way = || has_measured(folder.path(), &store, "running") && !names_in(&path).is_empty();
        while running.0.try_wait().expect("whether it ended").is_none() && !is_under_way() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        drop(running);
        has_measured(folder.path(), &store, "killed") && !names_in(&path).is_empty()
    });
    assert!(is_killed, "each run ended before it was killed");
    let resumed = run_well(folder.path(), &[OsStr::new("resume"), "--store".as_ref(), store.as_ref()]);
    let found = document(&resumed);
    assert_eq!((&found["run"]["command"][3], &found["cells"][0]["target"]), (&bytes(&path), &bytes(&path)));
    assert!(names_in(&path).is_empty(), "what the killed run left is removed");
    let is_told = |line: &str| line.contains("removed ") && line.contains(ESCAPED) && line.contains(", left by ");
    assert!(resumed.err.lines().any(is_told), "{}", resumed.err);
}

/// Runs a tool that must succeed.
fn tool(name: &str, words: &[&OsStr]) {
    let tool = testkit::tool(name).unwrap_or_else(|| panic!("{name} is not installed"));
    let output = std::process::Command::new(tool).args(words).output().expect("it can be started");
    assert!(output.status.success(), "{name} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A mounted folder, unmounted when dropped.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        tool("umount", &[self.0.as_ref()]);
    }
}

#[test]
fn mounts_images_and_devices_may_have_odd_names() {
    testkit::need_disk!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(64 << 20);
    testkit::run_tool("mkfs.ext4", &["-q", disk.text()]);
    let point = disk.folder.path().join(odd());
    fs::create_dir(&point).expect("a folder");
    tool("mount", &["-o".as_ref(), "noatime,nodiratime".as_ref(), disk.node().as_ref(), point.as_ref()]);
    let mounted = Mounted(point.clone());
    // The mount table has the same information as for any other name.
    let words = [OsStr::new("run"), "smoke".as_ref(), point.as_ref(), "--rounds=1".as_ref(), "--json".as_ref()];
    let found = document(&run_well(disk.folder.path(), &words));
    let target = &found["run"]["targets"][0];
    assert_eq!((&target["file_system"], &target["device"]), (&json!("ext4"), &json!(disk.name())));
    let options = target["mount_options"].as_array().expect("options");
    assert!(options.contains(&json!("noatime")), "{options:?}");
    // The device is in use. The error names the mount point so that a shell can read it.
    let refused = diskperf(disk.folder.path(), &["run", "smoke", &format!("new:ext4@{}", disk.text())]);
    assert_eq!(refused.status, Some(3), "{}", refused.err);
    assert!(refused.err.contains(ESCAPED) && refused.err.contains(r"gr\366\337e'"), "{}", refused.err);
    drop(mounted);
    // An image in a folder of such a name, kept under such a path; and a device with such a name.
    let image = joined(&[b"image:ext4,size=64MiB,dir=", point.as_os_str().as_bytes()]);
    let words =
        [OsStr::new("run"), "smoke".as_ref(), &image, "--rounds=1".as_ref(), "--keep".as_ref(), "--json".as_ref()];
    let found = document(&run_well(disk.folder.path(), &words));
    let kept = &found["run"]["targets"][0]["image"]["kept_as"]["bytes"];
    let hex = bytes(&point)["bytes"].as_str().expect("digits").to_owned();
    assert!(kept.as_str().is_some_and(|kept| kept.starts_with(&hex)), "{kept}");
    let kept = names_in(&point);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let image = point.join(&kept[0]);
    let cleaned = run_well(disk.folder.path(), &[OsStr::new("clean"), image.as_ref(), "--yes".as_ref()]);
    assert_eq!((names_in(&point).len(), cleaned.err.contains(char::REPLACEMENT_CHARACTER)), (0, false));
}

#[test]
fn a_device_may_have_an_odd_name() {
    testkit::need_disk!("mkfs.ext4");
    let disk = Disk::new(64 << 20);
    let link = disk.folder.path().join(joined(&[b"dev", ODD]));
    std::os::unix::fs::symlink(disk.node(), &link).expect("a link");
    let target = joined(&[b"new:ext4@", link.as_os_str().as_bytes()]);
    let words = [OsStr::new("run"), "smoke".as_ref(), &target, "--rounds=1".as_ref(), "--json".as_ref()];
    let found = document(&run_well(disk.folder.path(), &words));
    assert_eq!(found["run"]["targets"][0]["argument"], bytes(&target));
}

#[test]
fn a_loop_device_file_with_an_odd_name_is_not_overwritten() {
    testkit::need_disk!();
    let disk = Disk::new(16 << 20);
    let file = disk.folder.path().join(odd());
    fs::rename(&disk.file, &file).expect("the device goes with it");
    let before = fs::read(&file).expect("the file");
    let refused = diskperf(disk.folder.path(), &[OsStr::new("write_8192"), file.as_ref()]);
    assert_eq!(refused.status, Some(3), "{}", refused.err);
    assert!(refused.err.contains(ESCAPED) && refused.err.contains(disk.name()), "{}", refused.err);
    assert!(fs::read(&file).expect("the file") == before);
}
