//! A tape: requests to a block device, and the times at which a device served them.
//!
//! `probe` plays tapes on a device and computes the device's constants from the times. A tape runs on a real device or
//! file (crate `kernel`) and on a simulated device (crate `simulator`).

use alloc::vec::Vec;

use units::Nanos;

/// A request on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapeRequest {
    /// Read, write or flush.
    pub kind: TapeKind,
    /// First byte. A flush has none.
    pub offset: u64,
    /// Number of bytes; 0 for a flush.
    pub bytes: u32,
    /// The pause from the moment at which the queue has room for this request to its start.
    pub pause: Nanos,
}

/// The work of a request on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapeKind {
    /// Reads from the device, past the page cache.
    Read,
    /// Writes to the device, past the page cache.
    Write,
    /// Makes the writes before it durable.
    Flush,
}

/// Requests that are performed in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    /// The requests.
    pub requests: Vec<TapeRequest>,
    /// Most requests in flight at once.
    pub depth: u32,
    /// The latest start of a request, since the start of the tape. Later requests are left out.
    pub limit: Nanos,
}

/// The times of one request, both since the start of its tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The moment at which the request was handed to the device.
    pub issued: Nanos,
    /// The moment at which its completion was seen.
    pub completed: Nanos,
}

/// A device that performs tapes.
pub trait TapePlayer {
    /// The reason for which a tape cannot be performed.
    type Fault;

    /// Number of bytes of the device or file that requests may touch.
    fn capacity(&self) -> u64;

    /// Smallest unit of offsets and sizes, in bytes.
    fn alignment(&self) -> u32;

    /// Performs the tape. Returns the times of the requests that were started, in the order of the tape.
    fn play(&mut self, tape: &Tape) -> Result<Vec<Served>, Self::Fault>;

    /// Lets the device rest.
    fn rest(&mut self, time: Nanos) -> Result<(), Self::Fault>;
}
