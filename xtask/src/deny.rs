//! `cargo xtask deny`: the licences and sources of all dependencies, checked by cargo-deny as `deny.toml` says. `cargo
//! xtask dist` does the same first.
//!
//! Continuous integration does not run this, because it would compile cargo-deny each time.

use std::process::Command;

use crate::process;
use crate::tools::CARGO_DENY;

/// Fails if a dependency is not permitted. cargo-deny prints the reason.
pub fn run() -> Result<(), String> {
    let mut deny = Command::new(CARGO_DENY.provide()?);
    process::run(deny.args(["check", "licenses", "bans", "sources"]).current_dir(process::root()))
}
