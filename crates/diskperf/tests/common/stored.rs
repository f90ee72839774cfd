//! Runs in a results database, in the state in which killed processes leave them.

use std::path::Path;

use store::{Left, NewRun, Store};

/// Stores a copy of the last run, as it was before its first round, with these changes, for a process that is gone.
/// Returns the id of the new run.
pub fn killed(database: &Path, change: impl FnOnce(&mut Left)) -> String {
    let mut store = Store::open(database, None).expect("the database");
    let mut left = store.left(&store.find("last").expect("a run")).expect("what it was");
    left.info.store = None;
    change(&mut left);
    let new = NewRun {
        command: &left.command,
        folder: &left.folder,
        request: left.request.as_deref(),
        plan: "",
        info: &left.info,
        cells: &[],
        holder: "nobody",
    };
    store.begin(&new).expect("room for a run")
}
