//! The distributed program, a static one, does the same as the program just built. `cargo xtask prove dist` runs these
//! tests, and counts the lines that they print at their end. `cargo xtask dist` checks the package itself.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{ProgramOutput, names_in, skip};

/// The path of the program. Skips the test if there is none.
macro_rules! made {
    () => {
        match testkit::dist_program() {
            Some(path) => path,
            None => return skip!("{}", testkit::NOTHING_MADE),
        }
    };
}

/// Prints the line that `cargo xtask prove dist` counts.
fn passed(test: &str) {
    println!("{{\"distributed\": \"{test}\"}}");
}

fn well(program: &Path, folder: &Path, arguments: &[&str]) -> ProgramOutput {
    let ended = testkit::run(program, folder, arguments);
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.err);
    ended
}

fn cells(ended: &ProgramOutput) -> Value {
    serde_json::from_str::<Value>(&ended.out).expect("a document")["cells"].clone()
}

#[test]
fn the_release_program_measures_stores_and_explains() {
    let program = made!();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let store = tempfile::tempdir().expect("a scratch folder");
    let store = store.path().join("store.sqlite");
    let store = ["--store", store.to_str().expect("a path in UTF-8")];
    let ran = well(&program, folder.path(), &[&["run", "smoke", "--json"], &store[..]].concat());
    let cells = cells(&ran);
    let cells = cells.as_array().expect("cells");
    assert_eq!(cells.len(), 18);
    let in_memory = |cell: &Value| testkit::is_of_memory_only(cell["reason"].as_str());
    assert!(cells.iter().all(|cell| cell["measured"] == true || in_memory(cell)), "{cells:#?}");
    assert_eq!(well(&program, folder.path(), &[&["show", "last", "--json"], &store[..]].concat()).out, ran.out);
    let explained = well(&program, folder.path(), &[&["explain", "last", "commit"], &store[..]].concat());
    assert!(explained.out.contains("bottleneck: "), "{}", explained.out);
    assert_eq!(names_in(folder.path()), [""; 0]);
    passed("measures, stores and explains");
}

/// The clock for every operation is in memory that the kernel shares (vDSO), which a static program must find by
/// itself. Otherwise each reading is a system call, and costs more than the timed operation.
#[test]
fn the_release_program_reads_the_clock_without_a_system_call() {
    let program = made!();
    if !testkit::has_tool("strace") {
        return skip!("strace is not installed");
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = program.to_str().expect("a path in UTF-8");
    let strace = ["-f", "-qq", "-e", "trace=clock_gettime", "-o", "calls", program];
    let load = ["io", "randread", "--engine", "null", "--rounds", "1", "--time", "200ms", "--json"];
    let ran = well(&testkit::tool("strace").expect("it is there"), folder.path(), &[&strace[..], &load].concat());
    let operations = cells(&ran)[0]["rounds"][0]["ops"].as_u64().expect("operations");
    let calls = fs::read_to_string(folder.path().join("calls")).expect("what it asked for").lines().count() as u64;
    // Reading a CPU-time clock is a call; these are read a few times in each phase.
    assert!(calls < 1_000 && operations > 100 * calls, "{calls} calls for {operations} operations");
    passed("reads the clock without a system call");
}

/// Help, manual pages, completions, schemas and machines are in the program, and are the same in every build.
#[test]
fn the_release_program_prints_the_same_texts() {
    let program = made!();
    let built = PathBuf::from(env!("CARGO_BIN_EXE_diskperf"));
    for arguments in [
        &["--version"][..],
        &["help"],
        &["help", "noise"],
        &["man"],
        &["completions", "bash"],
        &["schema"],
        &["simulate"],
        &["simulate", "vax780-uda50", "--parts"],
    ] {
        let ended = well(&program, Path::new("/"), arguments);
        assert_eq!(ended.out, well(&built, Path::new("/"), arguments).out, "{arguments:?}");
        assert!(!ended.out.is_empty() && ended.err.is_empty(), "{arguments:?}: {}", ended.err);
    }
    passed("same texts as other builds");
}

/// True if the values are equal, except the last digits of numbers that are not whole.
fn agree(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| agree(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| agree(one, other)))
        }
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().expect("a number"), other.as_f64().expect("a number"));
            (one - other).abs() <= 1e-12 * one.abs()
        }
        _ => one == other,
    }
}

/// For any C library: the simulator computes in integers, and only logarithms of its times differ, in the sixteenth
/// digit.
#[test]
fn simulated_figures_are_the_same_in_every_build() {
    let program = made!();
    let built = PathBuf::from(env!("CARGO_BIN_EXE_diskperf"));
    for arguments in [
        &["simulate", "vax780-sc780", "--json"][..],
        &["simulate", "vax750-uda50", "lfs", "--json"],
        &["run", "smoke", "sim:flat", "--json"],
    ] {
        let figures = cells(&well(&program, Path::new("/"), arguments));
        assert!(agree(&figures, &cells(&well(&built, Path::new("/"), arguments))), "{arguments:?}");
        assert!(figures.as_array().is_some_and(|cells| cells.iter().any(|cell| cell["effect"].is_string())));
    }
    passed("same simulated figures as other builds");
}
