//! `diskperf explain` as a user meets it: the documents of real and simulated runs explained, cells chosen by
//! name, and what is no document.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use testkit::{Ended, names_in};

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

fn diskperf(folder: &Path, arguments: &[&str]) -> Ended {
    testkit::run(&program(), folder, arguments)
}

/// A folder with the document of a small run in both worlds, `run.json`. It is run once for all tests.
fn measured() -> TempDir {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let ended = diskperf(folder.path(), &["run", "smoke", "real=.", "sim:flat", "--size", "1MiB", "--json"]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        ended.out
    });
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("run.json"), document).expect("the document");
    folder
}

fn explain(folder: &TempDir, arguments: &[&str]) -> Ended {
    diskperf(folder.path(), &[&["explain", "run.json"], arguments].concat())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn cells(document: &Value) -> &Vec<Value> {
    document["cells"].as_array().expect("cells")
}

#[test]
fn every_cell_of_both_worlds_is_explained() {
    let folder = measured();
    let ended = explain(&folder, &[]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    let document = json(&fs::read_to_string(folder.path().join("run.json")).expect("the document"));
    let explained = cells(&document).iter().filter(|cell| cell["measured"] == true).count();
    assert_eq!(ended.out.matches("  elapsed ").count(), explained, "{}", ended.out);
    assert_eq!(ended.out.matches("  limited by").count(), explained, "{}", ended.out);
    // On the simplest machine the disk has most of the time, and nothing is left unexplained.
    let simulated = explain(&folder, &["sim:flat", "write_8192"]);
    assert!(simulated.out.contains("limited by device"), "{}", simulated.out);
    assert!(simulated.out.contains("no time:") && !simulated.out.contains("  rest "), "{}", simulated.out);
}

/// What is printed sums to what is printed as elapsed, to the last digit.
#[test]
fn the_printed_times_sum_to_the_elapsed_time() {
    let folder = measured();
    let text = explain(&folder, &[]).out;
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
    let folder = measured();
    let document = json(&explain(&folder, &["--json"]).out);
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

#[test]
fn cells_are_chosen_by_program_phase_and_target() {
    let folder = measured();
    let chosen = |words: &[&str]| -> Vec<String> {
        let document = json(&explain(&folder, &[words, &["--json"]].concat()).out);
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
fn each_format_holds_the_same_cells() {
    let folder = measured();
    let markdown = explain(&folder, &["smallfb", "--format", "markdown"]);
    assert_eq!(markdown.out.lines().count(), 2 + 6, "{}", markdown.out);
    let csv = explain(&folder, &["smallfb.creat", "sim:flat", "--format", "csv", "-o", "out.csv"]);
    assert_eq!((csv.status, csv.out.as_str()), (Some(0), ""), "{}", csv.err);
    let csv = fs::read_to_string(folder.path().join("out.csv")).expect("the file");
    assert!(csv.starts_with("provenance,preset,"), "{csv}");
    // All ten owners of a simulated machine are known.
    assert_eq!(csv.lines().count(), 1 + 10, "{csv}");
}

#[test]
fn a_document_can_come_from_standard_input() {
    let folder = measured();
    let input = fs::File::open(folder.path().join("run.json")).expect("the document");
    let output = testkit::command(&program())
        .args(["explain", "-", "commit"])
        .current_dir(folder.path())
        .stdin(Stdio::from(input))
        .output()
        .expect("the program can be started");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("commit on real"));
    // Nothing comes from there.
    let ended = diskperf(folder.path(), &["explain", "-"]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.err.contains("standard input is empty"), "{}", ended.err);
}

#[test]
fn what_is_no_document_is_refused_with_the_way_on() {
    let folder = measured();
    let path = folder.path();
    let whole = fs::read_to_string(path.join("run.json")).expect("the document");
    fs::write(path.join("cut.json"), &whole[..whole.len() / 2]).expect("a file");
    fs::write(path.join("other.json"), whole.replace("diskperf/1", "diskperf/2")).expect("a file");
    fs::write(path.join("unfit.json"), whole.replace("\"seed\"", "\"seeds\"")).expect("a file");
    fs::write(path.join("fio.json"), "{\"fio version\": \"fio-3.36\", \"jobs\": []}").expect("a file");
    fs::write(path.join("table.txt"), "read_8192  1,090 MiB/s\n").expect("a file");
    fs::write(path.join("empty"), "").expect("a file");
    // A disk or a swap file, named by mistake: no bytes of it are kept.
    fs::File::create(path.join("huge")).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    let names = names_in(path);
    for (file, status, words) in [
        ("cut.json", 2, &["cut short", "at line"][..]),
        ("other.json", 2, &["diskperf/2", "diskperf/1", "that wrote it 0."]),
        ("unfit.json", 2, &["says that it is diskperf/1", "seeds"]),
        ("fio.json", 2, &["no document of diskperf", "--json -o"]),
        ("table.txt", 2, &["not JSON", "only the document"]),
        ("empty", 2, &["is empty"]),
        ("huge", 2, &["larger than 256 MiB"]),
        ("missing.json", 2, &["there is no missing.json"]),
        (".", 2, &["is a directory"]),
    ] {
        let ended = diskperf(path, &["explain", file]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{file}: {}", ended.err);
        for word in words.iter().chain(&["error: ", "hint: "]) {
            assert!(ended.err.contains(word), "{file} says nothing of {word:?}: {}", ended.err);
        }
    }
    assert_eq!(names_in(path), names);
}

#[test]
fn a_word_that_names_no_cell_gets_names_like_it() {
    let folder = measured();
    for (words, expected) in [
        (&["smalfb"][..], "smallfb"),
        (&["write8192"], "write_8192"),
        (&["smallfb.write", "real"], "smallfb.creat"),
        (&["xyzzy"], "sim:flat"),
    ] {
        let ended = explain(&folder, words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(ended.err.contains(&format!("no cell for {}", words[0])), "{}", ended.err);
        let hint = ended.err.lines().find(|line| line.starts_with("hint: there are: ")).expect("a hint");
        assert!(hint.contains(expected), "{hint}");
    }
}

#[test]
fn a_run_without_cells_says_why() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let ended = diskperf(folder.path(), &["run", "smoke", "missing", "--json", "-o", "run.json"]);
    assert_ne!(ended.status, Some(0));
    let ended = explain(&folder, &[]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("nothing to explain: there is no missing"), "{}", ended.err);
}

#[test]
fn the_document_itself_is_not_overwritten() {
    let folder = measured();
    let before = fs::read(folder.path().join("run.json")).expect("the document");
    let ended = explain(&folder, &["commit", "--json", "-o", "./run.json"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("would be overwritten"), "{}", ended.err);
    assert_eq!(fs::read(folder.path().join("run.json")).expect("the document"), before);
}
