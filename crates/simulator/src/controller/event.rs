//! Requests, events and interrupts of controllers.

use crate::block::{Kind, Request, Token};

/// A request in the form of controllers of the time, which address sectors with 28 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) drive: u8,
    pub(crate) reads: bool,
    pub(crate) token: Token,
    pub(crate) sectors: u16,
    pub(crate) sector: u32,
}

impl From<Request> for Io {
    fn from(request: Request) -> Io {
        let Request { device, kind, token, sectors, sector } = request;
        let sector = u32::try_from(sector).expect("a sector of the drive");
        Io { drive: device, reads: kind == Kind::Read, token, sectors, sector }
    }
}

impl From<Io> for Request {
    fn from(io: Io) -> Request {
        let Io { drive, reads, token, sectors, sector } = io;
        let kind = if reads { Kind::Read } else { Kind::Write };
        Request { device: drive, kind, token, sectors, sector: sector.into() }
    }
}

/// An event in a controller. It names a drive and never a request: the calendar copies events all the time. Each has
/// the number by which the event hash knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Event {
    /// MASSBUS: the drive has found its sector, and raises an attention.
    Calls(u8) = 1,
    /// MASSBUS: the sector is under the heads.
    Arrives(u8) = 2,
    /// MASSBUS: a number of sectors have passed under the heads.
    Passed(u8) = 3,
    /// MASSBUS, IDE: the controller has finished the request.
    Finished(u8) = 4,
    /// UDA: the bus begins a transfer. It is that of all drives: the number is zero.
    BusBegins(u8) = 5,
    /// UDA: the data of a write are in the buffer.
    Fetched(u8) = 6,
    /// UDA: the first sector of a read is under the heads.
    ReadBegins(u8) = 7,
    /// UDA: the last sector has passed under the heads.
    MediaDone(u8) = 8,
    /// UDA: the data of a read are in memory.
    Delivered(u8) = 9,
    /// UDA: the controller sends the response to the host.
    Responds(u8) = 10,
    /// MASSBUS: after an overrun, the bus has moved all sectors that have passed.
    CaughtUp(u8) = 11,
}

impl Event {
    /// A number for the event hash. The arms are in the order of the variants, so that no table is needed.
    #[inline]
    pub(crate) fn code(self) -> u64 {
        let (kind, of) = match self {
            Event::Calls(of) => (1, of),
            Event::Arrives(of) => (2, of),
            Event::Passed(of) => (3, of),
            Event::Finished(of) => (4, of),
            Event::BusBegins(of) => (5, of),
            Event::Fetched(of) => (6, of),
            Event::ReadBegins(of) => (7, of),
            Event::MediaDone(of) => (8, of),
            Event::Delivered(of) => (9, of),
            Event::Responds(of) => (10, of),
            Event::CaughtUp(of) => (11, of),
        };
        kind << 8 | u64::from(of)
    }
}

/// The cause of a controller interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A drive raises an attention: it has found its sector.
    Call(u8),
    /// The data path has finished the request of a drive.
    Done(u8),
    /// A command of a drive is complete.
    Response(u8),
}
