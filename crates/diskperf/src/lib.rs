//! The program: what a person types, what is planned, what runs, what is shown. The only crate that sees
//! both worlds.
//!
//! ```text
//!   cli ──> target, presets ──> plan ──> runner ──> events ──> display (standard error)
//!                                 │        │
//!                             forecast     └──> cells, published ──> report (standard output)
//! ```

mod cells;
mod cli;
mod commands;
mod display;
mod error;
mod events;
mod exit;
mod forecast;
mod ground;
mod output;
mod plan;
mod presets;
mod published;
mod recorder;
pub mod runner;
mod signals;
mod target;
mod worlds;

use std::ffi::OsString;
use std::process::ExitCode;

use workload::programs::mckusick::Classic;

pub use exit::Exit;

/// Runs the command that these words are, and says how it ended.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let ended = match classic_call(&words) {
        Some((classic, file)) => commands::classic::run(classic, file.as_ref()),
        None => cli::run(words),
    };
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => {
            error.print();
            error.exit().into()
        }
    }
}

/// The four programs of 1983 are called by their own name, through a link, or as a command, with nothing
/// but a file. They are recognised before anything else is set up, so that starting one costs as little as
/// starting the original.
fn classic_call(words: &[OsString]) -> Option<(Classic, &OsString)> {
    let named = |word: &OsString| {
        let name = std::path::Path::new(word).file_name()?.to_str()?;
        Classic::named(name)
    };
    let (classic, file) = match words {
        [program, file] => (named(program)?, file),
        [_, command, file] => (Classic::named(command.to_str()?)?, file),
        _ => return None,
    };
    (!file.as_encoded_bytes().starts_with(b"-")).then_some((classic, file))
}
