//! `diskperf paper`: a simulated cell next to every cell of the published tables, an answer to every question, a
//! verdict on every claim.

use std::path::Path;

use serde_json::Value;
use testkit::{ProgramOutput, run};

use crate::common::Cli;
use crate::common::document::document;

fn diskperf(arguments: &[&str]) -> ProgramOutput {
    Cli::in_folder("/").run(arguments)
}

fn json(arguments: &[&str]) -> Value {
    let ended = diskperf(arguments);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    document(&ended)
}

/// The paper has 192 cells, 24 of them n.m. and 6 starred; 93 are judged.
#[test]
fn every_published_cell_has_a_simulated_one() {
    testkit::compute_only!();
    let document = json(&["paper", "--json"]);
    let cells = document["cells"].as_array().expect("cells");
    let count = |is: fn(&Value) -> bool| cells.iter().filter(|cell| is(cell)).count();
    assert_eq!(cells.len(), 192);
    assert_eq!(count(|cell| cell["published"]["measured"] == false), 24);
    assert_eq!(count(|cell| cell["published"]["suspect"] == true), 6);
    assert_eq!(count(|cell| cell["judges"] == true), 93);
    assert_eq!(count(|cell| cell["simulated"]["kbytes_per_sec"].as_f64().is_some_and(|rate| rate > 50.0)), 192);
    assert_eq!(count(|cell| cell["error_percent"].is_null()), 24);
    assert_eq!(document["summary"]["rate"]["cells"], 93);
    assert_eq!(document["summary"]["cpu"]["cells"], 73);
    // Twin cells are one simulation.
    let cell = |table: &str, configuration: &str| {
        let is_it = |cell: &&Value| cell["table"] == table && cell["configuration"] == configuration;
        cells.iter().find(is_it).expect("a cell")["simulated"].clone()
    };
    assert_eq!(cell("T1", "Emulex SC750/Eagle"), cell("T4", "VAX 11/750 CMI Bus"));
    assert_eq!(cell("T2", "UDA50/RA81"), cell("T3", "VAX 11/780 UNIBUS"));
}

#[test]
fn tables_have_the_layout_and_footnotes_of_the_paper() {
    testkit::compute_only!();
    let ended = diskperf(&["paper", "T2", "d2"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let words = [
        "4.2BSD File Systems Tests - VAX 11/780",
        "Logically Sequential Transfers from an 8K/1K 4.2BSD File System (Kbytes/sec.)",
        "Sys. Ind. 9900/Eagle",
        "180 (52%)*",
        "n.m.",
        "predicted",
        "healthy",
        "* the operation of the hardware was suspect during these tests.",
        "is also printed in T4",
        "Fujitsu 2351A Disk Drive Characteristics",
    ];
    for word in words {
        assert!(ended.out.contains(word), "nothing of {word:?}: {}", ended.out);
    }
    assert!(!ended.out.contains("rates: median"), "one table is not all: {}", ended.out);
}

/// A part that is named twice is printed once, and the table of a drive is a document too.
#[test]
fn parts_are_printed_once_and_drives_as_documents() {
    testkit::compute_only!();
    let twice = diskperf(&["paper", "d1", "D1", "D2", "d1"]);
    assert_eq!(twice.status, Some(0), "{}", twice.err);
    assert_eq!(twice.out.matches("DEC RA81 Disk Drive Characteristics").count(), 1, "{}", twice.out);
    assert_eq!(twice.out.matches("Fujitsu 2351A Disk Drive Characteristics").count(), 1, "{}", twice.out);
    let document = json(&["paper", "D1", "d1", "--json"]);
    let drives = document["drives"].as_array().expect("drives");
    assert_eq!((drives.len(), drives[0]["rows"].as_array().map(Vec::len)), (1, Some(9)));
    let speed = &drives[0]["rows"][1];
    assert_eq!((speed["what"].as_str(), speed["value"].as_f64()), (Some("Rotational Speed"), Some(3600.0)));
    assert!(document["cells"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn every_question_is_answered_and_every_claim_judged() {
    testkit::compute_only!();
    let document = json(&["paper", "q8", "claims", "--json"]);
    let questions = document["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 1);
    let [low, value, high] = ["low", "value", "high"].map(|key| questions[0][key].as_f64().expect("a number"));
    assert!(low <= value && value <= high && low < high, "{questions:?}");
    assert!(questions[0]["reversed_by"].is_array() && questions[0]["most"].is_string(), "{questions:?}");
    assert_eq!(questions[0]["rows"].as_array().map(Vec::len), Some(9));
    let claims = document["claims"].as_array().expect("claims");
    assert_eq!(claims.len(), 20);
    for verdict in ["agrees", "disagrees", "these tests cannot tell"] {
        assert!(claims.iter().any(|claim| claim["verdict"] == verdict), "none {verdict}");
    }
    assert!(claims.iter().all(|claim| claim["depends_on"].is_null()), "nothing was varied");
    let refused = diskperf(&["paper", "T1", "--certainty"]);
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
}

/// The summary says that its cells were used for the fit, and with how many constants.
#[test]
fn the_errors_are_those_of_a_fit() {
    testkit::compute_only!();
    let ended = diskperf(&["paper"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let end = ended.out.split("errors of a fit").nth(1).unwrap_or_default();
    let end = end.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(end.contains("all 93 rates and 73 CPU shares") && end.contains("diskperf paper assumptions"), "{end}");
}

/// Ranks every controller by both approaches, and checks the conclusions about the two in question.
#[test]
fn the_controllers_are_ranked_by_both_approaches() {
    testkit::compute_only!();
    let document = json(&["paper", "vaxmix", "--phases", "2", "--json"]);
    let all = &document["vaxmix"];
    let cells = all["cells"].as_array().expect("cells");
    assert_eq!((all["phases"].as_u64(), cells.len()), (Some(2), 14 * 5));
    let number = |cell: &Value, key: &str| cell[key].as_f64().expect("a number");
    for cell in cells {
        let [low, mean, high] = ["low", "per_second", "high"].map(|key| number(cell, key));
        assert!(0.0 < low && low <= mean && mean <= high, "{cell}");
        assert!(cell["limited_by"] != "n.m." && number(cell, "cpu_percent") > 0.0, "{cell}");
        // Ranks follow the rates on the same computer.
        let beside =
            |other: &&Value| ["computer", "approach", "conditions"].iter().all(|key| other[*key] == cell[*key]);
        let faster = cells.iter().filter(beside).filter(|other| number(other, "low") > high).count();
        assert_eq!(cell["rank"].as_u64(), Some(1 + faster as u64), "{cell}");
    }
    let count = |approach: &str| cells.iter().filter(|cell| cell["approach"] == approach).count();
    assert_eq!(["direct", "uniform", "local"].map(count), [10, 30, 30]);
    assert_eq!(
        (all["ratios"].as_array().map(Vec::len), all["conclusions"].as_array().map(Vec::len)),
        (Some(14), Some(3))
    );
    for words in [["paper", "T1", "--phases", "2"], ["paper", "vaxmix", "--phases", "1"]] {
        let refused = diskperf(&words);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    }
}

/// As many workers as there are processors share the experiments; that must not change the figures.
#[test]
fn one_processor_computes_the_same_figures() {
    testkit::compute_only!();
    let all = diskperf(&["paper", "T1", "--json"]);
    let arguments = ["-c", "0", env!("CARGO_BIN_EXE_diskperf"), "paper", "T1", "--json"];
    let one = run(Path::new("taskset"), Path::new("/"), &arguments);
    assert_eq!((all.status, one.status), (Some(0), Some(0)), "{}", one.err);
    assert_eq!(all.out, one.out);
}
