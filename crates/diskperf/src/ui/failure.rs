//! The error that ends a command, on standard error.

use units::Exit;

use super::output;
use crate::error::Error;
use crate::jobs::Spot;

/// Prints the error with its place in a job file and its hint, and returns the exit status.
pub fn told(error: &Error) -> Exit {
    remark!("error: {error}");
    if let Error::Job(fault) = error {
        fault.spot().into_iter().flat_map(Spot::excerpt).for_each(|line| output::remark(&line));
    }
    if let Some(hint) = error.hint() {
        remark!("hint: {hint}");
    }
    error.exit()
}
