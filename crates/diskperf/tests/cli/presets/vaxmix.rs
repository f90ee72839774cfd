//! The preset `vaxmix` as a user meets it: its own mixes in both worlds, a typed mix, a mix derived from a trace, and
//! refusals with their reasons.

use std::fs;

use serde_json::Value;

use crate::common::Cli;
use crate::common::document::document;
use crate::common::stored::killed;

/// The cells of a run that must succeed.
fn cells(cli: &Cli, words: &str) -> Vec<Value> {
    let ended = cli.typed(&format!("{words} --json"));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    document(&ended)["cells"].as_array().expect("cells").clone()
}

fn programs(cells: &[Value]) -> Vec<&str> {
    cells.iter().filter_map(|cell| cell["program"].as_str()).collect()
}

fn ops(cell: &Value) -> u64 {
    cell["rounds"][0]["ops"].as_u64().expect("a number of accesses")
}

const DIRECT: [&str; 4] = ["read_8192", "write_4096", "write_8192", "rewrite_8192"];

#[test]
fn direct_and_indirect_approaches_run_measured_and_simulated() {
    let cli = Cli::new();
    for (target, worlds) in [(".", "measured"), ("sim:vax780-uda50", "simulated"), ("sim:flat", "simulated")] {
        let cells = cells(&cli, &format!("run vaxmix {target} --size 256KiB --rounds 1"));
        assert_eq!(programs(&cells), [&DIRECT[..], &["uniform_mix", "local_mix"]].concat(), "{target}");
        for cell in &cells[4..] {
            assert_eq!((cell["provenance"].as_str(), cell["measured"].as_bool()), (Some(worlds), Some(true)));
            assert_eq!((cell["rate"]["unit"].as_str(), ops(cell)), (Some("ops/sec"), 128), "{target}");
            // Each access is timed, and there are reads and writes.
            assert_eq!(cell["latency_ns"]["count"], 128);
            assert_eq!(cell["latency_ns"]["kind"], "service");
            assert!(cell["limited_by"]["what"].is_string() && cell["time"].is_object(), "{cell}");
        }
    }
    assert!(cli.names().is_empty());
}

/// Both worlds draw the same accesses: they depend only on the seed.
#[test]
fn equal_seeds_draw_equal_accesses_measured_and_simulated() {
    let cli = Cli::new();
    let effect = |target: &str, seed: u32| {
        let words = format!("run vaxmix {target} --size 256KiB --rounds 1 --seed {seed} --only local_mix");
        let cell = cells(&cli, &words).remove(0);
        cell["rounds"][0]["bytes"].as_u64().expect("bytes")
    };
    let bytes = effect("sim:vax780-sc780", 5);
    assert_eq!(bytes, effect("sim:flat", 5));
    assert_eq!(bytes, effect(".", 5));
    assert_ne!(bytes, effect("sim:flat", 6));
}

#[test]
fn a_typed_mix_replaces_ours_and_runs_at_its_rate() {
    let words = "simulate vax780-sc780 vaxmix --size 1MiB --phases 2 --no-store \
                 --mix sizes=1KiB:1,reads=100,hot=60/10,near=20,rate=2";
    let cells = cells(&Cli::in_folder("/"), words);
    assert_eq!(programs(&cells)[4..], ["given_mix", "paced_mix"]);
    assert_eq!(cells[4]["parameters"]["mix"], "sizes=1KiB:1,reads=100,hot=60/10,near=20");
    assert_eq!(cells[5]["parameters"]["rate"], 2);
    assert_eq!(cells[5]["latency_ns"]["kind"], "response");
    // Two per second is much less than the drive's limit.
    let rate = |cell: &Value| cell["rate"]["per_second"].as_f64().expect("a rate");
    assert!(rate(&cells[5]) < 3.0 && rate(&cells[4]) > 8.0, "{} {}", rate(&cells[5]), rate(&cells[4]));
    // With reads only, nothing is to be made durable.
    assert_eq!(cells[4]["state"]["clock"], "returned");
}

/// A cell with a given mix can be simulated again.
#[test]
fn explain_simulates_the_mix_of_a_cell_again() {
    let cli = Cli::new();
    let words =
        "simulate vax780-uda50 vaxmix --program given_mix --size 1MiB --phases 2 --no-store --mix reads=90 --json";
    fs::write(cli.path().join("run.json"), cli.typed(words).out).expect("a file");
    let ended = cli.typed("explain run.json");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("given_mix") && ended.out.contains("10 % faster"), "{}", ended.out);
}

#[test]
fn a_trace_gives_its_mix_and_counts() {
    let cli = Cli::new();
    let trace = include_str!("../../../../jobs/samples/blkparse.txt");
    fs::write(cli.path().join("trace"), trace).expect("a file");
    let derived = "trace: 6 requests queued (Q) of 8,0 in 0.1 s, over 1.32 GiB; not counted: 1 flushes, 2 discards \
                   and other commands, 1 of other devices; as a mix: --mix \
                   sizes=512B:1+4KiB:3+8KiB:2,reads=50,near=33.3,rate=71";
    let dry = cli.typed("run vaxmix . --from-trace trace --dry-run");
    assert_eq!(dry.status, Some(0), "{}", dry.err);
    assert!(dry.err.contains(derived), "{}", dry.err);
    assert!(dry.out.contains("paced_mix"), "{}", dry.out);
    assert_eq!(cli.names(), ["trace"]);
    let ran = cells(&cli, "run vaxmix . --from-trace trace --size 64KiB --rounds 1 --only given_mix");
    assert_eq!(ran[0]["parameters"]["mix"], "sizes=512B:1+4KiB:3+8KiB:2,reads=50,near=33.3");
    assert_eq!(ops(&ran[0]), 32);
    // And the same mix on a machine of 1983.
    let simulated = "simulate vax780-sc780 vaxmix --from-trace trace --size 256KiB --phases 1 --no-store";
    assert_eq!(programs(&cells(&cli, simulated))[4..], ["given_mix", "paced_mix"]);
}

/// A resumed run has the mix with which it began, even if the trace has changed.
#[test]
fn a_derived_mix_is_stored_with_the_run() {
    let cli = Cli::new();
    fs::write(cli.path().join("trace"), include_str!("../../../../jobs/samples/blkparse.txt")).expect("a file");
    let words = "run vaxmix sim:flat --from-trace trace --size 64KiB --rounds 1 --only given_mix --store runs.sqlite";
    assert_eq!(cli.typed(words).status, Some(0));
    killed(&cli.path().join("runs.sqlite"), |left| {
        assert_eq!(left.info.mix.as_deref(), Some("sizes=512B:1+4KiB:3+8KiB:2,reads=50,near=33.3,rate=71"));
    });
    fs::write(cli.path().join("trace"), "").expect("a file");
    let resumed = cli.typed("resume --store runs.sqlite");
    assert_eq!(resumed.status, Some(0), "{}", resumed.err);
    assert!(resumed.out.contains("given_mix"), "{}", resumed.out);
}

#[test]
fn invalid_mixes_and_traces_are_refused_with_a_reason() {
    let cli = Cli::new();
    let write = |name: &str, text: &str| fs::write(cli.path().join(name), text).expect("a file");
    write("empty", "");
    write("flushes", "8,0 1 1 0.000000000 697 Q FWS [x]\n");
    write("bad", "8,0 1 1 0.000000000 697 Q R 1 + 8 [x]\n8,0 1 2 0.1 697 Q R 1 + 8 [x]\n");
    write("far", "8,0 1 1 0.000000000 697 Q R 99999999999999999 + 8 [x]\n");
    for (words, status, said) in [
        ("run vaxmix . --from-trace none", 2, "none"),
        ("run vaxmix . --from-trace .", 2, "is a directory"),
        ("run vaxmix . --from-trace empty", 2, "it has no queued (Q) or issued (D) request"),
        ("run vaxmix . --from-trace flushes", 2, "it has no reads or writes"),
        ("run vaxmix . --from-trace bad", 2, "not blkparse output, line 2: it has no time"),
        ("run vaxmix . --from-trace far", 2, "line 1: the sector number is too large"),
        ("simulate vax780-sc780 vaxmix --from-trace bad", 2, "line 2"),
        ("run smoke . --mix reads=50", 2, "smoke does not use a mix"),
        ("run job.toml . --mix reads=50", 2, "job does not use a mix"),
        ("run job.toml . --from-trace none", 2, "job does not use a mix"),
        ("simulate vax780-sc780 --from-trace bad", 2, "classic1983 does not use a mix"),
        ("run vaxmix . --mix sizes=8KiB:0", 2, "is not a size with a weight"),
        ("run vaxmix . --mix hot=60/10,near=41", 2, "more than 100 % together"),
        ("run vaxmix . --mix sizes=1MiB:1 --size 512KiB", 2, "the mix has accesses of 1 MiB"),
        ("run vaxmix . --mix reads=50 --from-trace bad", 2, "cannot be used with"),
    ] {
        let ended = cli.typed(words);
        assert_eq!(ended.status, Some(status), "{words}: {}", ended.err);
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
    assert_eq!(cli.names(), ["bad", "empty", "far", "flushes"]);
}
