//! The events of a computer, and what follows an interrupt.

use super::Coded;
use crate::controller::{self, Signal};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// What runs on the processor has come to its end.
    Cpu,
    /// The clock ticks.
    Tick,
    /// A process has paused for long enough.
    Awake(u8),
    /// Something in the controller.
    Controller(controller::Event),
}

impl Coded for Event {
    fn code(self) -> u64 {
        match self {
            Event::Cpu => 1,
            Event::Tick => 2,
            Event::Awake(process) => 3 << 16 | u64::from(process),
            Event::Controller(event) => 4 << 16 | event.code(),
        }
    }
}

/// What is to be done when an interrupt was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handler {
    /// Nothing: the clock has ticked.
    Clock,
    /// The controller is told.
    Controller(Signal),
}
