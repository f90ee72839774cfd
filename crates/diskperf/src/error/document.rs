//! Exit statuses and hints for results files that cannot be used.

use crate::document::DocumentFault;
use crate::exit::Exit;

/// The exit status this stands for.
pub fn exit(fault: &DocumentFault) -> Exit {
    match fault {
        DocumentFault::Overwrites(_) | DocumentFault::NotAChart(_) => Exit::Refused,
        DocumentFault::NoCells { .. } => Exit::Failed,
        _ => Exit::Usage,
    }
}

/// What to try.
pub fn hint(fault: &DocumentFault) -> Option<String> {
    let by = |version: &Option<String>| version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
    Some(match fault {
        DocumentFault::Empty(_) | DocumentFault::NotOurs(_) | DocumentFault::TooLarge(_) => {
            "create one: diskperf run quick --json -o run.json".to_owned()
        }
        DocumentFault::NotJson { .. } => {
            "use the JSON of a run, not its table: diskperf run quick --json -o run.json".to_owned()
        }
        DocumentFault::CutShort { .. } => "run it again, or copy the file again".to_owned(),
        DocumentFault::OtherVersion { written_by, .. } => {
            format!("read it with the diskperf that wrote it{}", by(written_by))
        }
        DocumentFault::Unfit { written_by, .. } => {
            let ours = env!("CARGO_PKG_VERSION");
            format!("it was changed, or diskperf{} wrote it; this is {ours}", by(written_by))
        }
        DocumentFault::NoSuchCell { near, .. } => format!("known results: {}", near.join(", ")),
        DocumentFault::Overwrites(_) => "name another file with -o, or another folder with --svg".to_owned(),
        DocumentFault::NoFolder(_) => "name a folder, as in --svg charts".to_owned(),
        DocumentFault::NotAChart(_) => "name another folder with --svg, or move it away".to_owned(),
        DocumentFault::NothingShared { .. } => "compare runs of the same preset; diskperf list shows them".to_owned(),
        DocumentFault::OneRun { .. } => {
            "name the base run first, then the new one: diskperf run ... --json -o now.json && diskperf compare \
             base.json now.json --fail-if slower:5%"
                .to_owned()
        }
        DocumentFault::NoCells { .. } => return None,
    })
}
