//! One file per command.

pub mod classic;
pub mod run;
pub mod schema;
