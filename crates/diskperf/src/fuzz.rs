//! Changes typed words, and documents of other writers, at random.

use std::ffi::OsString;

use campaign::targets::Simulated;
use kernel::sys::name::Shown;
use machines::{Machine, Sweep};
use report::sanitize::is_command;
use report::{Page, explain};
use serde_json::Value;
use stats::compare::history::{Sample, history};
use stats::compare::run_comparison::compare;
use stats::inference::ratio_test::MARGIN;
use stats::{Cell, Document, Provenance};
use testkit::fuzz::{Subject, assert_bounded, fuzz};
use units::{Bytes, Nanos};

use crate::cli;
use crate::commands::results::report::page_of;
use crate::documents::document;
use crate::documents::redact::anonymous;
use crate::session::Stored;
use crate::ui::output_format::{self, Output};
use crate::ui::shell;

#[test]
fn fuzz_sizes_and_times() {
    let read = |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        let size = text.parse::<Bytes>().map_err(|error| error.to_string());
        if let Ok(size) = size {
            assert!(size.0 > 0);
            // A printed size is exact, or rounded to a hundredth. The largest sizes may be rounded up to
            // a size that is too large to parse.
            let Ok(again) = size.to_string().parse::<Bytes>() else {
                assert!(size.0 > u64::MAX / 100 * 99, "{size}");
                return "the largest".to_owned();
            };
            assert!(again.0.abs_diff(size.0) <= size.0 / 100, "{size}");
            assert_eq!(again.to_string().parse(), Ok(again));
        }
        let time = text.parse::<Nanos>().map_err(|error| error.to_string());
        format!(
            "{} {}",
            size.map_or_else(|said| said, |_| "a size".to_owned()),
            time.map_or_else(|said| said, |_| "a time".to_owned())
        )
    };
    let words = &["KiB", "MiB", "TiB", "kB", "GB", "B", "ns", "us", "ms", "s", "min", "h", ".", " "];
    fuzz(
        &Subject::new(
            "sizes and times",
            ["8KiB", "1.5 GiB", "100MB", "8192", "90s", "1.5h", "250 ms", "18446744073709551615"],
            read,
        )
        .fast()
        .with_words(words),
    );
}

/// Settings of a machine: `--set`, `sim:MACHINE,...` and `--sweep`. An accepted setting can be described, or the error
/// gives the reason; a described machine can be switched on.
#[test]
fn fuzz_settings() {
    let examples = [
        "drive.rpm=3600",
        "kernel.call=0.5ms",
        "controller.attention=held",
        "drive=ra81",
        "file_system=4k-1k",
        "file_system.4k-1k.block=8192",
        "controller.buffer_sectors=1..256*2",
        "file_system.rotational_delay=0..8+1ms",
        "controller.queue=fifo,disksort",
    ];
    let machine = Machine::load("vax780-uda50").expect("it is compiled in");
    let mut words: Vec<String> = machine.names();
    words.extend(
        ["=", "ms", "bytes", "percent", "..", "*2", "+1", "turns/min", "rm05", ",", "KiB/s"].map(str::to_owned),
    );
    let words: Vec<&'static str> = words.into_iter().map(|word| &*word.leak()).collect();
    let read = move |input: &[u8]| {
        let typed = String::from_utf8_lossy(input);
        let sweep = typed.parse::<Sweep>();
        if let Ok(sweep) = &sweep {
            assert!(!sweep.values.is_empty() && sweep.values.len() <= 10_000);
        }
        // Skip paths: they lead to the files of this machine.
        if typed.contains('/') {
            return String::new();
        }
        let mut machine = machine.clone();
        let said = match machine.set(&typed).and_then(|()| machine.describe(2, 8 << 20)) {
            Ok(_) => format!("{:?}", Simulated::read(&format!("vax780-uda50,{typed}")).is_ok()),
            Err(fault) => format!("{fault} {:?}", fault.hint()),
        };
        assert_bounded(&said, &typed);
        format!("{} {said}", sweep.map_or_else(|bad| bad.to_string(), |_| "a sweep".to_owned()))
    };
    fuzz(&Subject::new("settings", examples, read).with_words(words.leak()));
}

/// Words of a command line, each on a line.
#[test]
fn fuzz_command_lines() {
    let examples = [
        "diskperf\nrun\nquick\n.\n--rounds\n3\n--size\n8MiB\n--json",
        "diskperf\nrun\nsmoke\nnew:ext4@/dev/x\n--destroy-data\n--confirm\nA B 8 MiB\n--store=a",
        "diskperf\nrun\nclassic1983\nsim:flat\n--together\n--memory\n64MiB\n--only\nread_8192\n--budget\n5min",
    ];
    let read = |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        let words: Vec<OsString> = text.split('\n').map(OsString::from).collect();
        let line = shell::line(&words);
        // Words with control characters are in quotes that shlex does not know; a test in shell.rs asks bash.
        if !words.iter().any(|word| word.shown().contains(is_command)) {
            let again = shlex::split(&line).expect("a shell takes it");
            assert!(again.iter().map(OsString::from).eq(words.iter().cloned()), "{line}");
        }
        let Some(Ok(asked)) = cli::asked(&words, false) else { return String::new() };
        let stored = Stored { request: asked.request.clone(), output: Output::default() };
        let again = Stored::of_text(&stored.to_text()).expect("what is stored is read");
        assert_eq!(format!("{again:?}"), format!("{stored:?}"));
        format!("{asked:?}")
    };
    let words =
        &["--rounds", "--size", "--seed", "--budget", "--dry-run", "--cold", "--keep", "\n", "'", "\"", "$", "=", "--"];
    fuzz(&Subject::new("command lines", examples, read).with_words(words));
}

/// The breakdown of a simulated cell.
const BREAKDOWN: &str = r#"{
    "programs": [{"elapsed": 100, "owners": {"copy": 60, "waiting_rotation": 40}}],
    "resources": [
        {"resource": "processor", "elapsed": 100, "busy": {"copy": 60}, "blocked": {"memory": 3}, "idle": 37},
        {"resource": "spindle", "elapsed": 100, "busy": {"transfer": 20}, "blocked": {}, "idle": 80}
    ],
    "faster": [{"resource": "processor", "per_second": 1.5, "gain_percent": 4.5}],
    "faster_reason": null
}"#;

/// Runs with few cells, one of each layout.
fn documents() -> Vec<Vec<u8>> {
    let measured = [include_str!("../../../docs/quick.json"), include_str!("../../../docs/tuned.json")];
    let mut all = Vec::new();
    for (text, preset) in
        measured.iter().flat_map(|text| ["quick", "classic1983", "lfs", "tlpi"].map(|preset| (text, preset)))
    {
        let mut document: Document = serde_json::from_str(text).expect("a document");
        document.run.preset = Some(preset.to_owned());
        let of_preset: [&str; 2] = match preset {
            "classic1983" => ["read_8192", "rewrite_8192"],
            "lfs" => ["smallfb", "largefb"],
            "tlpi" => ["copy", "write"],
            _ => ["read", "commit"],
        };
        document.cells.truncate(2);
        for (cell, program) in document.cells.iter_mut().zip(of_preset) {
            cell.rounds.truncate(2);
            (cell.preset, cell.program) = (preset.to_owned(), program.to_owned());
            if preset == "classic1983" {
                cell.provenance = Provenance::Simulated;
                cell.breakdown = serde_json::from_str(BREAKDOWN).expect("a breakdown");
            }
        }
        all.push(output_format::json(&document).into_bytes());
    }
    all
}

/// The comparison of two runs, and the history of their first program, as text.
fn compared(then: &Document, now: &Document) -> String {
    let narrow = Page { columns: Some(30) };
    let two = compare(("then", then), ("now", now), MARGIN, report::cell_names);
    let sample = |document: &Document| {
        let cell = document.cells.first()?.clone();
        Some(Sample { run: "run".to_owned(), place: cell.target.clone(), info: document.run.clone(), cell })
    };
    let samples: Vec<Sample> = [then, now, then].into_iter().filter_map(sample).collect();
    let all = history(&samples, MARGIN, 2, report::cell_names);
    output_format::json(&two);
    output_format::json(&all);
    let of_two = report::compare::run_comparison::table(&two, narrow)
        + &report::compare::run_comparison::markdown(&two)
        + &report::compare::run_comparison::csv(&two);
    of_two
        + &report::compare::history::table(&all, narrow)
        + &report::compare::history::markdown(&all)
        + &report::compare::history::csv(&all)
}

#[test]
fn fuzz_documents() {
    let original: Document = serde_json::from_slice(&documents()[0]).expect("a document");
    let read = move |input: &[u8]| {
        let document = match document::fuzzed(input) {
            Ok(document) => document,
            Err(fault) => {
                let said = fault.to_string();
                assert!(said.len() < 2000, "{} bytes are said", said.len());
                return said;
            }
        };
        let again: Document = serde_json::from_str(&output_format::json(&document)).expect("it is one");
        assert!(again == document, "it is another when it is read again");
        let (shown, presentation) = (document::plain(&document), document::presentation(&document));
        let mut cells: Vec<&Cell> = shown.cells.iter().collect();
        let mut said = String::new();
        for page in [Page::ENDLESS, Page { columns: Some(40) }] {
            said += &report::table(&shown, presentation, page);
            said += &explain::table(&shown, presentation, &cells, page);
        }
        said += &(report::markdown("run", &shown, presentation)
            + &explain::markdown(&shown, &cells)
            + &explain::csv(&cells));
        cells.retain(|cell| explain::can_be_explained(cell));
        said += &(explain::table(&shown, presentation, &cells, Page::ENDLESS) + &report::csv::runs(&[("run", &shown)]));
        said += &page_of(&document, &shown);
        said += &compared(&original, &shown);
        assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "a terminal obeys {said:?}");
        anonymous(&document);
        let marks: Vec<&str> =
            document.cells.iter().flat_map(|cell| &cell.marks).map(|mark| mark.code.name()).collect();
        marks.join(" ")
    };
    let words = &[
        "null",
        "true",
        "false",
        "[]",
        "{}",
        "\"\"",
        "0",
        "-1",
        "1e308",
        "1e-308",
        "18446744073709551615",
        "\\u001b",
        "\\n",
        "\"measured\":true",
        "\"simulated\"",
        "\"cold\"",
        "\"durable\"",
        "\"rounds\": []",
        ",",
        "quick",
        "lfs",
        "tlpi",
        "classic1983",
        "smallfb",
        "largefb",
        "copy",
        "n.m.",
    ];
    fuzz(&Subject::new("documents", documents(), read).with_words(words));
}

/// Fuzzes documents by changing some values, so that most of them stay documents.
#[test]
fn fuzz_values_of_documents() {
    let mut examples: Vec<Vec<u8>> = (0..16).map(|number: u8| vec![number, 40, number, 200, 7, number]).collect();
    examples.push(b"\xff(\r\x1b\x07".to_vec());
    let documents: Vec<Value> =
        documents().iter().map(|text| serde_json::from_slice(text).expect("a document")).collect();
    let original: Document = serde_json::from_value(documents[0].clone()).expect("a document");
    let read = move |input: &[u8]| {
        let mut input = input.iter().copied();
        let mut next = || usize::from(input.next().unwrap_or(0));
        let mut changed = documents[next() % documents.len()].clone();
        for _ in 0..1 + next() % 4 {
            let (place, value) = (next() * 256 + next(), next());
            let mut places = Vec::new();
            pointers(&changed, String::new(), &mut places);
            let place = &places[place % places.len()];
            if let Some(there) = changed.pointer_mut(place) {
                *there = other(there, value);
            }
        }
        let Ok(document) = document::fuzzed(changed.to_string().as_bytes()) else { return "none".to_owned() };
        let cells: Vec<&Cell> = document.cells.iter().filter(|cell| explain::can_be_explained(cell)).collect();
        let presentation = document::presentation(&document);
        for page in [Page::ENDLESS, Page { columns: Some(30) }] {
            report::table(&document, presentation, page);
            explain::table(&document, presentation, &cells, page);
        }
        report::markdown("run", &document, presentation);
        page_of(&document, &document);
        report::csv::runs(&[("run", &document)]);
        explain::markdown(&document, &cells);
        explain::csv(&cells);
        anonymous(&document);
        compared(&document, &original);
        if cells.is_empty() { "no cells" } else { "cells" }.to_owned()
    };
    fuzz(&Subject::new("values of documents", examples, read).slow());
}

/// Collects the JSON pointers of all values.
fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(index, value)| pointers(value, format!("{at}/{index}"), all));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, value)| pointers(value, format!("{at}/{key}"), all)),
        _ => {}
    }
    all.push(at);
}

/// Another value of the same kind, or null.
fn other(value: &Value, choice: usize) -> Value {
    const NUMBERS: [u64; 8] = [0, 1, 2, 1000, 1 << 32, 1 << 53, u64::MAX / 1000, u64::MAX];
    const FLOATS: [f64; 8] = [0.0, -1.0, 0.5, 1e-300, 1e300, f64::MAX, f64::MIN, f64::MIN_POSITIVE];
    match value {
        Value::Number(number) if number.is_u64() => Value::from(NUMBERS[choice % 8]),
        Value::Number(_) => Value::from(FLOATS[choice % 8]),
        Value::Bool(is) => Value::from(!is),
        Value::String(text) if choice.is_multiple_of(2) => Value::from(text.repeat(choice % 50)),
        Value::String(_) => Value::from(["", "x", "|", "ä€", "\u{1b}", "a,b\"", "=1", "n.m."][choice % 8]),
        Value::Array(values) if choice.is_multiple_of(2) => {
            Value::from(values.iter().cycle().take(choice % 5 * values.len()).cloned().collect::<Vec<_>>())
        }
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    }
}
