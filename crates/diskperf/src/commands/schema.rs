//! `diskperf schema [DOCUMENT]`: the JSON Schema of the JSON output, and of a job file.
//!
//! The schemas are the files `docs/reference/schema/*.json`, embedded without white space. `cargo xtask docs --write`
//! generates them from the structs, and a test compares them. The code that generates a schema is not in the program:
//! it would be twice as large as all schemas.

use units::Exit;

use crate::cli::values::DocumentKind;
use crate::error::Error;
use crate::ui::output;
use crate::ui::output_format::indented;

/// A schema without white space.
macro_rules! schema {
    ($name:literal) => {{
        const INDENTED: &str = include_str!(concat!("../../../../docs/reference/schema/", $name, ".json"));
        static DENSE: [u8; dense::<0>(INDENTED).1] = dense(INDENTED).0;
        &DENSE
    }};
}

pub fn run(document: DocumentKind) -> Result<Exit, Error> {
    output::print(&text(document))?;
    Ok(Exit::Done)
}

/// The text of a schema, indented as in its file.
fn text(document: DocumentKind) -> String {
    let dense: &[u8] = match document {
        DocumentKind::Run => schema!("run"),
        DocumentKind::Doctor => schema!("doctor"),
        DocumentKind::Paper => schema!("paper"),
        DocumentKind::Job => schema!("job"),
        DocumentKind::Compare => schema!("compare"),
        DocumentKind::History => schema!("history"),
        DocumentKind::Verify => schema!("verify"),
        DocumentKind::Probe => schema!("probe"),
        DocumentKind::Predict => schema!("predict"),
    };
    indented(str::from_utf8(dense).expect("whole characters are removed"))
}

/// The first `MOST` bytes of JSON without white space, and the length of all of it.
const fn dense<const MOST: usize>(json: &str) -> ([u8; MOST], usize) {
    let (mut kept, mut length) = ([0; MOST], 0);
    let (mut index, mut is_in_string, mut is_escaped) = (0, false, false);
    while index < json.len() {
        let byte = json.as_bytes()[index];
        if is_in_string || !byte.is_ascii_whitespace() {
            if length < MOST {
                kept[length] = byte;
            }
            length += 1;
        }
        is_in_string ^= byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        index += 1;
    }
    (kept, length)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    use clap::ValueEnum;
    use schemars::schema_for;

    use super::*;

    /// The schema generated from the struct.
    fn generated(document: DocumentKind) -> String {
        let schema = match document {
            DocumentKind::Run => schema_for!(stats::Document),
            DocumentKind::Doctor => schema_for!(stats::Checkup),
            DocumentKind::Paper => schema_for!(stats::compare::replication::PaperDocument),
            DocumentKind::Job => jobs::schema(),
            DocumentKind::Compare => schema_for!(stats::compare::run_comparison::Compared),
            DocumentKind::History => schema_for!(stats::compare::history::History),
            DocumentKind::Verify => schema_for!(stats::Verification),
            DocumentKind::Probe => schema_for!(stats::probe::ProbeDocument),
            DocumentKind::Predict => schema_for!(stats::predict::PredictionDocument),
        };
        serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
    }

    /// Writes the files for `cargo xtask docs --write`.
    #[test]
    fn schemas_match_the_structs() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema");
        let writes = env::var("DISKPERF_DOCS").is_ok_and(|mode| ["write", "measure"].contains(&mode.as_str()));
        for document in DocumentKind::value_variants() {
            let name = document.to_possible_value().expect("a name");
            let path = folder.join(name.get_name()).with_extension("json");
            let generated = generated(*document);
            if writes {
                fs::write(&path, generated).expect("the schema is written");
            } else {
                let advice = "cargo xtask docs --write updates it";
                assert!(text(*document) == generated, "{} differs from its struct: {advice}", path.display());
            }
        }
    }

    #[test]
    fn white_space_is_removed_and_restored_outside_of_strings() {
        const TEXT: &str = "{\n  \"a  {\": [\n    1,\n    \" \\\" }\"\n  ],\n  \"b\": {}\n}\n";
        const DENSE: [u8; dense::<0>(TEXT).1] = dense(TEXT).0;
        let dense = str::from_utf8(&DENSE).expect("text");
        assert_eq!(dense, "{\"a  {\":[1,\" \\\" }\"],\"b\":{}}");
        assert_eq!(indented(dense), TEXT);
    }
}
