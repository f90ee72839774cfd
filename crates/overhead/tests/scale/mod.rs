//! What prints results takes instructions in proportion to their number, whichever of programs, settings, targets and
//! rounds they are many of; and so does what reads a job of many sections. A count of the whole command at two sizes.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::documents::Many;

use super::{handed_out, valgrind};

/// A measured document.
const EXAMPLE: &str = include_str!("../../../../docs/quick.json");

/// The two sizes, and how many times the instructions of the first the second may take. It is four times as large, so
/// that four is in proportion and sixteen is the square. A count starts and ends the whole command, so that a larger
/// size would notice a smaller square, but take longer.
const SIZES: [usize; 2] = [50, 200];
const ALLOWED_RATIO: f64 = 5.0;

/// Rounds of a result, where there are no more.
const FEW: Option<usize> = Some(2);

/// The commands, with `DOCUMENT` and `PAGE` for the files that are read and written.
const COMMANDS: [&str; 9] = [
    "show DOCUMENT",
    "show DOCUMENT --format csv",
    "show DOCUMENT --format markdown",
    "report DOCUMENT -o PAGE",
    "report DOCUMENT --format markdown -o PAGE",
    "explain DOCUMENT",
    "explain DOCUMENT --format markdown",
    "compare DOCUMENT OTHER",
    "compare DOCUMENT OTHER --format markdown",
];

#[test]
fn many_programs_are_printed_in_proportion() {
    in_proportion(|many| Many { programs: many, rounds: FEW, ..Many::ONE });
}

#[test]
fn many_settings_are_printed_in_proportion() {
    in_proportion(|many| Many { settings: many, rounds: FEW, ..Many::ONE });
}

#[test]
fn many_targets_are_printed_in_proportion() {
    in_proportion(|many| Many { targets: many, rounds: FEW, ..Many::ONE });
}

#[test]
fn many_rounds_are_printed_in_proportion() {
    in_proportion(|many| Many { programs: 4, rounds: Some(2 * many), ..Many::ONE });
}

/// Each is of the same name, which makes it another one here.
#[test]
fn many_sections_are_imported_in_proportion() {
    let program = handed_out!();
    let folder = valgrind::scratch(0);
    let [few, many] = SIZES.map(|sections| {
        let path = folder.path().join(format!("{sections}.fio"));
        let sections = "[job]\nrw=randread\nruntime=1\nstonewall\n".repeat(sections);
        fs::write(&path, format!("[global]\nsize=1m\nbs=4k\ntime_based\n{sections}")).expect("it is written");
        // To standard output: before a file is written, every loop device of the machine is looked at, and other tests
        // make some.
        valgrind::count(&[&program, "import", text(&path)])
    });
    println!("{{\"scale\": \"import\", \"instructions\": [{few}, {many}]}}");
    assert!(many as f64 <= ALLOWED_RATIO * few as f64, "{few} and {many} instructions");
}

fn in_proportion(size: fn(usize) -> Many) {
    let program = handed_out!();
    let folder = valgrind::scratch(0);
    let example: Value = serde_json::from_str(EXAMPLE).expect("a document");
    for many in SIZES {
        let mut document = size(many).document(&example);
        fs::write(folder.path().join(format!("{many}.json")), document.to_string()).expect("it is written");
        // Another run, as `compare` needs.
        document["run"]["started_unix_s"] = (document["run"]["started_unix_s"].as_f64().expect("a time") + 60.0).into();
        document["run"]["store"] = Value::Null;
        fs::write(folder.path().join(format!("{many}-later.json")), document.to_string()).expect("it is written");
    }
    let mut wrong = Vec::new();
    for command in COMMANDS {
        let [few, many] = SIZES.map(|many| {
            let file = |name: String| text(&folder.path().join(name)).to_owned();
            let words = command.split(' ').map(|word| match word {
                "DOCUMENT" => file(format!("{many}.json")),
                "OTHER" => file(format!("{many}-later.json")),
                "PAGE" => file("page".to_owned()),
                word => word.to_owned(),
            });
            let words: Vec<String> = [program.clone()].into_iter().chain(words).collect();
            valgrind::count(&words.iter().map(String::as_str).collect::<Vec<&str>>())
        });
        println!("{{\"scale\": \"{command}\", \"instructions\": [{few}, {many}]}}");
        if many as f64 > ALLOWED_RATIO * few as f64 {
            wrong.push(format!("{command}: {few} and {many} instructions"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
