//! `diskperf explain` as a user meets it: explains documents of real and simulated runs, and cells chosen by name;
//! refuses other files.

use std::fs;
use std::process::Stdio;
use std::sync::OnceLock;

use serde_json::Value;
use testkit::{ProgramOutput, names_in};

use crate::common::{Cli, cells};

/// A folder with the document of a small run in both worlds, `run.json`. It is run once for all tests.
fn measured() -> Cli {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| {
        let cli = Cli::new();
        let ended = cli.well(&["run", "smoke", "real=.", "sim:flat", "--size", "1MiB", "--json"]);
        ended.out
    });
    let cli = Cli::new();
    fs::write(cli.path().join("run.json"), document).expect("the document");
    cli
}

fn explain(cli: &Cli, arguments: &[&str]) -> ProgramOutput {
    cli.run(&[&["explain", "run.json"], arguments].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn measured_and_simulated_cells_are_explained() {
    let cli = measured();
    let ended = explain(&cli, &[]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    let document = json(&fs::read_to_string(cli.path().join("run.json")).expect("the document"));
    let explained = cells(&document).iter().filter(|cell| cell["measured"] == true).count();
    assert_eq!(ended.out.matches("  elapsed ").count(), explained, "{}", ended.out);
    assert_eq!(ended.out.matches("  bottleneck: ").count(), explained, "{}", ended.out);
    // On the simplest machine, the disk takes most of the time, and all time is attributed.
    let simulated = explain(&cli, &["sim:flat", "write_8192"]);
    assert!(simulated.out.contains("bottleneck: device"), "{}", simulated.out);
    assert!(simulated.out.contains("none: ") && !simulated.out.contains("  unattributed "), "{}", simulated.out);
}

/// The printed times sum to the printed elapsed time, to the last digit.
#[test]
fn the_printed_times_sum_to_the_elapsed_time() {
    let cli = measured();
    let text = explain(&cli, &[]).out;
    let amount = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let unit = words.iter().position(|word| *word == "ms").filter(|at| *at > 0 && line.contains(" % "))?;
        words[unit - 1].replace([',', '.'], "").parse::<u64>().ok()
    };
    let mut sum = 0;
    let mut checked = 0;
    for line in text.lines() {
        if line.starts_with("  elapsed ") {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[1].replace([',', '.'], "").parse::<u64>().ok(), Some(sum), "{text}");
            (sum, checked) = (0, checked + 1);
        } else if let Some(amount) = amount(&(line.to_owned() + " ")) {
            sum += amount;
        }
    }
    assert!(checked > 10, "{text}");
}

#[test]
fn nanoseconds_sum_to_the_rounds() {
    let cli = measured();
    let document = json(&explain(&cli, &["--json"]).out);
    for cell in cells(&document).iter().filter(|cell| cell["measured"] == true) {
        let rounds = cell["rounds"].as_array().expect("rounds");
        let clock = match cell["state"]["clock"].as_str() {
            Some("durable") => "durable_s",
            Some("data_durable") => "data_durable_s",
            _ => "returned_s",
        };
        let elapsed: f64 =
            rounds.iter().map(|round| round[clock].as_f64().or(round["returned_s"].as_f64()).expect("s")).sum();
        let owned: u64 = cell["time"].as_object().expect("owners").values().map(|ns| ns.as_u64().expect("ns")).sum();
        assert!((owned as f64 / 1e9 - elapsed).abs() < 1e-6, "{cell}");
    }
}

/// A folder with the document of a simulation, `run.json`.
fn simulated(arguments: &[&str]) -> Cli {
    let cli = Cli::new();
    cli.well(&[&["simulate"], arguments, &["--json", "-o", "run.json"]].concat());
    cli
}

fn sum(times: &Value) -> u64 {
    times.as_object().expect("times").values().map(|nanos| nanos.as_u64().expect("nanoseconds")).sum()
}

/// The times of each resource and of each program add up to the elapsed time, to the nanosecond.
#[test]
fn simulated_cells_are_explained_by_resource_and_program() {
    for arguments in [
        &["vax780-sc780", "--size", "256KiB", "--phases", "2", "--program", "write_8192"][..],
        &["vax750-uda50", "--size", "256KiB", "--phases", "3", "--program", "read_8192"],
        &["vax780-sc780-inadequate-lead", "lfs", "--size", "256KiB", "--phases", "1", "--program", "largefb"],
    ] {
        let cli = simulated(arguments);
        let document = json(&explain(&cli, &["--json"]).out);
        assert!(!cells(&document).is_empty());
        for cell in cells(&document) {
            let breakdown = &cell["breakdown"];
            let (mut elapsed, mut names) = (0, Vec::new());
            for program in breakdown["programs"].as_array().expect("programs") {
                assert_eq!(program["elapsed"].as_u64(), Some(sum(&program["owners"])), "{program}");
                elapsed += sum(&program["owners"]);
            }
            // The programs together have the time of the cell's own breakdown.
            assert_eq!(elapsed, sum(&cell["time"]), "{cell}");
            for one in breakdown["resources"].as_array().expect("resources") {
                let idle = one["idle"].as_u64().expect("nanoseconds");
                let all = sum(&one["busy"]) + sum(&one["blocked"]) + idle;
                assert_eq!(one["elapsed"].as_u64(), Some(all), "{one}");
                names.push(one["resource"].as_str().expect("a name").to_owned());
            }
            let drives = cell["targets"].as_u64().expect("a number");
            assert_eq!(names[..3], ["cpu", "bus", "controller"]);
            assert_eq!(names.len() as u64, 3 + drives, "{names:?}");
            let faster = breakdown["faster"].as_array().expect("resources");
            assert_eq!(faster.len(), 6, "{breakdown}");
            assert!(faster.iter().all(|one| one["gain_percent"].is_number()), "{breakdown}");
        }
    }
}

/// The reported gain from a faster processor is that of a separate simulation with such a processor.
#[test]
fn a_faster_resource_is_simulated_again() {
    let words = ["vax780-sc780", "--size", "256KiB", "--phases", "2", "--program", "write_8192", "--drives", "1"];
    let cli = simulated(&words);
    let rate = |cli: &Cli| {
        let document = json(&fs::read_to_string(cli.path().join("run.json")).expect("the document"));
        cells(&document).iter().map(|cell| cell["rate"]["per_second"].as_f64().expect("a rate")).collect::<Vec<f64>>()
    };
    let own = rate(&cli);
    let faster = rate(&simulated(&[&words[..], &["--set", "cpu.code=0.909times"]].concat()));
    let document = json(&explain(&cli, &["--json"]).out);
    for ((cell, own), faster) in cells(&document).iter().zip(own).zip(faster) {
        let processor = &cell["breakdown"]["faster"][0];
        assert_eq!((&processor["resource"], processor["per_second"].as_f64()), (&"processor".into(), Some(faster)));
        let gain = processor["gain_percent"].as_f64().expect("a gain");
        assert!((gain - 100.0 * (faster / own - 1.0)).abs() < 1e-9 && gain > 0.0, "{gain}");
    }
    let text = explain(&cli, &["write_8192"]).out;
    for words in ["by program", "by resource", "most of it, ", "helps most, +", "drive1 "] {
        assert!(text.contains(words), "nothing of {words:?}: {text}");
    }
}

/// If the user has changed the machine file since the run, the machine is another one.
#[test]
fn a_changed_machine_is_not_compared() {
    let cli = Cli::new();
    let write = |drive: &str| {
        fs::write(cli.path().join("mine.toml"), format!("like = \"vax780-sc780\"\ndrive = \"{drive}\"\n"))
            .expect("a machine");
    };
    write("ra81");
    let words = ["simulate", "./mine.toml", "--size", "256KiB", "--phases", "1", "--program", "read_8192"];
    cli.well(&[&words[..], &["--json", "-o", "run.json"]].concat());
    assert!(explain(&cli, &[]).out.contains("helps most"), "{}", explain(&cli, &[]).out);
    write("eagle");
    let ended = explain(&cli, &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("n.m. (a new simulation gives another rate"), "{}", ended.out);
}

#[test]
fn cells_are_chosen_by_program_phase_and_target() {
    let cli = measured();
    let chosen = |words: &[&str]| -> Vec<String> {
        let document = json(&explain(&cli, &[words, &["--json"]].concat()).out);
        cells(&document)
            .iter()
            .map(|cell| format!("{} {} {}", cell["program"], cell["phase"], cell["target"]))
            .collect()
    };
    assert_eq!(chosen(&["smallfb", "real"]).len(), 3);
    assert_eq!(chosen(&["smallfb.read"]).len(), 2);
    assert_eq!(chosen(&["smallfb.read", "commit", "sim:flat"]).len(), 2);
    assert!(chosen(&["real"]).iter().all(|cell| cell.contains("real")));
    assert_eq!(chosen(&["real", "sim:flat"]), chosen(&[]));
}

#[test]
fn each_format_contains_the_same_cells() {
    let cli = measured();
    let markdown = explain(&cli, &["smallfb", "--format", "markdown"]);
    assert_eq!(markdown.out.lines().count(), 2 + 6, "{}", markdown.out);
    let csv = explain(&cli, &["smallfb.creat", "sim:flat", "--format", "csv", "-o", "out.csv"]);
    assert_eq!((csv.status, csv.out.as_str()), (Some(0), ""), "{}", csv.err);
    let csv = fs::read_to_string(cli.path().join("out.csv")).expect("the file");
    assert!(csv.starts_with("provenance,preset,"), "{csv}");
    // All owners of a simulated machine are known.
    assert_eq!(csv.lines().count(), 1 + 13, "{csv}");
}

#[test]
fn a_document_is_read_from_standard_input() {
    let cli = measured();
    let input = fs::File::open(cli.path().join("run.json")).expect("the document");
    let output = cli
        .command(&["explain", "-", "commit"])
        .stdin(Stdio::from(input))
        .output()
        .expect("the program can be started");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("commit on real"));
    // Standard input is empty.
    let ended = cli.run(&["explain", "-"]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.err.contains("standard input is empty"), "{}", ended.err);
}

#[test]
fn invalid_documents_are_refused_with_a_hint() {
    let cli = measured();
    let path = cli.path();
    let whole = fs::read_to_string(path.join("run.json")).expect("the document");
    fs::write(path.join("cut.json"), &whole[..whole.len() / 2]).expect("a file");
    fs::write(path.join("other.json"), whole.replace("diskperf/1", "diskperf/2")).expect("a file");
    fs::write(path.join("unfit.json"), whole.replace("\"seed\"", "\"seeds\"")).expect("a file");
    fs::write(path.join("fio.json"), "{\"fio version\": \"fio-3.36\", \"jobs\": []}").expect("a file");
    fs::write(path.join("table.txt"), "read_8192  1,090 MiB/s\n").expect("a file");
    fs::write(path.join("empty"), "").expect("a file");
    // A disk or a swap file, named by mistake: none of its bytes are kept.
    fs::File::create(path.join("huge")).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    let names = names_in(path);
    for (file, status, words) in [
        ("cut.json", 2, &["truncated", "at line"][..]),
        ("other.json", 2, &["diskperf/2", "diskperf/1", "that wrote it\n"]),
        ("unfit.json", 2, &["not valid diskperf/1", "seeds"]),
        ("fio.json", 2, &["not a results file of diskperf", "--json -o"]),
        ("table.txt", 2, &["not JSON", "the JSON of a run"]),
        ("empty", 2, &["is empty"]),
        ("huge", 2, &["larger than 256 MiB"]),
        ("missing.json", 2, &["there is no missing.json"]),
        (".", 2, &["is a directory"]),
    ] {
        let ended = cli.run(&["explain", file]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{file}: {}", ended.err);
        for word in words.iter().chain(&["error: ", "hint: "]) {
            assert!(ended.err.contains(word), "{file} says nothing of {word:?}: {}", ended.err);
        }
    }
    assert_eq!(names_in(path), names);
}

#[test]
fn words_without_a_cell_get_similar_names() {
    let cli = measured();
    for (words, expected) in [
        (&["smalfb"][..], "smallfb"),
        (&["write8192"], "write_8192"),
        (&["smallfb.write", "real"], "smallfb.creat"),
        (&["xyzzy"], "real"),
    ] {
        let ended = explain(&cli, words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(ended.err.contains(&format!("no result for {}", words[0])), "{}", ended.err);
        let hint = ended.err.lines().find(|line| line.starts_with("hint: ")).expect("a hint");
        assert!(hint.contains(expected), "{hint}");
    }
}

#[test]
fn a_run_without_cells_gives_its_error() {
    let cli = Cli::new();
    let ended = cli.run(&["run", "smoke", "missing", "--json", "-o", "run.json"]);
    assert_ne!(ended.status, Some(0));
    let ended = explain(&cli, &[]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("nothing to explain: there is no missing"), "{}", ended.err);
}

#[test]
fn the_input_document_is_not_overwritten() {
    let cli = measured();
    let before = fs::read(cli.path().join("run.json")).expect("the document");
    let ended = explain(&cli, &["commit", "--json", "-o", "./run.json"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("would overwrite"), "{}", ended.err);
    assert_eq!(fs::read(cli.path().join("run.json")).expect("the document"), before);
}
