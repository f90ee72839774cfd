//! `diskperf io` as a user meets it: every pattern by every engine, refusals with their reasons, remarks if the kernel
//! lacks something, and the figures of schedules.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use testkit::syscall_filter::{
    IO_URING, IO_URING_ENTER, IO_URING_REGISTER, NO_MEMORY, NO_SUCH_CALL, NOT_NOW, NOT_PERMITTED, run_answered,
};
use testkit::{ProgramOutput, has_tool, skip};

use crate::common::document::document;
use crate::common::{Cli, program};

/// Runs `diskperf io` with these words.
fn io(cli: &Cli, words: &str) -> ProgramOutput {
    cli.typed(&format!("io {words}"))
}

/// The only cell of a run that must succeed.
fn cell(cli: &Cli, words: &str) -> Value {
    only_cell(&io(cli, &format!("{words} --rounds 1 --json")))
}

fn only_cell(ended: &ProgramOutput) -> Value {
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document = document(ended);
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    cells[0].clone()
}

fn has_ring() -> bool {
    let missing = kernel::no_ring();
    if let Some(why) = missing {
        skip!("{why}");
    }
    missing.is_none()
}

#[test]
fn every_engine_measures_every_pattern_and_leaves_nothing() {
    if !has_ring() {
        return;
    }
    let cli = Cli::new();
    let all = ["randread", "randwrite", "randrw", "read", "write", "commit"].map(|pattern| (pattern, "posix", ""));
    let deep = ["randread", "randrw", "write"].map(|pattern| (pattern, "uring", " --iodepth 8"));
    let nowhere = ("randwrite", "null", " --engine null");
    for (pattern, engine, words) in all.into_iter().chain(deep).chain([nowhere]) {
        let cell = cell(&cli, &format!("{pattern} --bs 4KiB --size 1MiB --time 40ms{words}"));
        let what = format!("{pattern} by {engine}: {cell:#}");
        assert_eq!((&cell["measured"], &cell["program"]), (&true.into(), &pattern.into()), "{what}");
        assert_eq!(cell["parameters"]["engine"], engine, "{what}");
        let round = &cell["rounds"][0];
        let (ops, bytes) = (round["ops"].as_u64().expect("a count"), round["bytes"].as_u64().expect("bytes"));
        assert!(ops > 0 && bytes == ops * 4096, "{what}");
        // A slow disk may have done too few operations for a median.
        assert!(cell["latency_ns"]["count"] == ops || ops < 20, "{what}");
        // Writes count until they are durable, unless the engine writes nothing.
        let is_durable = engine != "null" && ["randwrite", "randrw", "write"].contains(&pattern);
        assert_eq!(cell["state"]["clock"] == "durable", is_durable, "{what}");
        let mut marks = cell["marks"].as_array().expect("marks").iter();
        let is_of_machine =
            |mark: &Value| ["few", "noise", "nested", "throttle", "short"].map(Value::from).contains(&mark["code"]);
        assert!(engine != "null" || marks.all(is_of_machine), "{what}");
    }
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_percentage_of_reads_needs_a_mixed_pattern() {
    let cli = Cli::new();
    let mixed = cell(&cli, "randrw --reads 70 --bs 4KiB --size 1MiB --time 40ms");
    assert_eq!(mixed["parameters"]["reads_percent"], 70);
    let refused = io(&cli, "randread --reads 30");
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert!(refused.err.contains("--reads 30: only randrw"), "{}", refused.err);
}

#[test]
fn invalid_options_are_refused_before_writing() {
    let cli = Cli::new();
    fs::write(cli.path().join("data"), vec![7; 100_000]).expect("a file");
    for (words, status, said) in [
        ("randread --iodepth 0", 2, "--iodepth 0: it must be from 1 to 32768"),
        ("randread --iodepth 40000", 2, "from 1 to 32768"),
        ("randread --iodepth -1", 2, "-1"),
        ("randread --iodepth 32768 --bs 64KiB", 2, "more than the 1 GiB"),
        ("randread --iodepth 4 --engine posix", 2, "--iodepth 4: --engine posix"),
        ("commit --iodepth 4", 2, "--iodepth 4: commit"),
        ("randread --bs 0", 2, "--bs"),
        ("randread --bs 2GiB", 2, "at most 1 GiB"),
        ("randread --size 10000B", 2, "whole number of calls"),
        ("randread --rate 0", 2, "--rate 0: it must be from 1 to "),
        ("randread --arrivals poisson", 2, "--rate"),
        ("randread --time 0s", 2, "more than zero"),
        ("randread --time -1s", 2, "a time cannot be negative"),
        ("randread --warmup -1s", 2, "a time cannot be negative"),
        ("randread --think -1ms", 2, "a time cannot be negative"),
        ("randread --budget -1s", 2, "a time cannot be negative"),
        ("randread --sustained -1s", 2, "a time cannot be negative"),
        ("randread --time --direct", 2, "'--direct' for '--time <TIME>': not a time"),
        ("randread --rate 4294967296", 2, "it must be from 1 to 10000000"),
        ("randread --bs 1.5", 2, "a number of bytes must be whole"),
        ("randrw --reads 1..0", 2, "write --reads 0..100+25 or 50,70"),
        ("write --warm", 2, "--warm: write starts without a file"),
        ("commit --warm", 2, "--warm: commit starts without a file"),
        ("randread --warm --direct", 2, "--warm: --direct"),
        ("sideways", 2, "sideways"),
        ("randread missing", 2, "there is no missing"),
        ("randwrite file:data", 2, "data is only read"),
    ] {
        let ended = io(&cli, words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words} says nothing of {said:?}: {}", ended.err);
        assert_eq!(cli.names(), ["data"], "{words}");
    }
}

#[test]
fn the_announcement_tells_whether_a_sustained_load_writes() {
    let cli = Cli::new();
    for (pattern, is_writing) in [("randread", false), ("read", false), ("randwrite", true), ("commit", true)] {
        let said = io(&cli, &format!("{pattern} --size 1MiB --time 40ms --sustained 1s --dry-run")).err;
        assert_eq!(said.contains("--sustained writes as much as it can to ."), is_writing, "{pattern}: {said}");
        assert_eq!(said.contains("--sustained reads . for "), !is_writing, "{pattern}: {said}");
    }
}

#[test]
fn refusals_are_documents_if_json_is_requested() {
    let cli = Cli::new();
    fs::write(cli.path().join("bad.toml"), "[[load]]\npattern = 'sideways'\n").expect("a job");
    for (words, said) in [
        ("io randread . --reads 30", "--reads 30: only randrw"),
        ("run nofile.toml", "there is no nofile.toml"),
        ("run bad.toml", "bad.toml:2:11"),
        ("choose .", "at least two targets"),
    ] {
        let arguments: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        let ended = cli.run(&arguments);
        assert_eq!(ended.status, Some(2), "{words}: {}", ended.err);
        let document = document(&ended);
        let message = document["errors"][0]["message"].as_str().expect("a message");
        assert!(message.contains(said) && ended.err.contains(said), "{words}: {message}");
        assert_eq!(document["cells"].as_array().map(Vec::len), Some(0));
    }
}

/// The buffers of a deep queue of large blocks need much memory.
#[test]
fn unavailable_ring_memory_is_refused_before_creating_files() {
    if !has_ring() {
        return;
    }
    if !has_tool("prlimit") {
        return skip!("prlimit is not installed");
    }
    let cli = Cli::new();
    let program = program();
    for (depth, status) in [("2", 0), ("8192", 3)] {
        let load =
            ["io", "randread", "--bs", "64KiB", "--size", "1MiB", "--time", "40ms", "--rounds", "1", "--iodepth"];
        let program = program.to_str().expect("a path in UTF-8");
        let words = [&["--as=400000000", program], &load[..], &[depth]].concat();
        let ended = testkit::run(Path::new("prlimit"), cli.path(), &words);
        assert_eq!(ended.status, Some(status), "{depth}: {}", ended.err);
        assert_eq!(ended.err.contains("error: not enough memory"), status == 3, "{depth}: {}", ended.err);
        assert_eq!(cli.names(), [""; 0]);
    }
}

#[test]
fn unaligned_direct_blocks_are_refused_with_the_alignment() {
    let cli = Cli::new();
    let Some(needs) = kernel::observe::mount::direct_alignment(cli.path()) else {
        return skip!("the kernel does not say what direct I/O must be aligned to here");
    };
    let ended = io(&cli, "randread --direct --bs 1000B");
    assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{}", ended.err);
    let said = format!("takes multiples of {}, and a block has 1000 B", units::Bytes(needs.into()));
    assert!(ended.err.contains(&said) && ended.err.contains("hint: --bs "), "{}", ended.err);
    let whole = cell(&cli, &format!("randread --direct --bs {needs}B --size 1MiB --time 40ms"));
    assert_eq!(whole["measured"], true);
}

#[test]
fn forbidden_io_uring_is_replaced_unless_it_was_requested() {
    let cli = Cli::new();
    for (errno, why) in [(NO_SUCH_CALL, "has no io_uring"), (NOT_PERMITTED, "io_uring is forbidden here")] {
        let run = |words: &str| {
            let arguments: Vec<&str> = words.split(' ').collect();
            run_answered(IO_URING, errno, &program(), cli.path(), &arguments)
        };
        let without = run("io randread --iodepth 8 --size 1MiB --time 40ms --rounds 1 --json");
        assert!(without.err.contains(why) && without.err.contains("one operation in flight"), "{}", without.err);
        let parameters = only_cell(&without)["parameters"].clone();
        assert_eq!((&parameters["engine"], &parameters["iodepth"]), (&"posix".into(), &1.into()));
        let refused = run("io randread --engine uring --size 1MiB");
        assert_eq!((refused.status, refused.out.as_str()), (Some(3), ""), "{}", refused.err);
        assert!(refused.err.contains(why) && refused.err.contains("hint: "), "{}", refused.err);
        let checkup: Value = serde_json::from_str(&run("doctor --json").out).expect("a document");
        let checks = checkup["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["check"] == "io_uring").expect("such a check");
        assert_eq!(check["state"], "no", "{check}");
        assert!(check["why"].as_str().is_some_and(|told| told.contains(why)), "{check}");
        // `quick` continues without that row, and gives the reason.
        let quick = run("run quick --only randread --budget 5s --rounds 1 --json");
        let document = document(&quick);
        let deep = document["cells"].as_array().expect("cells").last().expect("a cell");
        assert_eq!((&deep["parameters"]["iodepth"], &deep["measured"]), (&32.into(), &false.into()));
        let reason = deep["reason"].as_str().expect("a reason");
        assert!(reason.contains(why) || reason.contains("page cache"), "{reason}");
        assert_eq!(cli.names(), [""; 0]);
    }
}

#[test]
fn failed_ring_registrations_are_reported() {
    if !has_ring() {
        return;
    }
    let cli = Cli::new();
    let words = ["io", "randread", "--iodepth", "8", "--size", "1MiB", "--time", "40ms", "--rounds", "2", "--json"];
    let ended = run_answered(IO_URING_REGISTER, NO_MEMORY, &program(), cli.path(), &words);
    assert_eq!(only_cell(&ended)["parameters"]["engine"], "uring");
    let said = "without registered buffers: the limit on locked memory is too low";
    assert_eq!(ended.err.matches(said).count(), 1, "{}", ended.err);
}

#[test]
fn a_stalled_ring_is_given_up_with_a_message() {
    if !has_ring() {
        return;
    }
    let cli = Cli::new();
    let words = ["io", "randread", "--iodepth", "8", "--size", "1MiB", "--time", "40ms", "--rounds", "1"];
    let ended = run_answered(IO_URING_ENTER, NOT_NOW, &program(), cli.path(), &words);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("io_uring failed with operations in flight"), "{said}");
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn open_loops_give_response_times_and_closed_ones_service_times() {
    // A busy disk may do too few reads in a second for the latencies of the table.
    let cli = Cli::in_memory();
    let load = "randread --bs 4KiB --size 1MiB --time 1s";
    let closed = cell(&cli, load);
    assert_eq!(kind_of_times(&closed), "service");
    for arrivals in ["constant", "poisson"] {
        let open = cell(&cli, &format!("{load} --rate 1000 --arrivals {arrivals}"));
        assert_eq!(open["parameters"]["rate"], 1000);
        let intervals = open["rounds"][0]["intervals"].as_array().expect("intervals");
        assert!(!intervals.is_empty() && intervals.iter().all(|one| one["ops"].is_u64()), "{open:#}");
        // No more operations begin than the schedule allows, whatever the machine does; a closed loop has thousands.
        // Random arrivals add some: 1300 is nine standard deviations away.
        let count = open["rounds"][0]["ops"].as_u64().expect("a count");
        assert!(count <= 1300, "{count} by {arrivals}");
        assert_eq!(kind_of_times(&open), "response", "{open:#}");
    }
    let table = io(&cli, &format!("{load} --rate 1000 --rounds 1")).out.replace("\n  ", " ");
    for words in ["response time, from the intended start", "1000 operations per second", "response", "p50/p99"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let table = io(&cli, &format!("{load} --rounds 1")).out.replace("\n  ", " ");
    assert!(table.contains("service time, from the issue") && table.contains("latency"), "{table}");
}

/// The kind of the cell's latencies, one per operation. A busy machine may have done too few operations to report them:
/// the cell then has no latency, and this function returns the kind that it would have.
fn kind_of_times(cell: &Value) -> &str {
    let count = &cell["rounds"][0]["ops"];
    match cell["latency_ns"]["kind"].as_str() {
        Some(kind) => {
            assert_eq!(&cell["latency_ns"]["count"], count, "{cell:#}");
            kind
        }
        None => {
            assert!(count.as_u64() < Some(ENOUGH), "{cell:#}");
            if cell["parameters"]["rate"].is_null() { "service" } else { "response" }
        }
    }
}

/// Operations that a round needs for a median: ten samples beyond it (`BEYOND` in `stats/src/results/latency.rs`).
const ENOUGH: u64 = 20;

#[test]
fn a_schedule_ends_with_its_time_without_extra_starts() {
    let cli = Cli::new();
    let mut done = 0;
    for (words, most, rate, time) in
        [("--rate 10 --time 300ms", 3, 10.0, 0.3), ("--rate 4 --jobs 16 --time 5s", 20, 4.0, 5.0)]
    {
        // A start after the end of the time is left out, so on a busy machine there may be fewer, and the round is
        // longer. The tests of `workload::stream` count the starts of an idle machine.
        let cell = cell(&cli, &format!("randread --engine null --size 1MiB {words}"));
        let (round, ops) = (&cell["rounds"][0], cell["rounds"][0]["ops"].as_u64().expect("a count"));
        let per_second = cell["rate"]["per_second"].as_f64();
        assert!(ops <= most && per_second.is_none_or(|per_second| per_second <= rate), "{words}: {cell:#}");
        assert!(round["returned_s"].as_f64() >= Some(time), "{words}: {cell:#}");
        done += ops;
    }
    assert!(done > 0, "any machine starts one operation in 5 s");
}

#[test]
fn a_waiting_open_loop_can_be_interrupted() {
    let cli = Cli::new();
    let mut child = cli
        .command(&[])
        .args("io randread . --size 8MiB --rate 2 --time 10min --rounds 1".split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("diskperf starts");
    // In its measured loop, diskperf asks the kernel for exact wake-ups (timer slack). Without the right to read the
    // slack, the test sends the signal once the handlers are registered: a signal before the loop must work, too.
    let slack = format!("/proc/{}/timerslack_ns", child.id());
    testkit::wait_until("the loop begins", || match fs::read_to_string(&slack) {
        Ok(slack) => slack.trim() == "1",
        Err(_) => testkit::has_signal_handlers(child.id()),
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the signal is sent");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("what it says");
    assert_eq!(child.wait().expect("its end").code(), Some(4), "{said}");
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_workload_is_stored_shown_explained_and_exported() {
    let cli = Cli::new();
    let store = "runs.sqlite";
    let ended = io(&cli, &format!("randread --bs 4KiB --size 1MiB --time 40ms --rounds 2 --store {store}"));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("stored as "), "{}", ended.err);
    for (words, said) in [
        (&["list"][..], "io"),
        (&["show", "last"], "randread"),
        (&["explain", "last"], "elapsed"),
        (&["export", "last", "--format", "csv"], "randread,"),
    ] {
        let ended = cli.run(&[words, &["--store", store]].concat());
        assert_eq!(ended.status, Some(0), "{words:?}: {}", ended.err);
        assert!(ended.out.contains(said), "{words:?}: {}", ended.out);
    }
    assert_eq!(cli.run(&["show", "last", "--store", store]).out, ended.out);
}

#[test]
fn only_existing_blocks_of_a_given_file_are_read() {
    let cli = Cli::new();
    fs::write(cli.path().join("data"), vec![7; 1 << 20]).expect("a file");
    let read = cell(&cli, "randread file:data --bs 4KiB --time 40ms");
    assert_eq!((&read["measured"], &read["parameters"]["file_bytes"]), (&true.into(), &(1 << 20).into()), "{read:#}");
    assert_eq!(fs::read(cli.path().join("data")).expect("the file"), vec![7; 1 << 20]);
    assert_eq!(cli.names(), ["data"]);
}

#[test]
fn simulated_machines_run_possible_patterns_and_refuse_others() {
    let cli = Cli::new();
    let random = cell(&cli, "randread sim:flat --size 1MiB --time 2s");
    assert_eq!((&random["measured"], &random["parameters"]["engine"]), (&true.into(), &"simulated".into()));
    if has_ring() {
        let deep = io(&cli, "randread sim:flat --size 1MiB --iodepth 4 --json");
        let reason = document(&deep)["cells"][0]["reason"].clone();
        assert!(reason.as_str().is_some_and(|reason| reason.contains("one call at a time")), "{reason}");
    }
}

/// The disk takes 16.1 ms for a read, so at the end of the schedule it is late by 3 %.
#[test]
fn operations_that_are_late_at_the_end_of_the_schedule_count() {
    let cli = Cli::new();
    let late = cell(&cli, "randread sim:flat --size 1MiB --time 2s --rate 64");
    assert_eq!((&late["measured"], &late["rounds"][0]["ops"]), (&true.into(), &128.into()), "{late:#}");
}

/// A parameter of a cell, as a word.
fn parameter(cell: &Value, name: &str) -> String {
    cell["parameters"][name].to_string().replace('"', "")
}

#[test]
fn every_access_order_is_measured_and_in_the_cell_key() {
    let cli = Cli::new();
    for (words, keys) in [
        ("randread --order permutation", &[("order", "permutation")][..]),
        ("randwrite --order zipf:0.99", &[("order", "zipf:0.99")]),
        (
            "randrw --order zipf:1.2 --bs 4KiB:60,64KiB:40",
            &[("buffer_bytes", "4096:60,65536:40"), ("order", "zipf:1.2")],
        ),
        ("read --bs 4KiB --stride 64KiB", &[("stride_bytes", "65536")]),
        ("write --bs 4KiB --stride 64KiB", &[("stride_bytes", "65536")]),
        ("write --bs 4KiB:50,8KiB:50", &[("buffer_bytes", "4096:50,8192:50")]),
        ("randwrite --fsync 4", &[("fsync", "4")]),
        ("randwrite --sync dsync", &[("sync", "dsync")]),
        ("write --bs 64KiB --sync sync", &[("sync", "sync")]),
        ("randread --jobs 3", &[("jobs", "3"), ("drives", "1")]),
    ] {
        let cell = cell(&cli, &format!("{words} --size 1MiB --time 60ms"));
        let what = format!("{words}: {cell:#}");
        assert_eq!(cell["measured"], true, "{what}");
        for (name, value) in keys {
            assert_eq!(parameter(&cell, name), *value, "{what}");
        }
        let round = &cell["rounds"][0];
        let (ops, bytes) = (round["ops"].as_u64().expect("a count"), round["bytes"].as_u64().expect("bytes"));
        // A slow disk may have done too few operations for a median.
        assert!(cell["latency_ns"]["kind"] == "service" || ops < 20, "{what}");
        let in_order = words.starts_with("read ") || words.starts_with("write ");
        // Sequential access touches every byte once. With two block sizes, the mean is between them, unless a slow disk
        // did a few operations of one size; otherwise all blocks have one size.
        match (in_order, words.contains(':') && words.contains("--bs 4KiB:")) {
            (true, _) => assert!(bytes == 1 << 20 || round["returned_s"].as_f64() > Some(0.06), "{what}"),
            (false, true) if ops < ENOUGH => assert!((ops * 4096..=ops * 65536).contains(&bytes), "{what}"),
            (false, true) => assert!(bytes > ops * 4096 && bytes < ops * 65536, "{what}"),
            (false, false) => assert_eq!(bytes, ops * 4096, "{what}"),
        }
        assert_eq!(cli.names(), [""; 0]);
    }
}

#[test]
fn jobs_run_concurrently_on_own_files_and_share_a_rate() {
    let cli = Cli::new();
    let load = "randread --bs 4KiB --size 1MiB --time 300ms --jobs 3";
    let shared = cell(&cli, &format!("{load} --rate 300"));
    assert_eq!((&shared["together"], &shared["targets"]), (&false.into(), &1.into()));
    let parts = shared["rounds"][0]["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 3);
    let sum: u64 = parts.iter().filter_map(|part| part["ops"].as_u64()).sum();
    assert_eq!(shared["rounds"][0]["ops"], sum);
    // The jobs share 90 starts, though each alone would have as many; a stall loses some.
    assert!(sum <= 110, "{sum}");
    assert_eq!(kind_of_times(&shared), "response");
    // Three files and a tenth more for the ceiling, but only one file if it is given.
    let said = io(&cli, "write --size 1MiB --jobs 3 --dry-run");
    assert!(said.err.contains("up to 16.50 MiB"), "{}", said.err);
    fs::write(cli.path().join("data"), vec![7; 1 << 20]).expect("a file");
    let given = cell(&cli, "randread file:data --bs 4KiB --time 40ms --jobs 2");
    assert_eq!((&given["measured"], parameter(&given, "jobs").as_str()), (&true.into(), "2"), "{given:#}");
    let refused = io(&cli, "randread sim:flat --size 1MiB --jobs 2");
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("--jobs 2: a simulated drive has one program"), "{}", refused.err);
}

#[test]
fn intervals_of_jobs_start_together_and_are_complete() {
    let cli = Cli::new();
    let cell = cell(&cli, "randread --engine null --size 1MiB --rate 8 --jobs 4 --time 1s");
    let round = &cell["rounds"][0];
    let intervals = round["intervals"].as_array().expect("intervals");
    let ops: Vec<u64> = intervals.iter().filter_map(|one| one["ops"].as_u64()).collect();
    // At most eight operations start. An operation that is too late does not start.
    assert!(round["ops"] == ops.iter().sum::<u64>() && round["ops"].as_u64() <= Some(8), "{ops:?}");
    // If the jobs did not start together, their intervals would follow each other: there would be four times as many.
    let most = round["returned_s"].as_f64().expect("a time") / stats::INTERVAL.as_secs_f64() + 1.0;
    assert!(ops.len() as f64 <= most, "{ops:?} in {round:#}");
}

#[test]
fn deep_queues_run_every_pattern_and_drain_before_fsync() {
    if !has_ring() {
        return;
    }
    let cli = Cli::new();
    for words in
        ["randwrite --fsync 8", "randwrite --order zipf:0.9 --bs 4KiB:50,16KiB:50", "read --stride 64KiB --bs 4KiB"]
    {
        let cell = cell(&cli, &format!("{words} --iodepth 8 --jobs 2 --size 1MiB --time 60ms"));
        assert_eq!((&cell["measured"], parameter(&cell, "iodepth").as_str()), (&true.into(), "8"), "{cell:#}");
    }
}

#[test]
fn think_time_reduces_the_rate_and_is_not_latency() {
    let cli = Cli::new();
    let cell = cell(&cli, "randread --bs 4KiB --size 1MiB --time 1s --think 10ms --warm");
    // 100 pauses fit into the time. Without them there would be thousands of reads.
    let round = &cell["rounds"][0];
    let (ops, elapsed_s) = (round["ops"].as_u64().expect("a count"), round["returned_s"].as_f64().expect("a time"));
    let pauses_s = ops.saturating_sub(1) as f64 * 0.01;
    assert!(pauses_s <= elapsed_s, "{ops} in {elapsed_s} s");
    // Half of the reads took at least their median, which the histogram rounds. If the median contained the pauses,
    // the sum would be one and a half times the time.
    if let Some(median) = cell["latency_ns"]["p50"].as_u64() {
        let reads_s = 0.99 * median as f64 / 1e9 * ops as f64 / 2.0;
        assert!(reads_s + pauses_s <= elapsed_s, "{cell:#}");
    }
    assert_eq!(cell["parameters"]["think_ns"], 10_000_000);
}

#[test]
fn contradictory_options_are_both_named_with_a_hint() {
    let cli = Cli::new();
    for (words, said) in [
        ("randread --bs 4KiB:60,64KiB:30", "sum to 90, not to 100"),
        ("randread --bs 4KiB:60,64KiB", "each of several sizes needs a percentage"),
        ("randread --bs 4KiB:60,6000B:40", "multiples of the smallest, 4 KiB"),
        ("randread --bs 4KiB:50,8KiB:50 --order permutation", "--order permutation needs one"),
        ("commit --bs 4KiB:50,8KiB:50", "commit needs one"),
        ("read --order permutation", "--order permutation: read is sequential"),
        ("randread --order zipf:0", "above 0 and at most 5"),
        ("randread --order zipf:5.001", "above 0 and at most 5"),
        ("randread --order shuffled", "replacement, permutation, or zipf:THETA"),
        ("randread --stride 1MiB", "randread is not sequential"),
        ("read --bs 64KiB --stride 4KiB", "blocks of 64 KiB (--bs) would overlap"),
        ("read --bs 64KiB --stride 100KiB", "not a multiple of the block size (--bs), 64 KiB"),
        ("read --size 1MiB --stride 2MiB", "too short for this stride"),
        ("randread --think 2s", "--time 2s"),
        ("randread --think 1h --time 200ms", "not shorter than a round (--time 200ms)"),
        ("randread --rate 1 --time 100h", "with --rate, a round takes at most "),
        ("randread --think 1ms --rate 100", "--think 1ms: --rate 100"),
        ("randread --think 1ms --iodepth 2", "not --iodepth 2"),
        ("randread --burst 2", "without --think"),
        ("randread --think 1ms --burst 0", "nothing would run"),
        ("randread --fsync 2", "randread does not write"),
        ("randwrite --fsync 0", "--fsync 0"),
        ("commit --sync dsync", "fdatasync after each record"),
        ("read --sync sync", "read does not write"),
        ("randread --jobs 0", "from 1 to 512"),
        ("randread --jobs 513", "from 1 to 512"),
        ("randrw --reads 101", "it is a percentage"),
        ("randread --rounds 0", "nothing would be measured"),
        ("randread --bs 1MiB --size 4KiB", "whole number of calls"),
        ("randread --bs 4KiB:50,1MiB:50 --size 4KiB", "it holds no block of 1 MiB"),
    ] {
        let ended = io(&cli, words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words} says nothing of {said:?}: {}", ended.err);
        assert!(ended.err.contains("hint: ") || ended.err.contains("try '--help'"), "{words}: {}", ended.err);
        assert_eq!(cli.names(), [""; 0], "{words}");
    }
}

#[test]
fn a_printed_job_contains_all_defaults() {
    let cli = Cli::new();
    let printed = io(&cli, "randrw . --rate 100 --bs 4KiB:60,64KiB:40 --order zipf:0.99 --print-job");
    assert_eq!((printed.status, printed.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = printed.out.lines().map(|line| line.split('#').next().unwrap_or("").trim_end()).collect();
    for line in [
        "targets = [\".\"]",
        "[[load]]",
        "bs = \"4KiB:60,64KiB:40\"",
        "reads = 50",
        "arrivals = \"constant\"",
        "order = \"zipf:0.99\"",
        "iodepth = 1",
        "seed = 1",
    ] {
        assert!(lines.contains(&line), "{line}: {}", printed.out);
    }
    let refused = io(&cli, "randread --iodepth 0 --print-job");
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn a_printed_job_is_the_same_workload() {
    let cli = Cli::new();
    let load = "randrw sim:flat --size 1MiB --time 1s --order permutation --think 2ms --fsync 3";
    fs::write(cli.path().join("mix.toml"), io(&cli, &format!("{load} --rounds 1 --print-job")).out).expect("a file");
    let run = only_cell(&cli.run(&["run", "mix.toml", "--json"]));
    // A load of a job may have its own name, so the pattern is given separately.
    let mut expected = cell(&cli, load)["parameters"].clone();
    expected["pattern"] = "randrw".into();
    assert_eq!((&run["measured"], &run["parameters"]), (&true.into(), &expected));
    assert_eq!(expected["think_ns"], 2_000_000);
}

/// All of an existing file is read, also by the job.
#[test]
fn a_given_file_is_read_in_its_full_size() {
    let cli = Cli::new();
    // Larger than the default size of a new file.
    let data = fs::File::create(cli.path().join("data")).expect("a file");
    data.set_len(300 << 20).expect("a file of holes");
    let load = "randread a=file:data --bs 4KiB --time 40ms --rounds 1";
    let printed = io(&cli, &format!("{load} --print-job")).out;
    assert!(printed.contains("file:data") && !printed.contains("size ="), "{printed}");
    fs::write(cli.path().join("x.toml"), printed).expect("a job");
    let run = only_cell(&cli.run(&["run", "x.toml", "--json"]));
    assert_eq!((&run["measured"], &run["parameters"]["file_bytes"]), (&true.into(), &(300 << 20).into()), "{run:#}");
    let said = io(&cli, &format!("{load} --size 64KiB --print-job")).out;
    assert!(said.contains("size = \"64KiB\""), "{said}");
}
