//! The latencies of each kind of operation, whole histograms, and fio's options, in calls of `diskperf io`.

use std::fs;

use serde_json::Value;
use testkit::ProgramOutput;

use crate::common::Cli;
use crate::common::document::document;

/// Runs `diskperf io` with these words.
fn io(cli: &Cli, words: &str) -> ProgramOutput {
    cli.typed(&format!("io {words}"))
}

/// The only cell of a run that must succeed.
fn only_cell(ended: &ProgramOutput) -> Value {
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document = document(ended);
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 1);
    cells[0].clone()
}

/// The kinds of operations that were done.
fn names(cell: &Value) -> Vec<&str> {
    let all = cell["operations"].as_array().expect("operations").iter();
    all.map(|one| one["operation"].as_str().expect("a kind")).collect()
}

/// The figures of a kind of operation.
fn operation<'a>(cell: &'a Value, kind: &str) -> &'a Value {
    let all = cell["operations"].as_array().expect("operations");
    all.iter().find(|one| one["operation"] == kind).unwrap_or_else(|| panic!("no {kind}: {cell:#}"))
}

#[test]
fn reads_writes_and_syncs_have_rates_and_latencies_of_their_own() {
    let cli = Cli::new();
    // A busy machine with a slow disk does a few operations in the shortest time: perhaps none of a kind.
    let times = ["150ms", "2s", "20s"].into_iter();
    for (words, kinds, unit) in [
        ("randrw --reads 70 --fsync 4", &["read", "write", "fsync"][..], "read+write"),
        ("randwrite --fdatasync 2", &["write", "fdatasync"], "write"),
        ("commit", &["write", "fdatasync"], "fdatasync"),
        ("randread", &["read"], "read"),
    ] {
        let mut cells = times.clone().map(|time| {
            only_cell(&io(&cli, &format!("{words} --time {time} --bs 4KiB --size 1MiB --rounds 1 --json")))
        });
        let cell = cells.find(|cell| names(cell) == kinds).unwrap_or_else(|| panic!("{words}: not all of {kinds:?}"));
        let round = &cell["rounds"][0];
        let count = |kind: &str| operation(&cell, kind)["count"].as_u64().expect("a count");
        let units: u64 = unit.split('+').map(count).sum();
        assert_eq!(round["ops"], units, "{words}: {cell:#}");
        for kind in kinds {
            let figures = operation(&cell, kind);
            assert!(figures["rate"]["per_second"].as_f64() > Some(0.0), "{figures:#}");
            let has_latency = figures["latency_ns"]["p50"].is_u64();
            assert_eq!(has_latency, count(kind) >= 20, "{figures:#}");
            assert!(!has_latency || figures["latency_ns"]["count"] == count(kind), "{figures:#}");
        }
        // The whole histograms, and the latencies over time.
        for stored in round["operations"].as_array().expect("histograms") {
            assert!(stored["histogram"].as_str().is_some_and(|text| text.starts_with("HISTFAAA")), "{stored:#}");
        }
        assert_eq!(round["heat_map"]["column_ms"], 250, "{round:#}");
    }
    let rows = ["\n   read ", "\n   write ", "\n   fsync ", "\n  fsync: "];
    let mut tables = times.map(|time| io(&cli, &format!("randrw --fsync 1 --bs 4KiB --size 1MiB --time {time}")).out);
    assert!(tables.any(|table| rows.iter().all(|row| table.contains(row))), "not all of {rows:?}");
}

/// The clock is simulated, and the machine has time for each operation.
#[test]
fn syncs_of_a_scheduled_workload_have_service_times() {
    let cli = Cli::new();
    for sync in ["fsync", "fdatasync"] {
        let words = format!("randwrite --rate 20 --{sync} 2 --size 1MiB --time 5s --rounds 1 sim:flat");
        let cell = only_cell(&io(&cli, &format!("{words} --json")));
        let kind = |name: &str| operation(&cell, name)["latency_ns"]["kind"].clone();
        assert_eq!((kind("write"), kind(sync)), ("response".into(), "service".into()), "{cell:#}");
        let table = io(&cli, &words).out;
        let row = |name: &str| table.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
        assert!(table.contains("response") && row(&format!("{sync} ")).contains("latency "), "{table}");
        assert!(!row("write ").contains("latency "), "{table}");
    }
}

#[test]
fn both_syncs_or_syncs_of_reads_are_refused() {
    let cli = Cli::new();
    for (words, said) in [
        ("randwrite --fsync 1 --fdatasync 1", "--fdatasync 1: --fsync is given too"),
        ("randwrite --fdatasync 0", "--fdatasync 0: it must be at least 1"),
        ("randread --fdatasync 1", "--fdatasync 1: randread does not write"),
    ] {
        let ended = io(&cli, words);
        assert_eq!(ended.status, Some(2), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
}

#[test]
fn fio_options_are_translated_and_shown() {
    let cli = Cli::new();
    let ended = io(
        &cli,
        "--name=x --rw=randrw --rwmixread=70 --bs=4k --size=1m --runtime=1 --time_based --ioengine=psync --rounds 1 \
         --numjobs=2 --group_reporting --json",
    );
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    // The tests add an option in front.
    for ours in [
        "in diskperf options: diskperf io randrw ",
        " --reads 70 --bs=4k --size=1m --time 1s --engine posix --rounds 1 --jobs 2 --json\n",
    ] {
        assert!(ended.err.contains(ours), "{}", ended.err);
    }
    let cell = only_cell(&ended);
    assert_eq!((&cell["parameters"]["jobs"], &cell["parameters"]["reads_percent"]), (&2.into(), &70.into()));
}

#[test]
fn rates_and_sizes_that_differ_from_fio_are_named() {
    let cli = Cli::new();
    for (line, ours, said) in [
        (
            "--rw=randread --bs=64k --rate=100k --numjobs=4",
            "--bs=64k --rate 6 --jobs 4",
            "diskperf uses --rate 6 for all",
        ),
        ("--rw=randwrite --rate_iops=0 --rate_process=poisson", "diskperf io randwrite --dry-run .", "without a rate"),
        ("--rw=read --bs=512 --size=1GiB", "read --bs=512 --size=1GiB --dry-run", "fio reads 1GiB as powers of 1000"),
        ("--rw=read --size=1GiB", "read --size=1GiB --dry-run", "fio reads 1GiB as powers of 1000"),
    ] {
        let planned = cli.typed(&format!("io {line} --dry-run ."));
        assert_eq!(planned.status, Some(0), "{}", planned.err);
        assert!(planned.err.contains(ours) && planned.err.contains(said), "{}", planned.err);
    }
    cli.refuses(&["io", "--rw=read", "--rate_iops=9", "--numjobs=x", "."], 2, &["invalid value 'x' for '--jobs"]);
}

#[test]
fn words_of_other_programs_get_a_hint() {
    let cli = Cli::new();
    std::fs::write(cli.path().join("db.fio"), "[a]\nrw=read\n").expect("a fio job");
    for (line, said, hint) in [
        ("--name=x --rw=randread --bs=4k", "takes options of fio", "diskperf io --name=x --rw=randread --bs=4k"),
        ("fio --rw=read .", "takes options of fio", "diskperf io --rw=read ."),
        ("fio db.fio", "fio is not a command", "diskperf import JOB.fio -o JOB.toml"),
        ("db.fio", "db.fio is a fio job", "diskperf import db.fio -o db.toml"),
        ("ioping .", "ioping is not a command", "diskperf io randread --rate 1 --time forever"),
        ("io --rw=read --verify=crc32c .", "--verify is an option of fio: diskperf always checks", "import -- fio"),
        ("io --rw=read --cgroup=x .", "--cgroup is an option of fio: diskperf has no such option", "import -- fio"),
        ("io randread --csv .", "there is no option --csv", "use --format csv"),
        ("io write --bs 2300 --size 22M .", "a whole number of calls of 2300 B", "use --size 23066700B"),
        ("io --rw=read --filename=/dev/null", "/dev/null is not a regular file", ""),
        ("io --rw=read --filename=/dev/nosuchdevice", "there is no such device", "lsblk"),
        ("io --rw=read --invalidate=0 .", "--invalidate is an option of fio: diskperf evicts its own files", ""),
        ("io --rw=read --minimal .", "there is no option --minimal", "use --format csv"),
        ("io randread --rate_iops=100 --jobs 1,4 .", "rate of each job in fio, and --jobs has several", "use --rate N"),
        ("io --rw=randrw --rate_iops=100, .", "only the reads or only the writes", "--rate_iops=700,300"),
        ("io --rw=randrw --rate=20m,0k .", "only the reads or only the writes", "--rate=20m,10m"),
        ("io --name=a --rw=read --name=b --rw=write .", "2 fio jobs", "diskperf import -o JOB.toml -- fio"),
        ("io --name=a --rw=read --bs=4k --name=b --bs=8k .", "2 fio jobs", "diskperf import -o JOB.toml -- fio"),
        ("fio --name=a --rw=read --name=b", "2 fio jobs", "diskperf import -o JOB.toml -- fio"),
        ("io --rw=randread --rate=1048576 .", "--rate=1048576 has no unit", "use --rate_iops=1048576"),
    ] {
        cli.refuses(&line.split(' ').collect::<Vec<_>>(), 2, &[said, "hint: ", hint]);
    }
    // Without the file, its folder is measured.
    let planned = cli.typed("io --rw=read --filename=./missing --dry-run");
    assert_eq!(planned.status, Some(0), "{}", planned.err);
    let remark = "./missing does not exist: diskperf measures a file of its own in .\n";
    assert!(planned.err.contains(remark), "{}", planned.err);
    // A word that neither program has stays an error of the grammar.
    cli.refuses(&["io", "randread", "--cgroup", "x"], 2, &["unexpected argument '--cgroup'"]);
    cli.refuses(&["io", "randread", "--rate", "100k", "."], 2, &["invalid value '100k'"]);
}

#[test]
fn several_jobs_are_named_below_the_table_and_span_all_their_files() {
    let cli = Cli::new();
    let words = "io randread --size 1MiB --jobs 4 --time 30ms --rounds 1 --engine posix";
    let table = cli.well(&words.split(' ').collect::<Vec<_>>()).out;
    assert!(table.contains("queue depth 1, file of 1 MiB, 4 jobs"), "{table}");
}

#[test]
fn latencies_are_exported_as_an_interval_log() {
    let cli = Cli::new();
    let stored = ["--store", "runs.sqlite"];
    let load =
        ["io", "randrw", "d=sim:vax780-sc780", "--fsync", "8", "--size", "256KiB", "--time", "30s", "--rounds", "2"];
    let run = [&load[..], &stored[..]].concat();
    cli.well(&run);
    let log = cli.well(&[&["export", "last", "--format", "hdr"], &stored[..]].concat()).out;
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines.contains(&"#[Histogram log format version 1.3]"), "{log}");
    assert!(lines.iter().any(|line| line.starts_with("\"StartTimestamp\",\"Interval_Length\"")), "{log}");
    for kind in ["read", "write", "fsync"] {
        let of_kind = lines.iter().filter(|line| line.starts_with("Tag=") && line.contains(&format!(".{kind},")));
        let fields: Vec<Vec<&str>> = of_kind.map(|line| line.split(',').collect()).collect();
        assert_eq!(fields.len(), 2, "a line for each round: {log}");
        assert!(fields.iter().all(|fields| fields.len() == 5 && fields[4].starts_with("HISTFAAA")), "{log}");
    }
    let page = cli.well(&[&["report", "last", "-o", "page.html"], &stored[..]].concat());
    let html = fs::read_to_string(cli.path().join("page.html")).unwrap_or(page.out);
    assert!(html.contains("percentage of operations within a time (CDF)"), "no distribution");
}

/// fio evicts an existing file before it reads it, unless it is asked not to or reads it first.
#[test]
fn an_existing_file_of_a_fio_call_is_evicted() {
    let cli = Cli::new();
    if testkit::is_in_memory(cli.path()) {
        return testkit::skip!("the temporary folder is in memory");
    }
    let path = cli.path().join("data");
    fs::write(&path, vec![7; 1 << 20]).expect("a file");
    fs::File::open(&path).and_then(|file| file.sync_all()).expect("on its device");
    for (options, ours, state) in [
        ("", "--cold file:data\n", "cold"),
        ("--invalidate=1", "--cold file:data\n", "cold"),
        ("--invalidate=0", "--json file:data\n", "unknown"),
        ("--invalidate=0 --pre_read=1", "--warm file:data\n", "warm"),
    ] {
        let line = "--rw=read --bs=128k --filename=data --runtime=1 --rounds 1 --json";
        let ended = io(&cli, &format!("{line} {options}"));
        assert!(ended.err.contains(ours), "{options}: {}", ended.err);
        assert_eq!(only_cell(&ended)["state"]["cache"], state, "{options}");
    }
    let own = only_cell(&io(&cli, "read file:data --bs 128KiB --time 1s --cold --rounds 1 --json"));
    assert_eq!(own["state"]["cache"], "cold", "{own:#}");
    let printed = io(&cli, "read file:data --cold --print-job");
    assert!(printed.err.contains("diskperf run JOB.toml --cold"), "{}", printed.err);
    cli.refuses(&["io", "read", ".", "--cold", "--warm"], 2, &["--cold", "cannot be used with"]);
}

#[test]
fn zeros_and_formats_of_fio_are_accepted() {
    let cli = Cli::new();
    let line = "--rw=randwrite --bs=4k --runtime=1 --thinktime=0 --ramp_time=0 --fsync=0 --fdatasync 0 --sync=none";
    let planned = io(&cli, &format!("{line} --output-format=normal --dry-run ."));
    assert_eq!(planned.status, Some(0), "{}", planned.err);
    assert!(planned.err.contains("io randwrite --bs=4k --time 1s --dry-run .\n"), "{}", planned.err);
    let json = io(&cli, "--rw=randread --size=1m --output-format=normal,json --rounds 1 sim:flat");
    assert_eq!(only_cell(&json)["measured"], true, "{}", json.out);
    let remark = "without --runtime, fio ends after --size; a diskperf round takes at most 2 s (--time)\n";
    assert!(json.err.contains(remark), "{}", json.err);
    for format in ["terse", "normal,terse"] {
        let option = format!("--output-format={format}");
        let said = ["there is no option --output-format=terse", "use --format csv"];
        cli.refuses(&["io", "--rw=read", &option, "."], 2, &said);
    }
}
