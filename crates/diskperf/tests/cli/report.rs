//! `diskperf report`: a page of stored runs, their charts as files, a comment for a pull request, and refusals.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use testkit::terminal::watch;
use testkit::{ProgramOutput, names_in};

use crate::common::Cli;

fn diskperf(cli: &Cli, arguments: &[&str]) -> ProgramOutput {
    let store = ["--store", "runs.sqlite"];
    let takes_store = !arguments.contains(&"--help");
    cli.run(&[arguments, if takes_store { &store } else { &[] }].concat())
}

fn well(cli: &Cli, arguments: &[&str]) -> ProgramOutput {
    let ended = diskperf(cli, arguments);
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}{}", ended.out, ended.err);
    ended
}

/// A folder with a store with two runs: one of a simulated disk, then one that compared two disks. They are run once
/// for all tests.
fn measured() -> Cli {
    static STORE: OnceLock<Vec<u8>> = OnceLock::new();
    let cli = Cli::new();
    let store = STORE.get_or_init(measure);
    fs::write(cli.path().join("runs.sqlite"), store).expect("the store");
    cli
}

fn measure() -> Vec<u8> {
    let cli = Cli::new();
    well(&cli, &["run", "smoke", "sim:flat"]);
    let two = ["choose", "slow=sim:vax780-sc780,drive.rpm=1800", "fast=sim:vax780-sc780", "--preset", "smoke"];
    well(&cli, &[&two[..], &["--only", "read_8192", "--only", "write_8192"]].concat());
    fs::read(cli.path().join("runs.sqlite")).expect("the store")
}

fn read(place: &Path, name: &str) -> String {
    fs::read_to_string(place.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn documents(page: &str) -> Vec<Value> {
    let scripts = page.split("<script type=\"application/json\"").skip(1);
    let text =
        |script: &str| script.split_once('>').expect("a tag").1.split_once("</script>").expect("its end").0.to_owned();
    scripts.map(|script| serde_json::from_str(&text(script)).expect("a document")).collect()
}

#[test]
fn the_latest_run_becomes_a_page() {
    let cli = measured();
    let ended = well(&cli, &["report", "-o", "report.html"]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", "wrote report.html\n"));
    let page = read(cli.path(), "report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 300_000, "{} bytes", page.len());
    let lead = page.find("is faster in 2 of 2 tests").expect("the verdict");
    let targets = page.find("<ul class=\"where\">").expect("the targets");
    assert!(lead < targets, "the verdict comes first");
    assert!(page.contains("<h1>slow or fast?</h1>") && page.contains("class=\"chart"), "{page}");
    let [document] = &documents(&page)[..] else { panic!("one document") };
    let shown = well(&cli, &["show", "last", "--json"]);
    assert_eq!(*document, serde_json::from_str::<Value>(&shown.out).expect("a document"));
    // To a pipe, without -o.
    let piped = well(&cli, &["report", "last"]);
    assert_eq!((piped.out.as_str(), piped.err.as_str()), (page.as_str(), ""));
}

#[test]
fn pages_are_not_written_to_a_terminal() {
    let cli = measured();
    let words = |words: &[&str]| {
        let command = cli.command(&[words, &["--store", "runs.sqlite"]].concat());
        watch(command, 100).end()
    };
    let refused = words(&["report", "last"]);
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert!(refused.err.contains("-o report.html"), "{}", refused.err);
    // Markdown is printed on a terminal, unlike HTML.
    let comment = words(&["report", "last", "--format", "markdown"]);
    assert!(comment.status == Some(0) && comment.out.starts_with("## "), "{}{}", comment.out, comment.err);
}

#[test]
fn several_runs_share_a_page() {
    let cli = measured();
    let listed: Vec<Value> = serde_json::from_str(&well(&cli, &["list", "--json"]).out).expect("runs");
    let first = listed[0]["run"].as_str().expect("a name");
    fs::write(cli.path().join("run.json"), well(&cli, &["show", "last", "--json"]).out).expect("a file");
    well(&cli, &["report", first, "run.json", "-o", "all.html"]);
    let page = read(cli.path(), "all.html");
    assert_eq!((page.matches("<section ").count(), page.matches("<h1>").count()), (2, 1));
    assert_eq!((page.matches("<style>").count(), documents(&page).len()), (1, 2));
    assert!(page.contains("<h1>2 runs</h1>") && page.contains("<a href=\"#r2\">slow or fast?</a>"), "{page}");
}

/// `export` makes one file of several runs. Commands that read one run name the fault.
#[test]
fn files_of_several_runs_are_reported_and_exported() {
    let cli = measured();
    let listed: Vec<Value> = serde_json::from_str(&well(&cli, &["list", "--json"]).out).expect("runs");
    let [first, second] = [0, 1].map(|run: usize| listed[run]["run"].as_str().expect("a name"));
    well(&cli, &["export", first, second, "-o", "both.json"]);
    let page = well(&cli, &["report", "both.json"]).out;
    assert_eq!((page.matches("<section ").count(), documents(&page).len()), (2, 2));
    let [before, again] = [read(cli.path(), "both.json"), well(&cli, &["export", "both.json"]).out]
        .map(|text| serde_json::from_str::<Value>(&text).expect("runs"));
    assert_eq!(again, before);
    let csv = well(&cli, &["export", "both.json", "--format", "csv"]).out;
    assert!(csv.contains("\nboth.json:1,") && csv.contains("\nboth.json:2,"), "{csv}");
    let anonymous = well(&cli, &["export", "both.json", first, "--format", "csv", "--anonymous"]).out;
    assert!(anonymous.contains("\nFILE1,") && anonymous.contains("\nFILE2,"), "{anonymous}");
    for words in [&["show", "both.json"][..], &["explain", "both.json"], &["compare", first, "both.json"]] {
        let refused = diskperf(&cli, words);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{words:?}: {}", refused.err);
        assert!(refused.err.contains("both.json has 2 runs, and this command reads one"), "{}", refused.err);
    }
}

/// A machine of the paper is shown next to its published figures; with changes, it is not.
#[test]
fn simulated_machines_are_next_to_published_figures() {
    let cli = Cli::new();
    well(&cli, &["simulate", "vax780-sc780", "--phases", "2"]);
    let page = well(&cli, &["report"]).out;
    assert!(page.contains("<h2>Published and simulated figures</h2>") && page.contains("<b>560 (70%)</b>"), "{page}");
    assert!(page.contains("simulated</h1>"));
    // The page has the published figures whatever the name of the target.
    for target in ["sim:vax780-sc780", "mine=sim:vax780-sc780"] {
        well(&cli, &["run", "classic1983", target, "--only", "read_8192", "--rounds", "1"]);
        let page = well(&cli, &["report"]).out;
        assert!(page.contains("<h2>Published and simulated figures</h2>"), "{target}");
    }
    well(&cli, &["simulate", "vax780-sc780", "--phases", "2", "--set", "drive.rpm=1800"]);
    let page = well(&cli, &["report"]).out;
    assert!(!page.contains("<h2>Published and simulated figures</h2>"));
}

#[test]
fn charts_are_written_to_files() {
    let cli = measured();
    let ended = well(&cli, &["report", "last", "--svg", "charts"]);
    assert_eq!(ended.out, "");
    let names = names_in(&cli.path().join("charts"));
    assert!(names.contains(&"choice-1.svg".to_owned()) && names.contains(&"rates-1.svg".to_owned()), "{names:?}");
    for name in &names {
        assert!(ended.err.contains(&format!("wrote charts/{name}\n")), "{}", ended.err);
        let drawing = read(&cli.path().join("charts"), name);
        assert!(drawing.starts_with("<?xml") && drawing.contains("<svg "), "{name}: {drawing}");
    }
    // With --format markdown, Markdown is printed.
    let comment = well(&cli, &["report", "last", "--svg", "charts", "--format", "markdown"]);
    assert!(comment.out.starts_with("## "), "{}", comment.out);
    // Charts can be written together with a page, and replace earlier charts.
    well(&cli, &["report", "last", "--svg", "charts", "-o", "report.html"]);
    assert_eq!(names_in(&cli.path().join("charts")), names);
}

/// A folder can contain other files. diskperf does not overwrite a file that is not a chart, and then writes nothing.
#[test]
fn only_charts_are_overwritten() {
    let cli = measured();
    let run = well(&cli, &["show", "last", "--json"]).out;
    let refused = |words: &str| {
        let ended = diskperf(&cli, &["report", "rates-1.svg", "--svg", "."]);
        assert_eq!((ended.status, ended.out.as_str()), (Some(3), ""), "{}", ended.err);
        assert!(ended.err.contains(words) && ended.err.contains("hint:"), "{}", ended.err);
        assert!(!cli.path().join("choice-1.svg").exists(), "all is looked at first");
    };
    fs::write(cli.path().join("rates-1.svg"), &run).expect("a file");
    refused("rates-1.svg is an input file");
    assert_eq!(read(cli.path(), "rates-1.svg"), run);

    let draw = |cli: &Cli| diskperf(cli, &["report", "last", "--svg", "."]);
    let ended = draw(&cli);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("rates-1.svg exists and is not a chart"), "{}", ended.err);
    assert_eq!(read(cli.path(), "rates-1.svg"), run);
    // Through a link, even a chart would be written somewhere else.
    let cli = measured();
    fs::write(cli.path().join("mine"), "mine").expect("a file");
    std::os::unix::fs::symlink("mine", cli.path().join("rates-1.svg")).expect("a link");
    assert_eq!(draw(&cli).status, Some(3));
    assert_eq!(read(cli.path(), "mine"), "mine");
}

/// The page of many targets leaves out as much as it can; if that is not enough, it says so.
#[test]
fn large_pages_are_reduced_or_reported() {
    let cli = Cli::new();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/quick.json");
    let text = fs::read_to_string(recorded).expect("the recorded run");
    let mut document: Value = serde_json::from_str(&text).expect("a document");
    let repeated = |values: &Value, field: &str| {
        let of_target = |number: usize| {
            let mut values = values.as_array().expect("a list").clone();
            values.iter_mut().for_each(|value| value[field] = format!("t{number}").into());
            values
        };
        Value::Array((0..10).flat_map(of_target).collect())
    };
    document["run"]["targets"] = repeated(&document["run"]["targets"], "name");
    document["cells"] = repeated(&document["cells"], "target");
    fs::write(cli.path().join("many.json"), document.to_string()).expect("a file");
    let ended = well(&cli, &["report", "many.json", "-o", "many.html"]);
    let page = read(cli.path(), "many.html");
    assert!(!page.contains("aria-label=\"The rate of each round\""), "{} bytes", page.len());
    assert_eq!(
        page.len() > 300_000,
        ended.err.contains("many mail servers refuse"),
        "{} bytes: {}",
        page.len(),
        ended.err
    );
    assert!(page.len() < 600_000, "{} bytes", page.len());
    // The file name of a partial document says so.
    if !documents(&page).is_empty() {
        assert!(page.contains("data-name=\"diskperf-many-without-rounds.json\""), "{}", page.len());
    }
}

#[test]
fn a_comment_for_a_pull_request_begins_with_the_verdict() {
    let cli = measured();
    for words in [&["report", "last"][..], &["show", "last"]] {
        let text = well(&cli, &[words, &["--format", "markdown"]].concat()).out;
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert!(lines[0].starts_with("## ") && lines[1].starts_with("**") && lines[1].ends_with("**"), "{text}");
        assert!(lines[1].contains("fast is faster in 2: ") && lines[1].contains("x ("), "{text}");
        let (before, folded) = text.split_once("<details>").expect("what is folded");
        assert!(before.contains("| verdict |") && !before.contains("bottleneck"), "{text}");
        assert!(folded.contains("bottleneck") && folded.contains("```shell\ndiskperf choose "), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
    let rows = well(&cli, &["show", "last", "--format", "csv"]).out;
    assert_eq!(rows.lines().count(), 1 + 4, "{rows}");
}

/// Two runs of one disk, in one history file; and two power cuts.
#[test]
fn histories_and_power_cuts_become_pages() {
    let cli = measured();
    well(&cli, &["run", "smoke", "sim:flat"]);
    well(&cli, &["history", "read_8192", "sim:flat", "--json", "-o", "history.json"]);
    let cut = |lost: u32| {
        let kinds = serde_json::json!([
            {"kind": "append", "acknowledged": 9, "intact": 9 - lost, "missing": lost, "torn": 0, "stale": 0}
        ]);
        serde_json::json!({"round": 1, "unflushed_bytes": null, "unmountable": null, "kinds": kinds})
    };
    let verified = serde_json::json!({
        "schema": "diskperf-verify/1", "version": "0", "kernel": "Linux", "target": "image:ext4", "seed": 1,
        "cuts": [cut(0), cut(4)], "control": null, "interrupted": false, "errors": []
    });
    fs::write(cli.path().join("verify.json"), verified.to_string()).expect("it is written");
    well(&cli, &["report", "history.json", "verify.json", "last", "-o", "all.html"]);
    let page = read(cli.path(), "all.html");
    let schemas: Vec<Value> = documents(&page).into_iter().map(|document| document["schema"].clone()).collect();
    assert_eq!(schemas, ["diskperf/1", "diskperf-history/1", "diskperf-verify/1"]);
    for words in ["Rate over 2 runs", "acknowledged records are intact", "4 of 18 lost", "fail"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.find("4 of 18 lost") < page.find("the file system can be mounted"), "losses come first");
    let markdown = well(&cli, &["report", "history.json", "verify.json", "--format", "markdown"]).out;
    assert!(
        markdown.contains("## read\\_8192 of smoke on sim:flat") && markdown.contains("## image:ext4"),
        "{markdown}"
    );
    well(&cli, &["report", "history.json", "--svg", "charts"]);
    assert_eq!(names_in(&cli.path().join("charts")), ["rates-1.svg"]);
    fs::write(cli.path().join("bad.json"), "{\"schema\": \"diskperf-verify/1\"}").expect("it is written");
    let bad = diskperf(&cli, &["report", "bad.json", "-o", "bad.html"]);
    assert!(bad.status == Some(2) && bad.err.contains("diskperf-verify/1"), "{:?} {}", bad.status, bad.err);
}

#[test]
fn impossible_reports_are_refused() {
    let cli = measured();
    let refused = |arguments: &[&str], status: i32, words: &[&str]| {
        let ended = diskperf(&cli, &[&["report"], arguments].concat());
        assert_eq!((ended.status, ended.out.as_str()), (Some(status), ""), "{arguments:?}: {}", ended.err);
        words.iter().for_each(|word| assert!(ended.err.contains(word), "{arguments:?}: {}", ended.err));
    };
    refused(&["nosuchrun"], 2, &["there is no run nosuchrun"]);
    refused(&["no.json"], 2, &["there is no no.json"]);
    fs::write(cli.path().join("other.json"), "{\"schema\": \"diskperf/2\"}").expect("a file");
    refused(&["other.json", "-o", "x.html"], 2, &["has the version diskperf/2", "hint:"]);
    refused(&["-o", "nowhere/x.html"], 2, &["there is no nowhere"]);
    refused(&["-o", "."], 2, &["is a directory"]);
    refused(&["--svg", "other.json"], 2, &["other.json is a file; charts", "hint:"]);
    refused(&["--svg", "nowhere/charts"], 2, &["there is no nowhere", "hint:"]);
    fs::write(cli.path().join("run.json"), well(&cli, &["show", "last", "--json"]).out).expect("a file");
    refused(&["run.json", "-o", "run.json"], 3, &["would overwrite"]);
    assert!(!cli.path().join("x.html").exists());
    // Nothing is stored yet.
    let empty = Cli::new();
    let ended = empty.run(&["report", "--store", "none.sqlite"]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
}
