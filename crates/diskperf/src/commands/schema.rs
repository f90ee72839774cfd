//! `diskperf schema`: the JSON Schema of what `--format json` prints, made from the same structs.

use crate::error::Error;
use crate::exit::Exit;
use crate::output;

pub fn run() -> Result<Exit, Error> {
    let schema = schemars::schema_for!(stats::Document);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    output::print(&(text + "\n"))?;
    Ok(Exit::Done)
}
