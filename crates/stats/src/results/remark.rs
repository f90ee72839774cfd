//! Remarks: events during a run that its figures do not show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// An event during a run, reported to readers of its results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Kind of the event.
    pub kind: RemarkKind,
    /// Target of the event; null if the event concerns the whole run.
    #[serde(with = "crate::name", default)]
    #[schemars(with = "Option<Name>")]
    pub target: Option<String>,
    /// Program of the event; null if the event concerns the whole run.
    pub program: Option<String>,
    /// Description of the event.
    pub text: String,
}

/// Kinds of remarks. Their names are stable: tables print them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemarkKind {
    /// This machine cannot run the workload as it is written: io_uring is not available, or processors are missing.
    WorkloadLimited,
    /// io_uring worked without one of its features.
    IoUringLimited,
    /// An execution was repeated.
    Repeated,
    /// A command left processes running.
    ProcessesLeft,
    /// The memory of the run could not be limited.
    MemoryNotLimited,
    /// The queue of a disk was left changed by a killed process and could not be restored.
    QueueNotRestored,
    /// Rounds were left out because the time was over.
    LeftOut,
}

impl RemarkKind {
    /// The name that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            RemarkKind::WorkloadLimited => "workload_limited",
            RemarkKind::IoUringLimited => "io_uring_limited",
            RemarkKind::Repeated => "repeated",
            RemarkKind::ProcessesLeft => "processes_left",
            RemarkKind::MemoryNotLimited => "memory_not_limited",
            RemarkKind::QueueNotRestored => "queue_not_restored",
            RemarkKind::LeftOut => "left_out",
        }
    }
}
