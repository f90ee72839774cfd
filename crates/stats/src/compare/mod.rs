//! Comparisons of results: targets, stages, runs, stored runs over time, and published figures.

pub mod environment_diff;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod history;
pub mod reason;
pub mod replication;
pub mod run_comparison;
pub mod stages;
pub mod target_comparison;
