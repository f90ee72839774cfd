//! `diskperf choose --stages`: compares each stage with the one before and the last with the first, and prints the
//! changes of each stage.

use serde_json::Value;

use crate::common::document::document;
use crate::common::{Cli, list};

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name}: {value:#}"))
}

/// The targets of the stages, and the changes of each.
fn changes(choice: &Value) -> Vec<(&str, Vec<&str>)> {
    list(choice, "stages").iter().map(|stage| (word(stage, "target"), list_of_words(&stage["changed"]))).collect()
}

fn list_of_words(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first two stages and the last of the controller in table 5 of the paper: the lead, then the arbitration.
const LEAD: &str = "sim:vax780-sc780-inadequate-lead";
const ARBITRATION: &str = "sim:vax780-sc780-initial-arbitration";
const IMPROVED: &str = "sim:vax780-sc780";

/// The results of the paper's stages, and all output from the stored run.
#[test]
fn each_stage_of_1983_is_compared_with_the_previous_one() {
    let cli = Cli::new();
    let stored = ["--store", "runs.sqlite"];
    let words = ["choose", "--stages", LEAD, ARBITRATION, IMPROVED, "--preset", "classic1983", "--json"];
    let only = ["--only", "read_8192", "--only", "write_4096", "--use", "1983"];
    let ended = cli.well(&[&words[..], &only, &stored].concat());
    let document = document(&ended);
    let choice = &document["run"]["choice"];
    let changed = changes(choice);
    assert_eq!((changed[0].0, changed[0].1.len()), (LEAD, 0));
    let search = vec!["controller.search_lead=5 sectors", "controller.search_window=8 sectors"];
    assert_eq!(changed[1], (ARBITRATION, search));
    assert_eq!((changed[2].0, changed[2].1[0]), (IMPROVED, "bus=sbi"));

    let pairs = |comparisons: &Value| -> Vec<[String; 3]> {
        let words = |pair: &Value| ["program", "first", "second"].map(|name| word(pair, name).to_owned());
        comparisons.as_array().expect("comparisons").iter().map(words).collect()
    };
    let mut expected = Vec::new();
    for (first, second) in [(LEAD, ARBITRATION), (ARBITRATION, IMPROVED), (LEAD, IMPROVED)] {
        expected.extend(["read_8192", "write_4096"].map(|program| [program, first, second].map(str::to_owned)));
    }
    assert_eq!(pairs(&choice["comparisons"]), expected);
    assert_eq!(pairs(&choice["purpose"]["comparisons"]).len(), 3);
    assert_eq!(choice["decided"], true);
    // The paper's rates: reads 320, 440 and 560, writes 250, 300 and 440.
    for pair in list(choice, "comparisons") {
        let ratio = pair["ratio"].as_f64().expect("a ratio");
        assert_eq!((word(pair, "verdict"), word(pair, "faster")), ("faster", word(pair, "second")), "{pair:#}");
        assert!((1.1..2.5).contains(&ratio), "{pair:#}");
    }
    // The factors of the steps multiply to the total factor.
    let of_reads: Vec<f64> =
        list(choice, "comparisons").iter().step_by(2).filter_map(|pair| pair["ratio"].as_f64()).collect();
    assert!((of_reads[0] * of_reads[1] / of_reads[2] - 1.0).abs() < 1e-9, "{of_reads:?}");

    let shown = cli.run(&[&["show", "last"], &stored[..]].concat()).out;
    assert!(
        shown.starts_with("For 1983: controller.search_lead=5 sectors, controller.search_window=8 sectors x1."),
        "{shown}"
    );
    for words in [
        "\nStage 2, controller.search_lead=5 sectors, ",
        "\nStage 3, bus=sbi, ",
        "\nAll stages together: ",
        "why, stage 3: ",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // The factor of each stage is in the line below its rate. After them comes the factor of all stages together.
    let at = shown.lines().position(|line| line.starts_with(" read_8192 ")).expect("a row");
    let rows: Vec<&str> = shown.lines().skip(at).take(2).collect();
    assert_eq!((rows[0].matches("%)").count(), rows[1].matches(" x1.").count()), (3, 3), "{shown}");
    assert!(rows[1].trim_start().starts_with("Kbytes/sec"), "{shown}");
    let narrow = cli.command(&["show", "last", "--store", "runs.sqlite"]);
    let narrow = testkit::terminal::watch(narrow, 60).end().out;
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert_eq!(narrow.matches("\n read_8192 ").count(), 2, "{narrow}");
    let explained = cli.run(&[&["explain", "last", "read_8192"], &stored[..]].concat()).out;
    assert!(explained.contains(&format!("read_8192 on {ARBITRATION}, simulated: ")), "{explained}");
    let page = cli.run(&[&["export", "last", "--format", "markdown"], &stored[..]].concat()).out;
    assert!(page.contains("- Stage 2, controller.search\\_lead=5 sectors, "), "{page}");
}

#[test]
fn two_stages_are_one_step_even_without_changes() {
    let cli = Cli::new();
    let words = ["choose", "--stages", "a=sim:flat", "b=sim:flat", "--preset", "smoke", "--only", "commit"];
    let ended = cli.well(&words);
    assert!(ended.out.starts_with("Stage 2, nothing changed: same within 5 % in the only test."), "{}", ended.out);
    assert!(!ended.out.contains("together"), "{}", ended.out);
    assert!(ended.err.starts_with("stage 2: nothing changed, so it shows"), "{}", ended.err);
    let document = document(&cli.run(&[&words[..], &["--json"]].concat()));
    let choice = &document["run"]["choice"];
    assert_eq!(changes(choice), [("a", vec![]), ("b", vec![])]);
    assert_eq!(list(choice, "comparisons").len(), 1);
    // Without --stages, there are no stages.
    let others: Vec<&str> = words.iter().copied().filter(|word| *word != "--stages").chain(["--json"]).collect();
    let document = crate::common::document::document(&cli.run(&others));
    assert!(document["run"]["choice"].get("stages").is_none());

    let alone = cli.run(&["choose", "--stages", "sim:flat"]);
    assert_eq!(alone.status, Some(2), "{}", alone.err);
    assert!(alone.err.contains("at least two targets") && alone.err.contains("hint: "), "{}", alone.err);
}

/// The comparisons are counted as they are decided: four stages have three steps and their total, not every pair.
#[test]
fn measuring_ends_when_all_steps_are_decided() {
    let cli = Cli::new();
    let mut command = cli.command(&["choose", "--stages", "a=sim:flat", "b=sim:flat", "c=sim:flat", "d=sim:flat"]);
    command.args(["--preset", "smoke", "--only", "commit", "--no-store"]);
    let ended = testkit::terminal::watch(command, 100).end();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("round 1 of about 6: commit on "), "{}", ended.err);
    assert!(ended.err.contains(", 0 of 4 decided: commit on "), "{}", ended.err);
    assert!(!ended.err.contains(" of 6 decided"), "{}", ended.err);
}

/// Images with different mount options and tuning; the disk that they share is named once.
#[test]
fn options_and_queues_of_images_are_stages() {
    testkit::need_disk!("mkfs.ext4", "mount", "umount");
    let cli = Cli::new();
    let plain = "image:ext4,size=16MiB";
    let stages = [
        plain.to_owned(),
        format!("{plain},mount=nobarrier"),
        format!("{plain},mount=nobarrier+noatime,tune=read_ahead_kb:512"),
    ];
    let stages = stages.each_ref().map(String::as_str);
    let words = [&["choose", "--stages"], &stages[..], &["--preset", "smoke", "--only", "commit"]].concat();
    let ended = cli.well(&[&words[..], &["--rounds", "6", "--json"]].concat());
    let document = document(&ended);
    let choice = &document["run"]["choice"];
    let changed: Vec<Vec<&str>> = changes(choice).into_iter().map(|(_, changed)| changed).collect();
    assert_eq!(changed, [vec![], vec!["mount=nobarrier"], vec!["mount=noatime", "tune=read_ahead_kb:512"]]);
    assert_eq!(list(choice, "comparisons").len(), 3);
    assert!(ended.err.contains("\nstage 3: mount=noatime, tune=read_ahead_kb:512\n"), "{}", ended.err);
    let remarks = list_of_words(&choice["remarks"]);
    let on_one = format!("{}, {} and {} share one device (", stages[0], stages[1], stages[2]);
    // The device of the folder may not be visible.
    assert!(remarks.len() <= 1 && remarks.iter().all(|remark| remark.starts_with(&on_one)), "{remarks:?}");
    assert!(ended.err.matches("share one device").count() <= 1, "{}", ended.err);
    assert_eq!(cli.names(), Vec::<String>::new());
}
