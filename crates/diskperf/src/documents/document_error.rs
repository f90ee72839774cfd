//! Errors of results files: message, exit status and hint.

use stats::SCHEMA;
use units::{Bytes, Exit};

/// The largest document that is read. A cell with its rounds has some kilobytes, so no run comes near this limit. It
/// also ends the reading of a disk that is named by mistake.
pub const LARGEST: Bytes = Bytes::mib(256);

/// The reason why a results file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    #[error("{0} is empty")]
    Empty(String),
    #[error("{0} is larger than {LARGEST}, the limit for results files")]
    TooLarge(String),
    #[error("{name} is not JSON: {why}")]
    NotJson { name: String, why: String },
    #[error("{name} is truncated at line {line}")]
    CutShort { name: String, line: usize },
    #[error("{0} is JSON, but not a results file of diskperf")]
    NotOurs(String),
    #[error("{name} has {count} runs, and this command reads one")]
    SeveralRuns { name: String, count: usize },
    #[error("{name} has the version {schema}; this build reads {SCHEMA}")]
    OtherVersion { name: String, schema: String, written_by: Option<String> },
    #[error("{name} is not valid {schema}: {why}")]
    Unfit { name: String, schema: &'static str, why: String, written_by: Option<String> },
    #[error("{name} has nothing to explain: {why}")]
    NoCells { name: String, why: String },
    #[error("{name} has no result for {words}")]
    NoSuchCell { name: String, words: String, near: Vec<String> },
    #[error("{0} is a file; charts need a folder")]
    NoFolder(String),
    #[error("{0} exists and is not a chart of diskperf")]
    NotAChart(String),
    #[error(
        "{first} and {second} have no test in common: {first} has {}; {second} has {}{differs}",
        .have[0],
        .have[1],
        first = .names[0],
        second = .names[1]
    )]
    NothingShared { names: [String; 2], have: [String; 2], differs: String },
    #[error("{} and {} are the same run", .names[0], .names[1])]
    OneRun { names: [String; 2] },
}

impl DocumentFault {
    /// The exit status of a command that needed the file.
    pub fn exit(&self) -> Exit {
        match self {
            DocumentFault::NotAChart(_) => Exit::Refused,
            DocumentFault::NoCells { .. } => Exit::Failed,
            _ => Exit::Usage,
        }
    }

    pub fn hint(&self) -> Option<String> {
        // Builds of one version may differ, but naming that version twice explains nothing.
        let ours = env!("CARGO_PKG_VERSION");
        let other = |written_by: &Option<String>| written_by.clone().filter(|version| version != ours);
        Some(match self {
            DocumentFault::Empty(_) | DocumentFault::NotOurs(_) | DocumentFault::TooLarge(_) => {
                "create one: diskperf run quick --json -o run.json".to_owned()
            }
            DocumentFault::NotJson { .. } => {
                "use the JSON of a run, not its table: diskperf run quick --json -o run.json".to_owned()
            }
            DocumentFault::SeveralRuns { .. } => {
                "export each run to a file of its own: diskperf export last -o run.json".to_owned()
            }
            DocumentFault::CutShort { .. } => "run it again, or copy the file again".to_owned(),
            DocumentFault::OtherVersion { written_by, .. } => match other(written_by) {
                Some(version) => format!("diskperf {version} wrote it and can read it; this is {ours}"),
                None => "use the build of diskperf that wrote it".to_owned(),
            },
            DocumentFault::Unfit { written_by, .. } => match other(written_by) {
                Some(version) => format!("use diskperf {version}, which wrote it; this is {ours}"),
                None => {
                    "the file was changed, or another build of diskperf wrote it: copy the original again, or use that \
                     build"
                        .to_owned()
                }
            },
            DocumentFault::NoSuchCell { near, .. } => format!("known results: {}", near.join(", ")),
            DocumentFault::NoFolder(_) => "name a folder, as in --svg charts".to_owned(),
            DocumentFault::NotAChart(_) => "name another folder with --svg, or move it away".to_owned(),
            DocumentFault::NothingShared { .. } => {
                "compare runs of the same preset; diskperf list shows them".to_owned()
            }
            DocumentFault::OneRun { .. } => {
                "name the base run first, then the new one: diskperf run ... --json -o now.json && diskperf compare \
             base.json now.json --fail-if slower:5%"
                    .to_owned()
            }
            DocumentFault::NoCells { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_named_only_if_they_differ() {
        let ours = env!("CARGO_PKG_VERSION");
        let (name, schema, why) = ("x".to_owned(), "diskperf/2".to_owned(), "why".to_owned());
        for (version, is_named) in [(None, false), (Some(ours), false), (Some("99.0.0"), true)] {
            let written_by = version.map(str::to_owned);
            let faults = [
                DocumentFault::OtherVersion {
                    name: name.clone(),
                    schema: schema.clone(),
                    written_by: written_by.clone(),
                },
                DocumentFault::Unfit { name: name.clone(), schema: stats::SCHEMA, why: why.clone(), written_by },
            ];
            for fault in faults {
                let hint = fault.hint().expect("a hint");
                assert_eq!((hint.contains("99.0.0"), hint.contains(ours)), (is_named, is_named), "{hint}");
            }
        }
    }
}
