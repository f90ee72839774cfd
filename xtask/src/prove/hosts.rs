//! Several hosts on one computer, started by MPI (`crates/diskperf/benches/hosts/`). They share its processors, so a
//! start is later, and a rate is lower, than on real hosts.

use serde_json::Value;

use super::{Experiment, Figure};

/// Rounds whose starts are compared, at least.
const STARTS: u64 = 50;

/// The median difference between the first operations of two hosts, in microseconds.
const START_US: f64 = 1_000.0;

/// The difference between the rate of all disks together and the sum of their rates alone.
const DIFFERENCE: f64 = 0.02;

/// The share of the time that the bridge may compute while its host measures, in percent.
const BRIDGE_PERCENT: f64 = 0.1;

/// The time of each bridge inside measured sections, in seconds: with less, its share is not known well enough.
const WATCHED_S: f64 = 10.0;

/// The time from the death of a host to the end of the run, in seconds.
const END_S: f64 = 5.0;

/// Undisturbed rounds of two guests, at least.
const ROUNDS: u64 = 10;

/// The largest difference between the clocks that diskperf found and those that the guests show, in seconds. They show
/// hundredths, one after the other.
const CLOCKS_S: f64 = 2.0;

/// The time from the loss of a guest to its name, in seconds: ten times the patience of 3 s, a round, and one
/// poll of a slow guest.
const LOST_S: f64 = 40.0;

/// The hosts of the experiments with four.
const HOSTS: u64 = 4;

/// Starts and clocks of two hosts, with each MPI library.
pub const START: Experiment =
    Experiment { name: "hosts-start", command: &benchmark("start"), figures: 4, judge: start };

/// Four hosts with a slow disk each.
pub const DISKS: Experiment =
    Experiment { name: "hosts-disks", command: &benchmark("disks"), figures: 1, judge: disks };

/// The CPU time of `diskperf-mpi`, with each MPI library.
pub const BRIDGE: Experiment =
    Experiment { name: "hosts-bridge", command: &benchmark("bridge"), figures: 2, judge: bridge };

/// Four hosts compare two slow disks.
pub const CHOOSE: Experiment =
    Experiment { name: "hosts-choose", command: &benchmark("choose"), figures: 1, judge: choose };

/// A killed host, with each MPI library.
pub const FAILURE: Experiment =
    Experiment { name: "hosts-failure", command: &benchmark("failure"), figures: 2, judge: failure };

/// Two guests, started through ssh, with each MPI library.
pub const GUESTS: Experiment =
    Experiment { name: "hosts-guests", command: &benchmark("guests"), figures: 6, judge: guests };

/// The command that runs a part of the benchmark.
const fn benchmark(part: &'static str) -> [&'static str; 8] {
    ["cargo", "bench", "--quiet", "--workspace", "--bench", "hosts", "--", part]
}

/// The line with the starts, or the one with the clocks.
fn start(line: &Value) -> Option<Figure> {
    if let Some(library) = line["clocks"].as_str() {
        let (error, uncertainty) = (line["error_ns"].as_u64()?, line["uncertainty_ns"].as_u64()?);
        return Some(Figure {
            what: format!("the difference of clocks 1,000 s apart ({library})"),
            asked: "its error is within the uncertainty that diskperf states".to_owned(),
            measured: format!("{error} ns, stated {uncertainty} ns"),
            reached: error <= uncertainty,
        });
    }
    let (library, rounds) = (line["start"].as_str()?, line["rounds"].as_u64()?);
    let (median, largest) = (line["median_us"].as_f64()?, line["largest_us"].as_f64()?);
    Some(Figure {
        what: format!("first operations of two hosts on one computer ({library}), {rounds} rounds"),
        asked: "median difference at most 1 ms".to_owned(),
        measured: format!("{median:.0} us, at most {largest:.0} us"),
        reached: rounds >= STARTS && median <= START_US,
    })
}

fn disks(line: &Value) -> Option<Figure> {
    let (disks, sum, together) = (line["disks"].as_u64()?, line["sum"].as_f64()?, line["together"].as_f64()?);
    let difference = together / sum - 1.0;
    Some(Figure {
        what: format!("{disks} hosts on one computer, a throttled disk each: together over the sum alone"),
        asked: "within 2 %".to_owned(),
        measured: format!("{:+.2} %", 100.0 * difference),
        reached: disks >= HOSTS && difference.abs() <= DIFFERENCE,
    })
}

fn bridge(line: &Value) -> Option<Figure> {
    let (library, hosts) = (line["bridge"].as_str()?, line["hosts"].as_u64()?);
    let (watched, percent) = (line["watched_s"].as_f64()?, line["largest_percent"].as_f64()?);
    // Each bridge has started a program, so without CPU time it was not counted.
    let is_counted = line["whole_cpu_s"].as_f64()? > 0.0;
    Some(Figure {
        what: format!("CPU time of diskperf-mpi inside measured sections ({library}), the largest of {hosts} hosts"),
        asked: format!("below {BRIDGE_PERCENT} % of the time, in {WATCHED_S} s or more"),
        measured: format!("{percent:.3} % of {watched:.1} s"),
        reached: line["measured"] == true
            && is_counted
            && hosts >= HOSTS
            && watched >= WATCHED_S
            && (0.0..BRIDGE_PERCENT).contains(&percent),
    })
}

fn choose(line: &Value) -> Option<Figure> {
    let limits: Vec<f64> = line["choose"].as_array()?.iter().filter_map(Value::as_f64).collect();
    let [first, second] = limits[..] else { return None };
    let (hosts, rounds, ratio) = (line["hosts"].as_u64()?, line["rounds"].as_u64()?, line["ratio"].as_f64()?);
    let [low, high] = ["low", "high"].map(|end| line[end].as_f64().unwrap_or(f64::NAN));
    let truth = second / first;
    Some(Figure {
        what: format!("`choose` on {hosts} hosts between disks of {first} and {second} MiB/s, {rounds} rounds"),
        asked: format!("b is faster, {truth:.3}x inside the interval"),
        measured: format!("{ratio:.4}x ({low:.4}-{high:.4})"),
        reached: hosts >= HOSTS
            && line["first"] == "a"
            && line["verdict"] == "faster"
            && line["faster"] == "b"
            && (low..=high).contains(&truth),
    })
}

fn failure(line: &Value) -> Option<Figure> {
    let (library, round, seconds) = (line["failure"].as_str()?, line["round"].as_str()?, line["seconds"].as_f64()?);
    let (is_named, stored) = (line["is_named"].as_bool()?, line["rounds_stored"].as_u64()?);
    let status = line["status"].as_i64();
    let ended = status.map_or_else(|| "a signal".to_owned(), |status| format!("exit status {status}"));
    let named = if is_named { "named" } else { "not named" };
    Some(Figure {
        what: format!("diskperf killed on a host of three in round 3, rounds of {round} ({library})"),
        asked: "exit status not 0 within 5 s, the host named, 2 rounds stored".to_owned(),
        measured: format!("{ended} after {seconds:.1} s, {named}, {stored} rounds"),
        reached: status.is_some_and(|status| status != 0) && seconds <= END_S && is_named && stored == 2,
    })
}

/// The line of undisturbed guests, of a paused one, or of one that was cut off.
fn guests(line: &Value) -> Option<Figure> {
    let status = line["status"].as_i64();
    let ended = status.map_or_else(|| "no exit status".to_owned(), |status| format!("exit status {status}"));
    if let Some(library) = line["guests"].as_str() {
        let (rounds, median) = (line["rounds"].as_u64()?, line["median_us"].as_f64()?);
        let difference = (line["offset_s"].as_f64()? - line["clocks_apart_s"].as_f64()?).abs();
        let kernels: Vec<&str> = line["kernels"].as_array()?.iter().filter_map(Value::as_str).collect();
        let are_different = kernels.len() == 2 && kernels[0] != kernels[1];
        return Some(Figure {
            what: format!("two guests, started through ssh ({library}), Linux {}", kernels.join(" and ")),
            asked: format!("both measured in {ROUNDS} rounds, clocks as /proc/uptime within {CLOCKS_S} s"),
            measured: format!(
                "{rounds} rounds, started within {median:.0} us (median), clocks within {difference:.2} s"
            ),
            reached: status == Some(0)
                && line["measured"] == true
                && line["hosts"] == serde_json::json!(["n0", "n1"])
                && are_different
                && rounds >= ROUNDS
                && difference <= CLOCKS_S,
        });
    }
    if let Some(library) = line["paused"].as_str() {
        let (pause, named) = (line["pause_s"].as_f64()?, line["named_s"].as_f64()?);
        let (rounds, asked) = (line["rounds"].as_u64()?, line["asked_rounds"].as_u64()?);
        return Some(Figure {
            what: format!("a guest of two that stands still for {pause} s ({library})"),
            asked: "named meanwhile, then all rounds, exit status 0".to_owned(),
            measured: format!("named after {named:.1} s, {rounds} of {asked} rounds, {ended}"),
            reached: status == Some(0) && named < pause && rounds == asked,
        });
    }
    let (library, named) = (line["cut"].as_str()?, line["named_s"].as_f64()?);
    let (stored, before) = (line["rounds_stored"].as_u64()?, line["rounds_before"].as_u64()?);
    // Open MPI's launcher waits for its daemon on the lost host: for five minutes, when it was tried.
    let is_ended = status.map_or(library == "openmpi", |status| status != 0);
    let ended = line["ended_s"].as_f64().map_or_else(
        || "the launcher still waits for the host".to_owned(),
        |seconds| format!("{ended} after {seconds:.0} s"),
    );
    Some(Figure {
        what: format!("a guest of two that loses its power, with a patience of 3 s ({library})"),
        asked: format!("named within {LOST_S} s, finished rounds stored, no exit status 0"),
        measured: format!("named after {named:.0} s, {stored} rounds stored, {before} before the cut; {ended}"),
        reached: is_ended && named <= LOST_S && stored >= before && before >= 2,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn late_starts_and_wrong_clocks_are_missed() {
        let started = |rounds: u64, median: f64| {
            let line = json!({"start": "mpich", "rounds": rounds, "median_us": median, "largest_us": 9e4});
            start(&line).expect("a figure").reached
        };
        assert!(started(50, 1_000.0) && !started(50, 1_001.0) && !started(49, 40.0));
        let compared = |error: u64| {
            let line = json!({"clocks": "mpich", "error_ns": error, "uncertainty_ns": 1_297});
            start(&line).expect("a figure").reached
        };
        assert!(compared(1_297) && !compared(1_298));
        assert_eq!(start(&json!({"start": "mpich", "rounds": 50, "median_us": null, "largest_us": null})), None);
    }

    #[test]
    fn together_must_be_the_sum_of_four_disks() {
        let reached = |disks: u64, together: f64| {
            let line = json!({"disks": disks, "sum": 80.0, "together": together});
            super::disks(&line).expect("a figure").reached
        };
        assert!(reached(4, 81.5) && reached(4, 78.5) && !reached(4, 81.7) && !reached(4, 78.3) && !reached(2, 80.0));
    }

    #[test]
    fn busy_or_briefly_watched_bridges_are_missed() {
        let counted = |measured: bool, watched: f64, percent: Value, whole: f64| {
            let line = json!({
                "bridge": "openmpi", "measured": measured, "hosts": 4, "watched_s": watched, "largest_percent": percent,
                "whole_cpu_s": whole,
            });
            bridge(&line).is_some_and(|figure| figure.reached)
        };
        let reached = |measured, watched, percent| counted(measured, watched, percent, 0.3);
        assert!(!counted(true, 18.0, json!(0.0), 0.0));
        assert!(reached(true, 18.0, json!(0.011)) && reached(true, 18.0, json!(0.0)));
        assert!(!reached(true, 18.0, json!(0.1)) && !reached(true, 9.0, json!(0.011)));
        assert!(!reached(false, 18.0, json!(0.011)) && !reached(true, 18.0, Value::Null));
    }

    #[test]
    fn the_interval_must_contain_the_ratio_of_the_limits() {
        let reached = |faster: &str, low: Value, high: f64| {
            let line = json!({
                "choose": [20, 30], "hosts": 4, "first": "a", "verdict": "faster", "faster": faster, "ratio": 1.5,
                "low": low, "high": high, "rounds": 6,
            });
            choose(&line).expect("a figure").reached
        };
        assert!(reached("b", json!(1.49), 1.51));
        assert!(!reached("a", json!(1.49), 1.51) && !reached("b", json!(1.501), 1.51));
        assert!(!reached("b", json!(1.4), 1.499) && !reached("b", Value::Null, 1.51));
    }

    #[test]
    fn slow_ends_and_lost_rounds_are_missed() {
        let reached = |status: Value, seconds: f64, is_named: bool, stored: u64| {
            let line = json!({
                "failure": "mpich", "round": "2s", "status": status, "seconds": seconds, "is_named": is_named,
                "rounds_stored": stored,
            });
            failure(&line).expect("a figure").reached
        };
        assert!(reached(json!(1), 2.1, true, 2) && reached(json!(137), 0.1, true, 2));
        assert!(!reached(json!(0), 2.1, true, 2) && !reached(Value::Null, 2.1, true, 2));
        assert!(!reached(json!(1), 5.1, true, 2) && !reached(json!(1), 2.1, false, 2));
        assert!(!reached(json!(1), 2.1, true, 1) && !reached(json!(1), 2.1, true, 3));
    }

    #[test]
    fn guests_that_are_not_both_measured_are_missed() {
        let reached = |status: i64, hosts: Value, kernel: &str, rounds: u64, offset: f64| {
            let line = json!({
                "guests": "mpich", "status": status, "hosts": hosts, "kernels": ["6.1.0", kernel], "measured": true,
                "rounds": rounds, "median_us": 900.0, "clocks_apart_s": -4.0, "offset_s": offset,
            });
            guests(&line).expect("a figure").reached
        };
        let both = json!(["n0", "n1"]);
        assert!(reached(0, both.clone(), "6.12.1", 10, -5.9));
        assert!(!reached(1, both.clone(), "6.12.1", 10, -4.0) && !reached(0, json!(["n0"]), "6.12.1", 10, -4.0));
        assert!(!reached(0, both.clone(), "6.1.0", 10, -4.0) && !reached(0, both.clone(), "6.12.1", 9, -4.0));
        assert!(!reached(0, both, "6.12.1", 10, -6.1));
    }

    #[test]
    fn silent_guests_must_be_named() {
        let paused = |status: i64, named: f64, rounds: u64| {
            let line = json!({
                "paused": "mpich", "pause_s": 20.0, "named_s": named, "status": status, "rounds": rounds,
                "asked_rounds": 10,
            });
            guests(&line).expect("a figure").reached
        };
        assert!(paused(0, 5.0, 10) && !paused(1, 5.0, 10) && !paused(0, 21.0, 10) && !paused(0, 5.0, 9));
        let cut_of = |library: &str, status: Value, named: f64, stored: u64| {
            let line = json!({
                "cut": library, "named_s": named, "status": status, "ended_s": null, "rounds_before": 2,
                "rounds_stored": stored,
            });
            guests(&line).expect("a figure").reached
        };
        let cut = |status, named, stored| cut_of("openmpi", status, named, stored);
        assert!(cut(json!(1), 31.0, 3) && cut(Value::Null, 31.0, 2));
        assert!(cut_of("mpich", json!(1), 31.0, 3) && !cut_of("mpich", Value::Null, 31.0, 2));
        assert!(!cut(json!(0), 31.0, 3) && !cut(json!(1), 41.0, 3) && !cut(json!(1), 31.0, 1));
    }
}
