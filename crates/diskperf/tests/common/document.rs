//! The document that a command printed.

use std::path::Path;

use serde_json::Value;
use testkit::Ended;

/// The document, checked against the schema that the same program prints for its kind.
pub fn document(ended: &Ended) -> Value {
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
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let schema = testkit::run(&program, Path::new("/"), &["schema", kind]).out;
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a JSON Schema");
    let problems: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}");
    document
}
