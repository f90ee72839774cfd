//! The outcome of an error: an exit status and a hint.

use units::Exit;

/// Exit status and hint of an error.
pub type Outcome = (Exit, Option<String>);

/// The command makes no sense as it was typed.
pub fn usage(hint: impl Into<String>) -> Outcome {
    (Exit::Usage, Some(hint.into()))
}

/// Refused for safety or for lack of rights.
pub fn refused(hint: impl Into<String>) -> Outcome {
    (Exit::Refused, Some(hint.into()))
}

pub fn failed(hint: impl Into<String>) -> Outcome {
    (Exit::Failed, Some(hint.into()))
}
