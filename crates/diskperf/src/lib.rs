//! The program: it reads the command line, plans, runs, and shows the results. With `campaign`, the only crate that
//! sees both worlds.
//!
//! ```text
//!   cli ──> campaign (request, plan, rounds) ──> events ──> ui (standard error)
//!                        │
//!                        └──> results ──> report ──> ui (standard output)
//! ```

mod cli;
mod commands;
mod doctor;
mod documents;
mod error;
#[cfg(test)]
mod fuzz;
mod leftovers;
mod lfs;
mod session;
mod simulation;
mod ui;
mod verification;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use units::{Bytes, Exit};
use workload::programs::classic1983::Classic;

use campaign::peers::follower;
pub use campaign::targets::Simulated;
use error::{Error, LEAST_STACK};
use ui::failure;

/// Runs the command line `words`, and returns its exit status.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let exit = match small_stack() {
        // This check comes first, before any variable is read: a program with file capabilities or setuid has rights
        // that its caller lacks.
        _ if kernel::is_elevated() => refuse(&Error::Elevated),
        Some(limit) => refuse_stack(limit),
        None => run(words),
    };
    ExitCode::from(exit as u8)
}

/// Follows the first host of several. That host prints every error, except one that only this host can know.
fn follow() -> Exit {
    follower::follow().map_or_else(|fault| failure::print_error(&fault.into()), |()| Exit::Done)
}

/// Refuses to run on this host. If there are several hosts, the first one prints the error.
#[inline(never)]
fn refuse(error: &Error) -> Exit {
    match campaign::peers::tell(&error.to_string(), error.hint(), error.exit()) {
        true => error.exit(),
        false => failure::print_error(error),
    }
}

/// The stack limit, if it is too small for more than an error message. Other threads have stacks of their own size.
fn small_stack() -> Option<Bytes> {
    kernel::stack_limit().filter(|limit| *limit < LEAST_STACK)
}

/// A separate function that is not inlined, so that the small stack is enough for it.
#[inline(never)]
fn refuse_stack(limit: Bytes) -> Exit {
    refuse(&Error::SmallStack(limit))
}

#[inline(never)]
fn run(mut words: Vec<OsString>) -> Exit {
    // A link with the name of a program of 1983 runs that program.
    let called = words.first().and_then(|word| Path::new(word).file_name()?.to_str());
    if let Some(classic) = called.and_then(Classic::named) {
        words.insert(1, classic.name().into());
    }
    if campaign::peers::rank().is_some_and(|rank| rank > 0) {
        return follow();
    }
    let ended = match classic_call(&words) {
        Some((classic, file)) => commands::programs::classic::run(classic, file.as_ref()),
        None => campaign::signals::outlive_file_limit().map_err(Error::from).and_then(|()| cli::run(words)),
    };
    match ended {
        Ok(exit) => exit,
        Err(error) => failure::print_error(&error),
    }
}

/// One of the four programs of 1983 and its file, if the call consists of just those two. It is recognised before any
/// other setup, so that starting one costs as little as starting the original.
fn classic_call(words: &[OsString]) -> Option<(Classic, &OsString)> {
    let [_, command, file] = words else { return None };
    let classic = Classic::named(command.to_str()?)?;
    (!file.as_encoded_bytes().starts_with(b"-")).then_some((classic, file))
}
