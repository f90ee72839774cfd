//! What to make of a store that fails.

use store::StoreError;

use crate::exit::Exit;
use crate::shell::{self, on_store};

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
        StoreError::Missing(_) => "diskperf run quick makes one; check the spelling of --store".to_owned(),
        StoreError::NoFolder(_) => "make the folder first, or name another place with --store".to_owned(),
        StoreError::Locked(_) => "wait until that process has ended, or name another place with --store".to_owned(),
        StoreError::ReadOnly(_) | StoreError::Denied(_) | StoreError::Io { .. } | StoreError::Sql { .. } => {
            "name another place with --store PATH; diskperf run quick --no-store measures without one".to_owned()
        }
        StoreError::Foreign { .. } => "nothing was touched; name another file with --store".to_owned(),
        StoreError::Newer { .. } => {
            "nothing was touched; use the diskperf that wrote it, or name another file with --store".to_owned()
        }
        StoreError::Corrupt { path, .. } => {
            format!("sqlite3 {} .recover may save what is whole; then move it away", shell::word(path))
        }
        StoreError::Full(_) => "free some space, or name another place with --store".to_owned(),
        StoreError::UnknownRun { near, .. } if near.is_empty() => format!("{} shows what is there", on_store("list")),
        StoreError::UnknownRun { near, .. } => format!("did you mean {}?", near.join(" or ")),
        StoreError::Ambiguous { .. } => "type another character".to_owned(),
        StoreError::Taken(run) => format!("{} tells how far it came", on_store(&format!("show {run}"))),
    }
}
