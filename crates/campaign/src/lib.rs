//! Makes a plan and carries it out. Prints nothing: everything is reported as events.
//!
//! ```text
//!   request ──> targets, presets ──> plan ──> fit ──> rounds ──> worlds ──> runner
//!                                                       │
//!                                            results, judge ──> run_writer (store)
//! ```

pub mod choose;
pub mod error;
pub mod events;
pub mod executions;
pub mod fit;
#[cfg(test)]
mod fuzz;
pub mod judge;
pub mod peers;
pub mod plan;
pub mod predict;
pub mod presets;
pub mod probe;
pub mod published;
pub mod recording;
pub mod request;
pub mod results;
pub mod rounds;
pub mod run_writer;
pub mod signals;
pub mod sums;
pub mod targets;
pub mod worlds;
