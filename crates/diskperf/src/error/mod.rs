//! The errors of commands. Each kind has a file with its messages, exit statuses and hints; the lower crates define
//! their own.

mod argument;
mod consent;
#[cfg(test)]
mod hint_tests;
mod outcome;
mod output;
mod predict;
mod program;
mod runs;
mod verify;

use campaign::error::CampaignError;
use campaign::peers::fault::PeerFault;
use campaign::request::command_fault::CommandFault;
use campaign::signals::SignalFault;
use jobs::{JobError, LoadError};
use kernel::guard::GuardFault;
use kernel::provision::queue_tuning::TuningFault;
use kernel::{ImageFault, PathFault};
use machines::MachineFault;
use powercut::{PowerCutError, VerifyFault};
use runner::execution::WorldFailure;
use store::StoreError;
use units::{Bytes, Exit};

use crate::documents::document_error::DocumentFault;
use crate::ui::shell;
use outcome::{Outcome, refused};

pub use argument::ArgumentError;
pub use consent::ConsentError;
pub use output::OutputError;
pub use predict::PredictError;
pub use program::ProgramError;
pub use runs::{Doubt, RunsError};
pub use verify::VerifyError;

/// The smallest stack that diskperf starts with. Chosen: twice the need of any command in a build without optimisation
/// (512 KiB; an optimised build worked with 100 KiB). With a smaller stack, a signal would end diskperf in the middle
/// of a run.
pub const LEAST_STACK: Bytes = Bytes::mib(1);

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("diskperf must not be setuid, setgid or have file capabilities")]
    Elevated,
    #[error("the stack is limited to {0}, and diskperf needs {LEAST_STACK}")]
    SmallStack(Bytes),
    #[error(transparent)]
    Signals(#[from] SignalFault),
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    #[error(transparent)]
    Consent(#[from] ConsentError),
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error(transparent)]
    PowerCut(#[from] PowerCutError),
    #[error(transparent)]
    Predict(#[from] PredictError),
    #[error(transparent)]
    Runs(#[from] RunsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Document(#[from] DocumentFault),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Error {
    pub fn exit(&self) -> Exit {
        self.outcome().0
    }

    pub fn hint(&self) -> Option<String> {
        self.outcome().1
    }

    fn outcome(&self) -> Outcome {
        match self {
            Error::Elevated => refused("remove them (chmod ug-s FILE, setcap -r FILE) and use sudo"),
            Error::SmallStack(_) => refused("set the limit in a new shell: ulimit -s 8192"),
            Error::Signals(_) => (Exit::Failed, None),
            Error::Argument(error) => error.outcome(),
            Error::Consent(error) => error.outcome(),
            Error::Campaign(error) => (error.exit(), error.hint()),
            Error::Program(error) => error.outcome(),
            Error::Verify(error) => error.outcome(),
            Error::PowerCut(error) => (error.exit(), error.hint()),
            Error::Predict(error) => error.outcome(),
            Error::Runs(error) => error.outcome(),
            Error::Store(error) => (error.exit(), Some(error.hint(&shell::store_option()))),
            Error::Document(fault) => (fault.exit(), fault.hint()),
            Error::Output(error) => error.outcome(),
        }
    }
}

/// Converts errors of lower crates into the error that contains them, and then into `Error`.
macro_rules! through {
    ($between:ty: $($fault:ty),+) => {
        $(impl From<$fault> for Error {
            fn from(fault: $fault) -> Error {
                <$between>::from(fault).into()
            }
        })+
    };
}

through!(PowerCutError: VerifyFault);
through!(
    CampaignError: PathFault,
    GuardFault,
    ImageFault,
    TuningFault,
    MachineFault,
    CommandFault,
    JobError,
    LoadError,
    PeerFault,
    kernel::Fault,
    WorldFailure<kernel::Fault>
);
