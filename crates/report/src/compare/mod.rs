//! Comparisons as text: of targets, stages and runs, of one test over time, and with published figures.

#[cfg(test)]
pub(crate) mod fixtures;
pub mod history;
pub mod replication;
pub mod run_comparison;
pub(crate) mod stages;
pub mod target_comparison;
pub(crate) mod target_settings;
pub(crate) mod verdict;
