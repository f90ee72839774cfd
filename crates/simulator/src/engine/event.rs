//! The events of a computer, and the handlers of interrupts.

use super::Coded;
use crate::controller::{self, Signal};

/// An event of a computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The current work on the processor has ended.
    Cpu,
    /// The clock ticks.
    Tick,
    /// The pause of a process has ended.
    Awake(u8),
    /// An event in the controller.
    Controller(controller::Event),
}

impl Coded for Event {
    const MOVABLE: Event = Event::Cpu;

    #[inline]
    fn code(self) -> u64 {
        match self {
            Event::Cpu => 1,
            Event::Tick => 2,
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
