//! `predict` from trace files: predictions, settings, refusals, and damaged traces.

use std::fs;

use serde_json::Value;

use crate::common::Cli;

/// Ten reads of 4 KiB, a millisecond each, a millisecond apart.
fn trace() -> String {
    let line = |nanos: u64, action: &str, sector: u64| format!("8,0 1 1 0.{nanos:09} 1 {action} R {sector} + 8 [x]\n");
    let one = |number: u64| {
        let issued = 2_000_000 * number;
        line(issued, "D", number * 8) + &line(issued + 1_000_000, "C", number * 8)
    };
    (0..10).map(one).collect()
}

/// A device with this latency in microseconds for reads and writes.
fn device(name: &str, host: &str, micros: u32) -> String {
    let figure = |value: &str| format!("{{ {value}, source = \"inferred\", from = \"a test\" }}");
    let latency = figure(&format!("at = [4096], value = [{micros}], unit = \"us\""));
    let none = figure("value = \"none\"");
    format!(
        "kind = \"law\"\nname = \"{name}\"\n\
         measured_on = {{ host = \"{host}\", date = \"2026-11-24\", target = \"/dev/x\" }}\n\
         capacity = {}\nalignment = {}\nread_latency = {latency}\nwrite_latency = {latency}\nread_gate = {none}\n\
         write_gate = {none}\nflush = {none}\nwrite_cache = {none}\nbucket = {none}\n",
        figure("value = 10, unit = \"GiB\""),
        figure("value = 512, unit = \"bytes\"")
    )
}

/// A folder with a trace, the own device and a slower one.
fn cli() -> Cli {
    let cli = Cli::new();
    for (name, text) in
        [("t.txt", trace()), ("here.toml", device("here", "a", 1000)), ("slow.toml", device("slow", "a", 3000))]
    {
        fs::write(cli.path().join(name), text).expect("a file");
    }
    cli
}

#[test]
fn a_trace_file_is_predicted_on_another_device() {
    let cli = cli();
    let out = cli.well(&["predict", "t.txt", "--from", "here.toml", "--on", "slow.toml"]).out;
    assert!(out.starts_with("t.txt   here 19.0 ms (replayed 19.0 ms)   on slow 39.0 ms\n"), "{out}");
    for words in ["range n.m.: a 90 % range needs 9 checks, and there are 0", "not modelled: ", "checked: n.m."] {
        assert!(out.contains(words), "{out}");
    }
    let json = cli.well(&["predict", "t.txt", "--from", "here.toml", "--on", "slow.toml", "--json"]).out;
    let document: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["schema"], "diskperf-predict/1");
    assert_eq!(document["predictions"][0]["predicted_s"], 0.039);
}

#[test]
fn a_setting_changes_a_figure_of_the_law() {
    let cli = cli();
    let out = cli.well(&["predict", "t.txt", "--from", "here.toml", "--set", "read_latency=x0.5"]).out;
    assert!(out.contains("on here with read_latency=x0.5 14.0 ms"), "{out}");
    cli.refuses(&["predict", "t.txt", "--from", "here.toml", "--set", "rotation=x2"], 2, &["rotation"]);
    cli.refuses(&["predict", "t.txt", "--from", "here.toml"], 2, &["--on", "--set"]);
}

#[test]
fn a_trace_that_the_own_device_does_not_explain_is_refused() {
    let cli = cli();
    let ended = cli.run(&["predict", "t.txt", "--from", "slow.toml", "--on", "here.toml"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.out.contains("on here n.m.: the replay on the run's own device misses"), "{}", ended.out);
    cli.refuses(&["predict", "t.txt", "--on", "slow.toml"], 3, &["the law of the run's own device", "diskperf probe"]);
    let check = ["predict", "t.txt", "--from", "here.toml", "--on", "slow.toml", "--check", "."];
    cli.refuses(&check, 2, &["--check runs the command of a stored run"]);
}

#[test]
fn damaged_traces_are_refused_with_the_line() {
    let cli = cli();
    let whole = trace();
    for (name, text, words) in [
        ("cut.txt", whole[..whole.len() - 9].to_owned(), "line 20: the trace ends within this line"),
        ("back.txt", format!("{whole}{whole}"), "line 21: it is earlier than the line before"),
        ("other.txt", "hello\n".to_owned(), "line 1: it is neither blkparse text nor MSR CSV nor ftrace text"),
    ] {
        fs::write(cli.path().join(name), text).expect("a file");
        cli.refuses(&["predict", name, "--from", "here.toml", "--on", "slow.toml"], 2, &[name, words, "hint: "]);
    }
    cli.refuses(&["predict", "./", "--from", "here.toml", "--on", "slow.toml"], 2, &["directory or a device"]);
}
