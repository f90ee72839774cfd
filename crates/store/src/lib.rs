//! Runs that last: everything measured, in one SQLite database. The only crate with SQL in it; it knows no
//! device, no table and no HTML.
//!
//! ```text
//!   begin ──> save, save, save ... ──> end        one run: a transaction each, durable when it returns
//!     │                                           (a `save` after an execution, before the next begins)
//!     └──> claim ──> save ...                     going on with a run that was interrupted or killed
//!
//!   list, find ──> document, left                   reading
//!   programs ──> cells                               of all runs
//!   doomed ──> delete ──> shrink                     runs that are not wanted any more
//! ```
//!
//! A store has no thread and writes only when it is called, so nothing of it happens while a clock runs.

mod delete;
mod error;
mod id;
mod open;
mod place;
mod read;
mod schema;
mod sealed;
mod write;

pub use delete::Doomed;
pub use error::StoreError;
pub use open::Store;
pub use place::{Owner, Surroundings, default_place};
pub use read::{LAST, Left, Listed, StoredCell};
pub use write::{Ending, Execution, NewRun, Progress};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// A process measures, or was killed while it did.
    Running,
    /// All that was planned is measured.
    Finished,
    /// It was told to stop.
    Interrupted,
    /// It ended with an error.
    Failed,
}

impl RunState {
    /// All there are.
    pub const ALL: [RunState; 4] = [RunState::Running, RunState::Finished, RunState::Interrupted, RunState::Failed];

    /// Its name, as it is stored and printed.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Finished => "finished",
            RunState::Interrupted => "interrupted",
            RunState::Failed => "failed",
        }
    }

    fn named(name: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.name() == name)
    }
}
