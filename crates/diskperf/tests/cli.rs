//! The command line as a user meets it: the built program, its exit status, what it says on which stream,
//! and what it leaves behind. `cargo xtask test` runs these once more as a user without rights.

mod common {
    pub mod document;
}

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::document::document;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Ended, names_in};

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// Runs diskperf in a folder.
fn diskperf(folder: &Path, arguments: &[&str]) -> Ended {
    testkit::run(&program(), folder, arguments)
}

fn cells(document: &Value) -> &Vec<Value> {
    document["cells"].as_array().expect("cells")
}

/// A refusal: its exit status, an error with these words, nothing on standard output, and
/// nothing touched.
fn refuses(folder: &Path, arguments: &[&str], status: i32, words: &[&str]) {
    let before = names_in(folder);
    let ended = diskperf(folder, arguments);
    assert_eq!(ended.status, Some(status), "{arguments:?}: {}", ended.err);
    assert!(ended.err.contains("error: "), "{arguments:?}: {}", ended.err);
    for word in words {
        assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
    }
    assert_eq!(ended.out, "", "{arguments:?}");
    assert_eq!(names_in(folder), before, "{arguments:?}");
}

#[test]
fn the_main_job_measures_the_folder_one_stands_in() {
    // In memory where there is room for it: the main job writes more than a gigabyte.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| scratch());
    let ended = diskperf(folder.path(), &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for word in [
        "read_8192",
        "write_4096",
        "write_8192",
        "rewrite_8192",
        "randread",
        "commit",
        "smallfb",
        "copy",
        "MiB/s",
        "files/s",
        "p50/p99",
    ] {
        assert!(ended.out.contains(word), "{}", ended.out);
    }
    assert!(ended.err.contains("writes up to"), "{}", ended.err);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn both_worlds_fill_one_document_with_the_same_effects() {
    let folder = scratch();
    let ended = diskperf(folder.path(), &["run", "smoke", "real=.", "simulated=sim:flat", "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document = document(&ended);
    assert_eq!(document["schema"], "diskperf/1");
    assert_eq!(document["errors"], Value::Array(Vec::new()));

    let mut keys = BTreeSet::new();
    for cell in cells(&document) {
        let key = ["preset", "program", "phase", "target", "parameters"].map(|name| cell[name].to_string());
        assert!(keys.insert(key.join(" ")), "{key:?} is there twice");
        let in_memory = testkit::is_of_memory_only(cell["reason"].as_str());
        assert_eq!(cell["measured"] == true, !in_memory, "{key:?}");
        assert_eq!(cell["rounds"].as_array().expect("rounds").len(), if in_memory { 0 } else { 2 }, "{key:?}");
        let provenance = if cell["target"] == "real" { "measured" } else { "simulated" };
        assert_eq!(cell["provenance"], provenance, "{key:?}");
    }
    let effects = |target: &str| -> Vec<String> {
        let here = cells(&document).iter().filter(|cell| cell["target"] == target && cell["program"] != "randread");
        here.map(|cell| format!("{} {} {}", cell["program"], cell["phase"], cell["effect"])).collect()
    };
    assert!(!effects("real").is_empty());
    assert_eq!(effects("real"), effects("simulated"));
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn a_rate_follows_from_its_rounds() {
    let folder = scratch();
    let document = document(&diskperf(folder.path(), &["run", "smoke", "--json", "--rounds", "3"]));
    for cell in cells(&document) {
        let clock = if cell["state"]["clock"] == "durable" { "durable_s" } else { "returned_s" };
        let amount = match cell["rate"]["base"].as_str() {
            Some("files" | "ops") => "ops",
            _ => "bytes",
        };
        let rounds = cell["rounds"].as_array().expect("rounds");
        let number = |round: &Value, name: &str| round[name].as_f64().expect("a number");
        let rates = rounds.iter().map(|round| number(round, amount) / number(round, clock));
        let mean = rates.sum::<f64>() / rounds.len() as f64;
        let printed = cell["rate"]["per_second"].as_f64().expect("a rate");
        assert!((printed / mean - 1.0).abs() < 1e-9, "{cell}");

        let elapsed: f64 = rounds.iter().map(|round| number(round, clock)).sum();
        let owners = cell["time"].as_object().expect("time");
        let owned: f64 = owners.values().map(|nanos| nanos.as_f64().expect("nanoseconds")).sum();
        assert!((owned / 1e9 - elapsed).abs() < 1e-6, "{cell}");
    }
}

#[test]
fn only_the_programs_that_are_asked_for_are_run() {
    let folder = scratch();
    let ended = diskperf(folder.path(), &["run", "smoke", "--json", "--only", "commit", "--only", "smallfb"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document = document(&ended);
    let programs: BTreeSet<&str> = cells(&document).iter().filter_map(|cell| cell["program"].as_str()).collect();
    assert_eq!(programs, BTreeSet::from(["commit", "smallfb"]));
}

#[test]
fn the_paper_gets_its_table_and_its_three_rounds() {
    let folder = scratch();
    let ended = diskperf(folder.path(), &["run", "classic1983", "--size", "8MiB", "here=.", "flat=sim:flat"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for word in [
        "Kbytes/sec.",
        "here",
        "flat",
        "read_8192",
        "write_4096",
        "write_8192",
        "rewrite_8192",
        "668 (32%)",
        "in 1983 it was twice the memory",
    ] {
        assert!(ended.out.contains(word), "{}", ended.out);
    }
    let document = document(&diskperf(folder.path(), &["run", "classic1983", "--size", "8MiB", "sim:flat", "--json"]));
    for cell in cells(&document) {
        let discarded = |round: &Value| round["discarded"] == true;
        let rounds = cell["rounds"].as_array().expect("rounds");
        assert_eq!(rounds.iter().map(discarded).collect::<Vec<bool>>(), [true, false, false]);
        assert_eq!((&cell["state"]["clock"], &cell["rate"]["rounds"]), (&"returned".into(), &2.into()));
    }
}

#[test]
fn too_few_rounds_are_marked() {
    let folder = scratch();
    let document = document(&diskperf(folder.path(), &["run", "smoke", "--rounds", "1", "--json"]));
    for cell in cells(&document) {
        assert_eq!(cell["marks"][0]["code"], "few", "{cell}");
    }
}

#[test]
fn a_budget_ends_the_rounds_early() {
    let arguments = ["run", "smoke", "--rounds", "100000", "--budget", "1s", "--json"];
    let document = document(&diskperf(scratch().path(), &arguments));
    let rounds = cells(&document)[0]["rounds"].as_array().expect("rounds").len();
    assert!((1..100_000).contains(&rounds), "{rounds}");
}

#[test]
fn a_dry_run_shows_the_plan_and_touches_nothing() {
    let folder = scratch();
    let ended = diskperf(folder.path(), &["run", "quick", "--dry-run"]);
    assert_eq!(ended.status, Some(0));
    assert!(ended.out.contains("write_8192 on ."), "{}", ended.out);
    assert!(ended.err.contains("writes up to"), "{}", ended.err);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn results_go_to_a_file_where_one_is_named() {
    let folder = scratch();
    let ended = diskperf(folder.path(), &["run", "smoke", "sim:flat", "--json", "-o", "results.json"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""));
    let text = fs::read_to_string(folder.path().join("results.json")).expect("the file");
    assert!(serde_json::from_str::<Value>(&text).is_ok());
}

#[test]
fn what_cannot_be_a_target_is_refused() {
    let folder = scratch();
    fs::write(folder.path().join("file"), "x").expect("a file");
    let here = folder.path();
    refuses(folder.path(), &["run", "smoke", ""], 2, &["no path given", "hint: "]);
    refuses(here, &["run", "smoke", "missing"], 2, &["there is no missing", "hint: "]);
    refuses(here, &["run", "smoke", "file"], 2, &["file is a file", "hint: "]);
    refuses(here, &["run", "smoke", "/dev/no-such-disk"], 2, &["there is no device", "nothing was created"]);
    assert!(!Path::new("/dev/no-such-disk").exists());
    refuses(here, &["run", "smoke", "--only", "bw"], 2, &["smoke has no test bw", "hint: its tests are: read_8192, "]);
    refuses(here, &["run", "smoke", "sim:vax"], 2, &["no simulated machine vax", "flat"]);
    refuses(here, &["run", "smoke", "nfs:server"], 2, &["nfs:server", "hint: "]);
    refuses(here, &["run", "smoke", ".", "."], 2, &["two targets", "hint: "]);
    // No bytes, and nobody may make a folder here, not even root.
    refuses(here, &["run", "smoke", "/sys"], 3, &["/sys", "hint: "]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = scratch();
    let here = folder.path();
    refuses(here, &["run", "smoke", "--size", "0"], 2, &["at least one byte"]);
    refuses(here, &["run", "smoke", "--size=-8KiB"], 2, &["not a size"]);
    refuses(here, &["run", "smoke", "--size", "-1"], 2, &["not a size"]);
    refuses(here, &["run", "smoke", "--cache", "4MiB"], 2, &["at least 16 MiB"]);
    refuses(here, &["run", "smoke", "sim:flat", "--format", "csv", "--dry-run"], 2, &["cannot be used with"]);
    refuses(here, &["--no-store", "run", "smoke", "sim:flat"], 2, &["run is a command", "hint: "]);
    refuses(
        here,
        &["run", "smoke", "sim:flat", "-o", "/dev/no-such-disk"],
        2,
        &["there is no device", "nothing was created"],
    );
    refuses(here, &["run", "smoke", "sim:flat", "-o", "."], 2, &["is a directory"]);
    refuses(here, &["run", "smoke", "--size", "8kb"], 2, &["ambiguous", "KiB", "kB"]);
    refuses(here, &["run", "smoke", "--size", "8 furlongs"], 2, &["unknown unit"]);
    refuses(here, &["run", "smoke", "--size", "9000"], 2, &["whole number of calls"]);
    refuses(here, &["run", "smoke", "--rounds", "0"], 2, &["rounds"]);
    refuses(here, &["run", "smoke", "--budget", "90"], 2, &["unit of time"]);
    refuses(here, &["run", "smok"], 2, &["smoke"]);
    refuses(here, &["run", "nonsense"], 2, &["quick", "classic1983"]);
    refuses(here, &["nonsense"], 2, &["nonsense"]);
    refuses(here, &["run", "smoke", "sim:flat", "--size", "2TiB"], 2, &["go up to 1 TiB"]);
    refuses(here, &["run", "smoke", "--size", "900GiB"], 3, &["free; ", "hint: "]);
}

#[test]
fn a_refusal_is_a_document_too() {
    let folder = scratch();
    let ended = diskperf(folder.path(), &["run", "smoke", "missing", "--json"]);
    assert_eq!(ended.status, Some(2));
    let document = document(&ended);
    assert_eq!(cells(&document).len(), 0);
    assert_eq!(document["errors"][0]["message"], "there is no missing");
}

/// A tmpfs with twenty inodes passes every check of its bytes and fails in the middle of `smallfb`.
#[test]
fn a_full_file_system_voids_the_cell_and_nothing_else() {
    if !testkit::is_root() {
        return testkit::skip!("mounting needs root");
    }
    let folder = scratch();
    let mounted = testkit::run(
        Path::new("mount"),
        folder.path(),
        &["-t", "tmpfs", "-o", "size=64m,nr_inodes=20", "tmpfs", &folder.path().to_string_lossy()],
    );
    assert_eq!(mounted.status, Some(0), "{}", mounted.err);
    let ended = diskperf(folder.path(), &["run", "smoke", "--json"]);
    let left = names_in(folder.path());
    let unmounted = testkit::run(Path::new("umount"), Path::new("/"), &[&folder.path().to_string_lossy()]);
    assert_eq!(unmounted.status, Some(0), "{}", unmounted.err);

    assert_eq!((ended.status, left), (Some(1), Vec::new()));
    let document = document(&ended);
    let problem = &document["errors"][0];
    assert_eq!((&problem["program"], &problem["phase"]), (&"smallfb".into(), &"creat".into()), "{problem}");
    // A tmpfs has nothing to read past the page cache.
    for cell in cells(&document).iter().filter(|cell| cell["program"] != "randread") {
        let failed = cell["program"] == "smallfb";
        assert_eq!((cell["measured"] == false, cell["rate"].is_null()), (failed, failed), "{cell}");
        if failed {
            assert_eq!(cell["marks"][0]["code"], "error", "{cell}");
            assert!(cell["reason"].as_str().expect("a reason").contains("no space left"), "{cell}");
        }
    }
}

#[test]
fn being_told_to_stop_keeps_what_is_finished() {
    let (folder, data) = (scratch(), scratch());
    let store = data.path().join("store.sqlite");
    let mut child = testkit::command(&program())
        .args(["run", "smoke", "--rounds", "100000", "--json"])
        .current_dir(folder.path())
        .env(testkit::STORE, &store)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("diskperf starts");
    let list = ["list", "--json", "--store", store.to_str().expect("a path in UTF-8")];
    let measured = || serde_json::from_str::<Value>(&diskperf(folder.path(), &list).out).ok()?[0]["measured"].as_u64();
    testkit::soon("two cells are measured", || measured().unwrap_or(0) >= 2);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the signal is sent");
    let mut out = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("its output");
    let status = child.wait().expect("its end").code();
    assert_eq!(status, Some(4));
    let document = document(&Ended { status, out, err: String::new() });
    assert_eq!(document["run"]["interrupted"], true);
    assert!(cells(&document).iter().filter(|cell| cell["measured"] == true).count() >= 2);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn nobody_listening_to_remarks_changes_nothing() {
    let folder = scratch();
    let shell = "exec \"$0\" run smoke sim:flat --rounds 1 2>&-";
    let program = program();
    let ended = testkit::run(Path::new("sh"), folder.path(), &["-c", shell, &program.to_string_lossy()]);
    assert_eq!(ended.status, Some(0));
    assert!(ended.out.contains("write_8192"), "{}", ended.out);
}

#[test]
fn a_closed_pipe_is_success() {
    let mut child = testkit::command(&program())
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("diskperf starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// Name, bytes per call, calls: appendix A of Kridle & McKusick 1983.
const CLASSICS: [(&str, u64, u64); 4] =
    [("write_8192", 8192, 1024), ("write_4096", 4096, 2048), ("read_8192", 8192, 1024), ("rewrite_8192", 8192, 1024)];

#[test]
fn the_programs_of_1983_say_nothing_and_move_eight_megabytes() {
    let folder = scratch();
    let here = folder.path();
    for (name, _, _) in CLASSICS {
        let link = here.join(name);
        symlink(program(), &link).expect("a link");
        for wrong in [&[][..], &["a", "b"]] {
            let ended = testkit::run(&link, here, wrong);
            assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{name} {wrong:?}");
            assert!(ended.err.contains("<FILE>"), "{}", ended.err);
        }
        assert!(testkit::run(&link, here, &["--help"]).out.contains(name));
        for ended in [diskperf(here, &[name, "tst2"]), testkit::run(&link, here, &["tst2"])] {
            assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""), "{name}");
        }
        fs::remove_file(link).expect("the link is removed");
    }
    assert_eq!(fs::metadata(here.join("tst2")).expect("the file").len(), 8 << 20);
    assert_eq!(names_in(here), ["tst2"]);
}

#[test]
fn the_programs_of_1983_make_exactly_the_calls_of_1983() {
    let folder = scratch();
    let Some(strace) = testkit::tool("strace") else { return testkit::skip!("strace is not installed") };
    let traced = testkit::run(&strace, folder.path(), &["true"]);
    if traced.status != Some(0) {
        return testkit::skip!("strace may not trace here: {}", traced.err.trim());
    }
    let binary = program();
    let binary = binary.to_str().expect("a path in UTF-8");
    for (name, bytes, calls) in CLASSICS {
        let store = format!("{}=kept.sqlite", testkit::STORE);
        let arguments = ["-f", "-E", &store, "-o", "trace", "-e", "trace=all", binary, name, "tst2"];
        let ended = testkit::run(&strace, folder.path(), &arguments);
        assert_eq!(ended.status, Some(0), "{name}: {}", ended.err);
        let trace = fs::read_to_string(folder.path().join("trace")).expect("the trace");
        // Only the first of them makes the file. One that is there was found before, and is opened as what was found.
        let (flags, path) = match name {
            "read_8192" => ("O_RDONLY", "\"tst2\""),
            "rewrite_8192" => ("O_RDWR", "\"/proc/self/fd/"),
            "write_8192" => ("O_WRONLY|O_CREAT|O_EXCL", "\"tst2\""),
            _ => ("O_WRONLY|O_CREAT|O_TRUNC", "\"/proc/self/fd/"),
        };
        let is_of_file = |line: &&str| line.contains("\"tst2\"") || line.contains("\"/proc/self/fd/");
        let opens = |line: &&str| line.contains("open") && !line.contains("O_PATH");
        let opened: Vec<&str> = trace.lines().filter(opens).filter(is_of_file).collect();
        assert_eq!(opened.len(), 1, "{opened:?}");
        // 64-bit kernels add O_LARGEFILE to every open; rustix says it aloud.
        assert!(opened[0].contains(path) && opened[0].contains(&format!("\", {flags}|O_LARGEFILE")), "{}", opened[0]);
        assert!(!opened[0].contains("O_CLOEXEC"), "{}", opened[0]);
        assert_eq!(opened[0].contains("0666"), flags.contains("O_CREAT"), "{}", opened[0]);

        let descriptor = opened[0].rsplit("= ").next().expect("a descriptor").trim();
        let call = if name == "read_8192" { "read" } else { "write" };
        let on_file = |line: &&str| line.contains(&format!(" {call}({descriptor}, "));
        let moved: Vec<&str> = trace.lines().skip_while(|line| *line != opened[0]).filter(on_file).collect();
        assert_eq!(moved.len() as u64, calls, "{name}");
        assert!(moved.iter().all(|line| line.ends_with(&format!("{bytes}) = {bytes}"))), "{name}");
        assert!(!trace.contains("sync("), "{name}");
        assert!(!trace.contains(".sqlite"), "{name} opened a store");
    }
}

#[test]
fn the_programs_of_1983_check_what_the_originals_did_not() {
    let folder = scratch();
    let here = folder.path();
    fs::write(here.join("short"), vec![0; 8192]).expect("a file");
    for name in ["read_8192", "rewrite_8192"] {
        refuses(here, &[name, "short"], 2, &["short has 8 KiB", "needs 8 MiB", "hint: "]);
        refuses(here, &[name, "missing"], 2, &["there is no missing", "hint: "]);
    }
    for (name, _, _) in CLASSICS {
        refuses(here, &[name, "."], 2, &["is a directory", "hint: "]);
        refuses(here, &[name, "/dev/no-such-disk"], 2, &["there is no device", "nothing was created"]);
        refuses(here, &[name], 2, &["<FILE>"]);
    }
    for name in ["write_8192", "write_4096", "rewrite_8192"] {
        refuses(here, &[name, "/dev/zero"], 3, &["is a device", "hint: "]);
    }
    refuses(here, &["write_8192", "missing/tst2"], 2, &["there is no missing", "hint: "]);
    assert_eq!(fs::metadata(here.join("short")).expect("the file").len(), 8192);
    assert_eq!(diskperf(here, &["read_8192", "/dev/zero"]).status, Some(0));
}

#[test]
fn a_file_that_may_not_be_opened_is_refused() {
    if testkit::is_root() {
        return testkit::skip!("root may open anything; the repetition without rights runs it");
    }
    let folder = scratch();
    let file = folder.path().join("locked");
    fs::write(&file, vec![0; 8 << 20]).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("rights are taken");
    refuses(folder.path(), &["read_8192", "locked"], 3, &["permission denied", "hint: "]);
    let sealed = folder.path().join("sealed");
    fs::create_dir(&sealed).expect("a folder");
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o555)).expect("rights are taken");
    refuses(folder.path(), &["run", "smoke", "sealed"], 3, &["cannot make a folder in sealed", "hint: "]);
    refuses(folder.path(), &["write_8192", "sealed/tst2"], 3, &["permission denied", "hint: "]);
}

/// A file whose folder takes no new file is written in place, and then its old bytes are kept in memory. If they cannot
/// be read, that is known before anything is measured; a folder that takes a new file needs no old bytes.
#[test]
fn a_file_whose_old_results_cannot_be_kept_is_refused_before_anything_is_measured() {
    if testkit::is_root() {
        return testkit::skip!("root may read anything; the repetition without rights runs it");
    }
    let folder = scratch();
    let place = folder.path().join("place");
    fs::create_dir(&place).expect("a folder");
    fs::write(place.join("out"), "old\n").expect("a file");
    let may = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("rights");
    may(&place.join("out"), 0o222);
    may(&place, 0o555);
    // The command runs in a private folder that is removed: only an absolute path would still be there.
    let measured = folder.path().join("measured");
    let touch = ["touch", measured.to_str().expect("a plain path")];
    let ended = diskperf(folder.path(), &[&["run", ".", "-o", "place/out", "--"], &touch[..]].concat());
    may(&place, 0o755);
    assert!(!measured.exists(), "{}", ended.err);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    for words in ["cannot write place/out: Permission denied", "\nhint: "] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    assert_eq!(names_in(folder.path()), ["place"]);
    let ended = diskperf(folder.path(), &["run", "smoke", "sim:flat", "-o", "place/out"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(fs::metadata(place.join("out")).expect("the file").permissions().mode() & 0o777, 0o222);
    may(&place.join("out"), 0o644);
    assert_ne!(fs::read_to_string(place.join("out")).expect("the file"), "old\n");
    assert_eq!(names_in(&place), ["out"]);
}
