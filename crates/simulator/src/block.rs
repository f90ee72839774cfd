//! Requests to block devices, apart from the memory that they use and from the form that a controller gives them.

/// A request: consecutive sectors of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Number of the device.
    pub(crate) device: u8,
    pub(crate) kind: Kind,
    /// Returned when the request is complete.
    pub(crate) token: Token,
    pub(crate) sectors: u16,
    pub(crate) sector: u64,
}

/// The work of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

/// Identifies a request to the part of the system that made it. The numbers of the cache's buffers are tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) u16);
