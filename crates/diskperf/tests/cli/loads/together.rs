//! Loads of a job file that run at the same time: a row for each, their sums, and the commands that read them.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::common::document::document;
use crate::common::stored::killed;
use crate::common::{Cli, cells, list};

/// A log and random accesses at the same time. The log ends at the end of its file, even on a slow disk. The random
/// accesses end after their time.
const DB: &str = "together = true\nrounds = 2\n\
                  [[load]]\nname = 'wal'\npattern = 'commit'\nsize = '64KiB'\ntime = '2min'\n\
                  [[load]]\nname = 'data'\npattern = 'randrw'\nsize = '1MiB'\ntime = '150ms'\njobs = 2\n";

fn with_job(job: &str) -> Cli {
    let cli = Cli::new();
    fs::write(cli.path().join("db.toml"), job).expect("a job");
    cli
}

fn names(document: &Value) -> Vec<&str> {
    cells(document).iter().map(|cell| cell["program"].as_str().expect("a name")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn each_load_has_a_row_and_their_sum_another() {
    let cli = with_job(DB);
    let planned = cli.well(&["run", "db.toml", "--dry-run"]);
    assert_eq!(planned.out, "sum (wal and data) on .\n", "{}", planned.err);
    let document = document(&cli.typed("run db.toml --json"));
    assert_eq!(names(&document), ["wal", "data", "sum"]);
    let [wal, data, sum] = &cells(&document)[..] else { panic!("three results") };
    for cell in [wal, data, sum] {
        assert_eq!(cell["measured"], true, "{cell:#}");
        assert_eq!(list(cell, "rounds").len(), 2, "{cell:#}");
        assert_eq!(cell["rounds"][1]["position"], 1, "the loads of a group take one turn");
    }
    let parameter = |cell: &Value, key: &str| cell["parameters"][key].clone();
    assert_eq!((parameter(wal, "group"), parameter(wal, "beside")), ("sum".into(), "data".into()));
    assert_eq!((parameter(data, "beside"), parameter(data, "jobs")), ("wal".into(), 2.into()));
    assert_eq!(parameter(sum, "sum_of"), "wal+data");
    assert_eq!(parameter(wal, "group_settings"), parameter(sum, "group_settings"));
    for index in 0..2 {
        let round = |cell: &Value| cell["rounds"][index].clone();
        let all = |key: &str| [wal, data].map(|cell| round(cell)[key].as_u64().expect("a count")).iter().sum::<u64>();
        assert_eq!((round(sum)["bytes"].as_u64(), round(sum)["ops"].as_u64()), (Some(all("bytes")), Some(all("ops"))));
        // Sixteen records of 4 KiB, each written and synced.
        assert_eq!((&round(wal)["ops"], &round(wal)["bytes"]), (&16.into(), &65536.into()));
        assert_eq!(list(&round(data), "parts").len(), 2, "each job is a program");
        assert!(round(data)["durable_s"].is_number() && round(wal)["durable_s"].is_null());
        // Syncs that end a load are not among its operations. A slow disk may have done a few of one kind.
        let kinds: Vec<Value> = list(&round(data), "operations").iter().map(|one| one["operation"].clone()).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| kind == "read" || kind == "write"), "{kinds:?}");
    }
    // The kernel's threads and the device work for both loads.
    assert!(wal["cpu_percent"].is_null() || wal["cpu_percent"]["kernel_workers"].is_null(), "{wal:#}");
    assert_eq!((&wal["io"], &data["io"]), (&Value::Null, &Value::Null));
    // A median needs twenty operations.
    let ops: u64 = list(data, "rounds").iter().filter_map(|round| round["ops"].as_u64()).sum();
    assert!(sum["latency_ns"].is_null() && (data["latency_ns"].is_object() || ops < 20), "{data:#}");
    assert!(wal["limited_by"].is_object() && data["limited_by"].is_object());
    let said = list(&document["run"], "findings").iter().any(|line| {
        line.as_str()
            .is_some_and(|line| line.starts_with("sum on .: wal and data: ") && line.contains(" operations per second"))
    });
    assert!(said, "{:#}", document["run"]["findings"]);
    assert_eq!(cli.names(), ["db.toml"]);
}

/// The time of a sum begins with its first load, and ends with its last.
#[test]
fn a_load_that_starts_later_counts_from_its_own_start() {
    let load = |name, keys| format!("[[load]]\nname = '{name}'\nsize = '1MiB'\ntime = '50ms'\ngroup = 'db'\n{keys}\n");
    let first = load("first", "pattern = 'randread'\nstart = '100ms'");
    let later = load("later", "pattern = 'randwrite'\nrate = 1000\nstart = '250ms'");
    let alone = "[[load]]\npattern = 'commit'\nsize = '64KiB'\ntime = '50ms'\n";
    let cli = with_job(&format!("rounds = 1\n{first}{alone}{later}"));
    let document = document(&cli.typed("run db.toml --json"));
    assert_eq!(names(&document), ["first", "later", "commit", "db"]);
    let [first, later, alone, sum] = &cells(&document)[..] else { panic!("four results") };
    let seconds = |cell: &Value, key: &str| number(&cell["rounds"][0][key]);
    assert_eq!(later["parameters"]["start_ns"], 250_000_000, "{later:#}");
    assert_eq!(alone["parameters"]["group"], Value::Null);
    let ends = [0.1 + seconds(first, "returned_s"), 0.25 + seconds(later, "durable_s")];
    let expected = ends[0].max(ends[1]) - 0.1;
    assert!((seconds(sum, "durable_s") - expected).abs() < 1e-6, "{sum:#}");
    // The schedule of an open loop begins with the load, and not with the group.
    assert!(later["rounds"][0]["ops"].as_u64() <= Some(50), "{later:#}");
    assert!(later["rounds"][0]["ops"].as_u64() > Some(0), "{later:#}");
}

#[test]
fn a_group_is_shown_compared_exported_and_resumed() {
    let cli = with_job(DB);
    let ran = cli.well(&["run", "db.toml", "--rounds", "2", "--store", "runs.sqlite"]);
    let row = |text: &str, name: &str| text.lines().any(|line| line.trim_start().starts_with(name));
    for name in ["wal ", "data ", "sum "] {
        assert!(row(&ran.out, name), "{name}: {}", ran.out);
    }
    assert!(ran.out.contains("all workloads"), "{}", ran.out);
    assert_eq!(cli.well(&["show", "last", "--store", "runs.sqlite"]).out, ran.out);
    let csv = cli.well(&["export", "last", "--store", "runs.sqlite", "--format", "csv"]).out;
    assert!(csv.lines().next().is_some_and(|head| head.contains("parameter.sum_of")), "{csv}");
    cli.well(&["report", "last", "--store", "runs.sqlite", "-o", "page.html"]);
    let page = fs::read_to_string(cli.path().join("page.html")).expect("a page");
    assert!(page.contains("all workloads") && page.contains("wal"));
    cli.well(&["explain", "last", "--store", "runs.sqlite"]);
    let fio = cli.well(&["export", "--to", "fio", "last", "--store", "runs.sqlite"]).out;
    assert!(fio.contains("[wal]\n") && !fio.contains("stonewall"), "{fio}");
    killed(&cli.path().join("runs.sqlite"), |left| assert!(left.info.job.is_some()));
    let resumed = cli.well(&["resume", "--store", "runs.sqlite"]);
    assert!(["wal ", "data ", "sum "].iter().all(|name| row(&resumed.out, name)), "{}", resumed.out);
    let again = cli.well(&["run", "db.toml", "--rounds", "2", "--json", "--no-store"]).out;
    fs::write(cli.path().join("again.json"), again).expect("a document");
    let compared = cli.run(&["compare", "last", "again.json", "--store", "runs.sqlite"]);
    assert!(["wal", "data", "sum"].iter().all(|name| compared.out.contains(name)), "{}{}", compared.out, compared.err);
}

#[test]
fn an_interrupted_group_leaves_nothing() {
    let cli = with_job(&DB.replace("150ms", "10min").replace("'64KiB'", "'64MiB'"));
    let mut child = cli
        .command(&["run", "db.toml", "--rounds", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("diskperf starts");
    testkit::wait_until("the handlers are registered", || testkit::has_signal_handlers(child.id()));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the signal is sent");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("what it says");
    assert_eq!(child.wait().expect("its end").code(), Some(4), "{said}");
    assert_eq!(cli.names(), ["db.toml"]);
}

/// A load that cannot run voids the others of its group, which would run without it.
#[test]
fn a_load_that_cannot_run_is_named_in_all_rows() {
    let cli = with_job(
        "together = true\n[[load]]\npattern = 'read'\nbs = '4KiB'\n[[load]]\nname = 'large'\npattern = 'randread'\n\
         bs = '64KiB'\ntime = '50ms'\n",
    );
    let run = |bytes: usize| {
        fs::write(cli.path().join("data"), vec![7; bytes]).expect("a file");
        document(&cli.typed("run db.toml file:data --rounds 1 --json"))
    };
    let good = run(1 << 20);
    assert_eq!(names(&good), ["read", "large", "sum"]);
    assert!(cells(&good).iter().all(|cell| cell["measured"] == true), "{good:#}");
    for cell in cells(&run(8192)) {
        assert_eq!(cell["measured"], false, "{cell:#}");
        assert_eq!(cell["reason"], "large: the file holds 8 KiB, less than one call reads", "{cell:#}");
    }
}

#[test]
fn groups_that_cannot_run_are_refused_with_a_hint() {
    let cli = with_job(DB);
    for words in [&["run", "db.toml", "sim:flat"][..], &["choose", "a=sim:flat", "b=sim:flat", "--load", "db.toml"]] {
        cli.refuses(words, 2, &["a simulated drive runs one workload at a time", "hint: name a directory"]);
    }
    cli.refuses(&["run", "db.toml", "--only", "wal"], 2, &["sum"]);
}

/// Targets are compared by each workload of a group, and not by their sum.
#[test]
fn a_requirement_on_a_sum_is_refused() {
    let cli = with_job(&DB.replace("rounds = 2\n", ""));
    for name in ["a", "b"] {
        fs::create_dir(cli.path().join(name)).expect("a folder");
    }
    let choose = ["choose", "a", "b", "--load", "db.toml", "--rounds", "6", "--need"];
    let said = ["sum is the sum of workloads that run at the same time", "hint: name its workloads: wal, data"];
    cli.refuses(&[&choose[..], &["sum>=1/s"]].concat(), 2, &said);
    cli.refuses(&[&choose[..], &["xyzzy>=1/s"]].concat(), 2, &["this run has no test xyzzy", "data, wal"]);
}

/// Two directories of one disk decide nothing in a few rounds, but each load has its comparison.
#[test]
fn targets_are_compared_by_the_loads_of_a_group() {
    let cli = with_job(&DB.replace("rounds = 2\n", ""));
    for name in ["a", "b"] {
        fs::create_dir(cli.path().join(name)).expect("a folder");
    }
    let words = "choose a b --load db.toml --use wal=60,data=40 --rounds 6 --json";
    let ended = cli.typed(words);
    let document = document(&ended);
    assert_eq!(names(&document), ["wal", "data", "wal", "data", "sum", "sum"], "{}", ended.err);
    let choice = &document["run"]["choice"];
    let compared: Vec<&str> = list(choice, "comparisons").iter().filter_map(|one| one["program"].as_str()).collect();
    assert_eq!(compared, ["wal", "data"], "{choice:#}");
    assert_eq!(choice["purpose"]["missing"], Value::Array(Vec::new()), "{choice:#}");
}
