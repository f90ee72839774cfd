//! `diskperf compare` and `diskperf history`: the report about two runs, and about a program in many; `--fail-if`, and
//! refusals.

use std::fs;
use std::sync::OnceLock;

use serde_json::{Value, json};
use testkit::ProgramOutput;

use crate::common::Cli;
use crate::common::document::document;

/// The output of a command that ends with this status.
fn printed(cli: &Cli, arguments: &[&str], status: i32) -> ProgramOutput {
    let ended = cli.run(arguments);
    assert_eq!(ended.status, Some(status), "{arguments:?}: {}{}", ended.out, ended.err);
    ended
}

fn assert_contains(text: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(text.contains(word), "nothing of {word:?}: {text}"));
}

/// The cell of a program in the document of a comparison.
fn cell<'a>(document: &'a Value, name: &str) -> &'a Value {
    let cells = document["cells"].as_array().expect("cells");
    cells.iter().find(|cell| cell["name"] == name).unwrap_or_else(|| panic!("no {name}: {document:#}"))
}

/// The document of a measured run, made once for all tests. The tests change its rounds.
fn template() -> Value {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    let text = DOCUMENT.get_or_init(|| {
        let programs = ["--only", "read_8192", "--only", "write_8192", "--only", "commit", "--rounds", "1", "--json"];
        Cli::new().run(&[&["run", "smoke", TARGET], &programs[..]].concat()).out
    });
    serde_json::from_str(text).expect("a document")
}

/// The target of the run.
const TARGET: &str = "disk=sim:flat";

/// Rounds that are faster than those of the template by this factor, with little noise. The five noise values repeat.
fn around(factor: f64, rounds: usize) -> Vec<f64> {
    [1.0, 1.004, 0.996, 1.002, 0.998].iter().cycle().take(rounds).map(|noise| factor * noise).collect()
}

/// Writes the document of a run whose programs were faster by these factors in each round, with other changes.
fn write_run(cli: &Cli, name: &str, factors: &[(&str, Vec<f64>)], change: impl FnOnce(&mut Value)) {
    let mut document = template();
    let cells = document["cells"].as_array_mut().expect("cells");
    cells.retain(|cell| factors.iter().any(|(program, _)| cell["program"] == *program));
    for cell in cells {
        let (_, factors) = factors.iter().find(|(program, _)| cell["program"] == *program).expect("it was kept");
        let mut round = cell["rounds"][0].clone();
        let took = ["durable_s", "data_durable_s", "returned_s"].iter().find_map(|clock| round[clock].as_f64());
        (round["durable_s"], round["data_durable_s"]) = (Value::Null, Value::Null);
        let rounds = factors.iter().enumerate().map(|(place, factor)| {
            round["round"] = json!(place + 1);
            round["returned_s"] = json!(took.expect("a time") / factor);
            round.clone()
        });
        cell["rounds"] = rounds.collect();
        cell["provenance"] = json!("measured");
        cell["marks"] = json!([]);
        let mean = factors.iter().sum::<f64>() / factors.len() as f64;
        for figure in ["per_second", "value"] {
            cell["rate"][figure] = json!(cell["rate"][figure].as_f64().expect("a rate") * mean);
        }
    }
    // Two documents with the same start time would count as one run, so the second run starts later.
    let apart = 60.0 * f64::from(u8::from(name != "then.json"));
    document["run"]["started_unix_s"] = json!(document["run"]["started_unix_s"].as_f64().expect("a time") + apart);
    change(&mut document);
    fs::write(cli.path().join(name), document.to_string()).expect("a document");
}

const READ: &str = "read_8192";
const WRITE: &str = "write_8192";
const COMMIT: &str = "commit";

#[test]
fn verdicts_and_changes_of_two_runs_are_printed() {
    let cli = Cli::new();
    let noisy = vec![0.6, 1.5, 0.9, 1.3, 0.8];
    write_run(&cli, "then.json", &[(READ, around(1.0, 5)), (WRITE, around(1.0, 5)), (COMMIT, around(1.0, 5))], |_| {});
    write_run(&cli, "now.json", &[(READ, around(1.2, 6)), (WRITE, around(0.8, 5)), (COMMIT, noisy)], |document| {
        document["run"]["kernel"] = json!("Linux 9.9");
        document["run"]["version"] = json!("7.7.7");
        // The kernel keeps a varying part of the memory for itself.
        document["run"]["memory_bytes"] = json!(document["run"]["memory_bytes"].as_u64().expect("bytes") / 1000 * 999);
        let target = &mut document["run"]["targets"][0];
        target["mount_options"] = json!(["noatime"]);
        (target["name"], target["argument"]) = (json!("other"), json!("other=/mnt"));
        for word in document["run"]["command"].as_array_mut().expect("words").iter_mut().filter(|word| **word == TARGET)
        {
            *word = json!("other=/mnt");
        }
        let target = &mut document["run"]["targets"][0];
        (target["device"], target["model"], target["scheduler"]) = (json!("sdb"), json!("WDC WD40"), json!("bfq"));
        target["tuning"] = json!("nr_requests:4");
        target["device_bytes"] = json!(1u64 << 40);
        document["run"]["started_unix_s"] =
            json!(document["run"]["started_unix_s"].as_f64().expect("a time") + 864_000.0);
    });
    let compared = document(&printed(&cli, &["compare", "then.json", "now.json", "--json"], 0));
    let told = |name: &str, field: &str| cell(&compared, name)[field].clone();
    assert_eq!([READ, WRITE, COMMIT].map(|name| told(name, "finding")), ["faster", "slower", "undecided"]);
    for (name, ratio) in [(READ, 1.2), (WRITE, 0.8)] {
        let [found, low, high] = ["ratio", "low", "high"].map(|end| told(name, end).as_f64().expect("a figure"));
        assert!((found / ratio - 1.0).abs() < 0.01 && low < found && found < high, "{name}: {compared:#}");
        assert_eq!(told(name, "matters"), true);
    }
    assert!(told(COMMIT, "needed_rounds").as_u64() > Some(5), "{compared:#}");
    assert_eq!((&compared["marks"][0]["code"], &compared["marks"][1]["code"]), (&json!("order"), &json!("env")));
    assert_contains(
        compared["marks"][1]["text"].as_str().expect("words"),
        &["changed between the runs: kernel, device, device model and 3 more"],
    );
    let change = |what: &str| {
        let all = compared["environment"].as_array().expect("changes");
        let found = all.iter().find(|change| change["what"] == what).unwrap_or_else(|| panic!("{what}: {compared:#}"));
        ["then", "now"].map(|when| found[when].as_str().unwrap_or("null").to_owned())
    };
    assert_eq!(change("kernel")[1], "Linux 9.9");
    assert_eq!(change("diskperf")[1], "7.7.7");
    assert_eq!(change("mount options"), ["no noatime", "noatime"]);
    assert_eq!(change("tuning"), ["as it was found", "nr_requests:4"]);
    for (what, now) in
        [("device model", "WDC WD40"), ("scheduler", "bfq"), ("device size", "1 TiB"), ("target", "other=/mnt")]
    {
        assert_eq!(change(what)[1], now, "{what}");
    }
    let told = compared["environment"].as_array().expect("changes").iter().map(|change| change["what"].clone());
    let untold = ["memory", "memory limit", "host", "CPUs", "command", "write cache", "full"];
    assert!(told.into_iter().all(|what| !untold.contains(&what.as_str().unwrap_or_default())), "{compared:#}");

    // If each run has one target, the targets are matched whatever their names.
    let table = printed(&cli, &["compare", "then.json", "now.json"], 0).out;
    assert_contains(
        &table,
        &["Of 3 tests: 1 faster, 1 slower, 1 undecided; clearly by more than 5 %.", "Linux 9.9", "no noatime"],
    );
    assert_contains(&table, &["* order: ", "began 10 days apart", "diskperf help order"]);
    assert_eq!(table.matches("order").count(), 2, "{table}");
    let page = printed(&cli, &["compare", "then.json", "now.json", "--format", "markdown"], 0).out;
    assert_contains(&page, &["| read\\_8192 |", "| slower |", "- order: "]);
    let lines = printed(&cli, &["compare", "then.json", "now.json", "--format", "csv"], 0).out;
    assert_eq!(lines.lines().count(), 4, "{lines}");
    let columns = lines.lines().map(|line| line.split(',').count()).collect::<Vec<usize>>();
    assert_eq!(columns, [20; 4], "{lines}");

    // A run that is compared with itself has no changes, so a condition could never fail.
    let same = printed(&cli, &["compare", "then.json", "then.json"], 0);
    assert_eq!(same.out, "identical: then.json and then.json are the same run\n");
    let refused = printed(&cli, &["compare", "then.json", "then.json", "--fail-if", "slower:5%"], 2).err;
    assert_contains(&refused, &["are the same run", "hint: "]);
}

#[test]
fn only_clearly_slower_or_missing_tests_fail_a_condition() {
    let cli = Cli::new();
    let all =
        |factors: [Vec<f64>; 3]| [READ, WRITE, COMMIT].into_iter().zip(factors).collect::<Vec<(&str, Vec<f64>)>>();
    write_run(&cli, "then.json", &all([(); 3].map(|()| around(1.0, 6))), |_| {});
    let (few, noisy) = (vec![0.5, 0.5], vec![0.6, 1.5, 0.9, 1.3, 0.8]);
    write_run(&cli, "now.json", &all([around(0.8, 6), around(1.0, 6), noisy]), |_| {});
    write_run(&cli, "few.json", &all([around(1.0, 6), around(1.0, 6), few]), |_| {});
    write_run(&cli, "again.json", &all([(); 3].map(|()| around(1.0, 6))), |_| {});
    write_run(&cli, "less.json", &[(READ, around(1.0, 6)), (WRITE, around(1.0, 6))], |_| {});
    write_run(&cli, "void.json", &all([(); 3].map(|()| around(1.0, 6))), |document| {
        let cell = document["cells"].as_array_mut().expect("cells").last_mut().expect("one");
        (cell["rate"], cell["rounds"]) = (Value::Null, json!([]));
        (cell["measured"], cell["reason"]) = (json!(false), json!("it failed"));
    });
    let fails = |now: &str, condition: &str, status: i32| {
        printed(&cli, &["compare", "then.json", now, "--fail-if", condition], status)
    };
    let ended = fails("now.json", "slower:5%", 5);
    assert_contains(
        &ended.err,
        &["slower:5%: clearly slower: read_8192 0.80x (", "neither passes nor fails: commit 0."],
    );
    assert!(!ended.err.contains("write_8192"), "{}", ended.err);
    assert_contains(&ended.out, &["fails if slower:5% [read_8192; write_8192; commit]: yes (slower: read_8192"]);
    fails("now.json", "slower:25%", 0);
    fails("now.json", "write:slower:5%", 0);
    fails("now.json", "write:slower:5%,read:slower:19%", 5);
    let undecided = fails("now.json", "commit:slower:5%", 0);
    assert_contains(&undecided.err, &["undecided, so it neither passes nor fails: commit"]);
    assert_contains(&undecided.out, &["fails if commit:slower:5% [commit]: undecided (undecided: commit"]);
    let well = fails("again.json", "slower:5%", 0);
    assert_contains(&well.out, &["fails if slower:5% [read_8192; write_8192; commit]: no"]);
    assert!(well.err.is_empty(), "{}", well.err);
    // A condition cannot be checked if its cell is missing or no longer measured.
    for now in ["less.json", "void.json"] {
        assert_contains(&fails(now, "slower:5%", 5).err, &["slower:5%: measured in base and not in new: commit"]);
        fails(now, "read:slower:5%", 0);
    }
    assert_contains(&fails("less.json", "slower:5%", 5).out, &["only in base: commit"]);
    let compared =
        document(&printed(&cli, &["compare", "then.json", "now.json", "--fail-if", "slower:5%", "--json"], 5));
    assert_eq!(
        (&compared["fail_if"][0]["failed"], &compared["fail_if"][0]["condition"]),
        (&json!(true), &json!("slower:5%"))
    );
    // Two rounds are too few to decide, and the command must report that.
    assert_contains(
        &fails("few.json", "slower:5%", 5).err,
        &["slower:5%: cannot be checked, 3 of 5 rounds missing: commit"],
    );
    fails("few.json", "read:slower:5%", 0);
    let few = ["compare", "then.json", "few.json", "--fail-if", "slower:5%", "--json"];
    let few = document(&printed(&cli, &few, 5));
    let unguarded = json!([{ "cell": "commit", "why": "3 of 5 rounds missing" }]);
    assert_eq!((&few["fail_if"][0]["unguarded"], &few["fail_if"][0]["slower"]), (&unguarded, &json!([])));
    // Without a condition nothing fails.
    printed(&cli, &["compare", "then.json", "now.json"], 0);
    for wrong in ["slower", "faster:5%", "slower:200%"] {
        assert_contains(&fails("now.json", wrong, 2).err, &["is not a condition"]);
    }
    assert_contains(&fails("now.json", "slower:0.05", 2).err, &["slower:5%"]);
    assert_contains(&fails("now.json", "xyzzy:slower:5%", 2).err, &["no result for xyzzy", "read_8192"]);
    assert_contains(&fails("now.json", "write_8129:slower:5%", 2).err, &["no result for write_8129"]);
}

#[test]
fn conditions_that_cannot_be_checked_fail() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 6))], |_| {});
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 5] = [
        ("new was interrupted", |run| run["run"]["interrupted"] = json!(true)),
        ("its rate in new has the warning cache", |run| {
            run["cells"][0]["marks"] = json!([{ "code": "cache", "value": null, "text": "it was in memory" }]);
        }),
        ("file_bytes differs", |run| run["cells"][0]["parameters"]["file_bytes"] = json!(1 << 30)),
        ("the cache state differs", |run| run["cells"][0]["state"]["cache"] = json!("warm")),
        ("no operation in 1 of 6 rounds of new", |run| {
            (run["cells"][0]["rounds"][0]["bytes"], run["cells"][0]["rounds"][0]["ops"]) = (json!(0), json!(0));
        }),
    ];
    for (why, change) in cases {
        write_run(&cli, "now.json", &[(READ, around(1.0, 6))], |document| {
            document["cells"][0]["state"]["cache"] = json!("cold");
            change(document);
        });
        write_run(&cli, "base.json", &[(READ, around(1.0, 6))], |document| {
            document["run"]["started_unix_s"] = json!(1.0);
            document["cells"][0]["state"]["cache"] = json!("cold");
        });
        let ended = printed(&cli, &["compare", "base.json", "now.json", "--fail-if", "slower:5%"], 5);
        assert_contains(&ended.err, &[&format!("cannot be checked, {why}: read_8192")]);
        assert_contains(&ended.out, &["yes (cannot be checked, "]);
    }
    // The cache states are listed among the differences.
    write_run(&cli, "now.json", &[(READ, around(1.0, 6))], |run| run["cells"][0]["state"]["cache"] = json!("warm"));
    let changes = document(&printed(&cli, &["compare", "base.json", "now.json", "--json"], 0));
    let change = &changes["environment"][0];
    assert_eq!(
        (&change["what"], &change["now"], &change["of"]),
        (&json!("cache before"), &json!("warm"), &json!(READ))
    );
    // A cell that was not measured in the old run guards nothing.
    write_run(&cli, "base.json", &[(READ, around(1.0, 6))], |document| {
        document["run"]["started_unix_s"] = json!(1.0);
        let cell = &mut document["cells"][0];
        (cell["rate"], cell["rounds"]) = (Value::Null, json!([]));
        (cell["measured"], cell["reason"]) = (json!(false), json!("no rights"));
    });
    let ended = printed(&cli, &["compare", "base.json", "now.json", "--fail-if", "slower:5%"], 5);
    assert_contains(&ended.err, &["cannot be checked, not measured in base: read_8192"]);
    assert_contains(&ended.out, &["1 n.m. in one of the runs", "n.m. in base: no rights (read_8192)"]);
}

/// If such rounds were left out, the comparison would report the old speed.
#[test]
fn rounds_without_any_bytes_count_as_slower() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 6))], |_| {});
    write_run(&cli, "now.json", &[(READ, around(1.0, 6))], |document| {
        let cell = &mut document["cells"][0];
        for round in cell["rounds"].as_array_mut().expect("rounds") {
            (round["bytes"], round["ops"]) = (json!(0), json!(0));
        }
        (cell["rate"]["per_second"], cell["rate"]["value"]) = (json!(0.0), json!(0.0));
        (cell["rate"]["low"], cell["rate"]["high"]) = (json!(0.0), json!(0.0));
    });
    let ended = printed(&cli, &["compare", "then.json", "now.json", "--fail-if", "slower:5%"], 5);
    assert_contains(&ended.err, &["clearly slower: read_8192, whose rate in new is 0"]);
    assert_contains(&ended.out, &["no operation in 6 rounds", "undecided"]);
    assert!(!ended.out.contains("NaN"), "{}", ended.out);
}

#[test]
fn rates_in_other_units_compare_and_size_changes_are_named() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 5))], |_| {});
    write_run(&cli, "now.json", &[(READ, around(1.5, 5))], |document| {
        let cell = &mut document["cells"][0];
        cell["rate"]["unit"] = json!("furlongs");
        cell["rate"]["value"] = json!(1.0);
        cell["parameters"]["file_bytes"] = json!(1 << 30);
    });
    let compared = document(&printed(&cli, &["compare", "then.json", "now.json", "--json"], 0));
    let read = cell(&compared, READ);
    assert!(read["ratio"].as_f64().is_some_and(|ratio| (1.45..1.55).contains(&ratio)), "{read:#}");
    assert_eq!(read["now"]["unit"], read["then"]["unit"]);
    let [then, now] = ["then", "now"].map(|when| read[when]["value"].as_f64().expect("a value"));
    assert!((now / then - 1.5).abs() < 0.05, "{read:#}");
    let change = &compared["environment"][0];
    assert_eq!((&change["what"], &change["of"], &change["now"]), (&json!("file_bytes"), &json!(READ), &json!("1 GiB")));
}

#[test]
fn runs_without_common_tests_are_refused_and_not_overwritten() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 5))], |_| {});
    write_run(&cli, "now.json", &[(WRITE, around(1.0, 5))], |_| {});
    let refused = printed(&cli, &["compare", "then.json", "now.json"], 2);
    assert_contains(
        &refused.err,
        &["then.json and now.json have no test in common", "then.json has read_8192 of smoke on disk", "hint: "],
    );
    assert_contains(&refused.err, &["now.json has write_8192 of smoke on disk"]);
    assert_eq!(refused.out, "");
    assert_contains(
        &printed(&cli, &["compare", "then.json", "now.json", "-o", "now.json"], 3).err,
        &["would overwrite"],
    );
    assert_contains(&printed(&cli, &["compare", "then.json", "missing"], 2).err, &["there is no missing"]);
    printed(&cli, &["compare", "then.json"], 2);
    // A program with other settings counts as another program, and the error names the settings.
    write_run(&cli, "other.json", &[(READ, around(1.0, 5))], |document| {
        document["cells"][0]["parameters"]["block_bytes"] = json!(4096);
    });
    assert_contains(
        &printed(&cli, &["compare", "then.json", "other.json"], 2).err,
        &["; read_8192 differs in block_bytes ("],
    );
    // Targets with given names are matched only by name.
    let two = |document: &mut Value| {
        let target = document["run"]["targets"][0].clone();
        document["run"]["targets"].as_array_mut().expect("targets").push(target);
        document["run"]["targets"][1]["name"] = json!("b");
        document["cells"][0]["target"] = json!("b");
    };
    write_run(&cli, "two.json", &[(READ, around(1.0, 5))], two);
    assert_contains(
        &printed(&cli, &["compare", "then.json", "two.json"], 2).err,
        &["two.json has read_8192 of smoke on b"],
    );
}

#[test]
fn unknown_bottlenecks_are_refused() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 5))], |document| {
        document["cells"][0]["limited_by"] = json!({"what": "sp\u{1b}ell", "evidence": ""});
    });
    let refused = printed(&cli, &["compare", "then.json", "then.json"], 2);
    assert_contains(&refused.err, &["then.json", "unknown variant `sp", "`dirty throttle`"]);
    assert!(!refused.err.contains('\u{1b}'), "{}", refused.err);
}

#[test]
fn control_characters_in_names_of_runs_are_not_printed() {
    let cli = Cli::new();
    let evil = "a\u{1b}[2J\nb\u{202e}";
    write_run(&cli, "then.json", &[(READ, around(1.0, 5))], |_| {});
    write_run(&cli, "now.json", &[(READ, around(1.5, 5))], |document| {
        document["run"]["kernel"] = json!(evil);
        document["run"]["command"][1] = json!(evil);
        document["run"]["targets"][0]["name"] = json!(evil);
        document["run"]["targets"][0]["mount_options"] = json!([evil]);
        document["cells"][0]["target"] = json!(evil);
    });
    for format in ["table", "markdown", "csv", "json"] {
        let text = printed(&cli, &["compare", "then.json", "now.json", "--format", format], 0).out;
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{format}: {text}");
        assert!(!text.lines().any(|line| line.starts_with("b\\u")), "{format}: {text}");
    }
}

const STORED: [&str; 2] = ["--store", "runs.sqlite"];

/// Three runs of a simulated drive, which turns half as fast in the second.
fn three_runs(cli: &Cli) {
    for drive in ["", ",drive.rpm=1800", ""] {
        let target = format!("disk=sim:vax780-sc780{drive}");
        let run = ["run", "smoke", &target, "--only", READ, "--only", WRITE, "--rounds", "8"];
        printed(cli, &[&run[..], &STORED[..]].concat(), 0);
    }
}

#[test]
fn stored_simulations_are_compared_and_have_a_history() {
    let cli = Cli::new();
    three_runs(&cli);
    let list = printed(&cli, &[&["list", "--json"], &STORED[..]].concat(), 0).out;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let ids: Vec<&str> = list.as_array().expect("runs").iter().map(|run| run["run"].as_str().expect("an id")).collect();
    let [first, second, third] = ids[..] else { panic!("{list:#}") };

    let compare = [&["compare", first, second], &STORED[..]].concat();
    let compared = document(&printed(&cli, &[&compare[..], &["--json", "--fail-if", "slower:5%"]].concat(), 5));
    assert_eq!((&compared["then"]["name"], &compared["now"]["name"]), (&json!(first), &json!(second)));
    let read = cell(&compared, READ);
    // The platters were at another position in each round.
    assert_eq!(read["finding"], "slower");
    assert!(read["low"].as_f64() < read["ratio"].as_f64() && read["confidence"].as_f64() < Some(1.0), "{read:#}");
    // Simulated machines do not change between runs, so no mark says so.
    assert_eq!(compared["marks"], json!([]));
    assert_contains(&printed(&cli, &compare, 0).out, &["disk=sim:vax780-sc780,drive.rpm=1800", "slower", "why"]);
    let again = [&["compare", first, third, "--fail-if", "slower:1%"], &STORED[..]].concat();
    assert_contains(&printed(&cli, &again, 0).out, &["1.00x", "2 same within 5 %"]);

    let words = [&["history", "read"], &STORED[..]].concat();
    let history = document(&printed(&cli, &[&words[..], &["--json"]].concat(), 0));
    let [past] = &history["series"].as_array().expect("series")[..] else { panic!("{history:#}") };
    assert_eq!((&past["program"], &past["target"]), (&json!(READ), &json!("disk")));
    let runs = past["runs"].as_array().expect("runs");
    assert_eq!(runs.iter().map(|run| run["run"].as_str().expect("an id")).collect::<Vec<&str>>(), ids);
    let findings: Vec<&Value> = runs.iter().map(|run| &run["step"]["finding"]).collect();
    assert_eq!(findings, [&Value::Null, &json!("slower"), &json!("faster")]);
    assert_eq!(runs[1]["environment"][0]["what"], "target");
    let table = printed(&cli, &words, 0).out;
    assert_contains(&table, &["read_8192 of smoke on disk", "target", "disk=sim:vax780-sc780,drive.rpm=1800"]);
    assert_contains(&table, &["####################", "same: within 5 %"]);
    assert!(!table.contains("interleaved"), "{table}");
    let last = printed(&cli, &[&words[..], &["disk", "--limit", "1", "--format", "csv"]].concat(), 0).out;
    assert_eq!(last.lines().count(), 2, "{last}");
    assert_contains(&last, &[third, ",faster,"]);
    assert_contains(
        &printed(&cli, &[&words[..], &["--format", "markdown"]].concat(), 0).out,
        &["## read\\_8192", "| slower"],
    );

    let refused = |words: &[&str]| printed(&cli, &[words, &STORED[..]].concat(), 2).err;
    assert_contains(&refused(&["history", "xyzzy"]), &["no stored run has the test xyzzy", "read_8192, write_8192"]);
    assert_contains(&refused(&["history", "read", "xyzzy"]), &["no stored run has the test read on xyzzy", "disk"]);
    assert_contains(&printed(&cli, &["history", "read", "--store", "missing"], 2).err, &["missing", "hint: "]);
}

#[test]
fn unnamed_folders_are_identified_by_their_path() {
    let cli = Cli::new();
    let run = ["run", "smoke", ".", "--only", WRITE, "--rounds", "1", "--store", "../runs.sqlite"];
    for name in ["one", "two", "one"] {
        let inside = cli.path().join(name);
        fs::create_dir_all(&inside).expect("a folder");
        let ended = Cli::in_folder(&inside).run(&run);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
    }
    let series = |words: &[&str]| {
        let history = document(&printed(&cli, &[&["history", "write", "--json"], words, &STORED[..]].concat(), 0));
        let series = history["series"].as_array().expect("series").iter();
        let count = |past: &Value| past["runs"].as_array().expect("runs").len();
        series.map(|past| (past["target"].as_str().expect("a path").to_owned(), count(past))).collect::<Vec<_>>()
    };
    let path = |name: &str| cli.path().join(name).to_string_lossy().into_owned();
    assert_eq!(series(&[]), [(path("one"), 2), (path("two"), 1)]);
    assert_eq!(series(&["two/../one"]), [(path("one"), 2)]);
    assert_eq!(series(&[&path("two")]), [(path("two"), 1)]);
    let nowhere = printed(&cli, &[&["history", "write", "."], &STORED[..]].concat(), 2);
    assert_contains(&nowhere.err, &["no stored run has the test write on .", "/one, "]);
}

/// Two drives, one at half the speed: each fsync waits for turns of the platter.
#[test]
fn a_percentile_is_guarded_like_a_rate() {
    let cli = Cli::new();
    for (name, target) in [("then.json", "d=sim:vax780-sc780"), ("now.json", "d=sim:vax780-sc780,drive.rpm=1800")] {
        let of_load = ["io", "randwrite", target, "--fsync", "4", "--size", "256KiB", "--time", "60s"];
        let ended = printed(&cli, &[&of_load[..], &["--rounds", "5", "--json"]].concat(), 0);
        fs::write(cli.path().join(name), ended.out).expect("a document");
    }
    let compared = |condition: &str, status| {
        let words = ["compare", "then.json", "now.json", "--fail-if", condition, "--json"];
        let ended = printed(&cli, &words, status);
        (document(&ended)["fail_if"].clone(), ended.err)
    };
    for condition in ["fsync.p50:slower:10%", "randwrite.fsync.max:slower:10%"] {
        let (failed, said) = compared(condition, 5);
        assert_eq!((&failed[0]["failed"], &failed[0]["condition"]), (&json!(true), &json!(condition)));
        assert!(said.contains("clearly slower: randwrite takes "), "{condition}: {said}");
    }
    assert_eq!(compared("fsync.p50:slower:300%", 0).0[0]["failed"], false);
    // Too few operations for a percentile guard nothing, and that fails.
    let (few, said) = compared("fsync.p999:slower:10%", 5);
    assert_eq!(few[0]["unguarded"].as_array().map(Vec::len), Some(1), "{few:#}");
    assert!(said.contains("too few operations for the percentile"), "{said}");
    let unknown = printed(&cli, &["compare", "then.json", "now.json", "--fail-if", "read.p99:slower:1%"], 2);
    assert!(unknown.err.contains("read"), "{}", unknown.err);
}

/// Two workloads, of which one has too few operations for percentiles, and their sum, which has no latencies.
#[test]
fn a_percentile_of_all_tests_leaves_out_none_that_was_timed() {
    let cli = Cli::new();
    let job = "[[load]]\nname = 'often'\npattern = 'randread'\nsize = '256KiB'\ntime = '60s'\n\
               [[load]]\nname = 'rare'\npattern = 'randread'\nrate = 1\nsize = '256KiB'\ntime = '3s'\n";
    fs::write(cli.path().join("x.toml"), job).expect("a job");
    let without_operations = |cell: &mut Value| {
        cell["latency_ns"] = Value::Null;
        for round in cell["rounds"].as_array_mut().expect("rounds") {
            round["operations"] = json!([]);
        }
    };
    for (name, target) in [("then.json", "d=sim:vax780-sc780"), ("now.json", "d=sim:vax780-sc780,drive.rpm=1800")] {
        let mut run = document(&printed(&cli, &["run", "x.toml", target, "--rounds", "5", "--json"], 0));
        assert_eq!((&run["cells"][1]["program"], &run["cells"][1]["latency_ns"]), (&json!("rare"), &Value::Null));
        let mut sum = run["cells"][1].clone();
        (sum["program"], sum["phase"]) = (json!("sum"), json!("sum"));
        sum["parameters"]["sum_of"] = json!("often+rare");
        without_operations(&mut sum);
        run["cells"].as_array_mut().expect("cells").push(sum);
        fs::write(cli.path().join(name), run.to_string()).expect("a document");
        without_operations(&mut run["cells"][1]);
        fs::write(cli.path().join(format!("lost-{name}")), run.to_string()).expect("a document");
    }
    let compared = |now: &str, condition: &str| {
        let ended = cli.run(&["compare", "then.json", now, "--fail-if", condition, "--json"]);
        (ended.status, document(&ended)["fail_if"][0].clone())
    };
    for (now, condition) in [
        ("now.json", "p50:slower:900%"),
        // The longest latency is exact, however few operations there are.
        ("now.json", "max:slower:900%"),
        ("lost-now.json", "max:slower:900%"),
    ] {
        let (_, guarded) = compared(now, condition);
        let cells: Vec<&str> = guarded["cells"].as_array().expect("cells").iter().filter_map(Value::as_str).collect();
        assert_eq!(cells, ["often", "rare"], "{now} {condition}: {guarded:#}");
    }
    for (now, condition, why) in [
        ("now.json", "p50:slower:900%", "a round of base has too few operations for the percentile"),
        ("lost-now.json", "max:slower:900%", "new has no such latencies of its rounds"),
    ] {
        let (status, guarded) = compared(now, condition);
        let unguarded = guarded["unguarded"].as_array().expect("cells");
        let expected = json!({ "cell": "rare", "why": why });
        assert!(status == Some(5) && unguarded.contains(&expected), "{now} {condition}: {guarded:#}");
    }
}

#[test]
fn a_comparison_is_a_report_for_ci_systems() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 8)), (COMMIT, around(1.0, 8)), (WRITE, around(1.0, 2))], |_| {});
    write_run(&cli, "now.json", &[(READ, around(0.8, 8)), (COMMIT, around(1.0, 8)), (WRITE, around(1.0, 2))], |_| {});
    let words =
        ["compare", "then.json", "now.json", "--fail-if", "read_8192:slower:5%,commit:slower:5%", "--format", "junit"];
    let xml = printed(&cli, &words, 5).out;
    assert_contains(
        &xml,
        &[
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>",
            "tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"1\"",
            "name=\"read_8192\">\n      <system-out>slower: ",
            "name=\"write_8192\">\n      <skipped message=\"undecided",
            "<failure message=\"read_8192:slower:5%\">slower: read_8192 0.80x",
            "<testcase classname=\"fail-if\" name=\"commit:slower:5%\"/>",
        ],
    );
    assert_eq!(xml.matches("<testcase ").count(), 5, "{xml}");
}

#[test]
fn undecided_is_a_condition() {
    let cli = Cli::new();
    write_run(&cli, "then.json", &[(READ, around(1.0, 2)), (COMMIT, around(1.0, 8))], |_| {});
    write_run(&cli, "now.json", &[(READ, around(1.0, 2)), (COMMIT, around(1.0, 8))], |_| {});
    let words = |condition| ["compare", "then.json", "now.json", "--fail-if", condition];
    printed(&cli, &words("commit:undecided"), 0);
    let ended = printed(&cli, &words("undecided"), 5);
    assert!(ended.err.contains("undecided: undecided: read_8192"), "{}", ended.err);
    printed(&cli, &words("commit:slower:5%,undecided"), 5);
}
