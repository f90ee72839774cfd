//! Exit statuses and hints for errors of the results database.

use store::StoreError;
use units::Exit;

use crate::ui::shell::{self, on_store};

/// The exit status this stands for.
pub fn exit(error: &StoreError) -> Exit {
    match error {
        StoreError::Missing(_)
        | StoreError::NoFolder(_)
        | StoreError::UnknownRun { .. }
        | StoreError::Ambiguous { .. } => Exit::Usage,
        StoreError::ReadOnly(_) | StoreError::Denied(_) => Exit::Refused,
        StoreError::Locked(_)
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Full(_)
        | StoreError::Taken(_)
        | StoreError::Io { .. }
        | StoreError::Sql { .. } => Exit::Failed,
    }
}

/// What to try.
pub fn hint(error: &StoreError) -> String {
    match error {
        StoreError::Missing(_) => "check the spelling of --store; diskperf run quick makes one".to_owned(),
        StoreError::NoFolder(_) => "create the folder, or use another --store".to_owned(),
        StoreError::Locked(_) => "wait until that process ends, or use another --store".to_owned(),
        StoreError::ReadOnly(_) | StoreError::Denied(_) | StoreError::Io { .. } | StoreError::Sql { .. } => {
            "use another --store PATH, or none: diskperf run quick --no-store".to_owned()
        }
        StoreError::Foreign { .. } => "use another file with --store; this one was not changed".to_owned(),
        StoreError::Newer { .. } => "use the diskperf that wrote it, or another file with --store".to_owned(),
        StoreError::Corrupt { path, .. } => {
            format!("save the intact data with sqlite3 {} .recover, then move the file away", shell::word(path))
        }
        StoreError::Full(_) => "free some space, or use another --store".to_owned(),
        StoreError::UnknownRun { near, .. } if near.is_empty() => format!("{} shows the runs", on_store("list")),
        StoreError::UnknownRun { near, .. } => format!("did you mean {}?", near.join(" or ")),
        StoreError::Ambiguous { .. } => "type more characters".to_owned(),
        StoreError::Taken(run) => format!("{} shows its progress", on_store(&format!("show {run}"))),
    }
}
