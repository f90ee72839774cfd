//! Results database: all measured runs, in one SQLite file. Only this crate contains SQL. It does not depend on
//! devices, tables or HTML.
//!
//! ```text
//!   begin ──> save, save, save ... ──> end        one run: a transaction each, durable when it returns
//!     │                                           (a `save` after each execution, before the next begins)
//!     └──> claim ──> save ...                     resuming a run that was interrupted or killed
//!
//!   list, find ──> document, left                 reading
//!   programs ──> cells                            of all runs
//!   doomed ──> delete ──> shrink                  deleting runs
//!   traces ──> trace;  checks;  law               predictions: block traces, checks, laws of devices
//! ```
//!
//! A store has no thread and writes only in calls, so it does nothing while a clock runs.

mod checksummed_json;
mod default_path;
mod delete;
mod error;
mod new_trace;
mod open;
mod read;
mod run_id;
mod schema;
mod trace_blob;
mod traces;
mod write;

pub use default_path::{Owner, UserEnvironment, default_path, home};
pub use delete::Doomed;
pub use error::StoreError;
pub use new_trace::NewTrace;
pub use open::{Store, is_store};
pub use read::{LAST, Left, Listed, StoredCell};
pub use trace_blob::{decode_trace, encode_trace};
pub use traces::TraceRow;
pub use write::{Ending, Execution, NewRun, Progress};

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// A process measures the run, or was killed while it did.
    Running,
    /// Everything planned is measured.
    Finished,
    /// The run was interrupted.
    Interrupted,
    /// The run ended with an error.
    Failed,
}

impl RunState {
    /// All states.
    pub const ALL: [RunState; 4] = [RunState::Running, RunState::Finished, RunState::Interrupted, RunState::Failed];

    /// The name of the state, as it is stored and printed.
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
