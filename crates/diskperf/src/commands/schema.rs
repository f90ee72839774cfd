//! `diskperf schema [DOCUMENT]`: the JSON Schema of the JSON output, and of a job file.
//!
//! The schemas are the files `docs/reference/schema/*.json`, embedded without indentation. `cargo xtask docs --write`
//! generates them from the structs, and a test compares them. The code that generates a schema is not in the program:
//! it would be twice as large as all schemas.

use units::Exit;

use crate::cli::values::DocumentKind;
use crate::error::Error;
use crate::ui::output;

/// A schema without its indentation.
macro_rules! schema {
    ($name:literal) => {{
        const INDENTED: &str = include_str!(concat!("../../../../docs/reference/schema/", $name, ".json"));
        static LINES: [u8; unindented::<0>(INDENTED).1] = unindented(INDENTED).0;
        &LINES
    }};
}

pub fn run(document: DocumentKind) -> Result<Exit, Error> {
    output::print(&text(document))?;
    Ok(Exit::Done)
}

/// The text of a schema, indented as in its file.
fn text(document: DocumentKind) -> String {
    let lines: &[u8] = match document {
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
    indented(str::from_utf8(lines).expect("whole characters are removed"))
}

/// Indents lines of JSON by their depth. Only brackets begin a line with `}` or `]`, or end one with `{` or `[`:
/// strings end with a quotation mark.
fn indented(lines: &str) -> String {
    let mut text = String::new();
    let mut depth: usize = 0;
    for line in lines.lines() {
        depth -= usize::from(line.starts_with(['}', ']']));
        text += &"  ".repeat(depth);
        text += line;
        text.push('\n');
        depth += usize::from(line.ends_with(['{', '[']));
    }
    text
}

/// The first `MOST` bytes of a text without the spaces that begin its lines, and the length of all of it.
const fn unindented<const MOST: usize>(text: &str) -> ([u8; MOST], usize) {
    let (mut kept, mut length) = ([0; MOST], 0);
    let (mut index, mut begins) = (0, true);
    while index < text.len() {
        let byte = text.as_bytes()[index];
        begins = begins && byte == b' ';
        if !begins {
            if length < MOST {
                kept[length] = byte;
            }
            length += 1;
        }
        begins = begins || byte == b'\n';
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
    fn indentation_is_removed_and_restored_outside_of_strings() {
        const TEXT: &str = "{\n  \"a  {\": [\n    1,\n    \" }\"\n  ],\n  \"b\": {}\n}\n";
        const LINES: [u8; unindented::<0>(TEXT).1] = unindented(TEXT).0;
        let lines = str::from_utf8(&LINES).expect("text");
        assert_eq!(lines, "{\n\"a  {\": [\n1,\n\" }\"\n],\n\"b\": {}\n}\n");
        assert_eq!(indented(lines), TEXT);
    }
}
