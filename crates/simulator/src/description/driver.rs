//! The processor time of a controller's driver.

use units::Nanos;

/// Processor time of a controller's driver, on a VAX-11/780.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Time to pass a request to the controller, in the process that asks.
    pub start: Nanos,
    /// Time to serve one interrupt, and to start the next request.
    pub interrupt: Nanos,
}
