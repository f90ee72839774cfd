//! The commands that print, compare, convert or delete results.

pub mod compare;
pub mod delete;
pub mod explain;
pub mod export;
pub mod history;
pub mod list;
pub mod report;
pub mod show;
