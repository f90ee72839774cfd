//! The document that a command prints.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::Value;
use testkit::ProgramOutput;

/// The document, checked against the schema that the same program prints for its kind.
pub fn document(ended: &ProgramOutput) -> Value {
    let document: Value =
        serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}{}", ended.out, ended.err));
    let kind = match document["schema"].as_str() {
        Some("diskperf-doctor/1") => "doctor",
        Some("diskperf-paper/1") => "paper",
        Some("diskperf-verify/1") => "verify",
        Some("diskperf-compare/1") => "compare",
        Some("diskperf-history/1") => "history",
        _ => "run",
    };
    let problems: Vec<String> = validator(kind).iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    document
}

/// The schema of a kind. Asked for once in each test file, because an unoptimised build takes long to compile it.
fn validator(kind: &'static str) -> Arc<Validator> {
    static KNOWN: Mutex<BTreeMap<&str, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let program = super::program();
        let schema = testkit::run(&program, Path::new("/"), &["schema", kind]).out;
        let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
        Arc::new(jsonschema::validator_for(&schema).expect("the schema is a JSON Schema"))
    };
    Arc::clone(known.entry(kind).or_insert_with(compile))
}
