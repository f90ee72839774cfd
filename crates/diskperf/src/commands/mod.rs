//! One file per command. Commands about results, and those that repeat older programs, have a folder.

pub mod choose;
pub mod clean;
pub mod completions;
pub mod doctor;
pub mod help;
pub mod import;
pub mod io;
pub mod man;
pub mod paper;
pub mod predict;
pub mod probe;
pub mod programs;
pub mod proof;
pub mod results;
pub mod resume;
pub mod run;
pub mod schema;
pub mod simulate;
pub mod verify;
