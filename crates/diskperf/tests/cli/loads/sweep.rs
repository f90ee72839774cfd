//! Sweeps: several values of an option are rows of one interleaved run, with a column in CSV and a chart on the page.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Cli, cells, list};

/// Four short rows, which need no io_uring.
const SWEEP: [&str; 10] =
    ["io", "randread", "--bs", "4k..8k*2", "--jobs", "1,2", "--size=1MiB", "--time=20ms", "--rounds", "2"];

/// The command of the sweep with more words.
fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SWEEP.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn every_combination_is_a_row_and_the_rounds_are_interleaved() {
    let cli = Cli::in_memory();
    let document = cli.document(&sweep(&["--json"]));
    let number = |cell: &Value, key: &str| cell["parameters"][key].as_u64().expect("a number");
    let settings: Vec<(u64, u64)> =
        cells(&document).iter().map(|cell| (number(cell, "buffer_bytes"), number(cell, "jobs"))).collect();
    assert_eq!(settings, [(4096, 1), (4096, 2), (8192, 1), (8192, 2)]);
    for round in [1, 2] {
        let of_round = |cell: &Value| {
            let mut rounds = list(cell, "rounds").iter();
            let found = rounds.find(|one| one["round"] == round).expect("each round has each row");
            assert!(found["ops"].as_u64() > Some(0), "{found:#}");
            found["position"].as_u64().expect("a position")
        };
        let positions: BTreeSet<u64> = cells(&document).iter().map(of_round).collect();
        assert_eq!(positions, BTreeSet::from([1, 2, 3, 4]));
    }
    let findings: Vec<&str> =
        list(&document["run"], "findings").iter().map(|finding| finding.as_str().expect("a sentence")).collect();
    let few = "knee not decided: fewer than 3 values (2 of 2 curves)";
    assert_eq!(findings, [format!("randread over bs: {few}"), format!("randread over jobs: {few}")]);
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn csv_has_a_column_for_each_option_and_the_page_a_chart() {
    let cli = Cli::in_memory();
    cli.well(&sweep(&["--json", "-o", "run.json"]));
    let csv = cli.well(&["show", "run.json", "--format", "csv"]).out;
    // From the end, because texts in earlier columns may have commas.
    let mut lines = csv.lines().map(|line| line.rsplit(',').collect::<Vec<_>>());
    let head = lines.next().expect("columns");
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap_or_else(|| panic!("no {name}"));
    let (bs, jobs) = (column("parameter.buffer_bytes"), column("parameter.jobs"));
    let rows: Vec<[String; 2]> = lines.map(|row| [row[bs].to_owned(), row[jobs].to_owned()]).collect();
    assert_eq!(rows, [["4096", "1"], ["4096", "2"], ["8192", "1"], ["8192", "2"]]);
    let table = cli.well(&["show", "run.json"]).out;
    // A long name has several lines if the rates need the room.
    for words in ["buffer 4 KiB", "jobs 1", "over jobs: knee not"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let page = cli.well(&["report", "run.json"]).out;
    assert!(page.contains("Rate by setting"), "{page}");
    for chart in ["randread: MiB/s over bs", "randread: operations per second over jobs"] {
        assert!(page.contains(chart), "{chart}");
    }
}

#[test]
fn a_plan_names_every_row() {
    let plan = Cli::in_memory().well(&sweep(&["--dry-run"]));
    let rows: Vec<&str> = plan.out.lines().filter(|line| line.starts_with("randread ")).collect();
    assert_eq!(rows.len(), 4, "{}", plan.out);
    for words in ["buffer_bytes=8192 ", "jobs=2"] {
        assert_eq!(rows.iter().filter(|row| row.contains(words)).count(), 2, "{words}: {}", plan.out);
    }
}

#[test]
fn wrong_sweeps_are_refused_with_a_hint() {
    let cli = Cli::in_memory();
    for (words, said) in [
        ("--iodepth 1..128*1", "--iodepth 1..128*1: a range is FIRST..LAST*FACTOR"),
        ("--bs 4k..1M", "--bs 4k..1M: a range of sizes needs a factor or a step"),
        ("--jobs 1,x", "--jobs 1,x: \"x\" is not a whole number"),
        ("--bs 4k..1M*2 --jobs 1..32", "9 x 32 combinations, more than the 256 allowed"),
        ("--jobs 1,4 --jobs 2", "--jobs: it is given twice"),
        ("--jobs 1,1000", "--jobs 1000: it must be from 1 to 512"),
        ("--jobs 1,4 --time forever", "--time forever: a sweep needs rounds that end"),
    ] {
        let line = format!("io randread {words}");
        cli.refuses(&line.split(' ').collect::<Vec<_>>(), 2, &[said, "hint: "]);
    }
}

#[test]
fn a_job_file_can_sweep_beside_other_loads() {
    let cli = Cli::in_memory();
    let printed = cli.well(&sweep(&["--print-job"])).out;
    for line in ["bs = \"4k..8k*2\" ", "jobs = \"1,2\" "] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let job = format!("{printed}\n[[load]]\nname = \"log\"\npattern = \"commit\"\nsize = \"16KiB\"\n");
    std::fs::write(cli.path().join("swept.toml"), job).expect("a job");
    let document = cli.document(&["run", "swept.toml", "--json"]);
    let row = |cell: &Value| {
        let number = |key: &str| cell["parameters"][key].as_u64();
        (cell["program"].as_str().expect("a name").to_owned(), number("buffer_bytes"), number("jobs"))
    };
    let rows: Vec<_> = cells(&document).iter().map(row).collect();
    let of_sweep = |bytes, jobs| ("randread".to_owned(), Some(bytes), Some(jobs));
    assert_eq!(rows[..4], [of_sweep(4096, 1), of_sweep(4096, 2), of_sweep(8192, 1), of_sweep(8192, 2)]);
    assert_eq!((rows.len(), rows[4].0.as_str()), (5, "log"));
    let findings: Vec<&str> =
        list(&document["run"], "findings").iter().map(|finding| finding.as_str().expect("a sentence")).collect();
    assert!(findings[0].starts_with("randread over bs: ") && findings[1].starts_with("randread over jobs: "));
    assert!(findings[2].starts_with("log on "), "the load beside the sweep has its own: {findings:?}");
    // fio has no sweeps: each point is a section.
    let exported = cli.well(&["export", "--to", "fio", "swept.toml"]).out;
    for section in ["[randread-bs4KiB-jobs1]", "[randread-bs8KiB-jobs2]", "[log]"] {
        assert!(exported.contains(section), "{section}: {exported}");
    }
}

#[test]
fn choose_compares_the_targets_at_each_point() {
    let cli = Cli::new();
    let line = "choose slow=sim:vax780-sc780,drive.rpm=1800 fast=sim:vax780-sc780 io randread --bs 4k,8k --time 2s \
                --size 1MiB --need randread>=1/s --json";
    let document = cli.document(&line.split_whitespace().collect::<Vec<_>>());
    let choice = &document["run"]["choice"];
    let word = |pair: &Value, key: &str| pair[key].as_str().expect("a word").to_owned();
    let compared: Vec<[String; 2]> =
        list(choice, "comparisons").iter().map(|pair| ["program", "faster"].map(|key| word(pair, key))).collect();
    assert_eq!(compared, [["randread, buffer 4 KiB", "fast"], ["randread, buffer 8 KiB", "fast"]], "{choice:#}");
    assert_eq!(choice["needs"][0]["met"], true, "{choice:#}");
    cli.refuses(&["choose", ".", "/tmp", "io", "randread", "--bs", "4k..64k"], 2, &["needs a factor", "hint: "]);
}
