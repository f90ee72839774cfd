//! One file per command.

pub mod classic;
pub mod copy;
mod given;
pub mod run;
pub mod schema;
