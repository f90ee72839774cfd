//! One file per command.

pub mod bw;
pub mod classic;
pub mod copy;
pub mod explain;
pub mod given;
mod lab;
pub mod largefb;
pub mod paper;
pub mod run;
pub mod schema;
pub mod simulate;
pub mod smallfb;
