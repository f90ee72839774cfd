//! Parses the figures in the output of experiments, and checks them against the requirements.

use serde_json::Value;

use super::Figure;

/// A line of the benchmark `loops`: one phase, the time on the runner's path over that of a bare loop.
pub(super) fn ratio(line: &Value, (low, high): (f64, f64), what: &str) -> Option<Figure> {
    let measured = line["ratio"].as_f64()?;
    let (program, phase, pairs) = (line["program"].as_str()?, line["phase"].as_str()?, line["pairs"].as_u64()?);
    let asked = if low > 0.0 { format!("{low} to {high}") } else { format!("at most {high:.3}") };
    Some(Figure {
        what: format!("{what}: {program} {phase}, median of {pairs} pairs of best-of-4"),
        asked,
        measured: format!("{measured:.3}"),
        reached: (low..=high).contains(&measured),
    })
}

/// A line of the tests `instructions` and `commands`: instructions of a whole program, of a call above a bare loop, or
/// of a timed operation, alone or next to another program.
pub(super) fn instructions(line: &Value) -> Option<Figure> {
    if let (Some(engine), Some(each)) = (line["engine"].as_str(), line["instructions"].as_f64()) {
        let what = format!("user instructions per read of 4 KiB, its time kept: {engine}");
        let (asked, reached) = match line["alone"].as_f64() {
            Some(alone) => (format!("within 2 % of {alone:.1}"), (0.98..1.02).contains(&(each / alone))),
            None => (format!("at most {}", most_timed(engine)), each <= most_timed(engine)),
        };
        return Some(Figure { what, asked, measured: format!("{each:.1}"), reached });
    }
    let program = line["program"].as_str()?;
    if let Some(all) = line["instructions"].as_u64() {
        // The first limit is for the start, the second for a run of a few milliseconds.
        let most = if program == "--version" { 5_000_000 } else { 3_000_000 };
        return Some(Figure {
            what: format!("user instructions of a whole `diskperf {program}`"),
            asked: format!("at most {most}"),
            measured: all.to_string(),
            reached: all <= most,
        });
    }
    let above = line["world"].as_f64()? - line["bare"].as_f64()?;
    Some(Figure {
        what: format!("user instructions per call above a bare loop: {program}"),
        asked: "at most 40".to_owned(),
        measured: format!("{above:.1}"),
        reached: above <= 40.0,
    })
}

/// The most instructions of a timed operation: of one alone; with a time limit and the live line; and of a mix with
/// syncs, as in the tests of the release build (`crates/overhead/tests/instructions.rs`).
fn most_timed(engine: &str) -> f64 {
    match engine {
        "posix-live" => 170.0,
        "uring-live" => 240.0,
        "posix-full" => 510.0,
        "uring-full" => 680.0,
        _ => 250.0,
    }
}

/// A line of the benchmark `simulations`: the instructions of `paper`, of a machine, which stands for a thousand, or of
/// a call. A call of `largefb` has no limit.
pub(super) fn simulations(line: &Value) -> Option<Figure> {
    const BILLION: u64 = 1_000_000_000;
    let (simulated, counted) = (line["simulated"].as_str()?, line["instructions"].as_u64()?);
    let (what, most, measured) = match simulated {
        "paper" => ("`diskperf paper`".to_owned(), 17 * BILLION, counted),
        "a call of largefb" => (format!("{simulated}, simulated"), u64::MAX, counted),
        call if call.starts_with("a ") => (format!("{call}, simulated"), 7_500, counted),
        machine => (format!("1,000 machines of 16 results: 1,000 times {machine}"), 230 * BILLION, 1000 * counted),
    };
    Some(Figure {
        what: format!("user instructions of {what}"),
        asked: if most == u64::MAX { "a count".to_owned() } else { format!("at most {most}") },
        measured: measured.to_string(),
        reached: measured <= most,
    })
}

/// A line of the benchmark `sweeps`: the bytes of the parts of a sweep, or a sweep with limited memory.
pub(super) fn swept(line: &Value) -> Option<Figure> {
    let (points, bytes) = (line["swept"].as_u64()?, line["bytes"].as_u64()?);
    if let Some(are_same) = line["are_same"].as_bool() {
        let parts = line["parts"].as_u64()?;
        return Some(Figure {
            what: format!("bytes of a sweep of {points} points in {parts} parts and in one"),
            asked: "10,000 points in 4 parts, the same bytes".to_owned(),
            measured: if are_same { format!("the same {bytes}") } else { "others".to_owned() },
            reached: are_same && points == 10_000 && parts == 4,
        });
    }
    let (megabytes, is_done) = (line["limit_bytes"].as_u64()? / 1_000_000, line["status"].as_u64() == Some(0));
    Some(Figure {
        what: format!("a sweep of {points} points, in {megabytes} MB of addresses"),
        asked: "100,000 points within 300 MB".to_owned(),
        measured: if is_done { format!("{bytes} bytes written") } else { "it did not end well".to_owned() },
        reached: is_done && points >= 100_000 && megabytes <= 300 && bytes > points,
    })
}

/// A line of the benchmark `results`: the time to print many results, with limited memory.
pub(super) fn printed(line: &Value) -> Option<Figure> {
    let (printed, results) = (line["printed"].as_str()?, line["results"].as_u64()?);
    let (seconds, limit) = (line["seconds"].as_f64()?, line["limit_bytes"].as_u64()?);
    let is_done = line["status"].as_u64() == Some(0);
    let megabytes = limit / 1_000_000;
    let ended = if is_done { format!("{seconds:.2} s") } else { "it did not end well".to_owned() };
    Some(Figure {
        what: format!("`diskperf {printed}` of {results} results, in {megabytes} MB of addresses"),
        asked: "10,000 results within 5 s and 500 MB".to_owned(),
        measured: ended,
        reached: is_done && results >= 10_000 && megabytes <= 500 && seconds <= 5.0,
    })
}

/// A line of a fuzzing target, which prints one only if it found nothing.
pub(super) fn fuzzed(line: &Value) -> Option<Figure> {
    let (name, inputs) = (line["fuzzed"].as_str()?, line["inputs"].as_u64()?);
    let (outcomes, seconds) = (line["outcomes"].as_u64()?, line["seconds"].as_f64()?);
    Some(Figure {
        what: format!("nothing panics or hangs on inputs changed at random: {name}"),
        asked: "60 s".to_owned(),
        measured: format!("{seconds:.0} s, {inputs} inputs, {outcomes} outcomes"),
        reached: seconds >= 60.0 && outcomes > 1,
    })
}

/// A line of the benchmark `bottlenecks`: the verdict on one bottleneck, or the number of right verdicts.
pub(super) fn bottleneck(line: &Value) -> Option<Figure> {
    if let Some(all) = line["bottlenecks"].as_u64() {
        let (named, wrong) = (line["named"].as_u64()?, line["wrong"].as_u64()?);
        return Some(Figure {
            what: format!("`limited by` right, of {all} bottlenecks made on purpose"),
            asked: "at least 19 of 21, none wrong".to_owned(),
            measured: format!("{named}, {wrong} wrong"),
            reached: all == 21 && named >= 19 && wrong == 0,
        });
    }
    let (name, limit) = (line["bottleneck"].as_str()?, &line["limited_by"]);
    let right: Vec<&str> = line["right"].as_array()?.iter().filter_map(Value::as_str).collect();
    let what = limit["what"].as_str()?;
    Some(Figure {
        what: format!("`limited by` under a bottleneck made on purpose: {name}"),
        asked: format!("{}, or n.m.", right.join(" or ")),
        measured: format!("{what} ({})", limit["evidence"].as_str()?),
        reached: what == "n.m." || right.contains(&what),
    })
}

/// A line of the benchmark `charged`: reported CPU time of programs and workers, over the time that the kernel charged.
pub(super) fn charged(line: &Value) -> Option<Figure> {
    let (way, ratio, windows) = (line["writes"].as_str()?, line["ratio"].as_f64()?, line["windows"].as_u64()?);
    Some(Figure {
        what: format!("CPU of program and workers / charged by the kernel, writes: {way}, {windows} windows"),
        asked: "0.97 to 1.03, in 5 or more".to_owned(),
        measured: format!("{ratio:.3}"),
        reached: (0.97..=1.03).contains(&ratio) && windows >= 5,
    })
}

/// A line of the benchmark `own`: the cost above a bare loop that times too, or the overhead that the tool reports.
pub(super) fn own(line: &Value) -> Option<Figure> {
    let pairs = line["pairs"].as_u64()?;
    if let (Some(what), Some(ratio)) = (line["cpu"].as_str(), line["ratio"].as_f64()) {
        return Some(Figure {
            what: format!(
                "CPU of the path of a run / bare loop with the same clocks and histogram: {what}, {pairs} pairs"
            ),
            asked: "at most 1.08".to_owned(),
            measured: format!("{ratio:.3}"),
            reached: ratio <= 1.08,
        });
    }
    let what = line["own"].as_str()?;
    let (said, above) = (line["said_percent"].as_f64()?, line["above_bare_percent"].as_f64()?);
    Some(Figure {
        what: format!(
            "the tool's share of the CPU as it says, beside what it takes above a bare loop: {what}, {pairs} pairs"
        ),
        asked: "within 1 point".to_owned(),
        measured: format!("{said:.1} %, {above:.1} %"),
        reached: (said - above).abs() <= 1.0,
    })
}

/// The last line of the benchmark `together`: the error of predictions from solo cells.
pub(super) fn together(line: &Value) -> Option<Figure> {
    let (programs, error) = (line["programs"].as_u64()?, line["median_error"].as_f64()?);
    Some(Figure {
        what: format!("together foretold from solo on two limited disks, median error of {programs} programs"),
        asked: "at most 10 %".to_owned(),
        measured: format!("{:.1} %", 100.0 * error),
        reached: programs >= 4 && error <= 0.10,
    })
}

/// Marks that a clean image may have, because other programs run on the machine, and because the image is a file.
const DESERVED: [&str; 2] = ["noise", "nested"];

/// A line of the benchmark `clean`: the marks of a preset on clean images.
pub(super) fn clean(line: &Value) -> Option<Figure> {
    let (preset, runs) = (line["clean"].as_str()?, line["runs"].as_u64()?);
    let others = line["marks"].as_object()?.iter().filter(|(code, _)| !DESERVED.contains(&code.as_str()));
    let others: Vec<String> = others.map(|(code, count)| format!("{code} {count}")).collect();
    Some(Figure {
        what: format!("marks of {runs} runs of `{preset}` on clean images of ext4, xfs and btrfs in turn"),
        asked: format!("none but {}", DESERVED.join(" and ")),
        measured: if others.is_empty() { "none".to_owned() } else { others.join(", ") },
        reached: others.is_empty(),
    })
}

/// The line of the test `kills`: the results of runs that were killed at random moments.
pub(super) fn kills(line: &Value) -> Option<Figure> {
    let (kills, stored) = (line["kills"].as_u64()?, line["stored"].as_u64()?);
    let what = format!("`smoke` killed at {kills} random moments, with {stored} phases stored by then");
    let asked = "of 200: 0 finished cells lost, 0 doubled, each completed by `resume`, nothing left behind";
    broken_off(line, what, asked, kills >= 200)
}

/// The line of the test `power`: the results of runs during which the power was cut.
pub(super) fn power(line: &Value) -> Option<Figure> {
    let (cuts, promised) = (line["power_cuts"].as_u64()?, line["promised"].as_u64()?);
    let what =
        format!("power cut at {cuts} random writes and flushes, with {promised} phases told as finished by then");
    let asked = "of 100: the store opens, 0 finished cells lost, 0 doubled, each completed by `resume`";
    broken_off(line, what, asked, cuts >= 100 && promised > 0)
}

/// The figure of interrupted runs: nothing may be lost, doubled, unmeasured or left behind.
fn broken_off(line: &Value, what: String, asked: &str, were_enough: bool) -> Option<Figure> {
    let count = |name: &str| line[name].as_u64();
    let bad = ["lost", "doubled", "unmeasured", "left_behind"].map(count);
    let ([lost, doubled, unmeasured, left_behind], resumed) = (bad, count("resumed")?);
    let measured = format!(
        "{} lost, {} doubled, {resumed} resumed, {} cells unmeasured, {} left behind",
        lost?, doubled?, unmeasured?, left_behind?
    );
    Some(Figure { what, asked: asked.to_owned(), measured, reached: were_enough && bad == [Some(0); 4] })
}

/// A line of the test `cli_verify`: the losses that `verify` found after power cuts. The storage is an image with and
/// without barriers, or a disk that drops unflushed data; some of the disks ignore flushes.
pub(super) fn verify(line: &Value) -> Option<Figure> {
    let (how, cuts) = (line["verify"].as_str()?, line["cuts"].as_u64()?);
    let count = |name: &str| line[name].as_u64();
    Some(match how {
        "barriers" => {
            let (acknowledged, lost) = (count("acknowledged")?, count("lost")?);
            Figure {
                what: format!("`verify` on an ext4 with barriers, {acknowledged} records acknowledged"),
                asked: "0 false losses in 100 power cuts".to_owned(),
                measured: format!("{lost} in {cuts}"),
                reached: cuts >= 100 && lost == 0 && acknowledged > 0,
            }
        }
        "no barriers" => {
            let with_losses = count("with_losses")?;
            Figure {
                what: "`verify` on an ext4 without barriers".to_owned(),
                asked: "losses in each of 100 power cuts".to_owned(),
                measured: format!("in {with_losses} of {cuts}"),
                reached: cuts >= 100 && with_losses == cuts,
            }
        }
        "disk" => {
            let (with_dropped, found, lost) = (count("with_dropped")?, count("found")?, count("lost")?);
            Figure {
                what: "`verify --write` and `--check` on disks that drop what was not flushed".to_owned(),
                asked: "of 100 that heed flushes 0 false losses; of 100 that do not, losses found in every one that \
                        dropped acknowledged data"
                    .to_owned(),
                measured: format!("{lost} false losses; found in {found} of {with_dropped}"),
                reached: cuts >= 100 && lost == 0 && with_dropped > 0 && found == with_dropped,
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ratios_must_be_within_their_bounds() {
        let line = |ratio: f64| json!({"program": "write_8192", "phase": "write", "pairs": 41, "ratio": ratio});
        let reached = |value| ratio(&line(value), (0.97, 1.03), "time").expect("a figure").reached;
        assert!(reached(1.0) && !reached(1.04) && !reached(0.9));
        assert_eq!(ratio(&json!({"other": 1}), (0.97, 1.03), "time"), None);
    }

    #[test]
    fn a_minute_of_fuzzing_without_a_find_is_a_proof() {
        let line = |seconds: f64, outcomes: u64| {
            fuzzed(&json!({"fuzzed": "targets", "inputs": 9, "outcomes": outcomes, "seconds": seconds}))
                .expect("a figure")
        };
        assert!(line(60.1, 7).reached && !line(2.0, 7).reached && !line(60.1, 1).reached);
    }

    #[test]
    fn nine_of_ten_bottlenecks_must_be_named_and_none_wrongly() {
        let reached = |line: Value| bottleneck(&line).expect("a figure").reached;
        let line = |what: &str| {
            let limit = json!({"what": what, "evidence": "66 % busy"});
            json!({"bottleneck": "slow flush", "right": ["flush", "device"], "limited_by": limit})
        };
        assert!(reached(line("flush")) && reached(line("n.m.")) && !reached(line("cpu")));
        let all = |named: u64, wrong: u64| json!({"bottlenecks": 21, "named": named, "wrong": wrong});
        assert!(reached(all(21, 0)) && reached(all(19, 0)) && !reached(all(19, 1)) && !reached(all(18, 0)));
        assert!(!reached(json!({"bottlenecks": 1, "named": 1, "wrong": 0})));
    }

    #[test]
    fn reported_bytes_must_match_charged_bytes() {
        let reached = |line: Value| charged(&line).expect("a figure").reached;
        let line = |ratio: f64, windows: u64| json!({"writes": "direct", "ratio": ratio, "windows": windows});
        assert!(reached(line(0.98, 7)) && !reached(line(0.96, 7)) && !reached(line(1.04, 7)) && !reached(line(1.0, 4)));
    }

    #[test]
    fn solo_times_must_predict_concurrent_times() {
        let reached = |line: Value| together(&line).expect("a figure").reached;
        let line = |error: f64| json!({"programs": 4, "median_error": error});
        assert!(reached(line(0.1)) && !reached(line(0.11)));
        assert_eq!(together(&json!({"together": "read_8192", "error": 0.5})), None);
    }

    #[test]
    fn clean_images_may_have_only_expected_marks() {
        let figure = |marks: Value| clean(&json!({"clean": "quick", "runs": 20, "marks": marks})).expect("a figure");
        assert!(figure(json!({})).reached && figure(json!({"noise": 7, "nested": 720})).reached);
        let missed = figure(json!({"noise": 7, "amplify": 2}));
        assert_eq!((missed.reached, missed.measured.as_str()), (false, "amplify 2"));
    }

    #[test]
    fn instructions_are_judged_per_call_and_per_program() {
        let reached = |line: Value| instructions(&line).expect("a figure").reached;
        assert!(reached(json!({"program": "write_8192", "instructions": 400_000})));
        assert!(!reached(json!({"program": "write_8192", "instructions": 3_000_001})));
        assert!(reached(json!({"program": "read_8192", "world": 20.5, "bare": 8.0})));
        assert!(!reached(json!({"program": "read_8192", "world": 49.0, "bare": 8.0})));
        let timed = |engine: &str, each: f64| reached(json!({"engine": engine, "instructions": each}));
        assert!(timed("posix", 250.0) && timed("posix-live", 170.0) && timed("uring-live", 240.0));
        assert!(!timed("posix", 250.1) && !timed("posix-live", 170.1) && !timed("uring-live", 240.1));
        assert!(timed("posix-full", 510.0) && timed("uring-full", 680.0));
        assert!(!timed("posix-full", 510.1) && !timed("uring-full", 680.1));
    }

    #[test]
    fn simulations_have_limits_for_the_paper_a_thousand_machines_and_a_call() {
        let reached = |simulated: &str, instructions: u64| {
            simulations(&json!({"simulated": simulated, "instructions": instructions})).expect("a figure").reached
        };
        assert!(reached("paper", 17_000_000_000) && !reached("paper", 17_000_000_001));
        assert!(reached("vax780-sc780", 230_000_000) && !reached("vax780-sc780", 230_000_001));
        assert!(reached("a sequential read of 8 KiB", 7_500) && !reached("a sequential read of 8 KiB", 7_501));
        assert!(reached("a call of largefb", 7_501));
        assert_eq!(simulations(&json!({"program": "--version", "instructions": 1})), None);
    }

    #[test]
    fn sweeps_must_join_and_need_little_memory() {
        let reached = |line: Value| swept(&line).expect("a figure").reached;
        let joined = |are_same, swept| json!({"swept": swept, "parts": 4, "bytes": 9, "are_same": are_same});
        assert!(reached(joined(true, 10_000)) && !reached(joined(false, 10_000)) && !reached(joined(true, 9_999)));
        let limited = |status, limit_bytes: u64, bytes: u64| {
            let mut line = json!({"swept": 100_000, "limit_bytes": limit_bytes, "bytes": bytes});
            line["status"] = status;
            line
        };
        assert!(reached(limited(json!(0), 300_000_000, 200_000)));
        assert!(!reached(limited(json!(0), 400_000_000, 200_000)) && !reached(limited(json!(0), 300_000_000, 0)));
        assert!(!reached(limited(Value::Null, 300_000_000, 200_000)));
    }

    #[test]
    fn results_must_be_printed_within_time_and_memory_limits() {
        let reached = |results: u64, seconds: f64, limit_bytes: u64, status: Value| {
            let line = json!({"printed": "show", "results": results, "seconds": seconds, "limit_bytes": limit_bytes,
                "status": status});
            printed(&line).expect("a figure").reached
        };
        assert!(reached(10_000, 4.9, 500_000_000, json!(0)));
        assert!(!reached(10_000, 5.1, 500_000_000, json!(0)) && !reached(10_000, 1.0, 500_000_000, json!(101)));
        assert!(!reached(9_999, 1.0, 500_000_000, json!(0)) && !reached(10_000, 1.0, 600_000_000, json!(null)));
        assert_eq!(printed(&json!({"printed": "show"})), None);
    }

    #[test]
    fn kills_must_not_lose_results() {
        let line = |kills: u64, lost: u64| {
            json!({"kills": kills, "resumed": 150, "stored": 900, "lost": lost, "doubled": 0, "unmeasured": 0,
                "left_behind": 0})
        };
        let reached = |line: Value| kills(&line).expect("a figure").reached;
        assert!(reached(line(200, 0)) && !reached(line(200, 1)) && !reached(line(20, 0)));
        assert_eq!(kills(&json!({"kills": 200})), None);
    }

    #[test]
    fn losses_must_be_found_if_and_only_if_they_exist() {
        let reached = |line: Value| verify(&line).expect("a figure").reached;
        let barriers =
            |cuts: u64, lost: u64| json!({"verify": "barriers", "cuts": cuts, "acknowledged": 5000, "lost": lost});
        assert!(reached(barriers(100, 0)) && !reached(barriers(100, 1)) && !reached(barriers(6, 0)));
        let none = |with_losses: u64| json!({"verify": "no barriers", "cuts": 100, "with_losses": with_losses});
        assert!(reached(none(100)) && !reached(none(99)));
        let disk = |with_dropped: u64, found: u64, lost: u64| {
            json!({
                "verify": "disk", "cuts": 100, "with_dropped": with_dropped, "found": found, "lost": lost,
            })
        };
        assert!(reached(disk(97, 97, 0)) && !reached(disk(97, 96, 0)) && !reached(disk(97, 97, 1)));
        assert!(!reached(disk(0, 0, 0)));
        assert_eq!(verify(&json!({"verify": "other", "cuts": 100})), None);
    }

    #[test]
    fn power_cuts_must_not_lose_acknowledged_data() {
        let line = |cuts: u64, promised: u64, lost: u64| {
            json!({"power_cuts": cuts, "promised": promised, "resumed": 80, "lost": lost, "doubled": 0, "unmeasured": 0,
                "left_behind": 0})
        };
        let reached = |line: Value| power(&line).expect("a figure").reached;
        assert!(reached(line(100, 900, 0)) && !reached(line(100, 900, 1)));
        assert!(!reached(line(12, 90, 0)) && !reached(line(100, 0, 0)));
    }
}
