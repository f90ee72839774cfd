//! A block trace: the requests that a program caused on a block device, and when.

use alloc::vec::Vec;

use units::Nanos;

use crate::TapeKind;

/// A request of a block trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    /// The moment at which the request went to the device, since the start of the trace.
    pub issued: Nanos,
    /// The moment at which it was complete.
    pub completed: Nanos,
    /// Read, write or flush.
    pub kind: TapeKind,
    /// First byte on the device. A flush has none.
    pub offset: u64,
    /// Number of bytes; 0 for a flush.
    pub bytes: u32,
    /// Number of bios that the block layer merged into the request. Some limits count them.
    pub bios: u16,
}

/// The requests of one execution of a program, in the order in which they went to the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTrace {
    /// The requests.
    pub requests: Vec<TracedRequest>,
    /// Time from the start of the trace until the program and its writes had ended.
    pub elapsed: Nanos,
}
