//! The programs of *The Linux Programming Interface* from the command line: `copy`, and `run tlpi`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::common::Cli;
use crate::common::document::document;

/// Bytes by which a misplaced block is noticed. Their number is not a multiple of any buffer size.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| (index * 31 + index / 251) as u8).collect()
}

/// A folder with a file `old` in it.
fn folder_with_old(bytes: usize) -> Cli {
    let cli = Cli::new();
    fs::write(cli.path().join("old"), content(bytes)).expect("a file");
    cli
}

mod copy {
    use super::*;

    #[test]
    fn a_copy_is_byte_identical_through_any_buffer() {
        for bytes in [0, 1, 1023, 1024, 1025, 10_007] {
            let cli = folder_with_old(bytes);
            for buffer in ["1", "2", "7", "512", "1024", "1000", "4KiB", "10007", "65536", "1MiB"] {
                let copied = cli.run(&["copy", "old", "new", "--buffer", buffer]);
                assert_eq!(copied.status, Some(0), "{}", copied.err);
                let new = fs::read(cli.path().join("new")).expect("the copy");
                assert!(new == content(bytes), "{bytes} bytes through a buffer of {buffer}");
            }
        }
    }

    #[test]
    fn every_sync_option_gives_the_same_copy() {
        let cli = folder_with_old(10_007);
        for sync in ["none", "osync", "dsync", "fsync"] {
            let copied = cli.run(&["copy", "old", sync, "--sync", sync]);
            assert_eq!(copied.status, Some(0), "{}", copied.err);
            assert!(fs::read(cli.path().join(sync)).expect("the copy") == content(10_007), "{sync}");
        }
    }

    #[test]
    fn the_old_content_of_the_new_file_is_replaced() {
        let cli = folder_with_old(100);
        fs::write(cli.path().join("new"), content(5000)).expect("a file");
        assert_eq!(cli.run(&["copy", "old", "new"]).status, Some(0));
        assert!(fs::read(cli.path().join("new")).expect("the copy") == content(100));
    }

    #[test]
    fn figures_are_printed_only_on_standard_error() {
        let cli = folder_with_old(10_007);
        let copied = cli.run(&["copy", "old", "new"]);
        assert_eq!(copied.out, "");
        let said = &copied.err;
        assert_eq!(said.lines().count(), 1, "{said}");
        for word in ["10007 bytes", "MB/s", "CPU"] {
            assert!(said.contains(word), "{word} in {said}");
        }
    }

    #[test]
    fn invalid_and_harmful_copies_are_refused_without_changes() {
        let cli = folder_with_old(3000);
        let path = cli.path();
        fs::create_dir(path.join("directory")).expect("a folder");
        fs::hard_link(path.join("old"), path.join("same")).expect("a link");
        std::os::unix::fs::symlink("old", path.join("link")).expect("a link");
        std::os::unix::fs::symlink("/dev/no-such-device", path.join("astray")).expect("a link");
        std::os::unix::net::UnixListener::bind(path.join("socket")).expect("a socket");
        let before = cli.names();
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
            let refused = cli.run(&words);
            let said = &refused.err;
            assert_eq!(refused.status, Some(expected), "{words:?}: {said}");
            assert!(said.contains(says), "{words:?}: {said}");
            assert_eq!(refused.out, "", "{words:?}");
            assert_eq!(cli.names(), before, "{words:?}");
            assert!(fs::read(path.join("old")).expect("still there") == content(3000), "{words:?}");
        }
    }

    #[test]
    fn an_unreadable_file_is_refused_with_a_hint() {
        let cli = Cli::new();
        // The kernel refuses to read this file, also to root.
        let refused = cli.run(&["copy", "/proc/sys/net/ipv4/route/flush", "new"]);
        assert_eq!(refused.status, Some(3), "{}", refused.err);
        assert!(refused.err.contains("hint:"), "{}", refused.err);
        assert!(cli.names().is_empty());
    }

    #[test]
    fn a_copy_that_does_not_fit_is_refused() {
        let cli = Cli::new();
        let old = fs::File::create(cli.path().join("old")).expect("a file");
        // Sparse: no disk of today has room for all of it.
        old.set_len(8 << 40).expect("a sparse file of 8 TiB");
        let refused = cli.run(&["copy", "old", "new"]);
        assert_eq!(refused.status, Some(3), "{}", refused.err);
        assert!(refused.err.contains("8 TiB"), "{}", refused.err);
        assert_eq!(cli.names().len(), 1);
    }

    /// A file in /proc has size 0 but contains data, so it seems to grow during the copy.
    #[test]
    fn a_file_changed_during_the_copy_is_an_error() {
        let cli = Cli::new();
        let failed = cli.run(&["copy", "/proc/self/status", "new"]);
        assert_eq!(failed.status, Some(1), "{}", failed.err);
        assert!(failed.err.contains("changed during the copy"), "{}", failed.err);
        assert!(cli.names().is_empty(), "the unfinished copy is removed");
    }

    #[test]
    fn ctrl_c_removes_only_a_new_copy() {
        for existed in [false, true] {
            let cli = folder_with_old(0);
            let (old, new) = (cli.path().join("old"), cli.path().join("new"));
            // One-byte calls that take minutes.
            fs::File::options().write(true).open(old).and_then(|old| old.set_len(200_000_000)).expect("a sparse file");
            if existed {
                fs::write(&new, b"before").expect("a file");
            }
            let mut command = cli.command(&["copy", "old", "new", "--buffer", "1"]);
            let copying = command.stderr(Stdio::piped()).spawn().expect("diskperf starts");
            testkit::wait_until("it copies", || fs::metadata(&new).map_or(0, |new| new.len()) >= 100);
            let process = rustix::process::Pid::from_child(&copying);
            rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
            let interrupted = copying.wait_with_output().expect("it ends");
            let said = String::from_utf8_lossy(&interrupted.stderr);
            assert_eq!(interrupted.status.code(), Some(4), "{said}");
            assert!(said.starts_with("interrupted after "), "{said}");
            assert_eq!(new.exists(), existed, "{said}");
        }
    }
}

mod tlpi {
    use super::*;

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
        let cli = Cli::new();
        let ended = cli.run(&["run", "tlpi", "--size", "100kB", "--rounds", "2", "--json"]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert!(cli.names().is_empty());
        let document = document(&ended);
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
    fn odd_sizes_are_copied_completely() {
        let ended = Cli::in_folder(".").run(&["run", "tlpi", "sim:flat", "--size", "12345", "--rounds", "1", "--json"]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let document = document(&ended);
        let cells = with_provenance(&document, "simulated");
        assert_eq!(cells.len(), 40);
        for cell in cells {
            let bytes = if cell["program"] == "copy" { 12_345 } else { 123 };
            assert_eq!(cell["rounds"][0]["bytes"], bytes, "{cell}");
        }
    }

    #[test]
    fn the_figures_of_the_book_are_included_as_published() {
        let ended = Cli::in_folder(".").run(&["run", "tlpi", "sim:flat", "--size", "1000", "--rounds", "1", "--json"]);
        let document = document(&ended);
        let cells = with_provenance(&document, "published");
        assert_eq!(cells.len(), 14 + 2);
        assert!(cells.iter().all(|cell| cell["target"] == "TLPI 2010 (ext2, Linux 2.6.30)"));
        let ways = ways(&cells, "write");
        assert_eq!(ways, [("osync".to_owned(), 1), ("osync".to_owned(), 4096)].into());

        let table = Cli::in_folder(".").run(&["run", "tlpi", "sim:flat", "--size", "1000", "--rounds", "1"]);
        let table = table.out;
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

    /// Twenty rounds of 40 rows, the slowest of them 8 million calls, never fit into a tenth of a second.
    #[test]
    fn a_budget_omits_the_most_expensive_rows_with_a_reason() {
        let cli = Cli::new();
        let ended = cli.run(&["run", "tlpi", "--size", "4MB", "--budget", "100ms", "--json"]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert!(ended.err.contains(" of 40 tests, 2 of 20 rounds"), "{}", ended.err);
        let document = document(&ended);
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
        // Of the copies without a sync, the three with the largest buffers stay: the fit needs three.
        for buffer in [4096, 16384, 65536] {
            assert!(ways(&measured, "copy").contains(&("none".to_owned(), buffer)));
        }
    }

    #[test]
    fn a_dry_run_shows_rows_and_forecast_and_writes_nothing() {
        let cli = Cli::new();
        let planned = cli.run(&["run", "tlpi", "--dry-run"]);
        assert_eq!(planned.status, Some(0));
        let rows = planned.out;
        assert_eq!(rows.lines().collect::<BTreeSet<_>>().len(), 40, "{rows}");
        let said = planned.err;
        for word in ["40 tests, 20 rounds", "--budget 5min", "longest:", "guess"] {
            assert!(said.contains(word), "{word} in {said}");
        }
        assert!(cli.names().is_empty());

        let thinned = cli.run(&["run", "tlpi", "--dry-run", "--budget", "5min"]);
        let rows = thinned.out;
        assert_eq!(rows.lines().count(), 40, "{rows}");
        let left_out = rows.lines().filter(|row| row.starts_with("n.m. ")).collect::<Vec<_>>();
        assert!(!left_out.is_empty() && left_out.iter().all(|row| row.ends_with("of the budget of 5 min")), "{rows}");
    }

    #[test]
    fn a_file_larger_than_any_disk_is_refused() {
        let refused = Cli::in_folder(".").run(&["run", "tlpi", "sim:flat", "--size", "17TiB"]);
        assert_eq!(refused.status, Some(2), "{}", refused.err);
        assert!(refused.err.contains("16 TiB"), "{}", refused.err);
    }
}
