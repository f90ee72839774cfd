//! Commands that print results need instructions in proportion to the number of results, whether there are many
//! programs, settings, targets or rounds. The same holds for reading a job file of many sections. Each test counts the
//! whole command at two sizes.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::large_documents::Many;

use super::{built_program, is_tested, valgrind};

/// A measured document.
const EXAMPLE: &str = include_str!("../../../../docs/quick.json");

/// The two sizes, and the maximum ratio of their instructions. The second size is four times the first: four is
/// proportional, sixteen is quadratic. A count includes the start and the end of the command. A larger size would
/// reveal a smaller quadratic part, but take longer.
const SIZES: ([usize; 2], f64) = ([15, 60], 5.0);

/// The same for the program of `cargo xtask test`, which is slower: three is proportional, nine is quadratic.
const SIZES_TESTED: ([usize; 2], f64) = ([10, 30], 3.8);

/// The rounds of a result in the tests that multiply something else.
const FEW: Option<usize> = Some(2);

/// The commands. `DOCUMENT` and `OTHER` are replaced by files to read. All print to standard output, because a command
/// that writes a file first inspects every loop device of the machine, and other tests create loop devices.
const COMMANDS: [&str; 2] = ["show DOCUMENT", "report DOCUMENT -o -"];

/// More commands: `cargo xtask test` counts them for programs, and `cargo xtask prove commands` for everything. Each
/// count takes two runs of valgrind, of a second and more.
const MORE: [&str; 3] = ["show DOCUMENT --format csv", "explain DOCUMENT", "compare DOCUMENT OTHER"];

/// The commands whose words differ only in their format. They are counted for the distributed program alone (`cargo
/// xtask prove commands`).
const FORMATS: [&str; 4] = [
    "show DOCUMENT --format markdown",
    "report DOCUMENT --format markdown -o -",
    "explain DOCUMENT --format markdown",
    "compare DOCUMENT OTHER --format markdown",
];

#[test]
fn many_programs_are_printed_in_proportion() {
    in_proportion(&MORE, |many| Many { programs: many, rounds: FEW, ..Many::ONE });
}

#[test]
fn many_settings_are_printed_in_proportion() {
    in_proportion(&[], |many| Many { settings: many, rounds: FEW, ..Many::ONE });
}

#[test]
fn many_targets_are_printed_in_proportion() {
    in_proportion(&[], |many| Many { targets: many, rounds: FEW, ..Many::ONE });
}

#[test]
fn many_rounds_are_printed_in_proportion() {
    in_proportion(&[], |many| Many { programs: 4, rounds: Some(2 * many), ..Many::ONE });
}

/// All sections have the same name. Each becomes a separate job.
#[test]
fn many_sections_are_imported_in_proportion() {
    let program = built_program!();
    let (sizes, allowed_ratio) = if is_tested(&program) { SIZES_TESTED } else { SIZES };
    let folder = valgrind::scratch(0);
    let [few, many] = sizes.map(|sections| {
        let path = folder.path().join(format!("{sections}.fio"));
        let sections = "[job]\nrw=randread\nruntime=1\nstonewall\n".repeat(sections);
        fs::write(&path, format!("[global]\nsize=1m\nbs=4k\ntime_based\n{sections}")).expect("it is written");
        valgrind::count(&[&program, "import", text(&path)])
    });
    println!("{{\"scale\": \"import\", \"instructions\": [{few}, {many}]}}");
    assert!(many as f64 <= allowed_ratio * few as f64, "{few} and {many} instructions");
}

/// Counts [`COMMANDS`] and these for documents of this size. Counts all for the distributed program.
fn in_proportion(more: &[&str], size: fn(usize) -> Many) {
    let program = built_program!();
    let (sizes, allowed_ratio) = if is_tested(&program) { SIZES_TESTED } else { SIZES };
    let folder = valgrind::scratch(0);
    let example: Value = serde_json::from_str(EXAMPLE).expect("a document");
    for many in sizes {
        let mut document = size(many).document(&example);
        fs::write(folder.path().join(format!("{many}.json")), document.to_string()).expect("it is written");
        // A different run, as `compare` needs.
        document["run"]["started_unix_s"] = (document["run"]["started_unix_s"].as_f64().expect("a time") + 60.0).into();
        document["run"]["store"] = Value::Null;
        fs::write(folder.path().join(format!("{many}-later.json")), document.to_string()).expect("it is written");
    }
    let mut wrong = Vec::new();
    let others = if is_tested(&program) { more.to_vec() } else { [&MORE[..], &FORMATS].concat() };
    for command in COMMANDS.iter().chain(&others) {
        let [few, many] = sizes.map(|many| {
            let file = |name: String| text(&folder.path().join(name)).to_owned();
            let words = command.split(' ').map(|word| match word {
                "DOCUMENT" => file(format!("{many}.json")),
                "OTHER" => file(format!("{many}-later.json")),
                word => word.to_owned(),
            });
            let words: Vec<String> = [program.clone()].into_iter().chain(words).collect();
            valgrind::count(&words.iter().map(String::as_str).collect::<Vec<&str>>())
        });
        println!("{{\"scale\": \"{command}\", \"instructions\": [{few}, {many}]}}");
        if many as f64 > allowed_ratio * few as f64 {
            wrong.push(format!("{command}: {few} and {many} instructions"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
