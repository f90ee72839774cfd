//! Workloads that run before they are measured (`--warmup`), and bursts between pauses (`--think --burst`).

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
    // The file of one round, and not of two.
    let write = cell(&cli, "write --bs 64KiB --size 1MiB --time 10s --warmup 1s");
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
    // At most three pauses fit, so there are at most four bursts.
    let ops = cell["rounds"][0]["ops"].as_u64().expect("a count");
    assert!((4..=16).contains(&ops), "{cell:#}");
}
