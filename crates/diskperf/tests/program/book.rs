//! The programs of *The Linux Programming Interface* from the command line: `copy`, and `run tlpi`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::program;

fn diskperf() -> Command {
    testkit::command(&program())
}

/// Runs diskperf with these words in this folder.
fn run(folder: &Path, words: &[&str]) -> Output {
    diskperf().args(words).current_dir(folder).output().expect("diskperf starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Bytes none of which tells its place by chance: a multiple of no buffer's size long.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index * 31 + index / 251) as u8).collect()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// A folder with a file `old` in it.
fn folder_with_old(bytes: usize) -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("old"), content(bytes)).expect("a file");
    folder
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

mod copy {
    use super::*;

    #[test]
    fn a_copy_is_byte_identical_through_any_buffer() {
        for bytes in [0, 1, 1023, 1024, 1025, 10_007] {
            let folder = folder_with_old(bytes);
            for buffer in ["1", "2", "7", "512", "1024", "1000", "4KiB", "10007", "65536", "1MiB"] {
                let copied = run(folder.path(), &["copy", "old", "new", "--buffer", buffer]);
                assert_eq!(code(&copied), 0, "{}", stderr(&copied));
                let new = fs::read(folder.path().join("new")).expect("the copy");
                assert!(new == content(bytes), "{bytes} bytes through a buffer of {buffer}");
            }
        }
    }

    #[test]
    fn every_way_to_sync_gives_the_same_copy() {
        let folder = folder_with_old(10_007);
        for sync in ["none", "osync", "dsync", "fsync"] {
            let copied = run(folder.path(), &["copy", "old", sync, "--sync", sync]);
            assert_eq!(code(&copied), 0, "{}", stderr(&copied));
            assert!(fs::read(folder.path().join(sync)).expect("the copy") == content(10_007), "{sync}");
        }
    }

    #[test]
    fn what_the_new_file_held_is_gone() {
        let folder = folder_with_old(100);
        fs::write(folder.path().join("new"), content(5000)).expect("a file");
        assert_eq!(code(&run(folder.path(), &["copy", "old", "new"])), 0);
        assert!(fs::read(folder.path().join("new")).expect("the copy") == content(100));
    }

    #[test]
    fn figures_stand_on_standard_error_alone() {
        let folder = folder_with_old(10_007);
        let copied = run(folder.path(), &["copy", "old", "new"]);
        assert_eq!(copied.stdout, b"");
        let said = stderr(&copied);
        assert_eq!(said.lines().count(), 1, "{said}");
        for word in ["10007 bytes", "MB/s", "CPU"] {
            assert!(said.contains(word), "{word} in {said}");
        }
    }

    #[test]
    fn what_makes_no_sense_or_harm_is_refused_and_nothing_is_touched() {
        let folder = folder_with_old(3000);
        let path = folder.path();
        fs::create_dir(path.join("directory")).expect("a folder");
        fs::hard_link(path.join("old"), path.join("same")).expect("a link");
        std::os::unix::fs::symlink("old", path.join("link")).expect("a link");
        std::os::unix::fs::symlink("/dev/no-such-device", path.join("astray")).expect("a link");
        std::os::unix::net::UnixListener::bind(path.join("socket")).expect("a socket");
        let before = names(path);
        for (words, expected, says) in [
            (vec!["missing", "new"], 2, "there is no missing"),
            (vec!["directory", "new"], 2, "is a directory"),
            (vec!["old", "directory"], 2, "is a directory"),
            (vec!["old", "no/new"], 2, "there is no no"),
            (vec!["old", "new/"], 2, "there is no new/"),
            (vec!["old", "/dev/no-such-device"], 2, "there is no device"),
            (vec!["old", "astray"], 2, "there is no device"),
            (vec!["old", "/dev/null"], 3, "is a device"),
            (vec!["/dev/zero", "new"], 2, "is not a regular file"),
            (vec!["socket", "new"], 2, "is not a regular file"),
            (vec!["old", "socket"], 2, "is not a regular file"),
            (vec!["old", "old"], 3, "are the same file"),
            (vec!["old", "same"], 3, "are the same file"),
            (vec!["old", "./link"], 3, "are the same file"),
            (vec!["link", "old"], 3, "are the same file"),
            (vec!["old", "new", "--buffer", "0"], 2, "at least one byte"),
            (vec!["old", "new", "--buffer", "-1"], 2, "not a size"),
            (vec!["old", "new", "--buffer", "4kb"], 2, "ambiguous unit kb"),
            (vec!["old", "new", "--buffer", "4GiB"], 2, "256 MiB at most"),
            (vec!["old", "new", "--sync", "often"], 2, "possible values"),
            (vec!["old"], 2, "<NEW>"),
        ] {
            let words: Vec<&str> = ["copy"].into_iter().chain(words).collect();
            let refused = run(path, &words);
            let said = stderr(&refused);
            assert_eq!(code(&refused), expected, "{words:?}: {said}");
            assert!(said.contains(says), "{words:?}: {said}");
            assert_eq!(refused.stdout, b"", "{words:?}");
            assert_eq!(names(path), before, "{words:?}");
            assert!(fs::read(path.join("old")).expect("still there") == content(3000), "{words:?}");
        }
    }

    #[test]
    fn an_unreadable_file_is_refused_with_a_hint() {
        let folder = folder();
        // The kernel lets nobody read this one, root neither.
        let refused = run(folder.path(), &["copy", "/proc/sys/net/ipv4/route/flush", "new"]);
        assert_eq!(code(&refused), 3, "{}", stderr(&refused));
        assert!(stderr(&refused).contains("hint:"), "{}", stderr(&refused));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused() {
        let folder = folder();
        let old = fs::File::create(folder.path().join("old")).expect("a file");
        // Sparse: no disk of today has the room for all of it.
        old.set_len(8 << 40).expect("a sparse file of 8 TiB");
        let refused = run(folder.path(), &["copy", "old", "new"]);
        assert_eq!(code(&refused), 3, "{}", stderr(&refused));
        assert!(stderr(&refused).contains("8 TiB"), "{}", stderr(&refused));
        assert_eq!(names(folder.path()).len(), 1);
    }

    /// A file of /proc says that it holds nothing, and then there is something to read: it grew.
    #[test]
    fn a_file_that_changes_meanwhile_is_an_error() {
        let folder = folder();
        let failed = run(folder.path(), &["copy", "/proc/self/status", "new"]);
        assert_eq!(code(&failed), 1, "{}", stderr(&failed));
        assert!(stderr(&failed).contains("changed during the copy"), "{}", stderr(&failed));
        assert!(names(folder.path()).is_empty(), "the unfinished copy is removed");
    }

    #[test]
    fn ctrl_c_removes_only_what_was_made() {
        for existed in [false, true] {
            let folder = folder_with_old(0);
            let (old, new) = (folder.path().join("old"), folder.path().join("new"));
            // Minutes of one-byte calls.
            fs::File::options().write(true).open(old).and_then(|old| old.set_len(200_000_000)).expect("a sparse file");
            if existed {
                fs::write(&new, b"before").expect("a file");
            }
            let mut command = diskperf();
            command.args(["copy", "old", "new", "--buffer", "1"]).current_dir(folder.path());
            let copying = command.stderr(Stdio::piped()).spawn().expect("diskperf starts");
            testkit::soon("it copies", || fs::metadata(&new).map_or(0, |new| new.len()) >= 100);
            let process = rustix::process::Pid::from_child(&copying);
            rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
            let interrupted = copying.wait_with_output().expect("it ends");
            assert_eq!(code(&interrupted), 4, "{}", stderr(&interrupted));
            assert!(stderr(&interrupted).starts_with("interrupted after "), "{}", stderr(&interrupted));
            assert_eq!(new.exists(), existed, "{}", stderr(&interrupted));
        }
    }
}

mod tlpi {
    use super::*;

    fn document(output: &Output) -> Value {
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
    }

    fn validate(document: &Value) {
        let schema = run(Path::new("."), &["schema"]);
        let schema: Value = serde_json::from_slice(&schema.stdout).expect("a schema");
        let validator = jsonschema::validator_for(&schema).expect("a valid schema");
        let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }

    fn key(cell: &Value) -> String {
        ["preset", "program", "phase", "target", "parameters"].map(|name| cell[name].to_string()).join(" ")
    }

    fn with_provenance<'a>(document: &'a Value, provenance: &str) -> Vec<&'a Value> {
        let cells = document["cells"].as_array().expect("cells");
        cells.iter().filter(|cell| cell["provenance"] == provenance).collect()
    }

    fn ways(cells: &[&Value], program: &str) -> BTreeSet<(String, u64)> {
        let cells = cells.iter().filter(|cell| cell["program"] == program);
        let way = |cell: &&Value| {
            let parameters = &cell["parameters"];
            let sync = parameters["sync"].as_str().expect("a word").to_owned();
            (sync, parameters["buffer_bytes"].as_u64().expect("a number"))
        };
        cells.map(way).collect()
    }

    #[test]
    fn all_rows_of_both_tables_are_measured() {
        let folder = folder();
        let ended = run(folder.path(), &["run", "tlpi", "--size", "100kB", "--rounds", "2", "--json"]);
        assert_eq!(code(&ended), 0, "{}", stderr(&ended));
        assert!(names(folder.path()).is_empty());
        let document = document(&ended);
        validate(&document);
        let keys: BTreeSet<String> = document["cells"].as_array().expect("cells").iter().map(key).collect();
        assert_eq!(keys.len(), document["cells"].as_array().map_or(0, Vec::len), "keys are unique");

        let cells = with_provenance(&document, "measured");
        assert_eq!(cells.len(), 28 + 12);
        assert_eq!((ways(&cells, "copy").len(), ways(&cells, "write").len()), (28, 12));
        for cell in cells {
            assert_eq!(cell["measured"], true, "{cell}");
            let bytes = if cell["program"] == "copy" { 100_000 } else { 1_000 };
            assert_eq!(cell["parameters"]["file_bytes"], bytes, "{cell}");
            assert_eq!(cell["state"]["clock"], "returned", "{cell}");
            let rounds = cell["rounds"].as_array().expect("rounds");
            assert_eq!(rounds.len(), 2, "{cell}");
            for round in rounds {
                assert_eq!(round["bytes"], bytes, "{cell}");
                assert!(round["durable_s"].as_f64() >= round["returned_s"].as_f64(), "{cell}");
            }
            let marks = cell["marks"].as_array().expect("marks");
            assert!(marks.iter().any(|mark| mark["code"] == "few"), "2 of 20 rounds: {cell}");
        }
        let findings = document["run"]["findings"].to_string();
        for word in ["a read+write pair costs", "O_SYNC", "the disk gave 48.8 MB/s"] {
            assert!(findings.contains(word), "{word} in {findings}");
        }
    }

    #[test]
    fn sizes_need_not_divide_and_all_bytes_move() {
        let ended = run(Path::new("."), &["run", "tlpi", "sim:flat", "--size", "12345", "--rounds", "1", "--json"]);
        assert_eq!(code(&ended), 0, "{}", stderr(&ended));
        let document = document(&ended);
        let cells = with_provenance(&document, "simulated");
        assert_eq!(cells.len(), 40);
        for cell in cells {
            let bytes = if cell["program"] == "copy" { 12_345 } else { 123 };
            assert_eq!(cell["rounds"][0]["bytes"], bytes, "{cell}");
        }
    }

    #[test]
    fn the_books_figures_stand_beside_them_as_published() {
        let ended = run(Path::new("."), &["run", "tlpi", "sim:flat", "--size", "1000", "--rounds", "1", "--json"]);
        let document = document(&ended);
        let cells = with_provenance(&document, "published");
        assert_eq!(cells.len(), 14 + 2);
        assert!(cells.iter().all(|cell| cell["target"] == "TLPI 2010 (ext2, Linux 2.6.30)"));
        let ways = ways(&cells, "write");
        assert_eq!(ways, [("osync".to_owned(), 1), ("osync".to_owned(), 4096)].into());

        let table = run(Path::new("."), &["run", "tlpi", "sim:flat", "--size", "1000", "--rounds", "1"]);
        let table = String::from_utf8(table.stdout).expect("text");
        for line in [
            "BUF_SIZE Elapsed Total CPU User CPU System CPU",
            "1 107.43 107.32 8.20 99.12",
            "65536 2.06 0.32 0.00 0.32",
            "4096 0.34 n.m.",
        ] {
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
            assert!(table.lines().any(|printed| words(printed) == words(line)), "{line} in\n{table}");
        }
    }

    /// Twenty rounds of 40 rows, the dearest of them 8 million calls, never fit into a tenth of a second.
    #[test]
    fn a_budget_leaves_the_dearest_rows_out_and_says_why() {
        let folder = folder();
        let ended = run(folder.path(), &["run", "tlpi", "--size", "4MB", "--budget", "100ms", "--json"]);
        assert_eq!(code(&ended), 0, "{}", stderr(&ended));
        assert!(stderr(&ended).contains(" of 40 tests, 2 of 20 rounds"), "{}", stderr(&ended));
        let document = document(&ended);
        validate(&document);
        assert_eq!(document["run"]["rounds"], 2);
        let cells = with_provenance(&document, "measured");
        assert_eq!(cells.len(), 40);
        let (measured, left_out): (Vec<&Value>, Vec<&Value>) =
            cells.into_iter().partition(|cell| cell["measured"] == true);
        assert_eq!((ways(&measured, "copy").len(), ways(&measured, "write").len()), (5, 5));
        for cell in &left_out {
            let reason = cell["reason"].as_str().expect("a reason");
            assert!(reason.starts_with("needs about ") && reason.ends_with(" of the budget of 100 ms"), "{reason}");
            assert_eq!((&cell["rate"], &cell["rounds"]), (&Value::Null, &Value::Array(Vec::new())), "{cell}");
        }
        // Of the copies the plain ones with the largest buffers stay: the fit takes three.
        for buffer in [4096, 16384, 65536] {
            assert!(ways(&measured, "copy").contains(&("none".to_owned(), buffer)));
        }
    }

    #[test]
    fn a_dry_run_shows_rows_and_forecast_and_writes_nothing() {
        let folder = folder();
        let planned = run(folder.path(), &["run", "tlpi", "--dry-run"]);
        assert_eq!(code(&planned), 0);
        let rows = String::from_utf8(planned.stdout).expect("text");
        assert_eq!(rows.lines().collect::<BTreeSet<_>>().len(), 40, "{rows}");
        let said = String::from_utf8_lossy(&planned.stderr);
        for word in ["40 tests, 20 rounds", "--budget 5min", "longest:", "guess"] {
            assert!(said.contains(word), "{word} in {said}");
        }
        assert!(names(folder.path()).is_empty());

        let thinned = run(folder.path(), &["run", "tlpi", "--dry-run", "--budget", "5min"]);
        let rows = String::from_utf8(thinned.stdout).expect("text");
        assert_eq!(rows.lines().count(), 40, "{rows}");
        let left_out = rows.lines().filter(|row| row.starts_with("n.m. ")).collect::<Vec<_>>();
        assert!(!left_out.is_empty() && left_out.iter().all(|row| row.ends_with("of the budget of 5 min")), "{rows}");
    }

    #[test]
    fn a_file_larger_than_any_disk_is_refused() {
        let refused = run(Path::new("."), &["run", "tlpi", "sim:flat", "--size", "17TiB"]);
        assert_eq!(code(&refused), 2, "{}", stderr(&refused));
        assert!(stderr(&refused).contains("16 TiB at most"), "{}", stderr(&refused));
    }
}
