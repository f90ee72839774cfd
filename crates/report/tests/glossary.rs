//! The glossary explains every word of JSON and of tables. A new warning, clock, state, bottleneck, part of the time or
//! heading without an entry fails here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use report::glossary::{Glossary, Topic};
use schemars::JsonSchema;
use stats::judge::bottleneck::OWNERS;
use stats::judge::marks::caches::FROM_DEVICE;
use stats::judge::marks::rounds::{AGREEMENT, OVERLAP};
use stats::{
    Bottleneck, CacheState, ClockKind, Environment, LatencyKind, LowerCache, MarkCode, Provenance, RemarkKind,
    Steadiness,
};

/// The glossary without presets, whose entries are in their own files.
const GLOSSARY: Glossary = Glossary::new(&[]);

/// Returns the values that a type allows in a document, from its schema.
fn words<T: JsonSchema>() -> Vec<String> {
    let schema = serde_json::to_value(schemars::schema_for!(T)).expect("plain data");
    let one_of = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let listed = schema["enum"].as_array().cloned().unwrap_or_default();
    let constants = one_of.iter().flat_map(|variant| {
        let several = variant["enum"].as_array().cloned().unwrap_or_default();
        several.into_iter().chain(variant.get("const").cloned())
    });
    let words: Vec<String> = constants.chain(listed).map(|word| word.as_str().expect("a word").to_owned()).collect();
    assert!(!words.is_empty(), "{schema}");
    words
}

fn explained(topic: Topic, words: &[String]) {
    for word in words {
        let found = GLOSSARY.find(word);
        assert!(found.iter().any(|(of, _)| *of == topic), "{word} is not explained as a {}", topic.singular());
    }
}

#[test]
fn every_mark_is_explained() {
    explained(Topic::Mark, &words::<MarkCode>());
    assert!(words::<MarkCode>().contains(&MarkCode::Uneven.name().to_owned()));
}

#[test]
fn every_remark_is_explained() {
    explained(Topic::Remark, &words::<RemarkKind>());
    assert!(words::<RemarkKind>().contains(&RemarkKind::WorkloadLimited.name().to_owned()));
}

#[test]
fn every_clock_and_every_state_is_explained() {
    explained(Topic::Clock, &words::<ClockKind>());
    let states = [
        words::<CacheState>(),
        words::<Steadiness>(),
        words::<Environment>(),
        words::<Provenance>(),
        words::<LatencyKind>(),
        words::<LowerCache>(),
    ]
    .concat();
    let states: Vec<String> = states.into_iter().filter(|word| word != "n.m.").collect();
    explained(Topic::State, &states);
    explained(Topic::Term, &["n.m.".to_owned()]);
}

#[test]
fn exactly_the_limits_and_owners_are_explained() {
    let printed = |topic: Topic| GLOSSARY.entries(topic).iter().map(|entry| entry.word).collect::<BTreeSet<_>>();
    let limits = words::<Bottleneck>();
    assert_eq!(printed(Topic::Limit), limits.iter().map(String::as_str).collect());
    assert_eq!(printed(Topic::Owner), OWNERS.into());
}

#[test]
fn explained_thresholds_match_the_code() {
    let when = |mark: &str| Topic::Mark.entry(mark).expect("an entry").when;
    assert!(when("few").contains(&format!("{:.0} %", 100.0 * AGREEMENT)));
    assert!(when("uneven").contains(&format!("{:.0} %", 100.0 * OVERLAP)));
    for mark in ["cache", "lower", "compress"] {
        assert!(when(mark).contains(&format!("{:.0} %", 100.0 * FROM_DEVICE)), "{mark}");
    }
    let percent = Topic::Unit.entry("%").expect("an entry").when;
    assert!(percent.contains(&format!("{} s", stats::figures::summary::CPU_NEEDS_S)));
}

#[test]
fn words_are_found_in_any_spelling() {
    let topics = |word: &str| GLOSSARY.find(word).into_iter().map(|(topic, _)| topic).collect::<Vec<_>>();
    assert_eq!(topics("MEMORY"), [Topic::Mark, Topic::Limit]);
    assert_eq!(topics("data_durable"), [Topic::Clock]);
    assert_eq!(topics("dirty-throttle"), [Topic::Limit]);
    assert_eq!(topics("*"), [Topic::Term]);
    // The row had this name in older results.
    assert_eq!(GLOSSARY.find("all loads"), GLOSSARY.find("all workloads"));
    assert_eq!(topics("all loads"), [Topic::Term]);
    assert_eq!(topics("nonsense"), []);
    for word in ["zone", "start of zone", "sectors per track", "track skew", "cylinder skew", "heads"] {
        assert!(topics(word).contains(&Topic::Term), "{word}");
    }
    assert_eq!(GLOSSARY.near("nosie")[0], "noise");
    assert_eq!(GLOSSARY.near("durabel")[0], "durable");
    assert_eq!(GLOSSARY.near("predi")[0], "predicted");
    for word in ["xyzzy", "noatime", "oise", "nxxse", "n"] {
        assert_eq!(GLOSSARY.near(word), [""; 0], "{word}");
    }
    for (list, topic) in
        [("Marks", Topic::Mark), ("warnings", Topic::Mark), ("limits", Topic::Limit), ("bottlenecks", Topic::Limit)]
    {
        assert_eq!(Topic::named(list), Some(topic), "{list}");
    }
}

/// Returns the column headings in a source file: the string literals in each line that makes a column.
fn headings(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let makes = |line: &str| line.contains("Column::words") || line.contains("Column::figures");
    let literals = |line: &str| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<String>>();
    code.lines().filter(|line| makes(line)).flat_map(literals).collect()
}

#[test]
fn every_heading_of_a_table_is_explained() {
    let mut found = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(headings(&fs::read_to_string(path).expect("a source")));
            }
        }
    }
    // `help run` is the help of the command. The other excluded headings are those of a book, machines of the
    // paper, and names of targets.
    let excluded = ["", "run", "BUF_SIZE", "Total CPU", "User CPU", "System CPU"];
    found.retain(|heading| !excluded.contains(&heading.as_str()));
    found.retain(|heading| !heading.contains("780") && !heading.contains('{'));
    assert!(found.len() > 30, "{found:?}");
    let is_explained = |heading: &String| {
        let heading = heading.replace("\\n", " ");
        !GLOSSARY.find(&heading).is_empty() || Topic::named(&heading).is_some()
    };
    let unknown: Vec<&String> = found.iter().filter(|heading| !is_explained(heading)).collect();
    assert!(unknown.is_empty(), "diskperf help does not know the headings {unknown:?}");
    assert_eq!(headings("    let column = Column::figures(\"nonsense\");"), ["nonsense"]);
    assert_eq!(GLOSSARY.find("nonsense"), []);
}
