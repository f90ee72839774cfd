//! Errors of `predict`.

use campaign::predict::SourceFault;
use units::Exit;

use super::outcome::{Outcome, refused, usage};
use crate::ui::shell;

/// The reason why nothing is predicted.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    #[error("predict needs another device (--on) or a change of the run's own device (--set)")]
    NoDevice,
    #[error(transparent)]
    Source(#[from] SourceFault),
    #[error("the law of the run's own device {0} is not known")]
    NoOwnLaw(String),
    #[error("{0}")]
    Refused(String, &'static str),
    #[error("--check runs the command of a stored run, and {0} is not one")]
    NothingToRun(String),
    #[error("--check needs a run of one command on one target, and {run} has {count}")]
    Several { run: String, count: usize },
    #[error("the check on {0} has no measured time")]
    NotMeasured(String),
    #[error("the trace {0} is a directory or a device")]
    NoTraceFile(String),
}

impl PredictError {
    /// The exit status and the hint.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            PredictError::NoDevice => usage("as in diskperf predict last --on ebs-gp3 or --set read_latency=x0.5"),
            PredictError::Source(SourceFault::Store(error)) => (error.exit(), Some(error.hint(&shell::store_option()))),
            PredictError::Source(_) => usage("record one: sudo diskperf run --record PATH -- COMMAND"),
            PredictError::NoOwnLaw(_) => {
                refused("run `diskperf probe PATH -o here.toml` on that device, and add --from here.toml")
            }
            PredictError::Refused(_, hint) => refused(*hint),
            PredictError::NothingToRun(_) => usage("name a run that `diskperf run --record PATH -- COMMAND` stored"),
            PredictError::Several { .. } => usage("record the command on one target"),
            PredictError::NotMeasured(_) => (Exit::Failed, None),
            PredictError::NoTraceFile(_) => usage("name a run, or a file of blkparse text, MSR CSV or ftrace text"),
        }
    }
}
