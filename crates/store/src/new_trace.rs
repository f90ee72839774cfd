//! A block trace before it is stored.

use units::Nanos;

/// The recorded requests of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTrace {
    /// True if the round does not count.
    pub discarded: bool,
    /// The name of the test.
    pub program: String,
    /// The name of the target.
    pub target: String,
    /// The name of the device; empty without a trace.
    pub device: String,
    /// Number of requests.
    pub requests: u64,
    /// Bytes that they read and wrote.
    pub bytes: u64,
    /// Discards and other commands, which are not in the trace.
    pub others: u64,
    /// Time from the start of the program until it and its writes had ended.
    pub elapsed: Nanos,
    /// Time in which the program waited for a processor, if known.
    pub ready: Option<Nanos>,
    /// The stored form ([`crate::encode_trace`]), or the reason why there is none.
    pub trace: Result<Vec<u8>, String>,
}
