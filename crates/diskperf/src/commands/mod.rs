//! One file per command, and a folder for those of the lab.

pub mod choose;
pub mod classic;
pub mod clean;
pub mod compare;
pub mod completions;
pub mod copy;
pub mod delete;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod help;
pub mod history;
pub mod import;
pub mod io;
pub mod lab;
pub mod list;
pub mod man;
pub mod paper;
pub mod report;
pub mod resume;
pub mod run;
pub mod schema;
pub mod show;
pub mod simulate;
pub mod verify;
