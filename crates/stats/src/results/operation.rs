//! The single operations of a phase by kind: reads, writes, fsyncs and fdatasyncs each have a rate and latencies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::OpKind;

use crate::figures::hdr;
use crate::results::latency::{Latencies, LatencyKind};

/// A kind of operation that is timed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OperationKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Calls of fsync.
    Fsync,
    /// Calls of fdatasync.
    Fdatasync,
    /// Units of work of another kind, or of several calls: a commit, a small file.
    Unit,
}

impl OperationKind {
    /// The number of kinds.
    pub const COUNT: usize = OperationKind::Unit as usize + 1;

    /// All kinds, in the order of their numbers.
    pub const ALL: [OperationKind; OperationKind::COUNT] = [
        OperationKind::Read,
        OperationKind::Write,
        OperationKind::Fsync,
        OperationKind::Fdatasync,
        OperationKind::Unit,
    ];

    /// The kind of an operation. Kinds that are not timed separately are units.
    #[inline(always)]
    pub const fn of(kind: OpKind) -> OperationKind {
        match kind {
            OpKind::Read | OpKind::ReadAt => OperationKind::Read,
            OpKind::Write | OpKind::WriteAt => OperationKind::Write,
            OpKind::Fsync => OperationKind::Fsync,
            OpKind::Fdatasync => OperationKind::Fdatasync,
            _ => OperationKind::Unit,
        }
    }

    /// The moment from which its latencies count. A sync has no intended start, also in a workload that has a schedule.
    pub const fn latency_kind(self, is_paced: bool) -> LatencyKind {
        match self {
            OperationKind::Read | OperationKind::Write | OperationKind::Unit if is_paced => LatencyKind::Response,
            _ => LatencyKind::Service,
        }
    }

    /// The name in one word, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            OperationKind::Read => "read",
            OperationKind::Write => "write",
            OperationKind::Fsync => "fsync",
            OperationKind::Fdatasync => "fdatasync",
            OperationKind::Unit => "unit",
        }
    }

    /// The kind of this name; `None` for units and other words.
    pub fn named(word: &str) -> Option<OperationKind> {
        OperationKind::ALL.into_iter().find(|kind| *kind != OperationKind::Unit && kind.name() == word)
    }
}

/// The operations of one kind in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundOperation {
    /// The kind: `read`, `write`, `fsync`, `fdatasync`, or `unit` for units of several calls.
    pub operation: OperationKind,
    /// True if each operation is a unit of work: `latency_ns` of the result is about these.
    pub unit: bool,
    /// Number of operations.
    pub count: u64,
    /// Maximum latency in nanoseconds.
    pub max_ns: u64,
    /// All latencies in nanoseconds with three digits: an HdrHistogram in base64 (V2, compressed), which the tools of
    /// hdrhistogram.org read.
    pub histogram: String,
}

impl RoundOperation {
    /// Stores the latencies of operations.
    pub fn new(operation: OperationKind, unit: bool, latencies: &Latencies) -> RoundOperation {
        RoundOperation {
            operation,
            unit,
            count: latencies.count(),
            max_ns: latencies.longest().unwrap_or_default(),
            histogram: hdr::encode(latencies),
        }
    }

    /// Adds the latencies to `all`. Returns false if their text is damaged.
    pub fn add_to(&self, all: &mut Latencies) -> bool {
        hdr::decode(&self.histogram, self.max_ns).map(|latencies| all.add(&latencies)).is_some()
    }

    /// The latencies; `None` if their text is damaged.
    pub fn latencies(&self) -> Option<Latencies> {
        hdr::decode(&self.histogram, self.max_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_have_no_intended_start() {
        for kind in OperationKind::ALL {
            let is_sync = matches!(kind, OperationKind::Fsync | OperationKind::Fdatasync);
            let paced = if is_sync { LatencyKind::Service } else { LatencyKind::Response };
            let kinds = (kind.latency_kind(true), kind.latency_kind(false));
            assert_eq!(kinds, (paced, LatencyKind::Service), "{}", kind.name());
        }
    }
}
