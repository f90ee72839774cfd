//! One file per command.

pub mod bw;
pub mod classic;
pub mod clean;
pub mod completions;
pub mod conclusion;
pub mod copy;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod given;
pub mod help;
pub mod io;
mod lab;
pub mod largefb;
pub mod list;
pub mod man;
pub mod mix;
pub mod paper;
pub mod resume;
pub mod run;
pub mod schema;
pub mod session;
pub mod show;
pub mod simulate;
pub mod smallfb;
pub mod verify;
