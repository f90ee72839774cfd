//! `diskperf schema [DOCUMENT]`: the JSON Schema of what `--format json` prints, made from the same structs.

use units::Exit;

use crate::cli::values::DocumentKind;
use crate::error::Error;
use crate::jobs;
use crate::ui::output;

pub fn run(document: DocumentKind) -> Result<Exit, Error> {
    let schema = match document {
        DocumentKind::Run => schemars::schema_for!(stats::Document),
        DocumentKind::Doctor => schemars::schema_for!(stats::Checkup),
        DocumentKind::Paper => schemars::schema_for!(stats::compare::replication::PaperDocument),
        DocumentKind::Job => jobs::schema(),
        DocumentKind::Compare => schemars::schema_for!(stats::compare::compared::Compared),
        DocumentKind::History => schemars::schema_for!(stats::compare::history::History),
        DocumentKind::Verify => schemars::schema_for!(stats::Verification),
    };
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    output::print(&(text + "\n"))?;
    Ok(Exit::Done)
}
