//! The command line as a user meets it: the built program, its exit status, its output on each stream, and its
//! leftovers. `cargo xtask test` runs these once more as a user without rights.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use testkit::{ProgramOutput, names_in};

use crate::common::document::document;
use crate::common::{Cli, cells, ended, mark, program};

#[test]
fn quick_measures_the_current_folder() {
    // In memory if there is room: the main job writes more than a gigabyte.
    let cli = Cli::in_memory();
    let ended = cli.well(&["--floor", "0"]);
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
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn measured_and_simulated_cells_have_the_same_effects() {
    let cli = Cli::new();
    let ended = cli.well(&["run", "smoke", "real=.", "simulated=sim:flat", "--json"]);
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
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_rate_follows_from_its_rounds() {
    let cli = Cli::new();
    let document = document(&cli.run(&["run", "smoke", "--json", "--rounds", "3"]));
    for cell in cells(&document) {
        let clock = if cell["state"]["clock"] == "durable" { "durable_s" } else { "returned_s" };
        let amount = match cell["rate"]["base"].as_str() {
            Some("files" | "ops") => "ops",
            _ => "bytes",
        };
        // If a slow disk changes its speed within a round, earlier rounds do not count.
        let rounds = cell["rounds"].as_array().expect("rounds").iter().filter(|round| round["discarded"] == false);
        let rounds: Vec<&Value> = rounds.collect();
        assert!(rounds.len() >= 2, "{cell}");
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
fn only_requested_programs_are_run() {
    let cli = Cli::new();
    let ended = cli.well(&["run", "smoke", "--json", "--only", "commit", "--only", "smallfb"]);
    let document = document(&ended);
    let programs: BTreeSet<&str> = cells(&document).iter().filter_map(|cell| cell["program"].as_str()).collect();
    assert_eq!(programs, BTreeSet::from(["commit", "smallfb"]));
}

#[test]
fn classic1983_prints_its_table_after_three_rounds() {
    let cli = Cli::new();
    let ended = cli.well(&["run", "classic1983", "--size", "8MiB", "here=.", "flat=sim:flat"]);
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
    let document = document(&cli.run(&["run", "classic1983", "--size", "8MiB", "sim:flat", "--json"]));
    for cell in cells(&document) {
        let discarded = |round: &Value| round["discarded"] == true;
        let rounds = cell["rounds"].as_array().expect("rounds");
        assert_eq!(rounds.iter().map(discarded).collect::<Vec<bool>>(), [true, false, false]);
        assert_eq!((&cell["state"]["clock"], &cell["rate"]["rounds"]), (&"returned".into(), &2.into()));
    }
}

#[test]
fn too_few_rounds_are_marked() {
    let cli = Cli::new();
    let document = document(&cli.run(&["run", "smoke", "--rounds", "1", "--json"]));
    for cell in cells(&document) {
        assert!(mark(cell, "few").is_some(), "{cell}");
    }
}

#[test]
fn a_budget_ends_the_rounds_early() {
    let arguments = ["run", "smoke", "--rounds", "100000", "--budget", "1s", "--json"];
    let document = document(&Cli::new().run(&arguments));
    let rounds = cells(&document)[0]["rounds"].as_array().expect("rounds").len();
    assert!((1..100_000).contains(&rounds), "{rounds}");
}

#[test]
fn a_dry_run_shows_the_plan_and_touches_nothing() {
    let cli = Cli::new();
    let ended = cli.well(&["run", "quick", "--dry-run"]);
    assert!(ended.out.contains("write_8192 on ."), "{}", ended.out);
    assert!(ended.err.contains("writes up to"), "{}", ended.err);
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn results_go_to_the_named_file() {
    let cli = Cli::new();
    let ended = cli.run(&["run", "smoke", "sim:flat", "--json", "-o", "results.json"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""));
    let text = fs::read_to_string(cli.path().join("results.json")).expect("the file");
    assert!(serde_json::from_str::<Value>(&text).is_ok());
}

#[test]
fn invalid_targets_are_refused() {
    let cli = Cli::new();
    fs::write(cli.path().join("file"), "x").expect("a file");
    cli.refuses(&["run", "smoke", ""], 2, &["no path given", "hint: "]);
    cli.refuses(&["run", "smoke", "missing"], 2, &["there is no missing", "hint: "]);
    cli.refuses(&["run", "smoke", "file"], 2, &["file is a file", "hint: "]);
    cli.refuses(&["run", "smoke", "/dev/no-such-disk"], 2, &["there is no device", "nothing was created"]);
    assert!(!Path::new("/dev/no-such-disk").exists());
    cli.refuses(&["run", "smoke", "--only", "bw"], 2, &["smoke has no test bw", "hint: its tests are: read_8192, "]);
    // Two tests of quick have this name.
    let said = cli.typed("run quick --only bw").err;
    assert_eq!(said.matches("randread,").count(), 1, "{said}");
    cli.refuses(&["run", "smoke", "sim:vax"], 2, &["no simulated machine vax", "flat"]);
    cli.refuses(&["run", "smoke", "nfs:server"], 2, &["nfs:server", "hint: "]);
    cli.refuses(&["run", "smoke", ".", "."], 2, &["two targets", "hint: "]);
    // /sys has no room for data, and even root cannot create a folder in it.
    cli.refuses(&["run", "smoke", "/sys"], 3, &["/sys", "hint: "]);
}

#[test]
fn invalid_options_are_refused() {
    let cli = Cli::new();
    cli.refuses(&["run", "smoke", "--size", "0"], 2, &["at least one byte"]);
    cli.refuses(&["run", "smoke", "--size=-8KiB"], 2, &["not a size"]);
    cli.refuses(&["run", "smoke", "--size", "-1"], 2, &["not a size"]);
    cli.refuses(&["run", "smoke", "--cache", "4MiB"], 2, &["at least 16 MiB"]);
    cli.refuses(&["run", "smoke", "sim:flat", "--format", "csv", "--dry-run"], 2, &["cannot be used with"]);
    cli.refuses(&["--no-store", "run", "smoke", "sim:flat"], 2, &["run is a command", "hint: "]);
    cli.refuses(
        &["run", "smoke", "sim:flat", "-o", "/dev/no-such-disk"],
        2,
        &["there is no device", "nothing was created"],
    );
    cli.refuses(&["run", "smoke", "sim:flat", "-o", "."], 2, &["is a directory"]);
    cli.refuses(&["run", "smoke", "--size", "8kb"], 2, &["ambiguous", "KiB", "kB"]);
    cli.refuses(&["run", "smoke", "--size", "8 furlongs"], 2, &["unknown unit"]);
    cli.refuses(&["run", "smoke", "--size", "9000"], 2, &["whole number of calls"]);
    cli.refuses(&["run", "smoke", "--rounds", "0"], 2, &["rounds"]);
    cli.refuses(&["run", "smoke", "--budget", "90"], 2, &["unit of time"]);
    cli.refuses(&["run", "smok"], 2, &["smoke"]);
    cli.refuses(&["run", "nonsense"], 2, &["quick", "classic1983"]);
    cli.refuses(&["nonsense"], 2, &["nonsense"]);
    cli.refuses(&["run", "smoke", "sim:flat", "--size", "2TiB"], 2, &["go up to 1 TiB"]);
    cli.refuses(&["run", "smoke", "--size", "900GiB"], 3, &["has room for ", "hint: "]);
}

#[test]
fn refusals_are_documents_with_json() {
    let cli = Cli::new();
    let ended = cli.run(&["run", "smoke", "missing", "--json"]);
    assert_eq!(ended.status, Some(2));
    let document = document(&ended);
    assert_eq!(cells(&document).len(), 0);
    assert_eq!(document["errors"][0]["message"], "there is no missing");
}

/// A tmpfs with twenty inodes passes every check of its bytes and fails in the middle of `smallfb`.
#[test]
fn a_full_file_system_voids_only_its_cell() {
    if !testkit::is_root() {
        return testkit::skip!("mounting needs root");
    }
    let cli = Cli::new();
    let mounted = testkit::run(
        Path::new("mount"),
        cli.path(),
        &["-t", "tmpfs", "-o", "size=64m,nr_inodes=20", "tmpfs", &cli.path().to_string_lossy()],
    );
    assert_eq!(mounted.status, Some(0), "{}", mounted.err);
    let ended = cli.run(&["run", "smoke", "--json"]);
    let left = cli.names();
    let unmounted = testkit::run(Path::new("umount"), Path::new("/"), &[&cli.path().to_string_lossy()]);
    assert_eq!(unmounted.status, Some(0), "{}", unmounted.err);

    assert_eq!((ended.status, left), (Some(1), Vec::new()));
    let document = document(&ended);
    let problem = &document["errors"][0];
    assert_eq!((&problem["program"], &problem["phase"]), (&"smallfb".into(), &"creat".into()), "{problem}");
    // A tmpfs has no reads past the page cache.
    for cell in cells(&document).iter().filter(|cell| cell["program"] != "randread") {
        let failed = cell["program"] == "smallfb";
        assert_eq!((cell["measured"] == false, cell["rate"].is_null()), (failed, failed), "{cell}");
        if failed {
            assert!(mark(cell, "error").is_some(), "{cell}");
            assert!(cell["reason"].as_str().expect("a reason").contains("no space left"), "{cell}");
        }
    }
}

#[test]
fn a_stopped_run_keeps_finished_results() {
    let (cli, data) = (Cli::new(), Cli::new());
    let store = data.path().join("store.sqlite");
    let mut child = cli
        .command(&["run", "smoke", "--rounds", "100000", "--json"])
        .env(testkit::STORE, &store)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("diskperf starts");
    let list = ["list", "--json", "--store", store.to_str().expect("a path in UTF-8")];
    let measured = || serde_json::from_str::<Value>(&cli.run(&list).out).ok()?[0]["measured"].as_u64();
    testkit::wait_until("two cells are measured", || measured().unwrap_or(0) >= 2);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the signal is sent");
    let mut out = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("its output");
    let status = child.wait().expect("its end").code();
    assert_eq!(status, Some(4));
    let document = document(&ProgramOutput { status, out, err: String::new() });
    assert_eq!(document["run"]["interrupted"], true);
    assert!(cells(&document).iter().filter(|cell| cell["measured"] == true).count() >= 2);
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let cli = Cli::new();
    let shell = "exec \"$0\" run smoke sim:flat --rounds 1 2>&-";
    let program = program();
    let ended = testkit::run(Path::new("sh"), cli.path(), &["-c", shell, &program.to_string_lossy()]);
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
fn the_programs_of_1983_print_nothing_and_move_eight_megabytes() {
    let cli = Cli::new();
    let here = cli.path();
    for (name, _, _) in CLASSICS {
        let link = here.join(name);
        symlink(program(), &link).expect("a link");
        for wrong in [&[][..], &["a", "b"]] {
            let ended = testkit::run(&link, here, wrong);
            assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{name} {wrong:?}");
            assert!(ended.err.contains("<FILE>"), "{}", ended.err);
        }
        assert!(testkit::run(&link, here, &["--help"]).out.contains(name));
        for ended in [cli.run(&[name, "tst2"]), testkit::run(&link, here, &["tst2"])] {
            assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""), "{name}");
        }
        fs::remove_file(link).expect("the link is removed");
    }
    assert_eq!(fs::metadata(here.join("tst2")).expect("the file").len(), 8 << 20);
    assert_eq!(cli.names(), ["tst2"]);
}

#[test]
fn the_programs_of_1983_make_exactly_the_calls_of_1983() {
    let cli = Cli::new();
    let Some(strace) = testkit::tool("strace") else { return testkit::skip!("strace is not installed") };
    let traced = testkit::run(&strace, cli.path(), &["true"]);
    if traced.status != Some(0) {
        return testkit::skip!("strace may not trace here: {}", traced.err.trim());
    }
    let binary = program();
    let binary = binary.to_str().expect("a path in UTF-8");
    for (name, bytes, calls) in CLASSICS {
        let store = format!("{}=kept.sqlite", testkit::STORE);
        let arguments = ["-f", "-E", &store, "-o", "trace", "-e", "trace=all", binary, name, "tst2"];
        let ended = testkit::run(&strace, cli.path(), &arguments);
        assert_eq!(ended.status, Some(0), "{name}: {}", ended.err);
        let trace = fs::read_to_string(cli.path().join("trace")).expect("the trace");
        // Only the first program creates the file. An existing file is found first, and then opened through its
        // descriptor.
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
        // 64-bit kernels add O_LARGEFILE to every open; rustix passes it explicitly.
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
fn the_programs_of_1983_check_their_files() {
    let cli = Cli::new();
    let here = cli.path();
    fs::write(here.join("short"), vec![0; 8192]).expect("a file");
    for name in ["read_8192", "rewrite_8192"] {
        cli.refuses(&[name, "short"], 2, &["short has 8 KiB", "needs 8 MiB", "hint: "]);
        cli.refuses(&[name, "missing"], 2, &["there is no missing", "hint: "]);
    }
    for (name, _, _) in CLASSICS {
        cli.refuses(&[name, "."], 2, &["is a directory", "hint: "]);
        cli.refuses(&[name, "/dev/no-such-disk"], 2, &["there is no device", "nothing was created"]);
        cli.refuses(&[name], 2, &["<FILE>"]);
    }
    for name in ["write_8192", "write_4096", "rewrite_8192"] {
        cli.refuses(&[name, "/dev/zero"], 3, &["is a device", "hint: "]);
    }
    cli.refuses(&["write_8192", "missing/tst2"], 2, &["there is no missing", "hint: "]);
    assert_eq!(fs::metadata(here.join("short")).expect("the file").len(), 8192);
    assert_eq!(cli.run(&["read_8192", "/dev/zero"]).status, Some(0));
}

#[test]
fn files_without_permission_are_refused() {
    if testkit::is_root() {
        return testkit::skip!("root may open anything; the repetition without rights runs it");
    }
    let cli = Cli::new();
    let file = cli.path().join("locked");
    fs::write(&file, vec![0; 8 << 20]).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("rights are taken");
    cli.refuses(&["read_8192", "locked"], 3, &["permission denied", "hint: "]);
    let sealed = cli.path().join("sealed");
    fs::create_dir(&sealed).expect("a folder");
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o555)).expect("rights are taken");
    cli.refuses(&["run", "smoke", "sealed"], 3, &["cannot create a folder in sealed", "hint: "]);
    cli.refuses(&["write_8192", "sealed/tst2"], 3, &["permission denied", "hint: "]);
}

/// A file in a folder that takes no new file is written in place, and its old bytes are kept in memory. If they cannot
/// be read, the program refuses before anything is measured. A folder that takes a new file needs no old bytes.
#[test]
fn unreadable_old_results_are_refused_before_measuring() {
    if testkit::is_root() {
        return testkit::skip!("root may read anything; the repetition without rights runs it");
    }
    let cli = Cli::new();
    let place = cli.path().join("place");
    fs::create_dir(&place).expect("a folder");
    fs::write(place.join("out"), "old\n").expect("a file");
    let may = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("rights");
    may(&place.join("out"), 0o222);
    may(&place, 0o555);
    // The command runs in a private folder that is removed: only an absolute path would still be there.
    let measured = cli.path().join("measured");
    let touch = ["touch", measured.to_str().expect("a plain path")];
    let ended = cli.run(&[&["run", ".", "-o", "place/out", "--"], &touch[..]].concat());
    may(&place, 0o755);
    assert!(!measured.exists(), "{}", ended.err);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    for words in ["cannot write place/out: Permission denied", "\nhint: "] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    assert_eq!(cli.names(), ["place"]);
    cli.well(&["run", "smoke", "sim:flat", "-o", "place/out"]);
    assert_eq!(fs::metadata(place.join("out")).expect("the file").permissions().mode() & 0o777, 0o222);
    may(&place.join("out"), 0o644);
    assert_ne!(fs::read_to_string(place.join("out")).expect("the file"), "old\n");
    assert_eq!(names_in(&place), ["out"]);
}

/// Users of services and containers often have a home that does not exist.
#[test]
fn a_home_that_cannot_be_created_does_not_stop_a_run() {
    let cli = Cli::new();
    let run = |home: &Path| {
        let mut command = cli.command(&["run", "smoke", "sim:flat"]);
        command.env_remove(testkit::STORE).env_remove("XDG_DATA_HOME").env_remove("SUDO_UID").env("HOME", home);
        ended(command)
    };
    // No folder may be created below a file, also not by root.
    fs::write(cli.path().join("file"), "").expect("a file");
    let homeless = run(&cli.path().join("file/home"));
    assert_eq!(homeless.status, Some(0), "{}", homeless.err);
    assert!(homeless.out.contains("write_8192"), "{}", homeless.out);
    assert!(homeless.err.contains("not stored: there is no home"), "{}", homeless.err);
    // A home that exists.
    fs::write(cli.path().join(".local"), "").expect("a file");
    let refused = run(cli.path());
    assert_eq!((refused.status, refused.out.as_str()), (Some(1), ""), "{}", refused.err);
    assert!(refused.err.contains("cannot create ") && refused.err.contains("/.local/share: "), "{}", refused.err);
}
