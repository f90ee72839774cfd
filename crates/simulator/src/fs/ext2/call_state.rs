//! Progress of a call.

use workload::Reason;

/// State of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallState {
    /// The outcome, once the steps are known.
    pub(super) outcome: Option<Result<u32, Reason>>,
}
