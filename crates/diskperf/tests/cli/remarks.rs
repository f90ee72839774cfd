//! Remarks: events of a run that its figures do not show, in the document and in later output.

use std::fs;

use testkit::syscall_filter::{IO_URING, IO_URING_REGISTER, NOT_PERMITTED, run_answered};

use crate::common::document::document;
use crate::common::{Cli, program, remarks, text};

#[test]
fn paused_executions_are_repeated_and_remarked() {
    let (cli, outside) = (Cli::new(), Cli::new());
    let (count, store) = (outside.path().join("count"), outside.path().join("runs.sqlite"));
    // The first execution pauses diskperf.
    let line = format!(
        "echo x >> {0}; test $(wc -l < {0}) -gt 1 || {{ kill -STOP $PPID; sleep 0.2; kill -CONT $PPID; }}",
        text(&count)
    );
    let run = ["run", ".", "--rounds", "1", "--json", "--store", text(&store), "--", "sh", "-c", &line];
    let document = cli.document(&run);
    assert_eq!(remarks(&document), [["repeated", "sh", "."]]);
    assert_eq!(document["cells"][0]["rounds"].as_array().map(Vec::len), Some(1));
    assert_eq!(fs::read_to_string(&count).expect("a file"), "x\n".repeat(2));
    let text_of_it = document["run"]["remarks"][0]["text"].as_str().expect("a text");
    for format in ["table", "markdown"] {
        let shown = cli.well(&["show", "last", "--store", text(&store), "--format", format]).out;
        let shown: Vec<&str> = shown.split_whitespace().collect();
        assert_eq!(shown.join(" ").matches(text_of_it).count(), 1, "{format}: {shown:?}");
    }
}

#[test]
fn workloads_without_io_uring_are_remarked() {
    let cli = Cli::new();
    let line = "io randread --iodepth 8 --size 64KiB --time 20ms --rounds 1 --json";
    let words: Vec<&str> = line.split(' ').collect();
    let document = document(&run_answered(IO_URING, NOT_PERMITTED, &program(), cli.path(), &words));
    assert_eq!(remarks(&document), [["workload_limited", "", ""]]);
    assert_eq!(document["cells"][0]["parameters"]["engine"], "posix");
    fs::write(
        cli.path().join("job.toml"),
        "[[load]]\npattern = 'randread'\niodepth = 8\nsize = '64KiB'\ntime = '20ms'\n",
    )
    .expect("a file");
    let words = ["run", "job.toml", ".", "--rounds", "1", "--json"];
    let of_job = self::document(&run_answered(IO_URING, NOT_PERMITTED, &program(), cli.path(), &words));
    assert_eq!(of_job["run"]["remarks"], document["run"]["remarks"]);
    // This workload does not need io_uring.
    let plain = cli.document(&["io", "randread", "--size", "64KiB", "--time", "20ms", "--rounds", "1", "--json"]);
    assert!(remarks(&plain).is_empty() && plain["run"].get("remarks").is_none());
}

#[test]
fn missing_io_uring_features_are_remarked() {
    if let Some(why) = kernel::no_ring() {
        return testkit::skip!("{why}");
    }
    let cli = Cli::new();
    let line = "io randread --iodepth 8 --size 64KiB --time 20ms --rounds 2 --json";
    let words: Vec<&str> = line.split(' ').collect();
    let document = document(&run_answered(IO_URING_REGISTER, NOT_PERMITTED, &program(), cli.path(), &words));
    assert!(remarks(&document).contains(&["io_uring_limited", "randread", "."]), "{:#}", document["run"]);
    assert_eq!(document["cells"][0]["parameters"]["engine"], "uring");
}

#[test]
fn omitted_rounds_are_remarked() {
    let cli = Cli::new();
    let run = |budget: &str| {
        cli.document(&["run", ".", "--rounds", "5", "--budget", budget, "--json", "--", "sh", "-c", "sleep 0.05"])
    };
    let document = run("1ms");
    assert_eq!(remarks(&document), [["left_out", "", ""]]);
    assert_eq!(document["cells"][0]["rounds"].as_array().map(Vec::len), Some(1));
    assert!(document["run"]["remarks"][0]["text"].as_str().expect("a text").contains("1 of 5 rounds"));
    assert!(remarks(&run("1h")).is_empty());
}
