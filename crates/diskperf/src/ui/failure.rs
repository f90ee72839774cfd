//! The error that ends a command, on standard error.

use campaign::error::CampaignError;
use jobs::SourceSpan;
use units::Exit;

use super::output;
use crate::error::Error;

/// Prints the error with its place in a job file and its hint, and returns the exit status.
pub fn print_error(error: &Error) -> Exit {
    remark!("error: {error}");
    if let Error::Campaign(CampaignError::Job(error)) = error {
        error.span().into_iter().flat_map(SourceSpan::excerpt).for_each(|line| output::remark(&line));
    }
    if let Some(hint) = error.hint() {
        remark!("hint: {hint}");
    }
    error.exit()
}
