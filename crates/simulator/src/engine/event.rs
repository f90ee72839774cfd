//! The events of a computer, and the handlers of interrupts.

use super::Coded;
use crate::controller::{self, Signal};

/// An event of a computer, besides the end of the processor's current work and the tick of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The pause of a process has ended.
    Awake(u8),
    /// An event in the controller.
    Controller(controller::Event),
}

impl Coded for Event {
    const NEVER: Event = Event::Awake(0);
    const MOVABLE: u64 = 1;
    const PERIODIC: u64 = 2;

    #[inline]
    fn code(self) -> u64 {
        match self {
            Event::Awake(process) => 3 << 16 | u64::from(process),
            Event::Controller(event) => 4 << 16 | event.code(),
        }
    }
}

/// The work to do after an interrupt was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handler {
    /// Nothing: a clock tick.
    Clock,
    /// The driver of a raw device submits the next piece of a request.
    Driver(u8),
    /// The controller continues after its interrupt.
    Controller(Signal),
}
