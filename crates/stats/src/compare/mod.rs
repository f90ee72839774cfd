//! What two results say about each other: targets, stages, runs, the past, and published figures.

pub mod choice;
pub mod compared;
pub mod environment;
pub mod history;
pub mod replication;
pub mod stages;
