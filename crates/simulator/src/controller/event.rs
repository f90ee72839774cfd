//! The requests, events and interrupts of controllers.

/// A request: sectors of one drive, and the buffer they go to or come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) drive: u8,
    pub(crate) reads: bool,
    pub(crate) buffer: u16,
    pub(crate) sectors: u16,
    pub(crate) sector: u32,
}

/// What happens in a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// MASSBUS: the drive has found its sector, and calls.
    Calls(u8),
    /// MASSBUS: the sector is under the heads.
    Arrives(u8),
    /// MASSBUS: some sectors have passed.
    Passed(u8),
    /// MASSBUS: the bus has moved the sectors that have passed, after an overrun.
    CaughtUp(u8),
    /// MASSBUS: the controller has done with the request.
    Finished(u8),
    /// UDA: the bus takes up a transfer.
    BusBegins,
    /// UDA: the data of a write are in the buffer.
    Fetched(u8),
    /// UDA: the first sector of a read is under the heads.
    ReadBegins(u8),
    /// UDA: the last sector has passed.
    MediaDone(u8),
    /// UDA: the data of a read are in memory.
    Delivered(Io),
    /// UDA: the host is told.
    Responds(Io),
}

impl Event {
    /// A number for the hash.
    pub(crate) fn code(self) -> u64 {
        let (kind, of) = match self {
            Event::Calls(drive) => (1, drive),
            Event::Arrives(drive) => (2, drive),
            Event::Passed(drive) => (3, drive),
            Event::Finished(drive) => (4, drive),
            Event::BusBegins => (5, 0),
            Event::Fetched(drive) => (6, drive),
            Event::ReadBegins(drive) => (7, drive),
            Event::MediaDone(drive) => (8, drive),
            Event::Delivered(io) => (9, io.drive),
            Event::Responds(io) => (10, io.drive),
            Event::CaughtUp(drive) => (11, drive),
        };
        kind << 8 | u64::from(of)
    }
}

/// What an interrupt of a controller is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A drive calls.
    Call(u8),
    /// The data path has done with a drive.
    Done(u8),
    /// A command is complete.
    Response(Io),
}
