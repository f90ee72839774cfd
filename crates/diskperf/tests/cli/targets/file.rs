//! `file:PATH`: measures an existing file, and leaves it as it was.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testkit::ProgramOutput;

use crate::common::Cli;

/// A folder with a file of this many bytes, called `data`.
fn with_data(bytes: usize) -> (Cli, PathBuf) {
    let cli = Cli::new();
    let path = cli.path().join("data");
    fs::write(&path, vec![7; bytes]).expect("a file");
    (cli, path)
}

fn cells(ended: &ProgramOutput) -> Vec<Value> {
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    document["cells"].as_array().expect("cells").clone()
}

fn cell<'a>(cells: &'a [Value], program: &str) -> &'a Value {
    cells.iter().find(|cell| cell["program"] == program).unwrap_or_else(|| panic!("no {program} in {cells:?}"))
}

#[test]
fn a_file_is_only_read_sequentially_and_at_random() {
    // Not a multiple of the size of a call.
    let (cli, path) = with_data((1 << 20) + 5000);
    let before = fs::metadata(&path).expect("the file").modified().expect("its time");
    let ended = cli.well(&["run", "quick", "file:data", "--rounds", "2", "--json"]);
    assert!(ended.err.contains("reads data") && !ended.err.contains("writes"), "{}", ended.err);
    let cells = cells(&ended);
    let read = cell(&cells, "read_8192");
    assert_eq!((&read["measured"], &read["parameters"]["file_bytes"]), (&true.into(), &(1 << 20).into()), "{read}");
    assert_eq!(read["rounds"][0]["bytes"], 1 << 20);
    // Pages of an existing file stay in the page cache, so nothing is claimed.
    assert_eq!(read["state"]["cache"], "unknown");
    let random = cell(&cells, "randread");
    if random["measured"] == true {
        assert_eq!(random["rounds"][0]["bytes"], 4096 * random["rounds"][0]["ops"].as_u64().expect("a count"));
    } else {
        assert!(random["reason"].as_str().is_some_and(|reason| reason.contains("page cache")), "{random}");
    }
    for program in ["write_4096", "write_8192", "rewrite_8192", "commit", "smallfb", "copy"] {
        let cell = cell(&cells, program);
        assert_eq!((&cell["measured"], &cell["reason"]), (&false.into(), &"data is only read".into()), "{cell}");
    }
    assert_eq!(fs::read(&path).expect("the file"), vec![7; (1 << 20) + 5000]);
    assert_eq!(fs::metadata(&path).expect("the file").modified().expect("its time"), before);
    assert_eq!(cli.names(), ["data"]);
}

#[test]
fn a_file_leaves_the_page_cache_only_if_requested() {
    let (cli, path) = with_data(1 << 20);
    if testkit::is_in_memory(cli.path()) {
        return testkit::skip!("the temporary folder is in memory");
    }
    fs::File::open(&path).and_then(|file| file.sync_all()).expect("on its device");
    for (asked, state) in [(&["--cold"][..], "cold"), (&["--warm"], "warm"), (&[], "unknown")] {
        let arguments = [&["run", "smoke", "file:data", "--rounds", "1", "--json"], asked].concat();
        let ended = cli.well(&arguments);
        assert_eq!(cell(&cells(&ended), "read_8192")["state"]["cache"], state, "{}", ended.out);
    }
}

#[test]
fn the_programs_of_1983_read_a_file_alone() {
    let (cli, _) = with_data(1 << 20);
    let ended = cli.well(&["run", "classic1983", "file:data", ".", "--size", "64KiB", "--json"]);
    let cells = cells(&ended);
    let measured: Vec<&Value> = cells.iter().filter(|cell| cell["measured"] == true).collect();
    // One test measures the file, four measure the folder, and none measures both at once.
    assert_eq!(measured.len(), 5, "{}", ended.out);
    assert!(cells.iter().all(|cell| cell["together"] == false), "{}", ended.out);
    let ended = cli.run(&["run", "classic1983", "file:data", ".", "--size", "64KiB", "--together"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert!(ended.err.contains("cannot run at the same time"), "{}", ended.err);
}

#[test]
fn files_smaller_than_a_call_are_not_measured() {
    let (cli, _) = with_data(100);
    let ended = cli.run(&["run", "quick", "file:data", "--rounds", "1", "--json"]);
    let cells = cells(&ended);
    assert!(cells.iter().all(|cell| cell["measured"] == false), "{}", ended.out);
    let reason = cell(&cells, "read_8192")["reason"].as_str().expect("a reason");
    assert!(reason.contains("100 B"), "{reason}");
}

#[test]
fn presets_that_only_write_refuse_files() {
    let (cli, path) = with_data(10_000);
    let ended = cli.run(&["run", "tlpi", "file:data"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert!(ended.err.contains("data is only read, but every test of tlpi writes"), "{}", ended.err);
    assert_eq!(fs::read(&path).expect("the file").len(), 10_000);
    for (target, word) in
        [("file:none", "there is no none"), ("file:.", "is a directory"), ("file:/dev/null", "is not a regular file")]
    {
        let ended = cli.run(&["run", "smoke", target]);
        assert_eq!(ended.status, Some(2), "{}", ended.err);
        assert!(ended.err.contains(word), "{target}: {}", ended.err);
    }
    assert_eq!(cli.names(), ["data"]);
}
