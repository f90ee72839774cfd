//! Workloads that run before they are measured (`--warmup`), bursts between pauses (`--think --burst`), and schedules
//! of reads and writes (`--rate READS/WRITES`).

use std::fs;

use serde_json::Value;

use crate::common::document::document;
use crate::common::{Cli, cells};

fn cell(cli: &Cli, words: &str) -> Value {
    cells(&document(&cli.typed(&format!("io {words} --rounds 1 --json"))))[0].clone()
}

#[test]
fn a_warm_up_is_not_measured() {
    let cli = Cli::new();
    let read = cell(&cli, "randread --bs 4KiB --size 1MiB --time 50ms --warmup 50ms");
    assert_eq!((&read["measured"], &read["parameters"]["warmup_ns"]), (&true.into(), &50_000_000.into()), "{read:#}");
    assert_ne!(read["state"]["cache"], "cold", "the warm-up has read the file");
    // The round has the operations of one pass over the file: those of the warm-up do not count.
    let write = cell(&cli, "write --bs 64KiB --size 1MiB --time 60s --warmup 100ms");
    assert_eq!((&write["rounds"][0]["ops"], &write["rounds"][0]["bytes"]), (&16.into(), &(1 << 20).into()));
    let job = "together = true\n[[load]]\npattern = 'write'\nbs = '64KiB'\nsize = '1MiB'\nwarmup = '50ms'\n\
               time = '60s'\n[[load]]\npattern = 'commit'\nsize = '64KiB'\ntime = '60s'\n";
    fs::write(cli.path().join("x.toml"), job).expect("a job");
    let group = document(&cli.typed("run x.toml --rounds 1 --json"));
    let bytes: Vec<&Value> = cells(&group).iter().map(|cell| &cell["rounds"][0]["bytes"]).collect();
    assert_eq!(bytes, [1 << 20, 65536, (1 << 20) + 65536].map(Value::from).each_ref());
    cli.refuses(&["io", "randread", "--warmup", "5"], 2, &["--warmup", "unit"]);
}

#[test]
fn a_pause_follows_each_burst_of_a_deep_queue() {
    let cli = Cli::new();
    let cell = cell(&cli, "randread --bs 4KiB --size 1MiB --time 300ms --think 100ms --burst 4 --iodepth 4");
    assert_eq!((&cell["parameters"]["burst"], &cell["parameters"]["think_ns"]), (&4.into(), &100_000_000.into()));
    // At most three pauses fit, so there are at most four bursts. A slow disk may not finish the first one in time.
    let ops = cell["rounds"][0]["ops"].as_u64().expect("a count");
    assert!((1..=16).contains(&ops), "{cell:#}");
}

/// The clock is simulated, and the machine has time for each operation.
#[test]
fn reads_and_writes_keep_a_rate_each() {
    let cli = Cli::new();
    let job = "[[load]]\npattern = 'randrw'\nrate = '20/5'\nsize = '1MiB'\ntime = '2s'\n";
    fs::write(cli.path().join("x.toml"), job).expect("a job");
    let fio = "[x]\nrw=randrw\nrate_iops=20,5\nrwmixread=50\nbs=4k\nsize=1m\nruntime=2\ntime_based\n";
    fs::write(cli.path().join("x.fio"), fio).expect("a fio job");
    fs::write(cli.path().join("y.toml"), cli.well(&["import", "x.fio"]).out).expect("a job");
    for words in [
        "io randrw --rate 20/5 --size 1MiB --time 2s sim:flat",
        "io --rw=randrw --rate_iops=20,5 --rwmixread=50 --size=1m --runtime=2 sim:flat",
        "run x.toml sim:flat",
        "run y.toml sim:flat",
    ] {
        let all = document(&cli.typed(&format!("{words} --rounds 1 --json")));
        let cell = &cells(&all)[0];
        assert_eq!(
            (&cell["parameters"]["rate"], &cell["parameters"]["write_rate"]),
            (&25.into(), &5.into()),
            "{words}"
        );
        let counts: Vec<(&str, u64)> = cell["operations"]
            .as_array()
            .expect("operations")
            .iter()
            .map(|one| (one["operation"].as_str().expect("a kind"), one["count"].as_u64().expect("a count")))
            .collect();
        assert_eq!(counts, [("read", 40), ("write", 10)], "{words}: {cell:#}");
    }
    cli.refuses(&["io", "randrw", "--rate", "20/5", "--reads", "50", "."], 2, &["--rate 20/5", "leave out --reads"]);
    cli.refuses(&["io", "randread", "--rate", "20/5", "."], 2, &["only randrw has reads and writes"]);
}
